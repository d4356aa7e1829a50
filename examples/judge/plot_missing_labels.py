"""
Judge and learn with missing labels
===================================

Often only some labels of a row are known. May one fill in 0 for the others?
No: that claims that they are irrelevant. Put ``nan`` where a label is not
known, and choral uses what is known.
"""

# %%
# We hide 40 % of the training labels at random; here are the first 40 rows. The
# test rows stay complete, so that we see the truth.
import matplotlib.pyplot as plt
import numpy as np

import choral
from choral.learners import JointForest

digits = choral.datasets.load_digits_segments()
X_train, Y_train = digits.X[:400], digits.Y[:400]
X_test, Y_test = digits.X[400:], digits.Y[400:]
rng = np.random.default_rng(0)
hidden = np.where(rng.random(Y_train.shape) < 0.4, np.nan, Y_train)
_, ax = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
shown = np.where(np.isnan(hidden[:40]), 0.5, hidden[:40])
ax.imshow(shown.T, cmap="RdBu_r", vmin=-0.3, vmax=1.3, aspect="auto")
ax.set(yticks=range(7), yticklabels=digits.label_names, xlabel="training row")
ax.set_title(
    "Red: relevant, blue: irrelevant, pale: not known",
    loc="left",
    fontsize="medium",
)

# %%
# Three forests: one that sees all labels, one that learns from those that are
# known, one that was given 0 for the others.
forest = JointForest(100, random_state=0)
curves = {
    "all labels known": forest.fit(X_train, Y_train).predict_curve(X_test),
    "nan where unknown": forest.fit(X_train, hidden).predict_curve(X_test),
    "0 where unknown": forest.fit(X_train, np.nan_to_num(hidden)).predict_curve(
        X_test
    ),
}
evaluation = choral.evaluate(Y_test, curves, random_state=0)
evaluation

# %%
# Hidden labels cost some accuracy if they are said to be unknown. They cost
# much more if they are called irrelevant.
evaluation.plot()

# %%
# True labels may be missing at the test, too. A row is judged by its known
# labels, as if there were no others. Here the same predictions are judged by
# complete rows, by the 60 % of labels that are left, and with 0 in place of
# what is missing. The second Hamming loss is close to the truth, the third is
# not. Subset 0/1 loss falls in the second case: a row with fewer labels is
# wholly right more easily. So compare models on the same known labels.
predicted = forest.fit(X_train, Y_train).predict(X_test)
partly = np.where(rng.random(Y_test.shape) < 0.4, np.nan, Y_test)
judges = {
    "complete rows": Y_test,
    "known labels": partly,
    "0 where unknown": np.nan_to_num(partly),
}
for name, truth in judges.items():
    print(
        f"{name:<16} Hamming {choral.hamming_loss(truth, predicted):.3f}",
        end="  ",
    )
    print(f"subset 0/1 {choral.subset_loss(truth, predicted):.3f}")

# %%
# Read next: :doc:`/missing_labels` has the definition, and measures what
# missing labels cost on two data sets.
