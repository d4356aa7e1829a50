"""Variations of the study of the paper: sweeps over settings that it varied, and scores instead of labels."""

from dataclasses import replace

from choral.paper.claims import CLAIMS, OF_SWEEPS, Claim, make_section
from choral.paper.evidence import OwnRuns
from choral.paper.judging import changes_slope
from choral.study import Results, Section, Summary
from choral.study.comparisons import PLACES

FAMILY = "binomial"
SETS = {1: "RAkEL-3, m = K", 2: "RAkEL-3, m = 2 K", 3: "RAkEL-3, m = 3 K"}
BESIDES = Claim(
    "",
    "Not a claim of the paper, which varied it: the number of models m changes how dependence-aware RAkEL is.",
    "by how much the slope of the curve of RAkEL with k = 3 falls each time m doubles (K to 3 K); it holds where "
    "the change is for certain, up or down",
    changes_slope(SETS),
    "curves/yeast--binomial",
)
HEDGE = "1/2 for every label"
WARNING = (
    "Scores are judged here as they are, without a threshold. That is another yardstick than hard labels, and the two "
    "must not be compared: hedging pays. The score 1/2 for every label, which says nothing, has loss 1/2 under every "
    "measure; a learner that commits itself to labels has loss 1, by subset 0/1 loss, in each row where one is wrong. "
    "So learners that average many votes look better here, and the last column says on how many data sets saying 1/2 "
    "for every label beats a learner at the subset 0/1 end."
)


def sweeps_section(results: Results) -> Section:
    """What the settings do: the claims about them, and mean losses over the data sets where all learners finished.

    Parameters
    ----------
    results : Results
        Of a study.

    Returns
    -------
    section : Section
        Prose, findings and tables, to be shown with the study.

    See Also
    --------
    claims_section : The claims of the paper, judged by a study.
    choral.study.Section : What an analysis found.
    """
    chosen = [claim for claim in CLAIMS if claim.key in OF_SWEEPS]
    judged = make_section("What settings do", OwnRuns(results), "sweeps", [*chosen, BESIDES])
    return replace(judged, summaries=(mean_losses(results),))


def hedging_section(results: Results) -> Section:
    """Losses of scores, with a warning, and on how many data sets saying 1/2 for every label is better.

    Parameters
    ----------
    results : Results
        Of a study.

    Returns
    -------
    section : Section
        Prose, findings and tables, to be shown with the study.

    See Also
    --------
    claims_section : The claims of the paper, judged by a study.
    choral.study.Section : What an analysis found.
    """
    means, datasets = mean_losses(results), _whole_datasets(results)
    rows = []
    for learner, *losses in means.rows:
        beaten = sum(results.loss_at(dataset, str(learner), FAMILY, 1.0) > 0.5 for dataset in datasets)
        rows.append((learner, *losses, beaten))
    summary = Summary(
        caption=means.caption,
        columns=(*means.columns, "beaten by 1/2"),
        rows=[*rows, (HEDGE, 0.5, 0.5, 0.5, 0.0, 0)],
    )
    return Section("Scores hedge", prose=(WARNING,), summaries=(summary,))


def mean_losses(results: Results) -> Summary:
    """The mean over data sets of the binomial losses at both ends and halfway, and of the slope."""
    datasets = _whole_datasets(results)
    rows: list[tuple[str | float, ...]] = []
    for learner in results.learners if datasets else ():
        at_places = [[results.loss_at(dataset, learner, FAMILY, x) for dataset in datasets] for x in PLACES.values()]
        means = [sum(losses) / len(losses) for losses in at_places]
        rows.append((learner, *means, means[-1] - means[0]))
    return Summary(
        caption=f"Mean over {len(datasets)} data sets, {FAMILY} losses",
        columns=("learner", "Hamming", "halfway", "subset 0/1", "slope"),
        rows=tuple(rows),
    )


def _whole_datasets(results: Results) -> list[str]:
    """The data sets on which all learners finished, the baseline too; none where the curves lack an end."""
    if FAMILY not in results.families or len(results.places(FAMILY)) < len(PLACES):
        return []
    return [dataset for dataset in results.datasets if len(results.finished(dataset)) == len(results.learners)]
