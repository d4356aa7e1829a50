"""The kernels for GPUs, run by Triton's interpreter on the CPU (on the GPU itself where there is one)."""

import os
from functools import partial

import numpy as np
import pytest

from choral import (
    BinomialMeasure,
    ErrorProfile,
    LabelDistribution,
    PolynomialMeasure,
    SubsetMeasure,
    _array_api,
    bayes_curve,
    bayes_optimal,
)
from choral.decisions import device_arrays, hadamard, transform
from choral.profiles import totals as profile_totals
from choral.rows import gpu
from choral.rows.blocks import RowOptions
from choral.rows.device import DeviceRows
from measure_zoo import KINDS

torch = pytest.importorskip("torch")
tl = pytest.importorskip("triton.language")
pytest.importorskip("torchmetrics")
ordered_losses = pytest.importorskip("choral.rows.gpu.ordered_losses")
rank_sums = pytest.importorskip("choral.rows.gpu.rank_sums").rank_sums
totals = pytest.importorskip("choral.rows.gpu.totals")
leading_losses = pytest.importorskip("choral.rows.gpu.leading_losses")
add_at_places = pytest.importorskip("choral.rows.gpu.places").add_at_places
walsh = pytest.importorskip("choral.rows.gpu.walsh")
walsh_double = pytest.importorskip("choral.rows.gpu.walsh_double")
wrong_labels = pytest.importorskip("choral.rows.gpu.wrong_labels").wrong_labels
ordering = pytest.importorskip("choral.nn.ordering")
metric = pytest.importorskip("choral.nn.metric")

DEVICE = "cuda" if os.environ["TRITON_INTERPRET"] == "0" else "cpu"
pytestmark = pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")  # of masked places
SHAPES = [(1, 1), (7, 5), (3, 33), (5, 100), (2, 600)]


def sizes_and_kinds(sizes, usual):
    """All sizes with all kinds of losses; in the slow interpreter, all sizes with one kind, one size with others.

    A kind changes numbers, never where they lie; what a GPU runs is compiled anew for each size and kind.
    """
    if DEVICE == "cuda":
        return [(size, kind) for size in sizes for kind in ordered_losses.KINDS]
    return [(size, "logistic") for size in sizes] + [(usual, kind) for kind in ("scores", "absolute")]


def labels(rng, shape, dtype=torch.uint8):
    return torch.from_numpy(rng.integers(0, 2, shape)).to(DEVICE, dtype)


def scores(rng, shape, dtype=torch.float64):
    return torch.from_numpy(rng.random(shape)).to(DEVICE, dtype)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def by_kernels(monkeypatch):
    """Send tensors to the kernels wherever they are."""
    for module in (profile_totals, metric, hadamard):
        monkeypatch.setattr(module, "serves", lambda *tensors: True)


@pytest.mark.parametrize("shape", [*SHAPES, (2, 1100), (3, 4)])
@pytest.mark.parametrize("dtypes", [("uint8", "uint8"), ("bool", "int8"), ("int64", "uint8"), ("float32", "float32")])
def test_wrong_labels_are_counted(rng, shape, dtypes):
    y_true, y_pred = (labels(rng, shape, getattr(torch, dtype)) for dtype in dtypes)
    found = wrong_labels(y_true, y_pred)
    expected = (y_true.double() != y_pred.double()).sum(dim=1)
    assert found.strange.tolist() == [0, 0, 0]
    assert found.rows_by_errors.tolist() == torch.bincount(expected, minlength=shape[1] + 1).tolist()


@pytest.mark.parametrize("n_labels", [8, 9])  # words of four labels, single labels
def test_all_labels_wrong_do_not_overflow_a_byte(n_labels):
    n_labels *= 128
    right, wrong = (torch.full((2, n_labels), value, dtype=torch.uint8, device=DEVICE) for value in (1, 0))
    assert wrong_labels(right, wrong).rows_by_errors.tolist() == [0] * n_labels + [2]


@pytest.mark.parametrize("value", [2, 128, 255])
@pytest.mark.parametrize("n_labels", [8, 7])  # words of four labels, single labels
@pytest.mark.parametrize("n_rows", [9, 2000])
def test_bytes_that_are_no_labels_are_counted(rng, n_rows, n_labels, value):
    y_true, y_pred = labels(rng, (n_rows, n_labels)), labels(rng, (n_rows, n_labels))
    y_pred[8, 4:7] = value
    y_pred[n_rows - 1, 0] = value
    assert wrong_labels(y_true, y_pred).strange.tolist() == [0, 4, 1]
    assert wrong_labels(y_pred, y_true).strange.tolist()[:2] == [4, 0]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("cut, logits", [(0.3, False), (0.0, False), (-1.3, True)])
