"""The paper's claims and the answer in words, on curves made by hand."""

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest

from choral import LossCurve, PairwiseCurve
from choral.paper import judge_claims
from choral.stats import compare_ranks
from choral.study.answers import answer
from choral.study.comparisons import PLACES

PCT_LP, BR_LP, RAKEL_2, RAKEL_5, LP_CC, FAMILIES = range(6)


class HandMade:
    """What claims and answers ask of results, from losses at k = 1, 2, 3: data set -> learner -> losses."""

    families = ("binomial", "polynomial")
    confidence = 0.95

    def __init__(self, losses, polynomial=None, baseline=None, learners=None, whole=True):
        self.whole = whole
        self._losses = {"binomial": losses, "polynomial": polynomial or losses}
        self.datasets = tuple(losses)
        self.learners = learners or tuple(dict.fromkeys(name for row in losses.values() for name in row))
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

    def competitor_curves(self, dataset, family):
        return {name: curve for name, curve in self.curves(dataset, family).items() if name != self.baseline}

    def places(self, family):
        return PLACES if self.whole else {}

    def loss_at(self, dataset, learner, family, x):
        curve = self.curve(dataset, learner, family)
        return float(np.interp(x, curve.x, curve.losses))

    @property
    def complete_datasets(self):
        return [data for data in self.datasets if set(self.competitors) <= set(self.finished(data))]

    def ranks_or_none(self, family, x):
        datasets = self.complete_datasets
        if len(datasets) < 2:
            return None
        table = [[self.loss_at(data, name, family, x) for name in self.competitors] for data in datasets]
        return compare_ranks(table, self.competitors)

    def differences(self, dataset, family):
        """All differences of 0.05 and more are significant."""
        curves = self.competitor_curves(dataset, family)
        return {
            (a, b): SimpleNamespace(pvalue=np.where(np.abs(curves[a].losses - curves[b].losses) > 0.0499, 0.01, 0.5))
            for a, b in combinations(curves, 2)
        }


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
    assert (claim.verdict, claim.where) == ("holds in part", "on 1 of 2 data sets, llog-f; not on flags")
    assert claim.sentence == "Holds in part: on 1 of 2 data sets, llog-f; not on flags."


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
    table = {"BR": [0.1, 0.3, 0.5], "LP": [0.2, 0.3, 0.4], "CC": [0.11, 0.4, 0.6]}
    assert answer(HandMade({"emotions": table})) == [
        "BR for Hamming loss, BR and LP halfway, LP for subset 0/1 loss.",
        "By Hamming loss, BR is best on emotions (0.1000); "
        "by the corrected t test CC may be as good, the others are worse.",
        "By the binomial loss halfway between the ends, BR and LP are best on emotions (0.3000).",
        "By subset 0/1 loss, LP is best on emotions (0.4000); by the corrected t test better than each of the others.",
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
    assert sentences[-2] == (
        "The flattest curves are those of LP: it loses least when labels have to be right together. BR loses most."
    )
    assert sentences[-1].startswith("Not better than the baseline (none) at some parameter: LP on set 0")
    assert sentences[-1].endswith("PCT on set 2 and 12 more.")


def test_two_learners_are_compared_by_wilcoxon_and_never_by_friedman():
    better, worse = {"A": [0.1, 0.2, 0.3], "B": [0.2, 0.3, 0.5]}, {"A": [0.2, 0.3, 0.5], "B": [0.1, 0.2, 0.3]}
    sentences = answer(HandMade({f"set {number}": better for number in range(8)}))
    assert sentences[0] == "A, whatever the loss."
    assert sentences[1].endswith("best on 8); by Wilcoxon's test better than the other (p = 0.0078).")
    sentences = answer(HandMade({"a": better, "b": better, "c": worse}))
    assert sentences[1].endswith("by Wilcoxon's test that may be chance (p = 1).")
    assert "Friedman" not in " ".join(sentences)


def test_learners_that_failed_are_named_and_count_nowhere():
    table = {"A": [0.1, 0.2, 0.3], "B": [0.2, 0.3, 0.5], "C": [0.3, 0.4, 0.6]}
    without = {name: table[name] for name in "BC"}
    sentences = answer(
        HandMade({"1": table, "2": table, "3": without}, learners=("A", "B", "C", "none"), baseline="none")
    )
    assert "mean rank 1.00 over 2 data sets, best on 2" in sentences[2]
    assert sentences[-2] == "The baseline (none) has not finished."
    assert (
        sentences[-1] == "Left out, since not all of their cells are done: none on 1, none on 2, A on 3 and none on 3."
    )
    sentences = answer(HandMade({"1": without, "2": without}, learners=("A", "B", "C")))
    assert sentences[1] == "By Hamming loss, B is best on 2 of 2 data sets."
    alone = {"B": [0.1, 0.2, 0.3]}
    assert answer(HandMade({"1": alone}, learners=("A", "B"))) == [
        "No two learners have finished on one data set: there is nothing to compare.",
        "Left out, since not all of their cells are done: A on 1.",
    ]


def test_no_end_is_claimed_that_the_parameters_do_not_reach():
    table = {"A": [0.1, 0.2, 0.6], "B": [0.2, 0.3, 0.5]}
    assert answer(HandMade({"flags": table}, whole=False)) == [
        "The parameters of this study reach no end.",
        "Which learner is best depends on the loss: the winner changes along the curve.",
    ]


def test_one_winner_all_along_and_too_little_to_say():
    best = {"BR": [0.1, 0.2, 0.3], "LP": [0.2, 0.3, 0.4]}
    assert answer(HandMade({"flags": best}))[0] == "BR, whatever the loss."
    assert answer(HandMade({"flags": best}))[-1].startswith("On every data set the same learner is best all along")
    changing = {"BR": [0.1, 0.4, 0.6], "LP": [0.2, 0.3, 0.4]}
    assert answer(HandMade({"flags": changing}))[0] == "BR for Hamming loss, LP from halfway to subset 0/1 loss."
    assert answer(HandMade({"flags": {"BR": [0.1, 0.2, 0.3]}})) == [
        "There is one learner, BR, and none to compare it with."
    ]
    alike = {f"set {number}": dict.fromkeys(("BR", "LP", "CC"), (0.1, 0.2, 0.3)) for number in "ab"}
    sentences = answer(HandMade(alike))
    assert sentences == ["The learners do not differ at any parameter."]


def test_some_losses_may_be_by_chance():
    sure = {"A": [0.1, 0.2, 0.3], "B": [0.2, 0.3, 0.3], "C": [0.3, 0.4, 0.3]}
    sentences = answer(HandMade({f"set {number}": sure for number in range(6)}))
    assert sentences[1] == "By subset 0/1 loss that may be chance: Friedman's test does not show that learners differ."
    two = {"A": [0.1, 0.2, 0.3], "B": [0.2, 0.3, 0.4], "C": [0.3, 0.4, 0.5]}
    assert answer(HandMade({"a": two, "b": two}))[1].startswith("That may be chance: Friedman's test does not show")
