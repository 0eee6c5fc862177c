"""A base that moves by itself: the terms sum to the inverse dynamics, and rates of Jacobians are rates."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.spatial.base_motion import base_state
from tests.support.comparing import REPRESENTATIONS, assert_close, central

SHAKE = gs.HarmonicMotion(
    offset=(0.3, -0.2, 0.5), velocity=(0.4, 0.1, -0.3), amplitude=(0.2, -0.1, 0.15), frequency=0.7, phase=0.4,
    axis=(0.6, 0.0, 0.8), angle=0.5, rate=1.3, swing=0.4, swing_frequency=0.9, swing_phase=0.2,
)  # fmt: skip
BASES = {"harmonic": SHAKE, "function": lambda t: tuple(base_state(SHAKE, t))}
T = 0.37


def arm(base, **context):
    """A ball joint, a hinge with gear and friction, a slide; gyrostats, a constant wrench, a spring between frames."""
    bodies = [
        gs.RigidBody(f"link{k}", mass=1.0 + k, com=(0.1, 0.2, -0.1 * k), inertia=(0.3, 0.4, 0.5),
                     momentum=(0.2, 0.0, 0.4), frames={"tip": (0.4, 0.0, 0.1)}) for k in range(3)
    ]  # fmt: skip
    joints = [
        gs.Joint("ball", "spherical"), gs.Joint("hinge", "revolute", axis="y"), gs.Joint("slide", "prismatic", axis="x")
    ]  # fmt: skip
    parts = [part for pair in zip(joints, bodies, strict=True) for part in pair]
    push = gs.ForceElement("push", wrench=(0.1, 0, 0.3, 1.0, 0.5, -0.2), expressed_in="world")
    rope = gs.PointSpring("rope", stiffness=20.0, damping=3.0, rest_length=0.1)
    ends = gs.connect("link2.tip", "push"), gs.connect("link2.tip", "rope.a"), gs.connect("world", "rope.b")
    model = gs.assemble("arm", gs.chain("world", *parts), push, rope, *ends, base=base, **context)
    return model.with_drive("hinge", gear_ratio=20.0, rotor_inertia=1e-3, coulomb=0.4, viscous=0.3)


def state(model, names="qva", seed=0):
    rng = np.random.default_rng(seed)
    return [gs.random_configuration(model, rng) if n == "q" else rng.uniform(-1.0, 1.0, model.nv) for n in names]


LAWS = {"uniform": (0.0, 1.0, -9.81), "central": gs.CentralGravity(mu=50.0, centre=(0.0, 4.0, -3.0))}


@pytest.mark.parametrize(
    ("representation", "mode"), [*((rep, "interpret") for rep in REPRESENTATIONS), ("body", "compile")]
)
@pytest.mark.parametrize("base", BASES)
def test_the_terms_sum_to_inverse_dynamics(base, representation, mode):
    for law in LAWS if mode == "interpret" else ["uniform"]:
        model = arm(BASES[base], gravity=LAWS[law])
        q, v, a = state(model)
        w = {"link1.tip": np.arange(6.0)}
        D, C, G, Q, C_skew = gs.EquationsOfMotion(model, representation, mode=mode)(q, v, w, t=T)
        tau = gs.InverseDynamics(model, mode="interpret")(q, v, a, w, t=T)
        assert_close(D @ a + C @ v + G + Q, tau, 1e-12)
        assert_close(D @ a + C_skew @ v + G + Q, tau, 1e-12)
        still = gs.EquationsOfMotion(model.replace({"context.base": "fixed"}), mode="interpret")(q, v, w)
        assert_close(D, still.D, 1e-12)
        assert_close(C, still.C, 1e-12)


def test_a_live_robot_on_a_driven_base_has_terms_that_sum():
    model = arm(SHAKE)
    solver = gs.EquationsOfMotion(model, live=["link1.mass", "context.gravity"])
    changed = model.replace({"link1.mass": 7.0, "context.gravity": (1.0, 2.0, -3.0)})
    solver.refresh(changed)
    (q, v, a), t = (np.stack([state(model, seed=k)[n] for k in range(5)]) for n in range(3)), np.linspace(0, 1, 5)
    D, C, G, Q, _ = solver(q, v, t=t)
    total = np.einsum("kij,kj->ki", D, a) + np.einsum("kij,kj->ki", C, v) + G + Q
    assert_close(total, gs.rnea(changed, q, v, a, t=t), 1e-12)


@pytest.mark.parametrize("algorithm", gs.ForwardDynamics.algorithms)
def test_every_forward_dynamics_on_a_driven_base_undoes_inverse_dynamics(algorithm):
    model = arm(SHAKE)
    q, v, a = state(model)
    tau = gs.InverseDynamics(model, mode="interpret")(q, v, a, t=T)
    assert_close(gs.ForwardDynamics(model, algorithm, mode="interpret")(q, v, tau, t=T), a, 1e-10)


@pytest.mark.parametrize("mode", ["compile", "interpret"])
@pytest.mark.parametrize("expressed_in", ["local", "aligned", "world"])
@pytest.mark.parametrize("base", BASES)
def test_the_rate_of_a_jacobian_is_its_derivative_in_time(base, expressed_in, mode):
    model = arm(BASES[base])
    q, v = state(model, "qv")
    for frame in ("link2.tip", "link0", "ball.a"):
        J = gs.Jacobian(model, frame, expressed_in, mode=mode)
        dJ = gs.JacobianRate(model, frame, expressed_in, mode=mode)(q, v, t=T)
        assert_close(dJ, central(lambda s, J=J: J(gs.integrate(model, q, v, s), t=T + s), 0.0), 1e-9)


def test_accelerations_of_a_frame_on_a_driven_base_are_j_a_plus_the_rates():
    """V = J v + V_0(q, t): the rate of the Jacobian is what multiplies v in dV/dt, V_0 is that at v = 0."""
    model = arm(SHAKE)
    q, v, a = state(model)
    fk = gs.ForwardKinematics(model, "link2.tip")

    def carried(s):
        return fk(gs.integrate(model, q, v, s), np.zeros(model.nv), t=T + s)["link2.tip"].velocity("local")

    J, dJ = gs.jacobian(model, q, "link2.tip", "local", t=T), gs.jacobian_rate(model, q, v, "link2.tip", "local", t=T)
    assert_close(J @ a + dJ @ v + central(carried, 0.0), fk(q, v, a, t=T)["link2.tip"].A, 1e-9)
