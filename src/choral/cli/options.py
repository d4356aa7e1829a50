"""Options that several commands have, in the same words."""

from typing import Annotated

import typer

IdColumn = Annotated[
    str | None, typer.Option("--id", metavar="COLUMN", help="Column that names the rows; id by default, if there.")
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line of CSV and TSV files holds names; found out by default.",
        show_default=False,
    ),
]
Family = Annotated[
    str,
    typer.Option(metavar="NAME", help="Losses between the ends: binomial (default) or polynomial.", show_default=False),
]
Parameters = Annotated[list[str] | None, typer.Option(metavar="1,2,5", help="Values of k or alpha; inf is an alpha.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of the table.")]
PlotPath = Annotated[str | None, typer.Option("--plot", metavar="OUT.png|svg|pdf", help="Draw the curves.")]
