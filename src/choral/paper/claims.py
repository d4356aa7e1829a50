"""What the paper claims, in our own words: each claim with what is measured for it, its verdict, and its figure.

How a claim is judged is in `choral.paper.judging`. Two claims are definitions and are not judged: a flatter curve is
called more dependence-aware; in a plot of two learners the first is better above the diagonal, and gains on the second
where the line is convex. The numbers of the claims (T: theory, I: introduction, M: methods, R: results) are ours.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from choral._text import join_names
from choral.paper.evidence import Estimate, Evidence, OwnRuns, PublishedCurves
from choral.paper.judging import (
    ALIKE,
    COMPETITIVE,
    HIGH,
    Judge,
    Judgement,
    changes_slope,
    combine,
    crossing_beyond_middle,
    curves_cross,
    falls_behind,
    families_are_alike,
    fewer_pairs_differ_by_hamming,
    find_silent,
    flattens,
    hamming_follows_cardinality,
    median_end_above_half,
    near_median,
    nothing_is_hard_to_beat,
    on_datasets,
    range_gap,
    wrong_rows_are_almost_right,
)
from choral.paper.theory import (
    ends_are_hamming_and_subset,
    losses_grow,
    marginals_do_not_suffice,
    modes_are_optimal,
    rakel_has_both_ends,
)
from choral.study import Finding, Results, Section, Table
from choral.study.sections import VERDICTS, Verdict

RAKELS = {2: "RAkEL-2", 3: "RAkEL-3", 4: "RAkEL-4", 5: "RAkEL-5"}
TREE_LEAVES = {2: "PCT", 5: "PCT leaf 5", 20: "PCT leaf 20", 50: "PCT leaf 50"}
FOREST_LEAVES = {2: "EPCT of 10", 10: "EPCT leaf 10", 50: "EPCT leaf 50"}
FOREST_SIZES = {1: "EPCT of 1", 3: "EPCT of 3", 10: "EPCT of 10"}
OF_SWEEPS = ("M2a", "M2b", "M2c")  # judged where their learners are: in the plan `sweeps`
ABOUT_PCT = (
    "PCT splits by entropy here, as in the published runs (the default of CLUS); the paper describes it by variance. "
    "The plan sweeps has both."
)
NOT_HERE = "its learners or data sets are not here"
READING = (
    "The claims are in our own words. Where a claim is a number, it is positive if the claim is right, with its 95 % "
    "interval in brackets (none where the number is not defined without some fold, or in some sample); then holds and "
    "does not hold mean p < 0.05, adjusted over the data sets by Holm's method. Other claims say how they are counted."
)


@dataclass(frozen=True)
class Claim:
    """A claim of the paper and how it is judged."""

    key: str
    statement: str
    measured: str
    judge: Judge
    figure: str = ""  # of a study, in its folder `figures`, without the ending


def claims_section(results: Results) -> Section:
    """The claims of the paper judged by a study, as a section of it.

    Parameters
    ----------
    results : Results
        Of a study.

    Returns
    -------
    section : Section
        Prose, findings and tables, to be shown with the study.

    See Also
    --------
    published_claims_section : The claims judged by the published curves.
    choral.study.Section : What an analysis found.
    """
    title = "The claims of the paper, by this study"
    if results.predictions != "hard":
        return Section(title, prose=("The claims are about labels; the predictions of this study are scores.",))
    section = make_section(title, OwnRuns(results), "claims")
    return replace(section, prose=(*section.prose, ABOUT_PCT))


def published_claims_section(results: Results) -> Section:
    """The same judged by the curves that were published with the paper, whatever the study.

    Parameters
    ----------
    results : Results
        Of a study.

    Returns
    -------
    section : Section
        Prose, findings and tables, to be shown with the study.

    See Also
    --------
    claims_section : The claims of the paper, judged by a study.
    published_runs : The published runs.
    """
    return make_section("The claims of the paper, by the published curves", PublishedCurves(), "published_claims")


def make_section(title: str, evidence: Evidence, table: str, claims: Sequence[Claim] = ()) -> Section:
    """Some claims judged by some evidence, and all figures as a table; all claims that need no sweep unless given."""
    judged = [(claim, claim.judge(evidence)) for claim in claims or STUDIED]
    columns = ("claim", "family", "dataset", "verdict", *Estimate._fields, "figures")
    rows = [
        (claim.key, case.family, case.dataset, case.verdict, *map(_or_none, case.estimate), case.text)
        for claim, cases in judged
        for case in cases
    ]
    findings = tuple(_finding(claim, cases) for claim, cases in judged)
    silent = {dataset: find_silent(evidence, dataset, evidence.learners(dataset)) for dataset in evidence.datasets}
    prose = (READING, *(f"{sentence}." for sentence in _say_silent(silent)))
    return Section(title, prose=prose, findings=findings, tables={table: Table(columns, tuple(rows))})


def _say_silent(silent: Mapping[str, Sequence[str]]) -> list[str]:
    """Learners that predict no label, by data set, in words; those of the same data sets together.

    Examples
    --------
    >>> _say_silent({"birds": ["PCT", "A"], "flags": [], "llog-f": ["PCT", "A"]})
    ['PCT and A predict no label at all on birds and llog-f']
    """
    by_learner: dict[str, list[str]] = {}
    for dataset, learners in silent.items():
        for learner in learners:
            by_learner.setdefault(learner, []).append(dataset)
    by_datasets: dict[str, list[str]] = {}
    for learner, datasets in by_learner.items():
        by_datasets.setdefault(join_names(datasets), []).append(learner)
    return [
        f"{join_names(learners)} {'predicts' if len(learners) == 1 else 'predict'} no label at all on {datasets}"
        for datasets, learners in by_datasets.items()
    ]


def _finding(claim: Claim, cases: list[Judgement]) -> Finding:
    verdict = combine([case.verdict for case in cases])
    return Finding(
        f"{claim.key}. {claim.statement}" if claim.key else claim.statement,
        verdict,
        measured=claim.measured,
        figures=_by_family(cases, lambda group: ", ".join(case.text for case in group)),
        where=". ".join([_by_family(cases, partial(_where, verdict)) or NOT_HERE, *_remarks(cases)]),
        figure=claim.figure,
    )


def _remarks(cases: list[Judgement]) -> list[str]:
    said = dict.fromkeys(case.remark for case in cases if case.remark)
    return [*said, *_say_silent({case.dataset: case.silent for case in cases})]


def _by_family(cases: list[Judgement], write: Callable[[list[Judgement]], str]) -> str:
    """What there is to say for each family; once where it is the same for all of them."""
    families = dict.fromkeys(case.family for case in cases)
    texts = {family: write([case for case in cases if case.family == family]) for family in families}
    if len(set(texts.values())) == 1:
        return next(iter(texts.values())) + (", in both families" if len(texts) > 1 else "")
    return ". ".join(f"{family.capitalize()}: {text}" for family, text in texts.items())


def _where(overall: Verdict, cases: list[Judgement]) -> str:
    """On which data sets there is which verdict; that of the claim as a whole comes first and is not said again."""
    parts = []
    for verdict in sorted(VERDICTS, key=lambda verdict: verdict != overall):
        if names := [case.dataset for case in cases if case.verdict == verdict]:
            parts.append(f"{'' if verdict == overall else f'{verdict} '}on {', '.join(names)}")
    return "; ".join(parts)


def _or_none(number: float) -> float | None:
    return float(number) if np.isfinite(number) else None


def _is_not(name: str) -> Callable[[str], bool]:
    return lambda dataset: dataset != name


def _is(name: str) -> Callable[[str], bool]:
    return lambda dataset: dataset == name


CLAIMS = (
    Claim(
        "T1",
        "The prediction with the least expected Hamming loss is the marginal mode, that of subset 0/1 loss the joint "
        "mode.",
        "the optimal prediction among all of them, in the two examples of the paper",
        modes_are_optimal,
    ),
    Claim(
        "T2",
        "The marginals suffice for the optimal prediction where the loss is decomposable, and only there.",
        "the optima of the example with three labels and of independent labels with the same marginals",
        marginals_do_not_suffice,
    ),
    Claim(
        "T3",
        "k = 1 and alpha = 1 are Hamming loss; k = K and alpha towards infinity are subset 0/1 loss.",
        "the ends of the curves of both families",
        ends_are_hamming_and_subset,
    ),
    Claim("T4", "The loss grows with k and with alpha.", "the smallest step of every curve", losses_grow),
    Claim(
        "I1",
        "Hamming loss is often near 0 because few labels are relevant.",
        "over data sets, Kendall's correlation of the share of relevant labels with the median Hamming loss of the "
        "learners",
        hamming_follows_cardinality,
        "curves/llog-f--binomial",
    ),
    Claim(
        "I2",
        "Predicting no label at all does well by Hamming loss and is hard to beat.",
        "how many learners are better than it by Hamming loss, and how many worse, for certain (adjusted over the "
        "learners); it does not hold where at least half are better, it holds where at least half are worse; learners "
        "that predict no label themselves do not count",
        nothing_is_hard_to_beat,
        "curves/llog-f--binomial",
    ),
    Claim(
        "I3a",
        "Differences between learners are small by Hamming loss.",
        "the range of the learners' losses at the other end minus the range of their Hamming losses",
        on_datasets(range_gap),
        "curves/yeast--binomial",
    ),
    Claim(
        "I3b",
        "Differences by Hamming loss are hard to show significant.",
        "pairs of learners that differ for certain (adjusted over the pairs), by Hamming loss and by subset 0/1 loss; "
        "over data sets, Wilcoxon's test that there are fewer by Hamming loss",
        fewer_pairs_differ_by_hamming,
        "curves/yeast--binomial",
    ),
    Claim(
        "I4a",
        "Subset 0/1 loss is high.",
        f"the median subset 0/1 loss of the learners minus {HIGH}",
        on_datasets(median_end_above_half),
        "curves/llog-f--binomial",
    ),
    Claim(
        "I4b",
        "Subset 0/1 loss is blind to almost right against all wrong.",
        "the share of rows with a single wrong label among those that subset 0/1 loss counts as wrong, over the "
        "learners; it holds by definition, the figures say how often it matters",
        wrong_rows_are_almost_right,
        "curves/yeast--binomial",
    ),
    Claim(
        "M1a",
        "RAkEL with k = 1 and K models is BR, with k = K and one model LP.",
        "predictions of both",
        rakel_has_both_ends,
    ),
    Claim(
        "M1b",
        "A larger k makes RAkEL more dependence-aware.",
        "by how much the slope of the curve falls for each step of k, by least squares over k = 2, 3, 4, 5",
        on_datasets(flattens(RAKELS), *RAKELS.values(), layout="+.4f"),
        "pairs/RAkEL-2--RAkEL-5--binomial",
    ),
    Claim(
        "M2a",
        "The size of leaves controls how dependence-aware PCT is.",
        "by how much the slope of the curve falls each time the least number of rows in a leaf doubles (2 to 50); it "
        "holds where the change is for certain, up or down",
        changes_slope(TREE_LEAVES),
        "curves/yeast--binomial",
    ),
    Claim(
        "M2b",
        "The size of leaves controls how dependence-aware EPCT is.",
        "the same for the leaves of its trees, which are not pruned",
        changes_slope(FOREST_LEAVES),
        "curves/yeast--binomial",
    ),
    Claim(
        "M2c",
        "The size of the ensemble controls how dependence-aware EPCT is.",
        "the same each time the number of trees doubles (1 to 10)",
        changes_slope(FOREST_SIZES),
        "curves/yeast--binomial",
    ),
    Claim(
        "M3",
        "BR is competitive by measures that are not dependence-aware.",
        f"the median Hamming loss of the other learners and {COMPETITIVE:.0%} of it, minus that of BR",
        on_datasets(near_median("BR"), "BR", families=("binomial",), layout="+.4f"),
        "curves/yeast--binomial",
    ),
    Claim(
        "R1a",
        "On llog-f PCT is better than LP where the parameter is small.",
        "Hamming loss of LP minus that of PCT",
        on_datasets(
            lambda curves: curves.start("LP") - curves.start("PCT"), "LP", "PCT", datasets=_is("llog-f"), layout="+.4f"
        ),
        "curves/llog-f--binomial",
    ),
    Claim(
        "R1b",
        "On llog-f LP catches up with PCT and overtakes it.",
        "loss of PCT minus loss of LP at the other end",
        on_datasets(lambda curves: curves.end("PCT") - curves.end("LP"), "LP", "PCT", datasets=_is("llog-f")),
        "curves/llog-f--polynomial",
    ),
    Claim(
        "R3",
        "Curves of learners intersect, in both families.",
        "pairs of learners with opposite leads at the two ends; for certain where both leads are (adjusted over all "
        "pairs and data sets); it holds where there are such pairs",
        curves_cross,
        "pages/binomial",
    ),
    Claim(
        "R5",
        "In plots of two learners the lines of the two families are much alike.",
        f"the largest vertical distance of the two lines, over all pairs; alike means at most {ALIKE}",
        families_are_alike,
        "pages/polynomial",
    ),
    Claim(
        "R6a",
        "As the parameter grows, BR loses ground to LP.",
        "BR minus LP at the end, minus the same at Hamming loss",
        on_datasets(falls_behind("BR", "LP"), "BR", "LP"),
        "pairs/BR--LP--binomial",
    ),
    Claim(
        "R6b",
        "At the far end BR is worse than LP.",
        "loss of BR minus loss of LP at the end",
        on_datasets(lambda curves: curves.end("BR") - curves.end("LP"), "BR", "LP"),
        "pairs/BR--LP--binomial",
    ),
    Claim(
        "R6c",
        "BR falls behind LP late: on the axis of the parameter.",
        "where on the axis (0 to 1) BR falls behind for the last time, minus 1/2; data sets where the curves do not "
        "cross like that are left out",
        on_datasets(crossing_beyond_middle("BR", "LP", along="axis"), "BR", "LP", layout="+.2f"),
        "curves/yeast--binomial",
    ),
    Claim(
        "R6d",
        "BR falls behind LP late: on the way along the diagonal of a plot of the two.",
        "where on the way from the losses at one end to those at the other (0 to 1) the diagonal is crossed, minus 1/2",
        on_datasets(crossing_beyond_middle("BR", "LP", along="losses"), "BR", "LP", layout="+.2f"),
        "pairs/BR--LP--binomial",
    ),
    Claim(
        "R7",
        "LP against PCT confirms it: as the parameter grows, PCT loses ground to LP.",
        "PCT minus LP at the end, minus the same at Hamming loss; without llog-f, which is R1",
        on_datasets(falls_behind("PCT", "LP"), "PCT", "LP", datasets=_is_not("llog-f")),
        "pairs/LP--PCT--binomial",
    ),
    Claim(
        "R8",
        "In between, the lead of PCT over LP is larger than that of BR: PCT handles dependence better than BR.",
        "mean over the middle half of the axis: (LP - PCT) - (LP - BR), which is BR - PCT",
        on_datasets(lambda curves: curves.middle("BR") - curves.middle("PCT"), "BR", "LP", "PCT"),
        "pairs/BR--PCT--binomial",
    ),
    Claim(
        "R9a",
        "Against CC the lead of PCT in between is smaller than against LP.",
        "mean over the middle half of the axis: (LP - PCT) - (CC - PCT), which is LP - CC",
        on_datasets(lambda curves: curves.middle("LP") - curves.middle("CC"), "CC", "LP", "PCT"),
        "pairs/CC--LP--binomial",
    ),
    Claim(
        "R9b",
        "Read the other way: in between, the lead of CC over LP is smaller than that of PCT.",
        "mean over the middle half of the axis: (LP - PCT) - (LP - CC), which is CC - PCT",
        on_datasets(lambda curves: curves.middle("CC") - curves.middle("PCT"), "CC", "LP", "PCT"),
        "pairs/CC--PCT--binomial",
    ),
    Claim(
        "R10a",
        "RAkEL with k = 2 is much like BR.",
        "mean distance of its curve from that of LP minus mean distance from that of BR",
        on_datasets(
            lambda curves: curves.distance("RAkEL-2", "LP") - curves.distance("RAkEL-2", "BR"), "RAkEL-2", "BR", "LP"
        ),
        "pairs/BR--RAkEL-2--binomial",
    ),
    Claim(
        "R10b",
        "RAkEL with k = 5 approaches LP.",
        "mean distance of the curves of RAkEL-2 and LP minus that of RAkEL-5 and LP",
        on_datasets(
            lambda curves: curves.distance("RAkEL-2", "LP") - curves.distance("RAkEL-5", "LP"),
            "RAkEL-2",
            "RAkEL-5",
            "LP",
        ),
        "pairs/LP--RAkEL-5--binomial",
    ),
)
STUDIED = tuple(claim for claim in CLAIMS if claim.key not in OF_SWEEPS)
