"""When the fast way is closed: other ways, other functions, copies, threads, and what is left when solvers go."""

from __future__ import annotations

import copy
import ctypes
import gc
import math
import os
import pickle
import subprocess
import sys
import sysconfig
import textwrap
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.engine.cpython import layout as layout_module
from gyrostat.engine.cpython.layout import available
from gyrostat.errors import GyrostatError, NonFiniteError, RecordError, ShapeError
from gyrostat.solvers.machinery import machine_call as fast
from tests.support.comparing import assert_close
from tests.support.random_models import random_state

needs_builtin = pytest.mark.skipif(bool(available()), reason=f"no builtins: {available()}")


def states(model: gs.Model, n: int, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [np.array(x) for x in zip(*(random_state(model, rng) for _ in range(n)), strict=True)]


def state(model: gs.Model, seed: int = 0) -> list[np.ndarray]:
    return [x[0].copy() for x in states(model, 1, seed)]


def calls_machine_code(solver: object) -> bool:
    return type(type(solver).__dict__.get("__call__")) is type(len)


# ---------------------------------------------------------------------------------------------- without builtins


@pytest.fixture
def no_builtins(monkeypatch):
    monkeypatch.setattr(fast, "available", lambda: "this Python is unknown")
    monkeypatch.setattr("gyrostat.solvers.machinery.solver.available", lambda: "this Python is unknown")


def test_everything_works_without_builtins(no_builtins):
    model = gs.robots.tree(3, 4, base="free")
    solver, plain = gs.InverseDynamics(model, live=["body1.mass"]), gs.InverseDynamics(model, mode="interpret")
    x = state(model)
    assert_close(solver(*x), plain(*x), 1e-13)
    assert not calls_machine_code(solver)
    out = np.empty(model.nv)
    assert solver(*x, out=out) is out
    np.testing.assert_array_equal(out, solver(*x))
    np.testing.assert_array_equal(solver(*(e[None] for e in x))[0], out)
    J = solver.jacobian("tau", "v")
    assert J(*x).shape == (model.nv, model.nv) and not calls_machine_code(J)
    assert J(*x, out=np.empty((model.nv, model.nv))).shape == (model.nv, model.nv)
    new = model.replace({"body1.mass": 5.0})
    solver.refresh(new)
    assert_close(solver(*x), gs.InverseDynamics(new, mode="interpret")(*x), 1e-13)
    with pytest.raises(NonFiniteError):
        solver(x[0] * np.nan, *x[1:])
    assert "single calls take the general path: this Python is unknown" in solver.explain()
    assert_close(gs.rnea(model, *x), plain(*x), 1e-13)
    assert_close(
        gs.fk(model, x[0])["body2.tip"].p, gs.ForwardKinematics(model, mode="interpret")(x[0])["body2.tip"].p, 1e-13
    )


@needs_builtin
def test_results_with_and_without_builtins_have_the_same_bits(no_builtins, monkeypatch):
    model = gs.robots.tree(4, 3)
    x = state(model)
    without = gs.InverseDynamics(model)(*x)
    monkeypatch.undo()
    solver = gs.InverseDynamics(model)
    np.testing.assert_array_equal(solver(*x), without)
    assert calls_machine_code(solver)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda m: m.setattr(sys.implementation, "name", "pypy"), "this Python is pypy, not CPython"),
        (lambda m: m.setattr(sysconfig, "get_config_var", lambda name: 1), "this Python is free-threaded"),
        (lambda m: m.setattr(sys, "gettotalrefcount", lambda: 0, raising=False), "this Python is a debug build"),
        (lambda m: m.setattr(ctypes, "sizeof", lambda kind: 4), "not a 64-bit little-endian one"),
        (lambda m: m.setattr(sys, "byteorder", "big"), "not a 64-bit little-endian one"),
        (lambda m: m.setattr(sys, "platform", "win32"), "the calling convention of Windows"),
        (lambda m: m.setattr(layout_module, "_interpreter", lambda: 1), "this is not the main interpreter"),
        (lambda m: m.setattr(layout_module, "DATA", 4), "the fields of NumPy arrays are not where they are expected"),
        (lambda m: m.setattr(layout_module, "DESCR", 6), "the fields of NumPy arrays are not where they are expected"),
        (lambda m: m.setattr(layout_module, "ND", 2), "the fields of NumPy arrays are not where they are expected"),
        (
            lambda m: m.setattr(layout_module, "WRITEABLE", 1),
            "the flags of NumPy arrays are not where they are expected",
        ),
        (lambda m: m.setattr(layout_module, "new_array", _no_api), "NumPy's internals are unknown (no PyArray_New)"),
    ],
)
def test_an_unknown_python_is_recognised(monkeypatch, change, reason):
    available.cache_clear()
    try:
        change(monkeypatch)
        told = available()
    finally:
        monkeypatch.undo()
        available.cache_clear()
    assert reason in told


