"""The paper's claims: judged on curves made by hand, where the answer is known, and written down as findings."""

from itertools import combinations

import numpy as np
import pytest

import study_zoo as zoo
from choral import ErrorProfile
from choral.measures.families import FAMILIES
from choral.paper import claims_section, hedging_section, published_claims_section, read_plan, sweeps_section
from choral.paper.claims import CLAIMS, STUDIED, make_section
from choral.paper.evidence import NOTHING, Curves, Estimate, Evidence
from choral.paper.judging import ALIKE, combine, verdict_of
from choral.study import Plan, Split, StudyData, StudyLearner, run_study, running

X = np.array([0.0, 0.25, 0.5, 0.75, 1.0])


def line(start, middle, end):
    """Losses that bend in the middle of the axis."""
    return np.interp(X, [0, 0.5, 1], [start, middle, end])


AS_IN_THE_PAPER = {
    "BR": line(0.10, 0.33, 0.66),
    "CC": line(0.12, 0.31, 0.63),
    "LP": line(0.18, 0.35, 0.58),
    "RAkEL-2": line(0.11, 0.34, 0.66),
    "RAkEL-3": line(0.12, 0.34, 0.63),
    "RAkEL-4": line(0.13, 0.34, 0.62),
    "RAkEL-5": line(0.16, 0.35, 0.60),
    "PCT": line(0.14, 0.28, 0.74),
    "EPCT": line(0.13, 0.28, 0.55),
    NOTHING: line(0.12, 0.50, 0.90),
}


class HandMade(Evidence):
    """Curves along both families; what is beyond 0.005 is certain."""

    families = ("binomial", "polynomial")

    def __init__(self, losses, polynomial=None, silent=()):
        self.datasets = tuple(losses)
        self._losses, self._polynomial, self._silent = losses, polynomial or losses, silent

    def learners(self, dataset):
        return tuple(self._losses[dataset])

    def curves(self, dataset):
        return {"binomial": Curves(X, self._losses[dataset]), "polynomial": Curves(X, self._polynomial[dataset])}

    def profile(self, dataset, learner):
        return ErrorProfile.from_histogram([5, 3, 1, 1])

    def predicts_nothing(self, dataset, learner):
        return (dataset, learner) in self._silent

    def estimate(self, dataset, statistic):
        value = statistic(self.curves(dataset))
        pvalue = np.nan if np.isnan(value) else 1e-6 if abs(value) > 0.005 else 0.5
        return Estimate(value, value - 0.005, value + 0.005, pvalue)


def judge(evidence):
    findings = make_section("", evidence, "claims").findings
    return {claim.key: found for claim, found in zip(STUDIED, findings, strict=True)}


BY_DATASET = dict.fromkeys(("llog-f", "emotions", "yeast", "scene"), AS_IN_THE_PAPER)


def test_claims_hold_where_the_curves_are_as_in_the_paper():
    findings = judge(HandMade(BY_DATASET))
    across = {"I1", "I3b"}  # over data sets, which are all alike here
    assert {key: found.verdict for key, found in findings.items() if key not in across} == {
        claim.key: "holds" for claim in STUDIED if claim.key not in across
    }
    assert findings["R6a"].sentence == "Holds: on llog-f, emotions, yeast, scene, in both families."
    # BR grows by 0.56, LP by 0.40
    assert findings["R6a"].figures.startswith("llog-f +0.160 (+0.155 to +0.165), emotions")
    assert findings["R1a"].where == "on llog-f, in both families"
    assert "llog-f" not in findings["R7"].figures
    assert findings["R6c"].figures.startswith("llog-f +0.10")  # 0.02 ahead at 1/2, 0.08 behind at 1
    assert findings["I2"].figures.startswith("llog-f 2 of 9 learners surely better, 5 surely worse")
    assert findings["R6d"].figures.startswith("llog-f +0.03")  # at a loss of 0.396, between 0.14 and 0.62
    assert findings["R3"].where == "on llog-f, emotions, yeast, scene, in both families"
    assert findings["I4b"].figures.startswith("llog-f 60% to 60%")


