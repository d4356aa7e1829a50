"""
One model for every loss: AutoJoint
===================================

Must one train a model for each loss? No. :class:`choral.learners.AutoJoint` is
fitted once. It learns how probable label sets are, and decides anew for each
loss when it predicts.
"""

# %%
# It pools a forest, boosted trees, logistic regressions and the frequencies of
# label sets. The summary says how much each counts.
from sklearn.ensemble import RandomForestClassifier

import choral
from choral.learners import AutoJoint

digits = choral.datasets.load_digits_segments()
X, Y = digits.X > 7, digits.Y  # pixels black or white
X_train, Y_train, X_test, Y_test = X[:300], Y[:300], X[300:], Y[300:]
model = AutoJoint(n_estimators=100, random_state=0).fit(X_train, Y_train)
print(model.summary())

# %%
# ``predict`` takes any measure; ``predict_curve`` decides for all k at once.
labels = model.predict(X_test, measure=choral.BinomialMeasure(3))
curve = model.predict_curve(X_test)
curve

# %%
# Beside it, a random forest of scikit-learn's.
forest = RandomForestClassifier(random_state=0).fit(X_train, Y_train)
evaluation = choral.evaluate(
    Y_test,
    {"AutoJoint": curve, "random forest": forest.predict(X_test)},
    random_state=0,
)
evaluation

# %%
# The lead grows with the number of labels that have to be right together.
evaluation.plot()

# %%
# For most images the best labels are the same for each k. Here is how many
# change, between one k and another.
changed = (
    (curve.labels[:, None] != curve.labels[None]).any(axis=-1).sum(axis=-1)
)
print(changed)

# %%
# Read next: :doc:`/joint_learners` describes the pool, and
# :doc:`/tailored_study` compares it with sixteen other learners.
