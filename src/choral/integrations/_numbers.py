"""What all trackers keep of an evaluation: a few numbers with names, the figure and the page."""

import tempfile
from collections.abc import Callable, Iterable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from choral._optional import require
from choral.evaluation import Evaluation

NAMES = {"Hamming": "hamming_loss", "subset": "subset_loss", "area": "area", "together": "togetherness"}


def check_evaluation(evaluation: Evaluation) -> None:
    """Refuse what `choral.evaluate` did not make."""
    if not isinstance(evaluation, Evaluation):
        raise TypeError(f"evaluation must be what choral.evaluate returns; got {type(evaluation).__name__}.")


def named_numbers(evaluation: Evaluation) -> dict[str, dict[str, float]]:
    """For each model and the baseline: the losses at the ends, area and togetherness, as far as there are any."""
    columns, rows, parameters = evaluation.summary()
    subset = evaluation.n_labels if evaluation.family == "binomial" else np.inf
    ends = {subset: "subset", 1: "Hamming"}  # of a single label, both are one loss, called Hamming
    # Parameters that were asked for are titled "k=1" instead.
    titles = [*(ends.get(parameter) for parameter in parameters), *columns[len(parameters) :]]
    return {
        model: {
            NAMES[title]: value
            for title, value in zip(titles, values, strict=True)
            if title in NAMES and not np.isnan(value)
        }
        for model, values in rows.items()
    }


def tracker_names(models: Iterable[str], rename: Callable[[str], str], tracker: str) -> dict[str, str]:
    """The names of models as the tracker allows them; two that become alike are refused."""
    names = {model: rename(model) for model in models}
    for model, name in names.items():
        if twins := [other for other in names if other != model and names[other] == name]:
            raise ValueError(f"{model!r} and {twins[0]!r} are both {name!r} in {tracker}; please rename one of them.")
    return names


def draw(evaluation: Evaluation) -> Any:
    """The curves as an image of Pillow's, which comes with matplotlib; pyplot does not keep the figure."""
    figure = require("matplotlib.figure", "plot").Figure(figsize=(7, 4.5), dpi=150, layout="constrained")
    evaluation.plot(figure.subplots())
    buffer = BytesIO()
    figure.savefig(buffer, format="png")
    images = require("PIL.Image", "plot")
    return images.open(buffer)


def write_page(evaluation: Evaluation, title: str | None) -> str:
    """The page of the evaluation, as HTML."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        evaluation.report(path, title=title)
        return path.read_text(encoding="utf-8")
