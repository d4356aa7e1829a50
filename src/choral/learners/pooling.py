r"""One joint distribution from what several models say of label sets: multiplied, with exponents that are learned.

.. math:: p(y \mid x) \propto \prod_m s_m(y \mid x)^{b_m}

over the candidate label sets of each row. Models that know labels one by one and models that know label sets meet here:
good marginals of one are tied together by the dependence that the other has seen. Multiplied, not averaged: a label set
that a model rules out stays unlikely.

The exponents are those by which the distributions of rows that the models were not fitted on have the best score

.. math:: S(p, y) = 2 \sum_c p(c) g(c, y) - \sum_{c, c'} p(c) \, p(c') \, g(c, c'),

where g is what a prediction is worth under the binomial losses of all k together. That is proper: it is best in
expectation for the true distribution, since g is the inner product of indicators of what a label set says about each
set of k labels. For k = K it is the Brier score of label sets, for k = 1 that of each label. Likelihood instead cares
most for rows whose label set nobody could foresee. In the end other exponents, most often the same ones times a
factor, take their place if decisions for left-out rows are better by them, each with the candidates that it picks.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize

from choral.decisions import LabelDistribution
from choral.decisions.label_weights import distinct_rows
from choral.decisions.support import row_blocks
from choral.decisions.words import count_differences, pack_words
from choral.learners.evidence import UNCERTAIN_LABELS, Candidates, Evidence, cheapest, without_last_bits
from choral.measures import BinomialMeasure

MAX_CANDIDATES_PER_ROW = 64  # the best ones; exponents learned from so many are not right for many more
NEGLIGIBLE = 1e-6  # a candidate counts if its probability exceeds this share of the best one's
MAX_EXPONENT = 4.0
SHARPNESSES = (1.0, 1.5, 2.25, 3.5)
JUDGED_LOSSES = 5  # values of k, from Hamming to subset 0/1, by which decisions are judged
SMALLEST_LOSS = 1e-12  # divisor where no decision is ever wrong
PULL = 0.1  # weight of the squared distance from equal exponents; beside many rows it only decides between equals


@dataclass(frozen=True, eq=False)
class Pool:
    """Exponents of some models, and the label sets seen in training.

    Attributes
    ----------
    seen : ndarray of shape (n_seen, n_labels)
    exponents : ndarray of shape (n_models,)
    score : float
        The best mean score S of training rows, by models that were not fitted on them; at most 1.
    """

    seen: np.ndarray
    exponents: np.ndarray
    score: float

    def distribution(
        self, evidence: Sequence[Evidence], n_rows: int, own: np.ndarray | None = None
    ) -> LabelDistribution:
        """The joint distribution of each row, over its best candidates; ``own`` is as in `Candidates`."""
        rows, labelsets, weights = [], [], []
        for block in _blocks(n_rows, len(self.seen)):
            parts = [one[block] for one in evidence]
            of_block = None if own is None else own[block]
            candidates = Candidates(self.seen, _mean_log_odds(parts, self.exponents), of_block)
            scores = sum(b * one.scores(candidates) for b, one in zip(self.exponents, parts, strict=True) if b)
            picked, logs = _best(np.where(candidates.is_open, scores, -np.inf), MAX_CANDIDATES_PER_ROW)
            shares = np.exp(logs - logs.max(axis=1, keepdims=True))
            kept = shares > NEGLIGIBLE
            rows.append(block.start + np.nonzero(kept)[0])
            labelsets.append(candidates.labelsets(picked)[kept])
            weights.append((shares / np.where(kept, shares, 0).sum(axis=1, keepdims=True))[kept])
        support, which = distinct_rows(np.concatenate(labelsets))
        entries = np.concatenate(weights), (np.concatenate(rows), which)
        return LabelDistribution(support, sp.coo_array(entries, shape=(n_rows, len(support))).tocsr())


def fit_pool(evidence: Sequence[Evidence], Y: np.ndarray, rows: np.ndarray, known: np.ndarray | None = None) -> Pool:
    """Learn the exponents from what models say of some training rows, not having been fitted on them.

    The score is best for exponents that weigh candidates which equal exponents have picked. These need not be good at
    picking candidates themselves, as a pool does when it predicts: where the 64 nearest label sets by a weak model are
    all alike to it, its best exponent among them may be 0, and then nothing would tell which 64 to look at. So
    decisions are judged with the candidates that the exponents in question pick, and there are others to fall back on:
    halfway to equal exponents, equal ones, one model alone; those by the score and halfway also times a factor.

    Rows are judged by their labels that are known, all unless given; the others say nothing but which label sets are
    candidates.
    """
    equal = _equal_exponents(evidence)
    by_score, score = judge(evidence, Y, rows, equal, known).best_exponents()
    sharper, alone = np.array(SHARPNESSES)[:, np.newaxis], np.eye(len(equal))[(equal > 0) & (equal < 1)]
    choices = [sharper * by_score, sharper * (by_score + equal) / 2, equal[np.newaxis], *alone[:, np.newaxis]]
    losses = [judge(evidence, Y, rows, of_kind[0], known).losses(of_kind) for of_kind in choices]
    best = first_of_the_best(np.concatenate(losses))
    return Pool(np.unique(Y, axis=0), np.concatenate(choices)[best], score)


def best_score(evidence: Sequence[Evidence], Y: np.ndarray, rows: np.ndarray, known: np.ndarray | None = None) -> float:
    """The score of the best exponents, as in `fit_pool`."""
    return judge(evidence, Y, rows, _equal_exponents(evidence), known).best_exponents()[1]


def _equal_exponents(evidence: Sequence[Evidence]) -> np.ndarray:
    """The same for all models that know something about single rows, 0 for the others; they sum to 1."""
    knows = np.array([one.log_odds is not None for one in evidence], dtype=float)
    return knows / knows.sum()


def own_labelsets(Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The label sets of training rows, and for each row the place of its own if no other row has it, else -1."""
    seen, which, counts = np.unique(Y, axis=0, return_inverse=True, return_counts=True)
    which = which.ravel()
    return seen, np.where(counts[which] == 1, which, -1)


