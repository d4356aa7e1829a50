"""RAkEL: label powersets on small random sets of labels, which vote."""

from math import comb, inf
from typing import Any, Literal

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from choral._typing import Features, LabelMatrix, RandomState
from choral._validation import check_count
from choral.learners.base import MetaClassifier, fit_models, seeded_clones
from choral.learners.label_powerset import LabelPowerset


class RandomKLabelsets(MetaClassifier):
    """Label powersets on random sets of k labels; the votes cast on a label decide it (Tsoumakas et al. 2011).

    Parameters
    ----------
    estimator : classifier, optional
        The base classifier of the label powersets; `PrunedTreeClassifier` unless given. It gets the features as they
        come, frames included.
    k : int
        Labels in a set; all labels where there are fewer.
    m : int or float, optional
        The number of sets; a float is a multiple of the number of labels, 2.0 by default, or all sets of k labels if
        these are fewer. With ``disjoint``, as many as it takes unless given. No set is drawn twice unless m is a whole
        number that exceeds the number of sets there are.
    disjoint : bool
        Whether to part the labels into sets (RAkELd) instead of drawing sets that may overlap (RAkELo).
    vote : {"majority", "any"}
        Whether a label needs more than half of the votes cast on it, or a single one (which is what the published study
        did by accident). A label in no set is never predicted.
    n_jobs : int, optional
        Fits at a time, as in joblib.
    random_state : int, RandomState or None
        The seed of all that is drawn.

    Attributes
    ----------
    label_subsets_ : list of ndarray
    estimators_ : list of LabelPowerset

    See Also
    --------
    LabelPowerset : One classifier of label sets.
    choral.paper.PublishedRAkEL : RAkEL as it was published.

    Examples
    --------
    >>> from choral.learners import RandomKLabelsets
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]], [[0, 1, 0], [0, 1, 0], [1, 0, 0], [1, 0, 1]]
    >>> RandomKLabelsets(k=2, random_state=0).fit(X, Y).predict([[0.2], [2.9]]).shape
    (2, 3)
    """

    label_subsets_: list[np.ndarray]
    estimators_: list[LabelPowerset]

    def __init__(
        self,
        estimator: Any = None,
        *,
        k: int = 3,
        m: int | float | None = None,
        disjoint: bool = False,
        vote: Literal["majority", "any"] = "majority",
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ):
        self.estimator = estimator
        self.k = k
        self.m = m
        self.disjoint = disjoint
        self.vote = vote
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Features, Y: LabelMatrix) -> "RandomKLabelsets":
        """Fit a label powerset on each set of labels.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the training rows.
        Y : array-like, sparse matrix or frame of shape (n_samples, n_labels)
            Labels of the rows, 0 and 1.
        """
        X, Y = self._check_training(X, Y)
        if self.vote not in ("majority", "any"):
            raise ValueError(f"vote must be 'majority' or 'any'; got {self.vote!r}.")
        # The seed of a set is that of its first label: sets of one label are binary relevance, one of all a powerset.
        copies = seeded_clones(self.estimator, self.n_labels_, self.random_state)
        self.label_subsets_ = self._draw_subsets(check_random_state(self.random_state))
        self.estimators_, which = [], []
        for labels in self.label_subsets_:
            model = LabelPowerset(copies[labels[0]])
            model._check_training(X, Y[:, labels])
            which.append(model._find_labelsets(Y[:, labels]))
            self.estimators_.append(model)
        inner = fit_models(
            [clone(model.estimator, safe=False) for model in self.estimators_], X, which, n_jobs=self.n_jobs
        )
        for model, fitted in zip(self.estimators_, inner, strict=True):
            model.estimator_ = fitted
        return self

    def _draw_subsets(self, rng: np.random.RandomState) -> list[np.ndarray]:
        n_labels, k = self.n_labels_, min(check_count("k", self.k), self.n_labels_)
        if self.disjoint:
            m = None if self.m is None else self._n_subsets(k)
            shuffled = rng.permutation(n_labels)
            return [np.sort(shuffled[first : first + k]) for first in range(0, n_labels, k)][:m]
        m, n_subsets = self._n_subsets(k), comb(n_labels, k)
        drawn: list[np.ndarray] = []
        seen: set[bytes] = set()
        while len(drawn) < m:
            labels = np.sort(rng.choice(n_labels, size=k, replace=False))
            if m > n_subsets or labels.tobytes() not in seen:  # again only if more are asked for than there are
                seen.add(labels.tobytes())
                drawn.append(labels)
        return drawn

    def _n_subsets(self, k: int) -> int:
        """How many sets of k labels to draw."""
        m = 2.0 if self.m is None else self.m
        if not isinstance(m, float):
            return check_count("m", m)
        if not 0 < m < inf:
            raise ValueError(f"m must be positive and finite; got {m}.")
        return max(1, min(round(m * self.n_labels_), comb(self.n_labels_, k)))

    def _votes(self, X: Features) -> tuple[np.ndarray, np.ndarray]:
        """Votes for each label of each row, and how many are cast on each label."""
        votes = np.zeros((_num_samples(X), self.n_labels_))
        cast = np.zeros(self.n_labels_)
        for model, labels in zip(self.estimators_, self.label_subsets_, strict=True):
            votes[:, labels] += model.predict(X)
            cast[labels] += 1
        return votes, cast

    def predict(self, X: Features) -> np.ndarray:
        """The labels that have the votes, of shape (n_samples, n_labels).

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the rows.
        """
        votes, cast = self._votes(self._check_features(X))
        return self._to_target(votes > (0 if self.vote == "any" else cast / 2))

    def predict_proba(self, X: Features) -> np.ndarray:
        """The share of the votes cast on each label, of shape (n_samples, n_labels); 0 where none are.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the rows.
        """
        votes, cast = self._votes(self._check_features(X))
        return votes / np.maximum(cast, 1)
