"""
Better labels from any model
============================

A model is fitted, and its scores are there. Can its labels be better without
training it again? :class:`choral.JointCalibrator` learns from rows that the
model has not seen how labels depend on each other, and decides for any loss.
"""

# %%
# One logistic regression for each segment of a digit. None of them knows that
# not every set of segments is a digit.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.multiclass import OneVsRestClassifier

import choral

digits = choral.datasets.load_digits_segments()
X, Y = digits.X > 7, digits.Y  # pixels black or white
X_train, Y_train, X_test, Y_test = X[:600], Y[:600], X[600:], Y[600:]
model = OneVsRestClassifier(LogisticRegression(max_iter=1000)).fit(
    X_train, Y_train
)
scores = model.predict_proba(X_test)

# %%
# The calibrator learns from out-of-fold scores of the training rows.
held_out = cross_val_predict(model, X_train, Y_train, method="predict_proba")
calibrator = choral.JointCalibrator().fit(held_out, Y_train)
evaluation = choral.evaluate(
    Y_test,
    {
        "cut at 0.5": choral.harden(scores),
        "decided jointly": calibrator.predict_curve(scores),
    },
    random_state=0,
)
evaluation

# %%
# The further to the right, the more labels have to be right together, and the
# more there is to gain.
evaluation.plot()

# %%
# The calibrator also says what to expect on new rows, by cross-validation in
# the rows given to ``fit``.
for rule, loss in calibrator.left_out_losses("subset").items():
    print(f"{rule:<10} {loss:.3f}")

# %%
# Here are six of the images for which the scores, cut at 0.5, gave no digit at
# all. Below each image are the segments before and after.
SEGMENTS = {  # ends of each segment on a display that is 1 wide and 2 high
    "top": ((0, 1), (2, 2)),
    "top right": ((1, 1), (1, 2)),
    "bottom right": ((1, 1), (0, 1)),
    "bottom": ((0, 1), (0, 0)),
    "bottom left": ((0, 0), (0, 1)),
    "top left": ((0, 0), (1, 2)),
    "middle": ((0, 1), (1, 1)),
}


def draw_segments(ax, labels):
    for name, is_on in zip(digits.label_names, labels, strict=True):
        ax.plot(
            *SEGMENTS[name],
            color="tab:red" if is_on else "0.92",
            linewidth=4,
            solid_capstyle="round",
        )
    ax.set(xlim=(-0.9, 1.9), ylim=(-0.3, 2.3), aspect="equal")
    ax.axis("off")


before, after = (
    choral.harden(scores),
    calibrator.predict(scores, measure=choral.SubsetMeasure()),
)
is_digit = (
    (before[:, np.newaxis] == np.unique(Y_train, axis=0))
    .all(axis=2)
    .any(axis=1)
)
rows = np.flatnonzero(~is_digit)[:6]
figure, axes = plt.subplots(3, 6, figsize=(8.4, 4.6), layout="constrained")
for column, row in zip(axes.T, rows, strict=True):
    column[0].imshow(digits.X[600 + row].reshape(8, 8), cmap="gray_r")
    column[0].axis("off")
    draw_segments(column[1], before[row])
    draw_segments(column[2], after[row])
for ax, name in zip(
    axes[:, 0], ("image", "cut at 0.5", "jointly"), strict=True
):
    ax.set_title(name, loc="left", fontsize="medium")

# %%
# Read next: :doc:`/any_model` measures what this is worth, with four models on
# thirteen data sets.
