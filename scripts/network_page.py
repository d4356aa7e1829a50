"""Write docs/networks.md and its figure: ``python scripts/network_page.py [RESULTS [LONGER]]``.

RESULTS is what `scripts/network_study.py` leaves, study-networks/networks.json unless given; LONGER the same of a study
that had more epochs, with whichever losses. All figures are computed. Sentences on what was found are computed, too, or
were written for earlier results and are refused if new ones do not bear them out (`told`).
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from network_figure import draw
from network_results import BCE, COMPARED, PLACES, SURE, Study, Summaries, Way
from network_tables import across, by_dataset, datasets, summaries
from paper_page import DOCS, NO_MARGIN

SINGLE, SINGLE_CALIBRATED = Way("BCE", "single"), Way("BCE", "single, calibrated")
EACH, ONE, TUNED = "BCE, `JointCalibrator`", "BCE, one `JointCalibrator`", "BCE, tuned threshold"
DRAWN = (ONE, TUNED, "label sets", "logistic, up to k*", "absolute, up to k*", "focal, tuned threshold",
         "asymmetric, tuned threshold")  # fmt: skip
FAR = 0.05
ALTERNATIVE = (
    "Differences of the loss from BCE cut at 0.5, for seven ways to train or decide, at k = 1, K/2 and K; a dot for "
    "each data set. At k = 1 no mean is far below 0; at K/2 and K those of one JointCalibrator and of label sets are "
    "lowest."
)
JUDGED = {"1": "k = 1 (Hamming)", "K/2": "k = K/2", "K": "k = K (subset 0/1)"}

SNIPPET = """\
```python
# logits of one network, trained with BCE, on rows that it was not trained on
calibrator = choral.JointCalibrator(scores="logits").fit(validation_logits, validation_labels)
labels = calibrator.predict(test_logits, choral.BinomialMeasure(2))  # or for any other loss

# several networks, logits of shape (networks, rows, labels): the same calibrator
labels = calibrator.predict(logits.mean(axis=0), choral.SubsetMeasure())
```"""


def told(holds: bool, sentence: str) -> str:
    """A sentence that was written for earlier results, if these results bear it out."""
    if not holds:
        raise ValueError(f"the results do not say this any more: {sentence}")
    return sentence


def answer(study: Study, found: Summaries) -> Iterator[str]:
    """What to do with a network, and what that is worth."""
    single = study.summarise({"": SINGLE_CALIBRATED}, SINGLE)
    before, after = (study.mean("K", way) for way in (SINGLE, SINGLE_CALIBRATED))
    yield """**What should I do with my network?** Train it with BCE, fit a [`JointCalibrator`](any_model.md) on its
        logits of rows that it was not trained on, and let that decide for the loss that judges you: one calibrator
        decides for every k, and no network is trained anew."""
    yield told(
        _places(single, "", -1) == _places(found, ONE, -1) and before > after,
        f"""On {len(study.datasets)} data sets this takes the mean subset 0/1 loss of a network from {before:.3f} to
        {after:.3f}; the gain is sure at {_list(_places(found, ONE, -1))}, for one network and for several.""",
    )
    yield told(
        not any("1" in _places(found, name, -1) for name in COMPARED),
        "For Hamming loss a cut at 0.5 does as well: nothing that was tried is surely better.",
    )
    yield told(
        min(COMPARED, key=lambda name: found[name, "K"].over_all.mean) == ONE,
        "No training for one k has a lower mean subset 0/1 loss.",
    )


def before_and_after(study: Study) -> Iterator[str]:
    """A table of mean losses, cut at 0.5 and decided by a calibrator."""
    yield f"| mean loss over {len(study.datasets)} data sets | {' | '.join(JUDGED.values())} |"
    yield f"| --- |{' ---: |' * len(JUDGED)}"
    several = f"{study.settings['n_members']} networks"
    for name, way in (
        ("one network, BCE, cut at 0.5", SINGLE),
        ("the same with its `JointCalibrator`", SINGLE_CALIBRATED),
        (f"{several}, BCE, cut at 0.5", BCE),
        (f"{several} with one `JointCalibrator`", COMPARED[ONE]),
        (f"{several}, `LabelSetLoss` with the k that judges", COMPARED["label sets"]),
    ):
        yield f"| {name} | {' | '.join(f'{study.mean(place, way):.4f}' for place in JUDGED)} |"


def _places(found: Summaries, name: str, sign: int) -> list[str]:
    here = {place: found[name, place].over_all for place in PLACES}
    return [place for place, over_all in here.items() if over_all.is_sure and sign * over_all.mean > 0]


def _list(places: Sequence[str]) -> str:
    if not places:
        return "no k"
    *first, last = places
    return f"k = {', '.join(first)} and {last}" if first else f"k = {last}"


def brief(found: Summaries, name: str) -> str:
    """The mean difference at three places; in brackets on how many data sets the loss is lower."""
    here = {place: found[name, place] for place in JUDGED}
    return ", ".join(f"{each.over_all} ({each.n_lower}) at k = {place}" for place, each in here.items())


def against(study: Study, way: Way, other: Way) -> str:
    """The same of one way beside another."""
    return brief(study.summarise({"": way}, other), "")


def advice(study: Study, found: Summaries) -> Iterator[str]:
    """When to use which: reasons as text, findings from the results."""
    share, n_members = study.settings["held_out"], study.settings["n_members"]
    of_all = 1 - (1 - share) ** n_members
    label_sets, calibrated = COMPARED["label sets"], COMPARED[ONE]
    absolute, votes = COMPARED["absolute, up to k*"], COMPARED["absolute, up to k*, votes"]
    yield f"""Figures are mean differences of the loss over {len(study.datasets)} data sets, of ensembles of {n_members}
        networks, from BCE with thresholds at 0.5 unless said otherwise. Bold ones are sure; in brackets, on how many
        data sets the loss is lower."""
    yield ""
    yield f"""- **You have a network, or train one with BCE: `JointCalibrator`.** A network with an output for each
        label takes labels for independent, given the features. The calibrator learns from held-out rows how they
        depend on each other. One for all networks: {brief(found, ONE)}. One for each network: {brief(found, EACH)}. A
        single network with its calibrator, beside one without: {against(study, SINGLE_CALIBRATED, SINGLE)}. It needs
        rows: here {share:.0%} of the training rows, those held out from a network; for the one about {of_all:.0%},
        those held out from at least one of the networks. {few_rows(study)}"""
    yield f"""- **You want a threshold, no more: `ThresholdTuner`.** One for all labels, tuned for each k on the same
        rows: {brief(found, TUNED)}. One `JointCalibrator` beside it:
        {against(study, calibrated, COMPARED[TUNED])}."""
    yield f"""- **You train for one loss, and label sets repeat: `LabelSetLoss`.** The network scores label sets, those
        of the training rows, and [in the limit](pytorch.md#networks-that-score-label-sets) the best-scored one is the
        best decision among them. Trained with the k that judges: {brief(found, "label sets")}. Beside one
        `JointCalibrator`: {against(study, label_sets, calibrated)}; lower at k = K on {lower_at_k(study)}.
        {where_all_are_unique(study)}
        {steadier(found)} {as_quick_as_bce(study)}"""
    yield f"""- **You want one output for each label, trained for a k: `ChoquetLoss` with the logistic surrogate, up to
        k\\*.** The score 1/2 for everything has a loss of 1/2 under every measure. Where hard predictions do no better,
        a surrogate learns scores close to 1/2, and little of what thresholds need (see *hedged* below). So train at the
        k that judges, but at no more than k\\*, the largest k at which a network trained with BCE has a loss below 1/2
        on held-out rows: {brief(found, "logistic, up to k*")}. Without that limit: {brief(found, "logistic")}."""
    yield f"""- **Not by default: the absolute surrogate.** Up to k\\*: {brief(found, "absolute, up to k*")}. It is not
        convex, and where labels are rare it can stay at predicting none. Trained with k = 2, it is more than {FAR}
        above BCE at k = K on {far_above(study, "absolute, k = 2")}."""
    yield f"""- **Focal and asymmetric loss only with a tuned threshold.** They let go of labels that are easy, and the
        scores are no probabilities any more. Cut at 0.5, focal: {brief(found, "focal")}; asymmetric:
        {brief(found, "asymmetric")}, though surely lower at k = K on {surely_lower(study, "asymmetric")}. With tuned
        thresholds, focal: {brief(found, "focal, tuned threshold")}; asymmetric:
        {brief(found, "asymmetric, tuned threshold")}. {beside_tuned_bce(study)}"""
    yield told(
        not any(_places(found, name, -1) for name in ("BCE, votes", "absolute, up to k*, votes")),
        f"""- **Votes add nothing.** `bayes_optimal` on one label set a network, after BCE:
        {brief(found, "BCE, votes")}; after the absolute surrogate up to k\\*, beside its own thresholds:
        {against(study, votes, absolute)}.""",
    )
    yield ""
    yield """Not covered: calibrating after another loss than BCE; weights of labels, and other settings of focal and
        asymmetric loss; deep, convolutional or pretrained networks; thousands of labels; losses that are not binomial,
        such as F1 ([any model, any loss](any_model.md) has them). Where features are a table, a network may not be
        needed: [`AutoJoint`](joint_learners.md)."""


def few_rows(study: Study) -> str:
    """The smallest data set: what calibrators learn from few rows."""
    name = min(study.datasets, key=lambda name: study.datasets[name]["n_rows"])
    n_train = study.datasets[name]["n_rows"] * (1 - 1 / study.settings["n_folds"])
    each, one = (study.compare(COMPARED[way])[name, "K"] for way in (EACH, ONE))
    return f"""On the smallest data set, {name}, where a network holds out
        {study.settings["held_out"] * n_train:.0f} rows, one calibrator for each network is at {each} at k = K, one for
        all at {one}."""


def steadier(found: Summaries) -> str:
    """Training with half of the labels where all of them judge."""
    half, whole = (found[name, "K"] for name in ("label sets, k = K/2", "label sets"))
    return told(
        half.over_all.mean <= whole.over_all.mean and half.n_lower >= whole.n_lower,
        f"""Training with k = K/2 was steadier, also for subset 0/1 loss, under which a row teaches nothing of label
        sets that are nearly its own: {half.over_all} ({half.n_lower}) at k = K, a comparison that was added when the
        results were known.""",
    )


def as_quick_as_bce(study: Study) -> str:
    """Whether networks that score label sets cost more."""
    bce, *others = (
        sum(of["losses"][loss]["seconds"] for of in study.datasets.values())
        for loss in ("BCE", *(f"label sets, k = {place}" for place in PLACES))
    )
    return told(max(others) < 1.5 * bce, "It trains about as fast as BCE does (*seconds* below).")


def lower_at_k(study: Study) -> str:
    """Where networks that score label sets have a lower subset 0/1 loss than the calibrator."""
    differences = study.compare(COMPARED["label sets"], COMPARED[ONE])
    return _names(study, lambda name: differences[name, "K"].mean < 0)


def where_all_are_unique(study: Study) -> str:
    """Where no row can teach anything of another one's label set as a whole."""
    differences = study.compare(COMPARED["label sets"])
    unique = (name for name, of in study.datasets.items() if of["n_labelsets"] == of["n_rows"])
    return " ".join(
        f"On {name}, where no label set occurs twice, it cannot help: {differences[name, '1']} at k = 1."
        for name in unique
    )


def surely_lower(study: Study, way: str) -> str:
    """Where a way is surely below BCE at the end, by the t test over folds."""
    differences = study.compare(COMPARED[way])
    return _names(study, lambda name: differences[name, "K"].is_sure and differences[name, "K"].mean < 0)


def far_above(study: Study, way: str) -> str:
    """Where a way is far above BCE at the end."""
    differences = study.compare(COMPARED[way])
    return _names(study, lambda name: differences[name, "K"].mean > FAR)


def beside_tuned_bce(study: Study) -> str:
    """Rivals after tuning, beside BCE after tuning."""
    rivals = {name: COMPARED[f"{name}, tuned threshold"] for name in ("focal", "asymmetric")}
    found = study.summarise(rivals, COMPARED[TUNED])
    at_k = {name: study.compare(way, COMPARED[TUNED]) for name, way in rivals.items()}
    lower = {name: _names(study, lambda data, of=of: of[data, "K"].mean < 0) for name, of in at_k.items()}
    return told(
        not any(_places(found, name, -1) for name in rivals),
        f"""Neither is surely better than BCE tuned in the same way; beside it, focal: {brief(found, "focal")};
        asymmetric: {brief(found, "asymmetric")}. At k = K, focal is the lower one on {lower["focal"]}; asymmetric on
        {lower["asymmetric"]}.""",
    )


def _names(study: Study, chosen: Callable[[str], bool]) -> str:
    return ", ".join(filter(chosen, study.datasets)) or "none"


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
        {SURE:.0%}, after Holm's correction for the {len(COMPARED)} ways at a k; ways that are put beside another one
        than BCE, and single networks, are compared by themselves. Held-out rows that chose the epoch also serve
        thresholds, calibrators and k\\*, as they would for most users."""


def limits(study: Study) -> str:
    """What all this does not say."""
    saturated = f" Hardly any prediction is ever right in {', '.join(study.saturated)}." if study.saturated else ""
    left_out = f" Unfinished, and left out: {', '.join(study.left_out)}." if study.left_out else ""
    return f"""
        The limits of all this: one small architecture, {len(study.datasets)} small data sets, one draw of weights and
        batches, settings that were not tuned, for any loss. `JointCalibrator` was designed [with these data sets in
        view](any_model.md#what-it-is-worth), the rule of k\\* with three of them (emotions, yeast, scene); focal and
        asymmetric loss were designed elsewhere. What is named first was picked by these very results. So expect less
        on other data. A mean over data sets is ruled by those where losses differ most; counts and tests are
        not.{saturated}{left_out}"""


def with_more_epochs(study: Study, longer: Study) -> str:
    """How far means over data sets move where training may last longer."""
    ways = {loss: Way(loss) for loss in longer.losses} | {name: COMPARED[name] for name in (EACH, ONE)}
    moves = {
        (name, place): longer.mean_difference(place, way) - study.mean_difference(place, way)
        for name, way in ways.items()
        for place in PLACES
    }
    (name, place), move = max(moves.items(), key=lambda item: abs(item[1]))
    of_calibrators = max(abs(move) for (name, _), move in moves.items() if name in (EACH, ONE))
    return f"""
        Trained anew with `--epochs {longer.settings["epochs"]} --patience {longer.settings["patience"]}`
        ({"; ".join(longer.losses)}), mean differences from BCE move by at most {abs(move):.4f} ({name}, at
        k = {place}), those after calibration by at most {of_calibrators:.4f}."""


def folded(title: str, lines: Iterator[str]) -> Iterator[str]:
    """Lines behind a title that is to be clicked at."""
    yield f"<details><summary>{title}</summary>"
    yield ""
    yield from lines
    yield "</details>"
    yield ""


def page(study: Study, longer: Study | None = None) -> Iterator[str]:
    """The whole page, paragraph by paragraph."""
    found = study.summarise()
    versions = ", ".join(f"{package} {version}" for package, version in study.settings["versions"].items())
    n_networks = study.settings["n_folds"] * study.settings["n_members"]
    yield from NO_MARGIN
    yield "# Networks: which loss to train with, and how to decide"
    yield ""
    yield " ".join(answer(study, found))
    yield ""
    yield from before_and_after(study)
    yield ""
    yield from SNIPPET.splitlines()
    yield ""
    yield f"![{ALTERNATIVE}](figures/networks.png)"
    yield ""
    yield f"""
        Differences from an ensemble trained with BCE, cut at 0.5; below 0 is better. A dot is one of
        {len(study.datasets)} data sets, the line their mean, thick where it is sure by Wilcoxon's signed-rank test
        over data sets with Holm's correction."""
    yield ""
    yield "## Which to use when"
    yield ""
    yield from advice(study, found)
    yield ""
    yield limits(study)
    yield ""
    yield "## All ways, over all data sets"
    yield ""
    yield f"""
        Differences from BCE with thresholds at 0.5: the mean over {len(study.datasets)} data sets (bold where it is
        sure); then on how many of them the loss is lower, surely lower, surely higher."""
    yield ""
    yield from summaries(found)
    yield "## How it was measured"
    yield ""
    yield from protocol(study)
    yield ""
    if longer:
        yield with_more_epochs(study, longer)
        yield ""
    yield "## Trained with one loss, judged by another"
    yield ""
    yield f"""
        Differences from BCE, all with thresholds at 0.5 or the best label set, a mean over the data sets. *Hedged* is
        the share of scores between 1/4 and 3/4, nearer to "I do not know" than to an answer. Then the epochs kept, and
        the seconds it took to train {n_networks} networks for each data set, all data sets added up
        ({study.settings["device"]}, shared with trainings of other losses)."""
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
        Made by `scripts/network_page.py` from what `scripts/network_study.py` leaves (`make networks`). Run on
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
    """Write the page and its figure."""
    if len(sys.argv) > 3:
        print(__doc__)
        return 2
    files = [Path(name) for name in sys.argv[1:]] or [Path("study-networks/networks.json")]
    study, *longer = map(Study, files)
    (DOCS / "networks.md").write_text("\n".join(joined(page(study, *longer))), encoding="utf-8")
    draw(study, DRAWN).savefig(DOCS / "figures/networks.png", dpi=200, metadata={"Software": None})
    return 0


if __name__ == "__main__":
    sys.exit(main())
