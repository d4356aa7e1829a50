"""The API reference: every public name on one page, with all its parameters, an example, and what to see also."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

validate = pytest.importorskip("numpydoc.validate").validate
PROJECT = Path(__file__).parents[2]
ROOMS = (
    "choral",
    "choral.calibration",
    "choral.datasets",
    "choral.displays",
    "choral.explanation",
    "choral.learners",
    "choral.nn",
    "choral.paper",
    "choral.stats",
    "choral.study",
)
# What numpydoc's validation reports and we do not ask for: a second paragraph (ES01), a return value without a name
# (RT02), and a verb, of which it takes every plural for one (SS05).
NOT_ASKED = {"ES01", "RT02", "SS05"}
# They need a finished study of the paper, or the published runs.
WITHOUT_EXAMPLE = {
    "choral.paper.claims_section",
    "choral.paper.compare_with_best",
    "choral.paper.compare_with_published",
    "choral.paper.hedging_section",
    "choral.paper.published_claims_section",
    "choral.paper.published_runs",
    "choral.paper.published_section",
    "choral.paper.sweeps_section",
}


def names_on_pages():
    """All names in the lists of docs/api, with their modules."""
    found = []
    for page in sorted((PROJECT / "docs" / "api").glob("*.md")):
        text = page.read_text("utf-8")
        for module, block in re.findall(r"\.\. currentmodule:: (\S+)\n(.*?)```", text, re.DOTALL):
            found += [f"{module}.{name}" for name in re.findall(r"^   ([A-Za-z][\w.]*)$", block, re.MULTILINE)]
    return found


NAMES = names_on_pages()
needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("torchmetrics") is None, reason="torchmetrics is not installed: make with-torch"
)


def find(name):
    """What a name stands for."""
    module, attributes = name, []
    while True:
        try:
            found = importlib.import_module(module)
            break
        except ModuleNotFoundError:
            module, _, attribute = module.rpartition(".")
            attributes.insert(0, attribute)
    for attribute in attributes:
        found = getattr(found, attribute)
    return found


def listed(names):
    """Names as parameters of a test; those of torch only where it is."""
    return [pytest.param(name, marks=needs_torch if name.startswith("choral.nn") else ()) for name in names]


@pytest.mark.parametrize("room", listed(ROOMS))
def test_every_public_name_is_on_one_page(room):
    module = importlib.import_module(room)
    on_pages = [name.rpartition(".")[2] for name in NAMES]
    public = [name for name in module.__all__ if not inspect.ismodule(getattr(module, name)) and name != "__version__"]
    assert {name: on_pages.count(name) for name in public if on_pages.count(name) == 0} == {}
    assert len(NAMES) == len(set(NAMES))


@pytest.mark.parametrize("name", listed(NAMES))
def test_docstring(name):
    if isinstance(find(name), tuple):
        return  # NAMES, a constant
    errors = [(code, message) for code, message in validate(name)["errors"] if code not in NOT_ASKED]
    if name in WITHOUT_EXAMPLE:
        assert ("EX01", "No examples section found") in errors  # else it need not be in the list
        errors = [(code, message) for code, message in errors if code != "EX01"]
    if name == "choral.Explanation":  # fields that are not for users
        errors = [(code, message) for code, message in errors if "'_rows'" not in message]
    assert errors == []


def methods_of(name):
    """Public methods that a class of this name defines with a docstring of their own."""
    kind = find(name)
    for method, value in vars(kind).items() if inspect.isclass(kind) else ():
        function = getattr(value, "__func__", value)
        if not method.startswith("_") and inspect.isfunction(function) and function.__doc__:
            yield f"{name}.{method}"


@pytest.mark.parametrize("name", listed(NAMES))
def test_methods_name_all_their_parameters(name):
    asked = {"GL01", "GL03", "PR01", "PR02", "PR03", "PR04", "PR06", "PR07", "SS01", "SS03", "SS06"}
    errors = {
        method: found
        for method in methods_of(name)
        if (found := [error for error in validate(method)["errors"] if error[0] in asked])
    }
    assert errors == {}


def test_what_to_see_also_exists():
    """Names in See Also sections stand for something, here or in scikit-learn or torch."""
    missing = []
    for name in NAMES:
        if name.startswith("choral.nn") and importlib.util.find_spec("torchmetrics") is None:
            continue
        text = inspect.getdoc(find(name)) or ""
        section = re.search(r"^See Also\n-+\n(.*?)(\n\n|\Z)", text, re.MULTILINE | re.DOTALL)
        for other in re.findall(r"^([\w.]+) : ", section[1], re.MULTILINE) if section else ():
            known = other.startswith(("sklearn.", "torch."))
            for room in (name.rpartition(".")[0], "choral"):
                known = known or f"{room}.{other}" in NAMES or other in NAMES
                known = known or ("." in other and hasattr(find(room), other.partition(".")[0]))
            if not known:
                missing.append((name, other))
    assert missing == []
