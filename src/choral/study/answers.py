"""The question of a study answered in words: which learner for which loss, and how surely."""

from collections import Counter
from itertools import groupby

import numpy as np

from choral._text import counted, join_names
from choral._validation import ROUNDING
from choral.stats import RankComparison
from choral.study.comparisons import PLACES, place_in_words, same_as_baseline_in_words
from choral.study.results import Results
from choral.study.tables import winners_along

MAX_NAMED = 6
FEW_FOLDS = 10  # fewer than these, repeats included, say little by the corrected t test
FEW_DATASETS = 6  # with fewer than these Wilcoxon's test cannot reach 5 %, whatever the ranks


def answer(results: Results) -> list[str]:
    """A few sentences, the most important first."""
    family = results.families[0]
    judged = [dataset for dataset in results.datasets if len(results.competitor_curves(dataset, family)) > 1]
    if len(results.competitors) == 1:
        return [f"There is one learner, {results.competitors[0]}, and none to compare it with."]
    if not judged:
        return ["No two learners have finished on one data set: there is nothing to compare.", *_left_out(results)]
    if all(_are_alike(results, dataset, family) for dataset in judged):
        return ["The learners do not differ at any parameter.", *_baseline(results, family), *_left_out(results)]
    places = results.places(family)
    sentences = [_headline(results, family, judged)] if places else ["The parameters of this study reach no end."]
    sentences += _not_shown(results, family) + _little_power(results, family, judged)
    sentences += [_at_place(results, family, place, judged) for place in places]
    sentences.append(_changes(results, family, judged))
    sentences += _most_together(results, family)
    sentences += _baseline(results, family)
    return sentences + _left_out(results)


def _are_alike(results: Results, dataset: str, family: str) -> bool:
    return all(
        set(winners) == set(results.competitor_curves(dataset, family))
        for winners in winners_along(results, dataset, family)
    )


def _headline(results: Results, family: str, judged: list[str]) -> str:
    """What is known first: who is surely best where; then who leads elsewhere."""
    words = {"Hamming": "Hamming loss", "middle": "halfway"}
    words["subset 0/1"] = "subset 0/1 loss" if family == "binomial" else "alpha = 1000"
    best = {place: _best_on_average(results, family, place, judged) for place in results.places(family)}
    parts: dict[bool, list[tuple[list[str], str]]] = {True: [], False: []}
    for (is_sure, names), group in groupby(best, lambda place: (_is_sure(results, family, place, judged), best[place])):
        parts[is_sure].append((names, _name_stretch([words[place] for place in group], len(best))))
    sentences = []
    if parts[True]:
        stretches = (f"{join_names(names)}{where}" for names, where in parts[True])
        sentences.append(f"{', '.join(stretches)}.")
    if parts[False]:
        (names, where), *others = parts[False]
        leaders = [f"{join_names(_shorten(names))} {'leads' if len(names) == 1 else 'lead'}{where}"]
        leaders += [f"{join_names(_shorten(names))}{where}" for names, where in others]
        nobody = "Elsewhere no learner" if sentences else "No learner"
        sentences.append(f"{nobody} is surely best; {', '.join(leaders)}.")
    return " ".join(sentences)


def _name_stretch(places: list[str], n_places: int) -> str:
    """Where someone is ahead, to follow a name.

    Examples
    --------
    >>> _name_stretch(["Hamming loss"], 3), _name_stretch(["halfway"], 3), _name_stretch(["halfway", "alpha = 9"], 3)
    (' for Hamming loss', ' halfway', ' from halfway to alpha = 9')
    >>> _name_stretch(["Hamming loss", "halfway"], 2)
    ', whatever the loss'
    """
    if len(places) == n_places > 1:
        return ", whatever the loss"
    if len(places) > 1:
        return f" from {places[0]} to {places[-1]}"
    return " halfway" if places == ["halfway"] else f" for {places[0]}"


def _is_sure(results: Results, family: str, place: str, judged: list[str]) -> bool:
    """Whether a test shows the best at a place to be better than each of the others."""
    x, best = results.places(family)[place], _best_on_average(results, family, place, judged)
    if len(best) > 1:
        return False
    comparison = results.ranks_or_none(family, x)
    if comparison is None:
        return len(judged) == 1 and not _near_by_folds(results, judged[0], family, x, best[0])
    doubt = 1 - comparison.confidence
    if len(comparison.names) == 2:
        return bool(comparison.wilcoxon[0, 1] < doubt)
    return bool(comparison.friedman.pvalue < doubt) and not _near_by_ranks(comparison, best[0])


