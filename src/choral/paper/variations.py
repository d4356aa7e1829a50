"""Variations of the study of the paper: sweeps over settings that it varied, and scores instead of labels."""

from dataclasses import replace

from choral.paper.claims import CLAIMS, OF_SWEEPS, Claim, make_section
from choral.paper.evidence import OwnRuns
from choral.paper.judging import changes_slope
from choral.study import Results, Section, Summary
from choral.study.comparisons import PLACES

SETS = {5: "RAkEL-3, m = 5", 10: "RAkEL-3, m = 10", 20: "RAkEL-3, m = 20", 40: "RAkEL-3, m = 40"}
BESIDES = Claim(
    "",
    "Not a claim of the paper, which varied it: the number of models m changes how dependence-aware RAkEL is.",
    "by how much the slope of the curve of RAkEL with k = 3 falls each time m doubles (5 to 40); it holds where "
    "the change is "
    "for certain, up or down",
    changes_slope(SETS),
    "curves/yeast--binomial",
)
HEDGE = "1/2 for every label"
WARNING = (
    "Scores are judged here as they are, without a threshold. That is another yardstick than hard labels, and "
    "the two must not be "
    "compared: hedging pays. The score 1/2 for every label, which says nothing, has loss 1/2 under every "
    "measure; a learner that "
    "commits itself to labels has loss 1 by subset 0/1 loss on each row where a single one is wrong. Learners "
    "whose scores are "
    "0 and 1 (label powersets on single trees, nearly) are judged as if they were hard, those that average many "
    "votes hedge."
)


def sweeps_section(results: Results) -> Section:
    """What the settings do: the claims about them, and mean losses over the data sets where all learners finished."""
    chosen = [claim for claim in CLAIMS if claim.key in OF_SWEEPS]
    judged = make_section("What settings do", OwnRuns(results), "sweeps", [*chosen, BESIDES])
    return Section(judged.title, judged.prose, judged.findings, (mean_losses(results, "binomial"),), judged.tables)


def hedging_section(results: Results) -> Section:
    """Losses of scores, with the warning, and who is beaten by saying 1/2 for every label."""
    summary = mean_losses(results, "binomial")
    rows = (*summary.rows, (HEDGE, 0.5, 0.5, 0.5, 0.0))
    beaten = {
        learner: [
            dataset for dataset in results.complete_datasets if results.loss_at(dataset, learner, "binomial", 1.0) > 0.5
        ]
        for learner in results.competitors
    }
    sentences = [
        f"By the loss of scores at the subset 0/1 end, 1/2 for every label beats {learner} on {len(datasets)} of "
        f"{len(results.complete_datasets)} data sets{': ' + ', '.join(datasets) if datasets else ''}."
        for learner, datasets in beaten.items()
    ]
    return Section("Scores hedge", prose=(WARNING, " ".join(sentences)), summaries=(replace(summary, rows=rows),))


def mean_losses(results: Results, family: str) -> Summary:
    """The mean over data sets of the losses at both ends and halfway, and of the slope."""
    datasets = results.complete_datasets
    rows = []
    for learner in results.learners if datasets else ():
        losses = [
            [results.loss_at(dataset, learner, family, x) for x in PLACES.values()]
            for dataset in datasets
            if learner in results.finished(dataset)
        ]
        means = [sum(column) / len(column) for column in zip(*losses, strict=True)]
        rows.append((learner, *means, means[-1] - means[0]))
    return Summary(
        caption=f"Mean over {len(datasets)} data sets, {family} losses",
        columns=("learner", "Hamming", "halfway", "subset 0/1", "slope"),
        rows=tuple(rows),
    )
