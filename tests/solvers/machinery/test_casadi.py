"""The functions that solvers hand to CasADi: the same numbers in the same places, and the same derivatives."""

import casadi as ca
import numpy as np
import pytest

import gyrostat as gs
from gyrostat.engine.tracing.casadi_functions import to_casadi
from gyrostat.engine.tracing.record import record
from tests.support.comparing import assert_close
from tests.support.solver_zoo import OPTIONS, TIP, branched, elastic, solver_classes, state_of

MODEL = branched()
FREE = branched("free")


def made(name: str, model: gs.Model = MODEL):
    if name == "ElasticInverseDynamics":
        model = elastic()
    return solver_classes()[name](model, **OPTIONS.get(name, {}))


def as_casadi(array: np.ndarray) -> np.ndarray:
    """The shape that an array has in CasADi: columns, matrices, stacked slices."""
    array = np.asarray(array)
    return array.reshape(-1, 1) if array.ndim < 2 else array.reshape(-1, array.shape[-1])


def outputs(solver, result) -> dict[str, np.ndarray]:
    return dict(zip(solver.Result._fields, result, strict=True)) if solver.Result else {solver.result: result}


@pytest.mark.by_default(18)
@pytest.mark.parametrize("name", sorted(solver_classes()))
def test_every_answer_has_its_shape_and_its_numbers(name):
    solver, rng = made(name), np.random.default_rng(3)
    function, state = solver.casadi(), state_of(solver, rng)
    names = function.name_in()
    inputs = [*state, *solver._live.values()]
    assert len(names) == len(inputs)
    values = function(**{key: ca.DM(x) for key, x in zip(names, inputs, strict=True)})
    answers = outputs(solver, solver(*state))
    assert len(values) == len(answers)
    for key, answer in answers.items():
        got = np.array(values[f"{key}_out" if key in names else key])
        assert_close(got, as_casadi(answer), 1e-11)


@pytest.mark.by_default(12)
@pytest.mark.parametrize("name", sorted(solver_classes()))
def test_every_derivative_by_casadi_is_ours(name):
    solver, rng = made(name), np.random.default_rng(4)
    function, state = solver.casadi(), state_of(solver, rng)
    inputs = [*state, *solver._live.values()]
    symbols = [ca.SX.sym(n, *function.size_in(k)) for k, n in enumerate(function.name_in())]
    whole = function.call(symbols)
    wrt = solver.main_kernel().program.inputs[0].name
    for slot, out in zip(solver.main_kernel().program.outputs, whole, strict=True):
        if slot.size > 250:
            continue
        mine = solver.jacobian(slot.name, wrt)(*state)
        rows = ca.vec(out.T)  # in NumPy's order, to compare
        J = ca.Function("J", symbols, [ca.jacobian(rows, ca.vec(symbols[0].T))])
        theirs = np.array(ca.DM(J.call([ca.DM(x) for x in inputs])[0]))
        assert_close(theirs, mine.reshape(slot.size, -1), 1e-9)
        by_hand = np.array(solver.jacobian(slot.name, wrt).casadi().call([ca.DM(x) for x in inputs])[0])
        assert_close(by_hand, as_casadi(mine), 1e-9)
        return
    pytest.fail("no output was small enough to be looked at")


def test_a_jacobian_needs_no_reshaping_and_no_transposing():
    q = gs.random_configuration(MODEL, 1)
    J = gs.Jacobian(MODEL, TIP).casadi()(q)
    assert J.shape == (6, MODEL.nv)
    assert_close(np.array(J), gs.jacobian(MODEL, q, TIP), 1e-13)
    v = np.random.default_rng(2).normal(size=MODEL.nv)
    twist = gs.fk(MODEL, q, v)[TIP].velocity("world")
    assert_close(np.array(J @ v).ravel(), twist, 1e-12)


@pytest.mark.parametrize("kind", [ca.SX, ca.MX])
def test_symbols_of_both_kinds_pass_through(kind):
    function = gs.MassMatrix(FREE).casadi()
    q = kind.sym("q", FREE.nq)
    M = function(q)
    assert M.shape == (FREE.nv, FREE.nv)
    value = gs.random_configuration(FREE, 5)
    assert_close(np.array(ca.Function("M", [q], [M])(value)), gs.crba(FREE, value), 1e-12)