def _no_api():
    raise ValueError("no PyArray_New")


# ---------------------------------------------------------------------------------------------- gravity as a function


def recordable(p):
    return np.array([0.1 * p[1], 0.0, -9.81 / (1.0 + p[2] * p[2]) + np.sin(p[0])])


def with_norm(p):
    r = p - np.array([0.0, 0.0, -10.0])
    return -r / np.sqrt(r @ r) ** 3


def by_math(p):
    return [0.0, 0.0, -9.81 * math.exp(-p[2])]


def by_branch(p):
    return [0.0, 0.0, -9.81 if p[2] > 0.0 else -1.62]


def by_interpolation(p):
    return [0.0, 0.0, np.interp(p[2], [-1.0, 0.0, 1.0], [-9.0, -9.8, -10.0])]


def by_lookup(p):
    return [0.0, 0.0, {0: -9.81}.get(int(p[2] > 100.0), -1.0)]


def by_formatting(p):
    return [0.0, 0.0, -float(f"{p[2] + 9.81:.6f}")]


def by_clipping(p):
    return np.array([0.0, 0.0, -np.clip(p[2] + 9.0, 8.0, 10.0)])


def by_unknown_function(p):
    return np.array([0.0, 0.0, -np.hypot(p[0], 9.81)])


def by_assertion(p):
    if not isinstance(p[2], float):
        raise RuntimeError("floats, please")
    return [0.0, 0.0, -9.81 + p[2]]


FIELDS = [recordable, with_norm, by_math, by_branch, by_interpolation, by_lookup, by_formatting, by_clipping]
FIELDS += [by_unknown_function, by_assertion]


@pytest.mark.parametrize("field", FIELDS)
def test_fields_of_gravity_are_recorded_or_else_interpreted(field):
    model = gs.robots.tree(5, 3, kinds=("revolute", "prismatic"), gravity=field)
    solver, plain = gs.InverseDynamics(model), gs.InverseDynamics(model, mode="interpret")
    x = states(model, 4)
    assert_close(solver(*x), plain(*x), 1e-12)
    one = [e[1].copy() for e in x]
    assert_close(solver(*one), plain(*one), 1e-12)
    out = np.empty(model.nv)
    assert solver(*one, out=out) is out
    assert_close(out, plain(*one), 1e-12)
    forces, want = solver.port_forces(*x), plain.port_forces(*x)
    assert_close(forces["body1.origin"], want["body1.origin"], 1e-12)
    if field in (recordable, with_norm, by_clipping):
        assert solver.mode == "compile" and "interpreted" not in solver.explain()
        assert solver.jacobian("tau", "q")(*one).shape == (model.nv, model.nq)
    else:
        assert solver.mode == "interpret" and "interpreted: " in solver.explain()
        assert "cannot be recorded" in solver.why_interpreted
        with pytest.raises(RecordError, match="cannot be recorded"):
            solver.jacobian("tau", "q")
        with pytest.raises(RecordError, match="cannot be recorded"):
            solver.casadi()


def test_a_single_call_first_falls_back_too():
    model = gs.robots.tree(5, 3, kinds=("revolute",), gravity=by_branch)
    x = state(model)
    solver = gs.InverseDynamics(model)
    assert_close(solver(*x), gs.InverseDynamics(model, mode="interpret")(*x), 1e-13)
    assert solver.mode == "interpret" and solver.why_interpreted.count("test_fallbacks.py:") == 1


@pytest.mark.parametrize("wrong", [lambda p: [0.0, 0.0], lambda p: np.zeros((3, 1)), lambda p: None])
def test_fields_of_gravity_of_the_wrong_shape_are_told(wrong):
    model = gs.robots.tree(5, 2, kinds=("revolute",), gravity=wrong)
    with pytest.raises(ShapeError, match="gravity field"):
        gs.InverseDynamics(model)(*state(model))


def test_fields_of_gravity_that_are_not_finite_are_told():
    model = gs.robots.tree(5, 2, kinds=("revolute",), gravity=lambda p: p * np.inf)
    with pytest.raises(GyrostatError):
        gs.InverseDynamics(model)(*state(model))


