"""
A measure of your own
=====================

What if some labels belong together, and others matter little? A *measure* says
what it is worth to be right on a set of labels. choral takes any measure, and
everything else (losses, decisions, shares) follows from it.
"""

# %%
# The seven segments of a display fall into three groups: the left side, the
# right side and the three horizontal bars. Say that a group is only worth
# something if all of it is right: :class:`choral.CoveringMeasure`.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.tree import DecisionTreeClassifier

import choral
from choral.displays import ChoquetDisplay

digits = choral.datasets.load_digits_segments()
names = list(digits.label_names)
groups = [
    [names.index(name) for name in names if side in name]
    for side in ("left", "right")
]
groups.append([names.index(name) for name in ("top", "middle", "bottom")])
print([[names[i] for i in group] for group in groups])
by_group = choral.CoveringMeasure(groups)

# %%
# If some labels matter more than others, give the worth of sets of labels by
# :class:`choral.MoebiusMeasure`. Here "middle" counts for a quarter alone, and
# the other three quarters are for the left and the right side, each as a
# whole.
middle = names.index("middle")
weighted = choral.MoebiusMeasure(
    {(middle,): 0.25, tuple(groups[0]): 0.375, tuple(groups[1]): 0.375}
)

# %%
# Or write a function of the set of right labels. This one is worth the square
# of the share of vertical bars, if the middle is right, and half of it
# otherwise. :class:`choral.Capacity` lists its values for all 128 sets, and
# tells how much each label counts (the Shapley value).
vertical = set(groups[0] + groups[1])
capacity = choral.Capacity.from_function(
    lambda right: (
        (len(right & vertical) / 4) ** 2 * (1 if middle in right else 0.5)
    ),
    n_labels=7,
)
for name, share in zip(names, capacity.shapley(), strict=True):
    print(f"{name:<13} {share:.3f}")

# %%
# Three models, five measures. By Hamming loss, a tree for each label is better
# than one tree for all labels; by subset 0/1 loss it is the other way round.
# The measures of groups lie between them.
X_train, Y_train = digits.X[:600], digits.Y[:600]
X_test, Y_test = digits.X[600:], digits.Y[600:]
models = {
    "tree": DecisionTreeClassifier(random_state=0),
    "tree for each label": OneVsRestClassifier(
        DecisionTreeClassifier(random_state=0)
    ),
    "forest": RandomForestClassifier(random_state=0),
}
measures = {
    "Hamming": choral.HammingMeasure(),
    "weighted": weighted,
    "by group": by_group,
    "function": capacity,
    "subset 0/1": choral.SubsetMeasure(),
}
losses = []
for name, model in models.items():
    predicted = model.fit(X_train, Y_train).predict(X_test)
    losses.append(
        [
            choral.choquet_loss(Y_test, predicted, measure)
            for measure in measures.values()
        ]
    )
    print(
        f"{name:<20}",
        *(
            f"{measure} {loss:.3f}"
            for measure, loss in zip(measures, losses[-1], strict=True)
        ),
        sep="  ",
    )

# %%
_, ax = plt.subplots(figsize=(7.4, 3.6), layout="constrained")
x = np.arange(len(measures))
for i, name in enumerate(models):
    ax.bar(x + 0.26 * (i - 1), losses[i], width=0.24, label=name)
ax.set(xticks=x, xticklabels=measures, ylabel="loss")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)

# %%
# For scores the loss is one minus the Choquet integral of how right each label
# is. Level by level, it asks what the labels that reach this level are worth
# together. Here are the scores of one row. Left: the plain mean, for which all
# labels count the same. Right: the Choquet integral of the measure.
scores = choral.stack_proba(models["forest"].predict_proba(X_test[:1]))
ChoquetDisplay.from_prediction(
    Y_test[0], scores[0], weighted, label_names=names
).plot()

# %%
# Read next: :doc:`/guide` has all measures, and :func:`choral.bayes_optimal`
# decides for any of them.
