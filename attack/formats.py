"""What choral reads: for each format a few good files, how to damage them, and what is done with them.

``damage(rng)`` makes the files of an input, by name; ``read(folder)`` reads them the way a command does, and uses what
it read. To attack another format, add a function that makes files and one that reads them, and a line in ``FORMATS``.
"""

import bz2
import gzip
import io
import json
import lzma
import string
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp

from choral import ErrorProfile, JointCalibrator, SubsetMeasure, ThresholdTuner, evaluate
from choral.calibration import load_rule, save_rule
from choral.cli import app
from choral.datasets import read_arff
from choral.label_files import ComparedOptions, ComparedPaths, check_truth, read_compared, read_labels
from choral.study import read_plan
from choral.study.data_files import read_dataset
from choral.study.preparing import prepare
from mutations import change_bytes, change_json, change_npy, change_npz, change_text, npy_bytes, pack_npz, pick, some

Files = dict[str, bytes]
ROWS, LABELS = 12, 4
N_COMMANDS = 0.02  # of inputs, for which a whole command runs: that takes ten times as long as reading


@dataclass(frozen=True)
class Format:
    """A kind of input: how to make a damaged one, how to read it, and its share of all inputs."""

    damage: Callable[[np.random.Generator], Files]
    read: Callable[[Path], None]
    share: float


def run_here(*arguments: object) -> None:
    """Run a command in this process; its errors are lines, and clean."""
    try:
        app([str(argument) for argument in arguments])
    except SystemExit as end:
        if end.code not in (None, 0, 1, 2):
            raise


def _pack(rng: np.random.Generator, name: str, content: bytes) -> Files:
    """Now and then packed, and damaged once more."""
    if rng.random() < 0.9:
        return {name: content}
    pack, suffix = pick(rng, ((partial(gzip.compress, mtime=0), "gz"), (bz2.compress, "bz2"), (lzma.compress, "xz")))
    packed = pack(content)
    return {f"{name}.{suffix}": some(rng, change_bytes, packed) if rng.random() < 0.7 else packed}


def _the_file(folder: Path, stem: str) -> Path:
    return next(path for path in sorted(folder.iterdir()) if path.name.startswith(f"{stem}."))


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


# ARFF and its headers in XML

ARFF_WORDS = (
    *("@relation", "@attribute", "@data", "@end", "numeric", "real", "integer", "string", "date", "relational"),
    *("{0,1}",),
    *("{a,b,c}", "{}", "{0}", "?", "-C 2", "-C -2", "-C 0", "-C 999999999", "{0 1}", "{1 1,0 1}", "{99999999 1}", "-1"),
    *("'it\\'s'", '"x y"', "%", "bag", "nominal"),
)
DENSE_ARFF = """% a comment
@relation 'small: -C 2'
@attribute sea {0,1}
@attribute 'blue sky' {0,1}
@attribute a numeric
@attribute "b" real
@attribute kind {red, 'dark green', "it's"}
@data
0,1,0.5,1,red
1,1,2,3e2,'dark green'
1,0,-1,?,"it's"
0,0,0,0,red
"""
SPARSE_ARFF = """@relation 'sparse: -C -2'
@attribute a numeric
@attribute b numeric
@attribute kind {red,green}
@attribute sea {0,1}
@attribute sky {0,1}
@data
{0 1.5,3 1}
{}
{1 2, 2 green, 4 1}
{0 -1,1 3,3 1,4 1}
"""
DIGITS_ARFF = "@relation 'digits: -C 2'\n" + "".join(f"@attribute w{i} {{0,1}}\n" for i in range(9)) + "@data\n"
DIGITS_ARFF += "".join(f"{{{', '.join(f'{i} 1' for i in range(9) if (i * row) % 3 == 1)}}}\n" for row in range(12))
LABELS_XML = """<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="sea"><label name="blue sky"/></label>
</labels>
"""
XML_WORDS = (
    *("<label name='sea'>", "</label>", "<labels>", "</labels>", "&lt;", "&#0;", "&x;", "<![CDATA[", "]]>", "<!--"),
    *('<!DOCTYPE l [<!ENTITY x "xxxxxxxxxx"><!ENTITY y "&x;&x;&x;&x;">]>', "<?xml version='9'?>", "name", 'xmlns="x"'),
)


SHORT_LINES = ("0,1", "{0 1}", "{}", "{1 22}", "'0','1'", "", "%", "?,0", "x")
N_LONG = 0.002  # of inputs, which unfold to as much as a file of their size may


