"""Descriptions of data sets: by hand, against slow code and scikit-learn; conditional dependence against the truth."""

import json
import warnings
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import mutual_info_score
from sklearn.model_selection import ShuffleSplit
from sklearn.svm import LinearSVC

import choral
from choral.datasets import Dataset, load, load_digits_segments, make_dependent
from choral.stats import conditional_dependence, describe

SMALL = np.array([[1, 1, 0], [1, 0, 0], [1, 1, 0], [0, 0, 0]])

SIZES = {  # instances, features, labels, label sets and cardinality, as in ../shared/datasets/README.md
    "birds": (645, 260, 19, 133, 1.0140),
    "emotions": (593, 72, 6, 27, 1.8685),
    "enron-f": (1702, 1001, 53, 753, 3.3784),
    "flags": (194, 14, 12, 103, 4.1237),
    "flags-7": (194, 19, 7, 54, 3.3918),
    "genbase": (662, 1185, 27, 32, 1.2523),  # without its identifier
    "llog-f": (1460, 1004, 75, 304, 1.1801),
    "medical": (978, 1449, 45, 94, 1.2454),
    "scene": (2407, 294, 6, 15, 1.0740),
    "yeast": (2417, 103, 14, 198, 4.2371),
}

label_matrices = arrays(np.uint8, array_shapes(min_dims=2, max_dims=2, max_side=8), elements=st.integers(0, 1))


def with_labels(Y):
    """A data set of these labels and features that tell nothing."""
    return Dataset(np.zeros((len(Y), 1)), np.asarray(Y), tuple("abcdefgh"[: np.shape(Y)[1]]), "some")


# Description


def test_a_data_set_by_hand():
    found = describe(with_labels(SMALL))
    assert (found.name, found.label_names) == ("some", ("a", "b", "c"))
    assert (found.n_instances, found.n_features, found.n_labels, found.n_labelsets) == (4, 1, 3, 3)
    assert (found.ratio, found.cardinality, found.density) == (0.75, 1.25, pytest.approx(1.25 / 3))
    assert (found.n_unlabelled, found.unlabelled) == (1, 0.25)
    assert found.label_counts.tolist() == [3, 2, 0]
    assert found.imbalance_ratios.tolist() == [1, 1.5, np.inf]  # the last is left out of what follows
    assert (found.mean_imbalance, found.max_imbalance) == (1.25, 1.5)
    assert found.imbalance_variation == pytest.approx(np.sqrt(2 * 0.25**2) / 1.25)
    v = (2 / 4 - 3 / 4 * 2 / 4) / np.sqrt(3 / 4 * 1 / 4 * 2 / 4 * 2 / 4)
    assert found.cramers_v == pytest.approx(np.array([[1, v, 0], [v, 1, 0], [0, 0, 0]]))
    assert (found.mean_cramers_v, found.max_cramers_v) == (pytest.approx(v / 3), pytest.approx(v))


@settings(max_examples=20)
@given(Y=label_matrices)
def test_pairs_are_those_of_slow_code(Y):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = describe(Y)
        matrices = found.cramers_v, found.mutual_information
    for i in range(Y.shape[1]):
        for j in range(Y.shape[1]):
            varies = 0 < Y[:, i].sum() < len(Y) and 0 < Y[:, j].sum() < len(Y)
            v = abs(np.corrcoef(Y[:, i], Y[:, j])[0, 1]) if varies else 0
            bits = mutual_info_score(Y[:, i], Y[:, j]) / np.log(2)
            assert matrices[0][i, j] == pytest.approx(v, abs=1e-9)
            assert matrices[1][i, j] == pytest.approx(bits, abs=1e-9)
    for matrix in matrices:
        assert matrix.min() >= 0
        assert np.array_equal(matrix, matrix.T)


@given(Y=label_matrices)
def test_dense_and_sparse_labels_are_described_alike(Y):
    expected = describe(Y).to_dict()
    assert expected["n_labelsets"] == len(np.unique(Y, axis=0))
    assert describe(sp.csr_matrix(Y)).to_dict() == expected
    assert describe(Y.astype(bool)).to_dict() == expected
    assert describe(Y.tolist()).to_dict() == expected


def test_zeros_that_a_sparse_matrix_holds_are_no_labels():
    Y = sp.csr_array(SMALL)
    Y.data[:] = [1, 0, 1, 1, 1]
    assert describe(Y).to_dict() == describe(Y.toarray()).to_dict()
    assert Y.nnz == 5  # the caller's matrix stays as it is


