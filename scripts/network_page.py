"""Write docs/networks.md from a study: ``python scripts/network_page.py [study-networks/networks.json]``.

The study is what `scripts/network_study.py` leaves. Every sentence that says what was found is made from the results.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from network_results import ABSOLUTE, BCE, LABEL_SETS, LOGISTIC, PLACES, SURE, Difference, Study, Summary, Way
from paper_page import DOCS, NO_MARGIN, table

COMPARED = {
    "BCE, tuned threshold": Way("BCE", "tuned"),
    "BCE, votes": Way("BCE", "votes"),
    "BCE, `JointCalibrator`": Way("BCE", "calibrated"),
    "BCE, one `JointCalibrator`": Way("BCE", "calibrated by one"),
    "logistic": Way(LOGISTIC),
    "logistic, up to k*": Way(LOGISTIC, capped=True),
    "absolute": Way(ABSOLUTE),
    "absolute, up to k*": Way(ABSOLUTE, capped=True),
    "absolute, up to k*, votes": Way(ABSOLUTE, "votes", capped=True),
    "absolute, k = 2": Way(ABSOLUTE.format(2)),
    "label sets": Way(LABEL_SETS),
    "focal": Way("focal"),
    "focal, tuned threshold": Way("focal", "tuned"),
    "asymmetric": Way("asymmetric"),
    "asymmetric, tuned threshold": Way("asymmetric", "tuned"),
}
SINGLE, SINGLE_CALIBRATED = Way("BCE", "single"), Way("BCE", "single, calibrated")
CALIBRATED = ("BCE, `JointCalibrator`", "BCE, one `JointCalibrator`")
CHOQUET_WAYS = ("logistic", "logistic, up to k*", "absolute", "absolute, up to k*", "absolute, k = 2")
RIVALS = ("focal", "focal, tuned threshold", "asymmetric", "asymmetric, tuned threshold")
CHOQUET = '`ChoquetLoss(BinomialMeasure({}), surrogate="{}")`'
ADVICE = {
    "BCE, tuned threshold": "train with BCE, and tune one threshold for the loss on held-out rows (`ThresholdTuner`)",
    "BCE, votes": "train an ensemble with BCE, and ask `bayes_optimal` for the best answer to its votes",
    "BCE, `JointCalibrator`": "train with BCE, fit a `JointCalibrator` on held-out logits, and let it decide",
    "BCE, one `JointCalibrator`": "train several networks with BCE, fit one `JointCalibrator` on logits of rows held "
    "out from a network, and let it decide by the mean of their logits",
    "logistic": f"train with {CHOQUET.format('k', 'logistic')} at the k that judges",
    "logistic, up to k*": f"train with {CHOQUET.format('k', 'logistic')} at the k that judges, but at no more than k*",
    "absolute": f"train with {CHOQUET.format('k', 'absolute')} at the k that judges",
    "absolute, up to k*": f"train with {CHOQUET.format('k', 'absolute')} at the k that judges, but at no more than k*",
    "absolute, up to k*, votes": f"train an ensemble with {CHOQUET.format('k', 'absolute')} at the k that judges, but "
    "at no more than k*, and ask `bayes_optimal` for the best answer to its votes",
    "absolute, k = 2": f"train with {CHOQUET.format(2, 'absolute')}",
    "label sets": "let the network score label sets, and train it with `LabelSetLoss` at the k that judges",
    "focal": "train with the focal loss",
    "focal, tuned threshold": "train with the focal loss, and tune one threshold for the loss on held-out rows",
    "asymmetric": "train with the asymmetric loss",
    "asymmetric, tuned threshold": "train with the asymmetric loss, and tune one threshold for the loss on held-out "
    "rows",
}
JUDGED = {
    "1": "by single labels (Hamming loss, k = 1)",
    "K/2": "by half of the labels together (k = K/2)",
    "K": "by all labels together (subset 0/1 loss, k = K)",
}

SNIPPET = """\
```python
calibrator = choral.JointCalibrator().fit(validation_logits, validation_labels)  # of one network, trained with BCE
labels = calibrator.predict(test_logits, choral.SubsetMeasure())

criterion = choral.nn.ChoquetLoss(choral.BinomialMeasure(2), surrogate="absolute")

criterion = choral.nn.LabelSetLoss.from_targets(training_labels, choral.SubsetMeasure())
n_outputs = criterion.n_labelsets  # of the network

votes = choral.LabelDistribution.from_samples(np.stack(logits >= 0, axis=1))
labels = choral.bayes_optimal(votes, choral.SubsetMeasure()).labels
```"""

Summaries = dict[tuple[str, str], Summary]


def answer(found: Summaries) -> Iterator[str]:
    """What to do with a network: by each yardstick the lowest way that is surely lower, and one way for all of them."""
    yield "**What should I do with my network?**"
    for place, judged in JUDGED.items():
        lower = [name for name in COMPARED if _places(found, name, -1).count(place)]
        name = min(lower or COMPARED, key=lambda name: found[name, place].over_all.mean)
        if lower:
            yield f"Judged {judged}: **{ADVICE[name]}**. Its loss is {figures(found[name, place])}."
        else:
            yield f"""Judged {judged}: **keep BCE with thresholds at 0.5**. No other way is surely lower over all data
                sets; the loss of the lowest, {shown(name)}, is {figures(found[name, place])}."""
    everywhere = min(COMPARED, key=lambda name: sum(found[name, place].over_all.mean for place in PLACES))
    sure, higher = (_list(_places(found, everywhere, sign)) for sign in (-1, 1))
    yield f"""One way for every k: **{ADVICE[everywhere]}**. Of all ways that were tried it has the lowest mean over the
        four k; it is surely lower than BCE with thresholds at {sure}, surely higher at {higher}."""


def shown(name: str) -> str:
    """A name as text."""
    return f"“{_cell(name)}”"


def figures(summary: Summary) -> str:
    """How much lower than BCE's, on how many data sets."""
    side = "lower" if summary.over_all.mean < 0 else "higher"
    higher = f", surely higher on {summary.n_surely_higher}" if summary.n_surely_higher else ""
    return (
        f"{abs(summary.over_all.mean):.4f} {side} in the mean than that of BCE with thresholds: lower on "
        f"{summary.n_lower} of {summary.n_datasets} data sets, surely on {summary.n_surely_lower}{higher}"
    )


