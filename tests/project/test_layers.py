"""Imports point only downwards: between the folders of gyrostat, between the rooms of a folder, and never in a ring.

The folders form a list; a file may import from its own folder and from those below it. Every import counts: absolute or
relative, at the top of a file, inside a function, for type checking only, or by the name of a module in a string. Rooms
are ordered the same way, by what is loaded with a module. Imports inside functions are listed here with their reasons.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import pytest

from tests.support.import_graph import ROOT, Import, cycle, imports, loaded, modules

SOURCE = Path(__file__).parents[2] / "src" / "gyrostat"

LAYERS = (
    "cli",
    ROOT,  # `import gyrostat`: the public names, which gather everything below the command line
    "environments",
    "frameworks",
    "studies",
    "store",
    "fmi",
    "flexible",
    "simulate",
    "view",
    "robots",
    "tasks",
    "solvers",
    "algorithms",
    "io",
    "configuration",
    "graph",
    "spatial",
    "engine",
    "spec",
    "finite_elements",
    "geometry",
    "errors",
)
FREE = (ROOT, f"{ROOT}.__main__")  # these may import anything

UPWARD = {
    ("spec.model", "configuration"): "a model tells nq, nv and the names of its coordinates",
    (
        "spec.solver_spec",
        "solvers",
    ): "a specification makes its solver; by name: reading a file loads no solver",
}
"""(module, folder) -> why it may import from above. Never while it is loaded."""

Level = tuple[str, ...] | frozenset[str]
ROOMS: Mapping[str, tuple[Level, ...]] = {
    "spatial": (("beams",), ("*",)),
    "algorithms": (
        ("forward_dynamics",),
        ("contact",),
        ("constrained", "elastic"),
        ("matrices",),
        frozenset({"flexible", "recursions", "shafts", "user_components"}),  # they have rows in each recursion
        ("*",),
    ),
    "engine": (("*",), ("cpython",), ("drivers",), ("llvm",), ("tracing",)),
    "flexible": (("*",), ("inversion",)),
    "robots": (("loops", "*"),),
    "graph": (frozenset({"loops", "*"}),),  # networks hold loops, which are found on networks
    "io": (("strings",), ("files",), ("formats",), ("dh", "mjcf", "sdf", "urdf", "xacro", "yaml"), ("*",)),
    "simulate": (
        ("rollout",),
        frozenset({"run", "*"}),
        ("sensitivity",),
        ("results",),
        ("events",),
        ("methods",),
        ("constraints",),
        ("plant",),
        ("kernels",),
        ("blocks",),
        ("trajectories",),
    ),
    "simulate.methods": (("*",), ("drivers",)),
    "solvers": (
        ("functions", "legs", "sensors"),
        ("builders",),
        ("dynamics", "collision"),
        ("kinematics",),
        ("machinery",),
    ),
    "solvers.kinematics": (("inverse",), ("*",)),
    "spec": (("edits",), ("*",)),
    "studies": (
        ("sweeps",),
        ("jobs",),
        ("design", "gaits"),
        ("fastest_path", "identification"),
        ("optimal_control",),
        ("achievable", "calibration", "vibration"),
        ("*",),
    ),
    "view": (("viewer",), ("diagram", "scene", "*")),
}
"""Folder -> its rooms and files from top to bottom; ``*`` are the files that are not named. Those side by side in a
tuple do not import each other, those in a set may."""

BACK: dict[tuple[str, str], str] = {}
"""(module, module) -> why it goes against the order of rooms for the time being."""

LAZY_FOLDERS = {"cli": "`gyrostat --help` starts at once: everything heavy is imported inside the commands"}
LAZY = {
    ("environments.gym_env", "environments.gym_classes"): "classes of Gymnasium need the extra `gym`",
    (
        "engine.tracing.recording_scalar",
        "engine.tracing.signals",
    ): "choices of NumPy on a scalar make arrays of scalars",
    ("robots.catalogue", "robots"): "the package lists what is in it",
    ("simulate.blocks.foreign_systems", "simulate.blocks.linear"): "python-control's systems become blocks of ours",
    ("simulate.results.result", "simulate.results.files"): "files need more than a result does",
    ("simulate.results.parts", "simulate.results.files"): "files need more than a result does",
    ("simulate.results.result", "simulate.results.mcap"): "files need more than a result does",
    ("simulate.results.result", "simulate.results.tables"): "tables need pandas or xarray",
    ("store.store", "store.server"): "SQLAlchemy is asked for with the address of a server only",
    ("studies.vibration.modes", "view.viewer.viewer"): "nobody needs a viewer to find frequencies",
    ("simulate.results.result", "view.plots"): "matplotlib takes half a second to load",
    ("simulate.results.result", "view.phase"): "matplotlib takes half a second to load",
    ("simulate.results.result", "view.run_figures"): "matplotlib takes half a second to load",
    ("view.plots", "view.picture"): "matplotlib takes half a second to load",
    ("view.fans", "view.picture"): "matplotlib takes half a second to load",
    ("view.phase", "view.picture"): "matplotlib takes half a second to load",
    ("view.run_figures", "view.picture"): "matplotlib takes half a second to load",
    ("simulate.results.result", "view.viewer.viewer"): "the viewer needs viser",
    ("simulate.rollout.result", "simulate.rollout.files"): "files need more than a rollout does",
    ("simulate.rollout.result", "view.fans"): "matplotlib takes half a second to load",
    ("simulate.rollout.result", "view.viewer.viewer"): "the viewer needs viser",
    ("simulate.trajectories.trajectory", "simulate.trajectories.compose"): "a + b makes a trajectory of another kind",
    ("spec.entity", "spec.rules"): "rules are about entities; an entity says its own",
    ("spec.model", "configuration.layout"): UPWARD["spec.model", "configuration"],
    ("spec.model", "spec.edits.attach"): "edits make models; a model offers them as methods",
    ("spec.model", "spec.edits.connect"): "edits make models; a model offers them as methods",
    ("spec.model", "spec.edits.detach"): "edits make models; a model offers them as methods",
    ("spec.model", "spec.edits.lock"): "edits make models; a model offers them as methods",
    ("spec.model", "spec.edits.rename"): "edits make models; a model offers them as methods",
    ("spec.model", "spec.edits.with_flexible_link"): "edits make models; a model offers them as methods",
    ("spec.model", "spec.edits.with_ground"): "edits make models; a model offers them as methods",
    ("spec.model", "spec.edits.with_rolling"): "edits make models; a model offers them as methods",
    ("spec.model", "spec.edits.replaced"): "edits make models; a model offers them as methods",
    ("spec.model", "spec.summary"): "the summary of a model reads it",
    ("spec.model", "spec.table"): "the table of a model reads it",
    ("spec.model", "spec.with_drive"): "edits make models; a model offers them as methods",
    ("spec.rigid_body", "spec.from_shape"): "volumes of meshes are needed by few",
    ("spec.solver_spec", "solvers.builders.builder"): UPWARD["spec.solver_spec", "solvers"],
}
"""(module, module) -> why it is imported inside a function."""


@cache
def everywhere() -> list[Import]:
    """All imports of gyrostat."""
    return imports(SOURCE)


def short(module: str) -> str:
    """'gyrostat.spec.model' -> 'spec.model'."""
    return module.removeprefix(f"{ROOT}.")


def layer_of(module: str) -> str:
    """'gyrostat.spec.model' -> 'spec'; 'gyrostat', or a public name -> 'gyrostat'."""
    folder = short(module).split(".")[0]
    return folder if folder in LAYERS else ROOT


# ---------------------------------------------------------------------------------------------- between folders


def homeless(source: Path) -> list[str]:
    """Files and folders that are not in the list."""
    names = sorted({short(module).split(".")[0] for module in modules(source) if module not in FREE})
    missing = [name for name in names if name not in LAYERS]
    return [f"'{name}' has no place in the list of folders. Hint: add it to LAYERS." for name in missing]


def upward(entries: Iterable[Import], allowed: Iterable[tuple[str, str]] = ()) -> list[str]:
    """One sentence for each import that points to a folder above."""
    problems: list[str] = []
    for entry in entries:
        if entry.module in FREE or layer_of(entry.module) == ROOT:
            continue
        here, there = layer_of(entry.module), layer_of(entry.name)
        permitted = (short(entry.module), there) in allowed and entry.when != "load"
        if LAYERS.index(there) < LAYERS.index(here) and not permitted:
            problems.append(f"{entry}: '{here}' imports {entry.name}, which is above it.")
    return problems


def test_imports_point_only_downwards():
    assert len(modules(SOURCE)) > 300, f"few Python files under {SOURCE}: this test would pass without looking"
    problems = homeless(SOURCE) + upward(everywhere(), UPWARD)
    assert not problems, "\n".join(problems)


def test_imports_from_above_that_are_allowed_are_there():
    there = {(short(e.module), layer_of(e.name)) for e in everywhere() if e.when != "load"}
    assert set(UPWARD) <= there


def made_up(folder: Path, **files: str) -> list[Import]:
    """Imports of a package of these files; ``__`` in a name stands for a slash."""
    for place, text in files.items():
        path = folder / f"{place.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return imports(folder)


@pytest.mark.parametrize(
    ("place", "text", "line"),
    [
        ("spec__model", "import gyrostat.graph.network", 1),
        ("spec__model", "import numpy, gyrostat.graph as g", 1),
        ("spec__model", "from gyrostat.graph import Network", 1),
        ("spec__model", "from gyrostat import errors, graph", 1),
        ("spec__model", "from ..graph import Network", 1),
        ("spec__model", "from ..graph.network import Network", 1),
        ("spec__model", "from .. import graph", 1),
        ("spec__joints__revolute", "from ...graph import Network", 1),
        ("errors", "from .spec import Model", 1),
        ("errors", "from . import spec", 1),
        ("spec__model", "def f():\n    from ..graph import Network\n", 2),
        ("spec__model", "def f():\n    import_module('gyrostat.graph.network')\n", 2),
        ("spec__model", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import gyrostat.graph\n", 3),
        ("solvers__inverse", "import gyrostat as gs", 1),
        ("solvers__inverse", "from gyrostat import rnea", 1),
        ("solvers__inverse", "from gyrostat import *", 1),
        ("studies__sweep", "from ..cli import app", 1),
    ],
)
def test_an_upward_import_is_caught(tmp_path, place, text, line):
    (problem,) = upward(made_up(tmp_path, **{place: text}))
    assert problem.startswith(f"gyrostat.{place.replace('__', '.')}:{line}: ")
    assert problem.endswith("which is above it.")


def test_an_upward_import_of_a_package_is_caught(tmp_path):
    (tmp_path / "spec").mkdir()
    (tmp_path / "spec" / "__init__.py").write_text("from ..graph import Network", "utf-8")
    (problem,) = upward(imports(tmp_path))
    assert problem.startswith("gyrostat.spec:1: 'spec' imports gyrostat.graph.Network")


def test_an_upward_import_that_is_allowed_must_not_come_with_the_module(tmp_path):
    allowed = [("spec.model", "graph")]
    assert upward(made_up(tmp_path, spec__model="def f():\n    from ..graph import Network"), allowed) == []
    assert len(upward(made_up(tmp_path, spec__model="from ..graph import Network"), allowed)) == 1


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("graph__network", "import gyrostat.spec.model\nfrom gyrostat.errors import SpecError"),
        ("graph__network", "from ..spec import Model\nfrom .. import errors"),
        ("graph__network", "from .causality import order\nfrom . import causality\nimport gyrostat.graph.causality"),
        ("graph__loops__cut", "from ..causality import order\nfrom ...spec import Model"),
        ("graph__network", "import numpy as np\nfrom graphlib import TopologicalSorter"),
        ("cli", "import gyrostat as gs\nfrom . import studies\nfrom gyrostat import load"),
        ("__main__", "from .cli import app\nfrom .spec import Model"),
    ],
)
def test_a_downward_import_passes(tmp_path, place, text):
    if place == "__main__":
        (tmp_path / "__main__.py").write_text(text, "utf-8")
        assert upward(imports(tmp_path)) == []
    else:
        assert upward(made_up(tmp_path, **{place: text})) == []


def test_a_folder_outside_the_list_is_caught(tmp_path):
    made_up(tmp_path, utils__math="")
    assert homeless(tmp_path) == ["'utils' has no place in the list of folders. Hint: add it to LAYERS."]


# ---------------------------------------------------------------------------------------------- between rooms


def against_the_order(entries: Iterable[Import], folder: str, levels: tuple[Level, ...]) -> dict[tuple[str, str], str]:
    """(module, module) -> a sentence, for each import against the order of the rooms of a folder."""
    named = {name for level in levels for name in level}
    problems: dict[tuple[str, str], str] = {}

    def level_of(room: str) -> int:
        wanted = room if room in named else "*"
        return next((k for k, level in enumerate(levels) if wanted in level), len(levels))

    for entry in entries:
        rooms = [_room(module, folder) for module in (entry.module, entry.target)]
        if entry.when != "load" or "" in rooms or rooms[0] == rooms[1]:
            continue
        here, there = map(level_of, rooms)
        beside = here == there and here < len(levels) and isinstance(levels[here], tuple)
        others = "*" in levels[here] and not set(rooms) & named if here < len(levels) else False
        if there < here or (beside and not others):
            where = "beside" if beside else "above"
            sentence = f"{entry}: '{rooms[0]}' imports {entry.target}, which is {where} it in '{folder}'."
            problems[short(entry.module), short(entry.target)] = sentence
    return problems


def _room(module: str, folder: str) -> str:
    """Room or file of a folder that a module is in; empty outside, and for the folder itself."""
    inside = module.removeprefix(f"{ROOT}.{folder}.")
    return "" if inside == module else inside.split(".")[0]


def test_rooms_import_only_downwards():
    entries = everywhere()
    problems: dict[tuple[str, str], str] = {}
    for folder, levels in ROOMS.items():
        problems |= against_the_order(entries, folder, levels)
    assert not problems.keys() - BACK.keys(), "\n".join(s for pair, s in problems.items() if pair not in BACK)
    assert not BACK.keys() - problems.keys(), "these are in order now: remove them from BACK"


def folders_with_rooms(source: Path) -> set[str]:
    """Folders that hold folders of modules."""
    folders = {path.parent.relative_to(source).as_posix().replace("/", ".") for path in modules(source).values()}
    return {folder.rpartition(".")[0] for folder in folders if "." in folder.strip(".")}


def test_every_folder_with_rooms_has_an_order_of_all_its_rooms():
    assert folders_with_rooms(SOURCE) == set(ROOMS)
    for folder, levels in ROOMS.items():
        place = SOURCE / folder.replace(".", "/")
        named = {name for level in levels for name in level} - {"*"}
        rooms = {path.parent.name for path in place.glob("*/*.py")}
        assert rooms <= named, f"'{folder}': {sorted(rooms - named)} have no place in ROOMS"
        there = rooms | {path.stem for path in place.glob("*.py")}
        assert named <= there, f"'{folder}': {sorted(named - there)} are in ROOMS, but not on disk"


def test_a_room_that_imports_from_one_above_is_caught(tmp_path):
    levels = (("top",), ("middle", "next_door"), frozenset({"one", "other"}), ("*",))
    entries = made_up(
        tmp_path,
        engine__top__a="from ..middle import b\nfrom ..one.c import x",
        engine__middle__b="from ..top import a\nfrom ..next_door.d import y\nfrom gyrostat.engine.one import c",
        engine__next_door__d="def f():\n    from ..top import a",
        engine__one__c="from ..other import e",
        engine__other__e="from ..one import c",
        engine__plain="from .further import f",
        engine__further="from .one import c",
    )
    assert list(against_the_order(entries, "engine", levels).values()) == [
        "gyrostat.engine.further:1: 'further' imports gyrostat.engine.one.c, which is above it in 'engine'.",
        "gyrostat.engine.middle.b:1: 'middle' imports gyrostat.engine.top.a, which is above it in 'engine'.",
        "gyrostat.engine.middle.b:2: 'middle' imports gyrostat.engine.next_door.d, which is beside it in 'engine'.",
    ]


def test_a_folder_with_rooms_and_no_order_is_seen(tmp_path):
    made_up(tmp_path, graph__loops__cut="", graph__network="", spec__model="")
    assert folders_with_rooms(tmp_path) == {"graph"}


# ---------------------------------------------------------------------------------------------- rings


def test_no_modules_load_each_other():
    assert not cycle(loaded([entry for entry in everywhere() if entry.module not in FREE]))


@pytest.mark.parametrize(
    ("files", "ring"),
    [
        ({"spec__a": "from . import b", "spec__b": "import gyrostat.spec.a"}, ["spec.a", "spec.b", "spec.a"]),
        (
            {"spec__a": "from .b import x", "spec__b": "from .c import y", "spec__c": "from .a import z"},
            ["spec.a", "spec.b", "spec.c", "spec.a"],
        ),
        ({"spec__a": "def f():\n    from . import b", "spec__b": "import gyrostat.spec.a"}, []),
        ({"spec__a": "if TYPE_CHECKING:\n    from . import b", "spec__b": "import gyrostat.spec.a"}, []),
        ({"spec__a": "from . import b, c", "spec__b": "from . import c", "spec__c": ""}, []),
    ],
)
def test_a_ring_of_modules_is_found(tmp_path, files, ring):
    assert [short(module) for module in cycle(loaded(made_up(tmp_path, **files)))] == ring


def test_a_ring_through_the_init_of_a_folder_is_found(tmp_path):
    made_up(tmp_path, spec__a="from .room import b", spec__room__b="")
    (tmp_path / "spec" / "room" / "__init__.py").write_text("from .. import a", "utf-8")
    entries = imports(tmp_path)
    assert [short(module) for module in cycle(loaded(entries))] == ["spec.a", "spec.room", "spec.a"]


# ---------------------------------------------------------------------------------------------- inside functions


def lazy(entries: Iterable[Import]) -> set[tuple[str, str]]:
    """(module, module) of imports inside functions."""
    return {
        (short(entry.module), short(entry.target))
        for entry in entries
        if entry.when in ("call", "name") and entry.module not in FREE and layer_of(entry.module) not in LAZY_FOLDERS
    }


def test_imports_inside_functions_are_listed_with_a_reason():
    there = lazy(everywhere())
    new, gone = sorted(there - set(LAZY)), sorted(set(LAZY) - there)
    assert not new, f"imported inside a function and not in LAZY: {new}. Hint: give a reason there"
    assert not gone, f"no longer imported inside a function: {gone}. Hint: remove them from LAZY"


def test_imports_inside_functions_are_seen(tmp_path):
    entries = made_up(
        tmp_path,
        spec__a="from . import b\nclass A:\n    def f(self):\n        from .c import x\n        import numpy",
        spec__b="PLACE = 'gyrostat.spec.c'\nTEXT = 'gyrostat.load reads'\nf = lambda: __import__('gyrostat.errors')",
        spec__c="",
        errors="",
        cli__app="def f():\n    import gyrostat.errors",
    )
    assert lazy(entries) == {("spec.a", "spec.c"), ("spec.b", "spec.c"), ("spec.b", "errors")}
