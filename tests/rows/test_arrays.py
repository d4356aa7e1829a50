"""Arrays that are not NumPy's: the numbers of NumPy, and the rows stay on their device.

Tensors of torch lie in the memory of the host here, where NumPy reads them; but for the tests of just that they are
treated as if they lay on a device of their own. Arrays of array-api-strict on its "device1" cannot be read by NumPy.
"""

import sys
from functools import partial
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import choral
from choral import ErrorProfile, HammingMeasure, ObservedProfile
from choral import _array_api as arrays
from choral.profiles import totals
from choral.rows import device, door, ranks
from measure_zoo import KINDS

pytest.importorskip("array_api_compat")

LIBRARIES = [
    pytest.param(name, marks=pytest.mark.skipif(find_spec(name) is None, reason=f"{name} is not installed"))
    for name in ("torch", "array_api_strict")
]
every_library = pytest.mark.parametrize("library", LIBRARIES)
N_LABELS = 6
HOST_VIEW = arrays.host_view
DTYPES = ["bool", "uint8", "int8", "int32", "int64", "float32", "float64"]


@pytest.fixture(autouse=True, scope="module")
def small_blocks_on_a_device():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrays, "host_view", lambda array: None)
        patch.setattr(device, "BLOCK_BYTES", 8 * N_LABELS * 7)  # seven rows
        patch.setattr(ranks, "ROWS_PER_SUM", 3)
        yield


def put(library, array):
    """A NumPy array on a device."""
    if library == "torch":
        return pytest.importorskip("torch").asarray(np.array(array))
    strict = pytest.importorskip("array_api_strict")
    return strict.asarray(np.array(array), device=strict.Device("device1"))


def fetch(library, array):
    if library == "torch":
        return array.numpy()
    strict = pytest.importorskip("array_api_strict")
    return np.asarray(array.to_device(strict.Device("CPU_DEVICE")))


