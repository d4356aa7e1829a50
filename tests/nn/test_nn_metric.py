"""DependenceCurve: the summary of NumPy from batches of tensors, in one process or two."""

import pickle
import sys
from datetime import timedelta

import numpy as np
import pytest

import choral
from choral import ErrorProfile, harden, scores_from_logits

torch = pytest.importorskip("torch")
torchmetrics = pytest.importorskip("torchmetrics")

from choral.nn import ChoquetLoss, DependenceCurve  # noqa: E402

N_LABELS = 5
BATCHES = (slice(0, 3), slice(3, 4), slice(4, 30))


def predictions(dtype=torch.float64, n_labels=N_LABELS):
    """Scores with values on the threshold, and labels."""
    rng = np.random.default_rng(0)
    preds = torch.tensor(rng.integers(17, size=(30, n_labels)) / 16).to(dtype)  # exact in half precision
    return preds, torch.tensor(rng.integers(2, size=(30, n_labels)))


def fed(metric, preds, target):
    for rows in BATCHES:
        metric.update(preds[rows], target[rows])
    return metric


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("threshold", [0.5, 0.0, 0.25, 1.0])
def test_hard_predictions_are_counted_exactly(dtype, threshold):
    preds, target = predictions(dtype)
    metric = fed(DependenceCurve(N_LABELS, threshold=threshold), preds, target)
    assert metric.profile == ErrorProfile.from_predictions(target.numpy(), harden(preds.double().numpy(), threshold))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_scores_are_summed_in_doubles(dtype):
    preds, target = predictions(dtype)
    metric = fed(DependenceCurve(N_LABELS, threshold=None), preds, target)
    expected = ErrorProfile.from_predictions(target.numpy(), preds.double().numpy())
    np.testing.assert_allclose(metric.profile.error_sums, expected.error_sums, rtol=1e-12)
    assert (metric.profile.n_rows, metric.profile.is_hard) == (30, False)


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int64, torch.float32])
@pytest.mark.parametrize("threshold", [0.5, 0.125, None])
def test_labels_are_taken_as_they_are(dtype, threshold):
    preds, target = predictions()
    labels = preds >= 0.75
    metric = fed(DependenceCurve(N_LABELS, threshold=threshold, logits=dtype is torch.bool), labels.to(dtype), target)
    expected = ErrorProfile.from_predictions(target.numpy(), labels.numpy())
    np.testing.assert_allclose(metric.compute()[1], expected.losses("binomial"), rtol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_logits_are_said_to_be_logits(dtype):
    preds, target = predictions(dtype)
    logits = 4 * preds - 2
    scores = scores_from_logits(logits.double().numpy())
    soft = fed(DependenceCurve(N_LABELS, threshold=None, logits=True), logits, target)
    expected = ErrorProfile.from_predictions(target.numpy(), scores)
    np.testing.assert_allclose(soft.profile.error_sums, expected.error_sums, rtol=1e-12)
    for threshold in (0.0, 0.3, 0.5, 1.0):
        hard = fed(DependenceCurve(N_LABELS, threshold=threshold, logits=True), logits, target)
        assert hard.profile == ErrorProfile.from_predictions(target.numpy(), harden(scores, threshold))


def test_small_negative_logits_are_below_one_half():
    metric = DependenceCurve(1, logits=True)
    metric.update(torch.tensor([[-1e-12], [0.0]]), torch.tensor([[0], [1]]))  # both have the score 0.5 in float32
    assert metric.profile.rows_by_errors.tolist() == [2, 0]


@pytest.mark.parametrize("family, parameters", [("binomial", None), ("polynomial", None), ("polynomial", [1, 2.5])])
def test_compute_gives_the_curve(family, parameters):
    preds, target = predictions()
    metric = fed(DependenceCurve(N_LABELS, family, parameters), preds, target)
    expected = choral.loss_curve(target.numpy(), harden(preds.numpy()), family, parameters)
    found = metric.compute()
    np.testing.assert_array_equal(found[0], expected.parameters)
    np.testing.assert_array_equal(found[1], expected.losses)
    assert metric.curve(family, parameters) == expected
    assert metric.curve("polynomial", [2], name="net").name == "net"


@pytest.mark.parametrize("threshold", [0.5, None])
def test_forward_gives_the_curve_of_the_batch_and_keeps_all(threshold):
    preds, target = predictions()
    metric = DependenceCurve(N_LABELS, threshold=threshold)
    for rows in BATCHES:
        alone = DependenceCurve(N_LABELS, threshold=threshold)
        alone.update(preds[rows], target[rows])
        assert torch.equal(metric(preds[rows], target[rows])[1], alone.compute()[1])
    whole = fed(DependenceCurve(N_LABELS, threshold=threshold), preds, target)
    torch.testing.assert_close(metric.compute(), whole.compute(), rtol=1e-12, atol=0)


def test_reset_clone_and_pickle():
    preds, target = predictions()
    metric = fed(DependenceCurve(N_LABELS), preds, target)
    expected = metric.profile
    assert metric.clone().profile == pickle.loads(pickle.dumps(metric)).profile == expected
    metric.reset()
    assert fed(metric, preds, target).profile == expected


def test_what_lightning_does_in_evaluation_is_no_matter():
    preds, target = predictions()
    metric = DependenceCurve(N_LABELS, threshold=None)
    with torch.inference_mode():
        metric.update(preds, target)
    metric.update(preds, target)
    assert metric.profile.n_rows == 60


def test_states_keep_their_precision_and_move():
    for cast in (lambda m: m.to(torch.bfloat16), lambda m: m.half(), lambda m: m.set_dtype(torch.float16)):
        metric = cast(DependenceCurve(N_LABELS, threshold=None))
        assert metric.error_sums.dtype == torch.float64
        metric.reset()
        assert metric.error_sums.dtype == torch.float64
    metric = DependenceCurve(N_LABELS).to("meta", torch.bfloat16)
    assert (metric.device.type, metric.rows_by_errors.device.type) == ("meta", "meta")


@pytest.mark.parametrize("options", [{}, {"logits": True}, {"threshold": None}, {"threshold": None, "logits": True}])
def test_no_value_is_asked_for_while_batches_come(options):
    preds, target = torch.empty(3, N_LABELS, device="meta"), torch.empty(3, N_LABELS, device="meta")
    metric = DependenceCurve(N_LABELS, **options).to("meta")
    metric.update(preds, target)  # there are no values on this device
    assert ChoquetLoss(choral.BinomialMeasure(2))(preds, target).device.type == "meta"


def test_collections_share_states_where_they_may():
    preds, target = predictions()
    collection = torchmetrics.MetricCollection(
        {
            "binomial": DependenceCurve(N_LABELS),
            "polynomial": DependenceCurve(N_LABELS, "polynomial", [1, 2]),
            "lower": DependenceCurve(N_LABELS, threshold=0.25),
            "soft": DependenceCurve(N_LABELS, threshold=None),
            "hamming": torchmetrics.classification.MultilabelHammingDistance(N_LABELS, threshold=0.49, average="micro"),
        }
    )
    collection.update(torch.ones(2, N_LABELS), target[:2])  # all thresholds agree here
    fed(collection, preds, target)
    assert sorted(map(len, collection.compute_groups.values())) == [1, 1, 1, 2]
    found = collection.compute()
    assert found["binomial"][1][0].item() == pytest.approx(found["hamming"].item())
    assert found["polynomial"][1][0].item() == pytest.approx(found["hamming"].item())
    assert found["lower"][1][0] != found["binomial"][1][0]


def test_plot_draws_on_the_axes_it_is_given(plt):
    preds, target = predictions()
    metric = fed(DependenceCurve(N_LABELS), preds, target)
    figure, ax = metric.plot()
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), metric.compute()[1])
    assert figure is ax.figure
    _, own = plt.subplots()
    assert metric.plot(metric.compute(), ax=own)[1] is own
    collection = torchmetrics.MetricCollection([metric])
    assert len(collection.plot()) == 1


