"""All public functions of labels and predictions over all kinds of input: the same numbers, or a clear refusal.

Functions are found by their first two parameters, kinds by the table here: a new one is covered without a new test.
"""

import inspect
import warnings
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

import choral

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

# What public functions need besides labels and predictions; those that are not named here need nothing.
OPTIONS = {
    "choquet_loss": {"measure": choral.PolynomialMeasure(2)},
    "binomial_loss": {"k": 2},
    "polynomial_loss": {"alpha": 2},
    "owa_loss": {"weights": [0.4, 0.3, 0.2, 0.1]},
    "covering_loss": {"label_sets": [(0, 1), (2, 3)]},
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
    return {**found, "make_scorer": score}


def numbers_of(function, options, y_true, y_pred, **data):
    if "observed" in data and "observed" not in inspect.signature(function).parameters:
        pytest.skip("takes nan for missing labels, and no mask")
    result = function(y_true, y_pred, **options, **data)
    return result.losses if isinstance(result, choral.LossCurve) else result


def curve_of_profile(kind, y_true, y_pred, **data):
    if "observed" in data and kind is choral.ErrorProfile:
        pytest.skip("has no mask: see ObservedProfile")
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


def score(y_true, y_pred, **data):
    if "observed" in data:
        pytest.skip("takes nan for missing labels, and no mask")
    return -choral.make_scorer(choral.BinomialMeasure(2))(Repeats(y_pred), None, y_true, **data)


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


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("form", PREDICTIONS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_takes_every_kind(name, kind, form, case):
    if "nan" in case and kind in DTYPES[:6]:
        pytest.skip("has no nan")
    if case == "mask" and kind == "pandas, nullable":
        pytest.skip("its booleans are tested as pandas")
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


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FUNCTIONS)
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
        "must have the index of y_true; its rows are named otherwise": true.rename(index={"A": "x"}),
    }
    for message, wrong in refusals.items():
        with pytest.raises(ValueError, match=message):
            FUNCTIONS[name](true, wrong)
    np.testing.assert_array_equal(FUNCTIONS[name](true, pred.loc[true.index]), FUNCTIONS[name](TRUE, TRUE))
    by_position = pandas.DataFrame(TRUE)  # nobody named its rows and columns
    np.testing.assert_array_equal(FUNCTIONS[name](true, by_position), FUNCTIONS[name](TRUE, TRUE))


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
