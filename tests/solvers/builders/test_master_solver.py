"""Several answers of one state from one recorded program: the same numbers, fewer operations."""

import pickle
from typing import Any

import casadi as ca
import numpy as np
import pytest

import gyrostat as gs
from gyrostat.solvers.builders.answers import KNOWN, answering_solver
from gyrostat.spec.solver_kinds import ANSWERS, KINDS
from tests.support.comparing import assert_close
from tests.support.solver_zoo import OPTIONS, TIP, branched

MODEL = branched()
FREE = branched("free")
THREE: dict[str, Any] = {"rnea": {}, "crba": {}, "com": {}}


def state(model: gs.Model, solver: Any, seed: int = 0, shape: tuple[int, ...] = ()) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    sizes = [model.nq if name == "q" else model.nv for name in solver.state]
    values = [rng.normal(size=(*shape, n)) for n in sizes]
    values[0] = gs.random_configuration(model, rng, shape)
    return values


def operations(solver: Any) -> dict[str, int]:
    return solver.main_kernel().program.counts()


def arrays(value: Any) -> list[np.ndarray]:
    if isinstance(value, tuple):
        return [x for item in value for x in arrays(item)]
    if isinstance(value, np.ndarray):
        return [value]
    return [x for m in value.values() for x in (m.R, m.p, m.V, m.A) if x is not None]


def options_of(answer: str) -> dict[str, Any]:
    return {"derivatives": 2} if answer == "fk" else OPTIONS.get(ANSWERS[answer], {})


SOME = ("rnea", "aba", "crba", "com", "total_inertia", "fk", "jacobian", "kinetic_energy", "potential_energy", "bias")


@pytest.mark.parametrize(("mode", "names"), [("compile", SOME), ("interpret", tuple(ANSWERS))])
def test_every_answer_is_that_of_its_own_solver(mode, names):
    answers = {name: options_of(name) for name in names}
    together = gs.Solvers(MODEL, mode=mode, **answers)
    assert together.state == ("q", "v", "a", "tau", "v_r", "a_r", "dq", "dv", "dtau")[: 4 if names is SOME else None]
    given = dict(zip(together.state, state(MODEL, together), strict=True))
    found = together(**given)
    assert found._fields == tuple(answers)
    for name, options in answers.items():
        alone = answering_solver(MODEL, name, options, (), "interpret")
        expected = alone(*(given[key] for key in alone.state))
        assert type(getattr(found, name)) is type(expected)
        for mine, other in zip(arrays(getattr(found, name)), arrays(expected), strict=True):
            assert_close(mine, other, 1e-9)


@pytest.mark.parametrize(
    ("answers", "share"),
    [
        (THREE, 1.0),
        ({"rnea": {}, "aba": {}}, 0.96),
        ({"rnea": {}, "rnea_derivatives": {}}, 0.96),
        ({"bias": {}, "rnea": {"rules": list(gs.RULES)[:-1]}, "gravity": {}}, 0.95),
        ({"com": {}, "total_inertia": {}, "centroidal_momentum": {}, "centroidal_matrix": {}}, 0.6),
        ({"left": {"solver": "jacobian", "frame": TIP}, "rate": {"solver": "jacobian_rate", "frame": TIP}}, 0.9),
    ],
)
def test_together_they_need_fewer_operations_than_each_for_itself(answers, share):
    for model in (gs.robots.kuka_lwr4(), gs.robots.quadruped(), FREE):
        frame = list(gs.network(model).located)[-1]
        named = {k: v | ({"frame": frame} if "frame" in v else {}) for k, v in answers.items()}
        together = gs.Solvers(model, **named)
        alone = [operations(solver) for solver in together.parts.values()]
        assert sum(operations(together).values()) < share * sum(sum(ops.values()) for ops in alone)
        for name in ("sin", "cos"):  # each angle is met once
            assert operations(together).get(name, 0) <= min(model.nv, sum(ops.get(name, 0) for ops in alone))


