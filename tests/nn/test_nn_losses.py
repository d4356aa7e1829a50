"""Losses on tensors: the numbers of NumPy, gradients that are right, on logits, in any precision, compiled."""

import copy
import pickle
import re
import sys
from functools import partial
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import choral
from choral import (
    AdditiveMeasure,
    AtLeastMeasure,
    BinomialMeasure,
    Capacity,
    CountingMeasure,
    CoveringMeasure,
    HammingMeasure,
    MoebiusMeasure,
    PolynomialMeasure,
    RelevanceMeasure,
    SubsetMeasure,
)
from definitions import capacity_values
from measure_zoo import KINDS

torch = pytest.importorskip("torch")
pytest.importorskip("torchmetrics")

from choral.nn import ChoquetLoss, functional  # noqa: E402
from choral.nn.row_losses import tables_of  # noqa: E402

takes_measures = pytest.mark.skipif(
    torch.__version__ < (2, 13), reason="older versions of torch take no measure into a compiled graph"
)

CONVEX = [
    HammingMeasure(),
    SubsetMeasure(),
    BinomialMeasure(3),
    PolynomialMeasure(2.5),
    CoveringMeasure([(0, 1), (1, 2, 3)]),
]
ONE_OF_EACH_KIND = [
    BinomialMeasure(2),
    AdditiveMeasure([0.1, 0.2, 0.3, 0.4]),
    CoveringMeasure([(0, 1), (1, 2), (0, 1, 3)]),
    Capacity(capacity_values(np.random.default_rng(0), 4)),
    RelevanceMeasure(BinomialMeasure(2), 0.5),
    RelevanceMeasure(CoveringMeasure([(0,), (1, 2), (0, 1, 3)]), 0.5),
    RelevanceMeasure(Capacity.from_measure(CoveringMeasure([(0, 1), (1, 2), (0, 1, 3)]), 4), 0.5),
]
by_repr = pytest.mark.parametrize("measure", ONE_OF_EACH_KIND, ids=repr)


def scores_and_labels(rng, n_rows, n_labels):
    """Scores with many ties, and hard ones, with rows of no and of all relevant labels."""
    preds, target = rng.integers(6, size=(n_rows, n_labels)) / 5, rng.integers(2, size=(n_rows, n_labels))
    preds[0], target[0], target[1] = preds[0].round(), 1, 0
    return torch.tensor(preds), torch.tensor(target)


def logits_and_labels(n_rows=5, n_labels=4, dtype=torch.float64, seed=0):
    rng = np.random.default_rng(seed)
    logits = torch.tensor(3 * rng.standard_normal((n_rows, n_labels)), dtype=dtype, requires_grad=True)
    return logits, torch.tensor(rng.integers(2, size=(n_rows, n_labels)))


def compiled(function):
    torch._dynamo.reset()
    return torch.compile(function, fullgraph=True, backend="aot_eager")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_labels", [1, 2, 7])
def test_losses_are_those_of_numpy(kind, n_labels):
    rng = np.random.default_rng(n_labels)
    for _ in range(3):
        measure = KINDS[kind](rng, n_labels)
        preds, target = scores_and_labels(rng, 20, n_labels)
        losses = functional.choquet_loss(preds, target, measure, reduction="none")
        expected = choral.choquet_loss(target.numpy(), preds.numpy(), measure, reduction="none")
        np.testing.assert_allclose(losses.numpy(), expected, rtol=0, atol=1e-12)


def test_families_and_weights_are_those_of_numpy():
    preds, target = scores_and_labels(np.random.default_rng(0), 20, 5)
    weights = [0.1, 0.4, 0.0, 0.3, 0.2]
    pairs = [
        (functional.binomial_loss, choral.binomial_loss, 3),
        (functional.polynomial_loss, choral.polynomial_loss, 2),
        (functional.polynomial_loss, choral.polynomial_loss, np.inf),
        (functional.owa_loss, choral.owa_loss, weights),
        (functional.owa_loss, choral.owa_loss, np.array(weights)),
    ]
    for of_tensors, of_arrays, parameter in pairs:
        loss = of_tensors(preds, target, parameter)
        assert loss.item() == pytest.approx(of_arrays(target.numpy(), preds.numpy(), parameter), abs=1e-12)


