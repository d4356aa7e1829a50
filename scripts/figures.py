"""Draw figures of README and docs/explain.md: ``python scripts/figures.py [FOLDER]``, by default ``docs/figures``.

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

from choral import PolynomialMeasure, expected_curve, explain
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
    }
    for name, draw in figures.items():
        figure = draw()
        figure.savefig(folder / f"{name}.png", dpi=200, metadata={"Software": None})
        plt.close(figure)
        print(folder / f"{name}.png")


if __name__ == "__main__":
    main()
