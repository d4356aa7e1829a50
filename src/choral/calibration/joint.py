"""Scores of any model in, a joint distribution of labels and the best labels for a loss out."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_feature_names, check_is_fitted

from choral._saved import SavedState
from choral._typing import FloatArray, IntArray, LabelArray, LabelMatrix
from choral._validation import check_count, refuse_where
from choral.calibration.inputs import ScoredRows, check_finite, read_scored_rows
from choral.calibration.label_calibration import LabelCalibration, fit_labels, log_odds_of
from choral.calibration.lifts import LabelPrice, LiftEvidence, SizeLift, fit_sizes
from choral.calibration.mixture import LabelMixture, fit_mixture
from choral.calibration.objectives import make_objective
from choral.calibration.rules import LeftOut, Rule, choose_rule, has_decision
from choral.calibration.saved import read_saved
from choral.calibration.thresholds import Loss, check_loss
from choral.decisions import BayesCurve, LabelDistribution, bayes_curve, bayes_optimal
from choral.decisions.decision import bounded_decision
from choral.learners.evidence import Evidence, MarginalEvidence, PriorEvidence
from choral.learners.pooling import Pool, fit_pool, own_labelsets
from choral.loss_names import has_name, name_of_loss
from choral.measures import SubsetMeasure
from choral.measures.families import get_family
from choral.overlap import AnyLoss
from choral.rows.blocks import as_dense
from choral.scores import check_scores
from choral.stats import MultilabelStratifiedKFold

MAX_ROWS = 3000  # to learn a handful of exponents from, and to choose between rules
KINDS = ("auto", "probabilities", "logits")


class JointCalibrator(SavedState, BaseEstimator):
    r"""Learn from a model's scores how labels depend on each other, and predict what is best for a loss.

    .. math:: p(y \mid s) \propto \Big[ \prod_i p_i(y_i \mid s_i) \Big]^a
        \Big[ \frac{\pi(y)}{\prod_i \pi_i(y_i)} \Big]^b \Big[ \frac{\rho(y)}{\prod_i \rho_i(y_i)} \Big]^c
        \Big[ \frac{\sigma(|y|)}{\sigma_0(|y|)} \Big]^d e^{g |y|}

    with calibrated probabilities :math:`p_i` of the labels, and how much more frequent a label set is than if labels
    were independent: by the frequencies :math:`\pi` of label sets in the rows given to `fit`; by a mixture
    :math:`\rho` of kinds of rows within which labels are independent, which also knows label sets that never occurred;
    and by the number of relevant labels, :math:`\sigma`. The exponents, and the price g of a label, are those with the
    best proper score on rows left out; where b, c, d and g are 0, labels are independent. Candidates are all label sets
    seen, and the most probable others.

    Fit it on rows that the model was not fitted on: a validation set, or out-of-fold scores by ``cross_val_predict``;
    `JointCalibratedClassifier` does the latter.

    Parameters
    ----------
    measure : Measure, FLoss, JaccardLoss or str, optional
        The loss to minimise unless another is given to `predict`; subset 0/1 by default.
    scores : {"auto", "probabilities", "logits"}
        What scores are. By themselves, numbers in [0, 1] are taken for probabilities, and others for logits if some are
        negative.
    n_components : int
        Kinds of rows in the mixture.
    cv : int
        Folds in which rows are left out.
    random_state : int
        Draws the folds, and the start of the mixture. The same seed gives the same calibrator.

    Attributes
    ----------
    labels_ : LabelCalibration
        The slope and the intercept of each label, on the log odds of its scores.
    mixture_ : LabelMixture
    sizes_ : SizeLift
    pool_ : Pool
        The exponents a, b, c, d and two that differ by g (none is negative), and the label sets seen.
    are_logits_ : bool
    n_labels_ : int
    feature_names_in_ : ndarray of str
        The names of the labels, where scores came as a frame.

    See Also
    --------
    JointCalibratedClassifier : A classifier with a calibrator of its own.
    ThresholdTuner : Cut scores where a loss is least.
    compare_rules : Compare the rules of a calibrator.

    Notes
    -----
    `predict` does not take the distribution on trust. On the rows left out it compares, for the loss in question, what
    is best by the distribution with simpler rules: calibrated labels that are more probable than not, scores cut at a
    tuned threshold (`ThresholdTuner`), and scores cut at 0.5. The best one decides; `left_out_losses` tells them all.
    A loss of all rows together, such as micro F, or a function has no best decision for a row: there calibrated
    probabilities are cut at a tuned threshold instead.

    Labels may be missing (nan in ``Y``): probabilities and the mixture are learned from known labels, and rows are
    judged by these. Frequencies of label sets count complete rows alone.

    A label with few relevant rows, or none, borrows slope and intercept from all labels together.

    Sparse scores are made dense; what is not stored has the score 0.

    Examples
    --------
    One of three labels is relevant, and a model scores each by itself:

    >>> import numpy as np
    >>> from choral import JointCalibrator, harden, subset_loss
    >>> rng = np.random.default_rng(0)
    >>> Y = np.eye(3, dtype=int)[rng.integers(3, size=600)]
    >>> scores = rng.normal(2 * Y - 1, 1.5)  # logits
    >>> calibrator = JointCalibrator().fit(scores[:300], Y[:300])
    >>> predicted = calibrator.predict(scores[300:])
    >>> subset_loss(Y[300:], harden(scores[300:], 0)), subset_loss(Y[300:], predicted)
    (0.61, 0.29)
    """

    labels_: LabelCalibration
    mixture_: LabelMixture
    sizes_: SizeLift
    pool_: Pool
    counts_: IntArray
    are_logits_: bool
    n_labels_: int
    _left_out: LeftOut | None
    _rules: dict[str | Loss, Rule]  # by the short name of a loss, where it has one

    def __init__(
        self,
        measure: AnyLoss | str | None = None,
        *,
        scores: Literal["auto", "probabilities", "logits"] = "auto",
        n_components: int = 8,
        cv: int = 5,
        random_state: int = 0,
    ):
        self.measure = measure
        self.scores = scores
        self.n_components = n_components
        self.cv = cv
        self.random_state = random_state

    def fit(self, scores: LabelMatrix, Y: LabelMatrix) -> Self:
        """Learn probabilities, dependence and exponents.

        Parameters
        ----------
        scores : array-like, sparse matrix, frame or array on a device of shape (n_samples, n_labels)
            Probabilities or logits of a model, for rows that it was not fitted on.
        Y : likewise
            True labels, 0 or 1; nan where a label is missing.
        """
        n_folds, n_components = check_count("cv", self.cv, least=2), check_count("n_components", self.n_components)
        rows = read_scored_rows(scores, Y)
        _check_feature_names(self, scores, reset=True)
        rows = _with_known_labels(rows)
        make_objective(self._loss(None), rows)  # refuses a measure of more labels, rather than when it predicts
        self.n_labels_, self.are_logits_ = rows.n_labels, self._read_kind(rows.scores)
        log_odds = log_odds_of(rows.scores, are_logits=self.are_logits_)
        rng = np.random.default_rng(self.random_state)
        folds = draw_folds(rows, n_folds, self.random_state)

        kept = [folds != fold for fold in range(folds.max() + 1)]
        known = [(rows.labels[some], rows.known[some]) for some in kept]
        calibrations = [fit_labels(log_odds[some], *of_fold) for some, of_fold in zip(kept, known, strict=True)]
        mixtures = [fit_mixture(*of_fold, n_components, rng) for of_fold in known]
        sizes = [fit_sizes(*of_fold) for of_fold in known]
        self.labels_ = fit_labels(log_odds, rows.labels, rows.known)
        self.mixture_ = fit_mixture(rows.labels, rows.known, n_components, rng)
        self.sizes_ = fit_sizes(rows.labels, rows.known)

        left_out = np.empty(log_odds.shape)
        for fold, calibration in enumerate(calibrations):
            left_out[folds == fold] = calibration.log_odds(log_odds[folds == fold])
        labelsets = np.where(rows.known, rows.labels, left_out > 0).astype(np.uint8)
        seen, which = np.unique(labelsets, axis=0, return_inverse=True)
        which = np.where(rows.known.all(axis=1), which.ravel(), -1)
        self.counts_ = np.bincount(which[which >= 0], minlength=len(seen))
        frequencies = PriorEvidence(seen, self.counts_, which)
        evidence = _list_evidence(expit(left_out), frequencies, mixtures, sizes, folds)
        some = np.sort(rng.permutation(len(folds))[:MAX_ROWS])
        self.pool_ = fit_pool(evidence, labelsets, some, rows.known)
        own = own_labelsets(labelsets)[1]
        self._left_out = LeftOut(
            _take(rows, some),
            folds[some],
            expit(left_out[some]),
            self.pool_.distribution([one[some] for one in evidence], len(some), own[some]),
            0.0 if self.are_logits_ else 0.5,
        )
        self._rules = {}
        return self

    def _read_kind(self, scores: FloatArray) -> bool:
        """Whether scores are logits."""
        if self.scores not in KINDS:
            raise ValueError(f"scores must be one of {', '.join(map(repr, KINDS))}; got {self.scores!r}.")
        if self.scores == "logits":
            return True
        outside = (scores < 0) | (scores > 1)
        if self.scores == "auto" and (scores < 0).any():
            return True
        must, remedy = "scores must be probabilities, in [0, 1]", ""
        if self.scores == "auto":
            must += ", or logits, of which some are negative. Divide percentages by 100; if these are logits, pass "
            must += "scores='logits'"
        elif (scores < 0).any():
            remedy = "If these are logits, pass scores='logits' or 'auto'."
        refuse_where(must, "scores", scores, outside, remedy=remedy)
        return False

    def _check_new(self, scores: LabelMatrix) -> FloatArray:
        """Scores of rows to predict, of the kind seen in `fit`."""
        check_is_fitted(self)
        matrix = as_dense(check_finite(check_scores("scores", scores))).astype(float, copy=False)
        if matrix.shape[1] != self.n_labels_:
            expected = f"scores must have one column for each of {self.n_labels_} labels"
            raise ValueError(f"{expected}; got shape {tuple(matrix.shape)}.")
        _check_feature_names(self, scores, reset=False)
        if not self.are_logits_:
            outside = (matrix < 0) | (matrix > 1)
            must = "scores must be probabilities, in [0, 1], as in fit"
            remedy = "If these are logits, pass choral.scores_from_logits of them, or fit with logits as well."
            refuse_where(must, "scores", matrix, outside, remedy=remedy)
        return matrix

    def _calibrated(self, scores: FloatArray) -> FloatArray:
        return expit(self.labels_.log_odds(log_odds_of(scores, are_logits=self.are_logits_)))

    def predict_distribution(self, scores: LabelMatrix) -> LabelDistribution:
        """The joint distribution of the labels of each row, over label sets seen in `fit` and probable others.

        Parameters
        ----------
        scores : array-like, sparse matrix or frame of shape (n_samples, n_labels)
            What the model says of each label, of the kind that it was fitted with.
        """
        return self._distribution(self._calibrated(self._check_new(scores)))

    def _distribution(self, probabilities: FloatArray) -> LabelDistribution:
        n_rows = len(probabilities)
        frequencies = PriorEvidence(self.pool_.seen, self.counts_, np.full(n_rows, -1))
        first = np.zeros(n_rows, dtype=np.intp)
        evidence = _list_evidence(probabilities, frequencies, [self.mixture_], [self.sizes_], first)
        return self.pool_.distribution(evidence, n_rows)

    def predict_proba(self, scores: LabelMatrix) -> FloatArray:
        """The calibrated probability of each label by its own score, of shape (n_samples, n_labels).

        Parameters
        ----------
        scores : array-like, sparse matrix or frame of shape (n_samples, n_labels)
            What the model says of each label, of the kind that it was fitted with.
        """
        return self._calibrated(self._check_new(scores))

    def predict(self, scores: LabelMatrix, measure: AnyLoss | str | None = None) -> LabelArray:
        """Hard labels with the least expected loss, by the rule that is best on rows left out.

        Parameters
        ----------
        scores : array-like, sparse matrix, frame or array on a device of shape (n_samples, n_labels)
            Scores of new rows, of the kind that it was fitted with.
        measure : Measure, FLoss, JaccardLoss or str, optional
            The loss; the ``measure`` of the calibrator unless given, or else subset 0/1. Anything that
            `ThresholdTuner` takes.
        """
        matrix, loss = self._check_new(scores), self._loss(measure)
        rule, probabilities = self._rule(loss), self._calibrated(matrix)
        if rule.name == "joint" and has_decision(loss):
            return bayes_optimal(self._distribution(probabilities), loss, method="quick").labels
        return rule.cut(matrix, probabilities)

    def predict_curve(
        self, scores: LabelMatrix, family: str = "binomial", parameters: ArrayLike | None = None
    ) -> BayesCurve:
        """Predictions for all losses of a family, each as by `predict`, with their risk by the distribution.

        Parameters
        ----------
        scores : array-like, sparse matrix, frame or array on a device of shape (n_samples, n_labels)
            Scores of new rows, of the kind that it was fitted with.
        family : {"binomial", "polynomial"}
        parameters : array-like, optional
            Values of k or alpha; those of `choral.loss_curve` unless given.

        Returns
        -------
        curve : BayesCurve
            ``labels`` of shape (n_parameters, n_samples, n_labels).
        """
        matrix, of_family = self._check_new(scores), get_family(family)
        values = of_family.parameters(parameters, self.n_labels_)
        losses = [of_family.measure(value) for value in values.tolist()]
        if any(name_of_loss(loss) not in self._rules for loss in losses) and self._left_out is not None:
            joint = bayes_curve(self._left_out.distribution, family, values, method="quick").labels
            for loss, labels in zip(losses, joint, strict=True):
                self._rule(loss, labels)
        probabilities = self._calibrated(matrix)
        distribution = self._distribution(probabilities)
        best = bayes_curve(distribution, family, values, method="quick")
        decisions = []
        for loss, decision in zip(losses, best.decisions, strict=True):
            rule = self._rule(loss)
            if rule.name != "joint":
                labels = rule.cut(matrix, probabilities)
                decision = bounded_decision(labels, distribution.risk(labels, loss), decision.lower_bound)
            decisions.append(decision)
        return BayesCurve(family, values, tuple(decisions))

    def left_out_losses(self, measure: AnyLoss | str | None = None) -> dict[str, float]:
        """What each rule costs on the rows given to `fit`, or 3,000 of them.

        Probabilities, lifts and thresholds were learned without the row in question. A handful of exponents, and which
        rule is best, were not: the least of these losses is a little too good.

        Parameters
        ----------
        measure : Measure, FLoss, JaccardLoss or str, optional
            The loss; the ``measure`` of the calibrator unless given, or else subset 0/1.

        Returns
        -------
        losses : dict of the mean loss by the name of the rule
            "joint": what is best by the joint distribution; for losses of all rows together "calibrated threshold",
            calibrated probabilities from a tuned threshold on. "labels": what is more probable than not. "threshold":
            scores from a tuned threshold on. "cut": scores from 0.5 on (logits from 0 on).
        """
        check_is_fitted(self)
        return dict(self._rule(self._loss(measure)).losses)

    def chosen_rule(self, measure: AnyLoss | str | None = None) -> str:
        """The name of the rule that decides for a loss: the first of the best by `left_out_losses`.

        Parameters
        ----------
        measure : Measure, FLoss, JaccardLoss or str, optional
            The loss; that of the calibrator unless given.
        """
        check_is_fitted(self)
        return self._rule(self._loss(measure)).name

    def left_out_rows(self) -> LeftOut:
        """The rows that rules are compared on, and what the calibrator says of each without having seen it."""
        check_is_fitted(self)
        if self._left_out is None:
            raise ValueError("a calibrator that was read back has no rows to compare rules on.")
        return self._left_out

    def _loss(self, measure: AnyLoss | str | None) -> Loss:
        measure = self.measure if measure is None else measure
        return SubsetMeasure() if measure is None else check_loss(measure)

    def _rule(self, loss: Loss, joint: np.ndarray | None = None) -> Rule:
        """The rule for a loss; rules for functions are not kept, since these cannot be written down.

        ``joint`` are the best labels of rows left out by their distribution, where they are known already.
        """
        key = name_of_loss(loss) if has_name(loss) else loss
        rule = self._rules.get(key)
        if rule is not None:
            return rule
        if self._left_out is None:
            raise ValueError(
                f"a calibrator that was read back knows its rules for {', '.join(map(str, self._rules)) or 'no loss'} "
                f"alone; got {name_of_loss(loss)}. bayes_optimal(calibrator.predict_distribution(scores), measure) "
                "decides for any measure."
            )
        rule = choose_rule(loss, self._left_out, joint)
        if isinstance(key, str) or has_decision(loss):
            self._rules[key] = rule
        return rule

    def to_dict(self) -> dict[str, Any]:
        """Arrays, numbers and text of all that was learned, with the rules for the losses asked for so far.

        These are losses with a short name, see `choral.loss_by_name`; other ones cannot be written down. Rows given to
        `fit` are not part of it. `choral.calibration.save_rule` writes files.
        """
        check_is_fitted(self)
        loss = self._loss(None)
        if not has_name(loss):
            raise ValueError(f"measure must have a short name to be written down, such as 'k=3'; got {loss!r}.")
        self._rule(loss)
        data = {
            "measure": None if self.measure is None else name_of_loss(loss),
            "are_logits": self.are_logits_,
            "slopes": self.labels_.slopes,
            "intercepts": self.labels_.intercepts,
            "mixture_weights": self.mixture_.weights,
            "mixture_frequencies": self.mixture_.frequencies,
            "size_lifts": self.sizes_.logs,
            "labelsets": self.pool_.seen,
            "counts": self.counts_,
            "exponents": self.pool_.exponents,
            "score": self.pool_.score,
            "rules": {loss: rule.to_dict() for loss, rule in self._rules.items() if isinstance(loss, str)},
        }
        names = getattr(self, "feature_names_in_", None)
        return data if names is None else {**data, "labels": names.tolist()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The calibrator that `to_dict` wrote down, ready to predict for the losses that it has rules for.

        Parameters
        ----------
        data : mapping
            What ``to_dict`` gave.
        """
        saved = read_saved(data)
        calibrator = cls(saved["measure"])
        calibrator.are_logits_ = saved["are_logits"]
        calibrator.labels_ = LabelCalibration(saved["slopes"], saved["intercepts"])
        calibrator.mixture_ = LabelMixture(saved["mixture_weights"], saved["mixture_frequencies"])
        calibrator.sizes_ = SizeLift(saved["size_lifts"])
        seen = saved["labelsets"].astype(np.uint8)
        calibrator.pool_ = Pool(seen, saved["exponents"], saved["score"])
        calibrator.counts_ = saved["counts"].astype(np.intp)
        calibrator.n_labels_ = seen.shape[1]
        calibrator._left_out, calibrator._rules = None, dict(saved["rules"])
        if "labels" in saved:
            calibrator.feature_names_in_ = np.array(saved["labels"], dtype=object)
        return calibrator


