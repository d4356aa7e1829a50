"""ARFF files as MEKA and Mulan write them, none of them trusted."""

from choral.datasets.arff.reading import is_arff, read_arff

__all__ = ["is_arff", "read_arff"]
