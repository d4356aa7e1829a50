"""Claims that hold by theory: checked in exact examples, and on every curve there is."""

import numpy as np

from choral import HammingMeasure, IndependentLabels, SubsetMeasure, bayes_optimal
from choral._validation import ROUNDING
from choral.datasets import make_dependent
from choral.learners import BinaryRelevance, LabelPowerset, RandomKLabelsets
from choral.measures.families import LARGEST_ALPHA
from choral.paper.evidence import Evidence
from choral.paper.examples import FIVE_LABELS, THREE_LABELS
from choral.paper.judging import UNKNOWN, Judgement

CLOSE = 1e-9


def modes_are_optimal(evidence: Evidence) -> list[Judgement]:
    """The optimum of Hamming loss is the marginal mode, that of subset 0/1 loss the joint mode."""
    right = all(
        np.array_equal(bayes_optimal(example, measure, method="transform").labels, mode)
        for example in (THREE_LABELS, FIVE_LABELS)
        for measure, mode in ((HammingMeasure(), example.marginal_mode()), (SubsetMeasure(), example.mode()))
    )
    return [_exact("the examples of the paper", right, "by the expected losses of all predictions")]


def marginals_do_not_suffice(evidence: Evidence) -> list[Judgement]:
    """The first example and independent labels with its marginals share the optimum of Hamming loss, and no more."""
    independent = IndependentLabels(THREE_LABELS.marginals())
    alike = {
        type(measure).__name__: np.array_equal(
            bayes_optimal(THREE_LABELS, measure).labels, bayes_optimal(independent, measure).labels
        )
        for measure in (HammingMeasure(), SubsetMeasure())
    }
    right = alike == {"HammingMeasure": True, "SubsetMeasure": False}
    text = "two distributions with marginals 9/16 have one optimum of Hamming loss and two of subset 0/1 loss"
    return [_exact("the example of three labels", right, text)]


def ends_are_hamming_and_subset(evidence: Evidence) -> list[Judgement]:
    """The curves of the two families begin and end with the same losses."""
    gaps, is_right = [], True
    for dataset in evidence.datasets:
        curves = evidence.curves(dataset)
        if len(curves) == 2 and all(found.x[0] == 0 and found.x[-1] >= 1 for found in curves.values()):
            binomial, polynomial = curves["binomial"], curves["polynomial"]
            largest = (1 - 1 / evidence.n_labels(dataset)) ** LARGEST_ALPHA  # where each row has one wrong label
            for name in binomial.losses:
                gap = binomial.start(name) - polynomial.start(name), binomial.end(name) - polynomial.end(name)
                is_right &= abs(gap[0]) <= CLOSE and abs(gap[1]) <= largest + CLOSE
                gaps.append(gap)
    if not gaps:
        return []
    at_start, at_end = np.abs(gaps).max(axis=0)
    text = f"k = 1 and alpha = 1 differ by at most {at_start:.0e}, k = K and the largest alpha by at most {at_end:.0e}"
    return [_exact("all curves", bool(is_right), text)]


def losses_grow(evidence: Evidence) -> list[Judgement]:
    """No curve falls anywhere."""
    steps = [
        float(np.diff(losses).min())
        for dataset in evidence.datasets
        for curves in evidence.curves(dataset).values()
        for losses in curves.losses.values()
        if losses.size > 1
    ]
    if not steps:
        return []
    return [_exact("all curves", min(steps) >= -ROUNDING, f"{len(steps)} curves, smallest step {min(steps):.1e}")]


def rakel_has_both_ends(evidence: Evidence) -> list[Judgement]:
    """RAkEL with one label a set predicts as BR, with one set of all labels as LP."""
    data = make_dependent(300, 5, dependence=0.5, random_state=0)
    X, Y, new = data.X[:200], data.Y[:200], data.X[200:]
    pairs = [
        (RandomKLabelsets(k=1, m=5, random_state=0), BinaryRelevance(random_state=0)),
        (RandomKLabelsets(k=5, m=1, random_state=0), LabelPowerset(random_state=0)),
    ]
    right = all(np.array_equal(a.fit(X, Y).predict(new), b.fit(X, Y).predict(new)) for a, b in pairs)
    return [_exact("synthetic data", right, "equal predictions for 100 rows of 5 labels")]


def _exact(where: str, right: bool, text: str) -> Judgement:
    return Judgement("exactly", where, "holds" if right else "does not hold", UNKNOWN, text)
