"""The paper's claims and the answer in words, on curves made by hand."""

import numpy as np
import pytest

from choral import LossCurve, PairwiseCurve
from choral.stats import compare_ranks
from choral.study.answers import answer
from choral.study.claims import judge_claims

PCT_LP, BR_LP, RAKEL_2, RAKEL_5, LP_CC, FAMILIES = range(6)


class HandMade:
    """What claims and answers ask of results, from losses at k = 1, 2, 3: data set -> learner -> losses."""

    families = ("binomial", "polynomial")
    confidence = 0.95

    def __init__(self, losses, polynomial=None, baseline=None):
        self._losses = {"binomial": losses, "polynomial": polynomial or losses}
        self.datasets = tuple(losses)
        self.learners = tuple(dict.fromkeys(name for row in losses.values() for name in row))
        self.baseline = baseline

    @property
    def competitors(self):
        return tuple(name for name in self.learners if name != self.baseline)

    def finished(self, dataset):
        return tuple(self._losses["binomial"][dataset])

    def parameters(self, dataset, family):
        return np.array([1, 2, 3] if family == "binomial" else [1.0, 30.0, 1000.0])

    def curve(self, dataset, learner, family):
        losses = self._losses[family][dataset][learner]
        return LossCurve(family, self.parameters(dataset, family), losses, n_labels=3, name=learner)

    def curves(self, dataset, family):
        return {name: self.curve(dataset, name, family) for name in self.finished(dataset)}

    def pairs(self, first, second, family):
        both = [data for data in self.datasets if {first, second} <= set(self.finished(data))]
        curves = [[self.curve(data, name, family) for name in (first, second)] for data in both]
        return {data: PairwiseCurve(*pair) for data, pair in zip(both, curves, strict=True)}

    def loss_at(self, dataset, learner, family, x):
        curve = self.curve(dataset, learner, family)
        return float(np.interp(x, curve.x, curve.losses))

    def rank_comparison(self, family, x):
        if len(self.datasets) < 2:
            raise ValueError("too few")
        table = [[self.loss_at(data, name, family, x) for name in self.competitors] for data in self.datasets]
        return compare_ranks(table, self.competitors)


AS_IN_THE_PAPER = {
    "BR": [0.10, 0.30, 0.50],
    "CC": [0.11, 0.28, 0.44],
    "LP": [0.14, 0.28, 0.40],
    "RAkEL-2": [0.10, 0.29, 0.48],
    "RAkEL-5": [0.12, 0.28, 0.43],
    "PCT": [0.09, 0.30, 0.55],
}


def test_all_claims_hold_where_the_curves_are_as_in_the_paper():
    claims = judge_claims(HandMade({"llog-f": AS_IN_THE_PAPER, "emotions": AS_IN_THE_PAPER}))
    assert [claim.verdict for claim in claims] == ["holds"] * 6
    assert claims[PCT_LP].where == "on llog-f"
    assert claims[PCT_LP].figures == (
        "llog-f: PCT 0.0900 at k = 1, 0.5500 at k = 3, LP 0.1400 at k = 1, 0.4000 at k = 3"
    )
    assert claims[BR_LP].figures == "llog-f: BR - LP -0.040 to +0.100; emotions: BR - LP -0.040 to +0.100"
    assert claims[RAKEL_2].figures.startswith("llog-f: 0.010 against 0.035")  # trapezoids by hand
    assert claims[FAMILIES].figures == "llog-f: 15 of 15 pairs; emotions: 15 of 15 pairs"


@pytest.mark.parametrize(
    "number, changes",
    [
        (PCT_LP, {"PCT": [0.15, 0.3, 0.55]}),  # not ahead at small k
        (PCT_LP, {"PCT": [0.09, 0.2, 0.39]}),  # not behind at large k
        (BR_LP, {"BR": [0.10, 0.2, 0.40]}),  # level in the end
        (RAKEL_2, {"RAkEL-2": [0.14, 0.28, 0.41]}),  # near LP
        (RAKEL_5, {"RAkEL-5": [0.10, 0.30, 0.50]}),  # as BR, further from LP than RAkEL-2
        (LP_CC, {"CC": [0.20, 0.3, 0.40]}),  # LP loses its lead
    ],
)
def test_a_claim_fails_alone(number, changes):
    claims = judge_claims(HandMade({"llog-f": AS_IN_THE_PAPER | changes}))
    assert claims[number].verdict == "does not hold"
    assert claims[number].sentence == "Does not hold on llog-f."


