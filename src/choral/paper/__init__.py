"""The paper's own study, run by `choral.study`: its plans, its published folds and losses, its claims, and rivals.

Nothing in `choral.study` knows of this room: plans name what they need of it, by import path.
"""

import os
from importlib.resources import files

from choral import study
from choral.paper.any_model import DecidedJointly, any_model
from choral.paper.boomer import Boomer
from choral.paper.claims import claims_section, published_claims_section
from choral.paper.controls import Controls
from choral.paper.published import (
    PublishedRAkEL,
    compare_with_published,
    published_folds,
    published_profiles,
    published_runs,
    published_section,
)
from choral.paper.rivals import boosted_trees, logistic_regressions
from choral.paper.variations import hedging_section, sweeps_section
from choral.paper.yardstick import Yardstick, compare_with_best
from choral.study.plan_files import READY

__all__ = [
    "Boomer",
    "Controls",
    "DecidedJointly",
    "PublishedRAkEL",
    "Yardstick",
    "any_model",
    "boosted_trees",
    "claims_section",
    "compare_with_best",
    "compare_with_published",
    "hedging_section",
    "logistic_regressions",
    "published_claims_section",
    "published_folds",
    "published_profiles",
    "published_runs",
    "published_section",
    "read_plan",
    "sweeps_section",
]

NAMES = ("paper", "published", "sweeps", "soft", "tailored", "any-model")
PLANS = READY | {name: files("choral.paper") / "plans" / f"{name}.toml" for name in NAMES}


def read_plan(plan: str | os.PathLike[str]) -> study.Plan:
    """Read a plan as `choral.study.read_plan` does, which can be one of the paper's too.

    Parameters
    ----------
    plan : str or path-like
        ``"paper"`` (the nine data sets and learners of the paper), ``"published"`` (the same with the quirks of the
        published protocol), ``"sweeps"`` (settings that the paper varied), ``"soft"`` (scores instead of labels),
        ``"tailored"`` (learners made for these losses beside those that users take), ``"any-model"`` (four common
        models, each decided in three ways), ``"quick"``, or the path of a TOML file.

    Returns
    -------
    plan : Plan
        Ready for `choral.study.run_study`.

    See Also
    --------
    choral.study.read_plan : Read a plan from a file or by name.
    choral.study.run_study : Run a study.

    Examples
    --------
    >>> len(read_plan("paper").learners)  # nine of the paper, and a baseline
    10
    """
    return study.read_plan(plan, ready=PLANS)
