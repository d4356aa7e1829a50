"""The usual figures beside the curve, by scikit-learn's functions: F1, Jaccard, precision and recall."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from choral._array_api import to_host
from choral._typing import FloatArray
from choral.explanation.error_blocks import error_blocks
from choral.explanation.label_sets import predicted_labels
from choral.rows import Rows

CONVENTIONS = (
    "By scikit-learn, of labels with a score of at least 0.5. 0 / 0 counts as 0 (zero_division=0): a row without any "
    "true or predicted label has an F1 of 0, where choral.f_loss takes it for right."
)


class UsualFigures(NamedTuple):
    """Figures that readers ask for first, all the higher the better.

    Attributes
    ----------
    f1_samples, f1_micro, f1_macro : float
        F1 of rows, of all labels of all rows, and of labels, averaged.
    jaccard_samples, jaccard_micro, jaccard_macro : float
        Jaccard index, likewise.
    precision, recall, f1 : ndarray of shape (n_labels,)
        Of each label.
    support : ndarray of shape (n_labels,)
        In how many rows (or what weight of them) each label is true.
    """

    f1_samples: float
    f1_micro: float
    f1_macro: float
    jaccard_samples: float
    jaccard_micro: float
    jaccard_macro: float
    precision: FloatArray
    recall: FloatArray
    f1: FloatArray
    support: FloatArray

    @property
    def conventions(self) -> str:
        """How the figures are meant, in words."""
        return CONVENTIONS


def usual_figures(rows: Rows) -> UsualFigures:
    """The usual figures of rows in memory.

    Rows of which nothing is known are left out. Labels that are not known count on neither side: none of these figures
    looks at labels rightly not predicted.
    """
    # Imported here: sklearn.metrics imports pandas where it is installed, and `import choral` stays light.
    from sklearn.metrics import f1_score, jaccard_score, precision_recall_fscore_support

    true, pred, weights = _label_matrices(rows)
    options: dict[str, Any] = {"zero_division": 0, "sample_weight": weights}
    if true.shape[1] == 1:  # scikit-learn takes one label for two classes, and has no averages over rows then
        true, pred = (sp.hstack([matrix, sp.csr_matrix(matrix.shape, dtype=np.int8)], "csr") for matrix in (true, pred))
        options["labels"] = [0]
    averages = ("samples", "micro", "macro")
    figures: list[Any] = [float(f1_score(true, pred, average=average, **options)) for average in averages]
    figures += [float(jaccard_score(true, pred, average=average, **options)) for average in averages]
    figures += precision_recall_fscore_support(true, pred, average=None, **options)
    return UsualFigures(*figures)


def _label_matrices(rows: Rows) -> tuple[sp.csr_matrix, sp.csr_matrix, np.ndarray | None]:
    """True and predicted labels as sparse matrices, which scikit-learn would make of them anyway, and weights."""
    true, pred, known = [], [], []
    for block in error_blocks(rows):
        true.append(sp.csr_matrix(block.true, dtype=np.int8))
        pred.append(sp.csr_matrix(predicted_labels(block), dtype=np.int8))
        known.append(np.ones(block.n_rows, dtype=bool) if block.n_observed is None else block.n_observed > 0)
    some, weights = np.concatenate(known), to_host(rows.weights)
    matrices = (sp.vstack(parts, format="csr") for parts in (true, pred))
    y_true, y_pred = (matrix if some.all() else matrix[some] for matrix in matrices)
    return y_true, y_pred, None if weights is None else weights[some]
