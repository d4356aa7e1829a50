"""Rivals that a user would take at once, in studies: logistic regressions and boosted trees, a model for each label.

Both are the same with every seed, so a study runs them once.
"""

from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

from choral.learners import BinaryRelevance
from choral.paper.any_model import FeatureScaler
from choral.rows.blocks import as_dense


def logistic_regressions() -> Pipeline:
    """A logistic regression for each label, of scaled features, with the defaults of scikit-learn.

    Returns
    -------
    pipeline : Pipeline
        Not fitted yet.

    See Also
    --------
    boosted_trees : Boosted trees for each label.
    choral.learners.LogisticJoint : Sparse regressions, and frequencies of label sets.

    Examples
    --------
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]] * 5, [[0, 1], [0, 1], [1, 0], [1, 0]] * 5
    >>> logistic_regressions().fit(X, Y).predict([[0.2], [2.9]]).tolist()
    [[0, 1], [1, 0]]
    """
    return make_pipeline(
        FeatureScaler(), BinaryRelevance(LogisticRegression(max_iter=1000, random_state=0), random_state=0)
    )


def boosted_trees() -> Pipeline:
    """Boosted trees for each label, with the defaults of scikit-learn; sparse features, which it refuses, become dense.

    Returns
    -------
    pipeline : Pipeline
        Not fitted yet.

    See Also
    --------
    logistic_regressions : A logistic regression for each label.
    choral.learners.BoostedJoint : Boosted trees of all labels at once.

    Examples
    --------
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]] * 20, [[0, 1], [0, 1], [1, 0], [1, 0]] * 20
    >>> boosted_trees().fit(X, Y).predict([[0.2], [2.9]]).tolist()
    [[0, 1], [1, 0]]
    """
    dense = FunctionTransformer(as_dense, accept_sparse=True)
    return make_pipeline(dense, BinaryRelevance(HistGradientBoostingClassifier(random_state=0), random_state=0))
