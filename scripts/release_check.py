"""Build what a release holds, and try it as a user would: `make release-check`.

Wheel and sdist are built and checked. Then, for each Python that is found, the wheel goes into an empty environment in
a temporary folder. There a quick study runs, and so do tests of the sdist, whose own `src` is removed first: only the
installed package can be what they import.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Sequence
from pathlib import Path

PROJECT = Path(__file__).parents[1]
DIST = PROJECT / "dist"
PACKAGE = PROJECT / "src" / "choral"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
EXTRAS = "cli,plot,report,core-test"
# What an installation can break: files that come with the package, commands, child processes, pages. The long tests of
# arithmetic (learners, decisions, trees, calibration) do not depend on how choral was installed: `make test` has them.
TESTS = ("cli", "core", "displays", "evaluation", "label_files", "measures", "profiles", "report", "study")
NEEDED = ("pyproject.toml", "conftest.py", "README.md", "CITATION.cff", "tests/core", "docs/examples")  # of the sdist
MAX_SDIST_BYTES = 20_000_000
MAX_FILE_BYTES = 2_000_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Build, check, and try with each Python; the exit status is 1 if a Python that was required is not there."""
    options = _parse(arguments)
    wheel, sdist = build()
    check_wheel(wheel)
    check_sdist(sdist)
    tried = []
    for version in options.pythons:
        python = find_python(version)
        if python is None:
            say(f"Python {version}: not found, skipped")
        else:
            try_wheel(version, python, wheel, sdist, options.pytest.split())
            tried.append(version)
    if unmet := [version for version in options.require if version not in tried]:
        say(f"required, but not tried: Python {', '.join(unmet)}")
    return int(bool(unmet))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pythons", nargs="*", default=PYTHONS, help="versions to try, if they are found")
    parser.add_argument("--require", nargs="*", default=(), help="versions that must be found")
    parser.add_argument("--pytest", default="", help="more options for pytest, in one string")
    return parser.parse_args(arguments)


def say(line: str) -> None:
    """Print a line at once, with the time."""
    print(f"=== {line} ({time.strftime('%H:%M:%S')})", flush=True)


