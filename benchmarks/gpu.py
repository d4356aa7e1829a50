"""Speed on a CUDA device, each beside the copy bandwidth or a torch function of the same run, and how exact it is.

    python benchmarks/gpu.py [--write]

Needs choral[torch] and a GPU with some 30 GB of free memory; a minute or two, most of it for compiling kernels. With
``--write``, the tables of docs/gpu.md are made of what was measured; ``make gpu`` runs this, and the tests on the
device.
"""

import sys
from collections.abc import Callable
from datetime import date
from functools import partial
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
import triton
from measuring import at_most, conclude, faster, judge, lines, within
from measuring import seconds as by_the_clock
from triton.testing import do_bench

from choral import BinomialMeasure, ErrorProfile, LabelDistribution, bayes_curve
from choral.decisions.hadamard import hadamard_transform
from choral.nn import ChoquetLoss, DependenceCurve
from choral.nn.ordering import count_weighing, ordered_losses, plain_ordered_losses
from choral.rows.gpu.rank_sums import rank_sums
from choral.rows.gpu.wrong_labels import wrong_labels

SHAPES = ((4_000_000, 100), (400_000, 1000), (40_000, 10_000))
ROWS_TO_COMPARE = 10_000
PAGE = Path(__file__).parents[1] / "docs" / "gpu.md"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"  # around the tables of the page

memory_lines = []  # of which call, its peak and its limit in multiples of the inputs: for a table


def seconds(work: Callable[[], object]) -> float:
    """The median time of some repetitions, by the clock of the device."""
    return do_bench(work, warmup=30, rep=100, return_mode="median") / 1e3


def note(text: str) -> None:
    print(f"    {text}", flush=True)


def memory(what: str, work: Callable[[], object], inputs: tuple[torch.Tensor, ...], limit: float) -> None:
    """The peak of a call, what it was given and what it returns included, as a multiple of what it was given."""
    work()  # kernels are compiled
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    work()
    peak = 1 + (torch.cuda.max_memory_allocated() - before) / sum(tensor.nbytes for tensor in inputs)
    judge(f"memory, {what}", "peak beside the inputs", peak, "times", limit)
    memory_lines.append((what, peak, limit))


def copy_bandwidth() -> float:
    """Bytes read and written in a second, by a copy of 4 GiB."""
    source = torch.rand(1 << 30, device="cuda")
    target = torch.empty_like(source)
    return 2 * source.nbytes / seconds(lambda: target.copy_(source))


def hard_labels(n_rows: int, n_labels: int, bandwidth: float) -> None:
    y_true, y_pred = ((torch.rand(n_rows, n_labels, device="cuda") < 0.1).to(torch.uint8) for _ in range(2))
    taken = seconds(lambda: wrong_labels(y_true, y_pred))
    at_most(f"histogram, {n_rows:,} x {n_labels:,}", taken, "bandwidth limit", 2 * y_true.nbytes / bandwidth, 1.3)
    profile = ErrorProfile.from_predictions(y_true, y_pred)
    expected = torch.bincount((y_true != y_pred).sum(dim=1), minlength=n_labels + 1)
    whole = whole_profile("labels", y_true, y_pred)
    at_most(f"profile, {n_rows:,} x {n_labels:,}", whole, "bandwidth limit", 2 * y_true.nbytes / bandwidth, 1.6)
    metric("update, labels", 0.5, y_true, y_pred, whole, 1.5)
    note(f"exact: {profile.rows_by_errors.tolist() == expected.tolist()}")


def scores(n_rows: int, n_labels: int, limit: float) -> None:
    y_true = (torch.rand(n_rows, n_labels, device="cuda") < 0.1).float()
    y_pred = torch.rand(n_rows, n_labels, device="cuda")
    errors = (y_true - y_pred).abs()
    taken = seconds(lambda: rank_sums(y_true, y_pred, None))
    faster(
        f"rank sums, {n_rows:,} x {n_labels:,}", taken, "torch.sort", seconds(lambda: torch.sort(errors, dim=1)), limit
    )
    expected = torch.sort(errors, dim=1, descending=True).values.sum(dim=0, dtype=torch.float64)
    whole = whole_profile("scores", y_true, y_pred)
    metric("update, scores", None, y_true, y_pred, whole, 1.3)
    metric("update, scores cut", 0.5, y_true, y_pred, whole, 1.3)
    off = ((rank_sums(y_true, y_pred, None).sums - expected).abs() / expected).max().item()
    note(f"the whole profile {1e3 * whole:.2f} ms; off by {off:.0e}")


def whole_profile(what: str, y_true: torch.Tensor, y_pred: torch.Tensor) -> float:
    """How long a profile takes, with what is done on the host; its memory is judged."""
    work = partial(ErrorProfile.from_predictions, y_true, y_pred)
    n_rows, n_labels = y_true.shape
    memory(f"profile, {what}, {n_rows:,} x {n_labels:,}", work, (y_true, y_pred), 1.1)
    return seconds(work)


def metric(
    what: str, threshold: float | None, y_true: torch.Tensor, y_pred: torch.Tensor, profile: float, limit: float
) -> None:
    """`DependenceCurve.update` does the work of a profile, and must not cost much more; its memory is judged."""
    n_rows, n_labels = y_true.shape
    curve = DependenceCurve(n_labels, threshold=threshold).cuda()
    work = partial(curve.update, y_pred, y_true)
    at_most(f"{what}, {n_rows:,} x {n_labels:,}", seconds(work), "its profile", profile, limit)
    memory(f"{what}, {n_rows:,} x {n_labels:,}", work, (y_true, y_pred), 1.1)


