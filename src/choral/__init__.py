"""choral: judge multi-label predictions by how well labels are right together."""

__version__ = "0.1.0"