def random_pair(seed, kind, dtype="uint8", n_rows=30, n_labels=N_LABELS):
    """True labels, and predictions: hard ones, scores, or hard ones with scores further down."""
    rng = np.random.default_rng(seed)
    y_true = (rng.random((n_rows, n_labels)) < 0.4).astype(dtype)
    hard = (y_true != (rng.random((n_rows, n_labels)) < 0.2)).astype(dtype)
    if kind == "hard":
        return y_true, hard
    scores = rng.random((n_rows, n_labels)) * (rng.random((n_rows, n_labels)) < 0.8)
    if kind == "mixed":
        scores[: n_rows // 2] = hard[: n_rows // 2]
    return y_true, scores.astype(dtype if "float" in dtype else float)


kinds = st.sampled_from(["hard", "scores", "mixed"])


def assert_same_profile(found, expected):
    assert (found.n_rows, found.n_labels, found.is_hard) == (expected.n_rows, expected.n_labels, expected.is_hard)
    assert found.total_weight == pytest.approx(expected.total_weight, rel=1e-14)
    if expected.is_hard and expected.total_weight == expected.n_rows:
        assert found == expected
        assert found.rows_by_errors.dtype == np.int64
    np.testing.assert_allclose(found.error_sums, expected.error_sums, rtol=1e-12, atol=1e-300)


@every_library
@given(
    seed=st.integers(0, 99),
    kind=kinds,
    dtype=st.sampled_from(DTYPES),
    shape=st.tuples(st.integers(1, 25), st.integers(1, 8)),
    weighted=st.sampled_from(["no", "list", "array"]),
)
def test_profiles_are_those_of_numpy(library, seed, kind, dtype, shape, weighted):
    y_true, y_pred = random_pair(seed, kind, dtype, *shape)
    weights = None if weighted == "no" else np.random.default_rng(seed).random(shape[0]).tolist()
    expected = ErrorProfile.from_predictions(y_true, y_pred, weights)
    as_given = put(library, weights) if weighted == "array" else weights
    found = ErrorProfile.from_predictions(put(library, y_true), put(library, y_pred), as_given)
    assert_same_profile(found, expected)


@every_library
@pytest.mark.parametrize("kind", ["hard", "scores", "mixed"])
@pytest.mark.parametrize("name", KINDS)
def test_losses_are_those_of_numpy_for_every_measure(library, name, kind):
    y_true, y_pred = random_pair(1, kind)
    measure = KINDS[name](np.random.default_rng(2), N_LABELS)
    weights = np.random.default_rng(3).random(len(y_true))
    assert_same_loss(library, partial(choral.choquet_loss, measure=measure), y_true, y_pred, weights)


@every_library
@pytest.mark.parametrize("kind", ["hard", "scores", "mixed"])
@pytest.mark.parametrize(
    "loss",
    [
        partial(choral.binomial_loss, k=2),
        partial(choral.polynomial_loss, alpha=2.5),
        choral.hamming_loss,
        choral.subset_loss,
        choral.f_loss,
        partial(choral.f_loss, beta=2),
        choral.jaccard_loss,
        partial(choral.owa_loss, weights=[0.5, 0.2, 0.1, 0.1, 0.1, 0]),
        partial(choral.covering_loss, label_sets=[(0, 1), (2, 3, 5), 4]),
        partial(choral.covering_loss, label_sets=[(0, 1), (1, 2)], weights=[1, 3], normalize=False),
    ],
    ids=lambda loss: loss.func.__name__ if isinstance(loss, partial) else loss.__name__,
)
def test_losses_by_name_are_those_of_numpy(library, loss, kind):
    y_true, y_pred = random_pair(4, kind, "float32")
    y_true[:3] = y_pred[:3] = 0  # rows without a label, for the F measure
    assert_same_loss(library, loss, y_true, y_pred, np.random.default_rng(3).random(len(y_true)))


def assert_same_loss(library, loss, y_true, y_pred, weights):
    true, pred = put(library, y_true), put(library, y_pred)
    for sample_weight in (None, weights):
        expected = loss(y_true, y_pred, sample_weight=sample_weight)
        on_device = None if sample_weight is None else put(library, sample_weight)
        for given_weight in (sample_weight, on_device):
            mean = loss(true, pred, sample_weight=given_weight)
            assert isinstance(mean, float)
            assert mean == pytest.approx(expected, rel=1e-12, abs=1e-15)
    rows = loss(true, pred, reduction="none")
    assert (type(rows), rows.device) == (type(pred), pred.device)
    np.testing.assert_allclose(
        fetch(library, rows), loss(y_true, y_pred, reduction="none"), rtol=1e-12, atol=1e-15, strict=True
    )


@every_library
def test_batches_and_curves_of_arrays(library):
    y_true, y_pred = random_pair(5, "scores")
    streamed = ErrorProfile(N_LABELS)
    for rows in (slice(10), slice(10, None)):
        streamed.update(put(library, y_true[rows]), put(library, y_pred[rows]))
    assert_same_profile(streamed, ErrorProfile.from_predictions(y_true, y_pred))
    curve = choral.loss_curve(put(library, y_true), put(library, y_pred), "polynomial")
    np.testing.assert_allclose(curve.losses, choral.loss_curve(y_true, y_pred, "polynomial").losses, rtol=1e-12)


@every_library
@pytest.mark.parametrize("form", [np.array, sp.csr_array, np.ndarray.tolist], ids=["array", "sparse", "list"])
def test_matrices_of_the_host_go_to_the_device_of_the_other(library, form):
    y_true, y_pred = random_pair(6, "mixed")
    expected = ErrorProfile.from_predictions(y_true, y_pred)
    assert_same_profile(ErrorProfile.from_predictions(form(y_true), put(library, y_pred)), expected)
    assert_same_profile(ErrorProfile.from_predictions(put(library, y_true), form(y_pred)), expected)
    rows = choral.f_loss(form(y_true), put(library, y_pred), reduction="none")
    np.testing.assert_allclose(fetch(library, rows), choral.f_loss(y_true, y_pred, reduction="none"), rtol=1e-12)


# What torch has besides.


@given(
    seed=st.integers(0, 99), kind=kinds, layout=st.sampled_from(["transposed", "every second", "reversed", "one row"])
)
def test_tensors_of_any_layout(seed, kind, layout):
    y_true, y_pred = random_pair(seed, kind)
    tensors = [put("torch", array) for array in (y_true, y_pred)]
    if layout == "transposed":
        tensors = [tensor.T.contiguous().T for tensor in tensors]
    elif layout == "every second":
        tensors = [tensor[::2, 1::2] for tensor in tensors]
    elif layout == "reversed":
        tensors = [tensor.flip(1) for tensor in tensors]
    else:
        tensors = [tensor[:1].expand(20, -1) for tensor in tensors]
    expected = ErrorProfile.from_predictions(*(tensor.numpy() for tensor in tensors))
    assert_same_profile(ErrorProfile.from_predictions(*tensors), expected)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("kind", ["hard", "scores"])
def test_short_floats_are_added_up_in_doubles(dtype, kind):
    torch = pytest.importorskip("torch")
    y_true, y_pred = (put("torch", array).to(getattr(torch, dtype)) for array in random_pair(7, kind, "float32"))
    expected = ErrorProfile.from_predictions(y_true.double().numpy(), y_pred.double().numpy())
    assert_same_profile(ErrorProfile.from_predictions(y_true, y_pred), expected)


def test_gradients_are_left_alone():
    y_true, y_pred = random_pair(8, "scores")
    tensor = put("torch", y_pred).requires_grad_()
    assert_same_profile(
        ErrorProfile.from_predictions(put("torch", y_true), tensor), ErrorProfile.from_predictions(y_true, y_pred)
    )
    rows = choral.hamming_loss(put("torch", y_true), tensor, reduction="none")
    assert not rows.requires_grad
    assert tensor.grad is None


# Nothing but summaries travels.


WAYS_OUT = {
    "__array__",
    "__bool__",
    "__dlpack__",
    "__float__",
    "__index__",
    "__int__",
    "cpu",
    "item",
    "numpy",
    "tolist",
}


def border(sizes):
    """Watches every way from tensors to the host, and keeps the sizes of what goes."""
    torch = pytest.importorskip("torch")

    class Border(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            to_a_device = any(isinstance(arg, str | torch.device) for arg in (*args, *(kwargs or {}).values()))
            if func.__name__ in WAYS_OUT or (func.__name__ == "to" and to_a_device):
                sizes.append(args[0].numel())
            return func(*args, **(kwargs or {}))

    return Border()


def test_only_summaries_of_tensors_travel():
    y_true, y_pred = (put("torch", array) for array in random_pair(9, "mixed", n_rows=70))
    sizes = []
    with border(sizes):
        np.asarray(y_true)
        y_true.to("cpu")
    assert sizes == [420, 420]  # the watch is awake
    sizes.clear()
    with border(sizes):
        ErrorProfile.from_predictions(y_true, y_pred)
    assert max(sizes) == N_LABELS + 1
    assert len(sizes) == 2 * (10 + 2)  # cpu() and numpy() of three flags for each of ten blocks, and of both totals


@pytest.mark.parametrize("name", KINDS)
def test_only_means_of_tensors_travel(name):
    y_true, y_pred = (put("torch", array) for array in random_pair(9, "mixed", n_rows=70))
    sizes = []
    with border(sizes):
        choral.choquet_loss(y_true, y_pred, KINDS[name](np.random.default_rng(0), N_LABELS))
    assert max(sizes) == 3
    assert len(sizes) <= 3 * 10 + 1  # flags, the largest count, and the mean


def test_extra_memory_is_that_of_some_rows():
    torch = pytest.importorskip("torch")
    from torch.utils._python_dispatch import TorchDispatchMode

    tensors = [put("torch", array) for array in random_pair(10, "mixed", n_rows=700)]
    given = {tensor.untyped_storage().data_ptr() for tensor in tensors}
    sizes = []

    class Sizes(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            results = func(*args, **(kwargs or {}))
            for result in results if isinstance(results, tuple) else (results,):
                if isinstance(result, torch.Tensor) and result.untyped_storage().data_ptr() not in given:
                    sizes.append(result.numel())
            return results

    with Sizes():
        ErrorProfile.from_predictions(*tensors)
    assert max(sizes) == 7 * N_LABELS


def test_arrays_that_numpy_cannot_read_stay_where_they_are(monkeypatch):
    y_true, y_pred = (put("array_api_strict", array) for array in random_pair(11, "mixed", n_rows=70))
    with pytest.raises(RuntimeError, match="Can't convert array on the"):
        np.asarray(y_pred)
    sizes = []
    for module in (door, device, totals):
        monkeypatch.setattr(module, "to_host", lambda array: sizes.append(array.size) or arrays.to_host(array))
    ErrorProfile.from_predictions(y_true, y_pred, put("array_api_strict", np.ones(70)))
    assert max(sizes) == N_LABELS + 1
    assert len(sizes) == 10 + 3  # three flags of each block, least weight and sum of weights, and both totals


def test_tensors_of_the_host_are_read_by_numpy_without_a_copy(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(arrays, "host_view", HOST_VIEW)
    y_true, y_pred = random_pair(12, "scores")
    true, pred = put("torch", y_true), put("torch", y_pred).requires_grad_()
    view = arrays.read_in_place(pred)
    assert isinstance(view, np.ndarray)
    assert np.shares_memory(view, pred.detach().numpy())
    assert ErrorProfile.from_predictions(true, pred) == ErrorProfile.from_predictions(y_true, y_pred)  # to the last bit
    rows = choral.hamming_loss(true, pred, sample_weight=torch.ones(30), reduction="none")
    assert isinstance(rows, torch.Tensor)
    assert (rows.numpy() == choral.hamming_loss(y_true, y_pred, reduction="none")).all()
    assert HOST_VIEW(pred.detach().bfloat16()) is None  # numbers that NumPy does not know
    assert HOST_VIEW(torch.empty(2, 3, device="meta")) is None


def test_arrays_of_cupy_do_not_say_what_they_are(monkeypatch):
    """As torch tensors do: they are known by their class. On a GPU itself, test_gpu_arrays.py takes them."""

    class ndarray:
        pass

    class Other:
        pass

    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(ndarray=ndarray))
    assert arrays.is_foreign(ndarray())
    assert not arrays.is_foreign(Other())


def test_arrays_on_another_device_are_not_copied_to_the_host_for_a_view():
    class OnGpu:  # as JAX has them: NumPy may read them, by a copy
        def __dlpack_device__(self):
            return 2, 0

        def __array__(self, dtype=None, copy=None):
            raise AssertionError("copied")

    assert HOST_VIEW(OnGpu()) is None


@every_library
def test_weights_on_a_device_beside_matrices_of_the_host(library):
    y_true, y_pred = random_pair(13, "hard")
    weights = np.arange(1.0, 31)
    expected = choral.f_loss(y_true, y_pred, sample_weight=weights)
    assert choral.f_loss(y_true, y_pred, sample_weight=put(library, weights)) == expected


def test_evaluation_reads_tensors_of_the_host(monkeypatch):
    monkeypatch.setattr(arrays, "host_view", HOST_VIEW)
    y_true, y_pred = random_pair(16, "scores")
    found = choral.evaluate(put("torch", y_true), {"a": put("torch", y_pred)}, n_bootstrap=10)
    expected = choral.evaluate(y_true, {"a": y_pred}, n_bootstrap=10)
    assert found.to_dict() == expected.to_dict()


# Less than 64 bits.


@pytest.mark.parametrize("kind", ["hard", "scores", "mixed"])
def test_a_device_without_doubles_has_seven_digits(kind):
    strict = pytest.importorskip("array_api_strict")
    device = strict.Device("no_float64")
    y_true, y_pred = random_pair(14, kind, "float32")
    true, pred = (strict.asarray(array, device=device) for array in (y_true, y_pred))
    weights = np.random.default_rng(0).random(30)
    for sample_weight in (None, weights):
        found = ErrorProfile.from_predictions(true, pred, sample_weight).error_sums
        np.testing.assert_allclose(found, ErrorProfile.from_predictions(y_true, y_pred, sample_weight).error_sums, 1e-6)
    assert choral.f_loss(y_true, pred) == pytest.approx(choral.f_loss(y_true, y_pred), rel=1e-6)


@every_library
def test_many_weights_keep_their_digits(library, monkeypatch):
    monkeypatch.setattr(device, "BLOCK_BYTES", 1 << 26)
    monkeypatch.setattr(ranks, "ROWS_PER_SUM", 1024)
    y_true = np.zeros((100_000, 1), dtype=bool)
    for y_pred, loss in ((~y_true, 1), (y_true + 0.3, 0.3)):
        profile = ErrorProfile.from_predictions(put(library, y_true), put(library, y_pred), np.full(100_000, 0.1))
        assert profile.loss(choral.SubsetMeasure()) == pytest.approx(loss, rel=1e-13)


# Refusals say what NumPy's do.


def wrong_values(value, kind="hard", dtype="float64"):
    """A pair of matrices with a wrong prediction, and a pair with a wrong label, far down."""
    y_true, y_pred = random_pair(15, kind, dtype)
    bad_true, bad_pred = y_true.astype(dtype), y_pred.astype(dtype)
    bad_true[23, 1] = bad_pred[25, 4] = value
    return [(bad_true, y_pred), (y_true, bad_pred)]


REFUSED = [
    *wrong_values(2, dtype="int64"),
    *wrong_values(-1, dtype="int8"),
    *wrong_values(7, dtype="uint8"),
    *wrong_values(np.nan),
    *wrong_values(np.inf, "scores"),
    *wrong_values(1.5, "scores", "float32"),
    *wrong_values(-0.1, "scores", "float32"),
    (np.ones(3), np.ones(3)),
    (np.ones((2, 3)), np.ones((2, 3, 1))),
    (np.ones((2, 3)), np.ones((3, 2))),
    (np.ones((0, 3)), np.ones((0, 3))),
    (np.ones((2, 0)), np.ones((2, 0))),
]


@every_library
@pytest.mark.parametrize("y_true, y_pred", REFUSED)
def test_values_and_shapes_are_refused_as_numpy_does(library, y_true, y_pred):
    with pytest.raises(ValueError, match="y_") as expected:
        ErrorProfile.from_predictions(y_true, y_pred)
    with pytest.raises(ValueError, match="y_") as found:
        ErrorProfile.from_predictions(put(library, y_true), put(library, y_pred))
    assert str(found.value) == str(expected.value)


def test_a_wrong_bfloat16_is_named():
    torch = pytest.importorskip("torch")
    y_true, y_pred = torch.zeros(2, 3, dtype=torch.bfloat16), torch.zeros(2, 3, dtype=torch.bfloat16)
    y_pred[1, 2] = 1.5
    with pytest.raises(ValueError, match=r"y_pred must lie in \[0, 1\]; y_pred\[1, 2\] is 1.5."):
        choral.hamming_loss(y_true, y_pred)


@every_library
@pytest.mark.parametrize(
    "weights", [[1.0], [[1.0, 2.0]], [1.0, -2.0], [1.0, np.nan], [1.0, np.inf], [0.0, 0.0], [1.0, 1e301], [1.0, 1j]]
)
def test_weights_are_refused_as_numpy_does(library, weights):
    labels, weights = np.ones((2, 3)), np.array(weights)
    with pytest.raises(ValueError, match="sample_weight must") as expected:
        choral.hamming_loss(labels, labels, sample_weight=weights)
    with pytest.raises(ValueError, match="sample_weight must") as found:
        choral.hamming_loss(put(library, labels), put(library, labels), sample_weight=put(library, weights))
    assert str(found.value) == str(expected.value)


@every_library
def test_complex_numbers_are_refused(library):
    labels = np.ones((2, 3))
    with pytest.raises(ValueError, match="y_pred must hold numbers or booleans; got dtype .*complex128"):
        choral.hamming_loss(put(library, labels), put(library, labels.astype(complex)))


def test_two_libraries_are_refused():
    labels = np.ones((2, 3))
    tensor, array = put("torch", labels), put("array_api_strict", labels)
    with pytest.raises(TypeError, match="arrays must come from one library; got array_api_strict and torch."):
        choral.hamming_loss(tensor, array)
    with pytest.raises(TypeError, match="arrays must come from one library; got array_api_strict and torch."):
        choral.hamming_loss(tensor, tensor, sample_weight=put("array_api_strict", np.ones(2)))


@pytest.mark.parametrize("view", [HOST_VIEW, lambda array: None], ids=["read by NumPy", "on a device"])
def test_two_devices_are_refused(monkeypatch, view):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(arrays, "host_view", view)
    with pytest.raises(ValueError, match="y_true and y_pred must be on one device; got cpu and meta."):
        choral.hamming_loss(torch.ones(2, 3), torch.ones(2, 3, device="meta"))


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta")
def test_sparse_tensors_are_refused():
    torch = pytest.importorskip("torch")
    with pytest.raises(ValueError, match="y_pred must be dense; got a tensor of layout torch.sparse_csr."):
        choral.hamming_loss(torch.ones(2, 3), torch.ones(2, 3).to_sparse_csr())


@pytest.mark.parametrize("kind", ["hard", "scores"])
@pytest.mark.parametrize("missing", ["nothing", "nan", "by a mask"])
def test_observed_profiles_take_bfloat16(kind, missing):
    torch = pytest.importorskip("torch")
    y_true, y_pred = (put("torch", array).bfloat16() for array in random_pair(7, kind, "float32"))
    observed = None
    if missing != "nothing":
        known = torch.from_numpy(np.random.default_rng(1).random(tuple(y_true.shape)) < 0.7)
        y_true = torch.where(known, y_true, torch.nan) if missing == "nan" else y_true
        observed = known if missing == "by a mask" else None
    weights = torch.arange(1, len(y_true) + 1).bfloat16()
    for weight in (None, weights):
        as_numpy = [None if array is None else np.asarray(array.double()) for array in (y_true, y_pred, weight)]
        mask = None if observed is None else observed.numpy()
        expected = ObservedProfile.from_predictions(*as_numpy[:2], observed=mask, sample_weight=as_numpy[2])
        found = ObservedProfile.from_predictions(y_true, y_pred, observed=observed, sample_weight=weight)
        assert found.loss(HammingMeasure()) == pytest.approx(expected.loss(HammingMeasure()), rel=1e-12)
        updated = ObservedProfile(found.n_labels).update(y_true, y_pred, observed=observed, sample_weight=weight)
        assert updated.to_dict() == found.to_dict()