def test_matrices_among_the_inputs_are_matrices():
    solver = gs.InverseDynamics(MODEL, live=["arm.inertia", "arm.mass"])
    function = solver.casadi()
    assert function.size_in("arm_inertia") == (3, 3)
    state = state_of(solver, np.random.default_rng(7))
    inertia = np.array([[0.5, 0.1, 0.02], [0.1, 0.6, 0.03], [0.02, 0.03, 0.7]])
    other = MODEL.replace({"arm.inertia": inertia.tolist()})
    got = function(*state, inertia, MODEL["arm.mass"])
    assert_close(np.array(got).ravel(), gs.InverseDynamics(other)(*state), 1e-12)
    program = record(lambda A: {"A": A, "B": A[0]}, {"A": (2, 3)}, "same")
    A = np.arange(6.0).reshape(2, 3)
    same, row = to_casadi(program)(A)
    assert_close(np.array(same), A, 0.0)
    assert_close(np.array(row), A[0][:, None], 0.0)


def test_forward_kinematics_gives_each_quantity_of_each_frame():
    q, v, a = gs.random_configuration(FREE, 8), *np.random.default_rng(8).normal(size=(2, FREE.nv))
    function = gs.ForwardKinematics(FREE, frames=[TIP, "arm"]).casadi(derivatives=2)
    assert function.name_in() == ["q", "v", "a"]
    assert function.name_out()[:4] == ["end_tip_R", "end_tip_p", "end_tip_V", "end_tip_A"]
    values, motions = function(q=q, v=v, a=a), gs.fk(FREE, q, v, a)
    for frame, name in ((TIP, "end_tip"), ("arm", "arm_origin")):
        for key in ("R", "p", "V", "A"):
            assert_close(np.array(values[f"{name}_{key}"]), as_casadi(getattr(motions[frame], key)), 1e-12)
    places = gs.ForwardKinematics(FREE, frames=TIP).casadi()
    assert places.name_in() == ["q"] and places.name_out() == ["end_tip_R", "end_tip_p"]
    with pytest.raises(gs.StateError, match="fk: derivatives must be 0, 1 or 2, got 3"):
        gs.ForwardKinematics(FREE).casadi(3)


def test_its_derivative_is_the_jacobian():
    q = gs.random_configuration(MODEL, 9)
    function = gs.ForwardKinematics(MODEL, frames=TIP).casadi()
    symbol = ca.SX.sym("q", MODEL.nq)
    J = ca.Function("J", [symbol], [ca.jacobian(function(q=symbol)["end_tip_p"], symbol)])(q)
    linear = gs.jacobian(MODEL, q, TIP, "aligned")[3:]
    assert_close(np.array(J) @ gs.tangent(MODEL, q), linear, 1e-12)


def test_time_and_motion_of_a_driven_base_are_inputs():
    swaying = gs.HarmonicMotion(amplitude=(0, 0, 0.1), frequency=2.0, swing=0.3, swing_frequency=1.0)
    state = state_of(gs.InverseDynamics(MODEL), np.random.default_rng(11))
    driven = gs.InverseDynamics(MODEL.replace({"context.base": swaying}))
    function = driven.casadi()
    assert function.name_in()[3:] == ["t"]
    assert_close(np.array(function(*state, 0.7)).ravel(), driven(*state, t=0.7), 1e-12)
    R = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    motion = R, (0.1, 0.2, 0.3), (0.0, 0.1, 0.2, 0.3, 0.4, 0.5), (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
    moved = gs.InverseDynamics(MODEL.replace({"context.base": gs.MovingBase(motion=lambda t: motion)}))
    function = moved.casadi()
    assert function.name_in()[3:] == ["base_R", "base_p", "base_V", "base_A"]
    assert_close(np.array(function(*state, *map(ca.DM, motion))).ravel(), moved(*state, t=0.0), 1e-12)


def test_names_that_would_be_the_same_are_numbered():
    program = record(lambda **x: {"c.d": x["a.b"], "c_d": x["a_b"]}, {"a.b": (), "a_b": ()}, "same")
    function = to_casadi(program)
    assert function.name_in() == ["a_b", "a_b_2"] and function.name_out() == ["c_d", "c_d_2"]
