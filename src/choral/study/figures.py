"""All figures of a study as files: curves, pairs of learners, ranks, and how labels depend on each other."""

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from hashlib import sha256
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from joblib import Parallel, delayed

from choral._optional import require
from choral._outputs import path_inside, refuse_link, replacing
from choral.curves import PairwiseCurve
from choral.displays import (
    CriticalDifferenceDisplay,
    DependenceDisplay,
    LossCurveDisplay,
    PairGridDisplay,
    PairwiseDisplay,
    RatioDisplay,
)
from choral.displays._text import shorten
from choral.evaluation import Progress
from choral.stats import describe
from choral.study.comparisons import place_in_words, same_as_baseline_in_words
from choral.study.results import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

FORMATS: dict[str, dict[str, Any]] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}  # metadata
DPI = 200  # of images made of pixels
# Names are not LaTeX. A figure is laid out once, by us, whatever the user's settings say.
SETTINGS = {"text.usetex": False, "figure.autolayout": False, "figure.constrained_layout.use": False}
CURVES, PAIR, DEPENDENCE = (4.8, 3.2), (4.0, 4.0), (6.4, 5.2)  # inches
MAX_CHARACTERS = 52  # of a title
MAX_BYTES = 60  # of one name; a file name has room for 255
DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(1, 10))}
SEPARATOR = "--"  # between names: within a name there is at most one hyphen in a row
BATCH = 8  # figures that a process draws at a time
FOLDERS = ("curves", "pairs", "ratios", "pages", "ranks", "dependence")

Pairs = dict[tuple[str, str], dict[str, PairwiseCurve]]


class Drawing(NamedTuple):
    """A figure that is still to be drawn."""

    folder: str
    key: tuple[str, ...]  # the names that make the name of the file
    draw: Callable[[], "Figure | None"]  # None where there is nothing to show


def write_figures(
    results: Results,
    folder: str | os.PathLike[str],
    *,
    formats: Iterable[str] = ("png", "svg"),
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> list[Path]:
    """Write all figures of a study into subfolders of a folder.

    ==============  ====================================================================================
    ``curves``      for each data set and family, the loss curves of all learners with their intervals
    ``pairs``       for each pair of learners and family, one against the other on all data sets
    ``ratios``      the same as ratios of losses
    ``pages``       for each family, the differences of all pairs on one page
    ``ranks``       critical difference diagrams of the binomial family: at both ends and in the middle
    ``dependence``  for each data set, how much its labels depend on each other
    ==============  ====================================================================================

    Where a learner predicts the same as the baseline, its name says so. Nothing is written where there is nothing to
    show, such as two learners that finished on no common data set. Each
    file is written whole or not at all, and replaces the former one; other figures of these formats that a former study
    left in these subfolders are removed. A subfolder that is a link is refused; in place of a file that is one, a new
    file is written, and what the link leads to stays. The same results make the same files.

    Parameters
    ----------
    results : Results
        Of a study, complete or not.
    folder : path-like
        Made unless it is there.
    formats : iterable of {"png", "svg", "pdf"}
    n_jobs : int, optional
        Processes that draw, as in joblib.
    progress : callable, optional
        Called after each figure with how many are done, how many there are in all, and which this one is.

    Returns
    -------
    paths : list of Path
        The files written. Names are made of letters, digits, - and _, whatever data sets and learners are called.

    See Also
    --------
    run_study : Run a study.
    choral.displays.LossCurveDisplay : Loss curves of models.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from choral.datasets import make_dependent
    >>> from choral.learners import BinaryRelevance, LabelPowerset
    >>> from choral.study import Plan, Split, StudyData, StudyLearner, run_study, write_figures
    >>> plan = Plan(
    ...     datasets=[StudyData("synthetic", make_dependent(60, 3, dependence=0.9))],
    ...     learners=[StudyLearner("BR", BinaryRelevance()), StudyLearner("LP", LabelPowerset())],
    ...     split=Split(folds=2),
    ... )
    >>> folder = TemporaryDirectory()
    >>> results = run_study(plan, folder.name)
    >>> files = write_figures(results, folder.name, formats=["svg"])
    >>> sorted({file.parent.name for file in files})
    ['curves', 'dependence', 'pages', 'pairs', 'ratios']
    >>> folder.cleanup()
    """
    formats = _check_formats(formats)
    for name in FOLDERS:
        refuse_link(Path(folder) / name)
    drawings = [
        *_curve_drawings(results),
        *_pair_drawings(results),
        *_rank_drawings(results),
        *_dependence_drawings(results),
    ]
    places = list(_file_places(drawings))
    batches = [places[first : first + BATCH] for first in range(0, len(places), BATCH)]
    folder, root = Path(folder), Path(folder).absolute()  # processes may stay in the folder of an earlier call
    drawn = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_draw_batch)(batch, root, formats) for batch in batches
    )
    written: list[Path] = []
    done = 0
    for batch, paths in zip(batches, drawn, strict=True):
        written += [folder / path.relative_to(root) for path in paths]
        for place, _ in batch:
            done += 1
            if progress is not None:
                progress(done, len(drawings), place)
    _remove_former(folder, written, formats)
    return written


