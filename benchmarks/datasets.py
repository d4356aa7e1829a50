"""How long ARFF files take to read, against liac-arff (pip install liac-arff), which gives lists and no arrays.

The files are those of the folder given, by default ../shared/datasets: the nine data sets of the paper.
"""

import bz2
import gzip
import lzma
import sys
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from measuring import conclude, faster, seconds
from scipy import sparse

from choral.datasets import read_arff

FOLDER = Path(__file__).parents[2] / "shared" / "datasets"
OPEN = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def read_with_liac(path: Path, form: str) -> dict:
    import arff

    with OPEN.get(path.suffix, open)(path, "rt", encoding="utf-8") as file:
        return arff.load(file, return_type=getattr(arff, form))


def main(folder: Path) -> int:
    if find_spec("arff") is None:
        print("reading ARFF is not compared: liac-arff is not installed")
        return 0
    paths = sorted(folder.glob("*.arff*"))
    if not paths:
        print(f"reading ARFF is not compared: there are no files in {folder}")
        return 0
    for path in paths:
        # LOD, a dict for each row, is the fastest it has for sparse rows; scikit-learn asks it for COO
        forms = ("LOD", "COO") if sparse.issparse(read_arff(path).X) else ("DENSE",)
        theirs = [partial(read_with_liac, path, form) for form in forms]
        ours, *times = seconds([partial(read_arff, path), *theirs], repeats=15)
        for form, time in zip(forms, times, strict=True):
            faster(f"read_arff: {path.name}", ours, f"liac-arff, {form}", time, at_least=1 if form == "DENSE" else 10)
    return conclude()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER))
