"""Imports between the folders of gyrostat point only downwards.

The folders form a list; a file may import from its own folder and from those below it. Every import statement counts:
absolute or relative, at the top of a file, inside a function, or for type checking only.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "gyrostat"

ROOT = "gyrostat"  # `import gyrostat`: the public names, which gather everything below the command line
LAYERS = (
    "cli",
    ROOT,
    "studies",
    "simulate",
    "view",
    "robots",
    "solvers",
    "algorithms",
    "flexible",
    "io",
    "configuration",
    "graph",
    "spatial",
    "engine",
    "spec",
    "geometry",
    "errors",
)
FREE = ("__init__.py", "__main__.py")  # directly in gyrostat/: these may import anything
LISTED = {("spec/solver_spec.py", "gyrostat.solvers.builders.builder.build")}
"""Imports inside a function that point upwards all the same: SolverSpec.build(model) is where data become a solver."""


def layer_of(module: tuple[str, ...]) -> str:
    """('gyrostat', 'spec', 'model') -> 'spec'; ('gyrostat', 'rnea') -> 'gyrostat', a public name."""
    return module[1] if len(module) > 1 and module[1] in LAYERS else ROOT


def imported_modules(tree: ast.Module, package: tuple[str, ...]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Line and absolute dotted name of everything imported; `package` is the one that holds the file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, tuple(alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            origin = tuple(node.module.split(".")) if node.module else ()
            if node.level:  # one dot is the package itself, each further dot one package up
                origin = package[: len(package) - (node.level - 1)] + origin
            for alias in node.names:
                yield node.lineno, (*origin, alias.name)


def upward_imports(source: Path) -> list[str]:
    """One sentence for each import under `source` (a gyrostat package folder) that points upwards."""
    problems = []
    for path in sorted(source.rglob("*.py")):
        place = path.relative_to(source)
        if len(place.parts) == 1 and place.name in FREE:
            continue
        layer = place.parts[0].removesuffix(".py")
        if layer not in LAYERS:
            problems.append(f"{place}: '{layer}' has no place in the list of folders. Hint: add it to LAYERS.")
            continue
        for line, module in imported_modules(ast.parse(path.read_text("utf-8")), (ROOT, *place.parent.parts)):
            if (place.as_posix(), ".".join(module)) in LISTED:
                continue
            if module[0] == ROOT and LAYERS.index(layer_of(module)) < LAYERS.index(layer):
                problems.append(f"{place}:{line}: '{layer}' imports {'.'.join(module)}, which is above it.")
    return problems


def test_imports_point_only_downwards():
    assert list(SOURCE.rglob("*.py")), f"no Python files under {SOURCE}: this test would pass without looking"
    problems = upward_imports(SOURCE)
    assert not problems, "\n".join(problems)


def made_up_package(folder: Path, place: str, text: str) -> Path:
    path = folder / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return folder


@pytest.mark.parametrize(
    ("place", "text", "line"),
    [
        ("spec/model.py", "import gyrostat.graph.network", 1),
        ("spec/model.py", "import numpy, gyrostat.graph as g", 1),
        ("spec/model.py", "from gyrostat.graph import Network", 1),
        ("spec/model.py", "from gyrostat import errors, graph", 1),
        ("spec/model.py", "from ..graph import Network", 1),
        ("spec/model.py", "from ..graph.network import Network", 1),
        ("spec/model.py", "from .. import graph", 1),
        ("spec/joints/revolute.py", "from ...graph import Network", 1),
        ("spec/__init__.py", "from ..graph import Network", 1),
        ("errors.py", "from .spec import Model", 1),
        ("errors.py", "from . import spec", 1),
        ("spec/model.py", "def f():\n    from ..graph import Network\n", 2),
        ("spec/model.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import gyrostat.graph\n", 3),
        ("solvers/inverse.py", "import gyrostat as gs", 1),
        ("solvers/inverse.py", "from gyrostat import rnea", 1),
        ("solvers/inverse.py", "from gyrostat import *", 1),
        ("studies/sweep.py", "from ..cli import app", 1),
    ],
)
def test_an_upward_import_is_caught(tmp_path, place, text, line):
    (problem,) = upward_imports(made_up_package(tmp_path, place, text))
    assert problem.startswith(f"{place}:{line}: ")
    assert problem.endswith("which is above it.")


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("graph/network.py", "import gyrostat.spec.model\nfrom gyrostat.errors import SpecError"),
        ("graph/network.py", "from ..spec import Model\nfrom .. import errors"),
        ("graph/network.py", "from .causality import order\nfrom . import causality\nimport gyrostat.graph.causality"),
        ("graph/loops/cut.py", "from ..causality import order\nfrom ...spec import Model"),
        ("graph/network.py", "import numpy as np\nfrom graphlib import TopologicalSorter"),
        ("cli.py", "import gyrostat as gs\nfrom . import studies\nfrom gyrostat import load"),
        ("__init__.py", "from .cli import app\nfrom .spec import Model"),
    ],
)
def test_a_downward_import_passes(tmp_path, place, text):
    assert upward_imports(made_up_package(tmp_path, place, text)) == []


def test_a_folder_outside_the_list_is_caught(tmp_path):
    (problem,) = upward_imports(made_up_package(tmp_path, "utils/math.py", ""))
    assert problem.startswith("utils/math.py: 'utils' has no place in the list")
