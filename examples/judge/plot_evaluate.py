"""
Evaluate three models
=====================

Which of three models is best? It depends on how many labels have to be right
together. Hamming loss looks at one label at a time, subset 0/1 loss at all of
them. :func:`choral.evaluate` shows both ends and everything between them.
"""

# %%
# The data are handwritten digits. The labels are the seven segments of a
# display that shows the digit. The models are one decision tree for each
# segment, one tree for whole label sets, and a random forest.
from sklearn.ensemble import RandomForestClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.tree import DecisionTreeClassifier

import choral
from choral.learners import LabelPowerset

digits = choral.datasets.load_digits_segments()
X_train, Y_train = digits.X[:600], digits.Y[:600]
X_test, Y_test = digits.X[600:], digits.Y[600:]

tree = DecisionTreeClassifier(min_samples_leaf=3, random_state=0)
models = {
    "a tree for each label": OneVsRestClassifier(tree),
    "a tree for label sets": LabelPowerset(tree),
    "random forest": RandomForestClassifier(random_state=0),
}
predictions = {
    name: model.fit(X_train, Y_train).predict(X_test)
    for name, model in models.items()
}

# %%
# The table has the loss of each model at four points of the way, and says
# where a difference is larger than chance explains.
evaluation = choral.evaluate(Y_test, predictions, random_state=0)
evaluation

# %%
# The curve of the forest is lowest, from one end to the other. The two trees
# change places: a tree for each label makes fewer single mistakes, a tree for
# whole label sets spoils fewer rows. The bands are 95 % bootstrap intervals.
evaluation.plot()

# %%
# A comparison of two models says where they cross.
evaluation.compare("a tree for each label", "a tree for label sets")

# %%
# Read next: :doc:`/guide` explains the curve, and :doc:`/significance` what an
# interval tells and what it does not.
