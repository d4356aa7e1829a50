"""
Decide for each k
=================

The probabilities of all label sets are known. Which labels should be
predicted? It depends on the loss: for Hamming loss the labels that are more
probable than not, for subset 0/1 loss the most probable label set, and between
them it may be neither.
"""

# %%
# The paper's example has five labels and all 32 label sets.
import matplotlib.pyplot as plt
import numpy as np

import choral
from choral.displays import DecisionDisplay
from choral.paper.examples import FIVE_LABELS

FIVE_LABELS

# %%
# :func:`choral.bayes_curve` finds the prediction with the least expected loss,
# the *risk*, for each k. From k = 3 to k = 4 all five labels change.
curve = choral.bayes_curve(FIVE_LABELS)
for k, labels, risk in zip(
    curve.parameters, curve.labels[:, 0], curve.risk[:, 0], strict=True
):
    print(f"k={k}  {labels}  risk {risk:.4f}")

# %%
# The marginal mode is best on the left, the joint mode on the right, and
# neither in the middle.
_, axes = plt.subplots(
    1, 2, figsize=(10.5, 4), layout="constrained", width_ratios=(1.4, 1)
)
DecisionDisplay.from_distribution(FIVE_LABELS).plot(axes[0])
axes[1].imshow(
    curve.labels[:, 0].T, cmap="Blues", vmin=0, vmax=1.4, aspect="auto"
)
axes[1].set(
    xticks=range(5),
    xticklabels=curve.parameters,
    yticks=range(5),
    xlabel="k",
    ylabel="label",
)
axes[1].set_yticklabels(["y1", "y2", "y3", "y4", "y5"])
axes[1].set_xticks(np.arange(4) + 0.5, minor=True)
axes[1].set_yticks(np.arange(4) + 0.5, minor=True)
axes[1].grid(which="minor", color="white", linewidth=3)
axes[1].tick_params(which="both", length=0)
axes[1].spines[:].set_visible(False)
axes[1].set_title("Blue: predicted", loc="left", fontsize="medium")

# %%
# How much does it cost to decide for the wrong loss? :func:`choral.regret`
# says how much more a prediction loses than the best one.
for name, labels in (
    ("marginal mode", FIVE_LABELS.marginal_mode()),
    ("joint mode", FIVE_LABELS.mode()),
):
    regrets = [
        choral.regret(FIVE_LABELS, labels, choral.BinomialMeasure(k))[0]
        for k in range(1, 6)
    ]
    print(
        f"{name:<14}",
        *(f"k={k}: {loss:.4f}" for k, loss in enumerate(regrets, start=1)),
        sep="  ",
    )

# %%
# Read next: :doc:`/decisions` decides for many rows at once, and for hundreds
# of labels.