def test_values_that_are_not_allowed_are_told_in_the_end():
    preds, target = predictions()
    metric = fed(DependenceCurve(N_LABELS), 4 * preds - 2, target)
    outside = int(((preds < 0.5) | (preds > 0.75)).sum())
    message = rf"preds must lie in \[0, 1\] \(logits=True takes logits\); {outside} of its values do not comply."
    with pytest.raises(ValueError, match=message):
        metric.compute()
    with pytest.raises(ValueError, match=message):
        _ = metric.profile
    metric.reset()
    metric.update(preds.round().int() * 2, target)
    with pytest.raises(ValueError, match=r"preds must lie in \[0, 1\]"):
        metric.compute()
    metric = DependenceCurve(N_LABELS, logits=True)
    metric.update(torch.full((1, N_LABELS), torch.nan), target[:1])
    with pytest.raises(ValueError, match="preds must not be nan; 5 of its values do not comply."):
        metric.compute()
    for wrong in (target * 2, target.float() * torch.nan):
        metric = fed(DependenceCurve(N_LABELS), preds, wrong)
        with pytest.raises(ValueError, match=r"target must be binary, 0 or 1; \d+ of its values are not."):
            metric.compute()


def test_wrong_arguments_are_told():
    with pytest.raises(ValueError, match="num_labels must be at least 1; got 0."):
        DependenceCurve(0)
    with pytest.raises(ValueError, match="family must be one of 'binomial', 'polynomial'; got 'gaussian'."):
        DependenceCurve(3, "gaussian")
    with pytest.raises(ValueError, match="must be whole numbers in 1..3"):
        DependenceCurve(3, parameters=[4])
    with pytest.raises(ValueError, match="threshold must be a number; got 'half'."):
        DependenceCurve(3, threshold="half")
    with pytest.raises(ValueError, match=r"threshold must lie in \[0, 1\]; got -1.0."):
        DependenceCurve(3, threshold=-1, logits=True)
    metric = DependenceCurve(3)
    with pytest.raises(ValueError, match=r"the same shape \(n_rows, 3\); got \(2, 4\) and \(2, 4\)."):
        metric.update(torch.rand(2, 4), torch.ones(2, 4))
    with pytest.raises(TypeError, match="target must be a tensor; got list."):
        metric.update(torch.rand(2, 3), [[0, 1, 1]])
    with (
        pytest.warns(UserWarning, match="was called before the ``update`` method"),
        pytest.raises(ValueError, match="this DependenceCurve has seen no rows yet; update"),
    ):
        DependenceCurve(3).compute()


