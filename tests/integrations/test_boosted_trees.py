"""The recipe for XGBoost and CatBoost runs as it stands on its page."""

import pytest

from recipe_pages import require, run_page

require("xgboost", "catboost")

pytestmark = pytest.mark.filterwarnings("default")  # what other packages say of each other is not our error


def test_page():
    names = run_page("boosted_trees.md")
    for of_models in names["losses"].values():
        assert of_models["pool"] < min(of_models["xgboost"], of_models["catboost"]) < 0.13


@pytest.mark.parametrize("package", ["xgboost", "catboost"])
def test_without_options_for_several_labels_there_is_a_model_for_each(package):
    import catboost
    import xgboost

    from choral.datasets import load_digits_segments
    from choral.learners import BinaryRelevance, ExpectedLossClassifier

    model = {
        "xgboost": xgboost.XGBClassifier(n_estimators=20),
        "catboost": catboost.CatBoostClassifier(iterations=20, verbose=False, allow_writing_files=False),
    }[package]
    digits = load_digits_segments()
    decided = ExpectedLossClassifier(model).fit(digits.X[:300], digits.Y[:300])
    assert decided.predict(digits.X[300:400]).shape == (100, 7)
    assert isinstance(decided.estimator_, BinaryRelevance) == (package == "catboost")  # XGBoost takes all by itself