def _draw_batch(batch: list[tuple[str, Drawing]], folder: Path, formats: tuple[str, ...]) -> list[Path]:
    """Draw and write some figures; a process gets the results once for all of them."""
    written: list[Path] = []
    for place, drawing in batch:
        # identifiers differ between the SVG files of a page, but not from run to run
        with require("matplotlib", "plot").rc_context({**SETTINGS, "svg.hashsalt": place}):
            figure = drawing.draw()
            if figure is not None:
                written += _save(figure, folder, place, formats)
    return written


def _remove_former(folder: Path, written: list[Path], formats: tuple[str, ...]) -> None:
    """Remove figures that a former study left in the same folder, of learners that are not in this one."""
    for place in FOLDERS:
        for path in (folder / place).glob("*"):
            if path.suffix[1:] in formats and path not in written:
                path.unlink()


def _check_formats(formats: Iterable[str]) -> tuple[str, ...]:
    formats = tuple(formats)
    for name in formats:
        if name not in FORMATS:
            raise ValueError(f"formats must be among {', '.join(map(repr, FORMATS))}; got {name!r}.")
    return formats


def _file_places(drawings: list[Drawing]) -> Iterator[tuple[str, Drawing]]:
    """Each drawing with its subfolder and the name of its file."""
    keys: dict[str, list[tuple[str, ...]]] = {}
    for drawing in drawings:
        keys.setdefault(drawing.folder, []).append(drawing.key)
    stems = {folder: file_stems(of_folder) for folder, of_folder in keys.items()}
    for drawing in drawings:
        yield f"{drawing.folder}/{stems[drawing.folder][drawing.key]}", drawing


def _save(figure: "Figure", folder: Path, place: str, formats: tuple[str, ...]) -> list[Path]:
    """Write a figure in all formats; its layout, which is the slow part, is done once."""
    _lay_out(figure)
    figure.set_layout_engine(None)
    (folder / place).parent.mkdir(parents=True, exist_ok=True)
    paths = [path_inside(folder, f"{place}.{name}") for name in formats]
    for path, name in zip(paths, formats, strict=True):
        with replacing(path) as file:
            figure.savefig(file, format=name, dpi=DPI, metadata=FORMATS[name])
    return paths


def _curve_drawings(results: Results) -> Iterator[Drawing]:
    for dataset in results.datasets:
        for family in results.families:
            yield Drawing("curves", (dataset, family), partial(_draw_curves, results, dataset, family))


def _draw_curves(results: Results, dataset: str, family: str) -> "Figure | None":
    curves = results.curves(dataset, family)
    if not curves:
        return None
    baseline = results.baseline if results.baseline in curves else None
    bands, order = results.bands(dataset, family), results.competitors  # a learner looks alike in all figures
    names = {learner: _name_on(results, dataset, learner) for learner in results.learners}
    display = LossCurveDisplay.from_curves(
        {names[learner]: curve for learner, curve in curves.items()},
        bands={names[learner]: band for learner, band in bands.items()},
        baseline=baseline,
        order=[names[learner] for learner in order],
    )
    ax = display.plot(_axes(CURVES, dataset)).ax_
    return _make_room_for(ax.figure.figure, ax.get_legend())


def _name_on(results: Results, dataset: str, learner: str) -> str:
    """The name of a learner in the figures of a data set."""
    return f"{learner} (same as {results.baseline})" if learner in results.same_as_baseline(dataset) else learner


def _pair_drawings(results: Results) -> Iterator[Drawing]:
    """Pairs, their ratios and pages, from the same table."""
    for family in results.families:
        found = {(a, b): results.pairs(a, b, family) for a, b in combinations(results.competitors, 2)}
        pairs = {models: by_data for models, by_data in found.items() if by_data}
        for models, by_data in pairs.items():
            named = {_dataset_name(results, dataset, models): pair for dataset, pair in by_data.items()}
            yield Drawing("pairs", (*models, family), partial(_draw_pair, named))
            yield Drawing("ratios", (*models, family), partial(_draw_ratio, named))
        if pairs:
            yield Drawing("pages", (family,), partial(_draw_page, pairs, " ".join(same_as_baseline_in_words(results))))


def _dataset_name(results: Results, dataset: str, learners: tuple[str, str]) -> str:
    """The name of a data set in the figures of two learners."""
    same = [learner for learner in learners if learner in results.same_as_baseline(dataset)]
    return f"{dataset} ({' and '.join(same)} same as {results.baseline})" if same else dataset