@pytest.mark.parametrize(
    "key, changes",
    [
        ("T4", {"CC": line(0.12, 0.31, 0.30)}),  # falls
        ("I2", {NOTHING: line(0.40, 0.5, 0.9)}),  # all are better than nothing
        ("I3a", {name: line(0.1 + number / 50, 0.4, 0.5) for number, name in enumerate(AS_IN_THE_PAPER)}),
        ("I4a", {name: line(0.1, 0.2, 0.3) for name in AS_IN_THE_PAPER}),
        ("M1b", {"RAkEL-5": line(0.1, 0.5, 0.9)}),
        ("M3", {"BR": line(0.20, 0.33, 0.66)}),
        ("R1a", {"PCT": line(0.19, 0.28, 0.74)}),
        ("R1b", {"PCT": line(0.10, 0.2, 0.30)}),
        ("R6a", {"BR": line(0.10, 0.2, 0.30)}),
        ("R6b", {"BR": line(0.10, 0.2, 0.30)}),
        ("R6c", {"BR": line(0.17, 0.5, 0.66)}),  # crosses early
        ("R6d", {"BR": line(0.17, 0.5, 0.66)}),
        ("R8", {"PCT": line(0.14, 0.50, 0.74)}),
        ("R9a", {"CC": line(0.12, 0.60, 0.63)}),
        ("R9b", {"PCT": line(0.14, 0.50, 0.74)}),
        ("R10a", {"RAkEL-2": line(0.18, 0.35, 0.59)}),  # near LP
        ("R10b", {"RAkEL-5": line(0.08, 0.33, 0.80)}),  # further from LP than RAkEL-2
    ],
)
def test_a_claim_fails_where_the_curves_say_the_opposite(key, changes):
    found = judge(HandMade({"llog-f": AS_IN_THE_PAPER | changes}))[key]
    assert found.verdict == "does not hold"


def test_lines_of_the_families_that_part_are_not_alike():
    bent = {"llog-f": AS_IN_THE_PAPER | {"LP": line(0.18, 0.55, 0.58)}}
    assert judge(HandMade({"llog-f": AS_IN_THE_PAPER}, bent))["R5"].verdict == "does not hold"


def test_a_sign_is_no_verdict():
    close = AS_IN_THE_PAPER | {"BR": AS_IN_THE_PAPER["LP"] + np.linspace(0, 0.001, X.size)}
    findings = judge(HandMade({"emotions": close}))
    assert findings["R6a"].sentence == "Cannot be told: on emotions, in both families."
    assert findings["R6a"].figures.startswith("emotions +0.001 (-0.004 to +0.006)")


def test_that_no_curves_cross_is_no_verdict():
    apart = {name: line(0.1, 0.2, 0.3) + number / 50 for number, name in enumerate(AS_IN_THE_PAPER)}
    found = judge(HandMade({"emotions": apart}))["R3"]
    assert found.sentence == "Cannot be told: on all data sets, in both families."
    assert found.figures == "emotions 0 of 36 pairs, 0 surely, in both families"


def test_a_verdict_needs_an_interval_that_excludes_0():
    assert verdict_of(Estimate(-0.06, -0.09, 0.003, 1e-4)) == "cannot be told"
    assert verdict_of(Estimate(-0.06, -0.09, -0.01, 1e-4)) == "does not hold"
    assert verdict_of(Estimate(0.06, np.nan, np.nan, 1e-4)) == "holds"
    assert verdict_of(Estimate(0.06, np.nan, np.nan, np.nan)) == "cannot be told"


