"""Reverse and forward mode over the nodes of programs: against CasADi, differences, and each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
import pytest

import gyrostat as gs
from gyrostat.engine.kernel import Kernel
from gyrostat.engine.tracing.casadi_functions import to_casadi
from gyrostat.engine.tracing.choose import maximum, where
from gyrostat.engine.tracing.derivative import directional, pullback, pushforward
from gyrostat.engine.tracing.local_derivatives import CHOICES, FLAT, SMOOTH
from gyrostat.engine.tracing.operations import BY_NAME, INPUT, OPERATIONS
from gyrostat.engine.tracing.program import Program, run
from gyrostat.engine.tracing.record import record
from gyrostat.engine.tracing.recording_scalar import general
from gyrostat.engine.tracing.replay import inlined
from gyrostat.errors import NonFiniteError, ShapeError
from tests.support.comparing import assert_close, central
from tests.support.random_models import random_state
from tests.support.random_programs import random_program

# ---------------------------------------------------------------------------------------------- oracles


def by_casadi(program: Program, x: Sequence[Any], bar: dict[str, np.ndarray], wrt: Sequence[str]) -> list[np.ndarray]:
    """sum over outputs of (d out / d in)^T bar by CasADi's reverse mode, for each input of ``wrt``; arrays of one
    axis."""
    function = to_casadi(program)
    symbols = [ca.SX.sym(name, function.size_in(k)) for k, name in enumerate(function.name_in())]
    results = dict(zip([s.name for s in program.outputs], function.call(symbols), strict=True))
    chosen = ca.vertcat(*(symbols[[s.name for s in program.inputs].index(name)] for name in wrt))
    total = ca.jtimes(ca.vertcat(*(results[o] for o in bar)), chosen, np.concatenate(list(bar.values())), True)
    flat = np.array(ca.Function("vjp", symbols, [ca.densify(total)])(*x)).ravel()
    sizes = [s.size for name in wrt for s in program.inputs if s.name == name]
    return np.split(flat, np.cumsum(sizes)[:-1])


def by_differences(program: Program, x: Sequence[np.ndarray], along: dict[str, np.ndarray], h: float) -> dict[str, Any]:
    """Rates of all outputs along directions of inputs, by central differences of the interpreter."""
    names = [s.name for s in program.inputs]

    def outputs(t: float) -> np.ndarray:
        moved = [np.asarray(e, dtype=float) + t * along.get(n, 0.0) for n, e in zip(names, x, strict=True)]
        with np.errstate(all="ignore"):
            return np.concatenate([np.ravel(r) for r in run(program, *(m.ravel() for m in moved))])

    cuts = np.cumsum([s.size for s in program.outputs])[:-1]
    rates = np.split(central(outputs, 0.0, h), cuts)
    return {s.name: r.reshape(s.shape) for s, r in zip(program.outputs, rates, strict=True)}


def both_ways(program: Program, x: Sequence[Any], of: Sequence[str], wrt: Sequence[str], seed: int = 0) -> Any:
    """(weights, weights of inputs by the pullback, directions, rates of outputs by the pushforward), compiled."""
    rng = np.random.default_rng(seed)
    shape = {s.name: s.shape for s in [*program.inputs, *program.outputs]}
    bar, dot = {o: rng.normal(size=shape[o]) for o in of}, {i: rng.normal(size=shape[i]) for i in wrt}
    back = Kernel(pullback(program, of, wrt)).call(*x, *bar.values())
    along = Kernel(pushforward(program, of, wrt)).call(*x, *dot.values())
    return bar, [back[f"bar_{i}"] for i in wrt], dot, [along[f"dot_{o}"] for o in of]


def assert_transposes(bar: Any, back: Any, dot: Any, along: Any, tolerance: float = 1e-12) -> None:
    """bar . (J dot) = (J^T bar) . dot."""
    one = sum(np.vdot(b, r) for b, r in zip(bar.values(), along, strict=True))
    size = sum(np.abs(b * r).sum() for b, r in zip(bar.values(), along, strict=True))
    assert abs(one - sum(np.vdot(b, d) for b, d in zip(back, dot.values(), strict=True))) <= tolerance * max(1.0, size)


# ---------------------------------------------------------------------------------------------- every operation

# where every operation is differentiated: on both sides of what is not smooth, in all quadrants
PLACES: dict[str, list[tuple[float, ...]]] = {
    "asin": [(0.7,), (-0.2,)],
    "acos": [(0.7,), (-0.2,)],
    "sqrt": [(0.7,), (3.0,)],
    "log": [(0.7,), (3.0,)],
    "pow": [(0.7, 0.4), (2.5, -1.3), (2.0, 3.0)],
    "fmod": [(0.7, 0.4), (-2.9, 0.7), (2.9, -0.7)],
    "select": [(1.0, 0.7, 0.4), (0.0, 0.7, 0.4), (-2.0, 0.3, 0.1)],
}
ONE = [(0.7,), (-1.3,), (2.2,)]
TWO = [(0.7, 0.4), (-0.3, 1.2), (0.5, -0.8), (-1.1, -0.6)]


def test_every_operation_has_one_rule():
    assert sorted([*SMOOTH, *CHOICES, *FLAT]) == sorted(op.name for op in OPERATIONS)


def gradient(program: Program, name: str, at: tuple[float, ...]) -> np.ndarray:
    """Derivatives of an operation by its operands, by differences; the condition of a choice has no influence."""
    if name == "select":
        return np.array([0.0, 1.0, 0.0] if at[0] else [0.0, 0.0, 1.0])
    return np.array([by_differences(program, [np.array(at)], {"x": e}, 1e-4)["z"][0] for e in np.eye(len(at))])


@pytest.mark.parametrize("name", [op.name for op in OPERATIONS])
def test_both_sweeps_differentiate_every_operation_like_differences_and_casadi(name):
    arity = BY_NAME[name].arity
    program = record(lambda x: {"z": [general(name, *x)]}, {"x": (arity,)})
    back, along = pullback(program, ["z"], ["x"]), pushforward(program, ["z"], ["x"])
    for at in PLACES.get(name, ONE if arity == 1 else TWO):
        want = gradient(program, name, at)
        assert_close(run(back, at, [1.5])[0], 1.5 * want, 1e-9)
        assert_close(Kernel(back).call(at, [1.5])["bar_x"], 1.5 * want, 1e-9)
        assert_close(by_casadi(program, [at], {"z": np.array([1.5])}, ["x"])[0], 1.5 * want, 1e-9)
        for direction in np.eye(arity):
            assert_close(run(along, at, direction)[0], [direction @ want], 1e-9)
            assert_close(Kernel(along).call(at, direction)["dot_z"], [direction @ want], 1e-9)


@pytest.mark.parametrize("name", [op.name for op in OPERATIONS if op.arity == 2])
@pytest.mark.parametrize("which", [0, 1])
def test_an_operand_may_be_a_constant(name, which):
    for at in PLACES.get(name, TWO):
        other = at[1 - which]
        program = record(
            lambda x, o=other: {"z": general(name, *((x[()], o) if which == 0 else (o, x[()])))}, {"x": ()}
        )
        want = by_differences(program, [np.array(at[which])], {"x": np.array(1.0)}, 1e-4)["z"]
        assert_close(run(pullback(program, ["z"], ["x"]), [at[which]], [2.0])[0], [2.0 * want], 1e-9)
        assert_close(run(pushforward(program, ["z"], ["x"]), [at[which]], [2.0])[0], [2.0 * want], 1e-9)


def test_constants_that_an_operation_cannot_take_make_no_trouble_before_they_are_used():
    outside = {"pow": (-2.0, np.nan), "log": (0.0, 0.0), "div": (0.0, np.inf)}
    given = {"pow": lambda x: (-2.0, x), "log": lambda x: (0.0, x), "div": lambda x: (x, 0.0)}
    for name, (_, want) in outside.items():
        operation = "pow" if name == "log" else name  # 0^x has the rate 0^x log 0
        program = record(lambda x, o=operation, n=name: {"z": general(o, *given[n](x[()]))}, {"x": ()})
        for sweep in (pullback, pushforward):
            np.testing.assert_equal(run(sweep(program, ["z"], ["x"]), [1.5], [1.0])[0], [want])


# ---------------------------------------------------------------------------------------------- random programs


@pytest.mark.by_default(8)
@pytest.mark.parametrize("seed", range(30))
def test_sweeps_over_random_programs_agree_with_casadi_and_with_differences(seed):
    program, rng = random_program(seed), np.random.default_rng(1000 + seed)
    x = [rng.normal(size=s.shape) for s in program.inputs]
    of, wrt = ["b", "a"], ["q", "p"]
    bar, back, dot, along = both_ways(program, x, of, wrt, seed)
    for got, want in zip(back, by_casadi(program, x, bar, wrt), strict=True):
        assert_close(got, want, 1e-12)
    for name, got in zip(of, along, strict=True):
        assert_close(got, Kernel(directional(program, name, wrt)).call(*x, *dot.values())[f"d{name}"], 1e-12)
        assert_close(got, by_differences(program, x, dot, 1e-6)[name], 1e-6)
    assert_transposes(bar, back, dot, along)


# ---------------------------------------------------------------------------------------------- robots

ROBOTS = {"lwr": gs.robots.kuka_lwr4, "free": lambda: gs.robots.tree(4, 5, base="free")}


@pytest.fixture(scope="module", params=[(robot, kind) for robot in ROBOTS for kind in ("rnea", "aba")], ids="-".join)
def robot(request) -> tuple[Program, list[np.ndarray], str]:
    name, kind = request.param
    model = ROBOTS[name]()
    solver = gs.InverseDynamics(model) if kind == "rnea" else gs.ForwardDynamics(model)
    x = random_state(model, np.random.default_rng(3))
    return solver.main_kernel().program, list(x), "tau" if kind == "rnea" else "a"


@pytest.mark.by_default(4)
def test_sweeps_over_robots_agree_with_casadi_and_with_differences(robot):
    program, x, of = robot
    wrt = [s.name for s in program.inputs]
    bar, back, dot, along = both_ways(program, x, [of], wrt)
    for got, want in zip(back, by_casadi(program, x, bar, wrt), strict=True):
        assert_close(got, want, 1e-10)
    assert_close(along[0], Kernel(directional(program, of, wrt)).call(*x, *dot.values())[f"d{of}"], 1e-10)
    assert_close(along[0], by_differences(program, x, dot, 1e-4)[of], 1e-8)
    assert_transposes(bar, back, dot, along)


def test_a_pullback_has_less_than_three_times_the_operations(robot):
    program, _, of = robot
    back = pullback(program, [of], [s.name for s in program.inputs])
    assert sum(back.counts().values()) < 3.0 * sum(program.counts().values())


@pytest.mark.by_default(2)
def test_columns_of_both_sweeps_are_the_jacobian(robot):
    program, x, of = robot
    J = np.array([Kernel(pushforward(program, [of], ["v"])).call(*x, e)[f"dot_{of}"] for e in np.eye(len(x[1]))]).T
    back = Kernel(pullback(program, [of], ["v"]))
    assert_close([back.call(*x, e)["bar_v"] for e in np.eye(len(J))], J, 1e-11)


def test_sweeps_can_be_swept_again():
    program = gs.InverseDynamics(gs.robots.chain(3)).main_kernel().program
    gradient = pullback(program, ["tau"], ["q"])
    q, v, a = (np.random.default_rng(k).normal(size=3) for k in range(3))
    bar = np.array([0.4, -1.0, 0.7])
    twice = Kernel(pullback(gradient, ["bar_q"], ["q"]))
    H = np.array([twice.call(q, v, a, bar, e)["bar_q"] for e in np.eye(3)])
    along = Kernel(pushforward(gradient, ["bar_q"], ["q"]))
    assert np.abs(H).max() > 0.1
    assert_close(H, H.T, 1e-12)
    assert_close([along.call(q, v, a, bar, e)["dot_bar_q"] for e in np.eye(3)], H, 1e-12)


def test_accelerations_pull_back_through_the_mass_matrix_and_inverse_dynamics():
    """M a + h = tau, so that bar_tau = M^-1 bar_a, and -bar_tau pulled back through the inverse dynamics gives bar_q
    and bar_v: fewer operations than the sweep over the articulated bodies."""
    model = gs.robots.kuka_lwr4()
    forces, accelerations = (s(model).main_kernel().program for s in (gs.InverseDynamics, gs.ForwardDynamics))
    inverse = pullback(forces, ["tau"], ["q", "v"])
    q, v, tau, bar = (np.random.default_rng(k).normal(size=7) for k in range(4))

    def function(q: Any, v: Any, tau: Any, bar: Any) -> dict[str, Any]:
        a = inlined(accelerations, q, v, tau)["a"]
        response = (
            inlined(accelerations, q, np.zeros(7), bar)["a"] - inlined(accelerations, q, np.zeros(7), 0.0 * q)["a"]
        )
        bars = inlined(inverse, q, v, a, -response)
        return {"bar_q": bars["bar_q"], "bar_v": bars["bar_v"], "bar_tau": response}

    got = Kernel(record(function, {"q": (7,), "v": (7,), "tau": (7,), "bar": (7,)})).call(q, v, tau, bar)
    want = Kernel(pullback(accelerations, ["a"], ["q", "v", "tau"])).call(q, v, tau, bar)
    for name, bars in want.items():
        assert_close(got[name], bars, 1e-11)


# ---------------------------------------------------------------------------------------------- programs in programs


def test_a_program_inside_another_recording_is_the_same_function():
    inner = record(
        lambda x, A: {"y": A @ np.sin(x), "n": x[0] / x[1], "guard": [np.log(x[0])]}, {"x": (2,), "A": (2, 2)}, "inner"
    )
    outer = record(lambda z: inlined(inner, z * 2.0, [[1, 2], [3, 4]]), {"z": (2,)})
    got = Kernel(outer).call([0.3, 0.4])
    assert list(got) == ["y", "n"]
    assert_close(got["y"], np.array([[1.0, 2.0], [3.0, 4.0]]) @ np.sin([0.6, 0.8]), 1e-15)
    assert_close(got["n"], 0.75, 1e-15)
    with pytest.raises(NonFiniteError, match="a guard is not finite"):
        Kernel(outer).call([-0.3, 0.4])
    assert inlined(inner, [1.0, 2.0], np.eye(2))["n"] == 0.5
    with pytest.raises(ShapeError, match=r"'inner' inside another recording: inputs have shapes \[\(2,\)\], expected"):
        inlined(inner, [1.0, 2.0])


def test_what_turns_out_to_be_constant_has_no_derivative():
    two = record(lambda x, y: {"z": [np.sqrt(x[0] - y[0]) + x[0], x[0] / y[0]]}, {"x": (1,), "y": (1,)})
    nodes = tuple((code, 0, *rest) if code == INPUT else (code, x, *rest) for code, x, *rest in two.nodes)
    program = replace(two, inputs=two.inputs[:1], nodes=nodes)  # x - x, x / x: both inputs are the same
    np.testing.assert_array_equal(run(pullback(program, ["z"], ["x"]), [2.0], [3.0, 5.0])[0], [3.0])
    np.testing.assert_array_equal(run(pushforward(program, ["z"], ["x"]), [2.0], [3.0])[0], [3.0, 0.0])


# ---------------------------------------------------------------------------------------------- choices


def test_a_choice_passes_nothing_to_what_it_did_not_take_even_if_that_is_singular():
    def function(x: Any) -> dict[str, Any]:
        root = where(x[0] > 0.0, np.sqrt(x[0]) * x[1], 3.0 * x[1])
        ratio = where(x[2] * x[2] < 1e-8, 1.0 - x[2] * x[2] / 6.0, np.sin(x[2]) / x[2])
        log = maximum(x[1] * np.log(x[0] * x[0]), 2.0 * x[2])
        return {"z": [root, ratio, log]}

    program = record(function, {"x": (3,)})
    back, along = Kernel(pullback(program, ["z"], ["x"])), Kernel(pushforward(program, ["z"], ["x"]))
    J = [[0.0, 3.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 2.0]]
    x = [0.0, 0.5, 0.0]
    np.testing.assert_array_equal([back.call(x, e)["bar_x"] for e in np.eye(3)], J)
    np.testing.assert_array_equal([along.call(x, e, nonfinite="return")["dot_z"][0] for e in np.eye(3)[1:]], [3.0, 0.0])
    smooth = np.array([0.4, -0.5, 0.3])
    bar, got, dot, rates = both_ways(program, [smooth], ["z"], ["x"])
    assert_close(got, by_casadi(program, [smooth], bar, ["x"]), 1e-13)
    assert_transposes(bar, got, dot, rates)


def test_where_the_choice_takes_it_a_singularity_is_told():
    program = record(lambda x: {"z": where(x[()] >= 0.0, np.sqrt(x[()]), 0.0)}, {"x": ()})
    with pytest.raises(NonFiniteError, match="'bar_x' is not finite"):
        Kernel(pullback(program, ["z"], ["x"])).call(0.0, 1.0)


def test_powers_have_no_infinite_rate_where_they_are_constant():
    program = record(lambda x, y: {"z": general("pow", x[()], y[()])}, {"x": (), "y": ()})
    back = Kernel(pullback(program, ["z"], ["x", "y"]))
    assert back.call(0.0, 2.0, 1.0) == {"bar_x": 0.0, "bar_y": 0.0}
    assert back.call(0.0, 0.0, 1.0) == {"bar_x": 0.0, "bar_y": 0.0}


# ---------------------------------------------------------------------------------------------- programs


def test_names_and_shapes_follow_those_of_the_program():
    program = record(
        lambda A, x, c: {"B": A * x[0], "y": A @ x, "n": c * 2.0}, {"A": (2, 3), "x": (3,), "c": ()}, "some"
    )
    back, along = pullback(program, ["y", "B"], ["x", "A"]), pushforward(program, ["B", "n"], ["A"], primal=True)
    named = lambda slots: {s.name: s.shape for s in slots}  # noqa: E731
    assert list(named(back.inputs).items()) == [*named(program.inputs).items(), ("bar_y", (2,)), ("bar_B", (2, 3))]
    assert list(named(back.outputs).items()) == [("bar_x", (3,)), ("bar_A", (2, 3))]
    assert list(named(along.inputs).items()) == [*named(program.inputs).items(), ("dot_A", (2, 3))]
    assert list(named(along.outputs).items()) == [("B", (2, 3)), ("n", ()), ("dot_B", (2, 3)), ("dot_n", ())]
    assert (back.name, along.name) == ("some_pullback", "some_pushforward")
    A, x, Bb, yb = np.arange(6.0).reshape(2, 3), np.array([2.0, -1.0, 0.5]), np.ones((2, 3)), np.array([3.0, 7.0])
    got = Kernel(back).call(A, x, 5.0, yb, Bb)
    np.testing.assert_allclose(got["bar_A"], Bb * x[0] + np.outer(yb, x), rtol=1e-15)
    np.testing.assert_allclose(got["bar_x"], A.T @ yb + np.array([np.sum(A * Bb), 0.0, 0.0]), rtol=1e-15)
    rates = Kernel(along).call(A, x, 5.0, Bb)
    np.testing.assert_array_equal(rates["B"], A * 2.0)
    np.testing.assert_array_equal(rates["dot_B"], Bb * 2.0)
    assert (rates["n"], rates["dot_n"]) == (10.0, 0.0)


def test_primal_outputs_are_those_of_the_program():
    program = gs.ForwardDynamics(gs.robots.kuka_lwr4()).main_kernel().program
    along = Kernel(pushforward(program, ["a"], ["tau"], primal=True))
    x = [np.random.default_rng(k).normal(size=7) for k in range(4)]
    np.testing.assert_allclose(along.call(*x)["a"], Kernel(program).call(*x[:3])["a"], rtol=1e-13)


def test_what_an_input_has_no_influence_on_is_zero_without_any_operation():
    program = record(lambda x, y: {"a": [x * x, np.floor(y), 3.0], "b": y * x}, {"x": (), "y": ()})
    back = pullback(program, ["a"], ["y", "x"])
    assert back.fixed(0) == {0: 0.0}
    assert back.counts() == {"add": 1, "mul": 1}  # x bar, twice
    along = pushforward(program, ["a"], ["y"])
    assert along.fixed(0) == {0: 0.0, 1: 0.0, 2: 0.0} and along.counts() == {}


def test_an_output_that_is_an_input_passes_its_weight_on():
    program = record(lambda x: {"a": x, "b": [x[1], x[1], 2.0]}, {"x": (2,)})
    got = Kernel(pullback(program, ["a", "b"], ["x"])).call([1.0, 2.0], [3.0, 4.0], [10.0, 20.0, 30.0])
    np.testing.assert_array_equal(got["bar_x"], [3.0, 34.0])


def test_empty_inputs_and_outputs_stay_empty():
    program = record(lambda x, e: {"y": x * 2.0, "n": np.zeros(0)}, {"x": (2,), "e": (0,)})
    got = Kernel(pullback(program, ["n", "y"], ["e", "x"])).call([1.0, 2.0], [], [], [3.0, 4.0])
    assert got["bar_e"].shape == (0,)
    np.testing.assert_array_equal(got["bar_x"], [6.0, 8.0])


def test_guards_of_the_program_stay_guards():
    program = record(lambda x: {"z": x * 2.0, "guard": [np.log(x)]}, {"x": ()})
    for derived in (pullback(program, ["z"], ["x"]), pushforward(program, ["z"], ["x"])):
        assert Kernel(derived).call(1.0, 1.0)[derived.outputs[0].name] == 2.0
        with pytest.raises(NonFiniteError, match="a guard is not finite"):
            Kernel(derived).call(-1.0, 1.0)


def test_a_quaternion_that_is_off_its_length_is_refused_by_pullbacks_too():
    model = gs.robots.tree(1, 2, base="free")
    program = gs.InverseDynamics(model).main_kernel().program
    q, v, a = random_state(model, np.random.default_rng(0))
    back = Kernel(pullback(program, ["tau"], ["v"]))
    assert np.all(np.isfinite(back.call(q, v, a, v)["bar_v"]))
    stretched = q.copy()
    stretched[3:7] *= 1.1
    with pytest.raises(NonFiniteError, match="a guard is not finite"):
        back.call(stretched, v, a, v)


@pytest.mark.parametrize("which", range(4))
def test_no_input_that_is_not_finite_passes(which):
    program = record(lambda x, y, z: {"w": where(x[()] > 0.0, y[()], 2.0 * y[()])}, {"x": (), "y": (), "z": ()})
    for derived in (pullback(program, ["w"], ["y"]), pushforward(program, ["w"], ["y"])):
        given = [1.0, 2.0, 3.0, 4.0]
        given[which] = np.nan
        with pytest.raises(NonFiniteError, match=r"(x|y|z|bar_w|dot_y)\[\] is nan"):
            Kernel(derived).call(*given)


def test_wrong_names_are_told():
    program = record(lambda x, bar_z, dot_x: {"z": x * bar_z + dot_x}, {"x": (), "bar_z": (), "dot_x": ()}, "odd")
    for sweep in (pullback, pushforward):
        with pytest.raises(ShapeError, match=r"there is no output 'zz' to differentiate\. Hint: did you mean 'z'"):
            sweep(program, ["zz"], ["x"])
        with pytest.raises(ShapeError, match="there is no input 'xx' to differentiate"):
            sweep(program, ["z"], ["xx"])
        with pytest.raises(ShapeError, match="the input 'x' to differentiate is named twice"):
            sweep(program, ["z"], ["x", "dot_x", "x"])
        with pytest.raises(ShapeError, match="the output 'z' to differentiate is named twice"):
            sweep(program, ["z", "z"], ["x"])
    with pytest.raises(ShapeError, match=r"'odd' has an input 'bar_z' already\. Hint: give it another name"):
        pullback(program, ["z"], ["x"])
    with pytest.raises(ShapeError, match=r"'odd' has an input 'dot_x' already"):
        pushforward(program, ["z"], ["x"])