@pytest.mark.parametrize("shape", SHAPES)
def test_scores_are_cut_as_by_torch(rng, shape, dtype, cut, logits):
    y_true, y_pred = labels(rng, shape), scores(rng, shape, getattr(torch, dtype))
    if logits:
        y_pred = 6 * y_pred - 3
    y_pred[0, 0] = cut  # just enough
    cuts = torch.full((1,), cut, dtype=y_pred.dtype, device=DEVICE)
    found = wrong_labels(y_true, y_pred, cuts, logits)
    expected = ((y_pred >= cut) != (y_true == 1)).sum(dim=1)
    assert found.rows_by_errors.tolist() == torch.bincount(expected, minlength=shape[1] + 1).tolist()
    assert found.strange.tolist() == [0, 0, 0]
    y_pred[0, 0], y_true[-1, -1] = torch.nan, 3
    assert wrong_labels(y_true, y_pred, cuts, logits).strange.tolist() == [1, 1, 0]
    y_pred[0, 0] = 1.5
    assert wrong_labels(y_true, y_pred, cuts, logits).strange.tolist() == [1, 0 if logits else 1, 0]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("weighted", [False, True])
def test_rank_sums(rng, shape, dtype, weighted):
    y_true, y_pred = labels(rng, shape), scores(rng, shape, getattr(torch, dtype))
    weights = scores(rng, shape[0]) if weighted else None
    sums, strange = rank_sums(y_true, y_pred, weights)
    errors = (y_true.double() - y_pred.double()).abs().sort(dim=1, descending=True).values
    expected = ((1 if weights is None else weights[:, None]) * errors).sum(dim=0)
    tolerance = 1e-7 if dtype == "float32" else 1e-13
    np.testing.assert_allclose(sums.cpu(), expected.cpu(), rtol=tolerance, atol=tolerance)
    assert strange.tolist() == [0, 0]


@pytest.mark.parametrize(
    "lay",
    [
        lambda rows: rows.T.contiguous().T,
        lambda rows: torch.cat([rows[:1, :1].flatten(), rows.flatten()])[1:].view(5, 8),
    ],
    ids=["transposed", "one past a word"],
)
def test_rows_lie_in_memory_as_they_like(rng, lay):
    y_true, hard, soft = labels(rng, (5, 8)), labels(rng, (5, 8)), scores(rng, (5, 8))
    cumulative = torch.from_numpy(BinomialMeasure(2).deficits(8)).to(DEVICE)
    for function, y_pred in (
        (lambda y, s: wrong_labels(y, s).found, hard),
        (lambda y, s: rank_sums(y, s, None).sums, soft),
        (lambda y, s: ordered_losses.ordered_losses(s, y, cumulative, "scores"), soft),
    ):
        assert torch.equal(function(lay(y_true), lay(y_pred)), function(y_true, y_pred))


def test_weights_need_not_lie_side_by_side(rng):
    y_true, y_pred, weights = labels(rng, (4, 6)), scores(rng, (4, 6)), scores(rng, 8)
    for some in (weights[::2], weights[:1].expand(4)):
        np.testing.assert_array_equal(*(rank_sums(y_true, y_pred, w).sums.cpu() for w in (some, some.clone())))


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), float("inf")])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rank_sums_refuse_what_no_score_is(rng, value, dtype):
    y_true, y_pred = labels(rng, (4, 6)), scores(rng, (4, 6), getattr(torch, dtype))
    y_pred[3, 5] = y_pred[0, 0] = value
    assert rank_sums(y_true, y_pred, None).strange.tolist() == [0, 2]
    y_pred[3, 5] = y_pred[0, 0] = 0.5
    assert rank_sums(y_true.double() * 0.5, y_pred, None).strange.tolist() == [y_true.count_nonzero().item(), 0]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rank_sums_of_logits(rng, shape, dtype):
    y_true, logits = labels(rng, shape), 60 * scores(rng, shape, getattr(torch, dtype)) - 30
    logits[0, 0] = torch.inf
    sums, strange = rank_sums(y_true, logits, None, True)
    errors = (y_true.double() - logits.double().sigmoid()).abs().sort(dim=1, descending=True).values
    tolerance = 1e-6 if dtype == "float32" else 1e-13
    np.testing.assert_allclose(sums.cpu(), errors.sum(dim=0).cpu(), rtol=tolerance, atol=1e-15)
    assert strange.tolist() == [0, 0]
    logits[-1, -1] = torch.nan
    assert rank_sums(y_true, logits, None, True).strange.tolist() == [0, 1]


