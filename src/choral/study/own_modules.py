"""Modules that lie beside a plan: found where the plan names them and where they import one another, nowhere else.

The folder of a plan is not put on ``sys.path``. There, libraries would find it too: many of them try to import packages
that they can do without (``lz4``, ``numexpr``), and would run a file of that name. Processes that a study starts learn
of the folder by an environment variable, as soon as they import `choral.study`.
"""

import json
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import FrameType, ModuleType

VARIABLE = "CHORAL_PLAN_MODULES"  # for processes started later: names of modules by folder, as JSON


class OwnModules:
    """A finder of modules, asked last by Python's import system: see `sys.meta_path`."""

    def __init__(self, names_by_folder: dict[str, list[str]]):
        self._names = {folder: set(names) for folder, names in names_by_folder.items()}

    def add_folder(self, folder: Path) -> None:
        """Names of modules added from now on are looked for in this folder first."""
        place = str(folder.absolute())
        self._names[place] = self._names.pop(place, set())
        if self not in sys.meta_path:
            sys.meta_path.append(self)

    def add_name(self, module: str) -> None:
        """A module that the plan names, be it beside the plan or not."""
        if self._names:
            self._add(next(reversed(self._names)), module.partition(".")[0])

    def _add(self, folder: str, name: str) -> None:
        self._names[folder].add(name)
        os.environ[VARIABLE] = json.dumps({place: sorted(names) for place, names in self._names.items()})

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """What Python's import system asks: where a module is, if it may be imported from here."""
        if path is not None:  # a part of a package, which knows its folder
            return None
        importer = _importer(sys._getframe(1))
        for folder, names in reversed(self._names.items()):
            if fullname in names or self._is_beside(importer, folder):
                spec = PathFinder.find_spec(fullname, [folder])
                if spec is not None:
                    self._add(folder, fullname)  # a child that unpickles may need it first
                    return spec
        return None

    def _is_beside(self, importer: str, folder: str) -> bool:
        module = sys.modules.get(importer)
        spec = getattr(module, "__spec__", None)
        places = [spec.origin, *(spec.submodule_search_locations or [])] if spec is not None else []
        return any(place is not None and Path(place).parent == Path(folder) for place in places)


def _importer(frame: FrameType | None) -> str:
    """The package or module in which an import is made: that of the first function outside of the import system."""
    while frame is not None:
        package = frame.f_globals.get("__name__", "").partition(".")[0]
        if package != "importlib":
            return package
        frame = frame.f_back
    return ""


OWN_MODULES = OwnModules(json.loads(os.environ.get(VARIABLE, "{}")))
if VARIABLE in os.environ:  # in a child process of a study, or a worker of its cluster
    sys.meta_path.append(OWN_MODULES)
