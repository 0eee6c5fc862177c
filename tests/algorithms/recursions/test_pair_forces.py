"""Springs between points and bushings: closed formulas, equal and opposite forces, energy, derivatives."""

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.spatial.so3_recorded import smooth_log, smooth_right_jacobian_inverse
from tests.oracles.test_family_against_pinocchio import interpreted
from tests.support.comparing import assert_close, central
from tests.support.pinocchio_oracle import random_state

STIFF = (30.0, 20.0, 10.0, 300.0, 200.0, 100.0)
LOSSY = (0.3, 0.2, 0.1, 3.0, 2.0, 1.0)


def box(name, **more):
    given = {"mass": 1.5, "com": (0.1, 0.05, -0.02), "inertia": (0.03, 0.04, 0.05), "frames": {"tip": (0.3, -0.1, 0.2)}}
    return gs.RigidBody(name, **(given | more))


def two_boxes(element, base="fixed", gravity=(0, 0, 0)):
    """Two bodies that fly freely, and an element between their tips."""
    parts = [gs.chain("world", gs.Joint(f"fly{k}", "free"), box(f"box{k}")) for k in (0, 1)]
    ends = gs.connect("box0.tip", f"{element.name}.a"), gs.connect("box1.tip", f"{element.name}.b")
    return gs.assemble("two", *parts, element, *ends, gravity=gravity, base=base)


def tree_with(element, seed=5, base="free", gravity=None):
    """A random tree with an element between two of its branches."""
    plain = gs.robots.tree(seed, 3, kinds=("revolute", "prismatic", "spherical"), base=base, reversed_share=0.4,
                           gravity=gravity)  # fmt: skip
    wires = (*plain.connections, ("body2.tip", f"{element.name}.a"), ("body0.side", f"{element.name}.b"))
    return gs.Model(plain.name, (*plain.entities, element), wires, plain.context)


ELEMENTS = {
    "spring": lambda: gs.PointSpring("e", stiffness=80.0, rest_length=0.3),
    "spring without length": lambda: gs.PointSpring("e", stiffness=80.0),
    "spring and damper": lambda: gs.PointSpring("e", stiffness=80.0, damping=5.0, rest_length=0.3),
    "bushing": lambda: gs.Bushing("e", stiffness=STIFF),
    "bushing with losses": lambda: gs.Bushing("e", stiffness=STIFF, damping=LOSSY),
}


def losses(model, q, v):
    """Power of the dampers, from the motion of the two frames."""
    element = next(e for e in model.entities if isinstance(e, gs.PointSpring | gs.Bushing))
    moved = gs.fk(model, q, v)
    wires = {port: wire[0] for wire in model.connections for port in wire[1:]}
    (R_a, p_a, V_a), (_, p_b, V_b) = (
        (moved[wires[f"e.{k}"]].R, moved[wires[f"e.{k}"]].p, moved[wires[f"e.{k}"]].velocity("aligned")) for k in "ab"
    )
    d = p_b - p_a
    if isinstance(element, gs.PointSpring):
        return element.damping * (d @ (V_b - V_a)[3:]) ** 2 / (d @ d)
    w, u = R_a.T @ (V_b - V_a)[:3], R_a.T @ ((V_b - V_a)[3:] - np.cross(V_a[:3], d))
    return np.array(element.damping) @ np.concatenate([w, u]) ** 2


# ------------------------------------------------------------------------------------------------ closed formulas
def test_a_spring_pulls_along_its_line():
    """A mass 0.5 m above the world on a spring of 100 N/m and 0.2 m: 30 N down, and the damper 4 N s/m x 2 m/s more."""
    block = gs.RigidBody("block", mass=2.0)
    spring = gs.PointSpring("spring", stiffness=100.0, damping=4.0, rest_length=0.2)
    parts = gs.chain("world", gs.Joint("lift", "prismatic", axis="z"), block), spring
    model = gs.assemble("m", *parts, gs.connect("world", "spring.a"), gs.connect("block", "spring.b"))
    assert_close(gs.rnea(model, [0.5], [2.0], [0.0]), [2.0 * 9.81 + 30.0 + 8.0])
    assert_close(gs.aba(model, [0.5], [2.0], [0.0]), [-9.81 - 38.0 / 2.0])
    assert_close(gs.potential_energy(model, [0.5]), 2.0 * 9.81 * 0.5 + 100.0 * 0.3**2 / 2)


