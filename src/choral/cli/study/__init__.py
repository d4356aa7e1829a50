"""``choral study``: a plan in; losses, tables, figures and a page out."""

from choral.cli.study.command import EPILOG, run_plan

__all__ = ["EPILOG", "run_plan"]
