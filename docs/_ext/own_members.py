"""Pages of classes show what choral defines for users: what comes from scikit-learn, torch or Python is told there."""

from typing import Any

from choral.measures import CountingMeasure

# What learners that are pooled say to the pool.
INNER = {"views", "fit_views", "fit_and_complete"}


def skip_foreign_members(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out methods and properties that are defined outside of choral, or are not for users of this class."""
    if what != "class":
        return None
    function = getattr(obj, "fget", None) or getattr(obj, "func", None) or getattr(obj, "__func__", obj)
    module = getattr(function, "__module__", None)
    foreign = isinstance(module, str) and not module.startswith("choral")
    # BinomialMeasure.from_costs exists, but makes a table, no binomial measure.
    owner = getattr(obj, "__self__", None)
    is_other_way = name.startswith("from_") and isinstance(owner, type) and owner is not CountingMeasure
    other_measure = is_other_way and issubclass(owner, CountingMeasure)
    return True if foreign or name in INNER or other_measure else None


def setup(app: Any) -> dict[str, bool]:
    app.connect("autodoc-skip-member", skip_foreign_members)
    return {"parallel_read_safe": True}
