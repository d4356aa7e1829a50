"""What ``choral study`` leaves on the screen: ranks or losses, the answer, sections, failures, and where all is."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rich.table import Table as RichTable
from rich.text import Text

from choral._text import counted
from choral.cli.console import new_table, print_sentences, print_table
from choral.study import Finding, Results, Section, Summary
from choral.study.answers import answer

Rows = Mapping[str, Sequence[float]]
MAX_FAILURES, MAX_CHARACTERS = 10, 200  # shown; the page lists all in full


def print_study(results: Results, written: list[Path]) -> None:
    """Print what the study found."""
    for table, notes in _summaries(results):
        print_table(table)
        print_sentences([*notes, ""])
    print_sentences(answer(results))
    for section in results.sections:
        _print_section(section)
    print_sentences(["", *results.study["notes"], *_failures(results), *_places(written)])


def _summaries(results: Results) -> Iterator[tuple[RichTable, list[str]]]:
    """Mean ranks where ranks compare, else the losses on each data set; each table with notes to print below it."""
    family = results.families[0]
    places = results.places(family)
    comparisons = [results.ranks_or_none(family, x) for x in places.values()]
    if not places:
        return
    if None not in comparisons:
        ranks = zip(*(comparison.mean_ranks for comparison in comparisons if comparison), strict=True)
        table = _table("mean rank", list(places), dict(zip(results.competitors, ranks, strict=True)), {}, "{:.2f}")
        yield table, []  # the answer below says who predicts the same as the baseline
        return
    for dataset in results.datasets:
        losses = {
            name: [results.loss_at(dataset, name, family, x) for x in places.values()]
            for name in results.finished(dataset)
        }
        baseline = {name: losses.pop(name) for name in list(losses) if name == results.baseline}
        same = results.same_as_baseline(dataset)
        if losses:
            table = _table(f"loss on {dataset}", list(places), losses, baseline, "{:.4f}")
            yield table, [f"{name} predicts the same as {results.baseline}." for name in same]


def _table(title: str, columns: list[str], rows: Rows, baseline: Rows, layout: str) -> RichTable:
    """Rows by learner with the least number of each column marked, the baseline apart."""
    table = new_table()
    table.add_column(Text(title), no_wrap=True)
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    least = [layout.format(min(column)) for column in zip(*rows.values(), strict=True)]
    for index, (name, numbers) in enumerate(rows.items(), start=1):
        texts = zip(map(layout.format, numbers), least, strict=True)
        cells = [Text(f"*{text}", style="bold") if text == best else Text(text) for text, best in texts]
        table.add_row(Text(name), *cells, end_section=index == len(rows) and bool(baseline))
    for name, numbers in baseline.items():
        table.add_row(Text(name, style="dim"), *(Text(layout.format(number), style="dim") for number in numbers))
    return table


def _print_section(section: Section) -> None:
    """What an analysis found, under its title; nothing where it found nothing."""
    if not (section.prose or section.findings or section.summaries):
        return
    print_sentences(["", f"{section.title}:", *section.prose, *_findings(section.findings)])
    for summary in section.summaries:
        if summary.caption:
            print_sentences(["", f"{summary.caption}:"])
        print_table(_summary_table(summary))


def _findings(findings: Sequence[Finding]) -> Iterator[str]:
    for finding in findings:
        yield f"- {finding.statement} {finding.sentence}"
    if any(finding.figures for finding in findings):
        yield "The figures behind it are on the page and in tables/."


def _summary_table(summary: Summary) -> RichTable:
    table = new_table()
    for index, title in enumerate(summary.columns):
        table.add_column(Text(title), justify="right" if index else "left", no_wrap=True)
    for index, row in enumerate(summary.rows, start=1):
        table.add_row(*map(_summary_cell, row), end_section=index == len(summary.rows))
    if summary.footer is not None:
        table.add_row(*map(_summary_cell, summary.footer))
    return table


def _summary_cell(value: str | float | None) -> Text:
    return Text("" if value is None else f"{value:.4f}" if isinstance(value, float) else str(value))


def _failures(results: Results) -> Iterator[str]:
    failures = results.failures()
    if failures:
        yield f"{counted(len(failures), 'cell')} failed; learners are left out where they have not finished:"
        alike = Counter((failure.dataset, failure.learner, failure.reason) for failure in failures)
        for (dataset, learner, reason), count in list(alike.items())[:MAX_FAILURES]:
            short = reason if len(reason) <= MAX_CHARACTERS else f"{reason[:MAX_CHARACTERS]}..."
            yield f"- {dataset}, {learner}, {counted(count, 'cell')}: {short}"
        if len(alike) > MAX_FAILURES:
            yield f"- and {len(alike) - MAX_FAILURES} more, which the page and log.txt tell."
        yield ""


def _places(written: list[Path]) -> Iterator[str]:
    yield f"Written to {', '.join(str(path) for path in written if path.suffix != '.html')}."
    yield from (f"Open {path} in a browser." for path in written if path.suffix == ".html")
