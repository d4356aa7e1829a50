"""An evaluation from summaries of predictions, wherever these came from."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from choral.curves import LossCurve
from choral.evaluation.result import BASELINE, Difference, Evaluation, first_best
from choral.evaluation.rows import Progress, rows_of_groups, tell_nobody
from choral.measures.families import get_family
from choral.profiles import ErrorProfile, ObservedProfile
from choral.profiles.joint_errors import JointErrors
from choral.stats import WeightedLosses, bootstrap_band, bootstrap_means


def evaluate_summaries(
    profiles: dict[str, ErrorProfile],
    joint: JointErrors | None,
    *,
    family: str = "binomial",
    parameters: Any = None,
    n_bootstrap: int = 1000,
    confidence: float = 0.95,
    random_state: int | np.random.Generator | None = 0,
    progress: Progress | None = None,
) -> Evaluation:
    """Judge models by summaries of their predictions, the baseline last; without joint errors, without intervals.

    The other parameters are those of `evaluate`, which finds the same in predictions that fit into memory.
    """
    n_labels = profiles[BASELINE].n_labels
    grid = get_family(family).parameters(parameters, n_labels)
    rows = None
    if n_bootstrap and joint is not None:
        tell = progress or tell_nobody
        rows = rows_of_groups(joint, n_labels, get_family(family), grid, n_bootstrap, tell)
    return make_evaluation(profiles, family, grid, rows, n_bootstrap, confidence, random_state)


@np.errstate(under="ignore")
def make_evaluation(
    profiles: Mapping[str, ErrorProfile | ObservedProfile],
    family: str,
    grid: np.ndarray,
    rows: Iterator[WeightedLosses] | None,
    n_bootstrap: int,
    confidence: float,
    random_state: int | np.random.Generator | None,
) -> Evaluation:
    """Curves from profiles, and intervals from the losses of rows."""
    curves = {name: profile.curve(family, grid, name) for name, profile in profiles.items()}
    differences = samples = None
    if rows is not None:
        means = bootstrap_means(rows, n_bootstrap, np.random.default_rng(random_state))
        samples = means.reshape(-1, len(curves), len(grid))
        differences = _differences(curves, samples, confidence)
    return Evaluation(family, grid, profiles, curves, differences, confidence, samples)


def _differences(curves: dict[str, LossCurve], samples: np.ndarray, confidence: float) -> dict[str, Difference]:
    """Intervals of loss minus loss of the best model; ``samples`` is (n_samples, n_curves, n_parameters)."""
    losses = np.array([curve.losses for curve in curves.values()])
    best = first_best(losses[:-1])  # the baseline, last, does not compete
    points = np.arange(losses.shape[1])
    estimates = losses - losses[best, points]
    resampled = samples - samples[:, best, points][:, np.newaxis]
    lower, upper = bootstrap_band(resampled, confidence)
    return {name: Difference(*rows) for name, *rows in zip(curves, estimates, lower, upper, strict=True)}