def test_a_bushing_acts_along_the_axes_of_a():
    """b is turned by a quarter about z and shifted by (0.1, 0.2, 0.3): along the axes of a, whatever b does."""
    bush = gs.Bushing("bush", stiffness=STIFF, damping=LOSSY)
    model = gs.assemble(
        "m",
        gs.chain("world", gs.Joint("fly", "free"), gs.RigidBody("body", mass=1.0, inertia=(1, 1, 1))),
        bush,
        gs.connect("world", "bush.a"),
        gs.connect("body", "bush.b"),
        gravity=(0, 0, 0),
    )
    h = np.sqrt(0.5)
    q = np.array([0.1, 0.2, 0.3, 0, 0, h, h])
    tau = gs.rnea(model, q, np.zeros(6), np.zeros(6))  # holds the body against the bushing, in b
    assert_close(tau[:3], [0, 0, 10.0 * np.pi / 2])
    R = gs.fk(model, q)["body"].R
    assert_close(R @ tau[3:], [300.0 * 0.1, 200.0 * 0.2, 100.0 * 0.3])
    v = np.array([1.0, 2.0, 3.0, -1.0, 0.5, 0.2])  # in b
    lost = gs.rnea(model, q, v, np.zeros(6)) - gs.rnea(_undamped(model), q, v, np.zeros(6))
    assert_close(R @ lost[:3], np.array(LOSSY[:3]) * (R @ v[:3]))
    assert_close(R @ lost[3:], np.array(LOSSY[3:]) * (R @ v[3:]))


def _undamped(model):
    return model.replace({"bush.damping": (0,) * 6})


def test_the_rotation_vector_of_a_bushing():
    rng = np.random.default_rng(0)
    for angle in (0.0, 1e-12, 1e-7, 1e-3, 1.0, 3.0):
        axis = rng.normal(size=3)
        r = angle * axis / np.linalg.norm(axis)
        x, y, z = r
        K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        R = np.eye(3) + K * np.sinc(angle / np.pi) + K @ K * np.sinc(angle / 2 / np.pi) ** 2 / 2
        assert_close(smooth_log(R), r, 1e-15)


def test_the_restoring_torque_does_the_work_of_its_energy():
    """d/dt (r . K r / 2) = torque . w for a rotation that goes on with w."""
    rng = np.random.default_rng(1)
    k = np.array([3.0, 2.0, 1.0])

    def turned(R, w):
        angle = np.linalg.norm(w)
        x, y, z = w
        K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        return (np.eye(3) + K * np.sinc(angle / np.pi) + K @ K * np.sinc(angle / 2 / np.pi) ** 2 / 2) @ R

    for size in (1e-9, 1e-3, 0.5, 2.5):
        r0, w = size * _unit(rng), _unit(rng)
        R = turned(np.eye(3), r0)

        def energy(t, R=R, w=w):
            r = smooth_log(turned(R, w * t))
            return k @ r**2 / 2

        assert_close(smooth_right_jacobian_inverse(r0, k * r0) @ w, central(energy, 0.0, 1e-3), 1e-9)


def _unit(rng):
    x = rng.normal(size=3)
    return x / np.linalg.norm(x)


# ------------------------------------------------------------------------------------------------ balance
@pytest.mark.parametrize("kind", ELEMENTS)
def test_forces_are_equal_and_opposite_with_their_moments(kind):
    """On two free bodies the element adds no force and no moment to the whole."""
    model = two_boxes(ELEMENTS[kind]())
    q, v, _ = random_state(model, np.random.default_rng(3))
    with interpreted():
        a = gs.aba(model, q, v, np.zeros(12))
        alone = gs.aba(_without(model), q, v, np.zeros(12))

        def momentum(t, a):
            now = gs.integrate(model, q, v * t)
            p = gs.center_of_mass(model, now, v + a * t).p
            h = gs.centroidal_momentum(model, now, v + a * t)
            return np.concatenate([h[:3] + np.cross(p, h[3:]), h[3:]])

        assert np.abs(a - alone).max() > 1.0  # it does act
        assert_close(central(lambda t: momentum(t, a), 0.0), np.zeros(6), 1e-8)


def _without(model):
    kept = [e for e in model.entities if e.name != "e"]
    wires = [w for w in model.connections if not any(port.startswith("e.") for port in w)]
    return gs.Model(model.name, kept, wires, model.context)


@pytest.mark.parametrize("kind", ELEMENTS)
@pytest.mark.parametrize("build", [tree_with, two_boxes])
def test_energy_changes_by_the_losses_alone(kind, build):
    model = build(ELEMENTS[kind](), gravity=(1.0, 2.0, -9.0))
    q, v, _ = random_state(model, np.random.default_rng(4))
    with interpreted():
        a = gs.aba(model, q, v, np.zeros(model.nv))

        def energy(t):
            now = gs.integrate(model, q, v * t)
            return gs.kinetic_energy(model, now, v + a * t) + gs.potential_energy(model, now)

        assert_close(central(energy, 0.0), -losses(model, q, v), 1e-7)


