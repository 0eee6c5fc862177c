"""Two rows suffice: every public solver on every component from elsewhere, met either way round, against an equal model
of built-in parts; and what is wrong with rows is told by name."""

from __future__ import annotations

import inspect
from functools import lru_cache

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algorithms.forward_dynamics import FORWARD, MASS_MATRIX
from gyrostat.simulate.methods import METHODS
from gyrostat.solvers.machinery.solver import Solver
from tests.support.comparing import REPRESENTATIONS, assert_close
from tests.support.foreign_kinds import CASES, arm
from tests.support.random_models import random_state

MOUNTED = [(name, turned) for name, case in CASES.items() for turned in case.mountings]
IDS = [f"{name}{' turned round' * turned}" for name, turned in MOUNTED]
SOFT = {"rotor_inertia": 1e-4, "gear_ratio": 50.0, "stiffness": 800.0, "reflected_inertia_only": True}
MASSIVE = {"marble", "disc", "bob", "strut", "carriage", "fork", "tank"}

ROW = [[0.0, 0, 0, 1, 0, 0]]


def interpreted(cls, *arguments, **options):
    return lambda m, *state: cls(m, *arguments, mode="interpret", **options)(*state)


def of_configuration(cls, *arguments, **options):
    return lambda m, q, v, a: cls(m, *arguments, mode="interpret", **options)(q)


def of_motion(cls, *arguments, **options):
    return lambda m, q, v, a: cls(m, *arguments, mode="interpret", **options)(q, v)


def _wrenches(m, q, v, a):
    push = {"hand.tip": [0.3, -0.2, 0.1, 5.0, 1.0, -2.0]}
    solver = gs.InverseDynamics(m, mode="interpret")
    return solver(q, v, a, wrenches=push), solver.port_forces(q, v, a, wrenches=push)["hand.origin"]


def _poses(m, q, v, a):
    frames = gs.ForwardKinematics(m, ["hand.tip", "hand"], mode="interpret")(q, v, a)
    return [(f.R, f.p, f.V, f.A) for f in (frames["hand.tip"], frames["hand.origin"])]


def _actuators(m, q, v, a):
    return gs.ActuatorDynamics(m).torques(q, v, a)


def _regressor(m, q, v, a):
    return gs.Regressor(m, mode="interpret")(q, v, a)


def _delta(m, q, v, a):
    return gs.DeltaAcceleration(m, mode="interpret")(q, v, a, 0.3 * v, a, v)


def _reference(m, q, v, a):
    return gs.ReferenceDynamics(m, mode="interpret")(q, v, a, v)


def _parameters(m, q, v, a):
    return gs.ParameterDerivatives(m, ["hand.mass", "link.com"], mode="interpret")(q, v, a)


def _parameters_of_a(m, q, v, a):
    return gs.ParameterDerivatives(m, ["hand.mass", "link.com"], of="a", mode="interpret")(q, v, a)


def _parameter_jacobian(m, q, v, a):
    return gs.ParameterJacobian(m, "hand.tip", ["link.end.translation"], mode="interpret")(q)


def _elastic(m, q, v, a):
    solver = gs.ElasticInverseDynamics(m.with_drive("tilt", **SOFT), mode="interpret")
    derivatives = np.random.default_rng(3).normal(size=(solver.order + 1, m.nq))
    derivatives[0] = q
    return solver(derivatives)


def _linear(m, q, v, a):
    found = gs.linearise(m, q, v, a)
    return found.A, found.B


def _frequencies(m, q, v, a):
    model = m.with_drive("tilt", **SOFT)
    return gs.eigenfrequencies(model, np.concatenate([q, [50.0 * q[1]]])).undamped


def _derivatives_of(m, q, v, a):
    solver = gs.InverseDynamics(m, live=["hand.mass"], mode="interpret")
    return solver(q, v, a), solver.jacobian("tau", "hand.mass")(q, v, a)


def _operators(m, q, v, a):
    found = gs.operators(m, q, v)
    return found.mass_matrix(), found.rnea(a), found.aba(a)


def _terms(m, q, v, a):
    """C is not unique; C v is, and C + C^T = dD/dt."""
    D, C, G, Q, C_skew = gs.EquationsOfMotion(m, mode="interpret")(q, v)
    return D, C @ v, C + C.T, G, Q, C_skew


def _together(m, q, v, a):
    return tuple(gs.Solvers(m, mode="interpret", rnea={}, crba={}, kinetic_energy={})(q, v, a))


