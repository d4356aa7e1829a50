"""How a claim is judged: by a number on each data set, by counting, or exactly.

A claim about data sets is a number for each data set and family that is positive where the claim is right. It *holds*
there if the number is positive for certain, *does not hold* if it is negative for certain, and else *cannot be told*;
for certain means p < 0.05 after Holm's adjustment over the data sets (`choral.paper.evidence` has the tests). All data
sets and families together: the claim holds if it holds in at least half of the cases and fails in none, it does not
hold if it is the other way round, it holds in part if it holds in some cases and fails in others, and else it cannot
be told.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np

from choral._validation import ROUNDING
from choral.paper.evidence import CONFIDENCE, LEARNERS, NOTHING, Curves, Estimate, Evidence
from choral.stats import holm
from choral.study.sections import Verdict

DOUBT = 1 - CONFIDENCE
UNKNOWN = Estimate(np.nan, np.nan, np.nan, np.nan)
OPPOSITE = {"holds", "does not hold"}
ALIKE = 0.02  # two lines of a plot of losses are alike if they are never further apart than this
HIGH = 0.5  # a subset 0/1 loss above this is high
COMPETITIVE = 0.1  # a loss that is above another by at most this share of it is competitive

OfCurves = Callable[[Curves], Any]  # a number for each sample


class Judgement(NamedTuple):
    """A claim in one case: on a data set along a family, or on all data sets at once."""

    family: str
    dataset: str
    verdict: Verdict
    estimate: Estimate  # its p-value adjusted; nan where the verdict is a matter of counting
    text: str  # the figures in words
    remark: str = ""  # what whoever reads the verdict should know
    silent: tuple[str, ...] = ()  # learners in it that predict no label: to be better than them is not much


Judge = Callable[[Evidence], list[Judgement]]


def combine(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict on a claim from those in single cases.

    Examples
    --------
    >>> combine(["holds", "holds", "cannot be told"]), combine(["holds", "cannot be told", "cannot be told"])
    ('holds', 'cannot be told')
    >>> combine(["holds", "does not hold", "does not hold"])
    'holds in part'
    """
    holds, fails = verdicts.count("holds"), verdicts.count("does not hold")
    if holds and fails:
        return "holds in part"
    if holds and 2 * holds >= len(verdicts):
        return "holds"
    if fails and 2 * fails >= len(verdicts):
        return "does not hold"
    return "cannot be told"


def on_datasets(
    statistic: OfCurves,
    *needs: str,
    datasets: Callable[[str], bool] = lambda name: True,
    families: Sequence[str] | None = None,
    layout: str = "+.3f",
) -> Judge:
    """Judge a number on every data set that has the learners it needs, along each family by itself."""

    def judge(evidence: Evidence) -> list[Judgement]:
        chosen = [
            dataset
            for dataset in evidence.datasets
            if datasets(dataset)
            and {*needs} <= {*evidence.learners(dataset)}
            and (needs or evidence.competitors(dataset))
        ]
        cases = []
        for family in (name for name in evidence.families if families is None or name in families):
            estimates = {
                dataset: evidence.estimate(dataset, lambda curves, family=family: statistic(curves[family]))  # type: ignore[misc]
                for dataset in chosen
            }
            cases += _judge_estimates(family, estimates, layout)
        return [case._replace(silent=find_silent(evidence, case.dataset, needs)) for case in cases]

    return judge


def find_silent(evidence: Evidence, dataset: str, learners: Sequence[str]) -> tuple[str, ...]:
    """The learners that predict no label at all on a data set."""
    return tuple(learner for learner in learners if evidence.predicts_nothing(dataset, learner))


def _judge_estimates(family: str, estimates: Mapping[str, Estimate], layout: str) -> list[Judgement]:
    """Verdicts by sign and p-value, which is adjusted over the data sets; no case where the number is not defined."""
    defined = {dataset: estimate for dataset, estimate in estimates.items() if np.isfinite(estimate.value)}
    if not defined:
        return []
    pvalues = np.array([1.0 if np.isnan(found.pvalue) else found.pvalue for found in defined.values()])
    cases = []
    for (dataset, found), pvalue in zip(defined.items(), holm(pvalues), strict=True):
        adjusted = found._replace(pvalue=float(pvalue))
        numbers = [format(number, layout) for number in (found.value, found.lower, found.upper)]
        interval = f" ({numbers[1]} to {numbers[2]})" if np.isfinite(found.lower) else " (no interval)"
        cases.append(Judgement(family, dataset, verdict_of(adjusted), adjusted, f"{dataset} {numbers[0]}{interval}"))
    return cases


