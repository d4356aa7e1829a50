"""ARFF files as MEKA and Mulan write them, none of them trusted."""

from choral.datasets.arff.reading import read_arff

__all__ = ["read_arff"]
