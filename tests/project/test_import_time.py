"""`import gyrostat` is cheap, and its lazy names are all there."""

import subprocess
import sys
from types import ModuleType

import pytest

import gyrostat as gs

HEAVY = ("numpy", "casadi", "llvmlite", "pydantic", "yaml", "lxml", "matplotlib", "typer", "rich", "importlib.metadata")


def in_a_new_process(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_importing_gyrostat_loads_nothing_heavy():
    code = "import sys; before = set(sys.modules); import gyrostat; print(*(set(sys.modules) - before))"
    assert not set(HEAVY) & set(in_a_new_process(code).split())


def test_importing_gyrostat_takes_less_than_a_quarter_of_a_second():
    code = "import time; start = time.process_time(); import gyrostat; print(time.process_time() - start)"
    assert min(float(in_a_new_process(code)) for _ in range(3)) < 0.25


@pytest.mark.parametrize("name", gs.__all__)
def test_every_public_name_is_there_and_is_no_module(name):
    value = getattr(gs, name)
    rooms = ("blocks", "flexible", "robots", "sections", "sensors", "studies", "tasks", "trajectories")
    assert isinstance(value, ModuleType) == (name in rooms)
    assert name in dir(gs)


def test_a_star_import_gives_all_public_names():
    names = in_a_new_process("from gyrostat import *; print(*globals())").split()
    assert set(gs.__all__) <= set(names)


def test_an_unknown_name_lists_near_ones():
    with pytest.raises(AttributeError, match=r"gyrostat has no 'rneaa'\. Hint: did you mean 'rnea'"):
        gs.rneaa  # noqa: B018
    assert not hasattr(gs, "__wrapped__")


def test_a_public_function_comes_before_a_folder_of_the_same_name(monkeypatch):
    monkeypatch.setitem(gs._MODULE_OF, "twice", "gyrostat.errors")
    gs.twice = ModuleType("gyrostat.twice")  # what Python does when it has imported a folder
    assert "twice" not in vars(gs)
    gs.other = ModuleType("gyrostat.other")
    assert isinstance(vars(gs).pop("other"), ModuleType)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import gyrostat as gs; print(gs.gravity(gs.robots.pendulum(), [1.5707963267948966]).round(9))", "[4.905]"),
        (
            "from gyrostat import ForwardDynamics, robots; print(ForwardDynamics(robots.pendulum())([0],[0],[1.0]))",
            "[3.]",
        ),
        (
            "import gyrostat as gs, gyrostat.algorithms.recursions.kinematics; print(type(gs.kinematics).__name__)",
            "Algorithm",
        ),
        ("import gyrostat as gs; print(gs.spatial.__name__, gs.__version__ != '')", "gyrostat.spatial True"),
        ("import gyrostat as gs; print(sorted(gs.Entity.registry)[0])", "assembly"),
    ],
)
def test_the_first_use_of_a_name_brings_what_it_needs(code, expected):
    assert in_a_new_process(code).strip() == expected