def training(n_rows: int, n_labels: int, limit: float) -> None:
    target = (torch.rand(n_rows, n_labels, device="cuda") < 0.1).float()
    chances = torch.rand(n_rows, n_labels, device="cuda", requires_grad=True)
    logits = torch.randn(n_rows, n_labels, device="cuda", requires_grad=True)
    entropy = _both_passes(chances, lambda values: F.binary_cross_entropy(values, target))
    chances.grad = None
    for k, at_best in ((n_labels // 2, limit), (2, 4)):
        loss = ChoquetLoss(BinomialMeasure(k))
        taken = _both_passes(logits, lambda values, loss=loss: loss(values, target))
        at_most(f"loss, k = {k}, {n_rows:,} x {n_labels:,}", taken, "binary_cross_entropy", entropy, at_best)
        half = logits.detach().bfloat16().requires_grad_()
        of_half = _both_passes(half, lambda values, loss=loss: loss(values, target))
        at_most(f"loss, k = {k}, bfloat16, {n_rows:,} x {n_labels:,}", of_half, "the same in single", taken, 1.0)
        logits.grad = half = None
        step = partial(_training_step, loss, logits, target)
        memory(f"loss, k = {k}, {n_rows:,} x {n_labels:,}", step, (logits, target), 2)
        off = _difference(logits.detach()[:ROWS_TO_COMPARE], target[:ROWS_TO_COMPARE], k)
        note(f"gradient off by {off:.0e} from plain torch")


def _training_step(loss: ChoquetLoss, logits: torch.Tensor, target: torch.Tensor) -> None:
    """Both passes; the gradient is dropped, so that each step allocates its own."""
    loss(logits, target).backward()
    logits.grad = None


def _both_passes(values: torch.Tensor, loss: Callable[[torch.Tensor], torch.Tensor]) -> float:
    def work() -> None:
        values.grad = None
        loss(values).backward()

    return seconds(work)


def _difference(logits: torch.Tensor, target: torch.Tensor, k: int) -> float:
    deficits = BinomialMeasure(k).deficits(logits.shape[1])
    ours = partial(ordered_losses, n_weighing=count_weighing(deficits))
    gradients = []
    for losses in (ours, plain_ordered_losses):
        values = logits.clone().requires_grad_()
        losses(values, target, torch.from_numpy(deficits).cuda(), "logistic").sum().backward()
        gradients.append(values.grad)
    return ((gradients[0] - gradients[1]).norm() / gradients[1].norm()).item()


def transforms() -> None:
    table = torch.randn(1 << 28, device="cuda")
    within("Walsh-Hadamard, 2^28 float32", seconds(lambda: hadamard_transform(table)), 0.005, "aim on an H200")
    exact = hadamard_transform(table[: 1 << 22].double())
    off = ((hadamard_transform(table[: 1 << 22]) - exact).norm() / exact.norm()).item()
    note(f"off by {off:.0e} on 2^22")


def decisions() -> None:
    labelsets = (torch.rand(100_000, 24, device="cuda") < 0.3).to(torch.uint8)
    distribution = LabelDistribution(labelsets, torch.full((100_000,), 1e-5, device="cuda", dtype=torch.float64))

    def work() -> np.ndarray:
        return bayes_curve(distribution, method="transform").curve().losses

    (taken,) = by_the_clock([work], repeats=5)  # of the host, which does part of the work
    within("bayes_curve, 24 labels, all k", taken, 0.015, "aim on an H200")
    risk = work()
    note(f"risk from {risk[0]:.4f} to {risk[-1]:.4f}")


def main() -> int:
    torch.manual_seed(0)
    bandwidth = copy_bandwidth()
    print(f"{torch.cuda.get_device_name()}, copy {bandwidth / 1e12:.2f} TB/s, torch {torch.__version__}", flush=True)
    for shape in SHAPES:
        hard_labels(*shape, bandwidth)
    for shape, limit in zip(SHAPES[:2], (20, 10), strict=True):
        scores(*shape, limit)
    for shape, limit in zip(SHAPES[:2], (1.5, 2), strict=True):
        training(*shape, limit)
    transforms()
    decisions()
    if sys.argv[1:] == ["--write"]:
        write_tables(torch.cuda.get_device_name(), bandwidth)
    return conclude()


def write_tables(device: str, bandwidth: float, page: Path = PAGE) -> None:
    """Put what was measured into the page, with date, device and versions."""
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    tables = [
        f"Measured on {date.today()} on an {device} (copy: {bandwidth / 1e12:.2f} TB/s)",
        f"with torch {torch.__version__} and Triton {triton.__version__}, medians by CUDA events.",
        "",
        "| what | time | beside | its time | ratio |",
        "| --- | --- | --- | --- | --- |",
        *(_row(*line) for line in lines),
        "",
        "Memory at its peak, inputs and results included, as a multiple of the inputs:",
        "",
        "| what | memory | at most |",
        "| --- | --- | --- |",
        *(f"| {what} | {peak:.2f} | {limit:g} |" for what, peak, limit in memory_lines),
    ]
    page.write_text(before + BEGIN + "\n" + "\n".join(tables) + "\n" + END + after, encoding="utf-8")


def _row(what: str, ours: float, yardstick: str, theirs: float) -> str:
    return f"| {what.strip()} | {1e3 * ours:.2f} ms | {yardstick} | {1e3 * theirs:.2f} ms | {ours / theirs:.2f} |"


if __name__ == "__main__":
    sys.exit(main())