def _best_on_average(results: Results, family: str, place: str, judged: list[str]) -> list[str]:
    """By mean rank where ranks compare, else those that win on most data sets; all that are equal."""
    x = results.places(family)[place]
    comparison = results.ranks_or_none(family, x)
    if comparison is None:
        wins = _wins(results, family, x, judged)
        return [name for name, count in wins.items() if count == max(wins.values())]
    ranks = comparison.mean_ranks
    return [name for name, rank in zip(comparison.names, ranks, strict=True) if rank <= ranks.min() + ROUNDING]


def _wins(results: Results, family: str, x: float, datasets: list[str]) -> Counter[str]:
    """On how many data sets each learner is best."""
    return Counter(name for dataset in datasets for name in _best_at(results, dataset, family, x))


def _best_at(results: Results, dataset: str, family: str, x: float) -> list[str]:
    losses = {name: results.loss_at(dataset, name, family, x) for name in results.competitor_curves(dataset, family)}
    return [name for name, loss in losses.items() if loss <= min(losses.values()) + ROUNDING]


def _at_place(results: Results, family: str, place: str, judged: list[str]) -> str:
    """Who is best by a loss, and how surely."""
    x, loss = results.places(family)[place], place_in_words(family, place)
    comparison = results.ranks_or_none(family, x)
    best = _best_on_average(results, family, place, judged)
    if comparison is not None:
        wins = _wins(results, family, x, results.complete_datasets)
        counts = join_names([str(wins[name]) for name in best])
        rank = f"{comparison.mean_ranks.min():.2f} over {comparison.n_datasets} data sets, best on {counts}"
        surely = _by_ranks(comparison, best[0]) if len(best) == 1 else ""
        return f"By {loss}, {join_names(best)} {_have(best)} the best mean rank ({rank}){surely}."
    if len(judged) == 1:
        value = results.loss_at(judged[0], best[0], family, x)
        surely = _by_folds(results, judged[0], family, x, best[0]) if len(best) == 1 else ""
        return f"By {loss}, {join_names(best)} {_have(best)} the lowest loss on {judged[0]} ({value:.4f}){surely}."
    count = _wins(results, family, x, judged)[best[0]]
    return f"By {loss}, {join_names(best)} {_have(best)} the lowest loss on {count} of {len(judged)} data sets."


def _by_ranks(comparison: RankComparison, best: str) -> str:
    """Which learners may be as good as the best one; nothing where it is not shown that learners differ at all."""
    doubt = 1 - comparison.confidence
    if len(comparison.names) == 2:  # Friedman's test needs three
        pvalue = comparison.wilcoxon[0, 1]
        verdict = "better than the other" if pvalue < doubt else "that may be chance"
        return f"; by Wilcoxon's test {verdict} (p = {pvalue:.2g})"
    if not comparison.friedman.pvalue < doubt:
        return ""
    return _verdict("Nemenyi's test", _near_by_ranks(comparison, best), len(comparison.names))


def _near_by_ranks(comparison: RankComparison, best: str) -> list[str]:
    gaps = comparison.mean_ranks - comparison.mean_ranks[comparison.names.index(best)]
    near = [name for name, gap in zip(comparison.names, gaps, strict=True) if gap < comparison.critical_difference]
    return [name for name in near if name != best]


def _by_folds(results: Results, dataset: str, family: str, x: float, best: str) -> str:
    """The same on one data set."""
    near = _near_by_folds(results, dataset, family, x, best)
    return _verdict("the corrected t test", near, len(results.competitor_curves(dataset, family)))


def _near_by_folds(results: Results, dataset: str, family: str, x: float, best: str) -> list[str]:
    """Who may be as good by the test along the curve, at the parameter next to the place."""
    positions = results.curve(dataset, best, family).x
    index = int(np.abs(positions - x).argmin())
    pvalues = {
        names: difference.pvalue[index]
        for names, difference in results.differences(dataset, family).items()
        if best in names
    }
    return [(set(names) - {best}).pop() for names, p in pvalues.items() if not p < 1 - results.confidence]


def _verdict(test: str, near: list[str], n_learners: int) -> str:
    if not near:
        return f"; by {test} better than each of the others"
    if len(near) == n_learners - 1:
        return f"; by {test} none of the others is worse for certain"
    return f"; by {test} {join_names(near)} may be as good, the others are worse"


def _not_shown(results: Results, family: str) -> list[str]:
    """By which losses it is not shown that three or more learners differ."""
    found = {place: results.ranks_or_none(family, x) for place, x in results.places(family).items()}
    doubtful = [
        place_in_words(family, place)
        for place, comparison in found.items()
        if comparison is not None and comparison.friedman.pvalue >= 1 - comparison.confidence
    ]
    if not doubtful:
        return []
    if len(doubtful) == len(PLACES):
        return ["Friedman's test does not show that learners differ, at either end or halfway."]
    return [f"By {join_names(doubtful)}, Friedman's test does not show that learners differ."]


