"""Optional packages: imported where they are used, with a cure named where they are missing."""

from importlib import import_module
from types import ModuleType

PACKAGES = {"array_api_compat": "array-api-compat", "mlrl": "mlrl-boomer"}  # whose names pip spells otherwise


def require(module: str, extra: str) -> ModuleType:
    """Import an optional module, or say how to install it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise  # installed, but broken
        package = PACKAGES.get(error.name, error.name)
        hint = f"{error.name} is not installed; try: pip install {package} (or choral's extra {extra!r})"
        raise ModuleNotFoundError(hint, name=error.name) from error
