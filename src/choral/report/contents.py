"""What a report says, in plain values: from a study, or from an evaluation of prediction files."""

from datetime import date
from importlib.metadata import version
from itertools import combinations
from typing import Any

import numpy as np

from choral import __version__
from choral.curves import LossCurve, PairwiseCurve
from choral.evaluation import Evaluation, plain_numbers
from choral.report.constants import end_names
from choral.stats import Band, RankComparison
from choral.study import Results, Section
from choral.study.answers import answer
from choral.study.comparisons import PLACES, PairDifference
from choral.study.tables import slope_and_area

DIGITS = 6  # of intervals; losses are given in full
PLACES_ACROSS = 11  # on the axis from Hamming to subset 0/1


def study_contents(results: Results) -> dict[str, Any]:
    """All that the page of a study shows: see `choral.report.page`."""
    return {
        "kind": "study",
        "title": results.title,
        "created": results.created[:10],
        "predictions": results.predictions,
        "answer": answer(results),
        "learners": list(results.learners),
        "baseline": results.baseline,
        "families": list(results.families),
        "datasets": [_dataset_contents(results, name) for name in results.datasets],
        "across": _rank_contents_along(results),
        "sections": [_section_contents(section) for section in results.sections],
        "failures": [
            {
                "dataset": failure.dataset,
                "learner": failure.learner,
                "fold": f"fold {failure.fold}, repeat {failure.repeat}, seed {failure.seed}",
                "reason": failure.reason,
            }
            for failure in results.failures()
        ],
        "notes": [*results.study["notes"], *_notes(results.confidence, results.n_bootstrap)],
        "plan": results.study["plan"],
        "versions": results.study["versions"],
    }


def evaluation_contents(
    evaluations: list[Evaluation],
    title: str,
    sentences: list[str],
    label_names: tuple[str, ...] | None = None,
    more_curves: list[dict[str, LossCurve]] | None = None,
) -> dict[str, Any]:
    """All that the page of an evaluation shows: one data set, one `Evaluation` for each family.

    ``more_curves`` are curves of each family that belong to no model: they have no bands, and are in no pairs.
    """
    first = evaluations[0]
    more = more_curves or [{} for _ in evaluations]
    labels = label_names or tuple(str(number) for number in range(1, first.n_labels + 1))
    return {
        "kind": "evaluation",
        "title": title,
        "created": date.today().isoformat(),
        "predictions": "hard" if all(profile.is_hard for profile in first.profiles.values()) else "soft",
        "answer": sentences,
        "learners": [*first.curves, *more[0]],
        "baseline": first.baseline,
        "families": [evaluation.family for evaluation in evaluations],
        "datasets": [
            {
                "name": title,
                "n_rows": first.n_rows,
                "n_labels": first.n_labels,
                "labels": list(labels),
                "same_as_baseline": [],  # profiles alone do not tell
                "families": {
                    evaluation.family: _evaluation_curves(evaluation, curves)
                    for evaluation, curves in zip(evaluations, more, strict=True)
                },
            }
        ],
        "across": None,
        "sections": [],
        "failures": [],
        "notes": [*first.notes(), *_notes(first.confidence, 0 if first.samples is None else len(first.samples))],
        "plan": None,
        "versions": {"choral": __version__, "numpy": version("numpy")},
    }


def _dataset_contents(results: Results, name: str) -> dict[str, Any]:
    Y, labels = results.labels(name)
    return {
        "name": name,
        "n_rows": len(Y),
        "n_labels": len(labels),
        "labels": list(labels),
        "same_as_baseline": list(results.same_as_baseline(name)),
        "families": {family: _study_curves(results, name, family) for family in results.families},
    }


def _study_curves(results: Results, name: str, family: str) -> dict[str, Any]:
    curves = results.curves(name, family)
    pairs = [
        _pair_contents(PairwiseCurve(curves[first], curves[second]), difference)
        for (first, second), difference in results.differences(name, family).items()
    ]
    return _family_contents(curves, results.parameters(name, family), results.bands(name, family), pairs)


def _evaluation_curves(evaluation: Evaluation, more: dict[str, LossCurve]) -> dict[str, Any]:
    pairs = []
    for first, second in combinations(evaluation.models, 2):
        pair = PairwiseCurve(evaluation.curves[first], evaluation.curves[second])
        difference = evaluation.difference(first, second)
        if difference is not None:
            pairs.append(_pair_contents(pair, difference))
    curves = {**evaluation.curves, **more}
    return _family_contents(curves, evaluation.parameters, evaluation.bands() or {}, pairs)


def _family_contents(
    curves: dict[str, LossCurve], parameters: np.ndarray, bands: dict[str, Band], pairs: list[dict[str, Any]]
) -> dict[str, Any]:
    some = next(iter(curves.values()), None)
    return {
        "parameters": plain_numbers(parameters),
        "x": [] if some is None else [min(float(x), 2.0) for x in some.x],  # JSON knows no infinity
        "curves": {name: _curve_contents(curve, bands.get(name)) for name, curve in curves.items()},
        "pairs": pairs,
    }


def _curve_contents(curve: LossCurve, band: Band | None) -> dict[str, Any]:
    slope, area = slope_and_area(curve)
    return {
        "losses": curve.losses.tolist(),
        "lower": None if band is None else _rounded(band.lower),
        "upper": None if band is None else _rounded(band.upper),
        "slope": slope,
        "area": area,
    }


def _pair_contents(pair: PairwiseCurve, difference: Any) -> dict[str, Any]:
    first, second = pair.names
    is_tested = isinstance(difference, PairDifference)
    return {
        "first": first,
        "second": second,
        "crossings": plain_numbers(pair.crossings()),
        "difference": _rounded(difference.estimate),
        "lower": _rounded(difference.lower),
        "upper": _rounded(difference.upper),
        "p": _rounded(difference.pvalue) if is_tested else None,
    }


def _rank_contents_along(results: Results) -> dict[str, list[dict[str, Any]]] | None:
    """Mean ranks over data sets along each axis that all curves span; None where there is nothing to rank."""
    places = np.linspace(0, 1, PLACES_ACROSS).round(6).tolist()
    spanned = [family for family in results.families if results.places(family) == PLACES]
    found = {
        family: [_rank_contents(family, x, results.ranks_or_none(family, x)) for x in places] for family in spanned
    }
    return {family: ranks for family, ranks in found.items() if all(ranks)} or None  # type: ignore[misc]


def _rank_contents(family: str, x: float, comparison: RankComparison | None) -> dict[str, Any] | None:
    if comparison is None:
        return None
    ends = dict(zip((0.0, 1.0), end_names(family), strict=True))
    return {
        "x": x,
        "title": ends.get(x, f"{x:.0%} of the way"),
        "mean_ranks": dict(zip(comparison.names, comparison.mean_ranks.tolist(), strict=True)),
        "critical_difference": _finite(comparison.critical_difference),
        "friedman_p": _finite(comparison.friedman.pvalue),
        "n_datasets": comparison.n_datasets,
    }


def _section_contents(section: Section) -> dict[str, Any]:
    """What is shown of a section; its full tables are files of their own."""
    return {key: value for key, value in section.to_dict().items() if key != "tables"}


def _notes(confidence: float, n_bootstrap: int) -> list[str]:
    if not n_bootstrap:
        return []
    return [
        f"Bands are pointwise {confidence:.0%} intervals of a paired bootstrap over rows with {n_bootstrap} samples; "
        "they say how much the test rows matter, not how much the training rows do."
    ]


def _rounded(values: np.ndarray) -> list[float]:
    return np.round(values, DIGITS).tolist()


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