def test_errors_of_a_field_of_gravity_itself_come_through():
    def broken(p):
        raise ZeroDivisionError("mine")

    model = gs.robots.tree(5, 2, kinds=("revolute",), gravity=broken)
    with pytest.raises(ZeroDivisionError, match="mine"):
        gs.InverseDynamics(model)(*state(model))


# ---------------------------------------------------------------------------------------------- moving bases


def spinning(t):
    """About z with 2 rad/s, while it rises with 1 m/s: V in the axes of the base."""
    c, s = math.cos(2.0 * t), math.sin(2.0 * t)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]]), [0.0, 0.0, t], [0.0, 0.0, 2.0, 0.0, 0.0, 1.0], np.zeros(6)


HARMONIC = gs.HarmonicMotion(velocity=(0, 0, 1), axis=(0, 0, 1), rate=2.0)


def test_a_base_that_moves_by_a_function_is_the_same_as_by_its_law():
    tree = gs.robots.tree(6, 3, kinds=("revolute", "prismatic"))
    moving, lawful = (tree.replace({"context.base": base}) for base in (spinning, HARMONIC))
    x, t = states(tree, 5), np.linspace(0.0, 2.0, 5)
    want = gs.InverseDynamics(lawful)(*x, t=t)
    solver = gs.InverseDynamics(moving)
    assert_close(solver(*x, t=t), want, 1e-12)
    assert_close(gs.InverseDynamics(moving, mode="interpret")(*x, t=t), want, 1e-12)
    assert_close(solver(*(e[2] for e in x), t=t[2]), want[2], 1e-12)
    assert_close(solver(*(e[0] for e in x), t=t)[0], want[0], 1e-12)
    assert solver(*x[:1], *(e[0] for e in x[1:]), t=np.zeros((2, 1))).shape == (2, 5, tree.nv)
    assert solver(*(e[:0] for e in x), t=np.zeros(0)).shape == (0, tree.nv)
    p = gs.ForwardKinematics(moving)(*x, t=t)["body1"].p
    assert_close(p, gs.ForwardKinematics(lawful)(*x, t=t)["body1"].p, 1e-12)


@pytest.mark.parametrize("base", [spinning, HARMONIC])
@pytest.mark.parametrize("mode", ["compile", "interpret"])
def test_a_moving_base_needs_the_time(base, mode):
    model = gs.robots.pendulum().replace({"context.base": base})
    with pytest.raises(gs.StateError, match=r"the base of 'pendulum' moves with time\. Hint: give t="):
        gs.InverseDynamics(model, mode=mode)([0.1], [0.2], [0.3])
    with pytest.raises(gs.StateError, match="t must be finite"):
        gs.InverseDynamics(model, mode=mode)([0.1], [0.2], [0.3], t=np.nan)


@pytest.mark.parametrize(
    ("motion", "message"),
    [
        (lambda t: None, r"expected \(R, p, V, A\)"),
        (lambda t: (np.eye(3), np.zeros(2), np.zeros(6), np.zeros(6)), r"p has shape \(2,\), expected \(3,\)"),
        (lambda t: (np.eye(3), np.zeros(3) * np.nan, np.zeros(6), np.zeros(6)), "p is not finite"),
        (lambda t: (2.0 * np.eye(3), np.zeros(3), np.zeros(6), np.zeros(6)), "R is not a rotation matrix"),
    ],
)
@pytest.mark.parametrize("mode", ["compile", "interpret"])
def test_wrong_motions_of_the_base_are_told(motion, message, mode):
    model = gs.robots.pendulum().replace({"context.base": motion})
    with pytest.raises(GyrostatError, match=message):
        gs.InverseDynamics(model, mode=mode)([0.1], [0.2], [0.3], t=0.5)


# ---------------------------------------------------------------------------------------------- copies and pickles

DUPLICATES = {"copy": copy.copy, "deepcopy": copy.deepcopy, "pickle": lambda x: pickle.loads(pickle.dumps(x))}
duplicates = pytest.mark.parametrize("duplicate", DUPLICATES.values(), ids=list(DUPLICATES))


