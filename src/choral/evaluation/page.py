"""What the page of an evaluation shows, in plain values."""

from collections.abc import Sequence
from datetime import date
from importlib.metadata import version
from itertools import combinations
from typing import Any

from choral._version import __version__
from choral.curves import LossCurve, PairwiseCurve
from choral.evaluation.result import Evaluation
from choral.report.contents import bootstrap_notes, family_contents, pair_contents


def evaluation_contents(
    evaluations: list[Evaluation],
    title: str,
    sentences: list[str],
    label_names: tuple[str, ...] | None = None,
    more_curves: list[dict[str, LossCurve]] | None = None,
    *,
    files: Sequence[str] = (),
) -> dict[str, Any]:
    """All that the page of an evaluation shows: one data set, one `Evaluation` for each family.

    ``title`` names the true labels. ``more_curves`` are curves of each family that belong to no model: they have no
    bands, and are in no pairs. ``files`` are the names of the files that labels and predictions came from.
    """
    first = evaluations[0]
    more = more_curves or [{} for _ in evaluations]
    labels = label_names or tuple(str(number) for number in range(1, first.n_labels + 1))
    return {
        "kind": "evaluation",
        "title": title,
        "files": list(files),
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
        "notes": [
            *first.notes(),
            *bootstrap_notes(first.confidence, 0 if first.samples is None else len(first.samples)),
        ],
        "plan": None,
        "versions": {"choral": __version__, "numpy": version("numpy")},
    }


def _evaluation_curves(evaluation: Evaluation, more: dict[str, LossCurve]) -> dict[str, Any]:
    pairs = []
    for first, second in combinations(evaluation.models, 2):
        pair = PairwiseCurve(evaluation.curves[first], evaluation.curves[second])
        difference = evaluation.difference(first, second)
        if difference is not None:
            pairs.append(pair_contents(pair, difference))
    curves = {**evaluation.curves, **more}
    return family_contents(curves, evaluation.parameters, evaluation.bands() or {}, pairs)