def test_more_rows_than_a_block(monkeypatch):
    Y = np.random.default_rng(0).integers(2, size=(50, 4))
    expected = describe(Y).to_dict()
    monkeypatch.setattr("choral.rows.blocks.BLOCK_BYTES", 32 * 7)
    assert describe(Y).to_dict() == expected


def test_labels_alone_have_no_features():
    found = describe(SMALL)
    assert (found.name, found.n_features) == ("labels", None)
    assert found.label_names == ("label 0", "label 1", "label 2")
    found = describe(SMALL, name="mine", label_names=["x", "y", "z"])
    assert (found.name, found.label_names) == ("mine", ("x", "y", "z"))


def test_names_given_come_first():
    found = describe(with_labels(SMALL), name="mine", label_names=("x", "y", "z"))
    assert (found.name, found.label_names) == ("mine", ("x", "y", "z"))


def test_the_columns_of_a_frame_are_names():
    pandas = pytest.importorskip("pandas")
    assert describe(pandas.DataFrame(SMALL, columns=["x", "y", "z"])).label_names == ("x", "y", "z")


def test_nominal_features_count_once():
    dataset = Dataset(np.zeros((4, 5)), SMALL, ("a", "b", "c"), "some", n_nominal=1, n_numeric=2)
    assert describe(dataset).n_features == 3


def test_no_label_is_ever_relevant():
    found = describe(np.zeros((3, 2)))
    assert (found.n_labelsets, found.unlabelled, found.cardinality) == (1, 1, 0)
    assert np.isnan([found.mean_imbalance, found.max_imbalance]).all()
    assert (found.imbalance_variation, found.max_cramers_v, found.max_mutual_information) == (0, 0, 0)


def test_a_single_label():
    found = describe([[0], [1], [1]])
    assert (found.mean_cramers_v, found.max_cramers_v, found.mean_mutual_information) == (0, 0, 0)
    assert (found.imbalance_variation, found.mean_imbalance) == (0, 1)


def test_it_goes_into_json():
    found = json.loads(json.dumps(describe(with_labels(SMALL)).to_dict(), allow_nan=False))
    assert found["n_instances"] == 4
    assert found["labels"][1] == {"name": "b", "count": 2, "imbalance_ratio": 1.5}
    assert found["labels"][2]["imbalance_ratio"] is None
    assert np.shape(found["cramers_v"]) == np.shape(found["mutual_information"]) == (3, 3)
    assert describe(np.zeros((3, 2))).to_dict()["mean_imbalance"] is None


@pytest.mark.parametrize("make", [np.array, sp.csr_array])
def test_refuses_what_are_no_labels(make):
    with pytest.raises(ValueError, match=r"Y must be binary, 0 or 1; Y\[1, 0\] is 2"):
        describe(make([[0, 1], [2, 1]]))


def test_refuses_the_wrong_number_of_names():
    with pytest.raises(ValueError, match="label_names must have one entry for each of 3 labels; got 2."):
        describe(SMALL, label_names=["x", "y"])


def test_refuses_more_pairs_than_there_is_memory_for(monkeypatch):
    message = (
        "labels, the matrix of all pairs of 20000 labels, is too large: 12800000000 bytes to read, the limit is 8589"
    )
    with pytest.raises(ValueError, match=message):
        describe(sp.csr_array((3, 20_000)))
    monkeypatch.setenv("CHORAL_MAX_BYTES", "31")
    with pytest.raises(ValueError, match="of 1 labels, is too large: 32 bytes to read, the limit is 31"):
        describe([[1]])


def test_statistics_come_with_the_package():
    assert choral.stats.describe is describe


@pytest.mark.parametrize("name", SIZES)
def test_sizes_of_the_data_sets_of_the_paper(datasets_folder, monkeypatch, name):
    monkeypatch.setenv("CHORAL_DATA", str(datasets_folder))
    found = describe(load(name))
    *counts, cardinality = SIZES[name]
    assert [found.n_instances, found.n_features, found.n_labels, found.n_labelsets] == counts
    assert found.cardinality == pytest.approx(cardinality, abs=5e-5)
    assert found.ratio == counts[2] / counts[0]
    assert found.n_unlabelled == {"birds": 294, "llog-f": 207}.get(name, 0)


# Conditional dependence