def verdict(found: Summaries, name: str) -> str:
    """Where a way is surely lower or higher than BCE over all data sets."""
    sides = {what: _places(found, name, sign) for what, sign in (("lower", -1), ("higher", 1))}
    parts = [f"surely {what} at {_list(where)}" for what, where in sides.items() if where]
    return f"{shown(name)} is {', '.join(parts)}" if parts else f"{shown(name)} differs surely at no k"


def _places(found: Summaries, name: str, sign: int) -> list[str]:
    here = {place: found[name, place].over_all for place in PLACES}
    return [place for place, over_all in here.items() if over_all.is_sure and sign * over_all.mean > 0]


def _list(places: Sequence[str]) -> str:
    if not places:
        return "no k"
    *first, last = places
    return f"k = {', '.join(first)} and {last}" if first else f"k = {last}"


def advice(study: Study, found: Summaries) -> Iterator[str]:
    """When to use which: reasons as text, findings from the results."""

    def all_of(*names: str) -> str:
        return ". ".join(verdict(found, name) for name in names)

    share = study.settings["held_out"]
    of_all = 1 - (1 - share) ** study.settings["n_members"]
    yield "Each finding below is over all data sets, against BCE with thresholds at 0.5."
    yield ""
    yield f"""- **Trained already: `JointCalibrator`.** It learns from logits of held-out rows how labels depend on each
        other, and decides for any k; no network is trained anew. {all_of(*CALIBRATED)}. One network
        alone, calibrated, against one network with thresholds: {against(study, SINGLE_CALIBRATED, SINGLE)}. It needs
        rows to learn from: here, the calibrator of a network has {share:.0%} of the training rows, the one for all
        networks about {of_all:.0%}."""
    yield f"""- **Training anew, one output for each label: `ChoquetLoss`, up to k\\*.** The score 1/2 for everything
        has a loss of 1/2 under every measure. Where hard predictions do no better, a surrogate learns scores close to
        1/2, and little of what thresholds need (see the table of hedged scores). So train at the k that judges, but at
        no more than k\\*, the largest k at which a network trained with BCE has a loss below 1/2 on held-out rows. The
        logistic surrogate is convex in the logits; the absolute one is the loss of the scores itself, and takes
        {more_epochs(study)} as many epochs as BCE. {all_of(*CHOQUET_WAYS)}."""
    yield f"""- **A guarantee: `LabelSetLoss`.** Given enough rows, the best-scored label set is the best decision among
        the candidates, those of the training rows. It cannot predict others, and where label sets hardly repeat, few
        rows teach each of them: there are more label sets than half of the rows in {rarely_repeating(study)}. A
        network is trained anew for each k. {all_of("label sets")}."""
    yield f"""- **Focal and asymmetric loss** were made for other yardsticks, such as average precision, and move scores
        away from probabilities; a threshold tuned on held-out rows allows for that. {all_of(*RIVALS)}. The same tuning
        after BCE: {all_of("BCE, tuned threshold")}."""
    votes, thresholds = (COMPARED[name] for name in ("absolute, up to k*, votes", "absolute, up to k*"))
    yield f"""- **An ensemble's votes** hold the dependence that its networks disagree about. {all_of("BCE, votes")}.
        {all_of("absolute, up to k*, votes")}; against the same networks with thresholds:
        {against(study, votes, thresholds)}."""


