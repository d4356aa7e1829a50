"""Execute the notebooks of the gallery: ``python scripts/run_notebooks.py [FOLDER]``, by default docs/auto_examples.

Each runs in a kernel and a folder of its own, two at a time. A cell that fails is printed with its error.
"""

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

SECONDS_PER_CELL = 120


def run(path):
    """Execute a notebook; return what went wrong, or nothing."""
    start = time.perf_counter()
    notebook = nbformat.read(path, as_version=4)
    with TemporaryDirectory() as folder:
        client = NotebookClient(notebook, timeout=SECONDS_PER_CELL, resources={"metadata": {"path": folder}})
        try:
            client.execute()
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            return f"{path} failed:\n{error}"
    print(f"{time.perf_counter() - start:5.1f} s  {path}", flush=True)
    return ""


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/auto_examples")
    paths = sorted(folder.rglob("*.ipynb"))
    if not paths:
        sys.exit(f"there are no notebooks in {folder}; `make docs` writes them.")
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # two kernels: threads of theirs would only fight
    with ThreadPoolExecutor(2) as pool:
        failures = [failure for failure in pool.map(run, paths) if failure]
    if failures:
        sys.exit("\n\n".join(failures))


if __name__ == "__main__":
    main()
