"""The sections of the page: what needs no script is complete here, charts get their place."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from choral._text import counted, join_names
from choral.report.explanations import explanations, with_interval
from choral.report.markup import MISSING, Cell, Html, prose, section, table, text

Contents = dict[str, Any]
FIRST = "curves"  # the section beside the answer
TOGETHER = ("Togetherness", "If independent")  # columns of the summary
MAX_NAMED = 6  # data sets or models, in the header
VERDICTS = {"holds": "yes", "does not hold": "no", "holds in part": "part", "cannot be told": "open"}  # classes


class Part(NamedTuple):
    """A section: its anchor, its heading, its HTML (empty: nothing to show)."""

    name: str
    title: str
    write: Callable[[Contents], str]
    needs_script: bool = False


class Written(NamedTuple):
    """A section as HTML; without a body it is left out."""

    name: str
    title: str
    body: str
    needs_script: bool = False


def heading(contents: Contents) -> str:
    """What the page is about: the title of a study; the models of an evaluation and what they are judged on."""
    if contents["kind"] != "evaluation":
        return text(contents["title"])
    models = join_names(_shorten(_competitors(contents)))
    return text(models if contents["title"] is None else f"{models} on {contents['title']}")


def title(contents: Contents) -> str:
    """What the browser writes on the tab and into bookmarks: the heading and how much data there is."""
    sizes = [_size(dataset) for dataset in contents["datasets"]]
    size = sizes[0] if len(sizes) == 1 else counted(len(sizes), "data set")
    return f"{heading(contents)}: {text(size)}" if sizes else heading(contents)


def facts(contents: Contents) -> str:
    """What this is about, how much of it, and when; the data sets and files on lines of their own."""
    datasets = contents["datasets"]
    parts = [
        contents["kind"].capitalize(),
        _size(datasets[0]) if contents["kind"] == "evaluation" else counted(len(datasets), "data set"),
        counted(len(_competitors(contents)), word(contents)) + (" and a baseline" if contents["baseline"] else ""),
        f"{contents['predictions']} predictions",
        contents["created"],
    ]
    lines = [parts]
    if contents["kind"] != "evaluation" and datasets:
        lines.append(_shorten([f"{dataset['name']}: {_size(dataset)}" for dataset in datasets]))
    if contents.get("files"):
        lines.append(_shorten(contents["files"]))
    return "".join(f'<ul class="facts">{"".join(f"<li>{text(part)}</li>" for part in line)}</ul>' for line in lines)


def spelled_out(contents: Contents) -> str:
    """The short names of learners in full words; nothing where no name is short for something."""
    words = contents.get("spelled_out") or {}
    entries = "".join(f"<div><dt>{text(name)}</dt><dd>{text(full)}</dd></div>" for name, full in words.items())
    return entries and f'<dl class="short-names">{entries}</dl>'


def answer(contents: Contents) -> str:
    """The question answered in words."""
    return "".join(f"<p>{prose(paragraph)}</p>" for paragraph in contents["answer"])


def links(contents: Contents) -> str:
    """Links to all sections."""
    return "".join(
        f'<li{_script_class(part)}><a href="#{part.name}">{part.title}</a></li>' for part in _present(contents)
    )


def first_section(contents: Contents) -> str:
    """The section that stands beside the answer on a wide screen, if there is one."""
    return "".join(_section(part) for part in _present(contents) if part.name == FIRST)


def sections(contents: Contents) -> str:
    """All other sections that have something to show."""
    return "\n".join(_section(part) for part in _present(contents) if part.name != FIRST)


def _section(part: Written) -> str:
    return section(part.name, part.title, part.body, needs_script=part.needs_script)


def word(contents: Contents) -> str:
    """What is compared: a study has learners, an evaluation models."""
    return "model" if contents["kind"] == "evaluation" else "learner"


def _present(contents: Contents) -> Iterator[Written]:
    """The parts of every page that have something to show, with the sections of analyses after the tables."""
    before = [_write(part, contents) for part in PARTS]
    after = [_write(part, contents) for part in LAST_PARTS]
    numbered = enumerate(contents["sections"], start=1)
    analyses = [
        Written(f"analysis-{number}", text(each["title"]), _analysis(number, each)) for number, each in numbered
    ]
    yield from (part for part in (*before, *analyses, *after) if part.body)


def _write(part: Part, contents: Contents) -> Written:
    return Written(part.name, part.title, part.write(contents), part.needs_script)


def _script_class(part: Written) -> str:
    return ' class="needs-script"' if part.needs_script else ""


def _competitors(contents: Contents) -> list[str]:
    return [name for name in contents["learners"] if name != contents["baseline"]]


def _size(dataset: dict[str, Any]) -> str:
    return f"{counted(dataset['n_rows'], 'row')}, {counted(dataset['n_labels'], 'label')}"


def _shorten(names: Sequence[str]) -> list[str]:
    return list(names) if len(names) <= MAX_NAMED else [*names[:MAX_NAMED], f"{len(names) - MAX_NAMED} more"]


def _lead(words: str) -> str:
    return f'<p class="lead">{words}</p>'


def _curves(contents: Contents) -> str:
    if not contents["datasets"]:
        return ""
    return _lead(
        "How often something is wrong when labels are judged together: at the left end single labels (Hamming loss), "
        f"towards the right all of them at once (subset 0/1 loss). Move the slider to rank the {word(contents)}s there."
    )


def _ranks(contents: Contents) -> str:
    if not contents["across"]:
        return ""
    return _lead(
        f"The mean rank of each {word(contents)} over the data sets, 1 being the best. The shaded stretch is the "
        "critical difference from the best: inside it the data sets do not tell them apart."
    )


def _pairs(contents: Contents) -> str:
    families = [family for dataset in contents["datasets"] for family in dataset["families"].values()]
    if not any(family["pairs"] for family in families):
        return ""
    return _lead(f"Two {word(contents)}s against each other: who is better, where, and where that changes.")


def _tables(contents: Contents) -> str:
    lead = _lead(
        "Click a heading to sort. Losses in downloaded files keep every digit, bands have six; a name that starts "
        "with =, +, - or @ gets an apostrophe there, so that no spreadsheet takes it for a formula."
    )
    return lead + _summary(contents) + _datasets(contents) if contents["datasets"] else ""


def _summary(contents: Contents) -> str:
    names = [f"{what}, {family}" for family in contents["families"] for what in ("Slope", "Area")]
    headings = ["Data set", word(contents).capitalize(), "Hamming loss", "Subset 0/1 loss", *names, *TOGETHER]
    rows: list[list[Cell | Html]] = [
        [
            dataset["name"],
            learner,
            *_ends(dataset, learner),
            *_slopes_and_areas(dataset, learner, contents["families"]),
            *_togetherness(dataset, learner, contents["families"]),
        ]
        for dataset in contents["datasets"]
        for learner in contents["learners"]
        if any(learner in family["curves"] for family in dataset["families"].values())
    ]
    note = (
        "Slope: subset 0/1 loss minus Hamming loss; compare it at the same level of Hamming loss. "
        "Area: the mean loss on the way from Hamming to subset 0/1. Togetherness"
        + (f" (by the {text(contents['families'][0])} losses)" if len(contents["families"]) > 1 else "")
        + ": 1 if all mistakes are in as few rows as possible, 0 if they are spread evenly; it is no loss. "
        "If independent: what it would be if labels were wrong as often, but independently of each other."
    )
    notes = [note, *(prose(sentence) for sentence in _same_as_baseline(contents))]
    return table("summary", "Both ends, slopes and areas", headings, rows) + f'<p class="note">{" ".join(notes)}</p>'


def _same_as_baseline(contents: Contents) -> Iterator[str]:
    """Where the figures of a learner are those of the baseline, since it predicts the same."""
    for dataset in contents["datasets"]:
        for learner in dataset["same_as_baseline"]:
            yield f"On {dataset['name']}, {learner} predicts the same as the baseline ({contents['baseline']})."


def _ends(dataset: dict[str, Any], learner: str) -> list[Cell]:
    """Hamming and subset 0/1 loss, from the first family that reaches them: they are the same in both."""
    hamming, subset = None, None
    for family in dataset["families"].values():
        curve = family["curves"].get(learner)
        if curve is None:
            continue
        first, last = family["parameters"][0], family["parameters"][-1]
        if hamming is None and first == 1:
            hamming = curve["losses"][0]
        if subset is None and last == (
            "inf" if family is dataset["families"].get("polynomial") else dataset["n_labels"]
        ):
            subset = curve["losses"][-1]
    return [hamming, subset]


def _slopes_and_areas(dataset: dict[str, Any], learner: str, families: list[str]) -> list[Cell]:
    curves = [dataset["families"].get(family, {"curves": {}})["curves"].get(learner, {}) for family in families]
    return [curve.get(what) for curve in curves for what in ("slope", "area")]


def _togetherness(dataset: dict[str, Any], learner: str, families: list[str]) -> list[Cell | Html]:
    """That of the first family, with its interval; and that of independent errors of the same rates."""
    found = dataset["families"].get(families[0], {"curves": {}})["curves"].get(learner, {}).get("togetherness")
    if not found:
        return [None, None]
    shown = Html(f'<span class="interval">{text(with_interval(found))}</span>', found["value"])
    return [shown, found["independent"]]


def _datasets(contents: Contents) -> str:
    rows = [
        [dataset["name"], dataset["n_rows"], dataset["n_labels"], ", ".join(dataset["labels"])]
        for dataset in contents["datasets"]
    ]
    return table("datasets", "Data sets", ["Data set", "Rows", "Labels", "Names of labels"], rows)


def _analysis(number: int, found: dict[str, Any]) -> str:
    """What an analysis found: its words, its findings, its tables."""
    paragraphs = "".join(f"<p>{prose(paragraph)}</p>" for paragraph in found["prose"])
    tables = [
        _summary_table(f"analysis-{number}-table-{index}", summary, found["title"])
        for index, summary in enumerate(found["summaries"], start=1)
    ]
    return paragraphs + _findings(found["findings"]) + "".join(tables)


def _summary_table(name: str, summary: dict[str, Any], title: str) -> str:
    """A table of an analysis, under its own heading where it has one."""
    heading = f"<h3>{text(summary['caption'])}</h3>" if summary["caption"] else ""
    columns = [column[:1].upper() + column[1:] for column in summary["columns"]]
    return heading + table(name, summary["caption"] or title, columns, summary["rows"], footer=summary["footer"])


def _findings(findings: list[dict[str, str]]) -> str:
    cards = "".join(
        f'<li class="claim"><p><span class="verdict {VERDICTS[finding["verdict"]]}">{text(finding["verdict"])}</span> '
        f"<strong>{prose(finding['statement'])}</strong></p>{_details(finding)}</li>"
        for finding in findings
    )
    return cards and f'<ul class="claims">{cards}</ul>'


def _details(finding: dict[str, str]) -> str:
    """Where a statement holds; what was measured, the figures and where they are drawn, to be opened."""
    words = f'<p class="note">{prose(finding["where"])}</p>' if finding["where"] else ""
    measured = f"<p>Measured: {prose(finding['measured'])}.</p>" if finding["measured"] else ""
    figures = f"<p>{prose(finding['figures'])}</p>" if finding["figures"] else ""
    figure = f"<p>Drawn in <code>figures/{text(finding['figure'])}.png</code>.</p>" if finding["figure"] else ""
    hidden = measured + figures + figure
    return words + (hidden and f"<details><summary>Figures</summary>{hidden}</details>")


def _failures(contents: Contents) -> str:
    if not contents["failures"]:
        return ""
    rows = [[failure[key] for key in ("dataset", "learner", "fold", "reason")] for failure in contents["failures"]]
    headings = ["Data set", word(contents).capitalize(), "Fold", "Reason"]
    return table("failures-table", "Cells without a result", headings, rows)


def _warnings(contents: Contents) -> str:
    """What learners warned of while they were fitted."""
    found = contents.get("warnings")
    if not found:
        return ""
    rows = [[each[key] for key in ("dataset", "learner", "n_cells", "text")] for each in found]
    headings = ["Data set", word(contents).capitalize(), "Cells", "Warning"]
    lead = _lead("What was said while the learners were fitted and applied, and in how many cells; the results stand.")
    return lead + table("warnings-table", "Warnings", headings, rows)


def _notes(contents: Contents) -> str:
    notes = "".join(f"<li>{prose(note)}</li>" for note in contents["notes"])
    return notes and f"<ul>{notes}</ul>"


def _reproduce(contents: Contents) -> str:
    versions = "".join(
        f"<dt>{text(name)}</dt><dd>{text(version)}</dd>" for name, version in contents["versions"].items()
    )
    return (_plan(contents["plan"]) if contents["plan"] else "") + f'<dl class="versions">{versions or MISSING}</dl>'


def _plan(plan: str) -> str:
    lines = "\n".join("\t".join(map(text, line.split("\t"))) for line in plan.split("\n"))
    return (
        _lead(
            "Save the plan as <code>plan.toml</code>, install the versions below, and run "
            "<code>choral study plan.toml</code>."
        )
        + f'<details><summary>The plan</summary><pre id="plan" tabindex="0">{lines}</pre></details>'
    )


PARTS = (
    Part("curves", "From Hamming to subset 0/1", _curves, needs_script=True),
    Part("ranks", "All data sets", _ranks, needs_script=True),
    Part("pairs", "Two at a time", _pairs, needs_script=True),
    Part("explanations", "Where the loss comes from", explanations),
    Part("tables", "Tables", _tables),
)
LAST_PARTS = (
    Part("failures", "Not done", _failures),
    Part("warnings", "Warnings", _warnings),
    Part("notes", "Notes", _notes),
    Part("reproduce", "How to reproduce", _reproduce),
)