def verdict_of(estimate: Estimate) -> Verdict:
    """By the sign of a number, where its p-value is small and its interval, if it has one, excludes 0."""
    is_sure = estimate.pvalue < DOUBT and abs(estimate.value) > ROUNDING
    if not is_sure or estimate.lower <= 0 <= estimate.upper:  # comparisons with nan are False
        return "cannot be told"
    return "holds" if estimate.value > 0 else "does not hold"


def falls_behind(first: str, second: str) -> OfCurves:
    """By how much the first loses ground to the second from end to end."""
    return lambda curves: curves.slope(first) - curves.slope(second)


def crossing_beyond_middle(first: str, second: str, *, along: Literal["axis", "losses"]) -> OfCurves:
    """How far beyond the middle the first falls behind the second for the last time; nan where it does not cross.

    On the axis of the parameter, or on the way along the losses, as in a plot of one learner against the other.
    """

    def statistic(curves: Curves) -> Any:
        lead = curves.losses[second] - curves.losses[first]  # positive where the first is better
        place = np.apply_along_axis(_last_fall, -1, lead, curves.x)
        if along == "losses":
            mean = (curves.losses[first] + curves.losses[second]) / 2
            at_place = np.vectorize(np.interp, signature="(),(n),(n)->()")(place, curves.x, mean)
            place = (at_place - mean[..., 0]) / (mean[..., -1] - mean[..., 0])
        return place - 0.5

    return statistic


def _last_fall(lead: np.ndarray, x: np.ndarray) -> float:
    """Where a lead is lost for the last time, nan where it is not lost for good."""
    before = np.flatnonzero((lead[:-1] > ROUNDING) & (lead[1:] <= ROUNDING))
    if not before.size or lead[-1] >= -ROUNDING:
        return np.nan
    last = before[-1]
    share = lead[last] / (lead[last] - lead[last + 1])
    return float(x[last] + share * (x[last + 1] - x[last]))


def flattens(learners: Mapping[int, str] | Mapping[float, str]) -> OfCurves:
    """By how much the slope falls for each step of a parameter in which learners differ, by least squares."""
    parameters = np.array(list(learners), dtype=float)
    weights = (parameters - parameters.mean()) / ((parameters - parameters.mean()) ** 2).sum()
    return lambda curves: -(weights @ np.array([curves.slope(learner) for learner in learners.values()]))


def changes_slope(learners: Mapping[int, str]) -> Judge:
    """Whether doubling a parameter moves the slope, up or down; that it does not can never be shown."""
    by_logarithm = {float(np.log2(size)): learner for size, learner in learners.items()}
    judge = on_datasets(flattens(by_logarithm), *learners.values())

    def either_way(evidence: Evidence) -> list[Judgement]:
        return [case._replace(verdict="holds") if case.verdict == "does not hold" else case for case in judge(evidence)]

    return either_way


def range_gap(curves: Curves) -> Any:
    """The range of the learners' losses at the end minus that of their Hamming losses."""
    learners = _of_paper(curves)
    ends, starts = ([end(name) for name in learners] for end in (curves.end, curves.start))
    return np.ptp(ends, axis=0) - np.ptp(starts, axis=0)


def median_end_above_half(curves: Curves) -> Any:
    """The median of the learners' losses at the end, minus one half."""
    return np.median([curves.end(name) for name in _of_paper(curves)], axis=0) - HIGH


def near_median(learner: str) -> OfCurves:
    """The median Hamming loss of the other learners and a tenth of it, minus the Hamming loss of one."""

    def statistic(curves: Curves) -> Any:
        others = [curves.start(name) for name in _of_paper(curves) if name != learner]
        median = np.median(others, axis=0) if others else np.nan
        return (1 + COMPETITIVE) * median - curves.start(learner)

    return statistic


