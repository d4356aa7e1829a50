"""evaluate(): any predictions in, curves, a baseline and intervals out."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from choral._kernels.pairs import error_blocks, is_hard, row_slices
from choral._validation import Labels, check_columns, check_count, check_labels, check_matrix, check_sample_weight
from choral.curves import LossCurve
from choral.measures.base import ROUNDING
from choral.measures.families import Family, get_family
from choral.profiles import ErrorProfile, name_in_messages, profiles_by_name
from choral.row_losses import row_losses
from choral.scores import check_scores, check_threshold, harden_checked
from choral.stats import Band, Rows, bootstrap_band, bootstrap_means

BASELINE = "all irrelevant"
Progress = Callable[[int, int, str], None]


class Difference(NamedTuple):
    """How much worse than the best a model is at each parameter, with a bootstrap interval."""

    estimate: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


class Summary(NamedTuple):
    """A few columns of the curves, for people: lower is better in each of them."""

    columns: tuple[str, ...]
    rows: dict[str, tuple[float, ...]]
    parameters: tuple[float, ...]  # of all columns but the last, the area


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What `evaluate` found: loss curves of all models and of the baseline, and who is best where.

    Attributes
    ----------
    family : str
        ``"binomial"`` or ``"polynomial"``.
    parameters : ndarray of shape (n_points,)
    profiles : dict from name to ErrorProfile
        Models in the order given, then the baseline.
    curves : dict from name to LossCurve
        Likewise.
    differences : dict from name to Difference, or None
        For models and baseline: loss minus loss of the model that is best at that parameter, with paired bootstrap
        intervals. The best is chosen on the same data, so an interval that barely excludes 0 is weak evidence.
    samples : ndarray of shape (n_bootstrap, n_curves, n_points), or None
        The losses in bootstrap samples, the same rows for all curves.
    baseline : str
        The name of the baseline: no label at all. Hamming loss alone makes it look good.
    """

    family: str
    parameters: np.ndarray
    profiles: dict[str, ErrorProfile]
    curves: dict[str, LossCurve]
    differences: dict[str, Difference] | None
    confidence: float
    samples: np.ndarray | None = None
    baseline: str = BASELINE

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models, without the baseline."""
        return tuple(name for name in self.profiles if name != self.baseline)

    @property
    def n_labels(self) -> int:
        return self.profiles[self.baseline].n_labels

    @property
    def n_rows(self) -> int:
        return self.profiles[self.baseline].n_rows

    @property
    def best(self) -> tuple[str, ...]:
        """The model with the least loss at each parameter; of equal ones, the first given."""
        losses = np.array([self.curves[name].losses for name in self.models])
        return tuple(self.models[index] for index in first_best(losses))

    def bands(self) -> dict[str, Band] | None:
        """Bootstrap intervals of the curves, pointwise."""
        if self.samples is None:
            return None
        return {name: bootstrap_band(self.samples[:, index], self.confidence) for index, name in enumerate(self.curves)}

    def difference(self, first: str, second: str) -> Difference | None:
        """Loss of the second minus that of the first, with a paired bootstrap interval."""
        if self.samples is None:
            return None
        i, j = (list(self.curves).index(name) for name in (first, second))
        band = bootstrap_band(self.samples[:, j] - self.samples[:, i], self.confidence)
        return Difference(self.curves[second].losses - self.curves[first].losses, *band)

    def summary(self) -> Summary:
        """Hamming loss, some points between, subset 0/1 loss and area; or the parameters asked for and the area."""
        family = get_family(self.family)
        columns = _summary_columns(family, self.parameters, self.n_labels)
        rows = {}
        for name, profile in self.profiles.items():
            losses = profile.losses(self.family, list(columns.values()))
            rows[name] = (*losses.tolist(), profile.curve(self.family).area)
        return Summary((*columns, "area"), rows, tuple(columns.values()))

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, ready for JSON."""
        summary = self.summary()
        return {
            "family": self.family,
            "n_rows": self.n_rows,
            "n_labels": self.n_labels,
            "parameters": plain_numbers(self.parameters),
            "best": list(self.best),
            "baseline": self.baseline,
            "confidence": self.confidence,
            "models": {
                name: {
                    "predictions": "hard" if self.profiles[name].is_hard else "soft",
                    "losses": plain_numbers(curve.losses),
                    "summary": dict(zip(summary.columns, summary.rows[name], strict=True)),
                    "difference_to_best": self.differences and _plain_fields(self.differences[name]),
                    "profile": self.profiles[name].to_dict(),
                }
                for name, curve in self.curves.items()
            },
        }