def _list_evidence(
    probabilities: FloatArray,
    frequencies: PriorEvidence,
    mixtures: Sequence[LabelMixture],
    sizes: Sequence[SizeLift],
    which: IntArray,
) -> list[Evidence]:
    """What is known of the label sets of some rows; ``which`` mixture and sizes were not fitted on the row."""
    any_row = np.zeros_like(which)
    lifts = [LiftEvidence(mixtures, which), LiftEvidence(sizes, which)]
    prices = [LiftEvidence([LabelPrice(sign)], any_row) for sign in (1.0, -1.0)]
    return [MarginalEvidence(probabilities), frequencies, *lifts, *prices]


def _with_known_labels(rows: ScoredRows) -> ScoredRows:
    """Rows of which something is known."""
    rows = _take(rows, np.flatnonzero(rows.n_known))
    if len(rows.scores) < 2:
        raise ValueError("a calibrator needs at least 2 rows with a known label; got 1.")
    return rows


def _take(rows: ScoredRows, places: IntArray) -> ScoredRows:
    return ScoredRows(
        rows.scores[places], rows.labels[places], rows.known[places], rows.weights[places], rows.is_sparse
    )


def draw_folds(rows: ScoredRows, n_folds: int, seed: int) -> IntArray:
    """The fold of each row."""
    n_rows = len(rows.scores)
    splitter = MultilabelStratifiedKFold(min(n_folds, n_rows), random_state=seed)
    folds = np.zeros(n_rows, dtype=np.intp)
    for number, (_, test) in enumerate(splitter.split(rows.scores, rows.labels)):
        folds[test] = number
    return folds