def _of_paper(curves: Curves) -> list[str]:
    return [name for name in LEARNERS if name in curves.losses]


def nothing_is_hard_to_beat(evidence: Evidence) -> list[Judgement]:
    """Fails where at least half of the learners are better for certain, holds where at least half are worse."""
    family, cases = evidence.families[0], []
    for dataset in evidence.datasets:
        learners = [name for name in evidence.competitors(dataset) if not evidence.predicts_nothing(dataset, name)]
        if NOTHING not in evidence.learners(dataset) or not learners:
            continue
        leads = _pair_estimates(evidence, [dataset], family, Curves.start, [(name, NOTHING) for name in learners])
        verdicts = [verdict_of(lead) for lead in leads.values()]
        better, worse = verdicts.count("holds"), verdicts.count("does not hold")
        half = len(learners) / 2
        verdict: Verdict = "does not hold" if better >= half else "holds" if worse >= half else "cannot be told"
        text = f"{dataset} {better} of {len(learners)} learners surely better, {worse} surely worse"
        cases.append(Judgement("Hamming loss", dataset, verdict, UNKNOWN, text))
    return cases


def fewer_pairs_differ_by_hamming(evidence: Evidence) -> list[Judgement]:
    """Over all data sets: the pairs of learners that differ for certain at each end, by Wilcoxon's test."""
    family, counts, texts = evidence.families[0], [], []
    for dataset in evidence.datasets:
        pairs = list(combinations(evidence.competitors(dataset), 2))
        if pairs:
            by_hamming, at_end = (
                sum(verdict_of(found) != "cannot be told" for found in estimates.values())
                for estimates in (
                    _pair_estimates(evidence, [dataset], family, end, pairs) for end in (Curves.start, Curves.end)
                )
            )
            counts.append(at_end - by_hamming)
            texts.append(f"{dataset} {by_hamming} and {at_end} of {len(pairs)}")
    if len(counts) < 2:
        return []
    gaps = np.array(counts, dtype=float)
    estimate = Estimate(float(gaps.mean()), np.nan, np.nan, _wilcoxon(gaps))
    text = f"{', '.join(texts)} pairs (p = {estimate.pvalue:.2g})"
    least = 2.0 ** (1 - len(counts))
    remark = f"With {len(counts)} data sets the p-value cannot be below {least:.2g}" if least >= DOUBT else ""
    return [Judgement(family, "all data sets", verdict_of(estimate), estimate, text, remark)]


def _pair_estimates(
    evidence: Evidence,
    datasets: Sequence[str],
    family: str,
    end: Callable[[Curves, str], Any],
    pairs: Sequence[tuple[str, str]],
) -> dict[tuple[str, str, str], Estimate]:
    """Loss of the second minus loss of the first of each pair on each data set; p-values adjusted over all of these."""

    def lead(pair: tuple[str, str], curves: Mapping[str, Curves]) -> Any:
        first, second = pair
        return end(curves[family], second) - end(curves[family], first)

    found = {
        (dataset, *pair): evidence.estimate(dataset, partial(lead, pair))
        for dataset in datasets
        for pair in pairs
        if {*pair} <= {*evidence.learners(dataset)}
    }
    adjusted = holm(np.array([estimate.pvalue for estimate in found.values()]))
    return {
        case: estimate._replace(pvalue=float(pvalue))
        for (case, estimate), pvalue in zip(found.items(), adjusted, strict=True)
    }


def curves_cross(evidence: Evidence) -> list[Judgement]:
    """Holds where some pair on some data set has opposite leads at the two ends for certain; that none has is open."""
    cases, pairs = [], list(combinations(LEARNERS, 2))
    for family in evidence.families:
        starts, ends = (
            _pair_estimates(evidence, evidence.datasets, family, end, pairs) for end in (Curves.start, Curves.end)
        )
        surely = [case for case in starts if {verdict_of(starts[case]), verdict_of(ends[case])} == OPPOSITE]
        crossing = [case for case in starts if starts[case].value * ends[case].value < -(ROUNDING**2)]
        texts = []
        for dataset in evidence.datasets:
            of_data = [sum(case[0] == dataset for case in chosen) for chosen in (crossing, starts, surely)]
            texts.append("{} {} of {} pairs, {} surely".format(dataset, *of_data))
        if starts:
            verdict: Verdict = "holds" if surely else "cannot be told"
            where = ", ".join(dict.fromkeys(case[0] for case in surely)) or "all data sets"
            cases.append(Judgement(family, where, verdict, UNKNOWN, ", ".join(texts)))
    return cases


