"""Files of a command: inputs read with progress, outputs checked before the work and written after it."""

import csv
import io
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from choral._optional import require
from choral._outputs import check_output, replacing
from choral.cli.console import Show
from choral.label_files import LabelTable, read_labels

PLOT_SUFFIXES = (".png", ".svg", ".pdf")
PAGE_SUFFIXES = (".html", ".htm")


def read_with_progress(show: Show, path: Path, **options: Any) -> LabelTable:
    """Read a file of labels, and show how far it is read."""
    what = f"reading {path.name}"
    show(0, 1, what)
    return read_labels(path, progress=lambda done, total: show(done, total, what), **options)


def check_outputs(
    csv_path: str | None, plot_path: str | None, inputs: list[Path], *, page_path: str | None = None
) -> None:
    """Find out before the computing what would stop the writing after it."""
    if plot_path is not None:
        if Path(plot_path).suffix.lower() not in PLOT_SUFFIXES:
            expected = ", ".join(PLOT_SUFFIXES)
            raise ValueError(f"--plot must name a file that ends in {expected}; got {plot_path!r}.")
        require("matplotlib", "plot")
    if page_path is not None:
        check_page("--report", page_path)
    if csv_path == "":
        raise ValueError("--csv must name a file; got ''.")
    taken = {os.path.realpath(path) for path in inputs}
    for path in (csv_path, plot_path, page_path):
        if path is not None:
            target = str(check_output(path))
            if target in taken:
                raise ValueError(f"{path} is an input or named twice; an output needs a file of its own.")
            taken.add(target)


def check_page(option: str, path: str) -> None:
    """Refuse what is no name of a page, or a page without Plotly."""
    if Path(path).suffix.lower() not in PAGE_SUFFIXES:
        raise ValueError(f"{option} must name a file that ends in .html; got {path!r}.")
    require("plotly", "report")


def write_csv(path: str, rows: Iterable[Iterable[Any]]) -> None:
    """Write rows of cells."""
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    with replacing(path) as file:
        file.write(text.getvalue().encode())


def write_plot(path: str, display: Any) -> None:
    """Draw a display of `choral.displays` on axes of its own."""
    require("matplotlib", "plot").use("Agg")  # a file needs no window
    figure = display.plot().figure_
    with replacing(path) as file:
        figure.savefig(file, format=Path(path).suffix[1:].lower(), dpi=200)
    require("matplotlib.pyplot", "plot").close(figure)  # pyplot would keep it for ever
