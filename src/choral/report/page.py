"""The page itself: a template, its style and its scripts, Plotly, and the figures, in one file."""

import base64
import hashlib
import os
from importlib.resources import files
from string import Template
from typing import Any

from choral._optional import require
from choral._outputs import replacing
from choral.report.bundling import bundle_page_scripts
from choral.report.constants import line_colours
from choral.report.embedding import embedded, figures
from choral.report.sections import answer, facts, first_section, heading, links, sections, spelled_out, title


def render_page(contents: dict[str, Any]) -> str:
    """The report as one HTML page that works without a network.

    Names and texts may come from anywhere: they show as text, whatever they hold. In the CSV files that the page
    exports, a name that starts with ``=``, ``+``, ``-`` or ``@`` gets an apostrophe in front, so that no spreadsheet
    takes it for a formula; numbers keep every digit.

    Parameters
    ----------
    contents : dict
        What to show, made of what JSON knows: see `choral.report.contents`.

    Returns
    -------
    page : str
        HTML whose policy allows no request and no script but the two it holds.
    """
    plotly = _one_line_ending(require("plotly", "report").offline.get_plotlyjs())
    script = bundle_page_scripts()
    # A template is filled in one pass: a name such as "$data" in what is filled in stays as it is.
    return Template(_read("template.html")).substitute(
        policy=_policy(plotly, script),
        title=title(contents),
        heading=heading(contents),
        style=line_colours() + _read("page.css"),
        facts=facts(contents),
        answer=answer(contents),
        spelled_out=spelled_out(contents),
        links=links(contents),
        first_section=first_section(contents),
        sections=sections(contents),
        data=embedded(figures(contents)),
        plotly=plotly,
        script=script,
    )


def write_page(contents: dict[str, Any], path: str | os.PathLike[str]) -> None:
    """Write the page of `render_page` to a file: whole, or not at all.

    Parameters
    ----------
    contents : dict
        What to show, as in `render_page`.
    path : path-like
        The file to write.
    """
    page = render_page(contents).encode()
    with replacing(path) as file:
        file.write(page)


def _read(name: str) -> str:
    return _one_line_ending(files("choral.report").joinpath(name).read_text(encoding="utf-8"))


def _one_line_ending(script: str) -> str:
    """The script with one kind of line ending, as a browser reads it before it compares the hash."""
    return script.replace("\r\n", "\n").replace("\r", "\n")


def _policy(*scripts: str) -> str:
    """Nothing may be fetched, and no script runs but these; Plotly needs to write styles."""
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(each.encode()).digest()).decode()}'" for each in scripts
    )
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
