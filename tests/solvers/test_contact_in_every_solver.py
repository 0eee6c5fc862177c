"""Robots on a ground in every public solver: rigid contact, which solvers of trees leave out; compliant contact, a
force in all of them; wheels that roll, a constraint. Each answers what it says, or refuses by name."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algorithms.constrained.loop_equations import loop_equations
from gyrostat.graph.network import network
from tests.solvers.test_constraints_in_every_solver import REFUSED, SOLVED
from tests.support.comparing import assert_close
from tests.support.solver_zoo import solver_classes

H = 1e-6
ROW = [[0.0, 0, 0, 1, 0, 0]]
WITH_CONTACTS = ("ContactDynamics", "ContactDynamicsDerivatives", "Impact", "InverseOperationalInertia")


def options_for(body: str, others: list[str]) -> dict[str, dict]:
    """What solvers of a robot cannot do without."""
    found = {name: {"contacts": {body: ROW}} for name in WITH_CONTACTS}
    return found | {
        "Jacobian": {"frame": body},
        "JacobianRate": {"frame": body},
        "ParameterJacobian": {"frame": body, "parameters": [f"{body}.mass"]},
        "ParameterDerivatives": {"parameters": [f"{body}.mass"]},
        "ContactVelocities": {"contacts": {body: ROW}, "independent": others},
        "FrictionMargins": {"contacts": {body: {"kind": ROW, "friction": 0.5}}},
        "StabilityMargin": {"points": [f"{body}.origin", "world.frame"]},
        "CapturePoint": {"height": -9.0},
    }


def leg() -> gs.Model:
    """A trunk on one leg, with a geared drive in the knee."""
    parts = [
        gs.RigidBody("trunk", mass=3.0, com=(0.02, 0.0, 0.05), inertia=(0.05, 0.06, 0.03)),
        gs.Joint("knee", "revolute", axis="y"),
        gs.RigidBody("shank", mass=0.7, com=(0, 0, -0.2), inertia=(0.01, 0.01, 0.002), frames={"foot": (0, 0, -0.4)}),
    ]
    model = gs.assemble("leg", gs.chain("world", *parts), base="free")
    return model.with_drive("knee", rotor_inertia=1e-4, gear_ratio=20.0)


LEG = leg()
LAW = {"friction": 0.8, "stiffness": 5e3, "damping": 0.3}
SOFT_LEG = LEG.with_ground(points=["shank.foot"], **LAW)
HARD_LEG = gs.sensors.add(
    LEG.with_ground(points=["shank.foot"], friction=0.8), gs.sensors.IMU("trunk"), gs.sensors.Encoder("knee")
)  # sensors change nothing
OPTIONS = options_for("shank", ["knee"])


def made(name: str, model: gs.Model, options: dict[str, dict]) -> gs.Solver:
    return solver_classes()[name](model, mode="interpret", **options.get(name, {}))


def state(model: gs.Model, names: tuple[str, ...], rng: np.random.Generator, height: float) -> list[np.ndarray]:
    """Numbers for a solver: the foot is in the ground, and moves."""
    q = gs.neutral(model)
    q[2], q[3:7] = height, np.array([0.1, 0.05, -0.2, 1.0]) / np.linalg.norm([0.1, 0.05, -0.2, 1.0])
    return [q if n == "q" else rng.normal(size=model.nv) for n in names]


def pairs(one, two):
    return list(zip(one, two, strict=True)) if isinstance(one, tuple) else [(one, two)]


# ------------------------------------------------------------------------------------------------ rigid
@pytest.mark.by_default(18)
@pytest.mark.parametrize("name", solver_classes())
def test_rigid_contact_is_left_out_by_solvers_that_know_no_constraints(name):
    if name == "ElasticInverseDynamics":
        with pytest.raises(gs.SpecError, match=r"quaternion|free"):
            made(name, HARD_LEG, OPTIONS)
        return
    hard, free = made(name, HARD_LEG, OPTIONS), made(name, LEG, OPTIONS)
    x = state(LEG, hard.state, np.random.default_rng(1), 0.3)
    for one, two in pairs(hard(*x), free(*x)):
        assert_close(one, two, 1e-12)


def test_the_humanoid_on_a_rigid_ground_is_the_humanoid_in_solvers_of_trees():
    human = gs.robots.humanoid()
    ground = human.with_ground(friction=0.8)
    options = options_for("left_foot", [])
    for name in ("InverseDynamics", "ForwardDynamics", "MassMatrix", "ContactDynamics", "ZeroMomentPoint", "Regressor"):
        hard, free = made(name, ground, options), made(name, human, options)
        x = state(human, hard.state, np.random.default_rng(2), 0.6)
        for one, two in pairs(hard(*x), free(*x)):
            assert_close(one, two, 1e-12)


# ------------------------------------------------------------------------------------------------ compliant
KNOWS_NO_FORCES = {
    "CapturePoint", "CenterOfMass", "CentroidalMatrix", "CentroidalMomentum", "CentroidalMomentumRate",
    "ContactVelocities", "Coriolis", "GravityForces", "Impact", "Innovations", "InverseMassMatrix",
    "InverseOperationalInertia", "Jacobian", "JacobianRate", "KineticEnergy", "MassMatrix", "ParameterDerivatives",
    "ParameterJacobian", "StabilityMargin", "TotalInertia", "ZeroMomentPoint",
}  # fmt: skip


def pushed(q, v):
    """What the ground does: the force of Hunt and Crossley at the foot, with friction, as a generalised force; from
    inverse dynamics, whose contact force has tests of its own."""
    rest = np.zeros(LEG.nv)
    return gs.rnea(LEG, q, v, rest) - gs.rnea(SOFT_LEG, q, v, rest)


def slope(f, q, x, what):
    """df by displacements of q, or by x."""
    columns = []
    for unit in np.eye(LEG.nv):
        ends = [f(gs.integrate(LEG, q, s * H * unit), x) if what == "q" else f(q, x + s * H * unit) for s in (1, -1)]
        columns.append((ends[0] - ends[1]) / (2.0 * H))
    return np.stack(columns, axis=-1)


def compliant_oracle(name, x):
    """What comes out, from solvers of the leg without a ground and the force of the ground."""
    free = lambda kind: made(kind, LEG, OPTIONS)  # noqa: E731
    q, v = x[0], x[1] if len(x) > 1 else np.zeros(LEG.nv)
    f = pushed(q, v)
    if name in ("ForwardDynamics", "ContactDynamics", "FrictionMargins"):
        return free(name)(q, v, x[2] + f)
    if name in ("Bias", "InverseDynamics"):
        return gs.rnea(LEG, q, v, x[2] if len(x) > 2 else np.zeros(LEG.nv)) - f
    if name == "ActuatorDynamics":
        terms = free(name)(q, v)
        return terms._replace(bias=terms.bias - free(name)._back @ f)
    if name == "EquationsOfMotion":
        D, C, G, Q, A = free(name)(q, v)
        return D, C, G, Q - f, A
    if name == "ReferenceDynamics":
        return free(name)(*x) - f
    if name == "Regressor":
        Y, rest = free(name)(*x)
        return Y, rest - f
    if name == "PotentialEnergy":
        depth = 0.4 * gs.fk(LEG, q)["shank"].R[2, 2] - q[2]
        return free(name)(q) + LAW["stiffness"] * depth**2 / 2.0
    if name in ("ForwardDynamicsDerivatives", "ContactDynamicsDerivatives"):
        kind = "ForwardDynamics" if name.startswith("Forward") else "ContactDynamics"
        solver = made(kind, SOFT_LEG, OPTIONS)
        count = 1 if kind == "ForwardDynamics" else 2
        part = lambda k: lambda *y: solver(*y) if count == 1 else np.asarray(solver(*y)[k])  # noqa: E731
        found = []
        for k in range(count):
            found += [slope(lambda p, w, k=k: part(k)(p, w, x[2]), q, v, "q")]
            found += [slope(lambda p, w, k=k: part(k)(p, w, x[2]), q, v, "v")]
            found += [slope(lambda p, t, k=k: part(k)(p, v, t), q, x[2], "tau")]
        return tuple(found)
    if name == "InverseDynamicsDerivatives":
        by = [slope(lambda p, w: gs.rnea(SOFT_LEG, p, w, x[2]), q, v, what) for what in ("q", "v")]
        return (*by, gs.crba(LEG, q))
    if name == "InverseDynamicsSecondDerivatives":
        first = gs.InverseDynamicsDerivatives(SOFT_LEG)
        by_q = slope(lambda p, w: np.array(first(p, w, x[2])), q, v, "q")
        by_v = slope(lambda p, w: np.array(first(p, w, x[2])[1]), q, v, "v")
        found = {"d2tau_dqdq": by_q[0], "d2tau_dvdq": by_q[1], "d2tau_dadq": by_q[2], "d2tau_dvdv": by_v}
        return tuple(found[key] for key in gs.InverseDynamicsSecondDerivatives.Result._fields)
    if name == "DeltaAcceleration":
        tau, dq, dv, dtau = x[2:]
        moved = [(gs.integrate(LEG, q, s * dq), v + s * dv, tau + s * dtau) for s in (H, -H)]
        ends = [gs.aba(SOFT_LEG, *at) for at in moved]
        return (ends[0] - ends[1]) / (2.0 * H)
    raise AssertionError(f"what is {name} of a robot on a compliant ground?")


@pytest.mark.parametrize("name", solver_classes())
def test_compliant_contact_is_a_force_in_every_solver(name):
    if name == "ElasticInverseDynamics":
        with pytest.raises(gs.SpecError, match=r"quaternion|free"):
            made(name, SOFT_LEG, OPTIONS)
        return
    solver = made(name, SOFT_LEG, OPTIONS)
    x = state(LEG, solver.state, np.random.default_rng(3), 0.37)
    assert np.abs(pushed(x[0], np.zeros(LEG.nv))).max() > 1.0
    got = solver(*x)
    expected = made(name, LEG, OPTIONS)(*x) if name in KNOWS_NO_FORCES else compliant_oracle(name, x)
    tolerance = 2e-5 if "Derivatives" in name or name == "DeltaAcceleration" else 1e-10
    for one, two in pairs(got, expected):
        assert_close(np.asarray(one), np.asarray(two), tolerance)


# ------------------------------------------------------------------------------------------------ rolling
BICYCLE = gs.robots.bicycle()
BICYCLE_OPTIONS = options_for("frame", [])


def without_ground(model: gs.Model) -> gs.Model:
    """The same with wheels that touch nothing."""
    gone = {loop.closer for loop in model.wiring.tree.loops}
    links = [tuple(p for p in c if p.partition(".")[0] not in gone) for c in model.connections]
    context = model.context.model_copy(update={"independent": (), "reference": {}})
    kept = tuple(e for e in model.entities if e.name not in gone)
    return gs.Model(model.name, kept, [c for c in links if len(c) > 1], context)


LIFTED = without_ground(BICYCLE)


@pytest.mark.by_default(18)
@pytest.mark.parametrize("name", solver_classes())
def test_wheels_that_roll_are_constraints_in_every_solver(name):
    kind = solver_classes()[name]
    if name in REFUSED:
        with pytest.raises(gs.LoopError, match=f"{kind.name}.*constraints.*front_contact.*Hint"):
            made(name, BICYCLE, BICYCLE_OPTIONS)
        return
    solver, rng, q = made(name, BICYCLE, BICYCLE_OPTIONS), np.random.default_rng(4), gs.neutral(BICYCLE)
    x = [q if n == "q" else rng.normal(size=BICYCLE.nv) for n in solver.state]
    got = solver(*x)
    if name not in SOLVED:
        for one, two in pairs(got, made(name, LIFTED, BICYCLE_OPTIONS)(*x)):
            assert_close(one, two, 1e-11)
        return
    rows = loop_equations(network(BICYCLE), q, x[1])
    J, bias = np.asarray(rows.J, dtype=float), np.asarray(rows.bias, dtype=float)
    if name in ("ForwardDynamics", "ContactDynamics"):
        assert_close(J @ (got if name == "ForwardDynamics" else got.a), -bias, 1e-9)
    elif name == "Impact":
        assert_close(J @ got.v, J @ x[1], 1e-9)
    elif name == "FrictionMargins":
        force = made("ContactDynamics", BICYCLE, BICYCLE_OPTIONS)(*x).forces["frame"][3:]
        R = gs.fk(BICYCLE, q)["frame"].R
        assert_close(got, [0.5 * (R @ force)[2] - np.linalg.norm((R @ force)[:2])], 1e-9)
    else:
        assert_close(J @ got.da_dtau, np.zeros((len(J), BICYCLE.nv)), 1e-9)
