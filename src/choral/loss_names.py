"""Losses by short names, the same in Python and on the command line."""

import re
from typing import TypeAlias, cast

import numpy as np

from choral.averaged_losses import Average, AveragedFLoss, AveragedJaccardLoss, AveragedLoss
from choral.measures import BinomialMeasure, HammingMeasure, PolynomialMeasure, SubsetMeasure
from choral.overlap import AnyLoss, FLoss, JaccardLoss

NamedLoss: TypeAlias = AnyLoss | AveragedLoss

#: An example of each kind of name.
LOSS_NAMES = (
    "hamming",
    "subset",
    "k=3",
    "alpha=2.5",
    "f1",
    "jaccard",
    "micro_f1",
    "macro_f1",
    "micro_jaccard",
    "macro_jaccard",
)
#: What error messages and the help of commands say about names.
LOSS_CHOICES = f"{', '.join(LOSS_NAMES[:-1])} or {LOSS_NAMES[-1]} (or another k, alpha or beta: k=5, alpha=inf, f0.5)"

NUMBER = r"\d+(?:\.\d+)?"
FORMS = re.compile(
    rf"(?P<end>hamming|subset)|k=(?P<k>\d+)|alpha=(?P<alpha>{NUMBER}|inf)"
    rf"|(?:(?P<average>micro|macro)_)?(?:f(?P<beta>{NUMBER})|(?P<jaccard>jaccard))"
)


def loss_by_name(name: str) -> NamedLoss:
    """The loss that a short name means.

    Parameters
    ----------
    name : str
        * ``"hamming"``, ``"subset"``: Hamming loss and subset 0/1 loss;
        * ``"k=3"``: the loss of `BinomialMeasure`, for any k from 1 to the number of labels;
        * ``"alpha=2.5"``: the loss of `PolynomialMeasure`, for any alpha from 1 to ``inf``;
        * ``"f1"``, ``"f0.5"``, ``"f2"``, ...: `FLoss` with this beta; ``"jaccard"``: `JaccardLoss`; means over rows;
        * ``"micro_f1"``, ``"macro_f1"``, ``"micro_jaccard"``, ``"macro_jaccard"``, and F with another beta as above:
          `AveragedFLoss` and `AveragedJaccardLoss`, of all rows together.

    Returns
    -------
    loss : Measure, FLoss, JaccardLoss, AveragedFLoss or AveragedJaccardLoss
        `choral.ThresholdTuner` takes all of them. From a distribution of label sets all can be decided
        (`choral.bayes_optimal`) but the micro and macro ones: those are no sums over rows, so what is best for one row
        depends on the others.

    See Also
    --------
    make_scorer : A scorer for scikit-learn.
    choquet_loss : The loss of any measure.

    Examples
    --------
    >>> loss_by_name("k=3"), loss_by_name("f0.5"), loss_by_name("macro_jaccard")
    (BinomialMeasure(k=3), FLoss(beta=0.5), AveragedJaccardLoss(average='macro'))
    """
    found = FORMS.fullmatch(name)
    if found is None:
        raise ValueError(f"loss must be {LOSS_CHOICES}; got {name!r}.")
    if found["end"]:
        return HammingMeasure() if name == "hamming" else SubsetMeasure()
    if found["k"]:
        return BinomialMeasure(int(found["k"]))
    if found["alpha"]:
        return PolynomialMeasure(float(found["alpha"]))
    return _overlap_loss(cast(Average | None, found["average"]), found["beta"])


def _overlap_loss(average: Average | None, beta: str | None) -> NamedLoss:
    """An F loss, or without beta a Jaccard loss; of each row, or averaged otherwise."""
    if average is None:
        return JaccardLoss() if beta is None else FLoss(float(beta))
    return AveragedJaccardLoss(average) if beta is None else AveragedFLoss(average, float(beta))


def name_of_loss(loss: object) -> str:
    """The short name of a loss, or its text where it has none.

    Examples
    --------
    >>> from choral import AtLeastMeasure, BinomialMeasure, FLoss
    >>> name_of_loss(BinomialMeasure(3)), name_of_loss(FLoss(0.5)), name_of_loss(AtLeastMeasure(2))
    ('k=3', 'f0.5', 'AtLeastMeasure(k=2)')
    """
    match loss:
        case HammingMeasure():
            return "hamming"
        case SubsetMeasure():
            return "subset"
        case BinomialMeasure():
            return f"k={loss.k}"
        case PolynomialMeasure():
            return f"alpha={_digits(loss.alpha)}"
        case FLoss():
            return f"f{_digits(loss.beta)}"
        case JaccardLoss():
            return "jaccard"
        case AveragedFLoss():
            return f"{loss.average}_f{_digits(loss.beta)}"
        case AveragedJaccardLoss():
            return f"{loss.average}_jaccard"
        case _:
            return repr(loss)


def has_name(loss: object) -> bool:
    """Whether `loss_by_name` reads the short name of a loss back."""
    return FORMS.fullmatch(name_of_loss(loss)) is not None


def _digits(number: float) -> str:
    """A number without an exponent, which `loss_by_name` reads back to the last bit."""
    return np.format_float_positional(number, trim="-")
