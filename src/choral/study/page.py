"""What the page of a study shows, in plain values."""

import re
from typing import Any

import numpy as np

from choral.curves import PairwiseCurve
from choral.evaluation.last_loss import (
    disagreement_contents,
    explanation_contents,
    measure_in_words,
    togetherness_contents,
)
from choral.explanation import explain
from choral.report.constants import end_names
from choral.report.contents import bootstrap_notes, family_contents, pair_contents
from choral.stats import RankComparison
from choral.study.answers import answer
from choral.study.comparisons import PLACES
from choral.study.results import Results
from choral.study.sections import Section

EXPLAINED = (
    "Of each data set, the learner with the least loss and the next are explained, by their predictions for the test "
    "rows of all folds, of the first repeat and seed. Rows are numbered from 0, in the order of the data set."
)
PLACES_ACROSS = 11  # on the axis from Hamming to subset 0/1


def study_contents(results: Results) -> dict[str, Any]:
    """All that the page of a study shows: see `choral.report.page`."""
    return {
        "kind": "study",
        "title": results.title,
        "created": results.created[:10],
        "predictions": results.predictions,
        "answer": answer(results),
        "spelled_out": _spell_out(results.study["learners"]),
        "learners": list(results.learners),
        "baseline": results.baseline,
        "families": list(results.families),
        "datasets": [_dataset_contents(results, name) for name in results.datasets],
        **_explained(results),
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
        "warnings": [
            {"dataset": dataset, "learner": learner, "n_cells": n_cells, "text": message}
            for (dataset, learner, message), n_cells in results.warnings().items()
        ],
        "notes": [*results.study["notes"], *bootstrap_notes(results.confidence, results.n_bootstrap)],
        "plan": results.study["plan"],
        "versions": results.study["versions"],
    }


def _spell_out(learners: dict[str, str]) -> dict[str, str]:
    """Those names of learners that are abbreviations, with the name of the learner's class in words.

    An abbreviation has two capitals or more, and the class is not named in it.

    Examples
    --------
    >>> _spell_out({"BR": "BinaryRelevance()", "RAkEL-3": "RandomKLabelsets(k=3)", "my forest": "Forest()"})
    {'BR': 'binary relevance', 'RAkEL-3': 'random k labelsets'}
    >>> _spell_out({"LabelPowerset": "LabelPowerset()", "CC": "own.chains.make()"})
    {}
    """
    classes = {name: re.match(r"([A-Z][A-Za-z0-9]*)\(", str(learner)) for name, learner in learners.items()}
    return {
        name: re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", found[1]).lower()
        for name, found in classes.items()
        if found and re.search("[A-Z].*[A-Z]", name) and found[1].lower() not in name.lower()
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
        pair_contents(PairwiseCurve(curves[first], curves[second]), difference, difference.pvalue)
        for (first, second), difference in results.differences(name, family).items()
    ]
    together = {learner: togetherness_contents(found) for learner, found in results.togetherness(name, family).items()}
    return family_contents(curves, results.parameters(name, family), results.bands(name, family), pairs, together)


def _explained(results: Results) -> dict[str, Any]:
    """Where the last loss comes from: for each data set, the best learner and the second."""
    explanations, between = [], []
    for dataset in results.datasets:
        of_dataset, disagreements = _explain_dataset(results, dataset, results.families[0])
        explanations += of_dataset
        between += disagreements
    return {"explanations": explanations, "explained": EXPLAINED, "disagreements": between}


def _explain_dataset(results: Results, dataset: str, family: str) -> tuple[list[dict], list[dict]]:
    curves = results.competitor_curves(dataset, family)
    best = sorted(curves, key=lambda learner: curves[learner].losses[-1])[:2]
    if not best:
        return [], []
    Y, labels = results.labels(dataset)
    measure, words = measure_in_words(family, float(results.parameters(dataset, family)[-1]), len(labels))
    predictions = {learner: results.run_predictions(dataset, learner, family) for learner in best}
    found = explain(Y, predictions, measure, family=family, labels=labels, confidence=results.confidence)
    together = results.togetherness(dataset, family)
    return (
        [explanation_contents(found[learner], dataset, words, together.get(learner)) for learner in best],
        disagreement_contents(found, dataset),
    )


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


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
