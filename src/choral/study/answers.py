"""The question of a study answered in words: which learner for which loss, and how surely."""

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from choral.measures.base import ROUNDING
from choral.stats import RankComparison
from choral.study.tables import PLACES, place_in_words, winners_along

if TYPE_CHECKING:
    from choral.study.results import Results

MOST_NAMED = 6


def answer(results: "Results") -> list[str]:
    """A few sentences, the most important first."""
    family = results.families[0]
    judged = [dataset for dataset in results.datasets if set(results.finished(dataset)) - {results.baseline}]
    if not judged:
        return ["No learner has finished on any data set: there is nothing to compare."]
    if len(results.competitors) == 1:
        return [f"There is one learner, {results.competitors[0]}, and none to compare it with."]
    sentences = [_headline(results, family, judged)]
    sentences += [_at_place(results, family, place, judged) for place in PLACES]
    sentences.append(_changes(results, family, judged))
    if len(judged) > 1:
        sentences.append(_not_shown(results, family))
        sentences.append(_flattest(results, family, judged))
    if results.baseline is not None:
        sentences.append(_baseline(results, family, judged))
    return [sentence for sentence in sentences if sentence]


def _headline(results: "Results", family: str, judged: list[str]) -> str:
    """The best learner at each place in a few words."""
    best = {place: _best_on_average(results, family, x, judged) for place, x in PLACES.items()}
    names = {place: _listed(learners) for place, learners in best.items()}
    if len(set(names.values())) == 1:
        return f"{names['Hamming']}, whatever the loss."
    end = "subset 0/1 loss" if family == "binomial" else "the far end"
    if names["Hamming"] == names["middle"]:
        return f"{names['Hamming']} from Hamming loss to halfway, {names['subset 0/1']} for {end}."
    if names["middle"] == names["subset 0/1"]:
        return f"{names['Hamming']} for Hamming loss, {names['middle']} from halfway to {end}."
    return f"{names['Hamming']} for Hamming loss, {names['middle']} halfway, {names['subset 0/1']} for {end}."


def _best_on_average(results: "Results", family: str, x: float, judged: list[str]) -> list[str]:
    """By mean rank where ranks compare, else the winner of most data sets."""
    try:
        comparison = results.rank_comparison(family, x)
    except ValueError:
        wins = Counter(name for dataset in judged for name in _best_at(results, dataset, family, x))
        return [name for name, count in wins.items() if count == max(wins.values())]
    ranks = comparison.mean_ranks
    return [name for name, rank in zip(comparison.names, ranks, strict=True) if rank <= ranks.min() + ROUNDING]


def _at_place(results: "Results", family: str, place: str, judged: list[str]) -> str:
    """Who is best by a loss; over several data sets by mean rank, with Friedman's and Nemenyi's tests."""
    loss = place_in_words(family, place)
    if len(judged) == 1:
        return _on_one(results, family, place, judged[0])
    wins = Counter(name for dataset in judged for name in _best_at(results, dataset, family, PLACES[place]))
    try:
        comparison = results.rank_comparison(family, PLACES[place])
    except ValueError:
        name, count = wins.most_common(1)[0]
        return f"By {loss}, {name} is best on most data sets ({count} of {len(judged)})."
    best = int(np.argmin(comparison.mean_ranks))
    name = comparison.names[best]
    sentence = f"By {loss}, {name} is best on average (mean rank {comparison.mean_ranks[best]:.2f}"
    sentence += f" over {comparison.n_datasets} data sets, best on {wins[name]})"
    return f"{sentence}{_how_surely(comparison, best)}."


def _how_surely(comparison: RankComparison, best: int) -> str:
    """Which learners may be as good as the best; nothing where it is not shown that learners differ at all."""
    if not _is_shown(comparison):
        return ""
    gap = comparison.mean_ranks - comparison.mean_ranks[best]
    near = [name for name, d in zip(comparison.names, gap, strict=True) if 0 <= d < comparison.critical_difference]
    near.remove(comparison.names[best])
    if not near:
        return "; by Nemenyi's test better than each of the others"
    if len(near) == len(comparison.names) - 1:
        return "; by Nemenyi's test none of the others is worse for certain"
    return f"; by Nemenyi's test {_listed(near)} may be as good, the others are worse"