def against(study: Study, way: Way, other: Way) -> str:
    """One way against another, place by place."""
    summaries = study.summarise({"": way}, other)
    parts = (f"{summaries['', place].over_all} at k = {place}" for place in PLACES)
    return f"{', '.join(parts)} (means over data sets)"


def rarely_repeating(study: Study) -> str:
    """The data sets in which most rows have a label set of their own, or nearly."""
    return ", ".join(name for name, of in study.datasets.items() if of["n_labelsets"] > of["n_rows"] / 2) or "none"


def more_epochs(study: Study) -> str:
    """How many times as many epochs as with BCE networks take with the absolute surrogate at k = 1."""
    means = {loss: [np.mean(of["losses"][loss]["epochs"]) for of in study.datasets.values()]
             for loss in ("BCE", ABSOLUTE.format(1))}  # fmt: skip
    ratios = np.array(means[ABSOLUTE.format(1)]) / means["BCE"]
    return f"{ratios.min():.1f} to {ratios.max():.1f} times (at k = 1)"


def _cell(name: str) -> str:
    """A star must not be taken for emphasis."""
    return name.replace("*", "\\*")


def summaries(found: Summaries) -> Iterator[str]:
    """All ways over all data sets."""
    rows = ([_cell(name), *(str(found[name, place]) for place in PLACES)] for name in COMPARED)
    yield from table(["", *(f"k = {place}" for place in PLACES)], rows)


def by_dataset(study: Study, place: str) -> Iterator[str]:
    """The loss of BCE on each data set, and the differences of all ways."""
    columns = [study.compare(way) for way in COMPARED.values()]
    rows = (
        [
            f"{dataset}, k = {study.k(dataset, place)}",
            f"{study.folds(dataset, place, BCE).mean():.4f}",
            *(str(column[dataset, place]) for column in columns),
        ]
        for dataset in study.datasets
    )
    yield from table(["", "BCE", *map(_cell, COMPARED)], rows)