@np.errstate(under="ignore")
def evaluate(
    y_true: Any,
    predictions: Mapping[str, Any],
    *,
    family: str = "binomial",
    parameters: Any = None,
    threshold: float | None = None,
    sample_weight: Any = None,
    n_bootstrap: int = 1000,
    confidence: float = 0.95,
    random_state: int | np.random.Generator | None = 0,
    progress: Progress | None = None,
) -> Evaluation:
    """Judge the predictions of some models along the slide from Hamming to subset 0/1 loss.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    predictions : mapping from name to array-like or sparse matrix of shape (n_samples, n_labels)
        Predicted labels, or scores in [0, 1]. Hard and soft predictions are different yardsticks (hedging pays for
        scores): a `MixedPredictionsWarning` says so where both come together.
    family : {"binomial", "polynomial"}
    parameters : array-like, optional
        Increasing values of k or alpha; see `loss_curve` for the default.
    threshold : float, optional
        Makes scores hard: 1 where a score is at least the threshold. Hard predictions stay as they are.
    sample_weight : array-like of shape (n_samples,), optional
    n_bootstrap : int
        Paired bootstrap samples for the intervals of the differences to the best; 0 leaves them out.
    confidence : float
        Of the intervals, pointwise.
    random_state : int, Generator or None
        Seeds the bootstrap.
    progress : callable (done, total, what), optional
        Told how far the work has come.

    Returns
    -------
    evaluation : Evaluation

    Examples
    --------
    >>> y_true = [[1, 1, 0], [0, 0, 1], [1, 1, 0], [0, 0, 1]]
    >>> apart = [[1, 0, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1]]  # one label wrong, twice
    >>> together = [[0, 0, 1], [0, 0, 1], [1, 1, 0], [0, 0, 1]]  # all labels wrong, once
    >>> evaluation = evaluate(y_true, {"apart": apart, "together": together})
    >>> evaluation.best
    ('apart', 'together', 'together')
    """
    if not isinstance(predictions, Mapping):
        raise TypeError(f"predictions must be a mapping from names to predictions; got {type(predictions).__name__}.")
    for name in predictions:
        if not isinstance(name, str):
            raise TypeError(f"predictions must have text for names; got {name!r}.")
    if not predictions:
        raise ValueError("predictions must name at least one model; got none.")
    if BASELINE in predictions:
        raise ValueError(f"{BASELINE!r} is the name of the baseline; please name the model otherwise.")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1; got {confidence}.")
    threshold = None if threshold is None else check_threshold(threshold)
    n_bootstrap = check_count("n_bootstrap", n_bootstrap, least=0)
    true = check_matrix("y_true", y_true)
    weights = check_sample_weight(sample_weight, true.shape[0])
    grid = get_family(family).parameters(parameters, true.shape[1])
    progress = progress or (lambda done, total, what: None)

    matrices = {}
    for name, y_pred in predictions.items():
        check_columns(y_true, y_pred, name_in_messages(name))  # frames: true is an array by now
        matrices[name] = _prepare(true, y_pred, threshold, name_in_messages(name))
    profiles = profiles_by_name(true, matrices, weights, progress)
    matrices[BASELINE] = sp.csr_array(true.shape, dtype=np.uint8)
    profiles[BASELINE] = ErrorProfile.from_predictions(true, matrices[BASELINE], weights)
    curves = {name: profile.curve(family, grid, name) for name, profile in profiles.items()}
    differences = samples = None
    if n_bootstrap:
        rng = np.random.default_rng(random_state)
        hard = all(profile.is_hard for profile in profiles.values())
        blocks = _rows_of_losses(true, matrices, weights, get_family(family), grid, n_bootstrap, progress, hard=hard)
        samples = bootstrap_means(blocks, n_bootstrap, rng).reshape(-1, len(curves), len(grid))
        differences = _differences(curves, samples, confidence)
    return Evaluation(family, grid, profiles, curves, differences, confidence, samples)


def _prepare(true: Labels, y_pred: Any, threshold: float | None, name: str) -> Labels:
    """Predictions of a checked shape, made hard where asked for."""
    _, matrix = check_labels(true, y_pred, pred_name=name)
    if threshold is None or is_hard(matrix):
        return matrix
    return harden_checked(check_scores(name, matrix), threshold)


