"""``choral decide``: a file of label sets and their probabilities in, the best prediction for each loss out."""

from choral.cli.decide.command import EPILOG, decide_file

__all__ = ["EPILOG", "decide_file"]