def test_a_thousand_labels_keep_twelve_digits():
    rng = np.random.default_rng(0)
    _, target = scores_and_labels(rng, 10, 1000)
    preds = torch.tensor(rng.random((10, 1000)))  # close to each other, but no ties
    for measure in (BinomialMeasure(500), PolynomialMeasure(1000), AtLeastMeasure(990)):
        loss = functional.choquet_loss(preds, target, measure)
        assert loss.item() == pytest.approx(choral.choquet_loss(target.numpy(), preds.numpy(), measure), abs=1e-12)


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int64, torch.float32])
def test_true_labels_have_any_dtype(dtype):
    preds, target = scores_and_labels(np.random.default_rng(0), 5, 4)
    for measure in ONE_OF_EACH_KIND:
        expected = functional.choquet_loss(preds, target, measure)
        assert functional.choquet_loss(preds, target.to(dtype), measure) == expected


@by_repr
def test_reductions(measure):
    preds, target = scores_and_labels(np.random.default_rng(0), 5, 4)
    losses = functional.choquet_loss(preds, target, measure, reduction="none")
    assert losses.shape == (5,)
    assert torch.equal(functional.choquet_loss(preds, target, measure, reduction="sum"), losses.sum())
    assert torch.equal(functional.choquet_loss(preds, target, measure), losses.mean())


@by_repr
def test_an_empty_batch_has_the_losses_of_torch(measure):
    logits, target = torch.empty(0, 4, requires_grad=True), torch.empty(0, 4)
    assert ChoquetLoss(measure, reduction="none")(logits, target).shape == (0,)
    assert ChoquetLoss(measure)(logits, target).isnan()  # as of torch's own
    ChoquetLoss(measure, reduction="sum")(logits, target).backward()
    assert logits.grad.shape == (0, 4)


def test_logistic_losses_in_order_weigh_as_the_measure_says():
    logits, target = logits_and_labels()
    errors = torch.nn.functional.binary_cross_entropy_with_logits(logits, target.double(), reduction="none")
    for measure in (BinomialMeasure(3), AtLeastMeasure(2), CountingMeasure([0, 0.1, 0.5, 0.9, 1])):
        expected = (errors.sort(dim=1, descending=True).values * torch.tensor(measure.weights(4))).sum(dim=1)
        torch.testing.assert_close(ChoquetLoss(measure, reduction="none")(logits, target), expected)


def test_logistic_losses_keep_their_digits_far_out():
    margins = torch.tensor([[-30.0], [-1.0], [19.9], [20.1], [30.0]], dtype=torch.float64)
    losses = ChoquetLoss(HammingMeasure(), reduction="none")(margins, torch.zeros(5, 1))
    np.testing.assert_allclose(losses, np.logaddexp(0, margins[:, 0].numpy()), rtol=1e-14)


def test_logistic_hamming_is_binary_cross_entropy():
    logits, target = logits_and_labels()
    expected = torch.nn.functional.binary_cross_entropy_with_logits(logits, target.double())
    torch.testing.assert_close(ChoquetLoss(HammingMeasure())(logits, target), expected)