# ------------------------------------------------------------------------------------------------ everything else
@pytest.mark.parametrize("kind", ELEMENTS)
def test_all_ways_agree(kind):
    model = tree_with(ELEMENTS[kind]())
    q, v, a = random_state(model, np.random.default_rng(6))
    with interpreted():
        tau = gs.rnea(model, q, v, a)
        for representation in ("body", "inertial", "absolute"):
            assert_close(gs.rnea(model, q, v, a, representation=representation), tau, 1e-10)
            for algorithm in ("aba", "crba", "walker-orin", "mrnea", "newton-euler", "operators"):
                found = gs.aba(model, q, v, tau, algorithm=algorithm, representation=representation)
                assert_close(found, a, 1e-9)
        assert_close(gs.bias(model, q, v), gs.rnea(model, q, v, a * 0), 1e-10)
        assert_close(gs.crba(model, q), gs.crba(_without(model), q))
        Y, tau_0 = gs.Regressor(model)(q, v, a)
        assert_close(Y @ gs.inertial_parameters(model) + tau_0, tau, 1e-10)
        terms = gs.EquationsOfMotion(model)(q, v)
        assert_close(terms.D @ a + terms.C @ v + terms.G + terms.Q, tau, 1e-9)


@pytest.mark.parametrize("kind", ELEMENTS)
def test_derivatives_are_those_of_differences(kind):
    model = tree_with(ELEMENTS[kind](), seed=7)
    q, v, a = random_state(model, np.random.default_rng(8))
    n = model.nv
    with interpreted():
        tau = gs.rnea(model, q, v, a)
        inverse = gs.rnea_derivatives(model, q, v, a)
        forward = gs.aba_derivatives(model, q, v, tau)
        for k, e in enumerate(np.eye(n)[:4]):
            moved = central(lambda t, e=e: gs.rnea(model, gs.integrate(model, q, e * t), v, a), 0.0)
            assert_close(inverse.dtau_dq[:, k], moved, 1e-7)
            assert_close(inverse.dtau_dv[:, k], central(lambda t, e=e: gs.rnea(model, q, v + e * t, a), 0.0), 1e-7)
            moved = central(lambda t, e=e: gs.aba(model, gs.integrate(model, q, e * t), v, tau), 0.0)
            assert_close(forward.da_dq[:, k], moved, 1e-6)


def test_a_bushing_at_rest_has_derivatives():
    """At zero deflection the rotation vector has no direction, yet the stiffness is there."""
    model = gs.assemble(
        "m",
        gs.chain("world", gs.Joint("fly", "free"), gs.RigidBody("body", mass=1.0, inertia=(1, 1, 1))),
        gs.Bushing("bush", stiffness=STIFF),
        gs.connect("world", "bush.a"),
        gs.connect("body", "bush.b"),
        gravity=(0, 0, 0),
    )
    rest = np.zeros(6)
    for mode in ("interpret", "compile"):
        found = gs.InverseDynamicsDerivatives(model, mode=mode)(gs.neutral(model), rest, rest)
        assert_close(found.dtau_dq, np.diag(STIFF), 1e-12)


def test_compiled_code_and_live_properties():
    model = tree_with(ELEMENTS["bushing with losses"](), base="fixed")
    q, v, a = random_state(model, np.random.default_rng(9))
    solver = gs.InverseDynamics(model, live=["e.stiffness", "e.damping"])
    assert_close(solver(q, v, a), gs.InverseDynamics(model, mode="interpret")(q, v, a))
    other = model.replace({"e.stiffness": (1, 2, 3, 4, 5, 6), "e.damping": (6, 5, 4, 3, 2, 1)})
    solver.refresh(other)
    assert_close(solver(q, v, a), gs.InverseDynamics(other, mode="interpret")(q, v, a))


# ------------------------------------------------------------------------------------------------ mistakes
def test_open_ends_are_found_by_check():
    arm = gs.chain(
        "world", gs.Joint("hinge", "revolute", axis="y"), gs.RigidBody("rod", mass=1, frames={"t": (0, 0, 1)})
    )
    one = gs.assemble("m", arm, gs.PointSpring("s", stiffness=1), gs.connect("rod.t", "s.a"))
    with pytest.raises(gs.SpecError) as caught:
        gs.check(one)
    (problem,) = caught.value.problems
    assert problem.rule == "pair-force"
    assert str(problem) == (
        "point spring 's': its port 'b' is connected to no frame of the mechanism. "
        "Hint: connect it to a body, a joint or the reference frame."
    )
    both = gs.PointSpring("s", stiffness=1), gs.PointSpring("r", stiffness=1)
    wires = gs.connect("rod.t", "s.a"), gs.connect("s.b", "r.a"), gs.connect("r.b", "world")
    with pytest.raises(gs.SpecError) as caught:
        gs.check(gs.assemble("m", arm, *both, *wires))
    assert [p.entity for p in caught.value.problems] == ["point spring 's'", "point spring 'r'"]


def test_a_spring_moves_nothing_by_itself():
    """A body that hangs on a spring alone is not connected: springs close no loop and carry no frame."""
    model = gs.assemble(
        "m",
        gs.RigidBody("b", mass=1),
        gs.PointSpring("s", stiffness=1),
        gs.connect("world", "s.a"),
        gs.connect("b", "s.b"),
    )
    with pytest.raises(gs.SpecError, match="rigid body 'b': cannot be reached"):
        gs.check(model)
