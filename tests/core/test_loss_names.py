"""Short names of losses: what each means, that all take part everywhere they can, and what is refused."""

import math

import numpy as np
import pytest

import choral
from choral import (
    AveragedFLoss,
    AveragedJaccardLoss,
    BinomialMeasure,
    FLoss,
    HammingMeasure,
    JaccardLoss,
    LabelDistribution,
    PolynomialMeasure,
    SubsetMeasure,
    loss_by_name,
)
from choral.loss_names import LOSS_CHOICES, LOSS_NAMES, name_of_loss


@pytest.mark.parametrize(
    "name, loss",
    [
        ("hamming", HammingMeasure()),
        ("subset", SubsetMeasure()),
        ("k=1", BinomialMeasure(1)),
        ("k=30", BinomialMeasure(30)),
        ("alpha=1", PolynomialMeasure(1)),
        ("alpha=2.5", PolynomialMeasure(2.5)),
        ("alpha=inf", PolynomialMeasure(math.inf)),
        ("f1", FLoss()),
        ("f0.5", FLoss(0.5)),
        ("f2", FLoss(2)),
        ("jaccard", JaccardLoss()),
        ("micro_f1", AveragedFLoss("micro")),
        ("macro_f0.5", AveragedFLoss("macro", beta=0.5)),
        ("micro_jaccard", AveragedJaccardLoss("micro")),
        ("macro_jaccard", AveragedJaccardLoss("macro")),
    ],
)
def test_a_name_means_a_loss(name, loss):
    assert loss_by_name(name) == loss


@pytest.mark.parametrize("name", LOSS_NAMES)
def test_all_but_micro_and_macro_averages_can_be_decided(name):
    distribution = LabelDistribution(np.eye(3), [0.5, 0.3, 0.2])
    if name.startswith(("micro", "macro")):
        with pytest.raises(
            TypeError, match="measure must be one of choral.measures, FLoss or JaccardLoss; got Averaged"
        ):
            choral.bayes_optimal(distribution, loss_by_name(name))
    else:
        assert choral.bayes_optimal(distribution, loss_by_name(name)).exact.all()


@pytest.mark.parametrize(
    "name",
    ["", "F1", "f", "f-1", "f1 ", "f1_0", "finf", "k", "k=", "k=2.5", "alpha=nan", "samples_f1", "micro_k=3", "half"],
)
def test_other_names_are_refused_and_the_choices_listed(name):
    with pytest.raises(
        ValueError, match="^loss must be hamming, subset, k=3, alpha=2.5, f1, jaccard, micro_f1, .* got"
    ):
        loss_by_name(name)
    assert all(some in LOSS_CHOICES for some in LOSS_NAMES)


@pytest.mark.parametrize(
    "name, message",
    [
        ("k=0", "k must be"),
        ("alpha=0.5", "alpha must be at least 1; got 0.5"),
        ("f0", "beta must lie between 0.001 and 1000; got 0"),
        ("micro_f2000", "beta must lie between 0.001 and 1000; got 2000"),
    ],
)
def test_parameters_that_no_loss_has_are_refused(name, message):
    with pytest.raises(ValueError, match=message):
        loss_by_name(name)


@pytest.mark.parametrize(
    "name",
    ["hamming", "subset", "k=3", "alpha=2.5", "alpha=inf", "f1", "f0.3", "jaccard", "micro_f2", "macro_jaccard"],
)
def test_losses_are_named_as_they_are_read(name):
    assert name_of_loss(loss_by_name(name)) == name


def test_a_number_is_read_back_to_the_last_bit():
    for alpha in (1 + 2**-52, 1 / 3 + 1, 1e20):
        assert loss_by_name(name_of_loss(choral.PolynomialMeasure(alpha))) == choral.PolynomialMeasure(alpha)
