"""Outputs are whole or absent, whatever stops the writing."""

import errno
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from choral._outputs import check_output, path_inside, replacing


def test_writes_a_new_file_and_nothing_else(tmp_path):
    with replacing(tmp_path / "new.csv") as file:
        file.write(b"a,b\n")
    assert [path.name for path in tmp_path.iterdir()] == ["new.csv"]
    assert (tmp_path / "new.csv").read_bytes() == b"a,b\n"


def test_the_target_appears_only_when_complete(tmp_path):
    target = tmp_path / "curves.csv"
    with replacing(target) as file:
        file.write(b"half")
        file.flush()
        assert not target.exists()
    assert target.exists()


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit, ValueError])
def test_an_interruption_leaves_the_former_file(tmp_path, stop):
    target = tmp_path / "curves.csv"
    target.write_text("former")

    def write_half():
        with replacing(target) as file:
            file.write(b"half")
            raise stop

    with pytest.raises(stop):
        write_half()
    assert target.read_text() == "former"
    assert list(tmp_path.iterdir()) == [target]


def test_sigint_in_the_middle_of_writing_leaves_nothing(tmp_path):
    code = (
        "import sys, time; from choral._outputs import replacing\n"
        "with replacing(sys.argv[1]) as file:\n"
        "    file.write(b'half'); file.flush(); print('ready', flush=True); [time.sleep(0.1) for _ in range(600)]"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "curves.csv")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) != 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
def test_permissions_follow_the_umask(tmp_path, umask, mode):
    former = os.umask(umask)
    try:
        with replacing(tmp_path / "new.csv"):
            pass
    finally:
        os.umask(former)
    assert stat.S_IMODE((tmp_path / "new.csv").stat().st_mode) == mode


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    with replacing(tmp_path / "link.csv") as file:
        file.write(b"new")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_bytes() == b"new"


def test_missing_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"out\.csv cannot be written: its folder does not exist\."):
        check_output(tmp_path / "nowhere" / "out.csv")


def test_folder_that_is_a_file(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError, match=r"out\.csv cannot be written: .*file is not a folder\."):
        check_output(tmp_path / "file" / "out.csv")


@pytest.mark.parametrize("target", [".", os.devnull])
def test_only_regular_files_are_replaced(tmp_path, target):
    with pytest.raises(OSError, match=r"cannot be written: it exists and is not a regular file\."):
        check_output(tmp_path / target)  # an absolute target stands for itself


def test_folder_without_permission(tmp_path, monkeypatch):
    def refuse(*args, **kwargs):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Path, "touch", refuse)  # root may write anywhere
    with pytest.raises(PermissionError, match=r"out\.csv cannot be written: Permission denied\."):
        check_output(tmp_path / "out.csv")


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs a folder in which not even root can make files")
def test_folder_in_which_nobody_can_make_files():
    with pytest.raises(OSError, match=r"/proc/out\.csv cannot be written: "):
        check_output("/proc/out.csv")


def test_asking_leaves_no_trace(tmp_path):
    check_output(tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


def test_a_link_to_itself_is_not_replaced(tmp_path):
    loop = tmp_path / "loop.csv"
    loop.symlink_to(loop)
    with pytest.raises(OSError, match=r"loop\.csv cannot be written: it exists and is not a regular file\."):
        check_output(loop)


def test_name_too_long(tmp_path):
    with pytest.raises(OSError, match=r"x\.csv cannot be written: File name too long\."):
        check_output(tmp_path / f"{'x' * 300}.csv")


def test_full_disk_names_the_file(tmp_path):
    with (
        pytest.raises(OSError, match=r"out\.csv cannot be written: No space left on device\."),
        replacing(tmp_path / "out.csv"),
    ):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert list(tmp_path.iterdir()) == []


def test_no_link_inside_a_folder_is_followed(tmp_path):
    """A folder from somebody else may hold links to files of the user's; the folder itself may be a link."""
    mine, theirs = tmp_path / "mine", tmp_path / "theirs"
    for folder in (mine, theirs / "figures"):
        folder.mkdir(parents=True)
    (mine / "page.html").write_text("mine")
    (tmp_path / "link").symlink_to(theirs)
    for name in ("page.html", "figures/page.html"):
        (theirs / name).symlink_to(mine / "page.html")
        assert path_inside(tmp_path / "link", name) == tmp_path / "link" / name
        assert not (theirs / name).is_symlink()
    assert path_inside(theirs, "page.html") == theirs / "page.html"
    assert (mine / "page.html").read_text() == "mine"
    (theirs / "tables").symlink_to(mine)
    for name in ("tables", "tables/page.html"):
        with pytest.raises(
            FileExistsError, match="tables is a link, which may lead to files of others, so nothing is "
        ):
            path_inside(theirs, name)
