"""The section "Where the loss comes from": labels, labels together, rows and label sets; all of it without a script."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from choral._text import counted, join_names
from choral.report.markup import MINUS, Cell, Html, number, prose, table, text

MAX_LABELS, MAX_LABELS_OF_MANY = 200, 25  # in the table of shares, the largest first
MANY = 6  # explanations: with more, each one is shorter, else a page of many data sets would grow by megabytes
MAX_WITH_NUMBERS = 12  # labels: a larger map shows its numbers to screen readers and pointers alone
SMALL_LINE = (64, 18)  # width and height of the line of a label, in its own units
STRONGEST = 85  # per cent of the full colour, so that text on it stays readable


def explanations(contents: dict[str, Any]) -> str:
    """What each explanation found, the first one open; nothing where there is none.

    ``contents["explanations"]`` is a list of dicts with the keys dataset, model, measure, loss, labels, rates,
    share_hamming, share (these four along the labels), and optionally precision, recall (likewise), along, confidence,
    togetherness, figures, conventions (of the figures, in words), pairs, matrix, rows, mistakes and never.
    ``contents["explained"]`` says which ones these are, where that needs words. ``contents["disagreements"]`` is a list
    of dicts with the keys dataset, models (two names), n_first_better, n_second_better and rows.
    `choral.evaluation.last_loss` makes both lists.
    """
    found = contents.get("explanations") or []
    if not found:
        return ""
    between = contents.get("disagreements") or []
    datasets = list(dict.fromkeys(each["dataset"] for each in found))
    bodies = []
    for dataset in datasets:
        for write, of_kind in (
            (partial(_explanation, is_one_of_many=len(found) > MANY), found),
            (_disagreements, between),
        ):
            numbered = enumerate(of_kind, start=1)
            bodies += [write(i, each, several=len(datasets) > 1) for i, each in numbered if each["dataset"] == dataset]
    return _lead(found, contents.get("explained", "")) + "".join(bodies)


def _lead(found: Sequence[dict[str, Any]], explained: str) -> str:
    measures = join_names(list(dict.fromkeys(each["measure"] for each in found)))
    return (
        f'<p class="lead">Each wrong label has a share in the loss of its row, and all shares add up to the loss '
        f"({prose(measures)}). Towards subset 0/1 loss a label that is wrong alone in its row weighs more than "
        "one that is wrong together with others: those are the labels to mend first.</p>"
        + (explained and f'<p class="note">{prose(explained)}</p>')
    )


def _explanation(index: int, found: dict[str, Any], *, several: bool, is_one_of_many: bool) -> str:
    name = f"{found['model']} on {found['dataset']}" if several else found["model"]
    parts = [
        _numbers(found),
        _shares(index, found, is_one_of_many=is_one_of_many),
        _pairs(index, found),
        _map(found, is_one_of_many=is_one_of_many),
        _rows(index, found),
        _mistakes(index, found),
    ]
    state = " open" if index == 1 else ""
    return (
        f'<details class="explanation"{state}><summary>{prose(name)}: loss {number(float(found["loss"]))}</summary>'
        f"{''.join(parts)}</details>"
    )


def _numbers(found: dict[str, Any]) -> str:
    """Togetherness and the usual figures, side by side."""
    entries: dict[str, Any] = {}
    together = found.get("togetherness") or {}
    if together.get("value") is not None:
        entries["Togetherness"] = with_interval(together)
    if together.get("independent") is not None:
        entries["If errors were independent"] = f"{together['independent']:.2f}"
    entries |= {
        name: value for name, value in (found.get("figures") or {}).items() if isinstance(value, str | float | int)
    }
    shown = (
        f"<div><dt>{text(name)}</dt><dd>{text(value) if isinstance(value, str) else number(value)}</dd></div>"
        for name, value in entries.items()
    )
    note = f'<p class="note">{prose(found["conventions"])}</p>' if found.get("conventions") else ""
    return f'<dl class="figures">{"".join(shown)}</dl>{note}' if entries else ""


def with_interval(found: Mapping[str, Any]) -> str:
    """A value and, where it is known, its interval.

    Examples
    --------
    >>> with_interval({"value": 0.25}), with_interval({"value": 0.25, "lower": 0.2, "upper": 0.31})
    ('0.25', '0.25 (0.20 to 0.31)')
    """
    value, lower, upper = (found.get(key) for key in ("value", "lower", "upper"))
    interval = "" if lower is None or upper is None else f" ({lower:.2f} to {upper:.2f})"
    return f"{value:.2f}{interval}"


def _shares(index: int, found: dict[str, Any], *, is_one_of_many: bool) -> str:
    """A row for each label, the largest share first, with bars for both ends of the way."""
    max_labels = MAX_LABELS_OF_MANY if is_one_of_many else MAX_LABELS
    of_hamming, of_measure = (_percentages(found[key]) for key in ("share_hamming", "share"))
    figures = [figure for figure in ("precision", "recall") if found.get(figure)]
    longest = max([*of_hamming, *of_measure], default=0) or 1
    order = sorted(range(len(of_measure)), key=lambda label: -of_measure[label])
    along = found.get("along") or {"parameters": ()}
    points = [_percentages(shares) for shares in along["shares"]] if len(along["parameters"]) > 1 else []
    changes = [[some[label] - points[0][label] for some in points] for label in range(len(of_measure))]
    largest = max((abs(change) for of_label in changes for change in of_label), default=0) or 1
    rows: list[list[Cell | Html]] = [
        [
            str(found["labels"][label]),
            _optional_number(found["rates"][label]),
            *(_optional_number(found[figure][label]) for figure in figures),
            _bar(of_hamming[label], longest, "hamming"),
            _bar(of_measure[label], longest, "measure"),
            *([_line([some[label] for some in points], largest)] if points else []),
        ]
        for label in order[:max_labels]
    ]
    names = [figure.capitalize() for figure in figures]
    headings = ["Label", "Error rate", *names, "Share of Hamming loss", f"Share by {found['measure']}"]
    if points:
        headings.append(f"Change along {along['symbol']} = {', '.join(map(_parameter, along['parameters']))}")
    left_out = len(order) - len(rows)
    note = "Change: by how many percentage points the share grows on the way; the line shows how. " if points else ""
    note += f"{counted(left_out, 'label')} with smaller shares left out." if left_out else ""
    return (
        "<h3>Which labels</h3>"
        + table(f"shares-{index}", "Shares of labels in the loss", headings, rows)
        + (note and f'<p class="note">{note}</p>')
    )


def _percentages(shares: Sequence[float]) -> list[float]:
    total = sum(shares)
    return [100 * share / total if total > 0 else 0.0 for share in shares]


def _parameter(value: float | str) -> str:
    return "\N{INFINITY}" if value == "inf" else f"{value:g}" if isinstance(value, int | float) else value


def _line(percentages: Sequence[float], largest: float) -> Html:
    """How a share changes from the first point to the last: a small line, and the percentage points gained."""
    width, height = SMALL_LINE
    changes = [percentage - percentages[0] for percentage in percentages]
    places = [
        f"{width * i / (len(changes) - 1):.1f},{height / 2 - (height / 2 - 1) * change / largest:.1f}"
        for i, change in enumerate(changes)
    ]
    words = ", ".join(f"{percentage:.1f} %" for percentage in percentages)
    return Html(
        f'<svg class="small-line" viewBox="0 0 {width} {height}" role="img"><title>{words}</title>'
        f'<path d="M0,{height / 2:g}h{width}"/><polyline points="{" ".join(places)}"/></svg>'
        f"<span>{_signed(changes[-1], 1)}</span>",
        changes[-1],
    )


def _signed(value: float, decimals: int) -> str:
    return f"{value:+z.{decimals}f}".replace("-", MINUS)


def _bar(percentage: float, longest: float, kind: str) -> Html:
    return Html(
        f'<span class="bar {kind}"><i style="width:{100 * percentage / longest:.1f}%"></i></span>'
        f"<span>{percentage:.1f} %</span>",
        percentage,
    )


def _pairs(index: int, found: dict[str, Any]) -> str:
    pairs = found.get("pairs") or []
    if not pairs:
        return ""
    headings = ["Label", "And", "Wrong together", "If independent", "Excess", _interval_heading(found), "p"]
    rows: list[list[Cell | Html]] = [
        [
            str(pair["first"]),
            str(pair["second"]),
            _optional_number(pair["together"]),
            _optional_number(pair["expected"]),
            pair["together"] - pair["expected"],
            _interval(pair["lower"], pair["upper"]),
            _p_value(pair.get("p")),
        ]
        for pair in pairs
    ]
    note = (
        "Excess: how much more often (or less often, below 0) both labels are wrong in the same row than independent "
        "errors would be. Intervals and p hold for all pairs of labels at once."
    )
    return (
        "<h3>Which labels together</h3>"
        + table(f"pairs-{index}", "Labels wrong together", headings, rows)
        + f'<p class="note">{note}</p>'
    )


def _p_value(p: float | None) -> Html | None:
    return (
        None
        if p is None
        else Html(f'<span class="interval">{"&lt; 0.001" if p < 0.001 else f"{p:.3f}"}</span>', float(p))
    )


def _interval_heading(found: dict[str, Any]) -> str:
    return f"{100 * found.get('confidence', 0.95):g} % interval of the excess"


def _interval(lower: float | None, upper: float | None) -> Html | None:
    if lower is None or upper is None:
        return None
    return Html(f'<span class="interval">{number(float(lower))} to {number(float(upper))}</span>', float(lower))


def _map(found: dict[str, Any], *, is_one_of_many: bool) -> str:
    """A heat map with a sign, below the diagonal; nothing for fewer than two labels."""
    matrix = found.get("matrix") or {"labels": ()}
    if len(matrix["labels"]) < 2:
        return ""
    shown = matrix["labels"][:MAX_WITH_NUMBERS] if is_one_of_many else matrix["labels"]
    names, values = [str(label) for label in shown], matrix["values"]
    known = [abs(values[i][j]) for i in range(len(names)) for j in range(i) if _is_known(values[i][j])]
    limit = max(known, default=0.0) or 1.0
    head = "".join(f'<th scope="col"><span title="{text(name)}">{text(name)}</span></th>' for name in names[:-1])
    body = "".join(
        f'<tr><th scope="row" title="{text(names[i])}">{text(names[i])}</th>'
        + "".join(_map_cell(names[i], names[j], values[i][j], limit, len(names)) for j in range(i))
        + "</tr>"
        for i in range(1, len(names))
    )
    return (
        '<div class="scroll map-box" tabindex="0" role="region" aria-label="Correlations of errors">'
        f'<table class="map"><caption>Correlations of errors</caption><thead><tr><td></td>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
        '<p class="note">Correlations of the errors of two labels, from \N{MINUS SIGN}1 to 1: '
        '<span class="key together"></span>&nbsp;above 0, wrong together more often than independent errors would be, '
        '<span class="key apart"></span>&nbsp;below 0, less often.'
        + (f" The {len(names)} labels with the largest shares." if len(names) < len(found["labels"]) else "")
        + "</p>"
    )


def _is_known(value: float | None) -> bool:
    return value is not None and value == value  # nan is not


def _map_cell(first: str, second: str, value: float | None, limit: float, n_labels: int) -> str:
    if value is None or not _is_known(value):
        return f'<td title="{text(first)} and {text(second)}: not known"></td>'
    shown = f"{value:z.2f}".replace("-", MINUS)
    depth = STRONGEST * min(abs(value) / limit, 1)
    kind = "together" if value > 0 else "apart"
    hidden = "" if n_labels <= MAX_WITH_NUMBERS else ' class="visually-hidden"'
    return (
        f'<td class="{kind}" style="--depth:{depth:.0f}%" title="{text(first)} and {text(second)}: {shown}">'
        f"<span{hidden}>{shown}</span></td>"
    )


def _rows(index: int, found: dict[str, Any]) -> str:
    rows = found.get("rows") or []
    if not rows:
        return ""
    cells = [
        [str(row["id"]), _optional_number(row["loss"]), _label_set(row["true"]), _label_set(row["predicted"])]
        for row in rows
    ]
    headings = ["Row", "Loss", "True labels", "Predicted labels"]
    return "<h3>Most costly rows</h3>" + table(f"rows-{index}", "Most costly rows", headings, cells)


def _mistakes(index: int, found: dict[str, Any]) -> str:
    mistakes, never = found.get("mistakes") or [], found.get("never") or []
    cells = [[_label_set(each["true"]), _label_set(each["predicted"]), each["n"]] for each in mistakes]
    whole = "<h3>Most frequent mistakes</h3>" + table(
        f"mistakes-{index}", "Most frequent mistakes", ["True labels", "Predicted labels", "Rows"], cells
    )
    sets = "; ".join(_label_set(each) for each in never)
    return (whole if cells else "") + (
        sets and f'<p class="note">Label sets that are never predicted: {prose(sets)}.</p>'
    )


def _disagreements(index: int, found: dict[str, Any], *, several: bool) -> str:
    """Rows that two models judge differently, folded."""
    first, second = (str(name) for name in found["models"])
    cells = [
        [str(row["id"]), *map(_optional_number, row["losses"]), *map(_label_set, (row["true"], *row["predicted"]))]
        for row in found["rows"]
    ]
    headings = ["Row", f"Loss of {first}", f"Loss of {second}", "True labels", f"By {first}", f"By {second}"]
    where = f" on {found['dataset']}" if several else ""
    counts = (
        f"{first} has the smaller loss in {counted(found['n_first_better'], 'row')}, "
        f"{second} in {counted(found['n_second_better'], 'row')}."
    )
    return (
        f'<details class="explanation"><summary>{prose(f"Rows that {first} and {second} judge differently{where}")}'
        f"</summary><p>{prose(counts)}</p>"
        + table(f"disagreements-{index}", "Rows judged differently", headings, cells)
        + "</details>"
    )


def _label_set(labels: str | Iterable[str]) -> str:
    """The labels of a set in one text; an empty set is said to be one."""
    return (labels if isinstance(labels, str) else ", ".join(map(str, labels))) or "none"


def _optional_number(value: Any) -> float | None:
    return None if value is None else float(value)
