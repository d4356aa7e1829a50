"""Constants that Python and the page's scripts share: Python has them, and the page gets them."""

import json
import re
from importlib.resources import files

import pytest

from choral._validation import ROUNDING
from choral.displays import _curves, _style, pair_grid
from choral.measures.families import FAMILIES, LARGEST_ALPHA
from choral.report import render_page
from choral.report.constants import PLOTLY_DASHES, PLOTLY_MARKERS, page_constants
from choral.report.embedding import figures
from choral.report.markup import MINUS, MISSING, number

EMPTY = {
    "kind": "study",
    "title": "Nothing",
    "created": "2026-11-15",
    "predictions": "hard",
    "answer": [],
    "learners": [],
    "baseline": None,
    "families": [],
    "datasets": [],
    "across": None,
    "sections": [],
    "failures": [],
    "notes": [],
    "plan": None,
    "versions": {},
}


def test_the_page_has_the_constants_of_python():
    pytest.importorskip("plotly")
    data = re.search(r'<script type="application/json" id="contents">(.*?)</script>', render_page(EMPTY))[1]
    found = json.loads(data)["constants"]
    assert found["infinity_gap"] == _curves.INFINITY_GAP
    assert found["margin"] == _curves.MARGIN
    assert found["max_markers"] == _curves.MAX_MARKERS
    assert found["n_colours"] == len(_style.COLOURS)
    assert found["markers"] == [PLOTLY_MARKERS[marker] for marker in _style.MARKERS]
    assert found["dashes"] == [PLOTLY_DASHES[dash] for dash in _style.DASHES]
    assert found["rounding"] == ROUNDING
    assert found["round_numbers"] == list(pair_grid.ROUND_NUMBERS)
    assert (found["far"], found["min_lines"]) == (pair_grid.FAR, pair_grid.MIN_LINES)
    assert (found["missing"], found["minus"]) == (MISSING, MINUS)
    assert number(-0.5) == MINUS + "0.5" + "0" * (found["decimals"] - 1)
    assert list(found["families"]) == list(FAMILIES)


def test_families_are_written_for_readers():
    binomial, polynomial = page_constants("learner")["families"].values()
    alpha = "\N{GREEK SMALL LETTER ALPHA}"
    assert binomial == {
        "symbol": "k",
        "axis": "size of label sets, k",
        "logarithmic": False,
        "ends": ["Hamming", "subset 0/1"],
    }
    assert polynomial == {
        "symbol": alpha,
        "axis": f"exponent, {alpha}",
        "logarithmic": True,
        "ends": ["Hamming", f"{alpha} = {LARGEST_ALPHA:g}"],
    }


@pytest.mark.parametrize("kind, word", [("study", "learner"), ("evaluation", "model")])
def test_the_word_for_what_is_compared(kind, word):
    assert figures(EMPTY | {"kind": kind})["constants"]["word"] == word


def scripts():
    return [file for file in files("choral.report").joinpath("scripts").iterdir() if file.name.endswith(".js")]


@pytest.mark.parametrize("script", scripts(), ids=lambda file: file.name)
def test_scripts_repeat_no_constant(script):
    code = re.sub(r"/\*\*.*?\*/|//.*", "", script.read_text(encoding="utf-8"))
    literals = re.findall(r'"[^"\n]*"|`[^`\n]*`', code)
    constants = page_constants("learner")
    texts = [constants[key] for key in ("word", "hamming", "subset", "missing", "minus")]
    families = [text for name, family in constants["families"].items() for text in (name, family["axis"])]
    for text in (*texts, *families, "model", constants["families"]["polynomial"]["symbol"]):
        assert [literal for literal in literals if text in literal] == []
    assert f'"{constants["infinity"]}"' not in literals


def test_every_marker_and_dash_has_a_picture():
    lines = files("choral.report").joinpath("scripts", "lines.js").read_text(encoding="utf-8")
    for name in (*PLOTLY_MARKERS.values(), *PLOTLY_DASHES.values()):
        assert re.search(rf'(?<![\w-])"?{name}"?: "', lines), name
