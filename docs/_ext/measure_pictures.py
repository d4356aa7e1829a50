"""Draw a picture of every measure and loss, and show it on its page of the API reference.

For measures that count labels: what j right labels of 10 are worth, and the weight of the i-th largest error. For those
that tell labels apart: what sets of three labels are worth. For losses: the loss by the number of wrong labels.
"""

from itertools import combinations
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

import choral

N_LABELS = 10
COLOURS = ["#1b6ca8", "#d1495b", "#2a9d6f", "#c98a1b", "#7b5ea7"]
STYLE = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e3e6ea",
    "axes.axisbelow": True,
    "axes.edgecolor": "#8a929c",
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "legend.frameon": False,
    "svg.fonttype": "none",
}


def family(measure: Any, name: str, values: Any) -> dict[str, Any]:
    """Some members of a family of measures, by what a legend calls them."""
    return {f"{name} = {'∞' if value == np.inf else value}": measure(value) for value in values}


COUNTING = {
    "HammingMeasure": {"": choral.HammingMeasure()},
    "SubsetMeasure": {"": choral.SubsetMeasure()},
    "BinomialMeasure": family(choral.BinomialMeasure, "k", [1, 2, 3, 5, 10]),
    "PolynomialMeasure": family(choral.PolynomialMeasure, "alpha", [1, 1.5, 2, 5, np.inf]),
    "AtLeastMeasure": family(choral.AtLeastMeasure, "k", [3, 5, 8]),
    "CountingMeasure": {"v(j/10) = (j/10)³": choral.CountingMeasure((np.arange(N_LABELS + 1) / N_LABELS) ** 3)},
}
TELLING_APART = {
    "AdditiveMeasure": (choral.AdditiveMeasure([0.5, 0.3, 0.2]), "AdditiveMeasure([0.5, 0.3, 0.2])"),
    "MoebiusMeasure": (
        choral.MoebiusMeasure({(0,): 0.25, (1,): 0.25, (0, 1): 0.3, (2,): 0.2}),
        "MoebiusMeasure({(0,): 0.25, (1,): 0.25, (0, 1): 0.3, (2,): 0.2})",
    ),
    "CoveringMeasure": (choral.CoveringMeasure([(0, 1), (1, 2)]), "CoveringMeasure([(0, 1), (1, 2)])"),
    "Capacity": (
        choral.Capacity([0, 0.1, 0.3, 0.5, 0.2, 0.6, 0.4, 1]),
        "Capacity([0, 0.1, 0.3, 0.5, 0.2, 0.6, 0.4, 1])",
    ),
}


def by_wrong_labels(loss: Any, **options: Any) -> np.ndarray:
    """The loss of a row of ten relevant labels of which 0, 1, ..., 10 are missed."""
    predictions = np.tril(np.ones((N_LABELS + 1, N_LABELS), dtype=int), -1)[::-1]
    return loss(np.ones_like(predictions), predictions, reduction="none", **options)


def loss_lines(name: str) -> dict[str, np.ndarray]:
    """The lines in the picture of a loss, by what the legend calls them."""
    loss = getattr(choral, name)
    if name == "binomial_loss":
        return {f"k = {k}": by_wrong_labels(loss, k=k) for k in (1, 2, 3, 5, 10)}
    if name == "polynomial_loss":
        return {f"alpha = {str(a).replace('inf', '∞')}": by_wrong_labels(loss, alpha=a) for a in (1, 1.5, 2, 5, np.inf)}
    if name == "owa_loss":
        weights = np.arange(N_LABELS, 0, -1) / (N_LABELS * (N_LABELS + 1) / 2)
        return {"weights 10/55, 9/55, ..., 1/55": by_wrong_labels(loss, weights=weights)}
    if name == "covering_loss":
        pairs = [(i, i + 1) for i in range(N_LABELS - 1)]
        return {"pairs (0, 1), (1, 2), ..., (8, 9)": by_wrong_labels(loss, label_sets=pairs)}
    if name == "choquet_loss":
        measures = {"Hamming": choral.HammingMeasure(), "binomial, k = 3": choral.BinomialMeasure(3)}
        measures["at least 5"] = choral.AtLeastMeasure(5)
        return {text: by_wrong_labels(loss, measure=measure) for text, measure in measures.items()}
    if name == "f_loss":
        return {f"beta = {beta}": by_wrong_labels(loss, beta=beta) for beta in (0.5, 1, 2)}
    return {"": by_wrong_labels(loss)}


LOSSES = (
    "hamming_loss",
    "binomial_loss",
    "polynomial_loss",
    "subset_loss",
    "owa_loss",
    "covering_loss",
    "choquet_loss",
    "f_loss",
    "jaccard_loss",
)


