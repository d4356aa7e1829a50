"""The loss of networks that score label sets: its definition, its guarantee, and where scores are sums over labels."""

import copy
import itertools

import numpy as np
import pytest

import choral
from choral import AtLeastMeasure, BinomialMeasure, HammingMeasure, PolynomialMeasure, SubsetMeasure
from measure_zoo import KINDS

torch = pytest.importorskip("torch")
pytest.importorskip("torchmetrics")

from choral.nn import LabelSetLoss  # noqa: E402
from choral.nn import label_sets as module  # noqa: E402

takes_measures = pytest.mark.skipif(
    torch.__version__ < (2, 13), reason="older versions of torch take no measure into a compiled graph"
)
ALL_SETS = torch.tensor(list(itertools.product((0, 1), repeat=4)))
SOME_SETS = ALL_SETS[[3, 5, 6, 12, 15]]


def logits_and_labels(n_labelsets, n_rows=6, dtype=torch.float64):
    rng = np.random.default_rng(0)
    logits = torch.tensor(2 * rng.standard_normal((n_rows, n_labelsets)), dtype=dtype, requires_grad=True)
    return logits, torch.tensor(rng.integers(2, size=(n_rows, 4)))


def loss_by_definition(logits, target, labelsets, measure):
    """Pair by pair."""
    losses = []
    for row, truth in zip(logits, target, strict=True):
        shares = row.exp() / row.exp().sum()
        worths = [1 - choral.choquet_loss(truth[None].numpy(), one[None].numpy(), measure) for one in labelsets]
        losses.append(-sum(worth * share.log() for worth, share in zip(worths, shares, strict=True)))
    return torch.stack(losses)


@pytest.mark.parametrize("kind", KINDS)
def test_the_loss_is_that_of_its_definition(kind, monkeypatch):
    measure = KINDS[kind](np.random.default_rng(0), 4)
    logits, target = logits_and_labels(5)
    expected = loss_by_definition(logits, target, SOME_SETS, measure)
    loss = LabelSetLoss(SOME_SETS, measure, reduction="none")
    torch.testing.assert_close(loss(logits, target), expected, rtol=1e-6, atol=1e-7)
    monkeypatch.setattr(module, "MAX_BLOCK", 45)  # pairs of two rows at a time
    torch.testing.assert_close(loss(logits, target), expected, rtol=1e-6, atol=1e-7)


def test_reductions():
    logits, target = logits_and_labels(5)
    of_rows, total, mean = (LabelSetLoss(SOME_SETS, SubsetMeasure(), name) for name in ("none", "sum", "mean"))
    assert of_rows(logits, target).shape == (6,)
    assert total(logits, target) == of_rows(logits, target).sum()
    assert mean(logits, target) == of_rows(logits, target).mean()