def _block(m, q, v, a):
    general = gs.InverseDynamics(m, mode="interpret")
    return gs.BlockSolver(m, general, like=general, mode="interpret", check=1)(q, v, a)


def _some_joints(m, q, v, a):
    order, q, v, a = ["tilt"], [0.3], [0.2], [0.1]
    solvers = [cls(m, mode="interpret").in_order(order) for cls in (gs.ForwardDynamics, gs.ForwardDynamicsDerivatives)]
    return *(solver(q, v, a) for solver in solvers), gs.InverseMassMatrix(m, mode="interpret").in_order(order)(q)


QUESTIONS = {
    "InverseDynamics": interpreted(gs.InverseDynamics),
    **{
        f"InverseDynamics {x} {r}": interpreted(gs.InverseDynamics, algorithm=x, representation=r)
        for x in gs.InverseDynamics.algorithms
        for r in REPRESENTATIONS
    },
    **{f"ForwardDynamics {x} {r}": interpreted(gs.ForwardDynamics, x, r) for x in FORWARD for r in REPRESENTATIONS},
    **{f"MassMatrix {x} {r}": of_configuration(gs.MassMatrix, x, r) for x in MASS_MATRIX for r in REPRESENTATIONS},
    "wrenches": _wrenches,
    "InverseMassMatrix": of_configuration(gs.InverseMassMatrix),
    "Innovations": of_configuration(gs.Innovations),
    "Bias": of_motion(gs.Bias),
    "Coriolis": of_motion(gs.Coriolis),
    "GravityForces": of_configuration(gs.GravityForces),
    "EquationsOfMotion": _terms,
    "ReferenceDynamics": _reference,
    "InverseDynamicsDerivatives": interpreted(gs.InverseDynamicsDerivatives),
    "ForwardDynamicsDerivatives": interpreted(gs.ForwardDynamicsDerivatives),
    "InverseDynamicsSecondDerivatives": interpreted(gs.InverseDynamicsSecondDerivatives),
    "DeltaAcceleration": _delta,
    "ParameterDerivatives": _parameters,
    "ParameterDerivatives of a": _parameters_of_a,
    "ParameterJacobian": _parameter_jacobian,
    "ForwardKinematics": _poses,
    "Jacobian": of_configuration(gs.Jacobian, "hand.tip"),
    "JacobianRate": of_motion(gs.JacobianRate, "hand.tip"),
    "CenterOfMass": of_motion(gs.CenterOfMass),
    "CentroidalMatrix": of_configuration(gs.CentroidalMatrix),
    "CentroidalMomentum": of_motion(gs.CentroidalMomentum),
    "KineticEnergy": of_motion(gs.KineticEnergy),
    "PotentialEnergy": of_configuration(gs.PotentialEnergy),
    "TotalInertia": of_configuration(gs.TotalInertia),
    "InverseOperationalInertia": of_configuration(gs.InverseOperationalInertia, {"hand.tip": "fixed"}),
    "CentroidalMomentumRate": interpreted(gs.CentroidalMomentumRate),
    "ZeroMomentPoint": interpreted(gs.ZeroMomentPoint, height=-0.3),
    "CapturePoint": of_motion(gs.CapturePoint, height=-30.0),
    "StabilityMargin": of_configuration(gs.StabilityMargin, ["hand.tip", "hand.origin", "world.frame"]),
    "FrictionMargins": interpreted(gs.FrictionMargins, {"hand.tip": {"kind": ROW, "friction": 0.6}}),
    "ContactVelocities": of_motion(gs.ContactVelocities, {"hand.tip": ROW}, ()),
    "ContactDynamics": interpreted(gs.ContactDynamics, {"hand.tip": ROW}),
    "ContactDynamicsDerivatives": interpreted(gs.ContactDynamicsDerivatives, {"hand.tip": ROW}),
    "Impact": of_motion(gs.Impact, {"hand.tip": ROW}, 0.5),
    "ActuatorDynamics": _actuators,
    "Regressor": _regressor,
    "ElasticInverseDynamics": _elastic,
    "live": _derivatives_of,
    "linearise": _linear,
    "eigenfrequencies": _frequencies,
    "operators": _operators,
    "Solvers": _together,
    "BlockSolver": _block,
    "in_order": _some_joints,
}
ELSEWHERE = {
    "InverseKinematics": "test_an_inverse_kinematics_with_components_from_elsewhere",
    "AchievableMotion": "test_achievable_motion_with_components_from_elsewhere",
}
REFUSED = {
    "Regressor": (MASSIVE, "ten parameters"),
    "PotentialEnergy": ({"spring hinge"}, "energy is not known"),
    "ElasticInverseDynamics": ({"socket"}, "quaternion"),
}


