"""The console script ``choral``, also ``python -m choral``."""

import os
import signal
import sys
from types import FrameType


def main() -> None:
    """Run the command line, or say in one line what it lacks."""
    os.environ["PYTHONSAFEPATH"] = "1"  # processes of joblib and Dask: they would import files of the current folder
    try:
        _run()
    except KeyboardInterrupt:  # while importing, which takes a second; or once more, while the first is being told
        print("choral: interrupted", file=sys.stderr)
        sys.exit(130)
    finally:
        signal.signal(
            signal.SIGINT, signal.SIG_IGN
        )  # while Python ends, it would kill the process, or show a traceback


def _run() -> None:
    try:
        from choral.cli import app
    except ModuleNotFoundError as error:
        print(f"choral: error: {error}", file=sys.stderr)
        sys.exit(2)
    signal.signal(signal.SIGTERM, _terminate)
    app()


def _terminate(signal_number: int, frame: FrameType | None) -> None:
    """End by an exception, so that half-written outputs are removed; by default the process just dies."""
    sys.exit(128 + signal_number)


if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]  # the current folder: a lz4.py there would be imported in place of an optional package
    main()
