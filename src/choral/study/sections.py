"""Sections: what an analysis of a study found, as plain values that the command line and the page show alike.

An *analysis* is a function of the results of a study that returns a `Section`. A plan names its analyses; they are done
when all cells have run, and the sections are kept in the folder of the study. Whoever shows a section knows nothing
about the analysis that made it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from numbers import Real
from typing import Any, Literal

from choral.study.schema import check_text, check_texts
from choral.study.tables import Table

Verdict = Literal["holds", "holds in part", "does not hold", "cannot be told"]
VERDICTS: tuple[Verdict, ...] = ("holds", "holds in part", "does not hold", "cannot be told")
SummaryCell = str | int | float | None


@dataclass(frozen=True)
class Finding:
    """A statement, and what the figures of a study say about it.

    Parameters
    ----------
    statement : str
        What is said.
    verdict : {"holds", "holds in part", "does not hold", "cannot be told"}
    figures : str
        The numbers that the verdict rests on.
    where : str
        On which data sets the statement holds, and on which not; or why it cannot be told.
    measured : str
        What the figures are.
    figure : str
        The picture that shows it: a file in the folder ``figures`` of the study, without its ending.

    See Also
    --------
    Section : What an analysis found.
    choral.paper.claims_section : The claims of the paper, judged by a study.

    Examples
    --------
    >>> Finding("BR falls behind LP.", "holds in part", where="on flags; not on birds").sentence
    'Holds in part: on flags; not on birds.'
    """

    statement: str
    verdict: Verdict
    figures: str = ""
    where: str = ""
    measured: str = ""
    figure: str = ""

    def __post_init__(self) -> None:
        for part in fields(self):
            check_text(f"the {part.name} of a finding", getattr(self, part.name))
        if self.verdict not in VERDICTS:
            raise ValueError(f"verdict must be one of {', '.join(map(repr, VERDICTS))}; got {self.verdict!r}.")

    @property
    def sentence(self) -> str:
        """Verdict and place as one sentence."""
        return f"{self.verdict.capitalize()}: {self.where}." if self.where else f"{self.verdict.capitalize()}."


@dataclass(frozen=True)
class Summary:
    """A small table for people.

    Parameters
    ----------
    columns : sequence of str
        The headings.
    rows : sequence of rows
        Each with a text, a number or None for each column.
    caption : str
        What the table shows; unless given, the title of its section says so.
    footer : row, optional
        The last row, such as a total; it stays below however the others are sorted.

    See Also
    --------
    Table : Rows with named columns.
    Section : What an analysis found.

    Examples
    --------
    >>> Summary(["learner", "loss"], [["BR", 0.25]]).rows
    (('BR', 0.25),)
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[SummaryCell]]
    caption: str = ""
    footer: Sequence[SummaryCell] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        object.__setattr__(self, "rows", tuple(map(tuple, self.rows)))
        if self.footer is not None:
            object.__setattr__(self, "footer", tuple(self.footer))
        check_texts("the columns of a summary", self.columns)
        check_text("the caption of a summary", self.caption)
        for row in self.rows if self.footer is None else (*self.rows, self.footer):
            if len(row) != len(self.columns):
                raise ValueError(f"a row of a summary must have {len(self.columns)} cells; got {len(row)}.")
            for cell in row:
                if not (cell is None or isinstance(cell, str | Real)):
                    kind = type(cell).__name__
                    raise ValueError(f"a cell of a summary must be a text, a number or None; got a {kind}.")


@dataclass(frozen=True)
class Section:
    """What an analysis found.

    Parameters
    ----------
    title : str
        The title to show.
    prose : sequence of str
        Paragraphs.
    findings : sequence of Finding
        Statements and verdicts.
    summaries : sequence of Summary
        Tables to show.
    tables : mapping from name to Table
        Tables with all figures in full, which `Results.tables` adds to its own: a CSV file each. A name is made of
        small letters, digits and underscores.

    See Also
    --------
    Finding : A statement, and what the figures say about it.
    Summary : A small table for people.
    Table : Rows with named columns.

    Examples
    --------
    An analysis is any function such as this one; ``Plan(..., analyses=[count_cells])`` puts it into a study:

    >>> def count_cells(results):
    ...     return Section("Size", prose=[f"The study has {results.n_cells} cells."])
    """

    title: str
    prose: Sequence[str] = ()
    findings: Sequence[Finding] = ()
    summaries: Sequence[Summary] = ()
    tables: Mapping[str, Table] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("prose", "findings", "summaries"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        check_text("the title of a section", self.title)
        check_texts("the prose of a section", self.prose)
        for name, table in self.tables.items():
            check_texts(f"the columns of the table {name!r}", table.columns)
            if not re.fullmatch(r"[a-z][a-z0-9_]*", name):  # it becomes the name of a file
                raise ValueError(f"the name of a table must be small letters, digits and underscores; got {name!r}.")

    def to_dict(self) -> dict[str, Any]:
        """The section made of what JSON knows."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Section":
        """The section that `to_dict` describes.

        Parameters
        ----------
        values : dict
            What ``to_dict`` gave.

        Examples
        --------
        >>> section = Section("Size", tables={"size": Table(("learner", "cells"), (("BR", 3),))})
        >>> Section.from_dict(section.to_dict()) == section
        True
        """
        return cls(
            title=values["title"],
            prose=values["prose"],
            findings=tuple(Finding(**finding) for finding in values["findings"]),
            summaries=tuple(Summary(**summary) for summary in values["summaries"]),
            tables={name: Table(**table) for name, table in values["tables"].items()},
        )
