"""Draw figures of README and of two pages: ``python scripts/figures.py [FOLDER]``, by default ``docs/figures``.

The data of the curves are handwritten digits whose labels are the segments of a seven-segment display; the models are
those of ``scripts/examples.py``: one decision tree per label against one tree for whole label sets. The decisions are
those of the paper's example with 32 label sets.
"""

import sys
from dataclasses import replace
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")  # files need no window
import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.multiclass import OneVsRestClassifier

from choral import BinomialMeasure, PolynomialMeasure, expected_curve, explain, which_k
from choral.datasets import load_digits_segments
from choral.displays import ChoquetDisplay, DecisionDisplay, LossCurveDisplay, PairwiseDisplay
from choral.paper.examples import FIVE_LABELS
from examples import predict


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
    """One row's weighted mean and Choquet integral: vertical and horizontal integration, as the paper draws them."""
    names = ["beach", "sunset", "mountain", "urban"]
    return ChoquetDisplay([0.9, 0.8, 0.6, 0.3], PolynomialMeasure(2), label_names=names).plot().figure_


def draw_decisions():
    """Expected losses of the best prediction and of the two modes; and how far each optimum is above the least."""
    display = DecisionDisplay.from_distribution(FIVE_LABELS)
    figure, axes = plt.subplots(1, 2, figsize=(9.4, 3.6), layout="constrained")
    display.plot(axes[0])
    LossCurveDisplay(excess_losses(display)).plot(axes[1])
    axes[1].set_ylabel("expected loss minus the least")
    axes[0].set_title("What to predict depends on the loss", loc="left", fontsize="medium")
    axes[1].set_title("Each prediction is best for some k", loc="left", fontsize="medium")
    return figure


def draw_explanation():
    """Where the subset 0/1 loss of logistic regressions comes from, as in docs/explain.md."""
    digits = load_digits_segments()
    X, Y = digits.X[:600] > 7, digits.Y[:600]
    model = OneVsRestClassifier(LogisticRegression(max_iter=1000))
    found = explain(Y, cross_val_predict(model, X, Y), labels=digits.label_names)
    figure, axes = plt.subplots(1, 2, figsize=(10.5, 3.8), layout="constrained")
    found.plot_labels(axes[0])
    found.plot_pairs(axes[1])
    return figure


def draw_which_k():
    """What a row loses by its number of wrong labels: for each k, and for costs that no k meets (docs/which_k.md)."""
    n_labels = 8
    wrong = np.arange(n_labels + 1)
    figure, axes = plt.subplots(1, 2, figsize=(9.4, 3.8), layout="constrained", sharey=True)
    for k, colour in zip(range(1, n_labels + 1), plt.colormaps["viridis"](np.linspace(0, 0.9, n_labels)), strict=True):
        name = {1: "k = 1, Hamming", n_labels: f"k = {n_labels}, subset 0/1"}.get(k, f"k = {k}")
        axes[0].plot(wrong, BinomialMeasure(k).deficits(n_labels), color=colour, marker="o", markersize=3, label=name)
    answer = which_k([0] + [20 + 5 * count for count in wrong[1:]])
    axes[1].plot(wrong, answer.measure.deficits(n_labels), "o", color="black", label="costs: 20, and 5 a label")
    nearest = {
        f"k = {answer.k}": BinomialMeasure(answer.k),
        f"alpha = {answer.alpha:.3g}": PolynomialMeasure(answer.alpha),
    }
    for (name, measure), style in zip(nearest.items(), ("-", "--"), strict=True):
        axes[1].plot(wrong, measure.deficits(n_labels), style, label=f"nearest: {name}")
    axes[0].set_title("What a row of 8 labels loses, for each k", loc="left", fontsize="medium")
    axes[1].set_title("Costs, and the nearest of each family", loc="left", fontsize="medium")
    axes[0].set_ylabel("share of the cost of a row\nwith all labels wrong")
    for ax in axes:
        ax.set_xlabel("wrong labels of the row")
        ax.set_xticks(wrong)
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(axis="y", alpha=0.3)
        ax.legend(loc="lower right", fontsize="small", frameon=False)
    return figure


def excess_losses(display):
    """For each prediction that is best for some k, how much more it loses than the best one does."""
    least = display.optimal.curve().losses
    # In this order, the modes have the same colours as in `DecisionDisplay`.
    names = {"00111": "00111", "10010": "10010, marginal mode", "10110": "10110, joint mode", "11000": "11000"}
    curves = [expected_curve(FIVE_LABELS, [int(label) for label in labels], name=names[labels]) for labels in names]
    return [replace(curve, losses=np.maximum(curve.losses - least, 0)) for curve in curves]


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/figures")
    folder.mkdir(parents=True, exist_ok=True)
    figures = {
        "curves": draw_curves,
        "integral": draw_integral,
        "decisions": draw_decisions,
        "explain": draw_explanation,
        "which_k": draw_which_k,
    }
    for name, draw in figures.items():
        figure = draw()
        figure.savefig(folder / f"{name}.png", dpi=200, metadata={"Software": None})
        plt.close(figure)
        print(folder / f"{name}.png")


if __name__ == "__main__":
    main()