def test_a_claim_that_holds_on_some_data_sets_holds_in_part():
    flat = AS_IN_THE_PAPER | {"BR": [0.1, 0.1, 0.1]}
    claim = judge_claims(HandMade({"llog-f": AS_IN_THE_PAPER, "flags": flat}))[BR_LP]
    assert (claim.verdict, claim.where) == ("holds in part", "on llog-f; not on flags")
    assert claim.sentence == "Holds in part: on llog-f; not on flags."


def test_families_disagree_where_leaders_come_in_another_order():
    polynomial = {"llog-f": AS_IN_THE_PAPER | {"LP": [0.01, 0.02, 0.03]}}
    claim = judge_claims(HandMade({"llog-f": AS_IN_THE_PAPER}, polynomial))[FAMILIES]
    # LP leads nowhere but at the end along one family, everywhere along the other: five pairs, of which none agrees
    assert (claim.verdict, claim.figures) == ("does not hold", "llog-f: 10 of 15 pairs")


def test_what_is_missing_cannot_be_judged():
    claims = judge_claims(HandMade({"flags": {"BR": [0.1, 0.2, 0.3]}}))
    assert {claim.verdict for claim in claims} == {"cannot be judged"}
    results = HandMade({"flags": AS_IN_THE_PAPER})
    results.families = ("polynomial",)
    assert judge_claims(results)[FAMILIES].where == "one family alone is here"


def test_the_answer_names_the_best_at_each_end_and_where_the_winner_changes():
    sentences = answer(HandMade({"emotions": {"BR": [0.1, 0.3, 0.5], "LP": [0.2, 0.3, 0.4]}}))
    assert sentences == [
        "BR for Hamming loss, BR and LP halfway, LP for subset 0/1 loss.",
        "By Hamming loss, BR is best on emotions (0.1000).",
        "By the binomial loss halfway between the ends, BR and LP are best on emotions (0.3000).",
        "By subset 0/1 loss, LP is best on emotions (0.4000).",
        "Which learner is best depends on the loss: the winner changes on the way from Hamming to subset 0/1.",
    ]


def test_the_answer_over_data_sets_says_how_sure_it_is():
    table = {"BR": [0.1, 0.3, 0.5], "LP": [0.2, 0.31, 0.45], "PCT": [0.3, 0.4, 0.6], "none": [0.2, 0.5, 0.9]}
    sentences = answer(HandMade({f"set {number}": table for number in range(9)}, baseline="none"))
    assert sentences[0] == "BR from Hamming loss to halfway, LP for subset 0/1 loss."
    assert sentences[1] == (
        "By Hamming loss, BR is best on average (mean rank 1.00 over 9 data sets, best on 9); "
        "by Nemenyi's test LP may be as good, the others are worse."
    )
    assert sentences[-2].startswith("The flattest curves are those of LP")
    assert sentences[-1].startswith("Not better than the baseline (none) at some parameter: PCT on set 0")
    assert sentences[-1].endswith("PCT on set 5 and 3 more.")


def test_one_winner_all_along_and_too_little_to_say():
    best = {"BR": [0.1, 0.2, 0.3], "LP": [0.2, 0.3, 0.4]}
    assert answer(HandMade({"flags": best}))[0] == "BR, whatever the loss."
    changing = {"BR": [0.1, 0.4, 0.6], "LP": [0.2, 0.3, 0.4]}
    assert answer(HandMade({"flags": changing}))[0] == "BR for Hamming loss, LP from halfway to subset 0/1 loss."
    assert answer(HandMade({"flags": best}))[-1].startswith("On every data set one learner is best")
    assert answer(HandMade({"flags": {"BR": [0.1, 0.2, 0.3]}})) == [
        "There is one learner, BR, and none to compare it with."
    ]
    assert answer(HandMade({"flags": {}}))[0].startswith("No learner has finished")
    alike = {f"set {number}": {"BR": [0.1, 0.2, 0.3], "LP": [0.1, 0.2, 0.3], "CC": [0.1, 0.2, 0.3]} for number in "ab"}
    assert "That may be chance" in " ".join(answer(HandMade(alike)))