def share_of_process(rank, folder):
    """What one of two processes finds: each has its share of the batches, of unequal size."""
    store, patience = f"file://{folder}/store", timedelta(seconds=100)
    torch.distributed.init_process_group("gloo", init_method=store, rank=rank, world_size=2, timeout=patience)
    preds, target = predictions()
    hard, soft = DependenceCurve(N_LABELS), DependenceCurve(N_LABELS, threshold=None)
    for rows in BATCHES[:1] if rank == 0 else BATCHES[1:]:
        hard.update(preds[rows], target[rows])
        soft(preds[rows], target[rows])
    found = {"profile": hard.profile.to_dict(), "hard": hard.compute()[1].tolist(), "soft": soft.compute()[1].tolist()}
    one_wrong = DependenceCurve(N_LABELS)
    one_wrong.update(preds + rank, target)  # only the second process has scores beyond 1
    with pytest.raises(ValueError, match=r"preds must lie in \[0, 1\]"):
        one_wrong.compute()
    torch.save({**found, "kept": int(hard.rows_by_errors.sum())}, f"{folder}/{rank}.pt")
    torch.distributed.destroy_process_group()


def test_two_processes_find_what_one_does(tmp_path, monkeypatch):
    if sys.platform == "linux":
        monkeypatch.setenv("GLOO_SOCKET_IFNAME", "lo")  # no network is needed
    other = torch.multiprocessing.get_context("spawn").Process(target=share_of_process, args=(1, tmp_path))
    other.start()
    share_of_process(0, tmp_path)  # this process is the first of the two
    other.join()
    preds, target = predictions()
    hard = fed(DependenceCurve(N_LABELS), preds, target)
    soft = fed(DependenceCurve(N_LABELS, threshold=None), preds, target)
    for rank, n_own_rows in enumerate((3, 27)):
        found = torch.load(tmp_path / f"{rank}.pt")
        assert found["profile"] == hard.profile.to_dict()
        assert found["hard"] == hard.compute()[1].tolist()
        np.testing.assert_allclose(found["soft"], soft.compute()[1], rtol=0, atol=1e-12)
        assert found["kept"] == n_own_rows  # a process keeps its own share, to go on with


