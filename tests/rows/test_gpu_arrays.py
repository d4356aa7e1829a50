"""Arrays of torch, CuPy and JAX on a GPU give the same numbers as NumPy's: ``make gpu`` runs this."""

import numpy as np
import pytest

import choral
from choral import BinomialMeasure, ErrorProfile, LabelDistribution, PolynomialMeasure, RelevanceMeasure

pytest.importorskip("array_api_compat")


def _torch():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("torch finds no GPU")
    return lambda array: torch.from_numpy(np.ascontiguousarray(array)).cuda()


def _cupy():
    cupy = pytest.importorskip("cupy", exc_type=ImportError)
    try:
        cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError:
        pytest.skip("CuPy finds no GPU")
    return cupy.asarray


def _jax():
    jax = pytest.importorskip("jax")
    if jax.default_backend() != "gpu":
        pytest.skip("JAX finds no GPU")
    jax.config.update("jax_enable_x64", True)  # else it has no doubles
    return jax.numpy.asarray


@pytest.fixture(params=[_torch, _cupy, _jax], ids=["torch", "cupy", "jax"])
def to_gpu(request):
    """A function that puts an array of NumPy on a GPU."""
    return request.param()


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    labels, scores = rng.integers(0, 2, (300, 9), dtype=np.uint8), rng.random((300, 9))
    return labels, rng.integers(0, 2, (300, 9), dtype=np.uint8), scores


@pytest.mark.parametrize(
    "measure", [BinomialMeasure(3), PolynomialMeasure(2.5), RelevanceMeasure(BinomialMeasure(2), 0.5)]
)
@pytest.mark.parametrize("kind", ["hard", "soft"])
def test_losses(to_gpu, data, measure, kind):
    y_true, hard, soft = data
    y_pred = hard if kind == "hard" else soft
    expected = choral.choquet_loss(y_true, y_pred, measure)
    assert float(choral.choquet_loss(to_gpu(y_true), to_gpu(y_pred), measure)) == pytest.approx(expected, rel=1e-12)


def test_profiles_and_curves(to_gpu, data):
    y_true, hard, soft = data
    profile = ErrorProfile.from_predictions(to_gpu(y_true), to_gpu(hard))
    np.testing.assert_array_equal(profile.rows_by_errors, ErrorProfile.from_predictions(y_true, hard).rows_by_errors)
    curve = choral.loss_curve(to_gpu(y_true), to_gpu(soft))
    np.testing.assert_allclose(curve.losses, choral.loss_curve(y_true, soft).losses, rtol=1e-12)


def test_missing_labels(to_gpu, data):
    y_true, hard, _ = data
    some = np.where(np.random.default_rng(1).random(y_true.shape) < 0.2, np.nan, y_true)
    curve = choral.loss_curve(to_gpu(some), to_gpu(hard))
    np.testing.assert_allclose(curve.losses, choral.loss_curve(some, hard).losses, rtol=1e-12)


def test_decisions(to_gpu, data):
    labelsets = np.unique(data[0], axis=0)[:50]
    weights = np.random.default_rng(2).dirichlet(np.ones(50), size=3)
    found = choral.bayes_curve(LabelDistribution(to_gpu(labelsets), to_gpu(weights)))
    expected = choral.bayes_curve(LabelDistribution(labelsets, weights))
    np.testing.assert_allclose(np.asarray(found.curve().losses), expected.curve().losses, rtol=1e-12)


def test_values_are_refused(to_gpu, data):
    y_true, _, soft = data
    soft[7, 2] = 1.5
    with pytest.raises(ValueError, match=r"y_pred\[7, 2\] is 1.5"):
        choral.hamming_loss(to_gpu(y_true), to_gpu(soft))