def test_learners_that_predict_nothing_do_not_count_as_hard_to_beat_by_it():
    found = judge(HandMade({"llog-f": AS_IN_THE_PAPER}, silent=[("llog-f", "LP")]))["I2"]
    assert (found.verdict, found.figures) == ("holds", "llog-f 2 of 8 learners surely better, 4 surely worse")


def test_a_number_that_is_not_defined_is_left_out():
    never = AS_IN_THE_PAPER | {"BR": line(0.1, 0.2, 0.3)}  # never falls behind
    found = judge(HandMade({"emotions": AS_IN_THE_PAPER, "birds": never}))["R6c"]
    assert (found.verdict, found.where) == ("holds", "on emotions, in both families")


def test_verdicts_differ_by_data_set_and_family():
    opposite = AS_IN_THE_PAPER | {"BR": line(0.1, 0.2, 0.3)}
    binomial = {"emotions": AS_IN_THE_PAPER, "birds": opposite}
    polynomial = {"emotions": AS_IN_THE_PAPER, "birds": AS_IN_THE_PAPER}
    found = judge(HandMade(binomial, polynomial))["R6a"]
    assert found.sentence == (
        "Holds in part: Binomial: holds on emotions; does not hold on birds. Polynomial: holds on emotions, birds."
    )


def test_a_learner_that_predicts_nothing_is_named():
    found = judge(HandMade({"llog-f": AS_IN_THE_PAPER}, silent=[("llog-f", "PCT")]))["R1a"]
    assert found.sentence == "Holds: on llog-f, in both families. PCT predicts no label at all on llog-f."
    assert found.figures == "llog-f +0.0400 (+0.0350 to +0.0450), in both families"


def test_over_data_sets_hamming_follows_cardinality():
    shifted = {
        f"d{shift}": {name: losses / 4 + shift / 20 for name, losses in AS_IN_THE_PAPER.items()} for shift in range(6)
    }
    found = judge(HandMade(shifted))["I1"]
    assert (found.verdict, found.where) == ("holds", "on all data sets")
    assert found.figures.startswith("rank correlation 1.00 (p = 0.0028)")
    assert judge(HandMade({"d0": AS_IN_THE_PAPER}))["I1"].verdict == "cannot be told"  # too few data sets


def test_over_data_sets_pairs_that_differ_are_counted_at_both_ends():
    # all alike by Hamming loss, all different at the other end
    apart = {name: line(0.1, 0.3, 0.5 + number / 50) for number, name in enumerate(AS_IN_THE_PAPER)}
    found = judge(HandMade({f"d{number}": apart for number in range(7)}))["I3b"]
    assert found.verdict == "holds"
    assert found.figures.startswith("d0 0 and 36 of 36, d1 0 and 36 of 36")
    assert found.figures.endswith("of 36 pairs (p = 0.016)")  # two of 2^7 signs


def test_what_is_missing_cannot_be_told():
    findings = judge(HandMade({"flags": {"BR": line(0.1, 0.2, 0.3)}}))
    assert findings["R6a"].sentence == "Cannot be told: its learners or data sets are not here."
    assert findings["R1b"].verdict == "cannot be told"


@pytest.mark.parametrize(
    "verdicts, whole",
    [
        ([], "cannot be told"),
        (["holds", "cannot be told"], "holds"),
        (["holds", "cannot be told", "cannot be told"], "cannot be told"),
        (["does not hold", "does not hold", "cannot be told"], "does not hold"),
        (["holds", "holds", "holds", "does not hold"], "holds in part"),
    ],
)
def test_the_verdict_on_a_claim_is_that_of_half_of_its_cases(verdicts, whole):
    assert combine(verdicts) == whole


# --- sections


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setattr(running, "run_task", zoo.run_here)
    learners = [StudyLearner(name, zoo.Stumps(0.3 + number / 20)) for number, name in enumerate(("BR", "LP", "PCT"))]
    plan = Plan([StudyData("flags", zoo.make_data)], learners, split=Split(folds=3))
    return run_study(plan, tmp_path / "study")