def run(*command: str | Path, folder: Path = PROJECT) -> str:
    """Run a command in a folder, and return the end of what it printed; a failure ends all with its whole output."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("CHORAL_", "PYTHONPATH"))}
    result = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env={**clean, "CHORAL_EXAMPLES": "6", "PYTHONUTF8": "1"},
        text=True,
        encoding="utf-8",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if result.returncode:
        raise SystemExit(f"{result.stdout}\nfailed: {' '.join(map(str, command))}")
    return result.stdout.strip().rpartition("\n")[2]


def build() -> tuple[Path, Path]:
    """Wheel and sdist, made anew in `dist`, and checked by the usual tools."""
    for earlier in DIST.glob("choral-*"):
        earlier.unlink()
    say(run(sys.executable, "-m", "build", "--outdir", DIST))
    (wheel,), (sdist,) = DIST.glob("choral-*.whl"), DIST.glob("choral-*.tar.gz")
    say(run(sys.executable, "-m", "twine", "check", "--strict", wheel, sdist))
    say(run(sys.executable, "-m", "check_wheel_contents", wheel))
    return wheel, sdist


def check_wheel(wheel: Path) -> None:
    """The wheel holds every file of the package, and nothing beside it but its metadata."""
    sources = {f"choral/{path.relative_to(PACKAGE).as_posix()}" for path in PACKAGE.rglob("*") if path.is_file()}
    sources = {name for name in sources if "__pycache__" not in name}
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    if names != sources:
        raise SystemExit(f"missing in the wheel: {sorted(sources - names)}; not wanted: {sorted(names - sources)}")
    say(f"wheel: {len(names)} files, {wheel.stat().st_size / 1e6:.1f} MB")


def check_sdist(sdist: Path) -> None:
    """The sdist holds what its tests need, and is small."""
    with tarfile.open(sdist) as archive:
        sizes = {member.name.partition("/")[2]: member.size for member in archive.getmembers()}
    if absent := [name for name in NEEDED if not any(f"{path}/".startswith(f"{name}/") for path in sizes)]:
        raise SystemExit(f"missing in the sdist: {', '.join(absent)}")
    if large := [name for name, size in sizes.items() if size > MAX_FILE_BYTES]:
        raise SystemExit(f"too large for the sdist: {', '.join(large)}")
    if sdist.stat().st_size > MAX_SDIST_BYTES:
        raise SystemExit(f"the sdist has {sdist.stat().st_size} bytes; expected at most {MAX_SDIST_BYTES}")
    say(f"sdist: {len(sizes)} files, {sdist.stat().st_size / 1e6:.1f} MB")


def find_python(version: str) -> str | None:
    """A Python of this version: from the path, from pyenv, or the one that runs this."""
    if sys.version.startswith(f"{version}."):
        return getattr(sys, "_base_executable", sys.executable)
    candidates = [f"python{version}"]
    if shutil.which("pyenv"):
        latest = subprocess.run(["pyenv", "latest", version], capture_output=True, text=True).stdout.strip()
        prefix = subprocess.run(["pyenv", "prefix", latest or version], capture_output=True, text=True).stdout.strip()
        candidates += [str(Path(prefix, "bin", "python"))] * bool(latest and prefix)
    return next((python for python in candidates if _is_version(python, version)), None)


def _is_version(python: str, version: str) -> bool:
    script = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        return subprocess.run([python, "-c", script], capture_output=True, text=True).stdout.strip() == version
    except OSError:
        return False


def try_wheel(version: str, python: str, wheel: Path, sdist: Path, pytest_options: list[str]) -> None:
    """Install the wheel into an empty environment outside the project; run a study and the tests there."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix=f"choral-{version}-", ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve()
        installed = install(python, wheel, folder / "environment")
        check_place(installed, folder)
        say(f"Python {version}: installed")
        run(installed, "-m", "choral", "study", "quick", "--out", folder / "study", folder=folder)
        if not (folder / "study" / "report.html").is_file():
            raise SystemExit(f"Python {version}: choral study quick wrote no report.html")
        say(f"Python {version}: choral study quick wrote its page")
        tests = unpack_tests(sdist, folder)
        options = ["-q", "-p", "no:cacheprovider", *pytest_options]
        line = run(installed, "-m", "pytest", *options, *(f"tests/{room}" for room in TESTS), folder=tests)
    say(f"Python {version}: {line.strip('= ')}; {time.monotonic() - start:.0f} seconds in all")


def install(python: str, wheel: Path, environment: Path) -> Path:
    """Make an environment with the wheel and what its tests need; returns its Python."""
    run(python, "-m", "venv", environment)
    installed = environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    run(installed, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"{wheel}[{EXTRAS}]")
    run(installed, "-m", "pip", "check")
    return installed


def check_place(installed: Path, folder: Path) -> None:
    """Refuse a choral that does not come from the environment's site-packages."""
    place = Path(run(installed, "-c", "import choral; print(choral.__file__)", folder=folder))
    if "site-packages" not in place.parts or not place.resolve().is_relative_to(folder):
        raise SystemExit(f"choral was imported from {place}; expected the site-packages in {folder}")
    script = "import choral; from importlib.metadata import version; print(choral.__version__ == version('choral'))"
    if run(installed, "-c", script, folder=folder) != "True":
        raise SystemExit("choral.__version__ differs from the version in the metadata of the wheel")


def unpack_tests(sdist: Path, folder: Path) -> Path:
    """Unpack the sdist and remove the package from it: tests import what is installed, or nothing."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (tests,) = folder.glob("choral-*/")
    shutil.rmtree(tests / "src")
    return tests


if __name__ == "__main__":
    sys.exit(main())
