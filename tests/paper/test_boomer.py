"""BOOMER as a rival in studies."""

from importlib.util import find_spec

import numpy as np
import pytest
import scipy.sparse as sp

from choral import hamming_loss
from choral.paper import Boomer
from choral.study import Plan, StudyData, StudyLearner


def data(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 4)).round(1)
    return X, np.stack([X[:, 0] > 0, X[:, 1] > 0.3, X[:, 0] + X[:, 1] > 0], axis=1).astype(np.uint8)


@pytest.mark.skipif(find_spec("mlrl") is not None, reason="the package is installed")
def test_without_the_package_the_cure_is_named():
    with pytest.raises(ModuleNotFoundError, match=r"pip install mlrl-boomer \(or choral's extra 'boomer'\)"):
        Boomer().fit(*data())


def test_loss_is_checked():
    with pytest.raises(ValueError, match=r"loss must be one of 'label-wise', 'example-wise'; got 'hamming'."):
        Boomer(loss="hamming").fit(*data())


@pytest.mark.parametrize("loss", ["label-wise", "example-wise"])
@pytest.mark.parametrize("sparse", [False, True])
def test_it_learns_with_constant_features_and_any_seed(loss, sparse):
    pytest.importorskip("mlrl.boosting", reason="needs choral[boomer]")
    X, Y = data()
    X = np.hstack([X, np.ones((80, 1)), np.zeros((80, 1))])  # features that keep BOOMER itself from learning
    X = sp.csr_array(X) if sparse else X
    model = Boomer(loss=loss, random_state=0).fit(X, Y)
    predicted = model.predict(X)
    assert predicted.dtype == np.uint8
    assert predicted.shape == Y.shape
    assert hamming_loss(Y, predicted) < 0.05
    np.testing.assert_array_equal(predicted, Boomer(loss=loss, random_state=0).fit(X, Y).predict(X))


def test_it_has_no_probabilities_and_plans_know():
    assert not hasattr(Boomer(), "predict_proba")
    assert not hasattr(Boomer(), "predict_distribution")
    for options, message in (
        ({"threshold": 0.5}, "B has no predict_proba, which scores and thresholds need"),
        ({"each_loss": True}, r"B must have predict_distribution or predict\(X, measure=...\) for each_loss"),
    ):
        with pytest.raises(ValueError, match=message):
            Plan([StudyData("x", data)], [StudyLearner("B", Boomer(), **options)])
