"""The worked examples of the paper, with its own numbers (Sections 3, 3.3 and 3.4).

Examples
--------
The OWA example: the errors of one row, averaged with three vectors of weights.

>>> from choral import owa_loss
>>> for name, weights in OWA_WEIGHTS.items():
...     print(f"{name}: {owa_loss([OWA_TRUE], [OWA_SCORES], weights):.2f}")
Hamming: 0.30
subset 0/1: 0.70
between: 0.43
"""

from itertools import product

from choral.decisions import LabelDistribution

#: Section 3: the marginal mode, 111, is best for Hamming loss; the joint mode, 000, for subset 0/1 loss.
THREE_LABELS = LabelDistribution(
    [[0, 0, 0], [1, 1, 1], [0, 1, 1], [1, 0, 1], [1, 1, 0]], [1 / 4, 3 / 16, 3 / 16, 3 / 16, 3 / 16]
)

#: Section 3.3: true labels and scores of one row; the errors are 0.2, 0.7, 0.1, 0.1, 0.4 and 0.3.
OWA_TRUE = (0, 1, 1, 0, 0, 0)
OWA_SCORES = (0.2, 0.3, 0.9, 0.1, 0.4, 0.3)

#: Section 3.3: weights for errors from the largest down, as `choral.owa_loss` takes them; the paper prints them for
#: errors from the smallest up. Those between the ends are the weights of ``BinomialMeasure(2)``.
OWA_WEIGHTS = {
    "Hamming": (1 / 6, 1 / 6, 1 / 6, 1 / 6, 1 / 6, 1 / 6),
    "subset 0/1": (1, 0, 0, 0, 0, 0),
    "between": (5 / 15, 4 / 15, 3 / 15, 2 / 15, 1 / 15, 0),
}

# In the order of the printed table: 00000, 00001, 00010, ..., 11111.
_THOUSANDTHS = (
    *(46, 3, 34, 48, 25, 52, 36, 50),
    *(22, 11, 6, 59, 41, 23, 13, 12),
    *(44, 23, 18, 11, 3, 22, 62, 54),
    *(56, 59, 40, 22, 29, 13, 38, 25),
)

#: Section 3.4: all 32 label sets of five labels. The best prediction for the binomial loss is 10010 for k = 1, 00111
#: for k = 2 and 3, 11000 for k = 4, and 10110 for k = 5.
FIVE_LABELS = LabelDistribution(list(product((0, 1), repeat=5)), [count / 1000 for count in _THOUSANDTHS])