@pytest.mark.parametrize("shape, kind", sizes_and_kinds(SHAPES, (5, 100)))
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("measure", [BinomialMeasure(1), PolynomialMeasure(2.5), SubsetMeasure()])
def test_losses_and_gradients_are_those_of_plain_torch(rng, shape, kind, tied, measure):
    target, values = labels(rng, shape), scores(rng, shape)
    if tied:
        values = (values * 4).round() / 4
    values = values if kind == "scores" else 20 * values - 10
    cumulative = torch.from_numpy(measure.deficits(shape[1])).to(DEVICE)
    found = []
    for losses in (ordered_losses.ordered_losses, ordering.plain_ordered_losses):
        leaf = values.clone().requires_grad_()
        rows = losses(leaf, target, cumulative, kind)
        (rows * torch.arange(1, shape[0] + 1, device=DEVICE)).sum().backward()
        found.append((rows.detach().cpu(), leaf.grad.cpu()))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-10, atol=1e-13)


def round_to_ties(values, tied):
    """Few values, so that some labels tie; one value; or all but few labels tie where the weight ends."""
    if tied == "some":
        return (values * 16).round() / 16
    if tied == "all":
        return torch.full_like(values, 0.25)
    if tied == "below":
        return torch.where(values > 0.8, values, 0.25)
    return values


