"""Loops that stay constraints, in every public solver: the answer of the tree where that is what the solver's name
says, the closed robot's where it solves, and a refusal by name everywhere else."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from tests.solvers.test_loops_in_every_solver import FRAME, Opened
from tests.support import loop_models
from tests.support.comparing import assert_close
from tests.support.solver_zoo import solver_classes

REFUSED = {
    "ActuatorDynamics", "ContactVelocities", "DeltaAcceleration", "ElasticInverseDynamics", "Innovations",
    "InverseMassMatrix", "InverseOperationalInertia", "RotorCoupling",
}  # fmt: skip
SOLVED = {
    "ContactDynamics", "ContactDynamicsDerivatives", "ForwardDynamics", "ForwardDynamicsDerivatives", "FrictionMargins",
    "Impact",
}  # fmt: skip
ANY = {
    "CapturePoint", "CenterOfMass", "CentroidalMatrix", "CentroidalMomentum", "CentroidalMomentumRate", "Coriolis",
    "Jacobian", "JacobianRate", "KineticEnergy", "MassMatrix", "ParameterJacobian", "PotentialEnergy",
    "StabilityMargin", "TotalInertia", "ZeroMomentPoint",
}  # fmt: skip
OPTIONS = {
    "Jacobian": {"frame": "coupler.tip"},
    "JacobianRate": {"frame": "coupler.tip"},
    "ParameterJacobian": {"frame": "coupler.tip", "parameters": ["crank.tip.translation"]},
    "ParameterDerivatives": {"parameters": ["coupler.mass", "coupler.inertia"]},
    "InverseOperationalInertia": {"contacts": ["coupler.tip"]},
    "ContactDynamics": {"contacts": {"coupler.tip": [[0, 0, 0, 1, 0, 0]]}},
    "ContactDynamicsDerivatives": {"contacts": {"coupler.tip": [[0, 0, 0, 1, 0, 0]]}},
    "Impact": {"contacts": {"coupler.tip": [[0, 0, 0, 1, 0, 0]]}},
    "ContactVelocities": {"contacts": {"coupler.tip": [[0, 0, 0, 1, 0, 0]]}},
    "FrictionMargins": {"contacts": {"coupler.tip": {"kind": [[0, 0, 0, 1, 0, 0]], "friction": 0.5}}},
    "StabilityMargin": {"points": ["coupler.tip", "coupler.origin", "crank.origin"]},
    "CapturePoint": {"height": -9.0},
}


def free_of(model: gs.Model) -> gs.Model:
    """The same without what closes its loops."""
    gone = {loop.closer for loop in model.wiring.tree.loops}
    ends = {f"{closer}.{port}" for closer in gone for port in "ab"}
    links = [tuple(p for p in c if p not in ends) for c in model.connections]
    context = model.context.model_copy(update={"independent": (), "reference": {}})
    kept = tuple(e for e in model.entities if e.name not in gone)
    return gs.Model(model.name, kept, [c for c in links if len(c) > 1], context)


@pytest.fixture(scope="module")
def four_bar():
    model = loop_models.four_bar(loops="constraints")
    rng = np.random.default_rng(0)
    q, v = gs.close(model, gs.neutral(model), rng.normal(size=3))
    return model, q, v


def arguments(solver, q, v, rng):
    given = {"q": q, "v": v}
    return [given[name] if name in given else rng.normal(size=len(v)) for name in solver.state]


@pytest.mark.by_default(16)
@pytest.mark.parametrize("name", solver_classes())
def test_every_solver_says_how_it_treats_loops(name, four_bar):
    model, q, v = four_bar
    kind, options = solver_classes()[name], OPTIONS.get(name, {})
    if name in REFUSED:
        with pytest.raises(gs.LoopError, match=f"{kind.name}.*constraints.*crank.*Hint"):
            kind(model, **options)
        return
    solver, tree = kind(model, **options), kind(free_of(model), **options)
    state = arguments(solver, q, v, np.random.default_rng(1))
    if name not in SOLVED:
        mine, free = solver(*state), tree(*state)
        for x, y in zip(mine, free, strict=True) if isinstance(mine, tuple) else [(mine, free)]:
            assert_close(x, y, 1e-11)
    opened = [q + np.array([0.1, 0.0, 0.0]), *state[1:]]
    if name in ANY:
        solver(*opened)
    else:
        with pytest.raises(gs.LoopError, match=r"four-bar.*open by 0\.117.*gs\.close"):
            solver(*opened)
        with pytest.raises(gs.LoopError, match=r"open in state \(1,\)"):
            solver(np.stack([q, opened[0]]), *state[1:])
        with pytest.raises(gs.LoopError, match="open"):
            kind(model, mode="interpret", **options)(*opened)


def test_functions_that_need_coordinates_without_loops_refuse_them(four_bar):
    model, q, _ = four_bar
    for call in (
        lambda: gs.base_parameters(model),
        lambda: gs.inverse_kinematics(model, "coupler.tip", (0.5, 0.0, 0.5)),
        lambda: gs.inverse_kinematics_branches(model, "coupler.tip", (0.5, 0.0, 0.5)),
        lambda: gs.operators(model, q, q),
        lambda: gs.BlockSolver(model, lambda q, v, a: q, like=gs.InverseDynamics),
        lambda: gs.aba(model, q, q, q, algorithm="operators"),
        lambda: gs.ForwardDynamics(model).in_order(["A", "B"]),
    ):
        with pytest.raises(gs.LoopError, match="loop"):
            call()


@pytest.mark.by_default(4)
@pytest.mark.parametrize("name", ["four-bar", "five-bar", "slider-crank", "rod, turning", "universal rod", "stewart"])
def test_minimal_coordinates_and_constraints_tell_the_same(name):
    r = Opened(name)
    model = loop_models.LOOPS[name](loops="constraints")
    rng = np.random.default_rng(3)
    small = gs.integrate(r.model, gs.neutral(r.model), 0.05 * rng.normal(size=r.model.nv))
    v, tau = rng.normal(size=(2, r.model.nv))
    a = gs.aba(r.model, small, v, tau)
    at_q = [r.free.coordinates.index(x) for x in model.coordinates]
    at_v = [r.free.dofs.index(x) for x in model.dofs]
    Q, V, A = (x[at] for x, at in zip(r.motion(small, v, a), (at_q, at_v, at_v), strict=True))
    lifted = np.zeros(model.nv)
    lifted[[model.dofs.index(x) for x in r.model.dofs]] = tau
    found = gs.aba(model, Q, V, lifted)
    assert_close(found, A, 1e-9)
    G = r.G(small)[at_v]
    assert_close(G.T @ gs.rnea(model, Q, V, found), tau, 1e-9)
    assert_close(G.T @ gs.crba(model, Q) @ G, gs.crba(r.model, small), 1e-9)
    assert_close(
        gs.jacobian(model, Q, FRAME[name], constrained=True) @ G, gs.jacobian(r.model, small, FRAME[name]), 1e-9
    )
    mine, theirs = gs.aba_derivatives(model, Q, V, lifted), gs.aba_derivatives(r.model, small, v, tau)
    assert_close(mine.da_dtau, G @ theirs.da_dtau @ G.T, 1e-9)
