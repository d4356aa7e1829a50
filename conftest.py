"""Doctests of the command line need its packages; without them there is nothing to collect there."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("typer") and find_spec("rich") else ["src/choral/cli/*", "src/choral/cli.py"]
