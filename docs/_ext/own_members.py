"""Pages of classes show what choral defines: what comes from scikit-learn, torch or Python is documented there."""

from typing import Any


def skip_foreign_members(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out methods and properties that are defined outside of choral."""
    function = getattr(obj, "fget", None) or getattr(obj, "func", None) or getattr(obj, "__func__", obj)
    module = getattr(function, "__module__", None)
    return True if what == "class" and isinstance(module, str) and not module.startswith("choral") else None


def setup(app: Any) -> dict[str, bool]:
    app.connect("autodoc-skip-member", skip_foreign_members)
    return {"parallel_read_safe": True}
