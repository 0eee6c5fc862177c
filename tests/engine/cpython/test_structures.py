"""What reads and writes structures of CPython looks before it touches memory, keeps count of references, and is in one
room; where this Python is unknown, every public call goes the general way and gives the same bits."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.engine import kernel as kernel_module
from gyrostat.engine.cpython import builtin as builtin_module
from gyrostat.engine.cpython.builtin import vectorcall
from gyrostat.engine.cpython.direct import HAVE_VECTORCALL, Direct, enter
from gyrostat.engine.cpython.dispatch import quick, remember
from gyrostat.engine.cpython.layout import available
from gyrostat.engine.kernel import Kernel
from gyrostat.engine.tracing.record import record
from gyrostat.errors import CompileError

SOURCE = Path(gs.__file__).parent
needs_builtin = pytest.mark.skipif(bool(available()), reason=f"no builtins: {available()}")

# ---------------------------------------------------------------------------------------------- one room

TOUCHES = {"pythonapi", "py_object", "from_address", "PYFUNCTYPE", "memmove", "memset", "string_at", "_ARRAY_API"}
"""Names by which Python code gets at the memory of Python objects."""


def touching(source: Path) -> set[str]:
    """Files that use one of these names."""
    files: set[str] = set()
    for path in source.rglob("*.py"):
        nodes = ast.walk(ast.parse(path.read_text("utf-8")))
        names = {getattr(node, "attr", None) or getattr(node, "id", None) for node in nodes}
        if names & TOUCHES:
            files.add(path.relative_to(source).as_posix())
    return files


def test_only_one_room_touches_structures_of_cpython():
    assert {file.rpartition("/")[0] for file in touching(SOURCE)} == {"engine/cpython"}


def test_a_file_that_touches_them_is_seen(tmp_path):
    (tmp_path / "spec").mkdir()
    (tmp_path / "spec" / "model.py").write_text("import ctypes\nctypes.pythonapi.Py_IncRef(None)", "utf-8")
    (tmp_path / "spec" / "joint.py").write_text("import ctypes\nctypes.c_int64(3)", "utf-8")
    assert touching(tmp_path) == {"spec/model.py"}


# ---------------------------------------------------------------------------------------------- looked at before


@pytest.fixture
def scaled() -> Kernel:
    return Kernel(record(lambda x, y, c: {"z": (x + y) * c}, {"x": (3,), "y": (3,), "c": (2,)[:0]}), "scaled")


def two_outputs() -> Kernel:
    return Kernel(record(lambda x: {"a": x + 1.0, "b": 2.0 * x}, {"x": (3,)}), "two")


@needs_builtin
@pytest.mark.parametrize(
    "hidden",
    [
        np.ones((1,)),
        np.ones((), dtype=np.float32),
        np.ones((), dtype=">f8"),
        np.ones((), dtype=object),
        np.ma.masked_array(1.0),
        1.0,
        None,
    ],
    ids=repr,
)
def test_hidden_inputs_that_machine_code_cannot_read_are_refused(scaled, hidden):
    with pytest.raises(CompileError, match=r"hidden input 'c' must be a contiguous float64 array of shape \(\)"):
        scaled.builtin(lambda *a: None, [hidden], "f", "")


@needs_builtin
def test_hidden_inputs_that_are_not_contiguous_or_too_many_are_refused():
    kernel = Kernel(record(lambda x, c: {"z": x * c}, {"x": (3,), "c": (3,)}), "f")
    with pytest.raises(CompileError, match=r"hidden input 'c' must be a contiguous float64 array of shape \(3,\)"):
        kernel.builtin(lambda *a: None, [np.ones(6)[::2]], "f", "")
    with pytest.raises(CompileError, match="'program' has 2 inputs, got 3 hidden arrays"):
        kernel.builtin(lambda *a: None, [np.ones(3)] * 3, "f", "")


@needs_builtin
@pytest.mark.parametrize("kind", [list, dict, object])
def test_a_class_of_results_that_is_no_tuple_is_refused(kind):
    with pytest.raises(CompileError, match=r"results of a builtin are a tuple, got the class .* Hint: a NamedTuple"):
        two_outputs().builtin(lambda *a: None, [], "f", "", kind)


class Own(np.ndarray):
    """An array that may do anything."""


WRONG: dict[str, Callable[[], Any]] = {
    "nothing": lambda: None,
    "a number": lambda: 1.0,
    "a text": lambda: "123",
    "a list": lambda: [1.0, 2.0, 3.0],
    "a class": lambda: np.ndarray,
    "bytes as long as an array": lambda: bytes(200),
    "float32": lambda: np.ones(3, dtype=np.float32),
    "integers": lambda: np.ones(3, dtype=np.int64),
    "other byte order": lambda: np.ones(3, dtype=">f8"),
    "objects": lambda: np.array([1.0, 2.0, 3.0], dtype=object),
    "a class of its own": lambda: np.ones(3).view(Own),
    "masked": lambda: np.ma.masked_array(np.ones(3)),
    "too short": lambda: np.ones(2),
    "too long": lambda: np.ones(4),
    "no axis": lambda: np.array(1.0),
    "two axes too many": lambda: np.ones((1, 1, 3)),
    "every other number": lambda: np.ones(6)[::2],
    "backwards": lambda: np.ones(3)[::-1],
    "stride zero": lambda: np.broadcast_to(1.0, (3,)),
    "misaligned": lambda: np.zeros(25, np.uint8)[1:].view(np.float64),
}


@needs_builtin
@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("place", [0, 1, "out"])
def test_arguments_of_a_wrong_kind_are_handed_on_as_they_are(scaled, wrong, place):
    seen: list[tuple[Any, ...]] = []
    call = scaled.builtin(lambda *a, **k: seen.append((*a, *k.values())) or "general", [np.array(2.0)], "f", "")
    thing = WRONG[wrong]()
    out = np.full(3, 7.0)
    arguments: list[Any] = [np.ones(3), np.ones(3)]
    options = {"out": thing if place == "out" else out}
    if place != "out":
        arguments[place] = thing
    assert call(*arguments, **options) == "general"
    assert [id(x) for x in seen[0]] == [id(x) for x in (*arguments, options["out"])]
    np.testing.assert_array_equal(out, [7.0, 7.0, 7.0])


@needs_builtin
def test_calls_with_wrong_numbers_and_names_are_handed_on(scaled):
    seen: list[Any] = []
    call = scaled.builtin(lambda *a, **k: seen.append((len(a), sorted(k))), [np.array(2.0)], "f", "")
    x = np.ones(3)
    call(), call(x), call(x, x, x), call(x, x, other=x), call(x, x, out=x, other=x), call(x, y=x), call(x=x, y=x)
    assert seen == [
        (0, []), (1, []), (3, []), (2, ["other"]), (2, ["other", "out"]), (1, ["y"]), (0, ["x", "y"]),
    ]  # fmt: skip


@needs_builtin
def test_only_objects_with_room_for_an_address_are_entered():
    class Plain:
        def __call__(self) -> str:
            return "as before"

    plain = Plain()
    enter(plain, 1, 2)  # an address that nobody could call
    assert plain() == "as before" and not Plain.__flags__ & HAVE_VECTORCALL


@needs_builtin
def test_an_object_that_was_not_entered_is_called_as_before():
    class Called(Direct):
        def __call__(self, *arguments: Any) -> Any:
            return "general", arguments

    kernel = Kernel(record(lambda x: {"z": 2.0 * x}, {"x": (3,)}))
    one, other = Called(), Called()
    builtin = kernel.builtin(lambda *a: ("builtin", a), [], "f", "")
    Called.keep = builtin  # the entry lives as long as its function
    enter(one, vectorcall(builtin))
    np.testing.assert_array_equal(one(np.ones(3)), 2.0 * np.ones(3))
    assert one(1) == ("builtin", (1,)) and other(1) == ("general", (1,))


# ---------------------------------------------------------------------------------------------- references


class Pair(NamedTuple):
    a: Any
    b: Any


@needs_builtin
def test_calls_of_every_kind_leave_the_counts_of_references_as_they_were(scaled):
    hidden, slow = np.array(2.0), lambda *a, **k: None
    single = scaled.builtin(slow, [hidden], "f", "")
    several = two_outputs().builtin(slow, [], "f", "", Pair)
    x, y, out, bad, batch = np.ones(3), np.ones(3), np.empty(3), np.full(3, np.nan), np.ones((5, 3))
    scaled.call(batch, batch, hidden)  # from now on batches go through the builtin
    kept = (x, y, out, bad, batch, hidden, slow, single, several, Pair, np.ndarray, np.dtype(float), None)

    def calls() -> None:
        single(x, y), single(x, y, out=out), single(batch, batch), single(bad, y), single(x), single(x, y, wrong=out)
        several(x), several(bad), several([1.0]), several(batch)

    for _ in range(3):
        calls()
    before = [sys.getrefcount(thing) for thing in kept]
    for _ in range(200):
        calls()
    after = [sys.getrefcount(thing) for thing in kept]
    assert all(abs(new - old) < 100 for new, old in zip(after, before, strict=True))  # others may use None meanwhile


@needs_builtin
def test_an_error_of_the_general_way_leaves_the_counts_of_references_as_they_were(scaled):
    def slow(*arguments: Any, **options: Any) -> None:
        raise ValueError("no")

    call = scaled.builtin(slow, [np.array(2.0)], "f", "")
    x = np.ones(3)
    before = sys.getrefcount(x), sys.getrefcount(slow)
    for _ in range(100):
        with pytest.raises(ValueError, match="no"):
            call(x)
    assert (sys.getrefcount(x), sys.getrefcount(slow)) == before


class Owner:
    """Stands for a model."""


@needs_builtin
def test_a_model_that_is_gone_is_not_mistaken_for_one_at_its_place():
    @quick
    def answer(model: Any, x: Any) -> Any:
        return "general"

    owner = Owner()
    owner.server = lambda x: "its own"  # type: ignore[attr-defined]
    remember(answer, owner, owner.server)  # type: ignore[attr-defined]
    assert answer(owner, 1) == "its own" and answer(Owner(), 1) == "general" and answer(owner, x=1) == "general"
    del owner
    assert {answer(Owner(), 1) for _ in range(50)} == {"general"}  # one of them has the address of the last owner


# ---------------------------------------------------------------------------------------------- an unknown Python


def test_no_builtin_is_made_where_this_python_is_unknown(monkeypatch, scaled):
    def slow(*arguments: Any) -> str:
        return "general"

    for module in (kernel_module, builtin_module):
        monkeypatch.setattr(module, "available", lambda: "this Python is unknown")
    assert scaled.builtin(slow, [np.array(2.0)], "f", "") is slow
    with pytest.raises(CompileError, match=r"a builtin cannot be made: this Python is unknown\. Hint: call the Python"):
        builtin_module.Entry(scaled.program, None, slow, [np.array(2.0)], None)  # type: ignore[arg-type]


CALLS = """
import hashlib, json, sys
import numpy as np
if sys.argv[1] == "unknown":
    sys.implementation.name = "other"