def pair(name, turned, **context):
    case = CASES[name]
    return arm(case.mine(turned), **context), arm(case.theirs(turned), **context)


plain_pair = lru_cache(pair)


def same(mine, theirs, tolerance=1e-9):
    if isinstance(mine, np.ndarray | float):
        assert_close(np.asarray(mine), np.asarray(theirs), tolerance)
    else:
        for x, y in zip(mine, theirs, strict=True):
            same(x, y, tolerance)


def test_every_public_solver_is_asked():
    public = {name for name in dir(gs) if inspect.isclass(x := getattr(gs, name)) and issubclass(x, Solver)}
    assert public <= {name.split()[0] for name in QUESTIONS} | set(ELSEWHERE)


def asked():
    """Every question; one that is asked in three representations is answered in one of them, or slowly in all."""
    for n, (name, turned) in enumerate(MOUNTED):
        for k, question in enumerate(QUESTIONS):
            where = f"{name}{' turned round' * turned}"
            again = question.split()[-1] in REPRESENTATIONS and (n + k // 3) % 3 != k % 3
            yield pytest.param(question, name, turned, id=f"{question}-{where}", marks=[pytest.mark.slow] * again)


@pytest.mark.parametrize(("question", "name", "turned"), list(asked()))
def test_components_from_elsewhere_are_in_every_solver(question, name, turned):
    mine, theirs = plain_pair(name, turned)
    q, v, a = random_state(theirs, np.random.default_rng(5))
    ask = QUESTIONS[question]
    refused, why = REFUSED.get(question, ((), ""))
    if name in refused:
        with pytest.raises(gs.GyrostatError, match=f"'x'.*{why}"):
            ask(mine, q, v, a)
        return
    same(ask(mine, q, v, a), ask(theirs, q, v, a))


@pytest.mark.parametrize("context", ["free", "field", "central"])
@pytest.mark.parametrize(("name", "turned"), MOUNTED, ids=IDS)
def test_components_from_elsewhere_on_free_bases_and_in_fields(name, turned, context):
    field = gs.UniformGravity(g=(1.0, -2.0, -9.0), treat_as="field")
    options = {
        "free": {"base": "free"},
        "field": {"gravity": field},
        "central": {"gravity": gs.CentralGravity(mu=50.0, centre=(3.0, 1.0, -2.0))},
    }
    mine, theirs = pair(name, turned, **options[context])
    q, v, a = random_state(theirs, np.random.default_rng(6))
    for question in (
        "ForwardDynamics aba body",
        "InverseDynamics newton-euler absolute",
        "Coriolis",
        "PotentialEnergy",
    ):
        if name not in REFUSED.get(question, ((), ""))[0]:
            same(QUESTIONS[question](mine, q, v, a), QUESTIONS[question](theirs, q, v, a))


@pytest.mark.parametrize(("name", "turned"), MOUNTED, ids=IDS)
def test_components_from_elsewhere_on_a_base_that_moves_by_itself(name, turned):
    base = gs.HarmonicMotion(amplitude=(0.1, 0, 0), frequency=2.0, axis="x", swing=0.3)
    mine, theirs = pair(name, turned, base=base)
    q, v, a = random_state(theirs, np.random.default_rng(3))
    asked = {
        gs.InverseDynamics: (q, v, a), gs.ForwardDynamics: (q, v, a), gs.KineticEnergy: (q, v),
        gs.CentroidalMomentum: (q, v),
    }  # fmt: skip
    for cls, state in asked.items():
        answers = [np.asarray(cls(m, mode="interpret")(*state, t=0.3)) for m in (mine, theirs)]
        same(*answers)
    for model in (mine, theirs):
        D, C, G, Q, _ = gs.EquationsOfMotion(model, mode="interpret")(q, v, t=0.3)
        same(D @ a + C @ v + G + Q, gs.InverseDynamics(model, mode="interpret")(q, v, a, t=0.3))


def test_rollouts_move_components_from_elsewhere():
    for name, turned in (("bob", False), ("spring hinge", True), ("socket", True)):
        mine, theirs = pair(name, turned)
        q, v, _ = random_state(theirs, np.random.default_rng(4))
        start = {"q0": np.tile(q, (3, 1)), "v0": np.tile(v, (3, 1))}
        runs = [gs.rollout(m, lambda t, q, v: -0.3 * v, **start, dt=1e-3, steps=20) for m in (mine, theirs)]
        assert_close(runs[0].q, runs[1].q, 1e-9)


@pytest.mark.parametrize(("name", "turned"), MOUNTED, ids=IDS)
def test_components_from_elsewhere_are_compiled_in_batches_and_exported(name, turned, tmp_path):
    mine, theirs = pair(name, turned)
    states = [random_state(theirs, np.random.default_rng(k)) for k in range(3)]
    q, v, a = (np.array(x) for x in zip(*states, strict=True))
    assert_close(gs.aba(mine, q, v, a), gs.aba(theirs, q, v, a), 1e-9)
    assert_close(gs.ForwardDynamics(mine).casadi()(q[0], v[0], a[0]).full().ravel(), gs.aba(theirs, q, v, a)[0], 1e-9)


DRIVES = {
    "geared": {"rotor_inertia": 1e-4, "gear_ratio": 80.0, "viscous": 0.1, "coulomb": 0.2},
    "elastic": {"rotor_inertia": 1e-4, "gear_ratio": 80.0, "stiffness": 500.0},
    "reflected": {"rotor_inertia": 1e-4, "gear_ratio": 80.0, "reflected_inertia_only": True, "torque_limit": 3.0},
}
ASKED_WITH_DRIVES = (
    *("InverseDynamics newton-euler body", "ForwardDynamics aba body", "ForwardDynamics operators body"),
    *("MassMatrix crba body", "MassMatrix operators body", "Coriolis", "EquationsOfMotion", "KineticEnergy"),
    *("InverseDynamicsDerivatives", "CentroidalMomentum", "InverseOperationalInertia", "DeltaAcceleration"),
)


@pytest.mark.parametrize("drive", DRIVES)
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("name", ["swivel", "spring hinge"])
def test_a_hinge_from_elsewhere_can_be_driven(name, turned, drive):
    mine, theirs = (model.with_drive("x", **DRIVES[drive]) for model in pair(name, turned))
    assert mine.dofs == theirs.dofs
    q, v, a = random_state(theirs, np.random.default_rng(8))
    for question in ASKED_WITH_DRIVES:
        same(QUESTIONS[question](mine, q, v, a), QUESTIONS[question](theirs, q, v, a))


def test_a_hinge_without_an_axis_needs_the_axis_of_its_rotor():
    class Bare(gs.Entity):
        @property
        def ports(self):
            return gs.Port("a"), gs.Port("b"), gs.Port("shaft", "scalar")

        @property
        def rates(self):
            return ("v",)

        @property
        def coordinates(self):
            return ("q",)

    try:
        hand = gs.RigidBody("hand", mass=1.0, inertia=(1, 1, 1))
        model = arm((Bare("x"), hand, gs.connect("link.end", "x.a"), gs.connect("x.b", "hand")))
        with pytest.raises(gs.SpecError, match=r"no property 'axis'.*rotor_axis"):
            model.with_drive("x", rotor_inertia=1e-4)
    finally:
        del gs.Entity.registry["bare"]


@pytest.mark.by_default(8)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("name", "turned"), [("bob", False), ("spring hinge", True)])
def test_every_method_moves_components_from_elsewhere(method, name, turned):
    mine, theirs = pair(name, turned)
    q0, v0, _ = random_state(theirs, np.random.default_rng(9))
    options = {"t_eval": np.linspace(0.0, 0.02, 3), **({"dt": 0.002} if "dt" in METHODS[method].options else {})}
    runs = [gs.simulate(m, q0=q0, v0=v0, t_end=0.02, method=method, **options) for m in (mine, theirs)]
    apart = method == "moreau" and name == "spring hinge"  # damping is implicit on shafts, explicit in rows: order dt
    assert_close(runs[0].q, runs[1].q, 1e-3 if apart else 1e-8)
    bounded = 1e-5 if method == "moreau" else 1e-7  # steps keep the energy of bodies; users' components have rows only
    assert_close(runs[0].kinetic_energy, runs[1].kinetic_energy, 0.1 if apart else bounded)