def test_scalars_are_losses_with_names():
    """One row with one wrong label of four, one with two: by hand."""
    metric = DependenceCurve(4, parameters=[2])
    metric.update(torch.tensor([[1, 0, 0, 0], [1, 1, 1, 1]]), torch.tensor([[1, 0, 0, 1], [1, 1, 0, 0]]))
    losses = {"k=1": 3 / 8, "k=3": (3 / 4 + 1) / 2, "subset": 1.0}
    area = (3 / 8 / 2 + (1 / 2 + 5 / 6) / 2 + 7 / 8 + 1 / 2) / 3  # trapezoids between k = 1, 2, 3, 4
    scalars = metric.scalars()
    assert scalars == pytest.approx({f"loss/{name}": loss for name, loss in losses.items()} | {"area": area})
    assert {type(number) for number in scalars.values()} == {float}
    assert metric.scalars("val/") == {f"val/{name}": number for name, number in scalars.items()}


def test_scalars_of_the_polynomial_family():
    preds, target = predictions()
    metric = fed(DependenceCurve(N_LABELS, "polynomial", threshold=None), preds, target)
    truth, scores = target.numpy(), preds.numpy()
    assert metric.scalars() == pytest.approx(
        {
            "loss/alpha=1": choral.hamming_loss(truth, scores),
            "loss/alpha=2": choral.polynomial_loss(truth, scores, alpha=2),
            "loss/subset": choral.subset_loss(truth, scores),
            "area": choral.loss_curve(truth, scores, "polynomial").area,
        }
    )


@pytest.mark.parametrize("family", ["binomial", "polynomial"])
@pytest.mark.parametrize("n_labels", [1, 2, 3, 4])
def test_no_loss_is_among_the_scalars_twice(family, n_labels):
    preds, target = predictions(n_labels=n_labels)
    scalars = fed(DependenceCurve(n_labels, family), preds, target).scalars()
    inner = [f"loss/k={k}" for k in (1, 3) if k < n_labels]
    if family == "polynomial":
        inner = ["loss/alpha=1", "loss/alpha=2"] if n_labels > 1 else []
    assert list(scalars) == [*inner, "loss/subset", "area"]


def test_targets_in_another_notation_are_refused_with_a_remedy():
    preds, target = torch.tensor([[1, 0], [1, 1]]), torch.tensor([[1, -100], [1, 0]])
    metric = DependenceCurve(2)
    metric.update(preds, target)
    with pytest.raises(ValueError, match=r"1 of its values are not. Labels -1 and \+1 .* update with complete rows"):
        metric.scalars()
    metric.reset()
    complete = (target >= 0).all(dim=1)
    metric.update(preds[complete], target[complete])
    assert metric.profile.n_rows == 1
