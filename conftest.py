"""Doctests of the command line and of choral.nn need their packages; without them there is nothing to collect there."""

from importlib.util import find_spec

collect_ignore_glob = []
if not (find_spec("typer") and find_spec("rich")):
    collect_ignore_glob.append("src/choral/cli/*")
if not (find_spec("torch") and find_spec("torchmetrics")):
    collect_ignore_glob += ["src/choral/nn/*", "docs/pytorch.md"]
if not (find_spec("torch") and find_spec("array_api_compat")):
    collect_ignore_glob.append("docs/arrays.md")
if not find_spec("dask"):
    collect_ignore_glob.append("docs/scale.md")
if not find_spec("triton"):
    collect_ignore_glob.append("src/choral/_kernels/gpu/*")