@pytest.mark.parametrize("n_labels, kind", sizes_and_kinds([33, 100, 600], 100))
@pytest.mark.parametrize("tied", ["nowhere", "some", "below", "all"])
@pytest.mark.parametrize("share", [2, 1])  # k is half of the labels, or all
def test_losses_of_the_largest_errors_are_those_of_plain_torch(rng, n_labels, kind, tied, share):
    target, values = labels(rng, (5, n_labels)), round_to_ties(scores(rng, (5, n_labels), torch.float32), tied)
    values = values if kind == "scores" else 20 * values - 10
    deficits = BinomialMeasure(n_labels // share).deficits(n_labels)
    n_weighing = ordering.count_weighing(deficits)
    assert leading_losses.serves_losses(values, n_weighing)
    cumulative, found = torch.from_numpy(deficits).to(DEVICE), []
    for losses in (partial(leading_losses.leading_losses, n_weighing=n_weighing), ordering.plain_ordered_losses):
        leaf = values.clone().requires_grad_()
        rows = losses(leaf, target, cumulative, kind)
        (rows * torch.arange(1, 6, device=DEVICE)).sum().backward()
        found.append((rows.detach().cpu(), leaf.grad.cpu()))
    torch.testing.assert_close(found[0][0], found[1][0], rtol=3e-6, atol=1e-6)
    torch.testing.assert_close(found[0][1], found[1][1], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_losses_of_the_largest_errors_in_half_precision(rng, dtype):
    target, values = labels(rng, (6, 80), torch.bool), scores(rng, (6, 80), getattr(torch, dtype)) * 6 - 3
    deficits = BinomialMeasure(40).deficits(80)
    cumulative, n_weighing = torch.from_numpy(deficits).to(DEVICE), ordering.count_weighing(deficits)
    leaf, plain = values.clone().requires_grad_(), values.clone().requires_grad_()
    rows = leading_losses.leading_losses(leaf, target, cumulative, "logistic", n_weighing)
    expected = ordering.plain_ordered_losses(plain, target, cumulative, "logistic")
    rows.sum().backward()
    expected.sum().backward()
    assert leaf.grad.dtype == values.dtype
    torch.testing.assert_close(rows, expected, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(leaf.grad, plain.grad, rtol=1e-2, atol=1e-6)


def test_losses_of_the_largest_errors_of_no_rows_and_of_nan(rng):
    target, values = labels(rng, (3, 40)), scores(rng, (3, 40), torch.float32)
    cumulative = torch.from_numpy(SubsetMeasure().deficits(40)).to(DEVICE)
    assert leading_losses.leading_losses(values[:0], target[:0], cumulative, "scores", 1).shape == (0,)
    values[1, 7] = torch.nan
    values[2, 39] = -torch.nan
    values.requires_grad_()
    rows = leading_losses.leading_losses(values, target, cumulative, "absolute", 1)
    assert rows.isnan().tolist() == [False, True, True]
    rows[0].backward()  # of other rows nothing is asked
    assert values.grad[0].isfinite().all()
    assert values.grad[0].count_nonzero() == 1


def test_a_row_of_more_nan_than_there_is_room_for_gives_other_labels_no_gradient(rng):
    target, values = labels(rng, (1, 80)), scores(rng, (1, 80), torch.float32)
    values[0, :40] = torch.nan
    values.requires_grad_()
    cumulative = torch.from_numpy(SubsetMeasure().deficits(80)).to(DEVICE)
    assert leading_losses.leading_losses(values, target, cumulative, "logistic", 1).isnan().all()
    leading_losses.leading_losses(values, target, cumulative, "logistic", 1).sum().backward()
    assert values.grad[0, :40].isnan().all()
    assert values.grad[0, 40:].count_nonzero() == 0


def test_losses_are_left_to_a_whole_sort_where_many_errors_weigh(rng):
    half = scores(rng, (2, 40), torch.float32)
    assert not leading_losses.serves_losses(half, 32)
    assert not leading_losses.serves_losses(half.double(), 5)
    assert not leading_losses.serves_losses(half[:, :32], 5)
    assert leading_losses.serves_losses(half, 31)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_losses_in_lower_precision(rng, dtype):
    target, values = labels(rng, (6, 20), torch.bool), scores(rng, (6, 20), getattr(torch, dtype)) * 6 - 3
    cumulative = torch.from_numpy(BinomialMeasure(3).deficits(20)).to(DEVICE)
    leaf, plain = values.clone().requires_grad_(), values.clone().requires_grad_()
    rows = ordered_losses.ordered_losses(leaf, target, cumulative, "logistic")
    expected = ordering.plain_ordered_losses(plain, target, cumulative, "logistic")
    rows.sum().backward()
    expected.sum().backward()
    assert rows.dtype == torch.float32
    assert leaf.grad.dtype == values.dtype
    torch.testing.assert_close(rows, expected, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(leaf.grad, plain.grad, rtol=1e-2 if dtype != "float32" else 1e-4, atol=1e-6)


def losses_and_gradients(values, target, measure, kind):
    """By the kernels, and by plain torch."""
    cumulative = torch.from_numpy(measure.deficits(values.shape[1])).to(DEVICE)
    found = []
    for losses in (ordered_losses.ordered_losses, ordering.plain_ordered_losses):
        leaf = values.clone().requires_grad_()
        rows = losses(leaf, target, cumulative, kind)
        (rows * torch.arange(1, len(rows) + 1, device=DEVICE)).sum().backward()
        found.append((rows.detach(), leaf.grad))
    return found


def close_together(values):
    """Numbers that differ in their last digits alone."""
    last = torch.tensor(torch.finfo(values.dtype).eps, dtype=values.dtype, device=DEVICE)
    return 1 + (values * 2000).round() * last


@pytest.mark.parametrize("n_labels", [100, 128, 129, 600])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "lay",
    [
        close_together,
        lambda values: torch.where(values > 0.9, close_together(values), values),
        lambda values: torch.where(values > 0.99, 1e30, values),
        lambda values: torch.where(values > 0.95, torch.inf, torch.where(values < 0.05, -torch.inf, values)),
        lambda values: torch.where(values > 0.3, 0.0, values),
    ],
    ids=["close together", "some close together", "some far out", "some infinite", "one value and others"],
)
def test_margins_are_told_apart_to_the_last_bit(rng, lay, dtype, n_labels):
    target, values = labels(rng, (2, n_labels)), lay(scores(rng, (2, n_labels), getattr(torch, dtype)))
    (rows, gradients), (expected, slopes) = losses_and_gradients(values, target, PolynomialMeasure(2.5), "absolute")
    tolerance = 2e-6 if dtype == "float32" else 1e-10
    torch.testing.assert_close(rows, expected, rtol=tolerance, atol=0)
    torch.testing.assert_close(gradients, slopes, rtol=tolerance, atol=1e-30)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float64"])
@pytest.mark.parametrize("n_labels", [65, 256, 257, 1024])  # from 257 on, a run may be longer than 16 bits can tell
@pytest.mark.parametrize("n_runs", [1, 3])
def test_long_runs_of_equal_margins_share_the_mean_of_their_weights(rng, n_runs, n_labels, dtype):
    values = torch.from_numpy(rng.integers(0, n_runs, (2, n_labels))).to(DEVICE, getattr(torch, dtype))
    values[1, 7] = 9  # a row without it is all one run
    target = torch.zeros(2, n_labels, dtype=torch.uint8, device=DEVICE)
    (rows, gradients), (expected, slopes) = losses_and_gradients(values, target, BinomialMeasure(2), "logistic")
    tolerance = {"float32": 2e-6, "bfloat16": 1e-2, "float64": 1e-10}[dtype]
    torch.testing.assert_close(rows, expected, rtol=min(tolerance, 2e-6), atol=0)
    torch.testing.assert_close(gradients, slopes, rtol=tolerance, atol=0)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("kind", ordered_losses.KINDS)
@pytest.mark.parametrize("n_labels", [100, 600])
def test_half_precision_ranks_as_plain_torch(rng, n_labels, kind, dtype):
    target, values = labels(rng, (2, n_labels)), scores(rng, (2, n_labels), getattr(torch, dtype))
    values = values if kind == "scores" else 8 * values - 4
    (rows, gradients), (expected, slopes) = losses_and_gradients(values, target, BinomialMeasure(3), kind)
    torch.testing.assert_close(rows, expected, rtol=2e-6, atol=0)
    torch.testing.assert_close(gradients, slopes, rtol=1e-2, atol=1e-7)


@pytest.mark.parametrize("n_labels", [5, 300])
def test_gradients_are_nan_only_where_values_are(rng, n_labels):
    target, values = labels(rng, (2, n_labels)), scores(rng, (2, n_labels), torch.float32)
    values[0, 3], values[1, 0], values[1, 4] = torch.nan, -torch.nan, torch.nan
    (rows, gradients), _ = losses_and_gradients(values, target, BinomialMeasure(2), "logistic")
    assert rows.isnan().all()
    assert torch.equal(gradients.isnan(), values.isnan())


def test_sixteen_bits_a_label_are_kept_for_the_backward_pass(rng):
    values, target = scores(rng, (5, 100), torch.float32), labels(rng, (5, 100))
    cumulative = torch.from_numpy(BinomialMeasure(2).deficits(100)).to(DEVICE)
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: kept.append(tensor) or tensor, lambda tensor: tensor):
        ordered_losses.ordered_losses(values.requires_grad_(), target, cumulative, "logistic")
    own = [tensor for tensor in kept if tensor.data_ptr() not in (values.data_ptr(), target.data_ptr())]
    assert sum(tensor.nbytes for tensor in own) == 2 * values.numel() + cumulative.nbytes


def test_losses_of_no_rows_and_of_margins_far_out():
    cumulative = torch.from_numpy(BinomialMeasure(2).deficits(3)).to(DEVICE)
    empty = torch.zeros(0, 3, device=DEVICE, requires_grad=True)
    ordered_losses.ordered_losses(empty, torch.zeros(0, 3, device=DEVICE), cumulative, "logistic").sum().backward()
    assert empty.grad.shape == (0, 3)
    far = torch.tensor([[-1e4, 1e4, -40.0]], device=DEVICE, dtype=torch.float64)
    rows = ordered_losses.ordered_losses(far, torch.tensor([[0, 1, 0]], device=DEVICE), cumulative, "logistic")
    np.testing.assert_allclose(rows.cpu(), [np.exp(-40) * cumulative[1].item()], rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n_labels", [4, 5])  # rows that are full, rows that are filled up
@pytest.mark.parametrize("kind", ordered_losses.KINDS)
def test_nan_of_either_sign_stays_in_its_row(rng, kind, n_labels, dtype):
    values, target = scores(rng, (4, n_labels), getattr(torch, dtype)), labels(rng, (4, n_labels))
    values[1, 2], values[3, 0] = torch.nan, -torch.nan
    target[1, 2] = target[3, 0] = 1
    cumulative = torch.from_numpy(BinomialMeasure(2).deficits(n_labels)).to(DEVICE)
    for truth in (target, 1 - target):
        losses = ordered_losses.ordered_losses(values, truth, cumulative, kind)
        assert losses.isnan().tolist() == [False, True, False, True]


def test_fused_losses_compile_into_one_graph(rng):
    target, values = labels(rng, (3, 6)), scores(rng, (3, 6))
    cumulative = torch.from_numpy(BinomialMeasure(2).deficits(6)).to(DEVICE)

    def loss(values):
        return ordered_losses.ordered_losses(values, target, cumulative, "absolute").mean()

    compiled, eager = values.clone().requires_grad_(), values.clone().requires_grad_()
    torch.compile(loss, fullgraph=True, backend="aot_eager")(compiled).backward()
    loss(eager).backward()
    torch.testing.assert_close(compiled.grad, eager.grad)


@pytest.mark.parametrize("n_labels", [14, 16])
def test_hadamard_transform(rng, monkeypatch, by_kernels, n_labels):
    if DEVICE == "cpu":
        monkeypatch.setattr(walsh, "PART", tl.float32)  # the interpreter multiplies bfloat16 by its bits
    table = scores(rng, (2, 1 << n_labels), torch.float32)
    found = hadamard.hadamard_transform(table).cpu().numpy()
    expected = hadamard.hadamard_transform(table.double().cpu().numpy())
    assert np.linalg.norm(found - expected) < 2e-7 * np.linalg.norm(expected)


@pytest.mark.parametrize("n_labels", [10, 11, 13, 17])
def test_hadamard_transform_of_doubles(rng, by_kernels, n_labels):
    table = scores(rng, (2, 1 << n_labels))
    expected = hadamard.hadamard_transform(table.cpu().numpy())
    np.testing.assert_allclose(hadamard.hadamard_transform(table).cpu(), expected, rtol=0, atol=1e-15 * 2**n_labels)


def least_by_looking(risks, tolerance):
    """The least key near the least risk of each row, from all keys, and that risk."""
    keys = transform.AllSets(risks.shape[-1].bit_length() - 1, np.ones(1)).keys
    least = risks.min(axis=-1)
    near = risks <= least[..., None] + tolerance
    return np.where(near, keys, np.iinfo(keys.dtype).max).min(axis=-1), least


@pytest.mark.parametrize("n_labels", [10, 13, 16])  # one tile a row, some, and more than one program looks at
def test_least_keys_are_those_of_numbers_within_the_tolerance(rng, n_labels):
    table = scores(rng, (3, 1 << n_labels))
    table[1] = (table[1] * 4).round()  # many are least, in all tiles
    table[2, [5, 7 << n_labels - 3, -3]] = torch.tensor([-1e-4, -5e-4, 0.0]).to(table)  # the first and the last tile
    found, least = walsh_double.least_keys(table, 1e-3)
    expected, expected_least = least_by_looking(table.cpu().numpy(), 1e-3)
    assert found.tolist() == expected.tolist()
    assert least.tolist() == expected_least.tolist()


@pytest.mark.parametrize("n_labels, labels_a_pass", [(10, 7), (12, 7), (12, 1)])  # no pass after the first, one, two
@pytest.mark.parametrize("at_once", [1, 2, 5])
def test_least_keys_of_products(rng, monkeypatch, n_labels, labels_a_pass, at_once):
    """Some products at a time, and the last ones may be fewer."""
    table, factors = scores(rng, (2, 1 << n_labels)), scores(rng, (5, n_labels + 1)) - 0.5
    monkeypatch.setattr(walsh_double, "LABELS_A_PASS", labels_a_pass)
    monkeypatch.setattr(walsh_double, "NUMBERS_AT_ONCE", at_once * table.numel() + 1)
    sizes = np.array([number.bit_count() for number in range(1 << n_labels)])
    products = hadamard.hadamard_transform(table.cpu().numpy() * factors.cpu().numpy()[:, sizes][:, None, :])
    found, least = walsh_double.least_keys_of_products(table, factors, 1e-9)
    expected, expected_least = least_by_looking(products, 1e-9)
    np.testing.assert_allclose(least.cpu(), expected_least, rtol=0, atol=1e-15 * 2**n_labels)
    np.testing.assert_array_equal(found.cpu(), expected)


@pytest.mark.parametrize("n_labels", [10, 13])
def test_keys_of_ties_are_compared_across_tiles(n_labels):
    """The transform of a constant is 0 but for the empty set, which gets all: the other sets tie, in all tiles."""
    table = torch.full((2, 1 << n_labels), 2.0**-n_labels, dtype=torch.float64, device=DEVICE)
    table[1] *= -1
    factors = torch.ones(1, n_labels + 1, dtype=torch.float64, device=DEVICE)
    keys, least = walsh_double.least_keys_of_products(table, factors, 1e-12)
    assert least.tolist() == [[0, -1]]
    only_first_label = (1 << n_labels) + (1 << n_labels - 1) - 1  # one label; all bits but that of the first
    no_label = (1 << n_labels) - 1
    assert keys.tolist() == [[only_first_label, no_label]]


def test_numbers_are_written_at_places(rng):
    values, places = scores(rng, (3, 50)), torch.from_numpy(rng.permutation(200)[:50]).to(DEVICE)
    values[:, 40:], places[40:] = 0, places[:10]  # of several at one place all but the first are 0
    expected = device_arrays.place_columns(values.cpu().numpy(), places.cpu().numpy(), 200)
    assert add_at_places(values, places, 200).tolist() == expected.tolist()


@pytest.fixture
def decides_by_kernels(monkeypatch):
    """Tensors stay tensors, as on a device, and decisions about them come from the kernels."""
    if DEVICE == "cpu":
        monkeypatch.setattr(_array_api, "host_view", lambda array: None)
    for module in (hadamard, transform, device_arrays):
        monkeypatch.setattr(module, "serves", lambda *arrays: not isinstance(arrays[0], np.ndarray))


@pytest.mark.parametrize("n_instances", [1, 3])
@pytest.mark.parametrize("n_labels", [10, 12])
def test_decisions_along_a_curve_come_from_the_kernels(rng, monkeypatch, decides_by_kernels, n_labels, n_instances):
    labelsets = rng.integers(0, 2, (30, n_labels), dtype=np.uint8)
    weights = rng.dirichlet(np.ones(30), n_instances)
    monkeypatch.setattr(walsh_double, "NUMBERS_AT_ONCE", 4 * n_instances << n_labels)  # of four measures
    expected = bayes_curve(LabelDistribution(labelsets, weights), method="transform")
    tensors = torch.from_numpy(labelsets).to(DEVICE), torch.from_numpy(weights).to(DEVICE)
    found = bayes_curve(LabelDistribution(*tensors), method="transform")
    np.testing.assert_array_equal(found.labels.cpu(), expected.labels)
    np.testing.assert_array_equal(found.exact.cpu(), expected.exact)
    np.testing.assert_allclose(found.risk.cpu(), expected.risk, rtol=1e-13)
    np.testing.assert_allclose(found.lower_bound.cpu(), expected.lower_bound, rtol=0, atol=1e-13)


@pytest.mark.parametrize("kind", KINDS)
def test_decisions_under_all_measures_come_from_the_kernels(rng, decides_by_kernels, kind):
    """From samples, of which some come twice in one instance and not in the other."""
    measure, samples = KINDS[kind](rng, 10), rng.integers(0, 2, (2, 12, 10), dtype=np.uint8)
    samples[1, 3:] = samples[1, 0]
    expected = bayes_optimal(LabelDistribution.from_samples(samples), measure, method="transform")
    tensors = LabelDistribution.from_samples(torch.from_numpy(samples).to(DEVICE))
    found = bayes_optimal(tensors, measure, method="transform")
    np.testing.assert_array_equal(found.labels.cpu(), expected.labels)
    np.testing.assert_allclose(found.risk.cpu(), expected.risk, rtol=0, atol=1e-13)


@pytest.mark.parametrize("n_labels", [8, 33])
def test_profiles_come_from_the_kernels(rng, by_kernels, monkeypatch, n_labels):
    pytest.importorskip("array_api_compat")
    y_true, hard, soft = labels(rng, (6, n_labels)), labels(rng, (6, n_labels)), scores(rng, (6, n_labels))
    found = []
    by = profile_totals._by_kernels
    monkeypatch.setattr(profile_totals, "_by_kernels", lambda rows: found.append(by(rows)) or found[-1])
    mixed = soft.clone()
    mixed[0] = hard[0]
    for y_pred, weights in ((hard, None), (hard.double(), None), (soft, None), (mixed, None), (soft, scores(rng, 6))):
        by_observed = profile_totals.total_errors(
            DeviceRows(y_true, y_pred, None, weights, RowOptions(allow_missing=False))
        )
        assert found[-1] is by_observed
        totals_found = by_observed[n_labels]
        expected = ErrorProfile.from_predictions(
            *(part.cpu().numpy() for part in (y_true, y_pred)), None if weights is None else weights.cpu().numpy()
        )
        if totals_found.is_hard:
            assert totals_found.histogram.tolist() == np.trim_zeros(expected.rows_by_errors, "b").tolist()
        else:
            np.testing.assert_allclose(totals_found.error_sums, np.trim_zeros(expected.error_sums, "b"), rtol=1e-12)


def test_what_kernels_do_not_serve_is_left_to_others(rng):
    y_true, hard, soft = labels(rng, (4, 6)), labels(rng, (4, 6)), scores(rng, (4, 6))
    assert totals.gpu_totals(y_true, hard, scores(rng, 4)) is None  # weights of labels
    assert totals.gpu_totals(y_true, 2 * soft, None) is None
    assert totals.gpu_totals(y_true, 2 * hard, None) is None
    assert totals.gpu_totals(labels(rng, (2, 1025)), scores(rng, (2, 1025)), None) is None
    assert not gpu.serves(np.ones(2))
    assert not gpu.serves(torch.ones(2))


def test_kernels_are_launched_where_the_tensors_lie(rng, monkeypatch):
    """Triton launches them on torch's current device, which need not be that of the tensors."""
    y_true, y_pred, table = labels(rng, (4, 6)), scores(rng, (4, 6)).requires_grad_(), scores(rng, 1 << 14).float()
    cumulative = torch.from_numpy(BinomialMeasure(2).deficits(6)).to(DEVICE)
    places, device_of = [], torch.cuda.device_of
    monkeypatch.setattr(torch.cuda, "device_of", lambda tensor: places.append(tensor.shape) or device_of(tensor))
    wrong_labels(y_true, y_true)
    rank_sums(y_true, y_pred.detach(), None)
    ordered_losses.ordered_losses(y_pred, y_true, cumulative, "scores").sum().backward()
    if DEVICE == "cpu":
        monkeypatch.setattr(walsh, "PART", tl.float32)
    walsh.hadamard_transform(table)
    of_sets = table[None, : 1 << 11].double()
    walsh_double.transform_doubles(of_sets)
    walsh_double.least_keys(of_sets, 0.0)
    walsh_double.least_keys_of_products(of_sets, scores(rng, (1, 12)), 0.0)
    assert places == [*4 * [(4, 6)], (1 << 14,), *3 * [(1, 1 << 11)]]


@pytest.mark.parametrize("threshold", [0.3, None])
@pytest.mark.parametrize("kind", ["labels", "scores", "logits"])
def test_metrics_come_from_the_kernels(rng, monkeypatch, threshold, kind):
    truth = labels(rng, (50, 7), torch.float32 if kind == "scores" else torch.bool)
    preds = {
        "labels": labels(rng, (50, 7), torch.bool),
        "scores": scores(rng, (50, 7)),
        "logits": 8 * scores(rng, (50, 7)) - 4,
    }[kind]
    found = []
    for by_kernels in (True, False):
        monkeypatch.setattr(metric, "serves", lambda *tensors, answer=by_kernels: answer)
        curve = metric.DependenceCurve(7, threshold=threshold, logits=kind == "logits").to(DEVICE)
        for rows in (slice(20), slice(20, 20), slice(20, 50)):
            curve.update(preds[rows], truth[rows])
        found.append(curve.compute()[1].cpu())
        curve.update(torch.full_like(preds.double(), torch.nan), 3 * truth.double())
        with pytest.raises(ValueError, match=f"target must be binary, 0 or 1; {int(truth.sum())} of its values"):
            curve.compute()
        found.append(curve.invalid_preds.item())
    torch.testing.assert_close(found[0], found[2], rtol=1e-13, atol=0)
    assert found[1] == found[3] == 350


@pytest.mark.skipif(DEVICE == "cpu", reason="only a GPU can be waited for")
@pytest.mark.filterwarnings("ignore:Synchronization debug mode is a prototype:UserWarning")
@pytest.mark.parametrize("threshold", [0.5, None])
def test_the_host_never_waits_in_update_and_nothing_as_large_as_the_batch_is_made(rng, threshold):
    truth, chances = labels(rng, (100_000, 50)), scores(rng, (100_000, 50), torch.float32)
    curve = metric.DependenceCurve(50, threshold=threshold).to(DEVICE)
    curve.update(chances, truth)  # kernels are compiled
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    torch.cuda.set_sync_debug_mode("error")
    try:
        curve.update(chances, truth)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert torch.cuda.max_memory_allocated() - before < 0.1 * (chances.nbytes + truth.nbytes)
