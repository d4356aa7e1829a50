"""Profiles of dask arrays: the same as in memory, on real workers too, with only profiles on the wire."""

import numpy as np
import pytest
import scipy.sparse as sp

pytest.importorskip("dask.array")
pytest.importorskip("distributed")

import dask.array as da
import distributed

from choral import ErrorProfile

N_ROWS, N_LABELS = 60, 5
RNG = np.random.default_rng(0)
Y_TRUE = RNG.integers(2, size=(N_ROWS, N_LABELS))
LABELS = RNG.integers(2, size=(N_ROWS, N_LABELS))
SCORES = RNG.random((N_ROWS, N_LABELS))
WEIGHTS = RNG.random(N_ROWS)


def dask(array, rows=-1, labels=-1):
    return da.from_array(array, chunks=(rows, labels))


def assert_same(profile, *in_memory):
    expected = ErrorProfile.from_predictions(*in_memory)
    if expected.is_hard and len(in_memory) == 2:
        assert profile == expected
        return
    assert (profile.n_rows, profile.is_hard) == (expected.n_rows, expected.is_hard)
    np.testing.assert_allclose(profile.error_sums, expected.error_sums, rtol=1e-13)
    assert profile.total_weight == pytest.approx(expected.total_weight, rel=1e-13)


# Blocks


@pytest.mark.parametrize("y_pred", [LABELS, SCORES])
@pytest.mark.parametrize("weights", [[], [WEIGHTS]])
@pytest.mark.parametrize("true_blocks", [(-1, -1), (20, -1), (7, 2)])
@pytest.mark.parametrize("pred_blocks", [(20, -1), (13, 4)])
def test_blocks_do_not_matter(y_pred, weights, true_blocks, pred_blocks):
    profile = ErrorProfile.from_predictions(dask(Y_TRUE, *true_blocks), dask(y_pred, *pred_blocks), *weights)
    assert_same(profile, Y_TRUE, y_pred, *weights)


def test_weights_in_blocks_of_their_own():
    weights = np.where(np.arange(N_ROWS) < 20, 0, WEIGHTS)  # no weight at all in the first block
    profile = ErrorProfile.from_predictions(dask(Y_TRUE, 20), dask(LABELS, 20), da.from_array(weights, chunks=10))
    assert_same(profile, Y_TRUE, LABELS, weights)


class PydataSparse:
    """What is used of a sparse array of pydata."""

    def __init__(self, block):
        self.block = block

    def to_scipy_sparse(self):
        return sp.coo_array(self.block)


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array, sp.csc_matrix])
@pytest.mark.parametrize("y_pred", [LABELS, SCORES])
def test_sparse_blocks(kind, y_pred):
    true, pred = (dask(array, 20, 3).map_blocks(kind, dtype=array.dtype) for array in (Y_TRUE, y_pred))
    assert_same(ErrorProfile.from_predictions(true, pred), Y_TRUE, y_pred)
    assert_same(ErrorProfile.from_predictions(true, dask(y_pred, 20)), Y_TRUE, y_pred)


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array])
def test_sparse_blocks_cut_otherwise(kind):
    true, pred = dask(Y_TRUE, 20).map_blocks(kind), dask(LABELS, 15, 2).map_blocks(kind)
    assert_same(ErrorProfile.from_predictions(true, pred), Y_TRUE, LABELS)


@pytest.mark.parametrize("first", [np.asarray, sp.csr_matrix])
def test_dense_and_sparse_blocks_side_by_side(first):
    second = {np.asarray: sp.csr_matrix, sp.csr_matrix: np.asarray}[first]
    pred = da.concatenate(
        [dask(LABELS[:, :2], 20).map_blocks(first), dask(LABELS[:, 2:], 20).map_blocks(second)], axis=1
    )
    assert_same(ErrorProfile.from_predictions(dask(Y_TRUE, 20), pred), Y_TRUE, LABELS)


def test_blocks_of_pydata():
    true, pred = (dask(array, 20, 3).map_blocks(PydataSparse, dtype=int, meta=array) for array in (Y_TRUE, LABELS))
    assert_same(ErrorProfile.from_predictions(true, pred), Y_TRUE, LABELS)