def test_calls_by_position_by_name_in_batches_with_threads_and_into_arrays():
    solver = gs.Solvers(FREE, **THREE)
    assert solver.state == ("q", "v", "a")
    q, v, a = state(FREE, solver)
    for _ in range(2):  # by the general way, and by machine code
        tau, M, com = solver(q, v, a)
        assert_close(tau, gs.rnea(FREE, q, v, a), 1e-10)
        assert_close(M, gs.crba(FREE, q), 1e-11)
        assert_close(com.v, gs.center_of_mass(FREE, q, v).v, 1e-11)
    assert np.array_equal(solver(q, a=a, v=v).rnea, tau)
    assert np.array_equal(solver(list(q), list(v), dict(zip(FREE.dofs, a, strict=True))).rnea, tau)
    many = state(FREE, solver, 1, (2, 3))
    batch = solver(*many, threads=2)
    assert batch.rnea.shape == (2, 3, FREE.nv) and batch.com.p.shape == (2, 3, 3)
    assert_close(batch.crba[1, 2], gs.crba(FREE, many[0][1, 2]), 1e-11)
    for mode in ("compile", "interpret"):
        writing = gs.Solvers(FREE, mode=mode, **THREE)
        into = (np.empty(FREE.nv), None, (None, np.empty(3)))
        found = writing(q, v, a, out=into)
        assert found.rnea is into[0] and found.com.v is into[2][1]
        assert_close(into[0], tau, 1e-10)
        assert_close(found.crba, M, 1e-10)
        with pytest.raises(
            gs.ShapeError, match=r"solvers: out must be a tuple like the result, with arrays for rnea, "
        ):
            writing(q, v, a, out=(np.empty(FREE.nv), None, np.empty(3)))
    again = pickle.loads(pickle.dumps(solver(q, v, a)))
    assert np.array_equal(again.crba, M) and type(again) is type(solver(q, v, a))


def test_arrays_alone_are_served_by_machine_code():
    solver = gs.Solvers(MODEL, rnea={}, crba={})
    given = state(MODEL, solver)
    first, second = solver(*given), solver(*given)
    assert np.array_equal(first.rnea, second.rnea) and np.array_equal(first.crba, second.crba)
    assert type(second) is type(first) and second._fields == ("rnea", "crba")
    assert solver(*(x[None] for x in given)).crba.shape == (1, MODEL.nv, MODEL.nv)


def test_live_properties_refresh_all_answers():
    solver = gs.Solvers(MODEL, live=["arm.mass", "context.gravity"], **THREE)
    given = state(MODEL, solver)
    solver(*given)
    other = MODEL.replace({"arm.mass": 4.0, "context.gravity": (0, 1.0, -3.0)})
    solver.refresh(other)
    tau, M, com = solver(*given)
    assert_close(tau, gs.rnea(other, *given), 1e-10)
    assert_close(M, gs.crba(other, given[0]), 1e-11)
    assert_close(com.p, gs.center_of_mass(other, given[0]), 1e-11)


def test_wrenches_time_and_the_order_of_joints():
    rng = np.random.default_rng(3)
    w = {TIP: gs.Wrench(rng.normal(size=6), "aligned")}
    solver = gs.Solvers(MODEL, rnea={}, aba={}, crba={})
    q, v, a, tau = state(MODEL, solver)
    found = solver(q, v, a, tau, wrenches=w)
    assert_close(found.rnea, gs.rnea(MODEL, q, v, a, w), 1e-10)
    assert_close(found.aba, gs.aba(MODEL, q, v, tau, w), 1e-9)
    assert_close(found.crba, gs.crba(MODEL, q), 1e-11)
    some = gs.Solvers(FREE, rnea={}, crba={}).in_order(["slide", "waist"])
    x, y, z = rng.normal(size=(3, 2))
    assert_close(some(x, y, z).rnea, gs.InverseDynamics(FREE).in_order(["slide", "waist"])(x, y, z), 1e-11)
    assert some(x, y, z).crba.shape == (2, 2)
    swaying = MODEL.replace({"context.base": gs.HarmonicMotion(amplitude=(0, 0, 0.1), frequency=2.0)})
    driven = gs.Solvers(swaying, rnea={}, kinetic_energy={})
    given = state(swaying, driven)
    assert_close(driven(*given, t=0.3).rnea, gs.rnea(swaying, *given, t=0.3), 1e-11)
    assert_close(driven(*given, t=0.3).kinetic_energy, gs.kinetic_energy(swaying, *given[:2], t=0.3), 1e-11)


