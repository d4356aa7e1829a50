"""Draw the figures of the README: ``python scripts/figures.py [FOLDER]``, by default ``docs/figures``.

The data of the curves are handwritten digits whose labels are the segments of a seven-segment display; the models are
those of ``scripts/examples.py``: one decision tree per label against one tree for whole label sets. The decisions are
those for ``docs/examples/five_labels.csv``.
"""

import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")  # files need no window
import matplotlib.pyplot as plt
import numpy as np

from choral import LabelDistribution, PolynomialMeasure
from choral.displays import ChoquetDisplay, DecisionDisplay, LossCurveDisplay, PairwiseDisplay
from examples import EXAMPLES, predict

FIVE_LABELS = EXAMPLES / "five_labels.csv"


def draw_curves():
    """Loss curves that cross, next to the same two models against each other."""
    _, y_true, predictions, _ = predict()
    display = LossCurveDisplay.from_predictions(y_true, predictions)
    figure, axes = plt.subplots(1, 2, figsize=(8.6, 3.6), layout="constrained", width_ratios=(1.35, 1))
    display.plot(axes[0])
    PairwiseDisplay.from_curves(*display.curves).plot(axes[1])
    axes[0].set_title("From Hamming to subset 0/1 loss", loc="left", fontsize="medium")
    axes[1].set_title("One against the other", loc="left", fontsize="medium")
    return figure


def draw_integral():
    """One row's weighted mean and Choquet integral, the paper's Figure 1."""
    names = ["beach", "sunset", "mountain", "urban"]
    return ChoquetDisplay([0.9, 0.8, 0.6, 0.3], PolynomialMeasure(2), label_names=names).plot().figure_


def draw_decisions():
    """Expected losses of the best prediction and of the two modes, with the labels of the best below its curve."""
    *names, _ = FIVE_LABELS.read_text().splitlines()[0].split(",")
    table = np.loadtxt(FIVE_LABELS, delimiter=",", skiprows=1)
    display = DecisionDisplay.from_distribution(LabelDistribution(table[:, :-1], table[:, -1]))
    figure, ax = plt.subplots(figsize=(6.2, 3.8), layout="constrained")
    display.plot(ax)
    optimal = display.optimal
    for k, risk, labels in zip(optimal.parameters, optimal.risk[:, 0], optimal.labels[:, 0], strict=True):
        text = "\n".join(name for name, label in zip(names, labels, strict=True) if label)
        align = {"ha": "left" if k == 1 else "center", "va": "top"}  # the first is beside the axis
        look = {"fontsize": "small", "color": display.lines_[0].get_color(), **align}
        ax.annotate(text, (k, risk), (0, -9), textcoords="offset points", **look)
    ax.set_title("What to predict depends on the loss", loc="left", fontsize="medium")
    return figure


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/figures")
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in (("curves", draw_curves), ("integral", draw_integral), ("decisions", draw_decisions)):
        figure = draw()
        figure.savefig(folder / f"{name}.png", dpi=200, metadata={"Software": None})
        plt.close(figure)
        print(folder / f"{name}.png")


if __name__ == "__main__":
    main()
