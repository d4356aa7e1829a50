"""``choral decide``: label sets with probabilities, scores or votes in, the best predictions for a loss out."""

from choral.cli.decide.command import EPILOG, decide_files

__all__ = ["EPILOG", "decide_files"]