def judge(
    evidence: Sequence[Evidence],
    Y: np.ndarray,
    rows: np.ndarray,
    picking: np.ndarray,
    known: np.ndarray | None = None,
) -> "_Judged":
    """The best candidates of some training rows by these exponents."""
    seen, own = own_labelsets(Y)
    features, words, is_open = [], [], []
    for block in _blocks(len(rows), len(seen)):
        parts = [one[rows[block]] for one in evidence]
        candidates = Candidates(seen, _mean_log_odds(parts, picking), own[rows[block]])
        scores = [one.scores(candidates) for one in parts]
        pooled = sum(b * of_model for b, of_model in zip(picking, scores, strict=True) if b)
        picked, logs = _best(np.where(candidates.is_open, pooled, -np.inf), MAX_CANDIDATES_PER_ROW)
        chosen = np.stack([np.take_along_axis(of_model, picked, axis=1) for of_model in scores], axis=-1)
        features.append(chosen - chosen.max(axis=1, keepdims=True))  # the constant of a row does not count
        is_open.append(np.isfinite(logs))
        words.append(pack_words(candidates.labelsets(picked).reshape(-1, Y.shape[1])).reshape(*picked.shape, -1))
    of_rows = Truth(Y[rows], np.ones((len(rows), Y.shape[1]), dtype=bool) if known is None else known[rows])
    return _Judged(np.concatenate(features), np.concatenate(words), np.concatenate(is_open), of_rows, picking)


class Truth:
    """What is known of the labels of some rows, and what wrong labels cost them: by the number of known ones."""

    def __init__(self, Y: np.ndarray, known: np.ndarray):
        self.n_labels = Y.shape[1]
        self.words = pack_words(Y)[:, np.newaxis]
        self.mask = None if known.all() else pack_words(known)[:, np.newaxis]
        self.n_known, self._which = np.unique(known.sum(axis=1), return_inverse=True)

    def __len__(self) -> int:
        return len(self.words)

    def look_up(self, of_labels: Callable[[int], np.ndarray], wrong: np.ndarray, dtype: Any = np.float32) -> np.ndarray:
        """Values for 0, 1, ... wrong labels among some number of known ones, at numbers of wrong ones of each row."""
        table = np.zeros((len(self.n_known), self.n_labels + 1), dtype=dtype)
        for row, n_known in zip(table, self.n_known.tolist(), strict=True):
            row[: n_known + 1] = of_labels(n_known)
        if len(table) == 1:
            return table[0][wrong]
        return table[self._which.reshape(-1, *[1] * (wrong.ndim - 1)), wrong]


