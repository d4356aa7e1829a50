"""What ``choral study`` leaves on the screen: ranks or losses, the answer, sections, failures, and where all is."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rich.table import Table as RichTable
from rich.text import Text

from choral._text import counted
from choral.cli.console import new_table, print_sentences, print_table
from choral.study import Results
from choral.study.answers import answer
from choral.study.claims import judge_claims
from choral.study.published import compare_with_published
from choral.study.yardstick import COLUMNS, compare_with_best, totals

Rows = Mapping[str, Sequence[float]]
MAX_FAILURES, MAX_CHARACTERS = 10, 200  # shown; the page lists all in full


def print_study(results: Results, written: list[Path]) -> None:
    """Print what the study found."""
    for table in _summaries(results):
        print_table(table)
        print_sentences([""])
    print_sentences(answer(results))
    if results.study["published"]:
        print_sentences(["", "Beside the published losses:"])
        print_table(_published_table(results))
    _print_yardstick(results)
    if results.study["claims"]:
        print_sentences(["", "The claims of the paper:", *_claims(results)])
    print_sentences(["", *results.study["notes"], *_failures(results), *_places(written)])


def _summaries(results: Results) -> Iterator[RichTable]:
    """Mean ranks where ranks compare, else the losses on each data set."""
    family = results.families[0]
    places = results.places(family)
    comparisons = [results.ranks_or_none(family, x) for x in places.values()]
    if not places:
        return
    if None not in comparisons:
        ranks = zip(*(comparison.mean_ranks for comparison in comparisons if comparison), strict=True)
        yield _table("mean rank", list(places), dict(zip(results.competitors, ranks, strict=True)), {}, "{:.2f}")
        return
    for dataset in results.datasets:
        losses = {
            name: [results.loss_at(dataset, name, family, x) for x in places.values()]
            for name in results.finished(dataset)
        }
        baseline = {name: losses.pop(name) for name in list(losses) if name == results.baseline}
        if losses:
            yield _table(f"loss on {dataset}", list(places), losses, baseline, "{:.4f}")


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


def _print_yardstick(results: Results) -> None:
    """A table for each learner of ours: a row for each data set, all families together, and one for all."""
    comparisons = compare_with_best(results)
    for learner, total in totals(comparisons, "learner", results.confidence).items():
        of_learner = [found for found in comparisons if found.learner == learner]
        rows = totals(of_learner, "dataset", results.confidence)
        table = new_table()
        table.add_column("data set", no_wrap=True)
        for title in COLUMNS:
            table.add_column(title, justify="right", no_wrap=True)
        for index, (dataset, on_dataset) in enumerate(rows.items(), start=1):
            table.add_row(Text(dataset), *on_dataset.cells, end_section=index == len(rows))
        table.add_row("all", *total.cells)
        print_sentences(["", f"{learner} beside the best of all others at each loss:"])
        print_table(table)


def _published_table(results: Results) -> RichTable:
    table = new_table()
    table.add_column("data set, learner", no_wrap=True)
    for title in ("folds", "Hamming", "published", "subset 0/1", "published", "distance"):
        table.add_column(title, justify="right", no_wrap=True)
    for found in compare_with_published(results):
        ends = found.hamming, found.published_hamming, found.subset, found.published_subset, found.distance
        table.add_row(Text(f"{found.dataset}, {found.learner}"), str(found.n_folds), *(f"{end:.4f}" for end in ends))
    return table


def _claims(results: Results) -> Iterator[str]:
    for claim in judge_claims(results):
        yield f"- {claim.claim} {claim.sentence}"
        if claim.figures:
            yield f"  {claim.figures}."


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
