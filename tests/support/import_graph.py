"""Who imports whom in a package folder, read from its text: nothing is run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

ROOT = "gyrostat"
When = Literal["load", "call", "types", "name"]
"""When the module is loaded: with the importing one; in a function; never, for type checkers only; or whenever somebody
imports what a string names."""


@dataclass(frozen=True)
class Import:
    """``module`` imports ``name`` (dotted, as written but absolute), which is in ``target``, a file or folder."""

    module: str
    line: int
    name: str
    target: str
    when: When

    def __str__(self) -> str:
        return f"{self.module}:{self.line}"


def modules(source: Path) -> dict[str, Path]:
    """Dotted name -> file, of all modules below a package folder that stands for ``gyrostat``."""
    names: dict[str, Path] = {}
    for path in sorted(source.rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        names[".".join((ROOT, *parts)).removesuffix(".__init__")] = path
    return names


def imports(source: Path) -> list[Import]:
    """All imports of modules of the package, by modules of the package."""
    known = modules(source)
    folders = {ROOT, *known, *(name.rpartition(".")[0] for name in known)}
    return [
        Import(module, line, name, _nearest(name, folders), when)
        for module, path in known.items()
        for line, name, when in _read(ast.parse(path.read_text("utf-8")), module, path.name == "__init__.py")
        if name.split(".")[0] == ROOT
    ]


def _nearest(name: str, known: set[str]) -> str:
    """The file or folder that a dotted name is in: ``gyrostat.spec.model.Model`` is in ``gyrostat.spec.model``."""
    while name not in known:
        name = name.rpartition(".")[0]
    return name


def _read(tree: ast.Module, module: str, is_package: bool) -> Iterator[tuple[int, str, When]]:
    """Line, absolute dotted name, and when, of each import; names of modules in strings count too."""
    package = module.split(".") if is_package else module.split(".")[:-1]
    for node, when in _walk(tree, "load"):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name, when
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join([*start, *([node.module] if node.module else [])])
            for alias in node.names:
                yield node.lineno, f"{origin}.{alias.name}", when
        elif isinstance(node, ast.Constant) and re.fullmatch(rf"{ROOT}(\.[a-z_0-9]+)+", str(node.value)):
            yield node.lineno, str(node.value), "name"


def _walk(node: ast.AST, when: When) -> Iterator[tuple[ast.AST, When]]:
    """All nodes, and when an import there would happen."""
    for child in ast.iter_child_nodes(node):
        yield child, when
        inner = when
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            inner = "call"
        elif isinstance(child, ast.If) and ast.unparse(child.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            inner = "types"
        yield from _walk(child, inner)


def loaded(entries: list[Import]) -> dict[str, set[str]]:
    """Module -> modules that are loaded with it. With a module come the folders that hold it, whose ``__init__`` may
    import others; not for modules inside such a folder, which is being loaded then."""
    graph: dict[str, set[str]] = {}
    for entry in entries:
        if entry.when == "load":
            parts = entry.target.split(".")
            holders = {".".join(parts[:k]) for k in range(2, len(parts))}
            around = {h for h in holders if f"{entry.module}.".startswith(f"{h}.")}
            graph.setdefault(entry.module, set()).update({entry.target} | (holders - around))
    return {module: targets - {module} for module, targets in graph.items()}


def cycle(graph: Mapping[str, set[str]]) -> list[str]:
    """A ring of modules that load each other, the first one at the end again; empty if there is none."""
    done: set[str] = set()

    def visit(module: str, path: list[str]) -> list[str]:
        if module in path:
            return [*path[path.index(module) :], module]
        if module in done:
            return []
        for target in sorted(graph.get(module, ())):
            if ring := visit(target, [*path, module]):
                return ring
        done.add(module)
        return []

    return next((ring for module in sorted(graph) if (ring := visit(module, []))), [])
