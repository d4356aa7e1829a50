"""Write docs/paper_study.md from four studies: ``python scripts/paper_page.py FOLDER``.

FOLDER holds study-paper, study-published, study-sweeps and study-soft: what `make paper published sweeps soft` leaves.
The figures that claims name are copied to docs/figures.
"""

import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from choral.paper import claims_section, hedging_section, published_claims_section, sweeps_section
from choral.paper.claims import CLAIMS, STUDIED
from choral.paper.published import EXPLANATION, compare_with_published
from choral.paper.variations import mean_losses
from choral.study import Finding, Results, Section, Summary
from choral.study.answers import answer
from choral.study.comparisons import PLACES

DOCS = Path(__file__).parents[1] / "docs"
RANKS = ("ranks/binomial--Hamming", "ranks/binomial--subset-0-1")
PLACE_TITLES = {"Hamming": "Hamming loss", "middle": "halfway", "subset 0/1": "subset 0/1 loss"}


TITLES = {
    ("binomial", "Hamming"): "Hamming loss",
    ("binomial", "middle"): "Binomial loss halfway (k = (K + 1) / 2, interpolated)",
    ("polynomial", "middle"): "Polynomial loss halfway (alpha = 31.6, interpolated)",
    ("binomial", "subset 0/1"): "Subset 0/1 loss",
}


# The wide tables of these pages need the room of the margin.
NO_MARGIN = ("---", "html_theme.sidebar_secondary.remove: true", "---", "")


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], align: str = "---:") -> Iterator[str]:
    """A table whose columns after the first are numbers, unless they are aligned otherwise."""
    yield f"| {' | '.join(columns)} |"
    yield f"| {' | '.join(['---', *[align] * (len(columns) - 1)])} |"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def picture(figure: str) -> str:
    """The file of a figure of the study, in the docs."""
    return f"figures/paper_{figure.replace('/', '_')}.png"


def losses(results: Results, family: str, place: str) -> Iterator[str]:
    """The loss of each learner on each data set where it finished; the least is bold, the baseline apart."""
    yield from table(["data set", *results.learners], (_row(results, name, family, place) for name in results.datasets))


def _row(results: Results, dataset: str, family: str, place: str) -> list[str]:
    found = {name: results.loss_at(dataset, name, family, PLACES[place]) for name in results.finished(dataset)}
    cells = {name: f"{loss:.4f}" for name, loss in found.items()}
    least = min(cell for name, cell in cells.items() if name != results.baseline)
    same = results.same_as_baseline(dataset)
    return [
        dataset,
        *(
            (f"**{cell}**" if cell == least and name != results.baseline else cell) + (" †" if name in same else "")
            for name, cell in ((name, cells.get(name, "")) for name in results.learners)
        ),
    ]


def losses_at_places(results: Results, titles: Mapping[tuple[str, str], str]) -> Iterator[str]:
    """A table of losses for each family and place that has a title."""
    for (family, place), title in titles.items():
        yield ""
        yield f"### {title}"
        yield ""
        yield from losses(results, family, place)


def ranks(results: Results, family: str) -> Iterator[str]:
    """Mean ranks over the data sets where all finished, at the places that all curves reach."""
    comparisons = {place: results.rank_comparison(family, x) for place, x in results.places(family).items()}
    rows = (
        [
            PLACE_TITLES[place] if (family, place) != ("polynomial", "subset 0/1") else "alpha = 1000",
            *(f"{rank:.2f}" for rank in found.mean_ranks),
            f"{found.friedman.pvalue:.2g}",
            f"{found.critical_difference:.2f}",
        ]
        for place, found in comparisons.items()
    )
    yield from table([family, *results.competitors, "Friedman p", "critical difference"], rows)


def verdicts(by_evidence: dict[str, dict[str, Finding]]) -> Iterator[str]:
    """A line for each claim: what it says, and the verdicts."""
    rows = (
        [claim.key, claim.statement, *(found[claim.key].verdict for found in by_evidence.values())] for claim in STUDIED
    )
    yield from table(["", "claim", *by_evidence], rows, align="---")


def details(by_evidence: dict[str, dict[str, Finding]]) -> Iterator[str]:
    """What was measured for each claim, where it holds, and by which figures."""
    for claim in STUDIED:
        yield f"**{claim.key}. {claim.statement}**"
        yield f"Measured: {claim.measured}.{shown(claim.figure)}"
        yield ""
        for name, found in by_evidence.items():
            finding = found[claim.key]
            yield f"- {name}: {finding.sentence} {f'Figures: {finding.figures}.' if finding.figures else ''}".rstrip()
        yield ""


def shown(figure: str) -> str:
    return f" [Figure]({picture(figure)})." if figure else ""


def by_key(section: Section) -> dict[str, Finding]:
    return {claim.key: finding for claim, finding in zip(STUDIED, section.findings, strict=True)}


def comparisons(results: Results) -> Iterator[str]:
    def rows() -> Iterator[list[str]]:
        for found in compare_with_published(results):
            numbers = found.hamming, found.published_hamming, found.subset, found.published_subset, found.distance
            yield [
                f"{found.dataset}, {found.learner}",
                str(found.n_folds),
                str(found.n_fold_sets),
                *(f"{number:.4f}" for number in numbers),
                f"{found.higher:+.4f}",
                f"{found.mean_distance:.4f}",
            ]

    columns = ["", "folds published", "sets of folds", "Hamming, ours", "published"]
    columns += ["subset 0/1, ours", "published", "distance", "higher by", "distance by chance"]
    yield from table(columns, rows())


def summary(found: Summary) -> Iterator[str]:
    rows = ([str(cell) if isinstance(cell, str) else f"{cell:.4f}" for cell in row] for row in found.rows)
    yield from table(found.columns, rows)


