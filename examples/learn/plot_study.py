"""
Compare learners in a study
===========================

Which learner is better, over several data sets, and is that more than chance?
A study runs all learners on the same folds, and puts tables, figures and tests
into one folder. It can be stopped and goes on where it was. This example needs
``choral[tables,plot]``.
"""

# %%
# Two synthetic data sets: labels that are independent given the features, and
# labels that depend on each other. Three learners. The folder is a temporary
# one here; in earnest, choose one that stays.
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt

from choral.datasets import make_dependent
from choral.displays import LossCurveDisplay
from choral.learners import BinaryRelevance, ClassifierChain, LabelPowerset
from choral.study import Plan, Split, StudyData, StudyLearner, run_study

names = {"independent": 0.0, "dependent": 1.0}
plan = Plan(
    datasets=[
        StudyData(
            name,
            make_dependent(
                400, 5, dependence=dependence, n_features=5, signal=1.0
            ),
        )
        for name, dependence in names.items()
    ],
    learners=[
        StudyLearner("BR", BinaryRelevance()),
        StudyLearner("CC", ClassifierChain()),
        StudyLearner("LP", LabelPowerset()),
    ],
    split=Split(folds=3),
)
folder = TemporaryDirectory()
results = run_study(plan, folder.name, n_jobs=2)

# %%
# Which learner has the least loss, from which k to which?
wins = results.tables()["wins"].to_pandas()
wins[wins["family"] == "binomial"]

# %%
# The curves. With dependent labels, the chain (CC) and the learner of whole
# label sets (LP) start above the one that takes labels by themselves (BR), and
# end below it. With independent labels they gain next to nothing.
_, axes = plt.subplots(
    1, 2, figsize=(10.5, 4), layout="constrained", sharey=True
)
for ax, name in zip(axes, names, strict=True):
    LossCurveDisplay.from_curves(results.curves(name, "binomial")).plot(ax)
    ax.set_title(f"{name} labels", loc="left", fontsize="medium")
axes[1].set_ylabel("")

# %%
# Differences come with paired intervals over rows and the corrected t test
# over folds, whose p values are adjusted for the parameters of one pair of
# learners on one data set (:doc:`/significance` says for what they are not).
# ``difference`` is the loss of the second learner minus that of the first:
# positive where the first is better. At k = 5 the whole interval is below 0,
# so LP is better there; but three folds are far too few for a small p value.
differences = results.tables()["differences"].to_pandas()
differences.query(
    "dataset == 'dependent' and family == 'binomial'"
    " and first == 'BR' and second == 'LP'"
)

# %%
folder.cleanup()

# %%
# On the command line, ``choral study plan.toml`` does the same and writes a
# page for the browser. Read next: :doc:`/study`.
