"""Write docs/paper_study.md from two studies: ``python scripts/paper_page.py study-paper study-published``.

The first is what `make paper` leaves, the second what `make published` does. Figures are copied to docs/figures.
"""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from choral.paper import compare_with_published, judge_claims
from choral.study import Results
from choral.study.answers import answer
from choral.study.comparisons import PLACES

DOCS = Path(__file__).parents[1] / "docs"
FIGURES = {
    "pages/binomial.png": "paper_pairs.png",
    "ranks/binomial--Hamming.png": "paper_ranks_hamming.png",
    "ranks/binomial--subset-0-1.png": "paper_ranks_subset.png",
}


def table(columns: list[str], rows: Iterator[list[str]]) -> Iterator[str]:
    yield f"| {' | '.join(columns)} |"
    yield f"| {' | '.join(['---', *['---:'] * (len(columns) - 1)])} |"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def losses(results: Results, place: str) -> Iterator[str]:
    """The loss of each learner on each data set; the least is bold."""
    yield from table(["data set", *results.learners], (_row(results, name, place) for name in results.datasets))


def _row(results: Results, dataset: str, place: str) -> list[str]:
    found = {name: results.loss_at(dataset, name, "binomial", PLACES[place]) for name in results.finished(dataset)}
    cells = {name: f"{loss:.4f}" for name, loss in found.items()}
    least = min(cells.values())
    return [
        dataset,
        *(f"**{cells[name]}**" if cells.get(name) == least else cells.get(name, "") for name in results.learners),
    ]


def ranks(results: Results) -> Iterator[str]:
    comparisons = {place: results.rank_comparison("binomial", x) for place, x in PLACES.items()}
    rows = (
        [
            place,
            *(f"{rank:.2f}" for rank in found.mean_ranks),
            f"{found.friedman.pvalue:.2g}",
            f"{found.critical_difference:.2f}",
        ]
        for place, found in comparisons.items()
    )
    yield from table(["", *results.competitors, "Friedman p", "critical difference"], rows)


def claims(results: Results) -> Iterator[str]:
    for claim in judge_claims(results):
        yield f"- {claim.statement} **{claim.sentence}**"
        yield f"  {claim.figures}."
    yield ""


def comparisons(results: Results) -> Iterator[str]:
    def rows() -> Iterator[list[str]]:
        for found in compare_with_published(results):
            numbers = found.hamming, found.published_hamming, found.subset, found.published_subset, found.distance
            yield [
                f"{found.dataset}, {found.learner}",
                str(found.n_folds),
                *(f"{number:.4f}" for number in numbers),
                f"{found.higher:+.4f}",
            ]

    columns = [
        "",
        "folds published",
        "Hamming, ours",
        "published",
        "subset 0/1, ours",
        "published",
        "distance",
        "higher by",
    ]
    yield from table(columns, rows())


def provenance(results: Results) -> str:
    versions = ", ".join(f"{package} {version}" for package, version in results.study["versions"].items())
    return f"Run on {results.created[:10]} with {versions}."


def losses_and_ranks(results: Results, name: str) -> Iterator[str]:
    """Tables of losses at both ends and halfway, and of ranks; figures are those of this name."""
    for place, title in {
        "Hamming": "Hamming loss",
        "middle": "Binomial loss halfway (k = (K + 1) / 2, interpolated)",
        "subset 0/1": "Subset 0/1 loss",
    }.items():
        yield ""
        yield f"### {title}"
        yield ""
        yield from losses(results, place)
    yield "### Mean ranks over the data sets"
    yield ""
    yield from ranks(results)
    yield f"![Critical difference diagram for Hamming loss](figures/{name}_ranks_hamming.png)"
    yield ""
    yield f"![Critical difference diagram for subset 0/1 loss](figures/{name}_ranks_subset.png)"
    yield ""


def page(paper: Results, published: Results) -> Iterator[str]:
    yield "# The study of the paper, run with choral"
    yield ""
    yield (
        "Made by `scripts/paper_page.py` from what `make paper` and `make published` leave: run them, and you get the "
        "same numbers."
    )
    yield ""
    yield "## What it says"
    yield ""
    yield from (f"- {sentence}" for sentence in answer(paper))
    yield ""
    yield "![Loss against loss for all pairs of learners, one line a data set](figures/paper_pairs.png)"
    yield ""
    yield "## Losses"
    yield ""
    yield provenance(paper)
    yield (
        "Ten folds, those of the published study; hard predictions, means over all test rows. The base learner of BR, "
        "CC, LP and RAkEL is `PrunedTreeClassifier()`, RAkEL votes by majority with 2K sets of labels. Least in bold."
    )
    yield from losses_and_ranks(paper, "paper")
    yield "## The claims of the paper"
    yield ""
    yield (
        "Along the binomial family, from k = 1 (Hamming) to k = K (subset 0/1). What counts as holding is in "
        "`choral/paper/claims.py`. With our own settings (`choral study paper`):"
    )
    yield ""
    yield from claims(paper)
    yield "With the published protocol (`choral study published`):"
    yield ""
    yield from claims(published)
    yield "## Beside the published losses"
    yield ""
    yield provenance(published)
    yield (
        "The published protocol with its quirks: C4.5's gain ratio, RAkEL with K - k + 1 sets and a single vote enough "
        "for a label. *Distance* is the mean absolute difference over all k and all 55 alphas, *higher by* the mean "
        "difference. Of some published runs folds are missing; the folds of flags are those of another version of it."
    )
    yield ""
    yield from comparisons(published)


def main() -> int:
    folders = [Path(argument) for argument in sys.argv[1:]]
    if len(folders) != 2:
        print(__doc__)
        return 2
    paper, published = map(Results, folders)
    (DOCS / "paper_study.md").write_text("\n".join(page(paper, published)), encoding="utf-8")
    for source, target in FIGURES.items():
        shutil.copy(folders[0] / "figures" / source, DOCS / "figures" / target)
    return 0


if __name__ == "__main__":
    sys.exit(main())
