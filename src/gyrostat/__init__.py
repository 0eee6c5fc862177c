"""gyrostat: one specification of a robot, every computation consistent.

``import gyrostat`` loads nothing else: a name is fetched from its module when it is first used (PEP 562). The public
names stand in ``__init__.pyi``, once, for type checkers, for editors and for this file. A module that only registers
rows must be imported by the algorithm it extends: nothing is loaded from here for its side effects.
"""

import sys as _sys


def _imports(stub: str) -> dict[str, str]:
    """Name -> module, of the lines ``from module import name as name`` of a stub."""
    words = (line.split() for line in stub.splitlines() if line.startswith("from "))
    return {name: module for _, module, _, _, _, name in words}


def _stub() -> str:
    """Text of ``__init__.pyi``, through the loader of this package: it may lie in a zip file."""
    path = __file__.rpartition(".")[0] + ".pyi"
    try:
        return __spec__.loader.get_data(path).decode("utf-8")  # type: ignore[union-attr]
    except OSError as error:
        hint = "packagers must keep this file, it says where the public names are"
        raise ImportError(f"gyrostat: '{path}' cannot be read ({error}). Hint: {hint}.") from None


_MODULE_OF = _imports(_stub())
__all__ = sorted(_MODULE_OF)  # pyright: ignore[reportUnsupportedDunderAll] - read from the stub


def __getattr__(name: str) -> object:
    """A public name on its first use, a folder of gyrostat (``gs.spatial``), or ``__version__``."""
    from importlib import import_module

    if name == "__version__":
        from importlib.metadata import version

        value = version("gyrostat")
    elif name in _MODULE_OF and _MODULE_OF[name] != __name__:
        value = getattr(import_module(_MODULE_OF[name]), name)
    else:
        value = _folder(name)
    globals()[name] = value
    return value


def _folder(name: str) -> object:
    from importlib import import_module

    if not name.startswith("_"):
        try:
            return import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise  # it exists, and lacks something itself
    from gyrostat.errors import nearest

    raise AttributeError(f"gyrostat has no '{name}'. Hint: {nearest(name, _MODULE_OF)}", name=name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF, "__version__"})


class _Package(type(_sys)):
    """Importing a folder binds its name in the package; a public function of the same name comes first."""

    def __setattr__(self, name: str, value: object) -> None:
        hidden = isinstance(value, type(_sys)) and _MODULE_OF.get(name, __name__) != __name__
        if not hidden:
            super().__setattr__(name, value)


_sys.modules[__name__].__class__ = _Package