def draw_counting(figure: Figure, measures: dict[str, Any]) -> str:
    left, right = figure.subplots(1, 2)
    width = 0.8 / len(measures)
    for i, (name, measure) in enumerate(measures.items()):
        colour = COLOURS[i]
        left.plot(np.arange(N_LABELS + 1) / N_LABELS, measure.values(N_LABELS), "o-", ms=4, color=colour, label=name)
        places = np.arange(1, N_LABELS + 1) + (i - (len(measures) - 1) / 2) * width
        right.bar(places, measure.weights(N_LABELS), width, color=colour)
    left.set(title="What it is worth to be right on j of 10 labels", xlabel="j / K", ylabel="v")
    right.set(title="Weight of the i-th largest error", xlabel="i", ylabel="weight", xticks=range(1, N_LABELS + 1))
    right.grid(axis="x", visible=False)
    if len(measures) > 1 or "" not in measures:
        left.legend()
    return "Left: the worth v of j right labels of 10. Right: the weights of the errors, from the largest down."


def draw_sets(figure: Figure, measure: Any, text: str) -> str:
    ax = figure.subplots()
    sets = [labels for size in range(4) for labels in combinations(range(3), size)]
    worth = measure.worth(np.array([[label in labels for label in range(3)] for labels in sets]))
    names = ["{" + ", ".join(map(str, labels)) + "}" for labels in sets]
    bars = ax.bar(names, worth, 0.65, color=[COLOURS[len(labels)] for labels in sets])
    ax.bar_label(bars, [f"{value:.3g}" for value in worth], padding=2)
    ax.set(title=text, xlabel="set of right labels", ylabel="worth", ylim=(0, 1.12))
    ax.grid(axis="x", visible=False)
    return f"What each set of three labels is worth under {text}."


def draw_relevance(figure: Figure) -> str:
    ax = figure.subplots()
    relevant = np.array([1, 1, 0, 0])
    sets = np.array([[1, 1, 1, 1], [1, 1, 1, 0], [1, 0, 1, 1], [1, 1, 0, 0], [0, 0, 1, 1]])
    names = ["all right", "an irrelevant\nlabel wrong", "a relevant\nlabel wrong", "both irrelevant\nwrong"]
    names.append("both relevant\nwrong")
    for i, beta in enumerate((0.0, 1.0, 3.0)):
        measure = choral.RelevanceMeasure(choral.HammingMeasure(), beta=beta)
        worth = measure.worth(sets, relevant=np.tile(relevant, (len(sets), 1)))
        ax.bar(np.arange(len(sets)) + (i - 1) * 0.26, worth, 0.26, color=COLOURS[i], label=f"beta = {beta:g}")
    ax.set(title="Hamming measure, two of four labels relevant", ylabel="worth", ylim=(0, 1.05))
    ax.set_xticks(range(len(sets)), names)
    ax.grid(axis="x", visible=False)
    ax.legend()
    return "Worth of sets of right labels for beta 0, 1 and 3: a wrong relevant label costs more as beta grows."


def draw_loss(figure: Figure, name: str) -> str:
    ax = figure.subplots()
    for i, (text, losses) in enumerate(loss_lines(name).items()):
        ax.plot(range(N_LABELS + 1), losses, "o-", ms=4, color=COLOURS[i], label=text)
    ax.set(
        title="10 relevant labels, some of them missed",
        xlabel="number of wrong labels",
        ylabel="loss",
        ylim=(-0.03, 1.03),
    )
    ax.set_xticks(range(N_LABELS + 1))
    if ax.get_legend_handles_labels()[1] != [""] and any(ax.get_legend_handles_labels()[1]):
        ax.legend()
    return f"{name} of a row of ten relevant labels by the number of labels that are missed."


def draw(name: str, folder: Path) -> tuple[str, str] | None:
    """Write the picture of a public name; its file name and alternative text, or None where it has no picture."""
    wide = name in COUNTING
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(8.4, 3.0) if wide else (6.4, 3.1), layout="constrained")
        if wide:
            alt = draw_counting(figure, COUNTING[name])
        elif name in TELLING_APART:
            alt = draw_sets(figure, *TELLING_APART[name])
        elif name == "RelevanceMeasure":
            alt = draw_relevance(figure)
        elif name in LOSSES:
            alt = draw_loss(figure, name)
        else:
            return None
        folder.mkdir(parents=True, exist_ok=True)
        figure.savefig(folder / f"picture_{name}.png", dpi=160, facecolor="white")
    return f"picture_{name}.png", alt


def add_picture(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Put the picture behind the first paragraph of a docstring, or behind the formula that follows it."""
    module, _, short = name.rpartition(".")
    if not module.startswith("choral") or getattr(choral, short, None) is not obj:
        return
    picture = draw(short, Path(app.srcdir) / "api" / "generated")
    if picture is None:
        return
    file, alt = picture
    heading = next((i for i, line in enumerate(lines) if line.startswith((":Parameters:", ".. rubric::"))), len(lines))
    lines[heading:heading] = [
        "",
        f".. image:: /api/generated/{file}",
        f"   :alt: {alt}",
        "   :class: measure-picture",
        "",
    ]


def setup(app: Any) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", add_picture, priority=900)  # numpydoc has written its sections by then
    return {"parallel_read_safe": True}
