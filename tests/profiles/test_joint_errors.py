"""Rows grouped by their errors under several models: counted as a plain loop would, and added up."""

from collections import Counter

import numpy as np
import pytest

from choral.profiles import totals
from choral.profiles.totals import JointErrors
from choral.rows import open_rows


def count_slowly(true, predictions, weights):
    errors = [(true != pred).sum(axis=1) for pred in predictions]
    return Counter(zip(*(column.tolist() for column in errors), weights.tolist(), strict=True))


def group_rows(true, predictions, weights):
    rows = [open_rows(true, pred, sample_weight=weights) for pred in predictions]
    return JointErrors.from_rows(rows)


def as_counter(joint):
    keys = zip(*joint.wrong.T.tolist(), joint.weights.tolist(), strict=True)
    return dict(zip(keys, joint.counts.tolist(), strict=True))


@pytest.mark.parametrize("weights", [np.ones(60), np.arange(60) % 3 / 2])
@pytest.mark.parametrize("max_codes", [totals.MAX_CODES, 100])
@pytest.mark.parametrize("n_models", [1, 4])
def test_groups_are_those_of_a_loop(monkeypatch, weights, max_codes, n_models):
    monkeypatch.setattr(totals, "MAX_CODES", max_codes)  # codes are made anew before they overflow
    rng = np.random.default_rng(n_models)
    true, *predictions = rng.integers(2, size=(1 + n_models, 60, 3))
    joint = group_rows(true, predictions, weights)
    assert as_counter(joint) == count_slowly(true, predictions, weights)
    keys = np.column_stack([joint.wrong, joint.weights]).tolist()
    assert keys == sorted(keys)  # so that a bootstrap draws the same, whatever the parts were
    parts = [
        group_rows(true[rows], [pred[rows] for pred in predictions], weights[rows])
        for rows in (slice(0, 25), slice(25, 60))
    ]
    total = parts[0] + parts[1]
    assert len(total) == len(joint)
    for name in ("wrong", "counts", "weights"):
        np.testing.assert_array_equal(getattr(total, name), getattr(joint, name))
