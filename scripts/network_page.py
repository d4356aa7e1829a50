"""Write docs/networks.md from a study: ``python scripts/network_page.py [study-networks]``.

The study is what `scripts/network_study.py` leaves.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from network_results import ABSOLUTE, BCE, DATASETS, LOGISTIC, PLACES, SURE, Difference, Study, Way, spread, tally
from paper_page import DOCS, table

TOGETHER = PLACES[1:]  # where labels must be right together
RULES = {
    "single": "one network, threshold",
    "threshold": "threshold",
    "drawn": "`bayes_optimal`, drawn",
    "mixture": "`bayes_optimal`, mixture",
    "votes": "`bayes_optimal`, votes",
    "single, calibrated": "one network, `JointCalibrator`",
    "calibrated": "`JointCalibrator`",
}
COMPARED = {
    "logistic": Way(LOGISTIC),
    "absolute": Way(ABSOLUTE),
    "logistic, up to k*": Way(LOGISTIC, capped=True),
    "absolute, up to k*": Way(ABSOLUTE, capped=True),
    "absolute, up to k*, mixture": Way(ABSOLUTE, "mixture", capped=True),
    "absolute, up to k*, votes": Way(ABSOLUTE, "votes", capped=True),
    "BCE, drawn": Way("BCE", "drawn"),
    "BCE, mixture": Way("BCE", "mixture"),
    "BCE, votes": Way("BCE", "votes"),
    "BCE, `JointCalibrator`": Way("BCE", "calibrated"),
}

CALIBRATED = COMPARED["BCE, `JointCalibrator`"]

SNIPPET = """\
```python
criterion = choral.nn.ChoquetLoss(choral.BinomialMeasure(2), surrogate="absolute")
votes = choral.LabelDistribution.from_samples(np.stack(logits >= 0, axis=1))
labels = choral.bayes_optimal(votes, choral.SubsetMeasure()).labels

calibrator = choral.JointCalibrator().fit(validation_logits, validation_labels)  # of one network, trained with BCE
labels = calibrator.predict(test_logits, choral.SubsetMeasure())
```"""


def differences(study: Study, ways: dict[str, Way], other: Way) -> Iterator[str]:
    """A row for each data set and k, a column for each way."""
    columns = [study.compare(way, other) for way in ways.values()]
    names = [f"{dataset}, k = {study.k(dataset, place)}" for dataset, place in study.cases]
    rows = ([name, *map(str, row)] for name, *row in zip(names, *columns, strict=True))
    yield from table(["", *ways], rows)


def across(study: Study) -> Iterator[str]:
    """Differences from BCE, a mean over the data sets, all with thresholds."""
    rows = ([name, *(_beside_bce(study, name, place) for place in PLACES)] for name in study.losses)
    yield from table(["trained with", *(f"judged at k = {place}" for place in PLACES)], rows)


def _beside_bce(study: Study, loss: str, place: str) -> str:
    differences = [study.folds(name, place, Way(loss)) - study.folds(name, place, BCE) for name in DATASETS]
    return str(Difference(float(np.mean(differences)), is_sure=False))


def scores(study: Study) -> Iterator[str]:
    """How far scores are hedged, and how long it took to learn them."""
    rows = (
        [
            loss,
            *(f"{study.datasets[name]['hedged'][number]:.0%}" for name in DATASETS),
            *(f"{study.epochs(name, loss).mean():.0f}" for name in DATASETS),
        ]
        for number, loss in enumerate(study.losses)
    )
    heads = [f"{what}, {name}" for what in ("hedged", "epochs") for name in DATASETS]
    yield from table(["trained with", *heads], rows)


def losses(study: Study, dataset: str) -> Iterator[str]:
    """All losses of a data set; the least in a column is bold."""
    ways = [way for rule in RULES for loss in study.losses if study.has(way := Way(loss, rule))]
    found = np.array([[study.folds(dataset, place, way) for place in PLACES] for way in ways])
    means, spreads = found.mean(axis=2).round(4), found.std(axis=2, ddof=1)
    least = means == means.min(axis=0)
    rows = (
        [way.loss, RULES[way.rule], *(_cell(*each) for each in zip(means[row], spreads[row], least[row], strict=True))]
        for row, way in enumerate(ways)
    )
    of = study.datasets[dataset]
    yield f"### {dataset}: {of['n_rows']} rows, {of['n_features']} features, K = {study.k(dataset, 'K')} labels"
    yield ""
    yield from table(["trained with", "decided by", *(f"k = {study.k(dataset, place)}" for place in PLACES)], rows)


def _cell(mean: float, spread: float, is_least: bool) -> str:
    return f"**{mean:.4f}** ± {spread:.4f}" if is_least else f"{mean:.4f} ± {spread:.4f}"


def seconds(study: Study) -> Iterator[str]:
    rows = ([name, *(f"{taken:.0f}" for taken in of["seconds"].values())] for name, of in study.datasets.items())
    yield from table(["data set", *study.datasets[DATASETS[0]]["seconds"]], rows)


def at_the_limit(study: Study) -> str:
    """How many networks might have gone on improving."""
    epochs = np.concatenate([study.epochs(dataset, loss) for dataset in DATASETS for loss in study.losses])
    patience = study.settings["patience"]
    n_late = int((epochs > study.settings["epochs"] - patience).sum())
    return f"of {epochs.size} networks, {n_late} had their best epoch within {patience} of that limit"


def advice(study: Study) -> Iterator[str]:
    caps = ", ".join(f"{study.k(name, study.cap(name))} on {name}" for name in DATASETS)
    up_to, mixture, votes = (COMPARED[f"absolute, up to k*{rule}"] for rule in ("", ", mixture", ", votes"))
    yield f"""
        **Judged by Hamming loss alone: BCE.** Its scores are estimates of probabilities, and the absolute surrogate at
        k = 1 gains little ({tally(study, up_to, BCE, ("1",))}) for {more_epochs(study, ABSOLUTE.format(1))} times as
        many epochs."""
    yield f"""
        **Labels have to be right together: `ChoquetLoss(BinomialMeasure(k), surrogate="absolute")`, with a k at which
        the loss of hard predictions is below 1/2.** The score 1/2 for everything has a loss of 1/2 under every measure.
        Where hard predictions do no better (subset 0/1 loss on yeast is 0.8), a surrogate learns scores close to that
        one, and little of what thresholds need: see the table of hedged scores. So train at the k that judges, but at
        no more than k*, the largest k at which a network trained with BCE has a loss below 1/2: of those tried here,
        {caps}. Against BCE, both with thresholds, at k = 2, K/2 and K: {tally(study, up_to, BCE, TOGETHER)}. Without
        that limit, always at the k that judges: {tally(study, Way(ABSOLUTE), BCE, TOGETHER)}; where the two differ, the
        limit is {tally_of_capped(study)}."""
    yield f"""
        **One network for the whole curve: the absolute surrogate at k = 2.** Against BCE over all k:
        {tally(study, Way(ABSOLUTE.format(2)), BCE)}."""
    yield f"""
        **Short training, or a convex loss: the logistic surrogate, with the same limit.** Up to k* it takes fewer
        epochs than BCE. Against BCE: {tally(study, COMPARED["logistic, up to k*"], BCE, TOGETHER)}. The absolute one
        against it: {tally(study, up_to, COMPARED["logistic, up to k*"], TOGETHER)}. The scores of neither are
        probabilities: those of the logistic one are drawn to 1/2 from k = 2 on, those of the absolute one to 0 and
        1."""
    yield f"""
        **Trained already: BCE, then `JointCalibrator` on validation logits.** It learns from the held-out rows how
        labels depend on each other, and no network is trained anew. Against thresholds of the same networks, at k = 2,
        K/2 and K: {tally(study, CALIBRATED, BCE, TOGETHER)} (differences at all k: {spread(study, CALIBRATED, BCE)});
        one network by itself: {tally(study, Way("BCE", "single, calibrated"), Way("BCE", "single"), TOGETHER)}. The
        absolute surrogate up to k* with thresholds against it: {tally(study, up_to, CALIBRATED, TOGETHER)}."""
    yield f"""
        **`bayes_optimal` on an ensemble trained with BCE does not replace a surrogate.** Compared with thresholds of
        the same ensemble, the difference is {spread(study, COMPARED["BCE, drawn"], BCE)} from label sets drawn, and
        {spread(study, COMPARED["BCE, mixture"], BCE)} from the mixture that they are drawn from. Each network takes
        labels for independent, and for independent labels thresholds are optimal under every such loss; all the
        dependence there is to decide by is what the networks disagree about. A model of the joint distribution has
        more: `AutoJoint` ([one model, any loss](joint_learners.md)) has lower Hamming and subset 0/1 losses [on the
        same folds](tailored_study.md) than anything on this page."""
    yield f"""
        **After a surrogate, `bayes_optimal` may add a little.** The absolute one up to k*, at k = 2, K/2 and K, against
        its own thresholds: from the mixture {tally(study, mixture, up_to, TOGETHER)}; from votes
        {tally(study, votes, up_to, TOGETHER)}."""
    yield """
        **Do not draw label sets from hedged scores.** A thousand draws are few among the 2^14 label sets of yeast:
        where scores are hedged, decisions from draws are far worse than those from the mixture. Votes do not have this
        trouble, and need one label set a network."""


def more_epochs(study: Study, loss: str) -> str:
    """How many times as many epochs as with BCE networks take."""
    ratios = [study.epochs(name, loss).mean() / study.epochs(name, "BCE").mean() for name in DATASETS]
    return f"{min(ratios):.0f} to {max(ratios):.0f}"


def tally_of_capped(study: Study) -> str:
    """How the absolute surrogate up to k* compares with the one at the k that judges, where they are not the same."""
    free, capped = Way(ABSOLUTE), COMPARED["absolute, up to k*"]
    beyond = [case for case in study.cases if PLACES.index(case[1]) > PLACES.index(study.cap(case[0]))]
    lower = sum(study.folds(*case, capped).mean() < study.folds(*case, free).mean() for case in beyond)
    return f"better in {lower} of {len(beyond)} cases"


def protocol(study: Study) -> Iterator[str]:
    of = study.settings
    yield f"""
        The published ten folds; features standardised on training rows. A network has one hidden layer of
        {of["hidden"]} rectified units, with dropout {of["dropout"]:g}. An ensemble has {of["n_members"]}, each with
        initial weights, batches and held-out rows of its own, the same ones for all losses: comparisons are paired.
        AdamW with learning rate {of["learning_rate"]:g} and weight decay {of["weight_decay"]:g}; batches of
        {of["batch"]} rows; at most {of["epochs"]} epochs, ended when no network of the ensemble has improved for
        {of["patience"]}. A network keeps its best epoch, the one with the least value of *the loss it is trained with*
        on {of["held_out"]:.0%} of the training rows, held out from it. These settings are the same everywhere and were
        not tuned; only the limit of epochs was raised, from 60, when a trial on one fold showed that held-out losses
        still fell there ({at_the_limit(study)})."""
    yield ""
    yield "The losses: BCE, and both surrogates at k = 1, 2, K/2 and K (logistic at k = 1 is BCE). The decisions:"
    yield ""
    yield "- *threshold*: labels whose probability, a mean over the ensemble, is at least 0.5;"
    yield "- *one network, threshold*: the same by each network alone, their losses averaged;"
    yield f"""
        - *drawn*: each network draws {of["samples"]} label sets for each row, from its own probabilities;
        `bayes_optimal` on `LabelDistribution.from_samples` of them, for the k that judges;"""
    yield "- *mixture*: the same without chance, on the probabilities of all 2^K label sets, a mean over the ensemble;"
    yield "- *votes*: as *drawn*, but of one label set a network: what it predicts with a threshold;"
    yield """
        - *`JointCalibrator`*, after BCE alone: one for each network, fitted on its logits of the rows held out from it;
        the best labels by the mean of their joint distributions. *One network, `JointCalibrator`*: the labels that
        each predicts, their losses averaged."""
    yield ""
    yield f"""
        All are judged by binomial losses on the test folds. *Sure*, and bold in tables of differences, is what the
        corrected resampled t test over the folds finds at {SURE:.0%}, after Holm's correction for the
        {len(study.cases)} cases (a data set and a k) of a column."""


def limits() -> str:
    return """
        The limits of all this: one architecture, three data sets, no tuning. Most differences are small beside the
        spread over folds, and few are sure. The rule of k* has a reason, but k* itself was read off the losses on the
        test folds here (in every fold, the other nine tell the same), and k = 2 was chosen after the fact: expect a
        little less on other data."""


def page(study: Study) -> Iterator[str]:
    versions = ", ".join(f"{package} {version}" for package, version in study.settings["versions"].items())
    yield "# Networks: which loss to train with, and how to decide"
    yield ""
    yield "Made by `scripts/network_page.py` from what `scripts/network_study.py` leaves."
    yield f"Run on {study.settings['created']} with {versions}; with others, last digits may differ."
    yield ""
    yield "## Which to use when"
    yield ""
    yield from (f"- {each}" for each in advice(study))
    yield ""
    yield limits()
    yield ""
    yield "In code: what to train with, and a decision from `logits` of shape (networks, rows, labels), a NumPy array:"
    yield ""
    yield from SNIPPET.splitlines()
    yield ""
    yield "## How it was measured"
    yield ""
    yield from protocol(study)
    yield ""
    yield "## Differences from BCE with thresholds"
    yield ""
    yield """
        Mean over folds; below 0 is better than BCE. Surrogates are trained at the k that judges, or at k* where that is
        less; decided by thresholds unless said otherwise."""
    yield ""
    yield from differences(study, COMPARED, BCE)
    yield "## Differences from BCE with `bayes_optimal`"
    yield ""
    yield "The same beside the decisions that BCE's mixture leads to."
    yield ""
    others = {name: way for name, way in COMPARED.items() if way.loss != "BCE"}
    yield from differences(study, others, COMPARED["BCE, mixture"])
    yield "## Trained at one k, judged at another"
    yield ""
    yield "Differences from BCE, all with thresholds, a mean over the data sets."
    yield ""
    yield from across(study)
    yield "## Hedged scores"
    yield ""
    yield """
        The share of scores between 1/4 and 3/4, nearer to "I do not know" than to an answer; and the epochs that were
        kept, a mean over networks."""
    yield ""
    yield from scores(study)
    yield "## All losses"
    yield ""
    yield "Mean and standard deviation over folds; the least of a column in bold."
    yield ""
    for dataset in DATASETS:
        yield from losses(study, dataset)
    yield "## Seconds"
    yield ""
    yield f"Of one core, for all {len(study.losses)} losses and all folds."
    yield ""
    yield from seconds(study)


def main() -> int:
    if len(sys.argv) > 2:
        print(__doc__)
        return 2
    study = Study(Path(sys.argv[1] if len(sys.argv) > 1 else "study-networks"))
    lines = (" ".join(line.split()) for line in page(study))  # paragraphs are broken as the code is
    (DOCS / "networks.md").write_text("\n".join(lines), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
