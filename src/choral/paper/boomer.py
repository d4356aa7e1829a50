"""BOOMER, gradient boosted rules, as a rival in studies; from the package mlrl-boomer of its authors."""

from typing import Any, Literal

import numpy as np
from sklearn.feature_selection import VarianceThreshold

from choral._optional import require
from choral._typing import Features, LabelArray, LabelMatrix
from choral.learners import MultiLabelClassifier

LOSSES = {"label-wise": "logistic-decomposable", "example-wise": "logistic-non-decomposable"}
ONE_THREAD = dict.fromkeys(("parallel_rule_refinement", "parallel_statistic_update", "parallel_prediction"), "false")


class Boomer(MultiLabelClassifier):
    """Gradient boosted multi-label rules (Rapp, Loza Mencía, Fürnkranz, Nguyen and Hüllermeier 2020).

    With the defaults of its package, but for three things. Features that are constant in training are left out, since
    they keep it from learning any rule at all (seen on genbase, version 0.12). Seeds begin at 0 as elsewhere. It has a
    single thread: it would take all cores, whatever ``OMP_NUM_THREADS`` says, and on a busy machine its threads wait
    for each other (version 0.15 on yeast: six times the CPU time).

    Parameters
    ----------
    loss : {"label-wise", "example-wise"}
        The logistic loss of each label, whose optimum is that of Hamming loss, or of the whole label set.
    random_state : int or None
        The seed of all that is drawn.

    Attributes
    ----------
    features_ : the fitted selection of features that are not constant
    estimator_ : the fitted `mlrl.boosting.BoomerClassifier`

    See Also
    --------
    boosted_trees : Boosted trees for each label.
    choral.learners.BoostedJoint : Boosted trees of all labels at once.

    Examples
    --------
    It needs ``pip install 'choral[boomer]'`` for fitting:

    >>> Boomer("example-wise")
    Boomer(loss='example-wise')
    """

    packages = ("mlrl-boomer",)  # a study tells its version

    features_: VarianceThreshold
    estimator_: Any

    def __init__(self, loss: Literal["label-wise", "example-wise"] = "label-wise", *, random_state: int | None = None):
        self.loss = loss
        self.random_state = random_state

    def fit(self, X: Features, Y: LabelMatrix) -> "Boomer":
        """Learn rules.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the training rows.
        Y : array-like, sparse matrix or frame of shape (n_samples, n_labels)
            Labels of the rows, 0 and 1.
        """
        X, Y = self._check_training(X, Y)
        if self.loss not in LOSSES:
            raise ValueError(f"loss must be one of {', '.join(map(repr, LOSSES))}; got {self.loss!r}.")
        seed = None if self.random_state is None else self.random_state + 1  # it refuses 0
        boosting = require("mlrl.boosting", "boomer")
        self.features_ = VarianceThreshold().fit(X)
        self.estimator_ = boosting.BoomerClassifier(loss=LOSSES[self.loss], random_state=seed, **ONE_THREAD)
        self.estimator_.fit(self._features(X), Y)
        return self

    def predict(self, X: Features) -> LabelArray:
        """The labels it predicts, of shape (n_samples, n_labels).

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the rows.
        """
        labels = self.estimator_.predict(self._features(self._check_features(X)))
        return self._to_target(np.asarray(labels.toarray() if hasattr(labels, "toarray") else labels))

    def _features(self, X: Any) -> Any:
        return self.features_.transform(X).astype(np.float32)  # as it computes
