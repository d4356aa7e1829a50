"""
Evaluate three models
=====================

One curve a model, from Hamming to subset 0/1 loss.
"""

import choral

# %%
# To be written.
choral.BinomialMeasure(2)