def sweeps(results: Results) -> Iterator[str]:
    section = sweeps_section(results)
    for finding in section.findings:
        yield f"- {finding.statement} **{finding.sentence}** Measured: {finding.measured}. {finding.figures}."
    yield ""
    yield f"{section.summaries[0].caption}:"
    yield ""
    yield from summary(section.summaries[0])
    yield (
        "The paper describes PCT by variance; its published runs split by entropy, the default of CLUS and of "
        "`PredictiveClusteringTree`. Both are in the table (`criterion`)."
    )
    yield ""


def soft_beside_hard(soft: Results, hard: Results) -> Iterator[str]:
    section = hedging_section(soft)
    of_hard = {row[0]: row[1:4] for row in mean_losses(hard).rows}
    yield from section.prose
    yield ""
    yield f"{section.summaries[0].caption}:"
    yield ""
    columns = [f"{place}, {kind}" for place in ("Hamming", "halfway", "subset 0/1") for kind in ("hard", "soft")]
    rows = []
    for name, *of_soft, _slope, beaten in section.summaries[0].rows:
        pairs = zip(of_hard.get(name, (None,) * 3), of_soft, strict=True)
        rows.append([name, *("" if loss is None else f"{loss:.4f}" for pair in pairs for loss in pair), str(beaten)])
    yield from table(["learner", *columns, "beaten by 1/2"], rows)


def provenance(results: Results) -> str:
    versions = ", ".join(f"{package} {version}" for package, version in results.study["versions"].items())
    return f"Run on {results.created[:10]} with {versions}."


def page(paper: Results, published: Results, swept: Results, soft: Results) -> Iterator[str]:
    by_evidence = {
        "our study": by_key(claims_section(paper)),
        "the published protocol, run by us": by_key(claims_section(published)),
        "the published curves": by_key(published_claims_section(published)),
    }
    yield from NO_MARGIN
    yield "# The study of the paper, run with choral"
    yield ""
    yield (
        "Made by `scripts/paper_page.py` from what `make paper published sweeps soft` leaves: run them, and you get "
        "the same numbers. All figures (curves of every data set and pairs of all learners, in both families) are in "
        "the folders of the studies, and on their pages."
    )
    yield ""
    yield "## What it says"
    yield ""
    yield from (f"- {sentence}" for sentence in answer(paper))
    yield ""
    pages = picture("pages/binomial")
    yield f"[![Differences of losses for all pairs of learners, one line a data set]({pages})]({pages})"
    yield ""
    yield f"The same [along the polynomial family]({picture('pages/polynomial')})."
    yield ""
    yield "## Losses"
    yield ""
    yield provenance(paper)
    yield (
        "Ten folds, those of the published study; hard predictions, means over all test rows. The base learner of BR, "
        "CC, LP and RAkEL is `PrunedTreeClassifier()`, RAkEL votes by majority with 2K sets of labels. Least in bold. "
        "† marks a learner that predicts exactly what the baseline does: no label at all, in any row."
    )
    yield from losses_at_places(paper, TITLES)
    yield "### Mean ranks over the data sets"
    yield ""
    for family in paper.families:
        yield from ranks(paper, family)
    yield f"![Critical difference diagram for Hamming loss]({picture(RANKS[0])})"
    yield ""
    yield f"![Critical difference diagram for subset 0/1 loss]({picture(RANKS[1])})"
    yield ""
    yield "## What the paper claims"
    yield ""
    yield (
        "The claims are in our own words, with numbers of ours (T: theory, I: introduction, M: methods, R: results). "
        "Two more are definitions: a flatter curve is called more dependence-aware (R2), and in a plot of two "
        "learners the first is better above the diagonal and gains where the line is convex (R4)."
    )
    yield ""
    yield (
        "Most claims about data sets are a number that is positive where the claim is right. For our runs it is "
        "tested by the corrected t test over the ten folds, for the published curves by the bootstrap over rows; "
        "p-values are adjusted over the data sets by Holm's method ([which test for which "
        "question](significance.md)). *Holds* and *does not hold* mean p < 0.05 in at least half of the cases and "
        "nowhere the opposite; *holds in part*: it holds in some cases and fails in others. In brackets are 95 % "
        "intervals, pointwise. Claims that are counted say how. The published curves are those of five data sets. "
        "Their rows are not paired, and how learners change when fitted anew is not in their intervals. What counts "
        "as what is in `choral/paper/claims.py` and `judging.py`: our reading of sentences."
    )
    yield ""
    yield from verdicts(by_evidence)
    yield "### Claim by claim"
    yield ""
    yield from details(by_evidence)
    yield "## What settings do"
    yield ""
    yield provenance(swept)
    yield "`choral study sweeps`: settings that the paper names or varied, one at a time."
    yield ""
    yield from sweeps(swept)
    yield "## Scores instead of labels"
    yield ""
    yield provenance(soft)
    yield from soft_beside_hard(soft, paper)
    yield "## Beside the published losses"
    yield ""
    yield provenance(published)
    yield (
        "The published protocol with its quirks: C4.5's gain ratio, RAkEL with K - k + 1 sets and a single vote "
        "enough "
        f"for a label. {EXPLANATION}"
    )
    yield ""
    yield from comparisons(published)


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    folders = [Path(sys.argv[1]) / f"study-{name}" for name in ("paper", "published", "sweeps", "soft")]
    (DOCS / "paper_study.md").write_text("\n".join(page(*map(Results, folders))), encoding="utf-8")
    for figure in {*RANKS, *(claim.figure for claim in CLAIMS if claim.figure)}:
        shutil.copy(folders[0] / "figures" / f"{figure}.png", DOCS / picture(figure))
    return 0


if __name__ == "__main__":
    sys.exit(main())