@pytest.mark.parametrize(
    "measure", [HammingMeasure(), BinomialMeasure(2), AtLeastMeasure(3), SubsetMeasure()], ids=repr
)
@pytest.mark.parametrize("seed", range(3))
def test_free_scores_lead_to_the_best_candidate(measure, seed):
    """One feature vector: its logits are all that is learned, from the whole distribution of its label sets."""
    rng = np.random.default_rng(seed)
    chances = rng.dirichlet(np.full(len(ALL_SETS), 0.3))
    candidates = ALL_SETS[torch.tensor(rng.choice(16, 7, replace=False))]
    loss = LabelSetLoss(candidates, measure, reduction="none")
    logits = torch.zeros(1, 7, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([logits], max_iter=500, tolerance_grad=1e-12, line_search_fn="strong_wolfe")

    def expected_loss():
        optimizer.zero_grad()
        value = (loss(logits.expand(16, 7), ALL_SETS) * torch.tensor(chances)).sum()
        value.backward()
        return value

    optimizer.step(expected_loss)
    risks = [choral.choquet_loss(ALL_SETS.numpy(), one.expand(16, 4).numpy(), measure, reduction="none") @ chances
             for one in candidates]  # fmt: skip
    gains = 1 - np.array(risks)
    shares = logits.detach().softmax(dim=1)[0].numpy()
    np.testing.assert_allclose(shares, gains / gains.sum(), atol=1e-5)
    assert loss.predict(logits.detach())[0].tolist() == candidates[int(np.argmin(risks))].tolist()


def test_among_all_label_sets_the_best_one_is_bayes_optimal():
    rng = np.random.default_rng(0)
    distribution = choral.LabelDistribution(ALL_SETS.numpy(), rng.dirichlet(np.full(16, 0.3), size=8))
    for measure in (HammingMeasure(), BinomialMeasure(2), BinomialMeasure(3), SubsetMeasure()):
        loss = LabelSetLoss(ALL_SETS, measure)
        expected_gains = torch.tensor(distribution.probabilities) @ loss.gains(ALL_SETS).double()
        best = choral.bayes_optimal(distribution, measure).labels
        np.testing.assert_array_equal(loss.predict(expected_gains.log()), best)  # the minimiser


@pytest.mark.parametrize("measure", [HammingMeasure(), BinomialMeasure(2), PolynomialMeasure(2.5), SubsetMeasure()])
def test_scores_that_are_sums_over_labels_make_it_smoothed_cross_entropy(measure):
    """Over all label sets: the softmax is a product over labels, and what is left is BCE, label by label."""
    rng = np.random.default_rng(0)
    of_labels = torch.tensor(rng.normal(size=(5, 4)), requires_grad=True)
    target = torch.tensor(rng.integers(2, size=(5, 4)))
    found = LabelSetLoss(ALL_SETS, measure, reduction="none")(of_labels @ ALL_SETS.T.double(), target)
    worths = 1 - measure.deficits(4)  # by the number of wrong labels
    right, wrong = ([1, 3, 3, 1] @ worths[start : start + 4] for start in (0, 1))  # of a label, the other three free
    smoothed = (target.double() * right + (1 - target) * wrong) / (right + wrong)
    entropy = torch.nn.functional.binary_cross_entropy_with_logits(of_labels, smoothed, reduction="none")
    torch.testing.assert_close(found, (right + wrong) * entropy.sum(dim=1), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_binomial_losses_smooth_labels_by_half_of_one_less_k_by_n_labels(k):
    worths = 1 - BinomialMeasure(k).deficits(4)
    right, wrong = ([1, 3, 3, 1] @ worths[start : start + 4] for start in (0, 1))
    assert right / (right + wrong) == pytest.approx((1 + k / 4) / 2)


def test_subset_loss_makes_it_cross_entropy_over_label_sets():
    logits, _ = logits_and_labels(5)
    classes = torch.tensor([0, 4, 2, 2, 1, 3])
    loss = LabelSetLoss(SOME_SETS, SubsetMeasure())(logits, SOME_SETS[classes])
    torch.testing.assert_close(loss, torch.nn.functional.cross_entropy(logits, classes))


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_pass_gradcheck(kind):
    logits, target = logits_and_labels(5)
    loss = LabelSetLoss(SOME_SETS, KINDS[kind](np.random.default_rng(0), 4), reduction="none")
    assert torch.autograd.gradcheck(lambda scores: loss(scores, target), (logits,), eps=1e-6)


def test_a_label_set_that_is_no_candidate_teaches_nothing_about_subset_loss():
    logits = torch.randn(2, 5, requires_grad=True)
    losses = LabelSetLoss(SOME_SETS, SubsetMeasure(), reduction="none")(
        logits, torch.stack([ALL_SETS[0], SOME_SETS[1]])
    )
    losses.sum().backward()
    assert losses[0] == 0
    assert not logits.grad[0].any()
    assert logits.grad[1].all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_sums_are_in_single_precision_at_least(dtype):
    logits, target = logits_and_labels(5, dtype=dtype)
    loss = LabelSetLoss(SOME_SETS, BinomialMeasure(2))
    found = loss(logits, target)
    found.backward()
    assert (found.dtype, logits.grad.dtype) == (torch.promote_types(dtype, torch.float32), dtype)
    assert found.item() == pytest.approx(loss(logits.detach().double(), target).item(), rel=1e-6)


def test_half_precision_does_not_miscount_wrong_labels():
    rng = np.random.default_rng(0)
    target, labelsets = (torch.tensor(rng.integers(2, size=(shape, 1001))) for shape in (3, 5))
    loss = LabelSetLoss(labelsets, HammingMeasure())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        gains = loss.gains(target.bfloat16())
    np.testing.assert_allclose(gains, (target[:, None] == labelsets).double().mean(dim=2), rtol=1e-6)


def test_candidates_are_the_most_frequent_label_sets():
    target = SOME_SETS[[2, 0, 2, 1, 1, 2, 4]]
    loss = LabelSetLoss.from_targets(target.bool(), BinomialMeasure(2), max_labelsets=3, reduction="sum")
    assert loss.labelsets.tolist() == SOME_SETS[[2, 1, 0]].tolist()  # of two that occur once, the first in order
    assert (loss.n_labelsets, loss.reduction, loss.measure) == (3, "sum", BinomialMeasure(2))


def test_candidates_are_taken_from_arrays_and_frames():
    pandas = pytest.importorskip("pandas")
    array = SOME_SETS.numpy().copy()
    array.setflags(write=False)
    for labels in (array, array.astype(bool), array.tolist(), pandas.DataFrame(array), SOME_SETS.bfloat16()):
        loss = LabelSetLoss.from_targets(labels, BinomialMeasure(2), max_labelsets=np.int64(9))
        assert loss.labelsets.tolist() == array.tolist()
        assert LabelSetLoss(labels, BinomialMeasure(2)).labelsets.dtype == torch.uint8


def test_candidates_are_checked_wherever_they_are(monkeypatch):
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)  # targets go unchecked, as on a device
    with pytest.raises(ValueError, match=r"labelsets must be 0 or 1; labelsets\[0, 1\] is 2."):
        LabelSetLoss(torch.tensor([[0, 2]]), BinomialMeasure(2))


def test_label_sets_move_and_are_saved_with_the_module():
    loss = LabelSetLoss(SOME_SETS, BinomialMeasure(2))
    logits, target = logits_and_labels(5)
    other = LabelSetLoss(SOME_SETS.flip(0), BinomialMeasure(2))
    assert loss(logits, target) != other(logits, target)
    other.load_state_dict(loss.state_dict())
    for same in (other, copy.deepcopy(loss), copy.deepcopy(loss).half()):
        torch.testing.assert_close(same(logits, target), loss(logits, target))
    assert copy.deepcopy(loss).to("meta").labelsets.is_meta


def test_nan_and_wrong_labels_of_a_compiled_function_stay_in_their_rows(monkeypatch):
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)  # as on a device, values are not checked
    loss = LabelSetLoss(SOME_SETS, BinomialMeasure(2), reduction="none")
    logits, target = logits_and_labels(5)
    logits.data[1, 2] = torch.nan
    strange = target.float()
    strange[0], strange[2] = torch.nan, -100
    found = loss(logits, strange)
    torch.testing.assert_close(found[3:], loss(logits, target)[3:])
    assert found.isnan().tolist() == [False, True, False, False, False, False]


