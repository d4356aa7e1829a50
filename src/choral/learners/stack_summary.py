"""What became of the members of a pool: a table to read."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from choral.decisions.base import Distribution

COLUMNS = ("member", "seconds", "Brier score", "exponent of labels", "of label sets")


@dataclass(frozen=True)
class Member:
    """A fitted member of a pool.

    Attributes
    ----------
    name : str
    seconds : float
        By the clock, to fit it and to ask it about left-out rows.
    brier : float
        Mean squared error of the probabilities of labels in training rows that it was not fitted on.
    n_views : int
        Models in it that the pool asks.
    """

    name: str
    seconds: float
    brier: float
    n_views: int

    @classmethod
    def of_views(
        cls, name: str, views: Sequence[Distribution], Y: np.ndarray, known: np.ndarray | None, seconds: float
    ) -> "Member":
        """From what it says of left-out rows; the mean of its models, if there are several."""
        errors = [(view.marginals() - Y) ** 2 for view in views]
        brier = np.mean([of_view.mean() if known is None else of_view[known].mean() for of_view in errors])
        return cls(name, seconds, float(brier), len(views))

    def __str__(self) -> str:
        return f"{self.name}: {self.seconds:.1f} s, Brier score of left-out rows {self.brier:.4f}"


@dataclass(frozen=True)
class StackSummary:
    """What a pool is made of; shown as a table, as text or in a notebook.

    Attributes
    ----------
    learner : str
    rows : list of tuple
        Name, seconds, Brier score, exponent of the marginals, exponent of the lifts; None where there is none.
    score : float
        Of left-out rows, by the pool; at most 1.
    left_out : dict
        Names of learners that were not fitted, and why.
    """

    learner: str
    rows: list[tuple[str, float | None, float | None, float | None, float | None]]
    score: float
    left_out: dict[str, str]

    @property
    def title(self) -> str:
        """The first line."""
        return f"{self.learner}: score of left-out rows {self.score:.4f} (at most 1)"

    def cells(self) -> list[list[str]]:
        """The table as text, without its head."""
        formats = ("{}", "{:.1f}", "{:.4f}", "{:.2f}", "{:.2f}")
        return [
            ["" if value is None else form.format(value) for form, value in zip(formats, row, strict=True)]
            for row in self.rows
        ]

    def __str__(self) -> str:
        lines = [list(COLUMNS), *self.cells()]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        table = [
            "  ".join([cells[0].ljust(widths[0]), *map(str.rjust, cells[1:], widths[1:])]).rstrip() for cells in lines
        ]
        return "\n".join([self.title, *table, *self._left_out_lines()])

    __repr__ = __str__

    def _left_out_lines(self) -> list[str]:
        return [f"Left out: {name}, {reason}" for name, reason in self.left_out.items()]

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in COLUMNS)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>" for cells in self.cells()
        )
        notes = "".join(f"<p>{escape(line)}</p>" for line in self._left_out_lines())
        caption = f"<caption>{escape(self.title)}</caption>"
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"
