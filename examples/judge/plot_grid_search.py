"""
Choose a model by your own loss
===============================

Does the best setting of a model depend on the loss? A search by single labels
and one by whole label sets can choose differently. :func:`choral.make_scorer`
turns any measure into a scorer that scikit-learn's searches take.
"""

# %%
# The question is how a tree should treat labels: one tree for each label, or
# one for whole label sets, and how large its leaves should be. Three scorers
# judge all of it in one search: a single label, three labels together, all
# labels together.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier

import choral
from choral.learners import BinaryRelevance, LabelPowerset

digits = choral.datasets.load_digits_segments()
tree = DecisionTreeClassifier(random_state=0)
scorers = {
    "Hamming": choral.make_scorer(choral.HammingMeasure()),
    "k=3": choral.make_scorer(choral.BinomialMeasure(3)),
    "subset 0/1": choral.make_scorer(choral.SubsetMeasure()),
}
sizes = [1, 2, 5, 10, 20, 50]
search = GridSearchCV(
    Pipeline([("model", BinaryRelevance(tree))]),
    {
        "model": [BinaryRelevance(tree), LabelPowerset(tree)],
        "model__estimator__min_samples_leaf": sizes,
    },
    scoring=scorers,
    refit=False,
    cv=choral.MultilabelStratifiedKFold(3, shuffle=True, random_state=0),
)
_ = search.fit(digits.X, digits.Y)

# %%
# Scikit-learn wants scores of which higher ones are better, so a scorer gives
# minus the loss.
for name in scorers:
    best = int(np.argmax(search.cv_results_[f"mean_test_{name}"]))
    chosen = search.cv_results_["params"][best]
    loss = -search.cv_results_[f"mean_test_{name}"][best]
    model = type(chosen["model"]).__name__
    leaf = chosen["model__estimator__min_samples_leaf"]
    print(f"{name:<10}  loss {loss:.3f}  {model}, leaves of at least {leaf}")

# %%
# The lines show how close the choices are. The further to the right, the more
# a tree for label sets gains.
_, axes = plt.subplots(1, 3, figsize=(10.5, 3.4), layout="constrained")
for ax, name in zip(axes, scorers, strict=True):
    losses = -search.cv_results_[f"mean_test_{name}"].reshape(2, -1)
    for line, label in zip(
        losses, ("a tree for each label", "a tree for label sets"), strict=True
    ):
        ax.plot(sizes, line, marker="o", label=label)
    ax.set(
        xscale="log",
        xticks=sizes,
        xticklabels=sizes,
        title=name,
        xlabel="least rows in a leaf",
    )
    ax.minorticks_off()
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("cross-validated loss")
axes[0].legend(frameon=False)

# %%
# Folds were stratified by :class:`choral.MultilabelStratifiedKFold`: each has
# its part of every label. Read next: :doc:`/learners` lists the learners of
# choral.