def _draw_pair(by_data: dict[str, PairwiseCurve]) -> "Figure":
    ax = PairwiseDisplay(by_data).plot(_axes(PAIR)).ax_
    return _make_room_for(ax.figure.figure, ax.get_legend())


def _draw_ratio(by_data: dict[str, PairwiseCurve]) -> "Figure":
    ax = RatioDisplay(by_data).plot(_axes(CURVES)).ax_
    return _make_room_for(ax.figure.figure, ax.get_legend())


def _draw_page(pairs: Pairs, note: str) -> "Figure":
    display = PairGridDisplay(pairs, note=note)
    display.plot(_figure(display.size))
    _lay_out(display.figure_)  # before that, a legend outside the axes has no place
    return _make_room_for(display.figure_, display.legend_)


def _rank_drawings(results: Results) -> Iterator[Drawing]:
    if "binomial" in results.families and len(results.competitors) > 2:
        for place, x in results.places("binomial").items():
            yield Drawing("ranks", ("binomial", place), partial(_draw_ranks, results, place, x))


def _draw_ranks(results: Results, place: str, x: float) -> "Figure | None":
    comparison = results.ranks_or_none("binomial", x)
    if comparison is None:
        return None
    display = CriticalDifferenceDisplay(comparison)
    axes = _axes((6.4, 1.9 + 0.09 * len(comparison.names)), place_in_words("binomial", place))
    return display.plot(axes).ax_.figure.figure


def _dependence_drawings(results: Results) -> Iterator[Drawing]:
    for dataset in results.datasets:
        yield Drawing("dependence", (dataset,), partial(_draw_dependence, results, dataset))


def _draw_dependence(results: Results, dataset: str) -> "Figure | None":
    Y, label_names = results.labels(dataset)
    if len(label_names) < 2:
        return None
    description = describe(Y, name=dataset, label_names=label_names)
    return DependenceDisplay.from_description(description).plot(_axes(DEPENDENCE, dataset)).ax_.figure.figure


def _figure(size: tuple[float, float]) -> "Figure":
    """A figure that pyplot does not know: no window opens, none has to be closed. Its layout keeps squares square."""
    return require("matplotlib.figure", "plot").Figure(figsize=size, layout="compressed")


def _lay_out(figure: "Figure") -> None:
    """Lay the figure out now, not when it is drawn."""
    engine: Any = figure.get_layout_engine()
    engine.execute(figure)


def _axes(size: tuple[float, float], title: str = "") -> "Axes":
    ax = _figure(size).subplots()
    if title:
        ax.set_title(shorten(title, MAX_CHARACTERS), loc="left", fontsize="medium", parse_math=False)
    return ax


def _make_room_for(figure: "Figure", legend: "Legend | None") -> "Figure":
    """The figure, taller by the height of a legend below its axes."""
    box = None if legend is None else legend.get_window_extent()
    if box is not None and box.y1 <= min(ax.bbox.y0 for ax in figure.axes):
        figure.set_figheight(figure.get_figheight() + box.height / figure.dpi)
    return figure


def slug(name: str) -> str:
    """A name as part of a file name: its letters (of any script), digits and underscores, with hyphens for the rest.

    Examples
    --------
    >>> slug("../Bayes, k = 2"), slug("Größe"), slug("???")
    ('Bayes-k-2', 'Größe', 'unnamed')
    """
    letters = unicodedata.normalize("NFC", name)  # else one name, encoded in two ways, would give two files
    joined = re.sub(r"\W+", "-", letters).strip("-")
    return joined.encode(errors="ignore")[:MAX_BYTES].decode(errors="ignore").strip("-") or "unnamed"


def file_stems(keys: Iterable[tuple[str, ...]]) -> dict[tuple[str, ...], str]:
    """File names, without their endings, for keys: tuples of names, all of one length.

    Keys that would share a name, on file systems that ignore case too, have a checksum at its end. So do names that
    Windows keeps for devices.

    Examples
    --------
    >>> file_stems([("BR", "LP"), ("a b", "c")])
    {('BR', 'LP'): 'BR--LP', ('a b', 'c'): 'a-b--c'}
    >>> list(file_stems([("a b",), ("A/B",)]).values())
    ['a-b--4b3d642be2af', 'A-B--92ecf8ea1943']
    """
    stems = {key: SEPARATOR.join(map(slug, key)) for key in keys}
    shared = Counter(_ignore_case(stem) for stem in stems.values())
    return {
        key: stem
        if shared[_ignore_case(stem)] == 1 and _ignore_case(stem) not in DEVICES
        else f"{stem}{SEPARATOR}{_checksum(key)}"
        for key, stem in stems.items()
    }


def _ignore_case(stem: str) -> str:
    return unicodedata.normalize("NFKD", stem).casefold()


def _checksum(key: tuple[str, ...]) -> str:
    return sha256(ascii(key).encode()).hexdigest()[:12]