def damage_arff(rng: np.random.Generator) -> Files:
    if rng.random() < N_LONG:
        return _long_arff(rng)
    text = pick(rng, (DENSE_ARFF, DENSE_ARFF, SPARSE_ARFF, DIGITS_ARFF))
    return _pack(rng, "data.arff", _damage_text(rng, text, ARFF_WORDS))


def _long_arff(rng: np.random.Generator) -> Files:
    """Some MiB of short lines, in a few kB."""
    line = f"{pick(rng, SHORT_LINES)}\n"
    head = f"@relation 'long: -C 1'\n@attribute sea {{0,1}}\n@attribute a {pick(rng, ('numeric', '{0,1}'))}\n@data\n"
    text = head + line * (int(rng.integers(2**21, 2**23)) // len(line))
    return {"data.arff.gz": gzip.compress(text.encode(), compresslevel=6, mtime=0)}


def _damage_text(rng: np.random.Generator, text: str, words: tuple[str, ...]) -> bytes:
    if rng.random() < 0.15:
        return some(rng, change_bytes, _encode(text))
    return _encode(some(rng, lambda rng, text: change_text(rng, text, words), text))


def read_damaged_arff(folder: Path) -> None:
    dataset = read_arff(_the_file(folder, "data"))
    _use(dataset.Y)


def damage_xml(rng: np.random.Generator) -> Files:
    return {"data.arff": _encode(DENSE_ARFF), "labels.xml": _damage_text(rng, LABELS_XML, XML_WORDS)}


def read_damaged_xml(folder: Path) -> None:
    _use(read_arff(folder / "data.arff", folder / "labels.xml").Y)


def _use(Y: object) -> None:
    """Labels as they are predict themselves without an error."""
    profile = ErrorProfile.from_predictions(Y, Y)
    assert profile.loss(SubsetMeasure()) == 0, "labels differ from themselves"


# Tables: CSV, TSV, tags

TABLE = "id,sea,sky,night\na,1,0,0\nb,0,1,1\nc,1,1,0\nd,0,0,0\n"
SCORES = "id,sea,sky,night\na,0.9,0.2,0.1\nb,0.4,1,0.75\nc,.5,1e-3,0\nd,0,0,0\n"
TAGS = "id,tags\na,sea|sky\nb,\nc,night\nd,sea|night\n"
QUOTED_TAGS = 'id,tags\r\na,"sea,sky"\r\nb,\r\nc,"night"\r\nd,"sea,night"\r\n'
TABLE_WORDS = (
    "true",
    "false",
    "True",
    "yes",
    '"',
    '""',
    "id",
    "sea",
    "nan",
    "a",
    ",,,,",
    "\n\n",
    "[sea]",
    "['sea', 'sky']",
)


def damage_csv(rng: np.random.Generator) -> Files:
    """Labels, or scores beside the truth that they are to be compared with."""
    if rng.random() < N_LONG:
        return _long_table(rng, "a,b", ("0,1", ".5,1", '"0",1', "", "x,1"))
    if rng.random() < 0.5:
        return _damage_table(rng, TABLE)
    return {**_damage_table(rng, SCORES), "truth.csv": TABLE.encode()}


def damage_tags(rng: np.random.Generator) -> Files:
    if rng.random() < N_LONG:
        return _long_table(rng, "tags", ("sea", "sea|sky", "a|b", '""', ","))
    if rng.random() < 0.5:
        return _damage_table(rng, TAGS)
    return {"a.csv": _damage_text(rng, QUOTED_TAGS, TABLE_WORDS)}


def _long_table(rng: np.random.Generator, header: str, lines: tuple[str, ...]) -> Files:
    """A MiB of short lines, in a kB."""
    line = f"{pick(rng, lines)}\n"
    return {"a.csv.gz": gzip.compress(f"{header}\n{line * (2**20 // len(line))}".encode(), compresslevel=6, mtime=0)}


def _damage_table(rng: np.random.Generator, text: str) -> Files:
    suffix = "csv"
    if rng.random() < 0.3:
        text, suffix = text.replace(",", "\t"), "tsv"
    elif rng.random() < 0.15:
        text = text.replace(",", ";")
    content = _damage_text(rng, text, TABLE_WORDS)
    if rng.random() < 0.1:
        packed = gzip.compress(content, mtime=0)
        return {f"a.{suffix}.gz": some(rng, change_bytes, packed) if rng.random() < 0.7 else packed}
    return {f"a.{suffix}": content}


def read_table(folder: Path) -> None:
    """Compare it with the truth, else with itself; at times by the whole command."""
    path = _the_file(folder, "a")
    truth = folder / "truth.csv" if (folder / "truth.csv").exists() else path
    id_column = "id" if {".csv", ".tsv"} & set(path.suffixes) else None
    if path.stat().st_size % round(1 / N_COMMANDS) == 0:
        rows = ["--id", id_column] if id_column else []
        run_here("evaluate", truth, path, "--bootstrap", 9, *rows)
        run_here("describe", path, *rows)
    if truth is path:
        table = read_labels(path, id_column=id_column)
        check_truth(table)
        _use(table.values)
    options = ComparedOptions(id_column=id_column)
    true, predictions = read_compared(ComparedPaths(truth, {"itself": path}), options)
    evaluate(true.values, predictions, n_bootstrap=0)


# Arrays: NPY, NPZ, sparse matrices

Y = (np.arange(ROWS * LABELS).reshape(ROWS, LABELS) ** 2 % 7 > 3).astype(np.uint8)


def damage_npy(rng: np.random.Generator) -> Files:
    return {"a.npy": change_npy(rng, pick(rng, (Y, Y.astype(float), Y.astype(bool), np.asfortranarray(Y))))}


def damage_npz(rng: np.random.Generator) -> Files:
    arrays = pick(rng, ({"y": Y}, {"arr_0": Y.astype(float)}, {"y": Y, "x": np.arange(3)}))
    return {"a.npz": change_npz(rng, arrays)}


def sparse_entries(matrix: sp.sparray, layout: str) -> dict[str, np.ndarray]:
    """The arrays that ``scipy.sparse.save_npz`` writes."""
    matrix = matrix.asformat(layout)
    parts = (
        {"row": matrix.coords[0], "col": matrix.coords[1]}
        if layout == "coo"
        else {
            "indices": matrix.indices,
            "indptr": matrix.indptr,
        }
    )
    return {**parts, "format": np.array(layout.encode()), "shape": np.array(matrix.shape), "data": matrix.data}


def damage_sparse_npz(rng: np.random.Generator) -> Files:
    layout = pick(rng, ("csr", "csc", "coo"))
    matrix = sp.csr_array(pick(rng, (Y, np.zeros((4, 3), dtype=np.uint8), Y[:1], Y.astype(float))))
    return {"a.npz": change_npz(rng, sparse_entries(matrix, layout))}


def damage_parquet(rng: np.random.Generator) -> Files:
    if rng.random() < N_LONG:
        many = pa.table({"tags": [pick(rng, ("sea", "a|b", ["sea"], []))] * int(rng.integers(10**5, 4 * 10**5))})
        pq.write_table(many, file := io.BytesIO(), row_group_size=int(rng.integers(10**4, 10**6)))
        return {"a.parquet": file.getvalue()}
    names = pick(rng, (("sea", "sky", "night", "fog"), ("0", "1", "2", "3")))
    kind = pick(rng, (np.uint8, float, bool))
    columns = {name: Y[:, place].astype(kind) for place, name in enumerate(names)}
    if rng.random() < 0.3:
        columns = {"tags": [["sea", "sky"][: row % 3] for row in range(ROWS)]}
    file = io.BytesIO()
    options = {"compression": pick(rng, ("none", "snappy", "gzip", "zstd")), "use_dictionary": bool(rng.integers(2))}
    pq.write_table(pa.table(columns), file, **options)
    return {"a.parquet": some(rng, change_bytes, file.getvalue(), most=8)}


# Plans with their folds and data

PLAN = """title = "Small"
seeds = [0, 1]
time_limit = 60.0
[split]
folds = 2
repeats = 2
stratify = false
seed = 3
[families]
binomial = [1, 2]
polynomial = "even"
[[datasets]]
name = "table"
path = "data.csv"
labels = ["sea", "sky"]
folds = "folds.txt"
[[datasets]]
name = "synthetic"
call = "make_dependent"
parameters = { n_samples = 40, n_labels = 3, dependence = 0.5 }
[[learners]]
name = "BR"
learner = "BinaryRelevance"
[[learners]]
name = "RAkEL"
learner = "RandomKLabelsets"
parameters = { k = 2 }
[[learners]]
name = "none"
learner = "ConstantLabels"
baseline = true
"""
PLAN_WORDS = (
    *("[[datasets]]", "[[learners]]", "[split]", "[families]", "[[analyses]]", "base = 'quick'", "name"),
    *("learner", "true"),
    *("inf", "nan", "1979-05-27", "[1,", "]", "[" * 3000, "{a=1}", "'''", '"\\u0000"', "0b1", "1e9", "9" * 30),
    *("[0, 0]"),
    *("threshold = 0.5", "predictions = 'soft'", "each_loss = true", '"all"', "digits-segments"),
    *("ClassifierChain", "data.npz"),
    *("choral.study:Section", "sklearn.tree:DecisionTreeClassifier", "math.nan", "4294967296", "-1", "''"),
    *("optional = true",),
)
TABLE_DATA = "a,b,sea,sky\n0.5,1,0,1\n2,3,1,1\n-1,4e1,1,0\n0,0,0,0\n1,1,1,1\n3,2,0,1\n"
FOLDS = "0\n1\n0\n1\n0\n1\n"
STUDY_DATA = {"X": Y[:, :3] / 2, "Y": Y, "label_names": np.array(["a", "b", "c", "d"])}
X_SPARSE = sp.csr_array(Y[:, :3] / 2)
SPARSE_STUDY_DATA = {
    "X_data": X_SPARSE.data,
    "X_indices": X_SPARSE.indices,
    "X_indptr": X_SPARSE.indptr,
    "X_shape": np.array(X_SPARSE.shape),
    "Y": Y,
}


def damage_plan(rng: np.random.Generator) -> Files:
    plan = _damage_text(rng, PLAN, PLAN_WORDS)
    return {"plan.toml": plan, "folds.txt": FOLDS.encode(), "data.csv": TABLE_DATA.encode()}


def damage_folds(rng: np.random.Generator) -> Files:
    folds = _damage_text(rng, FOLDS, ("0 1", "-1", "2", "99999999999", "1.0", "#"))
    return {"plan.toml": PLAN.encode(), "folds.txt": folds, "data.csv": TABLE_DATA.encode()}


def read_damaged_plan(folder: Path) -> None:
    """Read it, and load and split its data where they are here and small."""
    plan = read_plan(folder / "plan.toml")
    for data in plan.datasets:
        if data.name == "table":
            prepare(plan, data)


def damage_study_data(rng: np.random.Generator) -> Files:
    return {"data.npz": change_npz(rng, pick(rng, (STUDY_DATA, SPARSE_STUDY_DATA)))}


def read_study_data(folder: Path) -> None:
    dataset = read_dataset(folder / "data.npz")
    _use(dataset.Y)
    assert dataset.X[: len(dataset.Y) // 2].shape[1] == dataset.X.shape[1]


# Rules that tuners and calibrators saved


def _saved_rules() -> list[Files]:
    """Rules as `save_rule` writes them, once a process."""
    if not _RULES:
        rng = np.random.default_rng(0)
        scores = np.clip(Y + rng.normal(scale=0.3, size=Y.shape), 0, 1)
        rules = ThresholdTuner("f1").fit(scores, Y), JointCalibrator().fit(scores, Y)
        with TemporaryDirectory() as folder:
            for rule in rules:
                for suffix in ("json", "npz"):
                    path = Path(folder, f"rule.{suffix}")
                    save_rule(path, rule)
                    _RULES.append({path.name: path.read_bytes()})
    return _RULES


_RULES: list[Files] = []


def damage_rule(rng: np.random.Generator) -> Files:
    ((name, content),) = pick(rng, _saved_rules()).items()
    if name == "rule.npz":
        with np.load(io.BytesIO(content)) as archive:
            arrays = {key: archive[key] for key in archive.files}
        if rng.random() < 0.4:
            arrays["rule"] = np.array(json.dumps(some(rng, change_json, json.loads(str(arrays["rule"])))))
            return {name: pack_npz({key: npy_bytes(array) for key, array in arrays.items()})}
        return {name: change_npz(rng, arrays)}
    if rng.random() < 0.3:
        return {name: _damage_text(rng, content.decode(), ("NaN", "Infinity", "null", "1e999", *string.punctuation))}
    return {name: json.dumps(some(rng, change_json, json.loads(content))).encode()}


def read_rule(folder: Path) -> None:
    rule = load_rule(_the_file(folder, "rule"))
    scores = np.full((3, LABELS), 0.3)
    rule.predict(scores)


FORMATS = {
    "arff": Format(damage_arff, read_damaged_arff, 0.22),
    "xml": Format(damage_xml, read_damaged_xml, 0.06),
    "csv": Format(damage_csv, read_table, 0.14),
    "tags": Format(damage_tags, read_table, 0.06),
    "npy": Format(damage_npy, read_table, 0.08),
    "npz": Format(damage_npz, read_table, 0.08),
    "sparse-npz": Format(damage_sparse_npz, read_table, 0.08),
    "parquet": Format(damage_parquet, read_table, 0.06),
    "plan": Format(damage_plan, read_damaged_plan, 0.05),
    "folds": Format(damage_folds, read_damaged_plan, 0.03),
    "study-data": Format(damage_study_data, read_study_data, 0.05),
    "rule": Format(damage_rule, read_rule, 0.06),
}
