"""All public functions of labels and predictions over all kinds of input: the same numbers, or a clear refusal.

Functions are found by their first two parameters, kinds by the table here: a new one is covered without a new test.
"""

import inspect
import os
import warnings
from functools import partial
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

import choral
from choral.rows import blocks, device

N_ROWS, N_LABELS = 12, 4
RNG = np.random.default_rng(0)
TRUE = RNG.integers(2, size=(N_ROWS, N_LABELS))
PREDICTIONS = {
    "hard": np.where(RNG.random((N_ROWS, N_LABELS)) < 0.3, 1 - TRUE, TRUE),
    "scores": RNG.integers(0, 9, size=(N_ROWS, N_LABELS)) / 8,
}
WEIGHTS = RNG.integers(1, 9, size=N_ROWS) / 8
KNOWN = RNG.random((N_ROWS, N_LABELS)) < 0.7
KNOWN[0] = False  # nothing is known of this row
KNOWN[5:] = True  # and all of these

# What public functions need besides labels and predictions; those that are not named here need nothing.
OPTIONS = {
    "choquet_loss": {"measure": choral.PolynomialMeasure(2)},
    "binomial_loss": {"k": 2},
    "polynomial_loss": {"alpha": 2},
    "owa_loss": {"weights": [0.4, 0.3, 0.2, 0.1]},
    "covering_loss": {"label_sets": [(0, 1), (2, 3)]},
    "loss_shares": {"measure": choral.PolynomialMeasure(2)},
}
REFUSE_MISSING = {"covering_loss", "owa_loss", "ErrorProfile"}  # their measure does not live on fewer labels


def functions():
    """All public functions and classes that take true labels and predictions, as functions that return numbers."""
    found = {}
    for name in choral.__all__:
        value = getattr(choral, name)
        if inspect.isclass(value) and hasattr(value, "from_predictions"):
            found[name] = partial(curve_of_profile, value)
        elif inspect.isfunction(value):
            first_two = list(inspect.signature(value).parameters)[:2]
            if first_two == ["y_true", "y_pred"]:
                found[name] = partial(numbers_of, value, OPTIONS.get(name, {}))
            elif first_two == ["y_true", "predictions"]:
                found[name] = partial(curves_of_models, value)
    return {**found, "make_scorer": score, "make_scorer, predict_proba": partial(score, response="predict_proba")}


def numbers_of(function, options, y_true, y_pred, **data):
    result = function(y_true, y_pred, **options, **data)
    if isinstance(result, choral.Explanation):
        parts = result.shares, result.error_rates, result.along.shares, result.pairs.correlations
        # The order of labels in the matrix of correlations is that of their shares, which may be equal.
        return np.concatenate([*map(np.ravel, parts[:3]), np.sort(parts[3], axis=None)])
    return result.losses if isinstance(result, choral.LossCurve) else result


def curve_of_profile(kind, y_true, y_pred, **data):
    return kind.from_predictions(y_true, y_pred, **data).losses("binomial")


def curves_of_models(function, y_true, y_pred, **data):
    evaluation = function(y_true, {"a": y_pred, "b": y_pred}, n_bootstrap=3, **data)
    return np.array([curve.losses for curve in evaluation.curves.values()])


class Repeats:
    """An estimator that predicts what it was given."""

    def __init__(self, y_pred):
        self.y_pred = y_pred

    def predict(self, X):
        return self.y_pred

    predict_proba = predict


def score(y_true, y_pred, response="predict", **data):
    return -choral.make_scorer(choral.BinomialMeasure(2), response)(Repeats(y_pred), None, y_true, **data)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """A few rows a block: what is known in one block may be missing in the next."""
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 5 * N_LABELS * 8)
    monkeypatch.setattr(device, "BLOCK_BYTES", 5 * N_LABELS * 8)


FUNCTIONS = functions()
DTYPES = ["bool", "int8", "uint8", "int32", "int64", "uint64", "float16", "float32", "float64", "longdouble", "object"]


def as_dtype(dtype, array):
    is_fractional = array.dtype.kind == "f" and not np.isin(array, (0, 1)).all()
    return array if is_fractional and np.dtype(dtype).kind in "bui" else array.astype(dtype)


def as_frame(kind, array):
    frames = pytest.importorskip(kind)
    names = [f"label {i}" for i in range(array.shape[1])]
    return frames.DataFrame(dict(zip(names, array.T, strict=True)))


def as_nullable_frame(array):
    pandas = pytest.importorskip("pandas")
    whole = np.isin(array, (0, 1)) | np.isnan(array.astype(float))
    return as_frame("pandas", array).astype(pandas.Int8Dtype() if whole.all() else pandas.Float64Dtype())


def as_tensor(array):
    return pytest.importorskip("torch").tensor(array)