def test_derivatives_casadi_and_c_are_of_the_whole(tmp_path):
    solver = gs.Solvers(MODEL, **THREE)
    given = state(MODEL, solver)
    d = gs.InverseDynamics(MODEL).jacobian("tau", "q")(*given)
    assert_close(solver.jacobian("rnea", "q")(*given), d, 1e-10)
    assert solver.jacobian("com.p", "q")(*given).shape == (3, MODEL.nq)
    function = solver.casadi()
    assert function.name_in() == ["q", "v", "a"] and function.name_out() == ["rnea", "crba", "com_p", "com_v"]
    values = function(*map(ca.DM, given))
    assert_close(np.array(values[1]), solver(*given).crba, 1e-11)
    names = {file.name for file in solver.export_c(tmp_path, "both")}
    assert {"both.c", "both.h"} <= names and "com_p" in (tmp_path / "both.h").read_text()
    text = solver.explain()
    assert "operations kept" in text and text.startswith("Solvers of 'two_arms'")
    copy = pickle.loads(pickle.dumps(solver))
    assert np.array_equal(copy(*given).crba, solver(*given).crba) and copy.spec == solver.spec


def test_answers_may_be_specifications():
    solver = gs.Solvers(MODEL, tip=gs.SolverSpec("Jacobian", frames=TIP), M=gs.SolverSpec("MassMatrix"))
    q = gs.random_configuration(MODEL, 2)
    assert_close(solver(q).tip, gs.jacobian(MODEL, q, TIP), 1e-12)
    with pytest.raises(gs.GyrostatError, match="has 'live', which is one for all answers"):
        gs.Solvers(MODEL, M=gs.SolverSpec("MassMatrix", live=["arm.mass"]))
    assert set(KNOWN) == set(ANSWERS) | (set(KINDS) & set(KNOWN))


def test_mistakes_are_sentences():
    for answers, words in (
        ({}, "Solvers: no answer is named. Hint: gs.Solvers"),
        ({"rneaa": {}}, r"Solvers: there is no answer 'rneaa'. Hint: did you mean 'rnea'"),
        ({"mine": {"solver": "cbra"}}, r"Solvers: there is no answer 'cbra'. Hint: did you mean 'crba'"),
        (
            {"rnea": {"algoritm": "rne"}},
            r"rnea \(InverseDynamics\) has no option 'algoritm'. Hint: did you mean 'algor",
        ),
        ({"rnea": {"algorithm": "rme"}}, r"InverseDynamics: there is no algorithm 'rme'"),
        ({"jacobian": {}}, r"jacobian \(Jacobian\) needs 'frame'"),
        ({"rnea": None}, r"rnea must have options by name, got NoneType"),
        ({"regressor": {}, "live": ["arm.mass"]}, r"regressor \(Regressor\) takes no live properties"),
        ({"class": {"solver": "rnea"}}, r"an answer is called 'class', which is no name of a field"),
    ):
        with pytest.raises(gs.GyrostatError, match=words):
            gs.Solvers(MODEL, **answers)
    solver = gs.Solvers(MODEL, rnea={}, com={})
    q, v, a = state(MODEL, solver)
    with pytest.raises(gs.ShapeError, match=r"Solvers: got q, expected all of q, v, a"):
        solver(q=q)
    with pytest.raises(gs.ShapeError, match=r"Solvers: is no function of 'tau'. Hint:"):
        solver(q, v, tau=a)
    with pytest.raises(gs.ShapeError, match=r"Solvers: 'q' is given twice, by position and by name"):
        solver(q, v, q=q)
    with pytest.raises(gs.ShapeError, match=r"solvers: got 2 arguments, expected 3: q, v, a"):
        solver(q, v)
    with pytest.raises(gs.ShapeError, match=r"v has shape \(2,\)"):
        solver(q, v[:2], a)
    with pytest.raises(gs.NonFiniteError, match=r"solvers: v of 'waist' is nan"):
        solver(q, v * np.nan, a)
    assert np.isnan(solver(q, v * np.nan, a, nonfinite="return").rnea).any()
    with pytest.raises(gs.ShapeError, match="takes no wrenches"):
        gs.Solvers(MODEL, crba={})(q, wrenches={TIP: np.zeros(6)})
