"""The paper's claims, on curves made by hand."""

import pytest

from choral.paper import judge_claims
from handmade_results import HandMade

PCT_LP, BR_LP, RAKEL_2, RAKEL_5, LP_CC, FAMILIES = range(6)

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