def test_it_finds_how_dependent_labels_are():
    datasets = [make_dependent(1500, 4, dependence) for dependence in (0, 0.4, 0.7, 1)]
    found = [conditional_dependence(dataset) for dataset in datasets]
    truth = [dataset.total_correlation().mean() for dataset in datasets]
    assert truth[0] == pytest.approx(0, abs=1e-12)
    assert abs(found[0].total) < 0.02
    for less, more in pairwise(found):
        assert more.total > less.total + 2 * (less.standard_error + more.standard_error)
    for one, bits in zip(found[1:], truth[1:], strict=True):
        # linear models see most of it, and nothing that is not there
        assert 0.6 * bits < one.total < bits + 2 * one.standard_error
        assert one.mean == pytest.approx(one.total / 4)


def test_unconditional_dependence_alone_is_no_gain():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, 1))
    Y = (rng.random((1500, 3)) < 1 / (1 + np.exp(-3 * X))).astype(np.uint8)
    dataset = Dataset(X, Y, ("a", "b", "c"), "a common cause")
    assert describe(dataset).mean_cramers_v > 0.25
    assert abs(conditional_dependence(dataset).total) < 0.02


def test_gains_by_hand():
    """Features that tell nothing, a label that is a copy of the first, and a model that counts."""
    y = np.tile([0, 1], 100)
    dataset = with_labels(np.column_stack([y, y]).astype(np.uint8))
    forest = RandomForestClassifier(1, bootstrap=False, random_state=0)
    found = conditional_dependence(dataset, forest, cv=4)
    assert found.losses_alone == pytest.approx([1, 1], abs=0.02)
    assert found.losses_chained[1] == pytest.approx(-np.log2(1 - 1 / 152))  # 150 rows to learn from
    assert found.gains.tolist() == (found.losses_alone - found.losses_chained).tolist()
    assert found.gains[0] == 0
    assert found.label_names == ("a", "b")


def test_a_label_with_one_class_in_training():
    Y = np.zeros((40, 3), dtype=np.uint8)
    Y[::2, 0] = 1
    Y[7, 2] = 1  # in one fold never seen in training
    found = conditional_dependence(with_labels(Y), cv=5)
    assert found.losses_alone[1] == pytest.approx(-np.log2(1 - 1 / 34))
    assert found.gains[1] == 0
    assert np.isfinite(found.gains).all()


def test_a_single_label_depends_on_nothing():
    found = conditional_dependence(make_dependent(50, 1, 1))
    assert (found.total, found.standard_error) == (0, 0)


def test_dense_and_sparse_features_with_missing_values():
    dataset = make_dependent(300, 3, 1)
    X = np.round(np.abs(dataset.X))
    X[::50, 0] = np.nan
    same = [Dataset(features, dataset.Y, dataset.label_names, "same") for features in (X, sp.csr_array(X))]
    dense, sparse = (conditional_dependence(one) for one in same)
    assert dense.total == pytest.approx(sparse.total, abs=0.1)  # they are scaled in other ways


def test_the_seed_and_the_folds_decide():
    dataset = make_dependent(200, 3, 0.5)
    first, same, other = (conditional_dependence(dataset, random_state=seed).total for seed in (0, 0, 1))
    assert first == same != other
    split = conditional_dependence(dataset, cv=ShuffleSplit(3, random_state=0))
    assert split.total != first


def test_progress_is_told_of_each_label_of_each_fold():
    told = []
    conditional_dependence(make_dependent(60, 3, 0.5), cv=2, progress=lambda *what: told.append(what))
    assert told == [(done, 6, "fitting chains to dependent-0.5") for done in range(1, 7)]


def test_conditional_dependence_goes_into_json():
    found = conditional_dependence(make_dependent(60, 3, 0.5))
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert data["total"] == pytest.approx(sum(data["gains"]))
    assert data["labels"] == ["label 0", "label 1", "label 2"]


def test_the_callers_estimator_stays_unfitted():
    forest = RandomForestClassifier(2)
    conditional_dependence(make_dependent(60, 2, 0.5), forest)
    assert not hasattr(forest, "classes_")


def test_conditional_dependence_refuses():
    with pytest.raises(TypeError, match="dataset must be a Dataset, which has features; got ndarray."):
        conditional_dependence(SMALL)
    with pytest.raises(TypeError, match=r"estimator must have predict_proba; got LinearSVC\(\)."):
        conditional_dependence(load_digits_segments(), LinearSVC())
    with pytest.raises(ValueError, match="cv must be at least 2; got 1."):
        conditional_dependence(with_labels(SMALL), cv=1)
    with pytest.raises(ValueError, match="cv must be at most the number of instances, 4; got 5 folds."):
        conditional_dependence(with_labels(SMALL))