def families_are_alike(evidence: Evidence) -> list[Judgement]:
    """How far the lines of the two families are apart in a plot of two learners, at most."""
    if len(evidence.families) < 2:
        return []
    estimates, texts = {}, {}
    for dataset in evidence.datasets:
        pairs = list(combinations(evidence.competitors(dataset), 2))
        if pairs:
            estimates[dataset] = found = evidence.estimate(dataset, partial(_likeness, pairs))
            texts[dataset] = (
                f"{dataset} {ALIKE - found.value:.4f} ({ALIKE - found.upper:.4f} to {ALIKE - found.lower:.4f})"
            )
    cases = _judge_estimates("both families", estimates, "+.4f")
    return [case._replace(text=texts[case.dataset]) for case in cases]


def _likeness(pairs: Sequence[tuple[str, str]], curves: Mapping[str, Curves]) -> Any:
    """How far the largest vertical distance of the lines of two families stays below what is called alike."""
    first, second = curves.values()
    gaps = [
        np.vectorize(_largest_gap, signature="(n),(n),(m),(m)->()")(
            first.losses[a], first.losses[b], second.losses[a], second.losses[b]
        )
        for a, b in pairs
    ]
    return ALIKE - np.max(gaps, axis=0)


def _largest_gap(x: np.ndarray, y: np.ndarray, other_x: np.ndarray, other_y: np.ndarray) -> float:
    """The largest vertical distance of two lines, over the stretch that both reach."""
    both = (other_x >= x[0]) & (other_x <= x[-1])
    return float(np.abs(np.interp(other_x, x, y) - other_y)[both].max(initial=0))


def hamming_follows_cardinality(evidence: Evidence) -> list[Judgement]:
    """Kendall's rank correlation of the share of relevant labels with the median Hamming loss of the learners."""
    from scipy.stats import kendalltau  # its p-value is exact for few points

    family, points = evidence.families[0], {}
    for dataset in evidence.datasets:
        learners, curves = evidence.competitors(dataset), evidence.curves(dataset)[family]
        if NOTHING in curves.losses and learners:
            # predicting nothing is wrong on the relevant labels: its Hamming loss is their share
            points[dataset] = curves.start(NOTHING), float(np.median([curves.start(name) for name in learners]))
    if len(points) < 4:
        return []
    correlation = kendalltau(*np.array(list(points.values())).T)
    estimate = Estimate(float(correlation.statistic), np.nan, np.nan, float(correlation.pvalue))
    text = ", ".join(f"{dataset} {share:.3f} and {loss:.3f}" for dataset, (share, loss) in points.items())
    summary = f"rank correlation {estimate.value:.2f} (p = {estimate.pvalue:.2g}): {text}"
    return [Judgement("Hamming loss", "all data sets", verdict_of(estimate), estimate, summary)]


def wrong_rows_are_almost_right(evidence: Evidence) -> list[Judgement]:
    """The share of the rows that count as wrong which have a single wrong label: subset 0/1 loss cannot tell them."""
    cases = []
    for dataset in evidence.datasets:
        shares = []
        for learner in evidence.competitors(dataset):
            profile = evidence.profile(dataset, learner)
            if profile.is_hard and (wrong := profile.rows_by_errors[1:]).sum():
                shares.append(wrong[0] / wrong.sum())
        if shares:
            text = f"{dataset} {min(shares):.0%} to {max(shares):.0%}"
            cases.append(Judgement("subset 0/1 loss", dataset, "holds", UNKNOWN, text))
    return cases


def _wilcoxon(differences: np.ndarray) -> float:
    from scipy.stats import wilcoxon

    found = differences[differences != 0]  # those that are 0 say nothing
    return float(wilcoxon(found, method="exact").pvalue) if found.size else 1.0
