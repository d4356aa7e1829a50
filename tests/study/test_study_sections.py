"""Sections of analyses: kept with the study, shown by all without knowing them, refused where they are wrong."""

import json
import subprocess
import sys
from dataclasses import replace
from functools import partial

import pytest

import study_zoo as zoo
from choral.report.sections import links, sections
from choral.study import (
    Finding,
    Results,
    Section,
    StudyLearner,
    Summary,
    Table,
    run_study,
    running,
)
from choral.study.page import study_contents
from choral.study.store import DamagedFile

pytestmark = pytest.mark.usefixtures("here")  # cells run in this process

PLAN = zoo.small_plan(StudyLearner("A", zoo.Stumps()), StudyLearner("B", zoo.Stumps(0.4)))


def gaps(results, unit="loss"):
    """How far apart the learners are at both ends."""
    a, b = results.curve("d", "A", "binomial").losses, results.curve("d", "B", "binomial").losses
    rows = [("Hamming", float(b[0] - a[0])), ("subset 0/1", float(b[-1] - a[-1]))]
    return Section(
        "Gaps",
        prose=[f"In units of {unit}."],
        findings=[Finding("A is better.", "cannot be told", where="too few data sets")],
        summaries=[Summary(("end", "gap"), rows, footer=("sum", None))],
        tables={"gaps": Table(("end", "gap"), rows)},
    )


def test_sections_are_kept_and_read_back_without_their_analysis(tmp_path):
    results = run_study(replace(PLAN, analyses=[partial(gaps, unit="points")]), tmp_path / "study")
    (section,) = results.sections
    assert section == gaps(results, "points")
    assert Results(tmp_path / "study").sections == (section,)
    assert results.tables()["gaps"] == section.tables["gaps"]
    assert list(results.tables())[-1] == "gaps"


def test_a_study_that_runs_again_has_the_sections_of_its_last_plan(tmp_path):
    assert [section.title for section in run_study(replace(PLAN, analyses=[gaps]), tmp_path).sections] == ["Gaps"]
    assert run_study(PLAN, tmp_path).sections == ()
    assert "gaps" not in Results(tmp_path).tables()


def test_the_page_shows_sections_in_the_order_of_the_plan(tmp_path):
    def empty(results):
        return Section("Nothing", tables={"nothing": Table(("a",), ())})

    def words(results):
        return Section("<Words>", prose=["In <words>."])

    contents = study_contents(run_study(replace(PLAN, analyses=[gaps, empty, words]), tmp_path))
    assert json.loads(json.dumps(contents["sections"], allow_nan=False))[2]["prose"] == ["In <words>."]
    page = sections(contents)
    assert page.index('id="tables"') < page.index('id="analysis-1"') < page.index('id="analysis-3"')
    assert page.index('id="analysis-3"') < page.index('id="notes"')
    assert 'id="analysis-2"' not in page  # it has nothing to show
    assert '<a href="#analysis-3">&lt;Words&gt;</a>' in links(contents)
    assert "<p>In &lt;words&gt;.</p>" in page
    assert '<span class="verdict open">cannot be told</span> <strong>A is better.</strong>' in page
    assert "<caption>Gaps</caption>" in page
    assert "<h3>" not in page[page.index('id="tables"') :]
    assert '<th scope="col">End</th>' in page
    assert '<tfoot><tr><td>sum</td><td class="number">\N{EN DASH}</td></tr></tfoot>' in page


def test_progress_tells_of_analyses(tmp_path):
    told = []
    run_study(replace(PLAN, analyses=[gaps]), tmp_path, progress=lambda *what: told.append(what))
    assert told[-1] == (0, 1, "analysing")


def failing(results):
    raise KeyError("BR")


@pytest.mark.parametrize(
    "analyses, error, message",
    [
        ([failing], ValueError, "the analysis failing failed, KeyError: 'BR'; all cells are kept."),
        ([lambda results: sys.exit(3)], ValueError, "the analysis <lambda> failed, SystemExit: 3; all cells are kept."),
        ([partial(gaps, unit=1, other=2)], ValueError, "the analysis gaps failed, TypeError: "),
        ([repr], TypeError, "the analysis repr must return a Section; got str."),
        ([gaps, gaps], ValueError, "the analysis gaps must not make another table 'gaps'."),
        (
            [lambda results: Section("x", tables={"wins": Table(("a",), ())})],
            ValueError,
            "must not make another table 'wins'.",
        ),
    ],
)
def test_an_analysis_that_goes_wrong_is_named(tmp_path, analyses, error, message):
    with pytest.raises(error, match=message):
        run_study(replace(PLAN, analyses=analyses), tmp_path)
    assert Results(tmp_path).finished("d") == ("A", "B")


def test_what_a_section_refuses():
    with pytest.raises(ValueError, match="verdict must be one of 'holds', .*; got 'maybe'."):
        Finding("A is better.", "maybe")
    with pytest.raises(ValueError, match="a row of a summary must have 2 cells; got 1."):
        Summary(("a", "b"), [("x",)])
    with pytest.raises(ValueError, match="a row of a summary must have 2 cells; got 3."):
        Summary(("a", "b"), [("x", 1)], footer=("x", 1, 2))
    for name in ("../losses", "Losses", "", "a.csv"):
        with pytest.raises(ValueError, match="the name of a table must be small letters, digits and underscores; got"):
            Section("x", tables={name: Table(("a",), ())})


@pytest.mark.parametrize(
    "sections",
    [
        3,
        [3],
        [{}],
        [{"title": "x", "prose": [], "findings": [{"who": 1}], "summaries": [], "tables": {}}],
        [{"title": "x", "prose": [], "findings": [], "summaries": [], "tables": {"../x": {"columns": [], "rows": []}}}],
    ],
)
def test_damaged_sections_are_told(tmp_path, sections):
    run_study(PLAN, tmp_path)
    study = json.loads((tmp_path / "study.json").read_text())
    (tmp_path / "study.json").write_text(json.dumps(study | {"sections": sections}))
    with pytest.raises(DamagedFile, match=r"the sections of Study cannot be read \(.*\); run the study again."):
        Results(tmp_path).tables()


def test_reading_and_showing_results_needs_no_worker():
    code = "import sys, choral.report, choral.paper; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"choral.study.running", "choral.study.worker", "choral.study.child"} & set(found.stdout.split())


def test_what_is_imported_when_asked_for():
    import choral.study

    assert choral.study.run_study is running.run_study
    with pytest.raises(AttributeError, match="module 'choral.study' has no attribute 'run_studies'"):
        _ = choral.study.run_studies