import gyrostat as gs
from gyrostat.engine.cpython.direct import Direct
from gyrostat.engine.cpython.layout import available

model = gs.robots.two_link()
q, v, a = np.array([0.3, 0.5]), np.array([1.0, -0.5]), np.array([0.1, 2.0])
batch = [np.stack([x, 2.0 * x, 3.0 * x]) for x in (q, v, a)]
results = {}


def keep(name, value):
    parts = value if isinstance(value, tuple) else (value,)
    results[name] = hashlib.sha256(b"".join(np.asarray(x, dtype=float).tobytes() for x in parts)).hexdigest()


for name in ("rnea", "aba", "rnea_derivatives", "aba_derivatives"):
    for _ in range(3):  # the first call makes the solver, later ones may be quick
        keep(f"{name}, one state", getattr(gs, name)(model, q, v, a))
    keep(f"{name}, batch", getattr(gs, name)(model, *batch))
    keep(f"{name}, lists", getattr(gs, name)(model, q.tolist(), v.tolist(), a.tolist()))
for name in ("crba", "gravity", "inverse_mass_matrix", "potential_energy", "centroidal_matrix", "center_of_mass"):
    for _ in range(2):
        keep(name, getattr(gs, name)(model, q))
for name in ("bias", "coriolis", "kinetic_energy", "centroidal_momentum"):
    for _ in range(2):
        keep(name, getattr(gs, name)(model, q, v))
