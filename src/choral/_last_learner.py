"""The learner at the end of a scikit-learn Pipeline, or inside a search: it knows more methods than they hand on."""

import inspect
from typing import Any

from choral._typing import Features


def last_learner(estimator: Any) -> Any:
    """The learner itself, fitted or not.

    Examples
    --------
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> search = GridSearchCV(make_pipeline(StandardScaler(), RidgeClassifier()), {"ridgeclassifier__alpha": [1, 10]})
    >>> last_learner(search)
    RidgeClassifier()
    """
    while (inner := _inside(estimator)) is not None:
        estimator = inner
    return estimator


def reach_learner(estimator: Any, X: Features) -> tuple[Any, Features]:
    """The fitted learner, and the features as it gets them: transformed by the steps of a Pipeline before it."""
    while (inner := _inside(estimator)) is not None:
        if _is_pipeline(estimator) and len(estimator) > 1:
            X = estimator[:-1].transform(X)
        estimator = inner
    return estimator, X


def takes_measure(learner: Any) -> bool:
    """Whether a learner decides for the loss it is asked for: ``predict(X, measure=...)``."""
    try:
        return "measure" in inspect.signature(learner.predict).parameters
    except (AttributeError, ValueError):  # no predict, or a compiled function without a signature
        return False


def _inside(estimator: Any) -> Any:
    """What a Pipeline ends in, a search has found (or begins with), or is frozen; None for other estimators."""
    from sklearn.frozen import FrozenEstimator  # not before it is asked for: choral stays light

    if _is_pipeline(estimator):
        return estimator[-1]
    if isinstance(estimator, FrozenEstimator):
        return estimator.estimator
    if hasattr(estimator, "best_estimator_"):
        return estimator.best_estimator_
    return estimator.estimator if hasattr(estimator, "_run_search") else None  # a search that is not fitted yet


def _is_pipeline(estimator: Any) -> bool:
    from sklearn.pipeline import Pipeline

    return isinstance(estimator, Pipeline)