@duplicates
@pytest.mark.parametrize("used", [False, True])
def test_a_duplicate_of_a_solver_is_a_solver(duplicate, used):
    model = gs.robots.tree(7, 3)
    solver = gs.InverseDynamics(model, "absolute", rules=("merge-bodies",), live=["body1.mass"])
    x = state(model)
    want = gs.InverseDynamics(model, "absolute", rules=("merge-bodies",), live=["body1.mass"])(*x)
    if used:
        solver(*x), solver.jacobian("tau", "q")
    other = duplicate(solver)
    assert isinstance(other, gs.InverseDynamics) and other is not solver
    assert (other.representation, other.live, other.mode) == ("absolute", ("body1.mass",), "compile")
    np.testing.assert_array_equal(other(*x), want)
    other.refresh(model.replace({"body1.mass": 9.0}))
    np.testing.assert_array_equal(solver(*x), want)  # it has live properties of its own
    assert np.abs(other(*x) - want).max() > 1e-3


@needs_builtin
def test_a_solver_does_not_depend_on_the_life_of_its_copy():
    model = gs.robots.pendulum()
    solver = gs.InverseDynamics(model)
    solver.main_kernel()
    x = state(model)
    other = copy.copy(solver)
    want = solver(*x), other(*x)
    del other
    gc.collect()
    rubbish = [bytearray(48) for _ in range(10000)]
    np.testing.assert_array_equal(solver([*x[0]], *x[1:]), want[0])  # by the slow path
    with pytest.raises(ShapeError):
        solver(None, *x[1:])
    del rubbish


@duplicates
def test_a_duplicate_of_kinematics_and_of_derivatives_work(duplicate):
    model = gs.robots.tree(7, 3)
    x = state(model)
    kinematics = gs.ForwardKinematics(model, frames=["body1.tip"])
    kinematics(*x)
    found = duplicate(kinematics)(*x)
    assert list(found) == ["body1.tip"]
    np.testing.assert_array_equal(found["body1.tip"].A, kinematics(*x)["body1.tip"].A)
    J = gs.InverseDynamics(model).jacobian("tau", "q")
    want = J(*x)
    other = duplicate(J)
    np.testing.assert_array_equal(other(*x), want)
    np.testing.assert_array_equal(other.pattern, J.pattern)
    along = gs.InverseDynamics(model).directional("tau", "v")
    np.testing.assert_array_equal(duplicate(along)(*x, x[1]), along(*x, x[1]))


@duplicates
def test_a_duplicate_of_a_model_that_was_used_is_equal_and_works(duplicate):
    model = gs.robots.tree(8, 3, base="free")
    x = state(model)
    want = gs.rnea(model, *x)
    gs.fk(model, x[0])
    other = duplicate(model)
    assert other == model and hash(other) == hash(model)
    np.testing.assert_array_equal(gs.rnea(other, *x), want)
    if duplicate is not copy.copy:
        assert gs.rnea(other, *x) is not None and other.__dict__["_solvers"] is not model.__dict__["_solvers"]


