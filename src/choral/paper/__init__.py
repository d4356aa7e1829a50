"""The paper's own study, run by `choral.study`: its plans, its published folds and losses, its claims, and rivals.

Nothing in `choral.study` knows of this room: plans name what they need of it, by import path.
"""

import os
from importlib.resources import files

from choral import study
from choral.paper.boomer import Boomer
from choral.paper.claims import claims_section, judge_claims
from choral.paper.published import (
    PublishedRAkEL,
    compare_with_published,
    published_folds,
    published_runs,
    published_section,
)
from choral.paper.yardstick import Yardstick, compare_with_best
from choral.study.plan_files import READY

__all__ = [
    "Boomer",
    "PublishedRAkEL",
    "Yardstick",
    "claims_section",
    "compare_with_best",
    "compare_with_published",
    "judge_claims",
    "published_folds",
    "published_runs",
    "published_section",
    "read_plan",
]

PLANS = READY | {name: files("choral.paper") / "plans" / f"{name}.toml" for name in ("paper", "published", "tailored")}


def read_plan(plan: str | os.PathLike[str]) -> study.Plan:
    """Read a plan as `choral.study.read_plan` does, which can be one of the paper's too.

    Parameters
    ----------
    plan : str or path-like
        ``"paper"`` (the nine data sets and learners of the paper), ``"published"`` (the same with the quirks of the
        published protocol), ``"tailored"`` (learners made for these losses beside those of the paper), ``"quick"``, or
        the path of a TOML file.

    Examples
    --------
    >>> len(read_plan("paper").learners)
    9
    """
    return study.read_plan(plan, ready=PLANS)
