"""What belongs to Python, to an installed package or to us, and what is a user's own."""

from __future__ import annotations

import functools
import sys
import types
from typing import Any

HEAP = 1 << 9
"""Flag of classes that were made at run time."""
HERE = __name__.split(".")[0]
OURS = {HERE, "numpy"} | sys.stdlib_module_names
HOLDERS = {
    "types.SimpleNamespace", "argparse.Namespace", "queue.Queue",
    "collections.UserDict", "collections.UserList", "collections.UserString",
}  # fmt: skip
"""Classes of Python's own whose objects hold what users put into them."""


@functools.cache
def library_folders() -> tuple[str, ...]:
    import sysconfig

    paths = sysconfig.get_paths()
    return tuple(paths[key] for key in ("stdlib", "platstdlib", "purelib", "platlib"))


def of_library(x: Any) -> bool:
    """Whether a class, function or module belongs to Python, to an installed package or to us."""
    name = x.__name__ if isinstance(x, types.ModuleType) else getattr(x, "__module__", None)
    if not isinstance(name, str) or name == "__main__":
        return False
    if name == "builtins":  # what exec() makes has this name, too
        return not (isinstance(x, types.FunctionType) or (isinstance(x, type) and x.__flags__ & HEAP))
    if name.split(".")[0] in OURS:
        return not (isinstance(x, type) and any(f"{c.__module__}.{c.__qualname__}" in HOLDERS for c in x.__mro__))
    file = getattr(sys.modules.get(name), "__file__", None)
    return file is not None and file.startswith(library_folders())


def installed(x: Any) -> bool:
    """Whether a class or function of a library is that of an installed package."""
    return of_library(x) and str(x.__module__).split(".")[0] not in {*OURS, "builtins"}
