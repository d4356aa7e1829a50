"""ARFF files as MEKA and Mulan write them. Nothing in a file is trusted: an error names the file and the line."""

from choral.datasets.arff.reading import is_arff, read_arff

__all__ = ["is_arff", "read_arff"]
