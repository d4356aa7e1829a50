"""
Thresholds or joint decisions?
==============================

Most people cut scores at 0.5. A tuned threshold adapts the cut to the loss,
but it looks at one label at a time. A joint decision looks at all of them.
What is each worth, and for which loss?
"""

# %%
# Synthetic data with labels that depend on each other, given the features.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.multiclass import OneVsRestClassifier

import choral
from choral.datasets import make_dependent

data = make_dependent(3000, 6, dependence=0.9, signal=1.5, random_state=1)
X_train, Y_train = data.X[:1000], data.Y[:1000]
X_test, Y_test = data.X[1000:], data.Y[1000:]
model = OneVsRestClassifier(LogisticRegression()).fit(X_train, Y_train)
held_out = cross_val_predict(model, X_train, Y_train, method="predict_proba")
scores = model.predict_proba(X_test)

# %%
# Thresholds and calibrator both learn from scores of rows that the model was
# not fitted on. A threshold is tuned for each loss; one calibrator decides for
# all of them.
calibrator = choral.JointCalibrator().fit(held_out, Y_train)
names = ["hamming", "k=2", "k=3", "k=4", "subset", "f1"]
losses = {"cut at 0.5": [], "tuned threshold": [], "jointly": []}
print(f"{'loss':<9}", *(f"{way:>16}" for way in losses))
for name in names:
    loss, tuner = (
        choral.loss_by_name(name),
        choral.ThresholdTuner(name).fit(held_out, Y_train),
    )
    decided = (
        choral.harden(scores),
        tuner.predict(scores),
        calibrator.predict(scores, measure=name),
    )
    for way, labels in zip(losses, decided, strict=True):
        is_measure = not isinstance(loss, choral.FLoss)
        losses[way].append(
            choral.choquet_loss(Y_test, labels, loss)
            if is_measure
            else choral.f_loss(Y_test, labels)
        )
    print(f"{name:<9}", *(f"{by_way[-1]:16.3f}" for by_way in losses.values()))

# %%
# The bars show how much less is lost than with a cut at 0.5. For Hamming loss
# there is nothing to gain. The more labels have to be right together, the more
# the joint decision gains. The thresholds gain little on these data, and lose a
# little for k = 2 and F1: they were tuned on other rows. For F1 they often gain
# more, see :doc:`/any_model`.
_, ax = plt.subplots(figsize=(7.6, 3.6), layout="constrained")
cut = np.array(losses["cut at 0.5"])
x = np.arange(len(names))
ax.bar(
    x - 0.19,
    cut - losses["tuned threshold"],
    width=0.36,
    label="tuned threshold",
)
ax.bar(x + 0.19, cut - losses["jointly"], width=0.36, label="jointly")
ax.axhline(0, color="0.3", linewidth=0.8)
ax.set(xticks=x, xticklabels=names, ylabel="gain over the cut at 0.5")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)

# %%
# Read next: :doc:`/any_model` has thresholds for each label, too, and
# :class:`choral.ThresholdTuner` all options.
