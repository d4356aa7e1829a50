"""Margins of labels within a kernel: what errors grow with, and the errors themselves. See `choral.nn.ordering`."""

import triton
import triton.language as tl

KINDS = ("scores", "logistic", "absolute")


@triton.jit
def load_margins(values, target, places, inside, KIND: tl.constexpr, DOUBLE: tl.constexpr):
    """What the error of each label grows with, and whether it falls as the value grows."""
    z = tl.load(values + places, mask=inside, other=0)
    y = tl.load(target + places, mask=inside, other=0)
    if DOUBLE:
        z, y = z.to(tl.float64), y.to(tl.float64)
    else:
        z, y = z.to(tl.float32), y.to(tl.float32)
    if KIND == 0:
        return tl.abs(z - y), z < y
    else:
        return tl.where(y > 0.5, -z, z), y > 0.5


@triton.jit
def errors_and_slopes(margins, KIND: tl.constexpr):
    """The errors that belong to margins, and how steeply they grow."""
    if KIND == 0:
        return margins, tl.where(margins == 0, 0.0, 1.0).to(margins.dtype)
    else:
        decay = tl.exp(-tl.abs(margins))
        above = 1 + decay
        chances = tl.where(margins >= 0, 1.0, decay) / above
        if KIND == 1:
            # log(1 + decay) = log(above) but for rounding, which this ratio makes good where decay is tiny
            tails = tl.where(above == 1, decay, tl.log(above) * (decay / tl.where(above == 1, 1.0, above - 1)))
            return tl.maximum(margins, 0.0) + tails, chances
        else:
            return chances, chances * (1 - chances)