def test_a_pickled_solver_works_in_another_process(tmp_path):
    model = gs.robots.tree(7, 3)
    solver = gs.InverseDynamics(model)
    x = state(model)
    want = solver(*x)
    (tmp_path / "solver").write_bytes(pickle.dumps((solver, x)))
    script = (
        "import pickle, sys\n"
        f"solver, x = pickle.loads(open({str(tmp_path / 'solver')!r}, 'rb').read())\n"
        "print(solver(*x).tobytes().hex())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == want.tobytes().hex()


def test_a_solver_with_a_function_that_cannot_be_pickled_says_so():
    solver = gs.InverseDynamics(gs.robots.tree(5, 2, gravity=lambda p: p))
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(solver)
    assert copy.copy(solver).model is solver.model


# ---------------------------------------------------------------------------------------------- threads


def test_many_threads_may_call_one_solver_at_once():
    model = gs.robots.tree(9, 4, base="free")
    x = states(model, 40)
    want = gs.InverseDynamics(model, live=["body1.mass"])(*x)
    solver = gs.InverseDynamics(model, live=["body1.mass"])
    begin = threading.Barrier(8)
    wrong: list[object] = []

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        begin.wait()  # all make the first call together
        for _ in range(150):
            k = int(rng.integers(40))
            form = int(rng.integers(4))
            if form == 0:
                got = solver(*(e[k].copy() for e in x))
            elif form == 1:
                got = solver(*(e[k].copy() for e in x), out=np.empty(model.nv))
            elif form == 2:
                got = solver(*(e[k].tolist() for e in x))
            else:
                got = solver(*x, threads=int(rng.integers(1, 4)))[k]
            if not np.array_equal(got, want[k]):
                wrong.append((k, form))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert wrong == []


@needs_builtin
def test_many_threads_may_make_the_first_call_together():
    """Each makes a builtin; whichever stays must not depend on those that go."""
    model = gs.robots.pendulum()
    for _ in range(10):
        solver = gs.InverseDynamics(model)
        solver.main_kernel()
        begin = threading.Barrier(6)

        def first(k, solver=solver, begin=begin):
            begin.wait()
            return solver(np.array([0.1 * k]), np.ones(1), np.ones(1))[0]

        with ThreadPoolExecutor(6) as pool:
            found = list(pool.map(first, range(6)))
        gc.collect()
        rubbish = [bytearray(48) for _ in range(2000)]
        again = [solver([0.1 * k], [1.0], [1.0])[0] for k in range(6)]  # the slow path of the builtin that stayed
        assert found == again
        assert type(solver).__mro__[1] is gs.InverseDynamics
        del rubbish


# ---------------------------------------------------------------------------------------------- what is left


@needs_builtin
def test_solvers_and_their_code_are_freed():
    model = gs.robots.chain(2)
    x = state(model)
    solver = gs.InverseDynamics(model)
    solver(*x), solver(*(e[None] for e in x)), solver.jacobian("tau", "q")(*x)
    kernel = solver.main_kernel()
    watched = [weakref.ref(o) for o in (solver, kernel, *kernel.codes().values(), solver.jacobian("tau", "q").kernel)]
    watched.append(weakref.ref(type(solver)))
    assert len(kernel.codes()) == 2
    del solver, kernel
    gc.collect()
    assert [w() for w in watched] == [None] * len(watched)


@needs_builtin
def test_the_memory_of_many_solvers_is_given_back():
    resource = pytest.importorskip("resource")
    model = gs.robots.chain(2)
    x = state(model)

    def some(n: int) -> int:
        for _ in range(n):
            gs.InverseDynamics(model)(*x)
        gc.collect()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = some(10)
    unit = 1 if sys.platform == "darwin" else 1024
    assert (some(60) - before) * unit < 60 * 200_000  # kept, each would take more


@needs_builtin
def test_a_builtin_that_outlives_its_solver_is_safe():
    model = gs.robots.chain(2)
    x = state(model)
    solver = gs.InverseDynamics(model, live=["link1.mass"])
    want = solver(*x)
    call = type(solver).__dict__["__call__"]
    del solver
    gc.collect()
    rubbish = [np.full(9, np.nan) for _ in range(1000)]
    np.testing.assert_array_equal(call(*x), want)
    np.testing.assert_array_equal(call(*(e.tolist() for e in x)), want)
    with pytest.raises(NonFiniteError):
        call(x[0] * np.nan, *x[1:])
    del rubbish


@needs_builtin
def test_the_definition_of_a_builtin_outlives_it_in_the_garbage_collector(tmp_path):
    """The collector empties objects in any order; what CPython reads when a builtin goes must still be there."""
    script = """
        import gc
        import numpy as np
        import gyrostat as gs

        model = gs.robots.pendulum()
        x = np.array([0.3])
        gc.disable()
        for _ in range(10):
            solver = gs.InverseDynamics(model)
            solver(x, x, x)
            del solver
            gc.collect()
        print("alive")
    """
    file = tmp_path / "rounds.py"
    file.write_text(textwrap.dedent(script))
    # glibc fills freed memory with 2: a definition that is read too late has a flag set that sends CPython astray
    environment = os.environ | {"PYTHONMALLOC": "malloc", "MALLOC_PERTURB_": "2"}
    done = subprocess.run([sys.executable, "-X", "faulthandler", file], capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stdout) == (0, "alive\n"), done.stderr


def test_old_variants_of_a_solver_make_room_for_new_ones(monkeypatch):
    monkeypatch.setattr("gyrostat.solvers.machinery.solver.VARIANTS", 3)
    model = gs.robots.chain(3)
    x = state(model)
    solver, plain = gs.InverseDynamics(model), gs.InverseDynamics(model, mode="interpret")
    for places in (["link1"], ["link2"], ["link3"], ["link1", "link2"], ["link1"]):
        wrenches = {name: np.arange(6.0) for name in places}
        assert_close(solver(*x, wrenches), plain(*x, wrenches), 1e-12)
        assert len(solver._kernels) <= 3
    assert_close(solver(*x), plain(*x), 1e-13)
