"""Shared by all tests: here rather than in tests/, whose folders must not be taken for packages such as `datasets`."""

import os
import signal
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Some pages and modules need packages for their examples; without them there is nothing to collect there.
# What Sphinx reads and writes is no test.
collect_ignore_glob = ["docs/conf.py", "docs/_ext/*", "docs/_build/*", "docs/auto_examples/*"]
if not (find_spec("typer") and find_spec("rich")):
    collect_ignore_glob.append("src/choral/cli/*")
if not (find_spec("torch") and find_spec("torchmetrics")):
    collect_ignore_glob += ["src/choral/nn/*", "docs/pytorch.md"]
if not (find_spec("torch") and find_spec("array_api_compat")):
    collect_ignore_glob.append("docs/arrays.md")
if not find_spec("matplotlib"):
    collect_ignore_glob.append("src/choral/study/figures.py")
if not find_spec("pandas"):
    collect_ignore_glob.append("docs/learners.md")
if not find_spec("dask"):
    collect_ignore_glob.append("docs/scale.md")
if not find_spec("numba"):
    collect_ignore_glob.append("src/choral/trees/*_kernel.py")
if not find_spec("triton"):
    collect_ignore_glob.append("src/choral/rows/gpu/*")

# The same examples on every run: a failure that comes and goes helps nobody (say --hypothesis-seed for others).
settings.register_profile(
    "choral",
    deadline=None,
    derandomize=True,
    max_examples=int(os.environ.get("CHORAL_EXAMPLES", "60")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("choral")

# Triton reads this when it is first imported, by whomever; TRITON_INTERPRET=0 runs the kernels on a GPU.
os.environ.setdefault("TRITON_INTERPRET", "1")

SHARED = Path(__file__).parents[1] / "shared"


def pytest_configure():
    """A shell starts jobs in the background deaf to Ctrl-C, and so would be whatever the tests start and interrupt.

    Tests of choral.nn are skipped without PyTorch and its friends, but must run in CI; so are recipes.
    """
    if os.environ.get("CHORAL_REQUIRE_TORCH"):
        for module in (
            "torch",
            "torchmetrics",
            "triton",
            "array_api_strict",
            "lightning",
            "transformers",
            "accelerate",
        ):
            import_module(module)
    if os.environ.get("CHORAL_REQUIRE_RECIPES"):
        for module in (
            "mlflow",
            "sqlalchemy",
            "wandb",
            "lightning",
            "transformers",
            "evaluate",
            "datasets",
            "optuna",
            "xgboost",
            "catboost",
            "skops.io",
        ):
            import_module(module)
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def beside(name, what):
    """A folder beside the project; tests that need it are skipped where it is not, but must run in CI."""
    folder = SHARED / name
    if not folder.is_dir():
        if os.environ.get("CHORAL_REQUIRE_REFERENCE"):
            pytest.fail(f"{what} must be at ../shared/{name}: CHORAL_REQUIRE_REFERENCE is set")
        pytest.skip(f"{what} are not at ../shared/{name}")
    return folder


@pytest.fixture(scope="session")
def reference_folder():
    """The published figures, kept beside the project rather than in it."""
    return beside("reference", "the published figures")


@pytest.fixture(scope="session")
def datasets_folder():
    """The nine data sets of the paper, kept beside the project rather than in it."""
    return beside("datasets", "the data sets")


@pytest.fixture(scope="session")
def more_datasets_folder():
    """Four data sets that the paper does not have, kept beside the project rather than in it."""
    return beside("more-datasets", "more data sets")


@pytest.fixture
def plt():
    """Pyplot without a window; all figures are closed in the end."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.close("all")  # those of examples in docstrings
    yield pyplot
    pyplot.close("all")