def datasets(study: Study) -> Iterator[str]:
    """Sizes, and k*."""
    rows = (
        [
            name,
            *(str(of[key]) for key in ("n_rows", "n_features")),
            str(of["places"]["K"]),
            str(of["n_labelsets"]),
            ", ".join(f"{k} ({n})" if len(study.caps(name)) > 1 else str(k) for k, n in study.caps(name).items()),
        ]
        for name, of in study.datasets.items()
    )
    yield from table(["", "rows", "features", "labels K", "label sets", "k\\* (in how many folds)"], rows)


def across(study: Study) -> Iterator[str]:
    """Differences from BCE of single trainings, a mean over the data sets; hedging; epochs."""
    rows = (
        [loss, *(_beside_bce(study, loss, place) for place in PLACES), *_said(study, loss)] for loss in study.losses
    )
    yield from table(["trained with", *(f"judged at k = {place}" for place in PLACES), "hedged", "epochs"], rows)


def _beside_bce(study: Study, loss: str, place: str) -> str:
    differences = [study.folds(name, place, Way(loss)) - study.folds(name, place, BCE) for name in study.datasets]
    return str(Difference(float(np.mean(differences)), is_sure=False))


def _said(study: Study, loss: str) -> tuple[str, str]:
    found = [of["losses"][loss] for of in study.datasets.values()]
    hedged = "" if found[0]["hedged"] is None else f"{np.mean([each['hedged'] for each in found]):.0%}"
    return hedged, f"{np.mean([np.mean(each['epochs']) for each in found]):.0f}"


def at_the_limit(study: Study) -> str:
    """How many networks might have gone on improving."""
    epochs = np.concatenate(
        [np.ravel(of["losses"][loss]["epochs"]) for of in study.datasets.values() for loss in study.losses]
    )
    patience = study.settings["patience"]
    n_late = int((epochs > study.settings["epochs"] - patience).sum())
    return f"of {epochs.size} networks, {n_late} had their best epoch within {patience} of that limit"


def protocol(study: Study) -> Iterator[str]:
    """What was done."""
    of = study.settings
    yield f"""
        {len(study.datasets)} data sets, {of["n_folds"]} folds: the published ones, and stratified ones
        (`MultilabelStratifiedKFold`, seed 0) for cal500, chd-49, foodtruck and gnegative-go. Features are scaled by the
        training rows, dense ones to variance 1, sparse ones to a largest value of 1. A network has one hidden layer of
        {of["hidden"]} rectified units, with dropout {of["dropout"]:g}. An ensemble has {of["n_members"]}, each with
        held-out rows, initial weights, batches and dropout of its own, the same ones for all losses: comparisons are
        paired. AdamW with learning rate {of["learning_rate"]:g} and weight decay {of["weight_decay"]:g}; batches of at
        most {of["batch"]} rows, all of one size, so that a few rows are left out of an epoch, others each time. At
        most {of["epochs"]} epochs; a network stops when it has not improved for {of["patience"]}, and keeps its best
        epoch, the one with the least value of *the loss it is trained with* on {of["held_out"]:.0%} of the training
        rows, held out from it. These settings are the same everywhere and were not tuned ({at_the_limit(study)})."""
    yield ""
    yield f"""
        The losses: BCE; `ChoquetLoss` with both surrogates, and `LabelSetLoss` with all label sets of the training rows
        (at most {of["max_labelsets"]}), each at k = 1, 2, K/2 and K (logistic at k = 1 is BCE); the focal loss (Lin et
        al. 2017, gamma 2) and the asymmetric loss (Ridnik et al. 2021; gamma- 4, gamma+ 1, clip 0.05, the defaults of
        its authors' code). The decisions:"""
    yield ""
    yield "- labels whose probability, a mean over the ensemble, is at least 0.5, unless said otherwise;"
    yield "- *label sets*: the label set with the largest probability, a mean over the ensemble;"
    yield """- *tuned threshold*: for each k the one that `ThresholdTuner` finds on the held-out rows of all networks
        together, applied to the mean;"""
    yield "- *votes*: `bayes_optimal` for the k that judges, from one label set a network;"
    yield """- *`JointCalibrator`*: one for each network, fitted on its logits of the rows held out from it; the best
        labels by the mean of their joint distributions;"""
    yield """- *one `JointCalibrator`*: fitted on all rows that were held out from some network, each with the logits of
        the first of these; what it predicts from the mean of the logits."""
    yield ""
    yield f"""
        All are judged by binomial losses on the test folds; nothing is learned from test rows. For a data set and a k,
        *sure* is what the corrected resampled t test over the folds finds at {SURE:.0%}, after Holm's correction for
        the {len(study.cases)} cases of a way. Over data sets, it is what Wilcoxon's signed-rank test finds at
        {SURE:.0%}, after Holm's correction for the {len(COMPARED)} ways at a k. Held-out rows that chose the epoch also
        serve thresholds, calibrators and k\\*, as they would for most users."""


