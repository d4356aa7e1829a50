"""What holds for the package as a whole: light to import, all names public, all measures values."""

import ast
import copy
import dataclasses
import inspect
import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import choral
from choral import (
    AdditiveMeasure,
    AtLeastMeasure,
    BinomialMeasure,
    Capacity,
    CountingMeasure,
    CoveringMeasure,
    HammingMeasure,
    MoebiusMeasure,
    PolynomialMeasure,
    RelevanceMeasure,
    SubsetMeasure,
)
from choral._optional import require

HEAVY = {"matplotlib", "torch", "dask", "distributed", "pandas", "pyarrow", "plotly", "typer", "rich", "pooch"}

MAKERS = [
    HammingMeasure,
    SubsetMeasure,
    lambda: BinomialMeasure(2),
    lambda: PolynomialMeasure(2.5),
    lambda: AtLeastMeasure(2),
    lambda: CountingMeasure([0, 0.25, 1]),
    lambda: CountingMeasure.from_weights([0.75, 0.25]),
    lambda: AdditiveMeasure([0.5, 0.5]),
    lambda: Capacity([0, 0.25, 0.25, 1]),
    lambda: MoebiusMeasure({(0,): 0.5, (0, 1): 0.5}),
    lambda: CoveringMeasure([(0, 1), (1,)], weights=[1, 2]),
    lambda: RelevanceMeasure(BinomialMeasure(2), 0.5),
]


def test_import_is_light():
    code = "import sys, choral, choral.displays, choral.datasets; print(*{m.partition('.')[0] for m in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not HEAVY & set(loaded)


def test_subpackages_come_when_they_are_asked_for():
    names = (
        "displays",
        "datasets.load_digits_segments",
        "learners.BinaryRelevance",
        "stats.describe",
        "PairwiseDisplay",
    )
    code = f"import choral; {', '.join(f'choral.{name}' for name in names)}"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert {"displays", "evaluate"} <= set(dir(choral))
    with pytest.raises(AttributeError, match="module 'choral' has no attribute 'teachers'"):
        _ = choral.teachers


def test_every_public_name_is_there_and_documented():
    for name in choral.__all__:
        assert getattr(choral, name).__doc__, name


def test_version_is_that_of_the_package():
    from importlib.metadata import version

    assert choral.__version__ == version("choral")


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: repr(make()))
def test_measures_are_values(make):
    measure = make()
    assert measure == make()
    assert hash(measure) == hash(make())
    assert len({measure, make(), BinomialMeasure(77)}) == 2
    assert measure != "something else"
    assert repr(measure).startswith(type(measure).__name__)
    for same in (pickle.loads(pickle.dumps(measure)), copy.deepcopy(measure)):
        assert same == measure
    with pytest.raises((dataclasses.FrozenInstanceError, AttributeError)):
        measure.k = 5


@pytest.mark.parametrize("make", [MAKERS[i] for i in (5, 6, 7, 8)], ids=lambda make: repr(make()))
def test_arrays_of_measures_cannot_be_written_to(make):
    for measure in (make(), pickle.loads(pickle.dumps(make()))):
        for array in vars(measure).values():
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete"):
        del make()._anything


def test_a_measure_equals_its_copies_whatever_its_numbers():
    rng = np.random.default_rng(0)
    for _ in range(200):
        weights = rng.dirichlet(np.ones(6))
        sets = [(0,), (1, 2), (3,), (0, 4), (2, 5), (1,)]
        measures = [
            AdditiveMeasure(weights),
            CountingMeasure.from_weights(weights),
            MoebiusMeasure(dict(zip(sets, weights, strict=True))),
            CoveringMeasure(sets, rng.random(6)),
        ]
        for measure in measures:
            assert pickle.loads(pickle.dumps(measure)) == measure
        assert AdditiveMeasure(measures[0].weights) == measures[0]
        assert MoebiusMeasure(dict(measures[2].terms)) == measures[2]


def test_negative_zeros_make_no_difference():
    assert CountingMeasure([-0.0, 0.5, 1]) == CountingMeasure([0, 0.5, 1])
    assert AdditiveMeasure([-0.0, 1]) == AdditiveMeasure([0, 1])
    assert hash(Capacity([0, -0.0, 0, 1])) == hash(Capacity([0, 0, 0, 1]))


def test_measures_do_not_keep_the_callers_array():
    values = np.array([0, 0.25, 1])
    measure = CountingMeasure(values)
    values[1] = 0.9
    assert measure.values(2)[1] == 0.25


def test_long_tables_print_short():
    assert repr(CountingMeasure.from_function(lambda x: x, 100)) == "CountingMeasure([0, 0.01, 0.02, 0.03, ..., 1])"


def test_a_missing_package_names_its_cure():
    cure = r"no_such_package is not installed; try: pip install no_such_package \(or choral's extra 'plot'\)$"
    with pytest.raises(ModuleNotFoundError, match=cure):
        require("no_such_package.pyplot", "plot")


def test_a_broken_package_speaks_for_itself(tmp_path, monkeypatch):
    (tmp_path / "broken_package.py").write_text("import something_it_lacks")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="No module named 'something_it_lacks'"):
        require("broken_package", "plot")


def test_the_library_does_not_know_options_of_the_command_line():
    typer = pytest.importorskip("typer")
    from choral.cli import app

    commands = typer.main.get_command(app).commands.values()
    options = {name for command in commands for option in command.params for name in option.opts}
    names = "|".join(sorted(name for name in options if name.startswith("--")))
    package = Path(choral.__file__).parent
    for path in package.rglob("*.py"):
        if not path.is_relative_to(package / "cli"):
            strings = [node.value for node in ast.walk(ast.parse(path.read_text("utf-8"))) if is_text(node)]
            assert [text for text in strings if re.search(rf"(^|[\s(])({names})\b", text)] == [], path


def is_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def test_public_functions_say_what_they_take():
    for name in choral.__all__:
        value = getattr(choral, name)
        if inspect.isclass(value) and issubclass(value, Warning):
            continue
        parameters = inspect.signature(value).parameters.values()
        assert [parameter.name for parameter in parameters if parameter.annotation is Any] == [], name