def test_other_measures_put_logistic_losses_together_by_the_dual():
    logits, target = logits_and_labels()
    errors = torch.nn.functional.binary_cross_entropy_with_logits(logits, target.double(), reduction="none")
    for measure in ONE_OF_EACH_KIND[:4]:
        dual = Capacity(1 - Capacity.from_measure(measure, 4).values[::-1])
        expected = choral.choquet_integral(errors.detach().numpy(), dual)
        losses = ChoquetLoss(measure, reduction="none")(logits, target)
        np.testing.assert_allclose(losses.detach().numpy(), expected, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_the_absolute_surrogate_is_the_loss_of_the_scores(kind):
    measure = KINDS[kind](np.random.default_rng(0), 4)
    logits, target = logits_and_labels()
    expected = functional.choquet_loss(logits.sigmoid(), target, measure)
    torch.testing.assert_close(ChoquetLoss(measure, "absolute")(logits, target), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_pass_gradcheck(kind):
    measure = KINDS[kind](np.random.default_rng(0), 4)
    logits, target = logits_and_labels(n_rows=3)
    for surrogate in ("logistic", "absolute"):
        loss = ChoquetLoss(measure, surrogate, reduction="none")
        assert torch.autograd.gradcheck(loss, (logits, target), eps=1e-6)


@by_repr
def test_gradients_of_scores_are_differences(measure):
    logits, target = logits_and_labels()
    scores = logits.detach().sigmoid().requires_grad_()
    functional.choquet_loss(scores, target, measure, reduction="sum").backward()
    step = 1e-6
    for row, label in np.ndindex(*scores.shape):
        change = torch.zeros_like(scores)
        change[row, label] = step
        ahead, behind = (functional.choquet_loss(scores + sign * change, target, measure) for sign in (1, -1))
        difference = (ahead - behind).item() * len(scores) / (2 * step)
        assert scores.grad[row, label].item() == pytest.approx(difference, abs=1e-8)


@pytest.mark.parametrize("measure", CONVEX, ids=repr)
@given(st.lists(st.integers(-2, 2), min_size=16, max_size=16), st.integers(0, 15))
def test_gradients_at_ties_are_subgradients(measure, numbers, labels):
    target = torch.tensor([[labels >> label & 1 for label in range(4)]])
    here = torch.tensor([numbers[:4]], dtype=torch.float64, requires_grad=True)
    loss = ChoquetLoss(measure)
    loss(here, target).backward()
    for start in (4, 8, 12):
        there = torch.tensor([numbers[start : start + 4]], dtype=torch.float64)
        for size in (1, 1e-3):
            step = size * (there - here.detach())
            assert loss(here.detach() + step, target) >= loss(here, target) + (here.grad * step).sum() - 1e-12


def test_equal_labels_have_equal_gradients():
    logits = torch.tensor([[1.0, -1.0, 1.0, 0.0]], requires_grad=True)
    ChoquetLoss(BinomialMeasure(3))(logits, torch.tensor([[0, 1, 0, 1]])).backward()
    assert logits.grad[0, 0] == -logits.grad[0, 1] == logits.grad[0, 2]
    # weights 3/4, 1/4, 0, 0: the three worst labels share all of it
    assert logits.grad[0, 0].item() == pytest.approx(torch.tensor(1.0).sigmoid().item() / 3)
    assert logits.grad[0, 3] == 0
    logits.grad = None
    ChoquetLoss(CoveringMeasure([(0, 1, 2, 3)]))(logits, torch.tensor([[0, 1, 0, 1]])).backward()
    assert logits.grad[0, 0] == -logits.grad[0, 1] == logits.grad[0, 2] != 0


@pytest.mark.parametrize("surrogate", ["logistic", "absolute"])
@by_repr
def test_large_logits_do_no_harm(measure, surrogate):
    logits = torch.tensor([[1e4, -1e4, 300.0, -300.0], [88.0, -104.0, 17.0, 20.0]], requires_grad=True)
    loss = ChoquetLoss(measure, surrogate)(logits, torch.tensor([[0, 1, 1, 0], [1, 0, 1, 0]]))
    loss.backward()
    assert loss.isfinite()
    assert logits.grad.isfinite().all()


@by_repr
def test_nan_stays_in_its_row(measure):
    logits, target = logits_and_labels()
    with torch.no_grad():
        logits[2, 1] = torch.nan
    losses = ChoquetLoss(measure, reduction="none")(logits, target)
    assert losses.isnan().tolist() == [False, False, True, False, False]


@by_repr
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_sums_are_in_single_precision_at_least(measure, dtype):
    logits, target = logits_and_labels(dtype=dtype)
    loss = ChoquetLoss(measure)(logits, target)
    loss.backward()
    assert (loss.dtype, logits.grad.dtype) == (torch.promote_types(dtype, torch.float32), dtype)
    exact = ChoquetLoss(measure)(logits.detach().double(), target)
    assert loss.item() == pytest.approx(exact.item(), rel=1e-6)


@by_repr
def test_autocast_does_not_reach_into_the_loss(measure):
    logits, target = logits_and_labels(dtype=torch.float32)
    layer = torch.nn.Linear(4, 4)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        outputs = layer(logits)
        loss = ChoquetLoss(measure)(outputs, target)
    assert (outputs.dtype, loss.dtype) == (torch.bfloat16, torch.float32)
    torch.testing.assert_close(loss, ChoquetLoss(measure)(outputs.float(), target), rtol=0, atol=0)
    loss.backward()
    assert layer.weight.grad.isfinite().all()


def test_transposed_tensors_are_no_matter():
    logits, target = logits_and_labels(4, 4)
    expected = ChoquetLoss(BinomialMeasure(2))(logits, target)
    mirrored = logits.detach().T.contiguous().T
    assert ChoquetLoss(BinomialMeasure(2))(mirrored, target.T.contiguous().T) == expected


@takes_measures
@by_repr
def test_compiled_losses_are_the_same(measure):
    logits, target = logits_and_labels()
    loss = ChoquetLoss(measure)
    expected = loss(logits, target)
    (gradient,) = torch.autograd.grad(expected, logits)
    result = compiled(loss)(logits, target)
    torch.testing.assert_close(result, expected)
    torch.testing.assert_close(torch.autograd.grad(result, logits)[0], gradient)


@takes_measures
def test_compiled_losses_take_any_number_of_rows_and_labels():
    losses = [ChoquetLoss(BinomialMeasure(2)), ChoquetLoss(CoveringMeasure([(0, 1), (2, 3)]), "absolute")]
    both = compiled(lambda logits, target: sum(loss(logits, target) for loss in losses))
    for shape in ((5, 4), (6, 4), (6, 5)):
        logits, target = logits_and_labels(*shape)
        torch.testing.assert_close(both(logits, target), sum(loss(logits, target) for loss in losses))


def test_compiled_functions_take_parameters():
    preds, target = scores_and_labels(np.random.default_rng(0), 5, 4)
    for function, parameters in ((functional.binomial_loss, (2, 3)), (functional.polynomial_loss, (2.5, np.inf))):
        fast = compiled(function)
        for parameter in parameters:
            torch.testing.assert_close(fast(preds, target, parameter), function(preds, target, parameter))
    weights = [0.5, 0.25, 0.25, 0]
    fast = compiled(lambda preds, target: functional.owa_loss(preds, target, weights))
    torch.testing.assert_close(fast(preds, target), functional.owa_loss(preds, target, weights))


@takes_measures
def test_a_measure_made_while_compiling_is_refused():
    preds, target = scores_and_labels(np.random.default_rng(0), 5, 4)
    fast = compiled(lambda preds, target: functional.choquet_loss(preds, target, BinomialMeasure(3)))
    with pytest.raises(Exception, match="make the BinomialMeasure outside of the compiled function"):
        fast(preds, target)  # it would be seen without its k


def test_tables_are_made_once_and_serve_training_after_evaluation():
    logits, target = logits_and_labels()
    measure = AdditiveMeasure([0.125, 0.125, 0.25, 0.5])
    with torch.inference_mode():
        tables = tables_of(measure, 4, logits.device)
        ChoquetLoss(measure)(logits, target)
    ChoquetLoss(measure)(logits, target).backward()
    assert tables_of(AdditiveMeasure(measure.weights), 4, logits.device) is tables


@takes_measures
@pytest.mark.parametrize("strict", [False, True])
def test_exported_losses_leave_nothing_behind(strict):
    logits, target = logits_and_labels()
    loss = ChoquetLoss(PolynomialMeasure(3.5 + strict))  # whose tables were never made before
    exported = torch.export.export(loss, (logits, target), strict=strict).module()
    expected = choral.polynomial_loss(target.numpy(), logits.detach().sigmoid().numpy(), 3.5 + strict)
    for trained in (loss, exported):
        trained(logits, target).backward()
    torch.testing.assert_close(exported(logits, target), loss(logits, target))
    loss.surrogate = "absolute"
    assert loss(logits, target).item() == pytest.approx(expected, abs=1e-12)


def test_the_module_is_plain():
    loss = ChoquetLoss(PolynomialMeasure(2), surrogate="absolute", reduction="sum")
    assert repr(loss) == "ChoquetLoss(PolynomialMeasure(alpha=2.0), surrogate='absolute', reduction='sum')"
    assert not loss.state_dict()
    logits, target = logits_and_labels()
    for same in (pickle.loads(pickle.dumps(loss)), copy.deepcopy(loss)):
        assert same(logits, target) == loss(logits, target)


def test_wrong_arguments_are_told():
    preds, target = torch.rand(3, 4), torch.ones(3, 4)
    measure = BinomialMeasure(2)
    with pytest.raises(TypeError, match="preds must be a tensor; got list."):
        functional.choquet_loss([[0.5]], target, measure)
    with pytest.raises(TypeError, match="target must be a tensor; got ndarray."):
        functional.choquet_loss(preds, np.ones((3, 4)), measure)
    with pytest.raises(TypeError, match="preds must be floating-point; got torch.int64."):
        functional.binomial_loss(preds.long(), target, 2)
    with pytest.raises(TypeError, match="target must hold real numbers or booleans; got torch.complex64."):
        functional.choquet_loss(preds, target * 1j, measure)
    with pytest.raises(TypeError, match="target must be dense; got a tensor of layout torch.sparse_coo."):
        functional.choquet_loss(preds, target.to_sparse(), measure)
    with pytest.raises(ValueError, match=r"the same shape \(n_rows, n_labels\); got \(3, 4\) and \(4, 3\)."):
        ChoquetLoss(measure)(preds, target.T)
    with pytest.raises(ValueError, match=r"the same shape \(n_rows, n_labels\); got \(4,\) and \(4,\)."):
        ChoquetLoss(measure)(preds[0], target[0])
    with pytest.raises(ValueError, match="must be on one device; got cpu and meta."):
        functional.choquet_loss(preds, target.to("meta"), measure)
    with pytest.raises(TypeError, match="measure must be one of choral.measures; got 'binomial'."):
        functional.choquet_loss(preds, target, "binomial")
    with pytest.raises(TypeError, match="measure must be one of choral.measures; got 2."):
        ChoquetLoss(2)
    with pytest.raises(ValueError, match="reduction must be 'mean', 'sum' or 'none'; got 'max'."):
        functional.polynomial_loss(preds, target, 2, reduction="max")
    with pytest.raises(ValueError, match="reduction must be 'mean', 'sum' or 'none'; got None."):
        ChoquetLoss(measure, reduction=None)
    with pytest.raises(ValueError, match="surrogate must be 'logistic' or 'absolute'; got 'hinge'."):
        ChoquetLoss(measure, "hinge")


IGNORED = (
    "If it marks labels that are not known, let these count as right: with unknown = target == -100, pass "
    "preds.masked_fill(unknown, -1e4), or for scores preds.masked_fill(unknown, 0), and "
    "target.masked_fill(unknown, 0)."
)


@pytest.mark.parametrize("take", [ChoquetLoss(BinomialMeasure(2)), partial(functional.binomial_loss, k=2)])
@pytest.mark.parametrize(
    "number, remedy",
    [(-100, f" {IGNORED}"), (-1, " Labels -1 and +1 become 0 and 1 by target > 0."), (2, "")],
)
def test_targets_in_another_notation_are_refused_with_a_remedy(take, number, remedy):
    preds, target = torch.rand(2, 3), torch.tensor([[0, 1, 1], [1, number, 0]])
    message = f"target must be 0 or 1; target[1, 1] is {number}.{remedy}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        take(preds, target)


@pytest.mark.parametrize("surrogate", ["logistic", "absolute"])
@by_repr
def test_the_remedy_for_unknown_labels_leaves_them_without_error_and_gradient(measure, surrogate):
    """As labels that are right beyond doubt."""
    logits, _ = logits_and_labels()
    target = torch.tensor([[1, 0, -100, 1], [-100, 0, 1, -100], [0, 0, 1, 1], [1, 1, -100, 0], [-100] * 4])
    unknown = target == -100
    loss = ChoquetLoss(measure, surrogate, reduction="none")
    found = loss(logits.masked_fill(unknown, -1e4), target.masked_fill(unknown, 0))
    right = torch.where(unknown, -1000.0, logits.detach())
    torch.testing.assert_close(found.detach(), loss(right, target.masked_fill(unknown, 0)))
    assert found[-1] == 0
    found.sum().backward()
    assert not logits.grad[unknown].any()
    assert logits.grad.isfinite().all()


def test_the_remedy_for_unknown_labels_of_scores():
    target = torch.tensor([[1, -100, 0, -100]])
    unknown = target == -100
    scores = torch.tensor([[0.75, 0.9, 0.5, 0.1]]).masked_fill(unknown, 0)
    assert functional.binomial_loss(scores, target.masked_fill(unknown, 0), k=1).item() == (0.25 + 0.5) / 4


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_losses_can_be_mapped_over():
    logits, target = torch.randn(3, 5, 4), torch.randint(2, (3, 5, 4))
    loss = ChoquetLoss(BinomialMeasure(2))
    expected = torch.stack([loss(*pair) for pair in zip(logits, target, strict=True)])
    torch.testing.assert_close(torch.vmap(loss)(logits, target), expected)


def test_measures_must_fit_the_labels():
    preds, target = torch.rand(3, 4), torch.ones(3, 4)
    with pytest.raises(ValueError, match="k must lie in 1..4, the number of labels; got 5."):
        functional.binomial_loss(preds, target, 5)
    with pytest.raises(ValueError, match="alpha must be at least 1; got 0.5."):
        functional.polynomial_loss(preds, target, 0.5)
    with pytest.raises(ValueError, match="is made for 2 labels; got 4."):
        functional.owa_loss(preds, target, [0.5, 0.5])
    with pytest.raises(ValueError, match="this AdditiveMeasure is made for 2 labels; got 4."):
        functional.choquet_loss(preds, target, AdditiveMeasure([0.5, 0.5]))
    with pytest.raises(ValueError, match="has a mass on label 7; got 4 labels."):
        functional.choquet_loss(preds, target, MoebiusMeasure({7: 1}))


@pytest.mark.parametrize("package", ["torch", "torchmetrics"])
def test_missing_packages_name_their_cure(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, "choral.nn")
    cure = rf"^{package} is not installed; try: pip install {package} \(or choral's extra 'torch'\)$"
    with pytest.raises(ModuleNotFoundError, match=cure):
        import_module("choral.nn")
