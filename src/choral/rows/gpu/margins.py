"""Margins of labels within a kernel: what errors grow with, and the errors themselves. See `choral.nn.ordering`."""

import triton
import triton.language as tl

KINDS = ("scores", "logistic", "absolute")


@triton.jit
def load_pair(first, second, places, inside, DOUBLE: tl.constexpr):
    """The same entries of two matrices, in the precision of the work."""
    one = tl.load(first + places, mask=inside, other=0)
    other = tl.load(second + places, mask=inside, other=0)
    if DOUBLE:
        return one.to(tl.float64), other.to(tl.float64)
    else:
        return one.to(tl.float32), other.to(tl.float32)


@triton.jit
def load_margins(values, target, places, inside, KIND: tl.constexpr, DOUBLE: tl.constexpr):
    """What the error of each label grows with, and whether it falls as the value grows."""
    z, y = load_pair(values, target, places, inside, DOUBLE)
    if KIND == 0:
        return tl.abs(z - y), z < y
    else:
        return tl.where(y > 0.5, -z, z), y > 0.5


@triton.jit
def sigmoid(margins):
    """The chances of margins; of those far below 0 no digits are lost."""
    decay = tl.exp(-tl.abs(margins))
    return tl.where(margins >= 0, 1.0, decay) / (1 + decay)


@triton.jit
def log_of_one_plus(decay):
    """log(1 + decay) of numbers from 0 to 1; of those that are tiny no digits are lost."""
    if decay.dtype == tl.float64:
        above = 1 + decay
        # log(1 + decay) = log(above) but for rounding, which this ratio makes good where decay is tiny
        return tl.where(above == 1, decay, tl.log(above) * (decay / tl.where(above == 1, 1.0, above - 1)))
    else:
        # A polynomial, of Chebyshev's points: off by 5e-9 before rounding, and a third of the work of a logarithm.
        ratio = -0.00317605701 * decay + 0.0195425272
        ratio = ratio * decay - 0.0563736128
        ratio = ratio * decay + 0.105436238
        ratio = ratio * decay - 0.152696671
        ratio = ratio * decay + 0.196632743
        ratio = ratio * decay - 0.249516163
        ratio = ratio * decay + 0.333297105
        ratio = ratio * decay - 0.499998926
        ratio = ratio * decay + 0.999999995
        return ratio * decay


@triton.jit
def errors_and_slopes(margins, KIND: tl.constexpr):
    """The errors that belong to margins, and how steeply they grow."""
    if KIND == 0:
        return margins, tl.where(margins == 0, 0.0, 1.0).to(margins.dtype)
    else:
        chances = sigmoid(margins)
        if KIND == 1:
            return tl.maximum(margins, 0.0) + log_of_one_plus(tl.exp(-tl.abs(margins))), chances
        else:
            return chances, chances * (1 - chances)
