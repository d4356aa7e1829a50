"""What the page of an evaluation shows, in plain values."""

import os
from collections.abc import Mapping, Sequence
from datetime import date
from importlib.metadata import version
from itertools import combinations
from typing import Any

from choral._version import __version__
from choral.curves import LossCurve, PairwiseCurve
from choral.evaluation.last_loss import (
    WHY_NOT_PARTS,
    disagreement_contents,
    explanation_contents,
    last_measure,
    names_to_explain,
    togetherness_contents,
)
from choral.evaluation.references import Togetherness
from choral.evaluation.result import Evaluation
from choral.report.contents import bootstrap_notes, family_contents, pair_contents
from choral.report.page import write_page


def write_evaluation_page(
    path: str | os.PathLike[str],
    evaluations: Sequence[Evaluation],
    title: str | None,
    *,
    labels: Sequence[str] | None = None,
    ids: Sequence[Any] | None = None,
    files: Sequence[str] = (),
    more_sentences: Sequence[str] = (),
    more_curves: Sequence[dict[str, LossCurve]] | None = None,
) -> None:
    """Write the page of an evaluation, in whatever way it was made: see `evaluation_contents`.

    ``more_sentences`` are said after those of the first evaluation.
    """
    sentences = [evaluations[0].headline(), *evaluations[0].answer(), *more_sentences]
    write_page(evaluation_contents(evaluations, title, sentences, labels, more_curves, ids=ids, files=files), path)


def evaluation_contents(
    evaluations: Sequence[Evaluation],
    title: str | None,
    sentences: Sequence[str],
    label_names: Sequence[str] | None = None,
    more_curves: Sequence[dict[str, LossCurve]] | None = None,
    *,
    ids: Sequence[Any] | None = None,
    files: Sequence[str] = (),
) -> dict[str, Any]:
    """All that the page of an evaluation shows: one data set, one `Evaluation` for each family.

    ``title`` names the true labels, if they have a name. ``more_curves`` are curves of each family that belong to no
    model: they have no bands, and are in no pairs. ``ids`` name the rows. ``files`` are the names of the files that
    labels and predictions came from. The models are explained at the last loss of the first evaluation: all up to six,
    the best two of more.
    """
    first = evaluations[0]
    dataset = title or "Evaluation"
    more = more_curves or [{} for _ in evaluations]
    labels = [f"label {number}" for number in range(first.n_labels)] if label_names is None else list(label_names)
    together = [evaluation.togetherness() for evaluation in evaluations]
    return {
        "kind": "evaluation",
        "title": title,
        "files": list(files),
        "created": date.today().isoformat(),
        "predictions": "hard" if all(profile.is_hard for profile in first.profiles.values()) else "soft",
        "answer": list(sentences),
        "learners": [*first.curves, *more[0]],
        "baseline": first.baseline,
        "families": [evaluation.family for evaluation in evaluations],
        "datasets": [
            {
                "name": dataset,
                "n_rows": first.n_rows,
                "n_labels": first.n_labels,
                "labels": labels,
                "same_as_baseline": [],  # profiles alone do not tell
                "families": {
                    evaluation.family: _evaluation_curves(evaluation, curves, of_family)
                    for evaluation, curves, of_family in zip(evaluations, more, together, strict=True)
                },
            }
        ],
        **_explained(first, dataset, labels, ids, together[0]),
        "across": None,
        "sections": [],
        "failures": [],
        "notes": [
            *first.notes(),
            *bootstrap_notes(first.confidence, first.n_bootstrap),
            *([f"Where the loss comes from is not shown: {WHY_NOT_PARTS}."] if first.source is None else []),
        ],
        "plan": None,
        "versions": {"choral": __version__, "numpy": version("numpy")},
    }


def _explained(
    evaluation: Evaluation,
    title: str,
    labels: Sequence[str],
    ids: Sequence[Any] | None,
    together: Mapping[str, Togetherness],
) -> dict[str, Any]:
    """Where the last loss comes from, of the best model first; nothing where only summaries of parts are there."""
    if evaluation.source is None:
        return {}
    names = names_to_explain(evaluation)
    found = evaluation.explain(names, labels=labels, ids=ids)
    _, measure = last_measure(evaluation)
    return {
        "explanations": [explanation_contents(found[name], title, measure, together.get(name)) for name in names],
        "disagreements": disagreement_contents(found, title),
    }


def _evaluation_curves(
    evaluation: Evaluation, more: dict[str, LossCurve], together: Mapping[str, Togetherness]
) -> dict[str, Any]:
    pairs = []
    for first, second in combinations(evaluation.models, 2):
        pair = PairwiseCurve(evaluation.curves[first], evaluation.curves[second])
        difference = evaluation.difference(first, second)
        if difference is not None:
            pairs.append(pair_contents(pair, difference))
    curves = {**evaluation.curves, **more}
    of_curves = {name: togetherness_contents(found) for name, found in together.items()}
    return family_contents(curves, evaluation.parameters, evaluation.bands() or {}, pairs, of_curves)
