"""Files for all tests of label files."""

import pytest


@pytest.fixture
def write(tmp_path):
    """Write text or bytes to a file and return its path."""

    def write_file(name, content):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file
