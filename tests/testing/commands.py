"""What commands say and write."""

import csv


def assert_refused(result, message):
    """Status 2 and a single line, on standard error, with this message."""
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("choral: error: ")
    assert result.stderr.count("\n") == 1
    assert message in result.stderr


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