class _Judged:
    """Candidates of training rows, what models say of them, and how far they are from each other and from the truth.

    Parameters
    ----------
    features : ndarray of shape (n_rows, n_candidates, n_models)
        Logarithms.
    words : ndarray of shape (n_rows, n_candidates, n_words)
        Label sets, packed.
    is_open : ndarray of bool, of shape (n_rows, n_candidates)
        Which of them count: a row may have fewer candidates than there are places.
    truth : Truth
    picking : ndarray of shape (n_models,)
        The exponents by which candidates were picked; others are pulled towards them.
    """

    def __init__(self, features: np.ndarray, words: np.ndarray, is_open: np.ndarray, truth: Truth, picking: np.ndarray):
        self.features, self.is_open, self.picking, self.truth = features, is_open, picking, truth
        self.to_truth = count_differences(words, truth.words, truth.mask)
        mask = None if truth.mask is None else truth.mask[:, np.newaxis]
        self.among = count_differences(words[:, :, np.newaxis], words[:, np.newaxis], mask)

    def shares(self, exponents: np.ndarray) -> np.ndarray:
        """The distribution of each row."""
        logs = np.where(self.is_open, self.features @ exponents, -np.inf)
        shares = np.exp(logs - logs.max(axis=1, keepdims=True))
        return shares / shares.sum(axis=1, keepdims=True)

    def best_exponents(self, pull: float | np.ndarray = PULL) -> tuple[np.ndarray, float]:
        """Exponents with the best mean score, and that score; ``pull`` is the weight of each squared distance."""
        # In double precision: noise of single precision ends the search early, at exponents that depend on the noise.
        to_truth, among = (self.truth.look_up(mean_worth, wrong, float) for wrong in (self.to_truth, self.among))

        def negative_score(exponents: np.ndarray) -> tuple[float, np.ndarray]:
            shares = self.shares(exponents)
            expected = _expected(among, shares)
            slopes = 2 * (to_truth - expected)
            score = (shares * (2 * to_truth - expected)).sum()
            by_logs = shares * (slopes - (shares * slopes).sum(axis=1, keepdims=True))
            gradient, away = np.einsum("nc,ncm->m", by_logs, self.features), exponents - self.picking
            return -score + (pull * away) @ away, -gradient + 2 * pull * away

        bounds = [(0, MAX_EXPONENT)] * len(self.picking)
        found = minimize(negative_score, self.picking, jac=True, method="L-BFGS-B", bounds=bounds)
        return found.x, -found.fun / len(to_truth)

    def losses(self, choices: Iterable[np.ndarray]) -> np.ndarray:
        """What the best candidate for each of some binomial losses costs, of shape (n_choices, n_losses, n_rows)."""
        ks = np.unique(np.linspace(1, self.truth.n_labels, JUDGED_LOSSES).round().astype(int)).tolist()
        shares, rows = [self.shares(choice) for choice in choices], np.arange(len(self.truth))
        losses = np.empty((len(shares), len(ks), len(rows)))
        for place, k in enumerate(ks):
            deficits = partial(_deficits, k)
            among, to_truth = (self.truth.look_up(deficits, wrong) for wrong in (self.among, self.to_truth))
            for number, of_choice in enumerate(shares):
                chosen = np.where(self.is_open, _expected(among, of_choice), np.inf).argmin(axis=1)
                losses[number, place] = to_truth[rows, chosen]
        return losses


def _deficits(k: int, n_labels: int) -> np.ndarray:
    """What wrong labels cost by the binomial loss of k, or of all known labels where these are fewer."""
    return BinomialMeasure(min(k, n_labels)).deficits(n_labels)


def first_of_the_best(losses: np.ndarray) -> int:
    """The first choice whose mean loss is within one standard error of the least.

    Candidates are few among all label sets. So the best score may come from spreading what is not known over label sets
    that are all wrong, and decisions suffer. Losses are of shape (n_choices, n_losses, n_rows). Each is divided by its
    mean, so that all count alike.
    """
    of_rows = (losses / losses.mean(axis=(0, 2), keepdims=True).clip(SMALLEST_LOSS)).mean(axis=1)
    behind = of_rows - of_rows[of_rows.mean(axis=1).argmin()]
    allowed = behind.std(axis=1) / np.sqrt(behind.shape[1])
    return int((behind.mean(axis=1) <= allowed).argmax())


def _expected(values: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """For each candidate, the mean of its values with all candidates, of shape (n_rows, n_candidates)."""
    return np.matmul(values, shares[..., np.newaxis].astype(values.dtype, copy=False))[..., 0]


def mean_worth(n_labels: int) -> np.ndarray:
    r"""What a prediction with 0, 1, ..., K wrong labels is worth, averaged over the binomial measures of all k.

    .. math:: \frac{1}{K} \sum_{k=1}^{K} \binom{K-e}{k} \Big/ \binom{K}{k} = \frac{K - e}{K \, (e + 1)}

    Examples
    --------
    >>> mean_worth(3).round(3)  # one wrong: (2/3 + 1/3 + 0) / 3
    array([1.   , 0.333, 0.111, 0.   ])
    """
    wrong = np.arange(n_labels + 1)
    return (n_labels - wrong) / (n_labels * (wrong + 1))


def _best(scores: np.ndarray, n_best: int) -> tuple[np.ndarray, np.ndarray]:
    """Places and values of the largest scores in each row."""
    picked = cheapest(-without_last_bits(scores), n_best)
    return picked, np.take_along_axis(scores, picked, axis=1)


def _mean_log_odds(evidence: Sequence[Evidence], exponents: np.ndarray) -> np.ndarray:
    """The mean log odds of each label over the models that know them, weighted by exponents unless these are all 0."""
    knowing = [number for number, one in enumerate(evidence) if one.log_odds is not None]
    weights = exponents[knowing] if exponents[knowing].any() else None
    return np.average([evidence[number].log_odds for number in knowing], axis=0, weights=weights)


def _blocks(n_rows: int, n_seen: int) -> Iterator[slice]:
    return row_blocks(n_rows, n_seen + (1 << UNCERTAIN_LABELS))
