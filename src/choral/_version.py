"""The version of choral, for whoever cannot import all of it."""

__version__ = "0.1.0"
