"""Shared by all tests."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("choral", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("choral")

SHARED = Path(__file__).parents[2] / "shared"


@pytest.fixture(scope="session")
def reference_folder():
    """The published figures, kept beside the project rather than in it."""
    folder = SHARED / "reference"
    if not folder.is_dir():
        if os.environ.get("CHORAL_REQUIRE_REFERENCE"):
            pytest.fail("the published figures must be at ../shared/reference: CHORAL_REQUIRE_REFERENCE is set")
        pytest.skip("the published figures are not at ../shared/reference")
    return folder


@pytest.fixture(scope="session")
def datasets_folder():
    """The nine data sets of the paper, kept beside the project rather than in it."""
    folder = SHARED / "datasets"
    if not folder.is_dir():
        if os.environ.get("CHORAL_REQUIRE_REFERENCE"):
            pytest.fail("the data sets must be at ../shared/datasets: CHORAL_REQUIRE_REFERENCE is set")
        pytest.skip("the data sets are not at ../shared/datasets")
    return folder


@pytest.fixture
def plt():
    """Pyplot without a window; all figures are closed in the end."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    yield pyplot
    pyplot.close("all")
