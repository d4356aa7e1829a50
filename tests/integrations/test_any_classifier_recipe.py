"""The recipe for classifiers of any package runs as it stands on its page."""

import choral
from recipe_pages import run_page


def test_page():
    names = run_page("any_classifier.md")
    Y_new, X_new, k_3 = names["Y_new"], names["X_new"], names["k_3"]
    alone = names["pool"].estimators_[0][1]
    assert choral.choquet_loss(Y_new, names["pool"].predict(X_new, measure=k_3), k_3) < 0.12
    assert [type(one).__name__ for one in alone.estimator_.estimators_] == ["InContext"] * 7