def _is_shown(comparison: RankComparison) -> bool:
    return bool(comparison.friedman.pvalue < 1 - comparison.confidence)


def _not_shown(results: "Results", family: str) -> str:
    """By which losses it may be chance that learners differ."""
    try:
        doubtful = [p for p, x in PLACES.items() if not _is_shown(results.rank_comparison(family, x))]
    except ValueError:
        return ""
    if not doubtful:
        return ""
    if len(doubtful) == len(PLACES):
        return "That may be chance: Friedman's test does not show that learners differ, at either end or halfway."
    losses = _listed([place_in_words(family, place) for place in doubtful])
    return f"By {losses} that may be chance: Friedman's test does not show that learners differ."


def _on_one(results: "Results", family: str, place: str, dataset: str) -> str:
    loss = place_in_words(family, place)
    winners = _best_at(results, dataset, family, PLACES[place])
    value = results.loss_at(dataset, winners[0], family, PLACES[place])
    return f"By {loss}, {_listed(winners)} {'is' if len(winners) == 1 else 'are'} best on {dataset} ({value:.4f})."


def _best_at(results: "Results", dataset: str, family: str, x: float) -> list[str]:
    names = [name for name in results.finished(dataset) if name != results.baseline]
    losses = np.array([results.loss_at(dataset, name, family, x) for name in names])
    return [name for name, loss in zip(names, losses, strict=True) if loss <= losses.min() + ROUNDING]


def _changes(results: "Results", family: str, judged: list[str]) -> str:
    """On how many data sets the winner depends on the loss."""
    changing = []
    for dataset in judged:
        along = [set(winners) for winners in winners_along(results, dataset, family)]
        if not set.intersection(*along):
            changing.append(dataset)
    if not changing:
        return "On every data set one learner is best all the way from Hamming to subset 0/1 loss."
    if len(judged) == 1:
        return "Which learner is best depends on the loss: the winner changes on the way from Hamming to subset 0/1."
    return (
        f"Which learner is best depends on the loss on {len(changing)} of {len(judged)} data sets "
        f"({_listed(changing)}): there the winner changes on the way from Hamming to subset 0/1."
    )


def _flattest(results: "Results", family: str, judged: list[str]) -> str:
    """Who gains most when labels have to be right together: the mean rank of the slopes."""
    whole = [dataset for dataset in judged if set(results.competitors) <= set(results.finished(dataset))]
    curves = [[results.curve(dataset, name, family) for name in results.competitors] for dataset in whole]
    if not whole or any(curve.x[0] > 0 or curve.x[-1] < 1 for row in curves for curve in row):
        return ""
    slopes = np.array([[curve.slope for curve in row] for row in curves])
    ranks = slopes.argsort(axis=1).argsort(axis=1).mean(axis=0) + 1
    flattest, steepest = (results.competitors[int(index)] for index in (ranks.argmin(), ranks.argmax()))
    return (
        f"The flattest curves are those of {flattest}: it loses least when labels have to be right together. "
        f"{steepest} loses most."
    )


def _baseline(results: "Results", family: str, judged: list[str]) -> str:
    """Who does not beat the baseline somewhere."""
    name = results.baseline
    behind = []
    for dataset in judged:
        curves = results.curves(dataset, family)
        if name in curves:
            behind += [
                f"{other} on {dataset}"
                for other, curve in curves.items()
                if other != name and (curve.losses > curves[name].losses + ROUNDING).any()
            ]
    if not behind:
        return f"Every learner beats the baseline ({name}) at every parameter."
    shown = behind if len(behind) <= MOST_NAMED else [*behind[:MOST_NAMED], f"{len(behind) - MOST_NAMED} more"]
    return f"Not better than the baseline ({name}) at some parameter: {_listed(shown)}."


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
