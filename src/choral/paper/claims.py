"""The claims of the paper's results section, judged by the losses of a study that has its learners by its names.

Along the binomial family, k = 1 being Hamming loss and k = K subset 0/1 loss. A claim about many data sets holds where
it holds on all of them, in part where it holds on some: the verdict says on which.
"""

from collections.abc import Callable
from itertools import combinations, groupby
from typing import NamedTuple

import numpy as np

from choral._validation import ROUNDING
from choral.curves import LossCurve
from choral.study import Finding, Results, Section
from choral.study.sections import Verdict

FAMILY = "binomial"


def claims_section(results: Results) -> Section:
    """The claims of the paper, as a section of a study."""
    return Section("The claims of the paper", findings=tuple(judge_claims(results)))


def judge_claims(results: Results) -> list[Finding]:
    """All claims, each with our figures."""
    return [
        _on_datasets(
            results, "PCT is ahead of LP at small k on llog-f, and behind it at large k.", _pct_and_lp, ["llog-f"]
        ),
        _on_datasets(results, "BR falls behind LP as k grows.", _falls_behind("BR", "LP")),
        _on_datasets(results, "RAkEL-2 is closer to BR than to LP.", _closer("RAkEL-2", "BR", "RAkEL-2", "LP")),
        _on_datasets(results, "RAkEL-5 is closer to LP than RAkEL-2 is.", _closer("RAkEL-5", "LP", "RAkEL-2", "LP")),
        _on_datasets(results, "LP gains on CC as k grows.", _gains("LP", "CC")),
        _families_agree(results),
    ]


class Judgement(NamedTuple):
    """Whether a claim holds on a data set, and by which figures."""

    holds: bool
    figures: str


Judge = Callable[[dict[str, LossCurve]], Judgement]  # raises KeyError where a learner is missing


def _pct_and_lp(curves: dict[str, LossCurve]) -> Judgement:
    pct, lp = curves["PCT"].losses, curves["LP"].losses
    holds = pct[0] < lp[0] - ROUNDING and pct[-1] > lp[-1] + ROUNDING
    return Judgement(bool(holds), f"PCT {_ends(curves['PCT'])}, LP {_ends(curves['LP'])}")


def _falls_behind(first: str, second: str) -> Judge:
    """The lead of the second over the first grows from end to end, and it leads in the end."""

    def judge(curves: dict[str, LossCurve]) -> Judgement:
        lead = curves[first].losses - curves[second].losses
        holds = lead[-1] > lead[0] + ROUNDING and lead[-1] > ROUNDING
        return Judgement(bool(holds), f"{first} - {second} {lead[0]:+.3f} to {lead[-1]:+.3f}")

    return judge


def _gains(first: str, second: str) -> Judge:
    """The first gets better in comparison with the second, whoever leads."""

    def judge(curves: dict[str, LossCurve]) -> Judgement:
        lead = curves[second].losses - curves[first].losses
        return Judgement(bool(lead[-1] > lead[0] + ROUNDING), f"{first} - {second} {-lead[0]:+.3f} to {-lead[-1]:+.3f}")

    return judge


def _closer(first: str, to_first: str, second: str, to_second: str) -> Judge:
    """The curve of one is nearer to another than some other two are to each other: mean distance along the axis."""

    def judge(curves: dict[str, LossCurve]) -> Judgement:
        near, far = _distance(curves[first], curves[to_first]), _distance(curves[second], curves[to_second])
        return Judgement(near < far - ROUNDING, f"{near:.3f} against {far:.3f}")

    return judge


def _distance(first: LossCurve, second: LossCurve) -> float:
    return float(np.trapezoid(np.abs(first.losses - second.losses), first.x))


def _ends(curve: LossCurve) -> str:
    return f"{curve.losses[0]:.4f} at k = {curve.parameters[0]}, {curve.losses[-1]:.4f} at k = {curve.parameters[-1]}"


def _on_datasets(results: Results, claim: str, judge: Judge, datasets: list[str] | None = None) -> Finding:
    """A claim about each of some data sets."""
    judgements = {}
    for dataset in results.datasets if datasets is None else datasets:
        if dataset in results.datasets and FAMILY in results.families:
            try:
                judgements[dataset] = judge(results.curves(dataset, FAMILY))
            except KeyError:  # a learner is not in this study, or has not finished here
                continue
    if not judgements:
        return Finding(claim, "cannot be judged", "", "its learners and data sets are not all here")
    figures = "; ".join(f"{dataset}: {judgement.figures}" for dataset, judgement in judgements.items())
    holds = [dataset for dataset, judgement in judgements.items() if judgement.holds]
    fails = [dataset for dataset, judgement in judgements.items() if not judgement.holds]
    return Finding(claim, _verdict(len(holds), len(fails)), figures, _where(holds, fails))


def _verdict(n_holds: int, n_fails: int) -> Verdict:
    return "holds" if not n_fails else "holds in part" if n_holds else "does not hold"


def _where(holds: list[str], fails: list[str]) -> str:
    if holds and fails:
        return f"on {len(holds)} of {len(holds) + len(fails)} data sets, {', '.join(holds)}; not on {', '.join(fails)}"
    return f"on {', '.join(holds or fails)}"


def _families_agree(results: Results) -> Finding:
    """The same learners lead, in the same order from Hamming to subset 0/1, along both families."""
    claim = "The two families agree on who wins, for all pairs of learners."
    if len(results.families) < 2:
        return Finding(claim, "cannot be judged", "", "one family alone is here")
    agreeing: dict[str, list[bool]] = {}
    for first, second in combinations(results.competitors, 2):
        by_family = [results.pairs(first, second, family) for family in results.families]
        for dataset in by_family[0]:
            leaders = [_leaders(pairs[dataset].winners) for pairs in by_family]
            agreeing.setdefault(dataset, []).append(leaders[0] == leaders[1])
    if not agreeing:
        return Finding(claim, "cannot be judged", "", "no two learners have finished on one data set")
    holds = [dataset for dataset, agree in agreeing.items() if all(agree)]
    fails = [dataset for dataset, agree in agreeing.items() if not all(agree)]
    figures = "; ".join(f"{dataset}: {sum(agree)} of {len(agree)} pairs" for dataset, agree in agreeing.items())
    return Finding(claim, _verdict(len(holds), len(fails)), figures, _where(holds, fails))


def _leaders(winners: tuple[str, ...]) -> list[str]:
    """Who leads, one after the other; ties do not count."""
    return [name for name, _ in groupby(winner for winner in winners if winner != "tie")]