def test_the_section_of_a_study_has_all_figures_in_a_table(results):
    section = claims_section(results)
    assert [found.statement.partition(".")[0] for found in section.findings] == [claim.key for claim in STUDIED]
    rows = [row for row in section.tables["claims"].rows if row[0] == "R6a"]
    assert [row[:3] for row in rows] == [("R6a", "binomial", "flags"), ("R6a", "polynomial", "flags")]
    curves = [results.curve("flags", name, "binomial") for name in ("BR", "LP")]
    assert rows[0][4] == pytest.approx(curves[0].slope - curves[1].slope)


def test_every_claim_says_what_is_measured_and_names_a_figure_that_a_study_of_the_paper_draws():
    names = [learner.name for learner in read_plan("paper").learners]
    datasets = [data.name for data in read_plan("paper").datasets]
    figures = {f"curves/{dataset}--{family}" for dataset in datasets for family in FAMILIES}
    figures |= {f"pairs/{a}--{b}--{family}" for a, b in combinations(names, 2) for family in FAMILIES}
    figures |= {f"pages/{family}" for family in FAMILIES}
    for claim in CLAIMS:
        assert claim.measured
        assert claim.figure in figures | {""}


def test_the_published_curves_are_judged_whatever_the_study(results):
    section = published_claims_section(results)
    verdicts = {found.statement.partition(".")[0]: found.verdict for found in section.findings}
    assert {verdicts[key] for key in ("T1", "T2", "T3", "T4", "M1a", "R5")} == {"holds"}
    assert verdicts["R1a"] == "cannot be told"  # llog-f was not published
    gaps = [ALIKE - row[4] for row in section.tables["published_claims"].rows if row[0] == "R5"]
    assert max(gaps) == pytest.approx(0.011, abs=5e-5)
    (found,) = (found for found in section.findings if found.statement.startswith("R7."))
    assert found.where.endswith("in both families. PCT predicts no label at all on birds")


def test_sweeps_without_their_learners_cannot_be_told(results):
    section = sweeps_section(results)
    assert {found.verdict for found in section.findings} == {"cannot be told"}
    (summary,) = section.summaries
    assert [row[0] for row in summary.rows] == ["BR", "LP", "PCT"]
    curve = results.curve("flags", "LP", "binomial")
    assert summary.rows[1][1:] == pytest.approx((curve.losses[0], curve.losses[1], curve.losses[-1], curve.slope))


# --- scores


@pytest.fixture
def of_scores(tmp_path, monkeypatch):
    monkeypatch.setattr(running, "run_task", zoo.run_here)

    def run(**changes):
        learners = [StudyLearner(name, zoo.Stumps(0.3 + number / 20)) for number, name in enumerate(("BR", "LP"))]
        plan = Plan([StudyData("flags", zoo.make_data)], learners, split=Split(folds=3), predictions="soft", **changes)
        return run_study(plan, tmp_path / "study")

    return run


def test_scores_are_shown_beside_saying_one_half(of_scores):
    results = of_scores()
    section = hedging_section(results)
    (summary,) = section.summaries
    assert [row[0] for row in summary.rows] == ["BR", "LP", "1/2 for every label"]
    assert summary.rows[-1][1:] == (0.5, 0.5, 0.5, 0.0, 0)
    losses = results.curve("flags", "BR", "binomial").losses
    assert summary.rows[0][1:] == pytest.approx((*losses, losses[-1] - losses[0], int(losses[-1] > 0.5)))


def test_claims_are_not_judged_by_scores(of_scores):
    section = claims_section(of_scores())
    assert section.findings == ()
    assert section.prose == ("The claims are about labels; the predictions of this study are scores.",)


def test_nothing_is_averaged_where_curves_lack_an_end(of_scores):
    assert [row[0] for row in hedging_section(of_scores(families={"binomial": [1]})).summaries[0].rows] == [
        "1/2 for every label"
    ]