def test_unknown_numbers_of_rows():
    kept = Y_TRUE[:, 0] == 1
    kept[20:40] = False  # a block without rows
    chosen = da.from_array(kept, chunks=20)
    true, pred = dask(Y_TRUE, 20)[chosen], dask(LABELS, 20)[chosen]
    weights = da.from_array(WEIGHTS, chunks=20)[chosen]
    assert_same(ErrorProfile.from_predictions(true, pred), Y_TRUE[kept], LABELS[kept])
    assert_same(ErrorProfile.from_predictions(true, pred, weights), Y_TRUE[kept], LABELS[kept], WEIGHTS[kept])


# Errors


@pytest.mark.parametrize(
    "true, pred, message",
    [
        (dask(Y_TRUE[:50]), dask(LABELS), r"same shape \(n_samples, n_labels\); got \(50, 5\) and \(60, 5\)"),
        (dask(Y_TRUE[:, :4]), dask(LABELS), r"got \(60, 4\) and \(60, 5\)"),
        (da.from_array(WEIGHTS), dask(LABELS), r"y_true must be 2-D, .*; got 1-D of shape \(60,\)"),
        (dask(Y_TRUE)[dask(Y_TRUE)[:, 0] > 0], dask(LABELS, 20), "equally many; got 1 of y_true, 3 of y_pred"),
    ],
)
def test_shapes_are_refused_before_the_work(true, pred, message):
    true = true.map_blocks(pytest.fail, dtype=int, meta=np.empty((0,) * true.ndim))
    with pytest.raises(ValueError, match=message):
        ErrorProfile.from_predictions(true, pred)


def test_arrays_in_memory_are_cut_as_the_others_are():
    for pair in (
        (Y_TRUE, dask(LABELS, 7)),
        (dask(Y_TRUE, 7), LABELS.tolist()),
        (sp.csr_array(Y_TRUE), dask(LABELS, 7)),
    ):
        assert_same(ErrorProfile.from_predictions(*pair), Y_TRUE, LABELS)
    assert_same(ErrorProfile.from_predictions(dask(Y_TRUE, 20), SCORES, WEIGHTS), Y_TRUE, SCORES, WEIGHTS)
    unknown = dask(Y_TRUE, 20)[dask(Y_TRUE, 20)[:, 0] >= 0]
    with pytest.raises(ValueError, match="y_pred must be a dask array too where dask does not know the number of rows"):
        ErrorProfile.from_predictions(unknown, LABELS)
    with pytest.raises(ValueError, match="sample_weight must be in memory where the labels are in memory"):
        ErrorProfile.from_predictions(Y_TRUE, LABELS, da.from_array(WEIGHTS))


def test_dask_frames_are_told_what_to_do():
    frames = pytest.importorskip("dask.dataframe")
    frame = frames.from_dict({"a": [0, 1], "b": [1, 1]}, npartitions=1)
    with pytest.raises(TypeError, match=r"y_true must be a dask array; to_dask_array\(\) makes one of a dask frame"):
        ErrorProfile.from_predictions(frame, dask(LABELS[:2, :2]))
    with pytest.raises(TypeError, match=r"y_true must be a dask array; to_dask_array\(\) makes one of a dask frame"):
        ErrorProfile.from_predictions(frame, LABELS[:2, :2])


@pytest.mark.parametrize(
    "weights, message",
    [
        (WEIGHTS[:50], "sample_weight must have one entry for each of 60 rows; got 50"),
        (da.from_array(WEIGHTS[:50]), "sample_weight must have one entry for each of 60 rows; got 50"),
        (da.from_array(SCORES), r"sample_weight must be 1-D; got 2-D of shape \(60, 5\)"),
        (np.zeros(N_ROWS), "sample_weight must not be zero everywhere"),
        (
            np.full(N_ROWS, 5e-324),
            "sample_weight must have an entry of at least 1e-290, for losses to keep their digits",
        ),
        (WEIGHTS - (np.arange(N_ROWS) == 45), r"sample_weight\[5\] is -.* Rows are counted from row 40 of the whole"),
    ],
)
def test_weights_are_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        ErrorProfile.from_predictions(dask(Y_TRUE, 20), dask(LABELS, 20), weights)