def limits(study: Study) -> str:
    """What all this does not say."""
    saturated = f" Hardly any prediction is ever right in {', '.join(study.saturated)}." if study.saturated else ""
    left_out = f" Unfinished, and left out: {', '.join(study.left_out)}." if study.left_out else ""
    return f"""
        The limits of all this: one architecture, small data sets, no tuning. The ways that are named first were picked
        by these very results: expect a little less on other data. A mean over data sets is ruled by those where losses
        differ most; counts and tests are not.{saturated}{left_out}"""


def folded(title: str, lines: Iterator[str]) -> Iterator[str]:
    """Lines behind a title that is to be clicked at."""
    yield f"<details><summary>{title}</summary>"
    yield ""
    yield from lines
    yield "</details>"
    yield ""


def page(study: Study) -> Iterator[str]:
    """The whole page, paragraph by paragraph."""
    found = study.summarise(COMPARED)
    versions = ", ".join(f"{package} {version}" for package, version in study.settings["versions"].items())
    yield from NO_MARGIN
    yield "# Networks: which loss to train with, and how to decide"
    yield ""
    yield " ".join(answer(found))
    yield ""
    yield "In code, from `logits` of shape (networks, rows, labels), a NumPy array:"
    yield ""
    yield from SNIPPET.splitlines()
    yield ""
    yield f"""
        Differences from BCE with thresholds at 0.5, below 0 is better: the mean over {len(study.datasets)} data sets
        (bold where it is sure); then on how many of them the loss is lower, surely lower, surely higher."""
    yield ""
    yield from summaries(found)
    yield "## Which to use when"
    yield ""
    yield from advice(study, found)
    yield ""
    yield limits(study)
    yield ""
    yield "## How it was measured"
    yield ""
    yield from protocol(study)
    yield ""
    yield "## Trained with one loss, judged by another"
    yield ""
    yield """
        Differences from BCE, all with thresholds at 0.5 or the best label set, a mean over the data sets. *Hedged* is
        the share of scores between 1/4 and 3/4, nearer to "I do not know" than to an answer; then the epochs kept."""
    yield ""
    yield from across(study)
    yield "## Data set by data set"
    yield ""
    yield "The loss of BCE with thresholds, and the differences of the other ways from it; bold ones are sure."
    yield ""
    for place in PLACES:
        yield from folded(f"k = {place}", by_dataset(study, place))
    yield from folded("Sizes of the data sets, and k\\*", datasets(study))
    yield f"""
        Made by `scripts/network_page.py` from what `scripts/network_study.py` leaves. Run on
        {study.settings["created"]} ({study.settings["device"]}) with {versions}; with others, last digits may
        differ."""
    yield ""


def joined(lines: Iterator[str]) -> Iterator[str]:
    """Paragraphs, which are broken as the code is, in one line each; code as it stands."""
    in_code = False
    for line in lines:
        in_code ^= line.startswith("```")
        yield line if in_code else " ".join(line.split())


def main() -> int:
    """Write the page."""
    if len(sys.argv) > 2:
        print(__doc__)
        return 2
    study = Study(Path(sys.argv[1] if len(sys.argv) > 1 else "study-networks/networks.json"))
    (DOCS / "networks.md").write_text("\n".join(joined(page(study))), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
