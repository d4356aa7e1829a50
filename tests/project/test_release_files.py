"""Files of the project that say the same thing twice must agree, and workflows may only call what exists."""

import json
import re
import tomllib
from pathlib import Path

import pytest

import choral

PROJECT = Path(__file__).parents[2]
WORKFLOWS = sorted((PROJECT / ".github" / "workflows").glob("*.yml"))


def read(name):
    return (PROJECT / name).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def project():
    return tomllib.loads(read("pyproject.toml"))


def test_the_version_has_one_source(project):
    assert project["tool"]["hatch"]["version"]["path"] == "src/choral/_version.py"
    assert "version" not in project["project"]
    assert "version" in project["project"]["dynamic"]


@pytest.mark.parametrize(
    "name, pattern", [("CITATION.cff", r"^version: (\S+)$"), ("recipe/recipe.yaml", r'^  version: "(\S+)"$')]
)
def test_files_beside_the_package_name_its_version(name, pattern):
    assert re.findall(pattern, read(name), re.MULTILINE) == [choral.__version__]


def test_zenodo_cites_as_the_citation_file_does(project):
    yaml = pytest.importorskip("yaml")
    citation, zenodo = yaml.safe_load(read("CITATION.cff")), json.loads(read(".zenodo.json"))
    assert zenodo["title"] == citation["title"]
    assert zenodo["license"] == citation["license"] == project["project"]["license"]
    assert zenodo["creators"] == citation["authors"]
    assert [work["identifier"] for work in zenodo["related_identifiers"]] == [citation["preferred-citation"]["doi"]]
    assert zenodo["keywords"] == project["project"]["keywords"]


def test_the_conda_recipe_needs_what_the_wheel_needs(project):
    yaml = pytest.importorskip("yaml")
    extras = project["project"]["optional-dependencies"]
    wanted = project["project"]["dependencies"] + extras["cli"] + extras["plot"] + extras["report"]
    found = yaml.safe_load(read("recipe/recipe.yaml"))["requirements"]["run"][1:]  # after python
    assert [name.replace(" ", "").replace("matplotlib-base", "matplotlib") for name in found] == wanted


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_step_of_a_workflow_is_a_make_target(path):
    yaml = pytest.importorskip("yaml")
    targets = set(re.findall(r"^([a-z-]+):", read("Makefile"), re.MULTILINE)) | {"test", "test-core", "test-lowest"}
    steps = [step for job in yaml.safe_load(read(path))["jobs"].values() for step in job["steps"]]
    commands = [step["run"] for step in steps if "run" in step]
    assert commands
    for command in commands:
        assert re.match(r"make ([a-z-]+)", command)[1] in targets, command
        assert "\n" not in command


def test_there_are_the_four_workflows():
    assert [path.stem for path in WORKFLOWS] == ["nightly", "release", "site", "tests"]