def test_values_are_refused_with_their_place():
    scores = SCORES.copy()
    scores[45, 2] = 1.5
    message = r"y_pred\[5, 2\] is 1.5. Divide percentages by 100. .* Rows are counted from row 40 of the whole."
    with pytest.raises(ValueError, match=message):
        ErrorProfile.from_predictions(dask(Y_TRUE, 20), dask(scores, 20))
    chosen = da.from_array(np.ones(N_ROWS, dtype=bool), chunks=20)
    with pytest.raises(ValueError, match=r"y_pred\[5, 2\] is 1.5. .* Rows are counted within block 2."):
        ErrorProfile.from_predictions(dask(Y_TRUE, 20)[chosen], dask(scores, 20)[chosen])
    with pytest.raises(ValueError, match="a dask array too where dask does not know the number of rows"):
        ErrorProfile.from_predictions(dask(Y_TRUE, 20)[chosen], dask(scores, 20)[chosen], WEIGHTS)


def test_weights_of_no_rows_are_refused():
    chosen = da.from_array(np.arange(N_ROWS) >= 20, chunks=20)  # none of the first block
    with pytest.raises(ValueError, match=r"got shape \(0, 5\). Rows are counted within block 0."):
        ErrorProfile.from_predictions(
            dask(Y_TRUE, 20)[chosen], dask(LABELS, 20)[chosen], da.from_array(WEIGHTS, chunks=20)
        )


def test_nothing_at_all_is_refused():
    nothing = dask(Y_TRUE, 20)[:0]
    with pytest.raises(ValueError, match=r"at least one row and one label; got shape \(0, 5\)"):
        ErrorProfile.from_predictions(nothing, nothing)


# Workers

MEMORY = 250_000_000  # of a worker, of which Python and its packages take half
ROWS_OF_BLOCK, N_BLOCKS, WIDTH = 100_000, 80, 100  # 10 MB a block and side, 1.6 GB in all


@pytest.fixture(scope="module")
def client():
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": MEMORY}
    with distributed.LocalCluster(n_workers=2, **options) as cluster, distributed.Client(cluster) as client:
        yield client


def make_block(seed, block_id):
    """Labels from one small table, for which there is time."""
    rng = np.random.default_rng([seed, block_id[0] % 4])
    return np.tile(rng.integers(2, size=(1000, WIDTH), dtype=np.uint8), (ROWS_OF_BLOCK // 1000, 1))


def made_by_workers(seed):
    def make(block_id):
        return make_block(seed, block_id)

    return da.map_blocks(make, chunks=((ROWS_OF_BLOCK,) * N_BLOCKS, (WIDTH,)), dtype=np.uint8)


def test_data_larger_than_the_memory_of_all_workers(client):
    assert 2 * N_BLOCKS * ROWS_OF_BLOCK * WIDTH > 3 * 2 * MEMORY
    profile = ErrorProfile.from_predictions(made_by_workers(1), made_by_workers(2))
    of_four = sum(ErrorProfile.from_predictions(make_block(1, [i]), make_block(2, [i])) for i in range(4))
    np.testing.assert_array_equal(profile.rows_by_errors, of_four.rows_by_errors * (N_BLOCKS // 4))
    peaks = client.run(lambda dask_worker: max(dask_worker.monitor.quantities["memory"]))  # looked at every half second
    assert max(peaks.values()) < MEMORY
    sent = client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total)  # to each other, and to here
    assert 0 < sum(sent.values()) < 5000 * N_BLOCKS


def test_what_lies_on_workers_stays_there(client):
    """Blocks that are there already, and what several of them need, are no part of a bundle."""
    true, pred = client.persist([dask(Y_TRUE, 20, 3), dask(SCORES, 20)])
    assert_same(ErrorProfile.from_predictions(true, pred), Y_TRUE, SCORES)
    relative = pred / pred.max()  # needs all blocks
    assert_same(ErrorProfile.from_predictions(true, relative), Y_TRUE, SCORES / SCORES.max())


def test_errors_of_workers_are_those_of_the_data(client):
    with pytest.raises(ValueError, match=r"y_true\[5, 0\] is \d. Rows are counted from row 40 of the whole."):
        ErrorProfile.from_predictions(dask(Y_TRUE + 2 * (np.arange(N_ROWS) == 45)[:, np.newaxis], 20), dask(LABELS, 20))