keep("fk", tuple(frame.p for frame in gs.fk(model, q, v).values()))
body = next(name for name, entity in model.wiring.entities.items() if getattr(entity, "mass", 0.0) > 0.0)
solver = gs.InverseDynamics(model, live=[f"{body}.mass"])
keep("solver", solver(q, v, a))
keep("solver again", solver(q, v, a))
keep("solver, out", solver(q, v, a, out=np.empty(2)))
keep("solver, batch", solver(*batch))
keep("solver, Jacobian", solver.jacobian("tau", "v")(q, v, a))
keep("solver, live", solver.jacobian("tau", f"{body}.mass")(q, v, a))
keep("simulate", tuple(gs.simulate(model, q0=q, v0=v, t_end=0.05).q[-1]))
keep("simulate, implicit", tuple(gs.simulate(model, q0=q, v0=v, t_end=0.05, method="generalised_alpha", dt=0.01).q[-1]))
keep("rollout", gs.rollout(model, q0=batch[0], v0=batch[1], steps=5).q)
print(json.dumps({"why": available(), "general class": Direct.__name__ == "_Plain", "results": results}))
"""


@pytest.mark.slow
@needs_builtin
def test_every_public_call_gives_the_same_bits_where_this_python_is_unknown(tmp_path):
    answers = {}
    for python in ("known", "unknown"):
        environment = os.environ | {"GYROSTAT_CACHE": str(tmp_path)}
        command = [sys.executable, "-c", CALLS, python]
        process = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert process.returncode == 0, process.stderr
        answers[python] = json.loads(process.stdout)
    assert answers["known"]["why"] == "" and not answers["known"]["general class"]
    assert answers["unknown"]["why"] == "this Python is other, not CPython" and answers["unknown"]["general class"]
    assert answers["known"]["results"] == answers["unknown"]["results"]