@takes_measures
def test_compiled_losses_are_the_same():
    torch._dynamo.reset()
    logits, target = logits_and_labels(5)
    for measure in (BinomialMeasure(2), choral.AdditiveMeasure([0.1, 0.2, 0.3, 0.4])):
        loss = LabelSetLoss(SOME_SETS, measure)
        expected = loss(logits, target)
        found = torch.compile(loss, fullgraph=True, backend="aot_eager")(logits, target)
        torch.testing.assert_close(found, expected)
        torch.testing.assert_close(*(torch.autograd.grad(each, logits)[0] for each in (found, expected)))


def test_an_empty_batch():
    loss = LabelSetLoss(SOME_SETS, choral.AdditiveMeasure([0.1, 0.2, 0.3, 0.4]), reduction="none")
    assert loss(torch.empty(0, 5), torch.empty(0, 4)).shape == (0,)


def test_wrong_arguments_are_told():
    loss = LabelSetLoss(SOME_SETS, BinomialMeasure(2))
    logits, target = logits_and_labels(5)
    with pytest.raises(TypeError, match="measure must be one of choral.measures; got 2."):
        LabelSetLoss(SOME_SETS, 2)
    with pytest.raises(ValueError, match="reduction must be 'mean', 'sum' or 'none'; got 'max'."):
        LabelSetLoss(SOME_SETS, BinomialMeasure(2), reduction="max")
    with pytest.raises(ValueError, match="labelsets must be different from each other, and at least one; got 2 rows."):
        LabelSetLoss(SOME_SETS[[0, 0]], BinomialMeasure(2))
    with pytest.raises(ValueError, match="labelsets must be different from each other, and at least one; got 0 rows."):
        LabelSetLoss(SOME_SETS[:0], BinomialMeasure(2))
    with pytest.raises(ValueError, match=r"labelsets must be 0 or 1; labelsets\[1, 0\] is 2."):
        LabelSetLoss([[0, 1], [2, 0]], BinomialMeasure(2))
    with pytest.raises(ValueError, match=r"labelsets must be of shape \(n_rows, n_labels\); got \(4,\)."):
        LabelSetLoss(SOME_SETS[0], BinomialMeasure(2))
    for wrong in (True, 2.5):
        with pytest.raises(ValueError, match=f"max_labelsets must be a whole number, at least 1; got {wrong}."):
            LabelSetLoss.from_targets(target, BinomialMeasure(2), max_labelsets=wrong)
    with pytest.raises(ValueError, match="max_labelsets must be at least 1; got 0."):
        LabelSetLoss.from_targets(target, BinomialMeasure(2), max_labelsets=0)
    with pytest.raises(ValueError, match="target must have at least one row; got none."):
        LabelSetLoss.from_targets(target[:0], BinomialMeasure(2))
    with pytest.raises(ValueError, match=r"target must be 0 or 1; target\[2, 1\] is nan."):
        LabelSetLoss.from_targets([[0, 1], [1, 0], [1, np.nan]], BinomialMeasure(2))
    with pytest.raises(TypeError, match="preds must be a tensor; got list."):
        loss.predict([[1.0]])
    with pytest.raises(ValueError, match=r"preds must have a column for each of 5 label sets; got shape \(6, 4\)."):
        loss(logits[:, :4], target)
    with pytest.raises(TypeError, match="preds must be floating-point; got torch.int64."):
        loss(logits.long(), target)
    with pytest.raises(ValueError, match="preds and target must have as many rows; got 5 and 6."):
        loss(logits[:5], target)
    with pytest.raises(TypeError, match="target must be a tensor; got ndarray."):
        loss(logits, target.numpy())
    with pytest.raises(ValueError, match=r"target must be of shape \(n_rows, 4\); got \(6, 3\)."):
        loss(logits, target[:, :3])
    with pytest.raises(ValueError, match=r"target must be 0 or 1; target\[0, 0\] is -100."):
        loss(logits, torch.full((6, 4), -100))
    with pytest.raises(ValueError, match="target and the label sets must be on one device; got meta and cpu."):
        loss(logits, target.to("meta"))
    with pytest.raises(ValueError, match="preds and the label sets must be on one device; got meta and cpu."):
        loss.predict(logits.to("meta"))