def as_strict(device, array):
    pytest.importorskip("array_api_compat")
    xp = pytest.importorskip("array_api_strict")
    return xp.asarray(array, device=xp.Device(device))


def as_dask(array):
    return pytest.importorskip("dask.array").from_array(array, chunks=(5,) + (-1,) * (array.ndim - 1))


KINDS = {
    "lists": lambda array: array.tolist(),
    "Fortran order": np.asfortranarray,
    "strided": lambda array: np.repeat(array, 2, axis=1)[:, ::2] if array.ndim == 2 else array,
    **{dtype: partial(as_dtype, dtype) for dtype in DTYPES},
    **{kind.__name__: kind for kind in (sp.csr_matrix, sp.csr_array, sp.csc_array, sp.coo_array, sp.lil_matrix)},
    "pandas": partial(as_frame, "pandas"),
    "pandas, nullable": as_nullable_frame,
    "polars": partial(as_frame, "polars"),
    "torch": as_tensor,
    "array API": partial(as_strict, "CPU_DEVICE"),
    "array API, another device": partial(as_strict, "device1"),
    "dask": as_dask,
}
CASES = ["plain", "weights", "nan", "mask", "nan and weights"]
VECTORS = ("torch", "dask")  # of which weights come as well


def make_case(case, form, convert, kind):
    y_true, y_pred, data = TRUE, PREDICTIONS[form], {}
    if "weights" in case:
        data["sample_weight"] = convert(WEIGHTS) if kind in VECTORS else WEIGHTS
    if "nan" in case:
        y_true = np.where(KNOWN, TRUE, np.nan)
    if case == "mask":
        data["observed"] = convert(KNOWN) if kind not in ("object", *DTYPES[1:]) else KNOWN
    return convert(y_true), convert(y_pred), data


AMBIGUOUS = {("make_scorer, predict_proba", "lists")}  # of predict_proba a list is one array for each label
TAKE_A_MASK = {"evaluate", "explain", "loss_curve", "ObservedProfile"}  # the others take nan for missing labels


def cases():
    """All that there is to test: integers have no nan, and nullable booleans are tested as pandas' others are."""
    for name, kind, form, case in product(FUNCTIONS, KINDS, PREDICTIONS, CASES):
        no_nan = "nan" in case and kind in DTYPES[:6]
        no_mask = case == "mask" and (name not in TAKE_A_MASK or kind == "pandas, nullable")
        if not no_nan and not no_mask and (name, kind) not in AMBIGUOUS:
            yield pytest.param(name, kind, form, case, id=f"{name}-{kind}-{form}-{case}")


