"""
Find out where the loss comes from
==================================

A model is wrong in some label of 37 % of its rows, say. Which label should be
mended first? :func:`choral.explain` gives each label its share in the loss,
and names labels that are wrong together.
"""

# %%
# One logistic regression for each segment of a digit. Each row is predicted by
# a model that has not seen it.
import matplotlib.pyplot as plt
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.multiclass import OneVsRestClassifier

import choral

digits = choral.datasets.load_digits_segments()
X, Y = digits.X[:600] > 7, digits.Y[:600]  # pixels black or white
model = OneVsRestClassifier(LogisticRegression(max_iter=1000))
predicted = cross_val_predict(model, X, Y)

# %%
# Without another measure, it is the subset 0/1 loss that is explained.
found = choral.explain(Y, predicted, labels=digits.label_names)
print(found)

# %%
# Left: the middle segment has the largest share of both losses. It is often
# the only wrong one, so its share in the subset 0/1 loss is even larger than
# its share in the Hamming loss. Right: the bottom, the middle and the top
# segment tend to be wrong in the same rows.
_, axes = plt.subplots(1, 2, figsize=(10.5, 3.8), layout="constrained")
found.plot_labels(axes[0])
found.plot_pairs(axes[1])

# %%
# Labels that are wrong together can be decided together. Read next:
# :doc:`/explain` mends this model, and :class:`choral.JointCalibrator` decides
# jointly.
