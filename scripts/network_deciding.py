"""Decide by what networks say, and judge the decisions: what `scripts/network_study.py` does once they are trained.

Thresholds, calibrators and k* are learned from the rows held out from each network, never from test rows.
"""

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

import choral
from network_losses import places

Losses = list[float]  # by place
Said = dict[str, np.ndarray]  # what `network_training.train` leaves


def judge(Y: np.ndarray, folds: list[np.ndarray], said: Said) -> dict:
    """The binomial losses at all places of each way to decide, fold by fold, and what else the page tells."""
    epochs, held_out = said["epochs"], zip(said["held out rows"], said["held out"], strict=True)
    scores_labels = "mean" not in said
    tests = [(Y[test], said["test"][:, test]) for test in folds]
    held_out = [(Y[rows], of_fold) for rows, of_fold in held_out]
    if scores_labels:
        tests, held_out = ([(truth, expit(logits)) for truth, logits in each] for each in (tests, held_out))
        decided = [judge_scores(*test, *of_fold) for test, of_fold in zip(tests, held_out, strict=True)]
    else:
        decided = [
            {"single": mean_losses(*test), "ensemble": losses_of(test[0], said["mean"][rows])}
            for rows, test in zip(folds, tests, strict=True)
        ]
    return {
        "folds": decided,
        "held_out": [
            np.mean([losses_of(*one) for one in zip(truth, of_fold, strict=True)], axis=0).tolist()
            for truth, of_fold in held_out
        ],
        "hedged": float(np.mean([hedged(scores) for _, scores in tests])) if scores_labels else None,
        "epochs": epochs.tolist(),
        "seconds": float(said["seconds"]),
    }


def losses_of(y_true: np.ndarray, y_pred: np.ndarray) -> Losses:
    """Binomial losses of labels, or of scores cut at 0.5."""
    ks = list(places(y_true.shape[1]).values())
    return choral.loss_curve(y_true, y_pred >= 0.5, parameters=ks).losses.tolist()


def mean_losses(y_true: np.ndarray, members: np.ndarray) -> Losses:
    """The mean of the losses of several networks."""
    return np.mean([losses_of(y_true, member) for member in members], axis=0).tolist()


def hedged(scores: np.ndarray) -> float:
    """The share of scores that are nearer to 1/2 than to 0 and 1."""
    return float((np.abs(scores - 0.5) < 0.25).mean())


def judge_scores(
    y_true: np.ndarray, members: np.ndarray, held_out_truth: np.ndarray, held_out: np.ndarray
) -> dict[str, Losses]:
    """Decisions by the scores of labels, of shape (n_members, n_rows, n_labels).

    For the tuned threshold, all networks' scores of their held-out rows are put together.
    """
    ks, mean = list(places(y_true.shape[1]).values()), members.mean(axis=0)
    rows = held_out.reshape(-1, held_out.shape[2]), held_out_truth.reshape(-1, held_out.shape[2])
    tuners = [choral.ThresholdTuner(choral.BinomialMeasure(k)).fit(*rows) for k in ks]
    votes = choral.LabelDistribution.from_samples(np.stack(members >= 0.5, axis=1))
    return {
        "single": mean_losses(y_true, members),
        "ensemble": losses_of(y_true, mean),
        "tuned": [choral.binomial_loss(y_true, tuner.predict(mean), k=k) for k, tuner in zip(ks, tuners, strict=True)],
        "votes": judge_decisions(y_true, votes),
    }


def judge_calibrated(Y: np.ndarray, test: np.ndarray, said: Said, fold: int) -> dict[str, Losses]:
    """Decisions after calibration: with a `JointCalibrator` for each network, and with one for all of them.

    Each is fitted on the rows held out from its network; the joint distribution of the ensemble is the mean of those of
    its networks. The one for all is fitted on every row that was held out from some network, by the first of these, and
    decides by the mean of the logits.
    """
    y_true, rows, held_out = Y[test], said["held out rows"][fold], said["held out"][fold]
    logits = said["test"][:, test]
    calibrators = [choral.JointCalibrator(scores="logits").fit(*one) for one in zip(held_out, Y[rows], strict=True)]
    by_network = list(zip(calibrators, logits, strict=True))
    single = [judge_curve(y_true, calibrator, of_one) for calibrator, of_one in by_network]
    joint = [calibrator.predict_distribution(of_one) for calibrator, of_one in by_network]
    weights = sp.hstack([sp.csr_array(one.probabilities) for one in joint]) / len(joint)
    mean = choral.LabelDistribution(np.concatenate([one.labelsets for one in joint]), weights)
    different, first = np.unique(rows, return_index=True)
    of_all = choral.JointCalibrator(scores="logits").fit(np.concatenate(held_out)[first], Y[different])
    return {
        "single, calibrated": np.mean(single, axis=0).tolist(),
        "calibrated": judge_decisions(y_true, mean),
        "calibrated by one": judge_curve(y_true, of_all, logits.mean(axis=0)),
    }


def judge_curve(y_true: np.ndarray, calibrator: choral.JointCalibrator, logits: np.ndarray) -> Losses:
    """The loss for each k of what a calibrator predicts for it."""
    ks = list(places(y_true.shape[1]).values())
    return choral.loss_curve(y_true, calibrator.predict_curve(logits, parameters=ks)).losses.tolist()


def judge_decisions(y_true: np.ndarray, distribution: choral.LabelDistribution) -> Losses:
    """The loss for each k of the prediction that is best for it under the distribution."""
    ks = list(places(y_true.shape[1]).values())
    return choral.loss_curve(y_true, choral.bayes_curve(distribution, parameters=ks, method="quick")).losses.tolist()
