"""The usual figures beside the curve, by scikit-learn's counts and conventions: F1, Jaccard, precision and recall."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from choral._array_api import to_host
from choral._typing import FloatArray
from choral.explanation.error_blocks import error_blocks
from choral.explanation.label_sets import predicted_labels
from choral.rows import Rows
from choral.rows.dense import count_rows

CONVENTIONS = (
    "F1, Jaccard, precision and recall are those of scikit-learn, of labels with a score of at least 0.5. 0 / 0 counts "
    "as 0 (zero_division=0): a row without any true or predicted label has an F1 of 0, where choral.f_loss takes it "
    "for right."
)


class UsualFigures(NamedTuple):
    """Figures that readers ask for first, all the higher the better.

    Parameters
    ----------
    f1_samples, f1_micro, f1_macro : float
        F1 of rows, of all labels of all rows, and of labels, averaged.
    jaccard_samples, jaccard_micro, jaccard_macro : float
        Jaccard index, likewise.
    precision, recall, f1 : ndarray of shape (n_labels,)
        Of each label.
    support : ndarray of shape (n_labels,)
        In how many rows (or what weight of them) each label is true.

    See Also
    --------
    choral.explain : Which labels, pairs and rows the loss comes from.
    sklearn.metrics.classification_report : The same figures of each label, as text.

    Examples
    --------
    >>> from choral import explain
    >>> figures = explain([[1, 1], [0, 1]], [[1, 0], [0, 1]]).figures
    >>> figures.recall, round(figures.f1_micro, 2)
    (array([1. , 0.5]), 0.8)
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

    scikit-learn counts what is right, missed and extra, once for labels and once for rows; all figures are made of
    these counts. Its functions for single figures would count anew each time.
    """
    # Imported here: sklearn.metrics imports pandas where it is installed, and `import choral` stays light.
    from sklearn.metrics import multilabel_confusion_matrix

    true, pred, weights = _label_matrices(rows)
    if rows.n_labels == 1:  # scikit-learn takes one label for two classes: a second one is never true or predicted
        true, pred = (sp.hstack([matrix, sp.csr_matrix(matrix.shape, dtype=np.int8)], "csr") for matrix in (true, pred))
    of_labels = _Counts.from_tables(multilabel_confusion_matrix(true, pred, sample_weight=weights)[: rows.n_labels])
    of_rows = _Counts.from_tables(multilabel_confusion_matrix(true, pred, samplewise=True))
    together = _Counts(*(part.sum() for part in of_labels))
    return UsualFigures(
        float(np.average(of_rows.f1(), weights=weights)),
        float(together.f1()),
        float(of_labels.f1().mean()),
        float(np.average(of_rows.jaccard(), weights=weights)),
        float(together.jaccard()),
        float(of_labels.jaccard().mean()),
        _ratio(of_labels.right, of_labels.right + of_labels.extra),
        _ratio(of_labels.right, of_labels.right + of_labels.missed),
        of_labels.f1(),
        of_labels.right + of_labels.missed,
    )


class _Counts(NamedTuple):
    """True and predicted labels, true ones that were missed, and predicted ones that are not true."""

    right: np.ndarray
    missed: np.ndarray
    extra: np.ndarray

    @classmethod
    def from_tables(cls, tables: np.ndarray) -> "_Counts":
        """From scikit-learn's tables: whether it is true, then whether it is predicted."""
        return cls(tables[:, 1, 1], tables[:, 1, 0], tables[:, 0, 1])

    def f1(self) -> FloatArray:
        return _ratio(2 * self.right, 2 * self.right + self.missed + self.extra)

    def jaccard(self) -> FloatArray:
        return _ratio(self.right, self.right + self.missed + self.extra)


def _ratio(above: np.ndarray, below: np.ndarray) -> FloatArray:
    """0 / 0 is 0."""
    return np.divide(above, below, out=np.zeros(np.shape(below)), where=np.asarray(below) > 0)


def _label_matrices(rows: Rows) -> tuple[sp.csr_matrix, sp.csr_matrix, np.ndarray | None]:
    """True and predicted labels as sparse matrices, which scikit-learn would make of them anyway, and weights."""
    true, pred, known = [], [], []
    for block in error_blocks(rows):
        true.append(_as_sparse(block.true))
        pred.append(_as_sparse(predicted_labels(block)))
        known.append(np.ones(block.n_rows, dtype=bool) if block.n_observed is None else block.n_observed > 0)
    some, weights = np.concatenate(known), to_host(rows.weights)
    matrices = (sp.vstack(parts, format="csr") for parts in (true, pred))
    y_true, y_pred = (matrix if some.all() else matrix[some] for matrix in matrices)
    return y_true, y_pred, None if weights is None else weights[some]


def _as_sparse(labels: Any) -> sp.csr_matrix:
    """Labels as a sparse matrix, by their places in the flat one: a third of the time that SciPy takes."""
    if sp.issparse(labels):
        return sp.csr_matrix(labels, dtype=np.int8)
    flags = np.ascontiguousarray(labels, dtype=bool)
    columns = (np.flatnonzero(flags) % flags.shape[1]).astype(np.int32)
    starts = np.concatenate([[0], np.cumsum(count_rows(flags))])
    return sp.csr_matrix((np.ones(columns.size, dtype=np.int8), columns, starts), shape=flags.shape)