def _rows_of_losses(
    true: Labels,
    matrices: dict[str, Labels],
    weights: np.ndarray | None,
    family: Family,
    grid: np.ndarray,
    n_bootstrap: int,
    progress: Progress,
    *,
    hard: bool,
) -> Iterator[Rows]:
    """Losses of every row under every model and parameter, in blocks; hard predictions grouped by their errors."""
    n_labels = true.shape[1]
    if hard:
        wrong, counts, weights = _group([_wrong_labels(true, matrix) for matrix in matrices.values()], weights)
        seen, wrong = np.unique(wrong, return_inverse=True)
        tables = family.table("deficits", grid, n_labels, int(seen[-1]))
        by_errors = np.vstack([table[:, seen] for table in tables]).T
        wrong = wrong.reshape(len(counts), len(matrices))
    else:
        wrong, counts = None, np.ones(true.shape[0], dtype=np.int64)
        weights = np.ones(true.shape[0]) if weights is None else weights
    n_columns = len(matrices) * len(grid)
    for block in row_slices((len(counts), max(n_bootstrap, n_columns)), itemsize=1):
        if wrong is not None:
            losses = [by_errors[errors] for errors in wrong[block].T]
        else:
            losses = [row_losses(true[block], matrix[block], family, grid) for matrix in matrices.values()]
        yield Rows(np.hstack(losses), counts[block], weights[block])
        progress(block.stop, len(counts), "bootstrap")


def _wrong_labels(true: Labels, pred: Labels) -> np.ndarray:
    return np.concatenate([block.wrong for block in error_blocks(true, pred)])


def _group(wrong: list[np.ndarray], weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows with the same errors of each model (and the same weight) once, with their number and weight."""
    keys = wrong if weights is None else [*wrong, np.unique(weights, return_inverse=True)[1]]
    codes = np.zeros(len(keys[0]), dtype=np.int64)
    for key in keys:  # one key after another: codes stay below n_rows * n_labels, where a product would overflow
        codes = np.unique(codes * (int(key.max()) + 1) + key, return_inverse=True)[1]
    _, first, counts = np.unique(codes, return_index=True, return_counts=True)
    return np.column_stack(wrong)[first], counts, np.ones(first.size) if weights is None else weights[first]


def _differences(curves: dict[str, LossCurve], samples: np.ndarray, confidence: float) -> dict[str, Difference]:
    """Intervals of loss minus loss of the best model; ``samples`` is (n_samples, n_curves, n_parameters)."""
    losses = np.array([curve.losses for curve in curves.values()])
    best = first_best(losses[:-1])  # the baseline, last, does not compete
    points = np.arange(losses.shape[1])
    estimates = losses - losses[best, points]
    resampled = samples - samples[:, best, points][:, np.newaxis]
    lower, upper = bootstrap_band(resampled, confidence)
    return {name: Difference(*rows) for name, *rows in zip(curves, estimates, lower, upper, strict=True)}


def first_best(losses: np.ndarray) -> np.ndarray:
    """For each column the first row with the least loss, but for rounding."""
    return (losses <= losses.min(axis=0) + ROUNDING).argmax(axis=0)


def _summary_columns(family: Family, parameters: np.ndarray, n_labels: int) -> dict[str, float]:
    """Column title -> parameter: five points of the default grid, or the few parameters that were asked for."""
    if not np.array_equal(parameters, family.default_parameters(n_labels)):
        return {f"{family.symbol}={parameter:.15g}": parameter for parameter in parameters}
    if family.name == "polynomial":
        return {"Hamming": 1.0, "alpha=2": 2.0, "alpha=3": 3.0, "alpha=10": 10.0, "subset": np.inf}
    if n_labels == 1:
        return {"Hamming": 1.0}
    between = sorted({k for k in (2, 3, n_labels // 2) if 1 < k < n_labels})
    return {"Hamming": 1.0, **{f"k={k}": float(k) for k in between}, "subset": float(n_labels)}


def _plain_fields(difference: Difference) -> dict[str, list]:
    return {field: plain_numbers(array) for field, array in difference._asdict().items()}


def plain_numbers(array: np.ndarray) -> list:
    """Numbers for JSON, which knows no infinity: it is the text ``inf``."""
    return ["inf" if value == np.inf else value for value in array.tolist()]