def _little_power(results: Results, family: str, judged: list[str]) -> list[str]:
    """That a test says little, where nobody is surely best somewhere and the test has little to go by."""
    places = results.places(family)
    if all(_is_sure(results, family, place, judged) for place in places):
        return []
    comparison = results.ranks_or_none(family, next(iter(places.values())))
    if comparison is not None and comparison.n_datasets < FEW_DATASETS:
        return [
            f"With {comparison.n_datasets} data sets such a test has little power: "
            "learners may differ although it does not show it."
        ]
    if comparison is None and len(judged) == 1 and (n_folds := results.n_folds(judged[0])) < FEW_FOLDS:
        return [
            f"With {counted(n_folds, 'fold')} the corrected t test has little power: "
            "learners may differ although it does not show it."
        ]
    return []


def _changes(results: Results, family: str, judged: list[str]) -> str:
    """On how many data sets the winner depends on the loss."""
    changing = []
    for dataset in judged:
        along = [set(winners) for winners in winners_along(results, dataset, family)]
        if not set.intersection(*along):
            changing.append(dataset)
    way = "on the way from Hamming to subset 0/1" if len(results.places(family)) == 3 else "along the curve"
    if not changing:
        if len(judged) == 1:
            return f"The same learner has the lowest loss all along: the winner does not change {way}."
        return f"On every data set the same learner is best all along: no winner changes {way}."
    if len(judged) == 1:
        return f"Which learner is best depends on the loss: the winner changes {way}."
    return (
        f"Which learner is best depends on the loss on {len(changing)} of {len(judged)} data sets "
        f"({join_names(changing)}): there the winner changes {way}."
    )


def _most_together(results: Results, family: str) -> list[str]:
    """Whose mistakes fall into few rows: by the mean togetherness over data sets, which slopes do not tell.

    A slope depends on the level of the Hamming loss. Learners that predict anew for each loss have no single set of
    mistakes, and are left out.
    """
    if len(results.places(family)) < 3 or len(results.complete_datasets) < 2:
        return []
    names = [name for name in results.competitors if name not in results.each_loss]
    curves = [results.competitor_curves(dataset, family) for dataset in results.complete_datasets]
    found = np.array([[row[name].togetherness for name in names] for row in curves])
    if len(names) < 2 or np.isnan(found).any():
        return []
    means = found.mean(axis=0)
    if np.ptp(means) <= ROUNDING:
        return []
    (most, high), (least, low) = (
        (join_names([name for name, mean in zip(names, means, strict=True) if abs(mean - end) <= ROUNDING]), end)
        for end in (means.max(), means.min())
    )
    return [
        f"Mistakes are most in the same rows with {most} (togetherness {high:.2f} on average: 1 if all are in as few "
        f"rows as possible, 0 if they are spread evenly), least with {least} ({low:.2f})."
    ]


def _baseline(results: Results, family: str) -> list[str]:
    """Who predicts the same as the baseline, and who does not beat it somewhere."""
    name = results.baseline
    finished = [dataset for dataset in results.datasets if name in results.finished(dataset)]
    if name is None:
        return []
    if not finished:
        return [f"The baseline ({name}) has not finished."]
    behind = []
    for dataset in finished:
        baseline = results.curve(dataset, name, family).losses
        for other, curve in results.competitor_curves(dataset, family).items():
            if (curve.losses >= baseline - ROUNDING).any():
                behind.append(f"{other} on {dataset}")
    if not behind:
        return [f"Every learner beats the baseline ({name}) at every parameter."]
    behind_baseline = f"Not better than the baseline ({name}) at some parameter: {join_names(_shorten(behind))}."
    return [*same_as_baseline_in_words(results), behind_baseline]


def _left_out(results: Results) -> list[str]:
    """Learners that have not finished."""
    missing = [
        f"{learner} on {dataset}"
        for dataset in results.datasets
        for learner in results.learners
        if learner not in results.finished(dataset)
    ]
    return [f"Left out, since not all of their cells are done: {join_names(_shorten(missing))}."] if missing else []


def _shorten(names: list[str]) -> list[str]:
    return names if len(names) <= MAX_NAMED else [*names[:MAX_NAMED], f"{len(names) - MAX_NAMED} more"]


def _have(names: list[str]) -> str:
    return "has" if len(names) == 1 else "have"