EVERY = max(1, 60 // int(os.environ.get("CHORAL_EXAMPLES", "60")))  # where CI repeats all tests, some must do


@pytest.mark.parametrize("name, kind, form, case", list(cases())[::EVERY])
def test_every_function_takes_every_kind(name, kind, form, case):
    function = FUNCTIONS[name]
    if case in ("nan", "mask", "nan and weights") and name in REFUSE_MISSING:
        with pytest.raises(
            ValueError, match=r"nan, a missing label|only counting measures can judge|is made for 4 labels"
        ):
            function(*make_case(case, form, KINDS[kind], kind)[:2], **make_case(case, form, KINDS[kind], kind)[2])
        return
    y_true, y_pred, data = make_case(case, form, np.asarray, "float64")
    expected = function(y_true, y_pred, **data)
    y_true, y_pred, data = make_case(case, form, KINDS[kind], kind)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(function(y_true, y_pred, **data), expected, rtol=1e-12)


@pytest.mark.parametrize("name, kind", sorted(set(product(FUNCTIONS, KINDS)) - AMBIGUOUS))
def test_labels_of_one_kind_beside_predictions_of_another(name, kind):
    expected = FUNCTIONS[name](TRUE, PREDICTIONS["hard"])
    convert = KINDS[kind]
    for pair in ((convert(TRUE), PREDICTIONS["hard"]), (TRUE, convert(PREDICTIONS["hard"]))):
        np.testing.assert_allclose(FUNCTIONS[name](*pair), expected, rtol=1e-12)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_frames_in_another_order_are_refused(name):
    pandas = pytest.importorskip("pandas")
    true = pandas.DataFrame(TRUE, columns=list("abcd"), index=list("ABCDEFGHIJKL"))
    pred = true.sample(frac=1, random_state=0)
    refusals = {
        r"has the rows of y_true in another order, by its index; .*\.loc\[y_true.index\]": pred,
        r"must have the columns of y_true in the same order; .*\[y_true.columns\] puts them so": true[list("bacd")],
        "must have the columns of y_true; column 1 is 'x', that of y_true 'b'": true.rename(columns={"b": "x"}),
        "must have the index of y_true; its index has other values": true.rename(index={"A": "x"}),
    }
    for message, wrong in refusals.items():
        with pytest.raises(ValueError, match=message):
            FUNCTIONS[name](true, wrong)
    np.testing.assert_array_equal(FUNCTIONS[name](true, pred.loc[true.index]), FUNCTIONS[name](TRUE, TRUE))
    by_position = pandas.DataFrame(TRUE)  # nobody named its rows and columns
    np.testing.assert_array_equal(FUNCTIONS[name](true, by_position), FUNCTIONS[name](TRUE, TRUE))


def test_frames_are_matched_by_what_their_index_holds():
    pandas = pytest.importorskip("pandas")
    loss, guess = choral.hamming_loss, PREDICTIONS["hard"][:3]
    expected = loss(TRUE[:3], guess)

    def framed(labels, index):
        return pandas.DataFrame(labels, index=index)

    for index in ([np.nan, 1, 2], [None, "a", "b"], pandas.to_datetime(["2026-01-01", None, "2026-01-03"]), [0, 0, 1]):
        assert loss(framed(TRUE[:3], index), framed(guess, index)) == expected
    assert loss(framed(TRUE[:3], [7, 5, 9]), framed(guess, [0, 1, 2])) == expected  # the second has no names
    with pytest.raises(ValueError, match="must have the index of y_true; its index has other values"):
        loss(framed(TRUE[:3], [0, 0, 1]), framed(guess, [0, 1, 1]))
    with pytest.raises(ValueError, match="sample_weight has the rows of y_true in another order"):
        loss(framed(TRUE[:3], [7, 5, 9]), guess, sample_weight=pandas.Series([1.0, 2, 3], index=[5, 7, 9]))
    twice = pandas.DataFrame(TRUE[:3, :3], columns=list("aab"))
    with pytest.raises(ValueError, match="must have the columns of y_true; column 1 is 'b', that of y_true 'a'"):
        loss(twice, pandas.DataFrame(guess[:, :3], columns=list("aba")))


def test_text_in_a_frame_is_no_number():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match=r"y_true must hold numbers or booleans; y_true\[0, 0\] is '1'"):
        choral.hamming_loss(pandas.DataFrame({"a": ["1", "0"]}), [[1], [1]])
    with pytest.raises(ValueError, match=r"y_true\[0, 0\] must be a number below 1.8e\+308; it is larger"):
        choral.hamming_loss([[10**400, 0]], [[1, 1]])


def test_a_mask_of_nullable_booleans():
    pandas = pytest.importorskip("pandas")
    mask = pandas.DataFrame(KNOWN).astype("boolean")
    found = choral.loss_curve(TRUE, PREDICTIONS["hard"], observed=mask)
    assert found == choral.loss_curve(TRUE, PREDICTIONS["hard"], observed=KNOWN)
    with pytest.raises(ValueError, match="observed must hold booleans, True where a label is known; got dtype float64"):
        choral.loss_curve(TRUE, PREDICTIONS["hard"], observed=mask.mask(mask))


def test_what_lies_beside_dask_arrays_comes_in_by_the_same_door():
    da, pandas = pytest.importorskip("dask.array"), pytest.importorskip("pandas")
    pred = da.from_array(PREDICTIONS["hard"], chunks=5)
    with pytest.raises(ValueError, match="y_true must not be masked"):
        choral.hamming_loss(np.ma.masked_equal(TRUE, 1), pred)
    frame = pandas.DataFrame(TRUE, index=list("ABCDEFGHIJKL"))
    with pytest.raises(ValueError, match="sample_weight has the rows of y_true in another order"):
        choral.hamming_loss(frame, pred, sample_weight=pandas.Series(WEIGHTS, index=list("LKJIHGFEDCBA")))
    with pytest.raises(ValueError, match=r"rows differ in length .*MultiLabelBinarizer"):
        choral.hamming_loss([[1], [0, 1]], pred[:2])
    delayed = pytest.importorskip("dask").delayed(TRUE)
    unknown = da.from_delayed(delayed, (N_ROWS, np.nan), int)
    with pytest.raises(ValueError, match=r"known number of labels; compute_chunk_sizes\(\) finds it"):
        choral.loss_curve(unknown, unknown)
    with pytest.raises(TypeError, match="all predictions must be dask arrays, or none"):
        choral.evaluate(TRUE, {"a": pred, "b": TRUE})


@pytest.mark.parametrize(
    "tags",
    [
        [["sea"], ["sea", "sky"]],
        [["sea", "sky"], ["sky", "sun"]],
        [{"sea"}, {"sea", "sky"}],
        [(0,), (0, 2)],
    ],
)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_lists_of_tags_are_told_what_to_do(name, tags):
    with pytest.raises(ValueError, match=r"y_true must .*sklearn.preprocessing.MultiLabelBinarizer"):
        FUNCTIONS[name](tags, np.zeros((2, 4)))
