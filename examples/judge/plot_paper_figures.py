"""
The figures of the paper
========================

The paper behind choral compares learners on published data sets, along two
families of losses. Its losses come with the package, so its figures can be
drawn anew. Do the curves of learners really cross?
"""

# %%
# The paper is Hüllermeier, Wever, Loza Mencía, Fürnkranz and Rapp, "A flexible
# class of dependence-aware multi-label loss functions" (Machine Learning,
# 2022). BR fits one model for each label, LP one for whole label sets, RAkEL
# one for each of several small sets of labels. CC is a chain in which each
# label sees those before it, EPCT an ensemble of clustering trees. First the
# curves on one data set, emotions, with six labels.
import matplotlib.pyplot as plt

import choral
from choral.displays import LossCurveDisplay, PairwiseDisplay, RatioDisplay
from choral.paper import published_profiles

profiles = published_profiles()
learners = ("BR", "CC", "LP", "RAkEL-3", "EPCT")
_, axes = plt.subplots(
    1, 2, figsize=(10.5, 4), layout="constrained", sharey=True
)
for ax, family in zip(axes, ("binomial", "polynomial"), strict=True):
    curves = {
        name: profiles["emotions", name].curve(family) for name in learners
    }
    LossCurveDisplay.from_curves(curves).plot(ax)
    ax.set_title(f"emotions, {family} losses", loc="left", fontsize="medium")
axes[0].set_ylabel("loss")
axes[1].set_ylabel("")

# %%
# Then two learners against each other, as in the paper: one point for each
# loss, the first learner on x, the second on y. A curve that crosses the
# diagonal belongs to a data set on which the answer depends on the loss.
# Right: the loss of LP divided by that of BR; below 1, LP is better.
datasets = [
    data
    for data in ("emotions", "birds", "yeast", "scene", "flags-7")
    if (data, "LP") in profiles
]
binary = {data: profiles[data, "BR"].curve(name="BR") for data in datasets}
powerset = {data: profiles[data, "LP"].curve(name="LP") for data in datasets}
_, axes = plt.subplots(1, 2, figsize=(10.5, 4.6), layout="constrained")
PairwiseDisplay.from_curves(binary, powerset).plot(axes[0])
RatioDisplay.from_curves(binary, powerset).plot(axes[1])

# %%
# Where they cross:
for data in datasets:
    crossings = choral.PairwiseCurve(binary[data], powerset[data]).crossings()
    print(
        f"{data:<9}",
        " and ".join(f"k={k:.1f}" for k in crossings) or "no crossing",
    )

# %%
# On some data sets BR has the lower Hamming loss and LP the lower subset 0/1
# loss, so the better learner depends on the loss. Read next:
# :doc:`/paper_study` runs the whole study again.
