"""Models explained at the last loss of the table, subset 0/1 loss as a rule; explanations as plain values for pages."""

from typing import Any

import numpy as np

from choral._outputs import plain_numbers
from choral.evaluation.references import Togetherness
from choral.evaluation.result import Evaluation
from choral.explanation import Explanation, Explanations
from choral.measures import Measure, SubsetMeasure
from choral.measures.families import get_family, name_end

MAX_CELLS_OF_FIGURES = 5_000_000  # rows x labels: with more, the usual figures take longer than all the rest
MAX_EXPLAINED = 6  # models: of more, the best two are explained
WHY_NOT_PARTS = "this evaluation was made of summaries of parts, which do not hold the rows"


def measure_in_words(family: str, parameter: float, n_labels: int) -> tuple[Measure, str]:
    """The measure of a loss, and the loss in words.

    Examples
    --------
    >>> measure_in_words("binomial", 3, n_labels=3), measure_in_words("binomial", 2, n_labels=3)
    ((SubsetMeasure(), 'subset 0/1 loss'), (BinomialMeasure(k=2), 'binomial loss at k=2'))
    """
    if "subset" in name_end(family, parameter, n_labels):
        return SubsetMeasure(), "subset 0/1 loss"
    of_family = get_family(family)
    return of_family.measure(parameter), f"{family} loss at {of_family.symbol}={parameter:.15g}"


def last_measure(evaluation: Evaluation) -> tuple[Measure, str]:
    """The measure of the last loss in the table, and the loss in words."""
    return measure_in_words(evaluation.family, evaluation.summary().parameters[-1], evaluation.n_labels)


def names_to_explain(evaluation: Evaluation) -> tuple[str, ...]:
    """The models from the least loss up, at the last loss of the table: all of a few, the best two of many.

    Of equal ones, the first given comes first.
    """
    summary = evaluation.summary()
    last = len(summary.parameters) - 1
    ranking = sorted(evaluation.models, key=lambda name: summary.rows[name][last])
    return tuple(ranking if len(ranking) <= MAX_EXPLAINED else ranking[:2])


# Plain values for pages


def explanation_contents(
    found: Explanation, dataset: str, measure: str, togetherness: Togetherness | None = None, *, figures: bool = True
) -> dict[str, Any]:
    """What a page shows of an explanation: see `choral.report.explanations`.

    Parameters
    ----------
    found : Explanation
    dataset, measure : str
        What the page calls the data and the loss.
    togetherness : Togetherness, optional
    figures : bool
        Whether to compute F1 and its like, unless there are very many rows and labels.
    """
    names = found.labels
    pairs, table = found.pairs, found.pair_table()
    columns = ("first", "second", "together", "expected", "excess", "lower", "upper")
    return {
        "dataset": dataset,
        "model": found.name,
        "measure": measure,
        "loss": found.loss,
        "labels": list(names),
        "rates": _numbers(found.error_rates),
        "share_hamming": _numbers(found.along.hamming),
        "share": _numbers(found.shares),
        "along": {
            "symbol": get_family(found.along.family).symbol,
            "parameters": plain_numbers(found.along.parameters),
            "shares": [_numbers(shares) for shares in found.along.shares],
        },
        "confidence": found.confidence,
        "togetherness": togetherness_contents(togetherness),
        **(_figures(found) if figures else {"figures": {}}),
        "pairs": [
            dict(zip((*columns, "p"), values, strict=True))
            for values in zip(*(_plain(table[name]) for name in (*columns, "p_value")), strict=True)
        ],
        "matrix": {
            "labels": [names[label] for label in pairs.labels],
            "values": [_numbers(row) for row in pairs.correlations],
        },
        "rows": [
            {"id": str(row.id), "loss": row.loss, "true": list(row.true), "predicted": list(row.predicted)}
            for row in found.costly_rows or ()
        ],
        "mistakes": [
            {"true": list(mistake.true), "predicted": list(mistake.predicted), "n": mistake.n_rows}
            for mistake in found.mistakes or ()
        ],
        "never": [list(some.labels) for some in found.never_predicted or ()],
    }


def disagreement_contents(found: Explanations, dataset: str) -> list[dict[str, Any]]:
    """What a page shows of the rows that the best and the second model judge differently; empty if there are none."""
    between = found.disagreements
    if between is None or not between.rows:
        return []
    rows = [
        {
            "id": str(row.id),
            "losses": list(row.losses),
            "true": list(row.true),
            "predicted": [list(labels) for labels in row.predicted],
        }
        for row in between.rows
    ]
    counts = {"n_first_better": between.n_first_better, "n_second_better": between.n_second_better}
    return [{"dataset": dataset, "models": list(between.models), **counts, "rows": rows}]


def togetherness_contents(found: Togetherness | None) -> dict[str, float | None] | None:
    """Plain numbers, None for what is not known; None for no togetherness at all."""
    if found is None or not np.isfinite(found.estimate):
        return None
    value, *others = (None if number is None or np.isnan(number) else float(number) for number in found)
    return dict(zip(("value", "lower", "upper", "independent"), (value, *others), strict=True))


def _figures(found: Explanation) -> dict[str, Any]:
    """F1 and Jaccard, how they are meant, and precision and recall of each label; no figures where they take long."""
    if found.n_rows * len(found.labels) > MAX_CELLS_OF_FIGURES or found.figures is None:
        return {"figures": {}}
    figures, averages = found.figures, {"samples": "by row", "micro": "micro", "macro": "macro"}
    shown = {
        f"{title}, {words}": getattr(figures, f"{name}_{average}")
        for title, name in {"F1": "f1", "Jaccard": "jaccard"}.items()
        for average, words in averages.items()
    }
    by_label = {"precision": _numbers(figures.precision), "recall": _numbers(figures.recall)}
    return {"figures": shown, "conventions": figures.conventions, **by_label}


def _numbers(values: np.ndarray) -> list[float | None]:
    return [None if np.isnan(value) else value for value in np.asarray(values, dtype=float).tolist()]


def _plain(column: Any) -> list[Any]:
    return _numbers(column) if isinstance(column, np.ndarray) else list(column)
