"""Rows of components: an unknown one, internal momentum, gravity, driven bases, given and cut forces, other scalars.

Most of it runs on the plain NumPy code; ``test_solvers.py`` compares that with the compiled code.
"""

from __future__ import annotations

import math
import operator
from functools import partial

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.recursions.rne import sweep_forces
from gyrostat.spatial.algebra import join
from gyrostat.spatial.gravity import gravity as gravity_law
from gyrostat.spatial.inertia import SpatialInertia
from gyrostat.spatial.representation import representation
from gyrostat.spec.values import Axis, Number, Vector
from tests.support.comparing import REPRESENTATIONS, assert_close, assert_differs, central
from tests.support.random_models import random_state, various_tree

inverse_dynamics = partial(gs.InverseDynamics, mode="interpret")
kinematics_of = partial(gs.ForwardKinematics, mode="interpret")
J = ((0.30, 0.02, -0.01), (0.02, 0.25, 0.03), (-0.01, 0.03, 0.20))


def link(name, **frames):
    return gs.RigidBody(name, mass=1.3, com=(0.1, -0.2, 0.15), inertia=J, frames=frames)


def hinge(name, axis="z"):
    return gs.Joint(name, "revolute", axis=axis)


def state(model, seed=1):
    return random_state(model, np.random.default_rng(seed))


# ------------------------------------------------------------------------------------------------ a new component
@pytest.fixture
def Wheel():
    """A wheel that spins at constant speed in what it is connected to; known to the library during one test."""

    class Wheel(gs.Entity):
        """``axial``, ``transverse``: moments about its centre ``com``; ``speed`` [rad/s] about ``axis``."""

        mass: Number
        axial: Number
        transverse: Number
        speed: Number
        com: Vector = (0.0, 0.0, 0.0)
        axis: Axis = (0.0, 0.0, 1.0)

    @gs.kinematics.row(Wheel)
    def nothing_behind(c, on, motion, q, v, a):
        return {}, None

    @gs.rne.row(Wheel)
    def wheel(c, on, motion, memo):
        rep, m, com, u = on.representation, c["mass"], c["com"], c["axis"]
        J_c = c["transverse"] * (np.eye(3) - np.outer(u, u)) + c["axial"] * np.outer(u, u)
        M = rep.inertia(motion.pose, SpatialInertia.at_centre(m, com, J_c))
        l = rep.force(motion.pose, join(c["axial"] * c["speed"] * u, np.zeros(3)))
        weight = rep.force(motion.pose, on.gravity.weight(motion.pose, m, com, J_c))
        own = rep.newton_euler(M, l, motion.V, motion.A) - weight
        return lambda forces: (own, np.zeros(0))

    yield Wheel
    del gs.Entity.registry["wheel"], gs.kinematics.rows[Wheel], gs.rne.rows[Wheel]


AXIS, SPEED = (0.48, -0.6, 0.64), 35.0
MASS, AXIAL, TRANSVERSE, AT = 0.7, 0.02, 0.013, (0.2, 0.1, -0.3)
ARM = gs.chain(
    "world",
    gs.Joint("ball", "spherical"),
    link("upper", tip=((0.3, 0.1, 0.4), gs.rpy(0.2, 0.4, -0.3))),
    gs.Joint("slide", "cylindrical", axis=(0.6, 0, 0.8)),
    link("fore", tip=(0, 0.2, 0.5)),
    hinge("wrist", "y"),
    link("hand"),
)


def along(axis):
    """A rotation whose z axis is ``axis``."""
    z = np.array(axis)
    x = np.cross(z, [0.0, 0.0, 1.0])
    x = x / np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def spinning_body(*places):
    """A wheel at each place, as a body of its own on a revolute joint."""
    parts = []
    for k, port in enumerate(places):
        at = gs.Displacement(f"seat{k}", translation=AT, rotation=along(AXIS))
        rim = gs.RigidBody(f"rim{k}", mass=MASS, inertia=(TRANSVERSE, TRANSVERSE, AXIAL))
        parts.append(gs.chain(port, at, hinge(f"spin{k}"), rim))
    return parts


def with_wheels(Wheel, *places):
    wheels = [Wheel(f"wheel{k}", mass=MASS, axial=AXIAL, transverse=TRANSVERSE, speed=SPEED, com=AT, axis=AXIS)
              for k, _ in enumerate(places)]  # fmt: skip
    return gs.assemble("arm", ARM, *wheels, *(gs.connect(place, f"wheel{k}.frame") for k, place in enumerate(places)))


def with_spin(model, q, v, a, rng):
    """The state of the explicit model: the wheels turn at constant speed and stand at any angle."""
    n = model.nv - len(v)
    return np.r_[q, rng.uniform(-3, 3, n)], np.r_[v, np.full(n, SPEED)], np.r_[a, np.zeros(n)]


@pytest.mark.parametrize("rep", REPRESENTATIONS)
def test_a_component_from_outside_gives_what_an_explicit_model_gives(Wheel, rep):
    places = ("upper.origin", "fore.tip", "hand.origin")
    model, explicit = with_wheels(Wheel, *places), gs.assemble("arm", ARM, *spinning_body(*places))
    q, v, a = state(model)
    tau = inverse_dynamics(model, rep)(q, v, a)
    whole = with_spin(explicit, q, v, a, np.random.default_rng(2))
    expected = inverse_dynamics(explicit, rep)(*whole)
    assert_close(tau, expected[: model.nv])
    op = gs.operators(model, q, v, representation=rep)
    assert_close(op.rnea(a), tau)
    assert_close(gs.operators(explicit, *whole[:2], representation=rep).rnea(whole[2]), expected)
    solver = gs.InverseDynamics(model, rep)  # and its row can be compiled like all others
    assert_close(solver(q, v, a), tau)


def test_without_its_spin_the_component_is_another_one(Wheel):
    model = with_wheels(Wheel, "fore.tip")
    q, v, a = state(model)
    still = model.replace({"wheel0.speed": 0.0})
    assert_differs(inverse_dynamics(model)(q, v, a), inverse_dynamics(still)(q, v, a))
    body = gs.RigidBody("wheel0", mass=MASS, com=AT, inertia=still_inertia())
    welded = gs.assemble("arm", ARM, body, gs.connect("fore.tip", "wheel0.origin"))
    assert_close(inverse_dynamics(still)(q, v, a), inverse_dynamics(welded)(q, v, a))


def still_inertia():
    R = along(AXIS)
    return R @ np.diag([TRANSVERSE, TRANSVERSE, AXIAL]) @ R.T


def test_properties_of_a_new_component_have_paths(Wheel):
    model = with_wheels(Wheel, "hand.origin")
    assert model["wheel0.speed"] == SPEED
    assert model["wheel0.axis"] == AXIS
    assert {"wheel0.mass", "wheel0.axial", "wheel0.com"} <= set(model.paths())
    faster = model.replace({"wheel0.speed": 70.0, "wheel0.axis": "x"})
    assert (faster["wheel0.speed"], faster["wheel0.axis"], model["wheel0.speed"]) == (70.0, (1.0, 0.0, 0.0), SPEED)
    q, v, a = state(model)
    slow, fast, still = (inverse_dynamics(model.replace({"wheel0.speed": s}))(q, v, a) for s in (SPEED, 70.0, 0.0))
    assert_close(fast - still, 2.0 * (slow - still))  # linear in the spin
    with pytest.raises(gs.SpecError, match=r"no 'sped'.*did you mean 'speed'"):
        model.replace({"wheel0.sped": 1.0})
    with pytest.raises(gs.SpecError, match=r"wheel 'w'.*needs the property 'speed'"):
        Wheel("w", mass=1.0, axial=1.0, transverse=1.0)


def test_a_component_can_be_mounted_on_any_port_and_is_moved_by_all_rules(Wheel):
    model = with_wheels(Wheel, "upper.origin", "upper.tip", "slide.b")
    q, v, a = state(model)
    assert_close(inverse_dynamics(model)(q, v, a), inverse_dynamics(model, rules=())(q, v, a))


@pytest.mark.parametrize("mode", ["interpret", "compile"])
def test_a_missing_row_is_refused_by_kind_with_a_remedy(Wheel, mode):
    model = with_wheels(Wheel, "hand.origin")
    q, v, a = state(model)
    row = gs.rne.rows.pop(Wheel)
    try:
        pattern = r"recursive Newton-Euler has no row for 'wheel0' of kind Wheel. Hint: .*register it with row\(Wheel\)"
        with pytest.raises(gs.RowError, match=pattern):
            gs.InverseDynamics(model, mode=mode)(q, v, a)
        gs.ForwardKinematics(model, mode=mode)(q)  # kinematics has one
    finally:
        gs.rne.rows[Wheel] = row
    row = gs.kinematics.rows.pop(Wheel)
    try:
        with pytest.raises(gs.RowError, match="forward kinematics has no row for 'wheel0' of kind Wheel"):
            gs.ForwardKinematics(model, mode=mode)(q)
    finally:
        gs.kinematics.rows[Wheel] = row


def test_a_kind_derived_from_a_known_one_is_served_by_its_rows(Wheel):
    class Flywheel(Wheel):
        """Nothing new."""

    class Plate(gs.RigidBody):
        """Nothing new."""

    try:
        model, plain = with_wheels(Flywheel, "hand.origin"), with_wheels(Wheel, "hand.origin")
        q, v, a = state(model)
        assert_close(inverse_dynamics(model)(q, v, a), inverse_dynamics(plain)(q, v, a), 0.0)
        plate = Plate("hand", mass=1.3, com=(0.1, -0.2, 0.15), inertia=J)
        model, plain = (gs.assemble("m", gs.chain("world", hinge("j"), body)) for body in (plate, link("hand")))
        q, v, a = state(model)
        assert_close(inverse_dynamics(model)(q, v, a), inverse_dynamics(plain)(q, v, a), 0.0)
    finally:
        del gs.Entity.registry["flywheel"], gs.Entity.registry["plate"]


def test_the_new_component_is_gone_after_its_test():
    assert "wheel" not in gs.Entity.registry
    assert not [kind for rows in (gs.kinematics.rows, gs.rne.rows) for kind in rows if kind.__name__ == "Wheel"]


# ------------------------------------------------------------------------------------------------ internal momentum
@pytest.mark.parametrize("rep", REPRESENTATIONS)
def test_internal_momentum_is_a_wheel_that_spins_at_constant_speed(rep):
    explicit = gs.assemble("arm", ARM, *spinning_body("fore.origin"))
    wheel = SpatialInertia.at_centre(MASS, np.array(AT), still_inertia())
    fore = SpatialInertia.at_centre(1.3, np.array([0.1, -0.2, 0.15]), np.array(J))
    m, h, moment = wheel.m + fore.m, wheel.h + fore.h, wheel.J + fore.J
    com = h / m
    inertia = moment - m * ((com @ com) * np.eye(3) - np.outer(com, com))
    momentum = AXIAL * SPEED * np.array(AXIS)
    changes = {"fore.mass": m, "fore.com": com, "fore.inertia": (inertia + inertia.T) / 2, "fore.momentum": momentum}
    model = gs.assemble("arm", ARM).replace(changes)
    q, v, a = state(model)
    expected = inverse_dynamics(explicit, rep)(*with_spin(explicit, q, v, a, np.random.default_rng(3)))
    assert_close(inverse_dynamics(model, rep)(q, v, a), expected[: model.nv])


def test_turning_a_gyroscope_needs_the_torque_omega_times_l():
    """A body with momentum L along x, turned about z with the rate W, needs the torque W L about y; closed form."""
    W, L = 3.0, 0.8
    body = gs.RigidBody("body", mass=2.0, inertia=(0.1, 0.2, 0.3), momentum=(L, 0, 0))
    model = gs.assemble("gyroscope", gs.chain("world", hinge("yaw"), body), gravity=(0, 0, 0))
    for angle in (0.0, 0.7):
        force = inverse_dynamics(model).port_forces([angle], [W], [0.0])["yaw.b"]
        assert_close(force, [0, W * L, 0, 0, 0, 0], 1e-14)


@pytest.mark.parametrize("rep", REPRESENTATIONS)
def test_a_fast_top_precesses_with_m_g_d_over_l(rep):
    """Its axis is horizontal: steady precession without any torque, W = m g d / L, exact in this position."""
    m, g, d, L = 0.5, 9.81, 0.12, 0.9
    top = gs.RigidBody("top", mass=m, com=(d, 0, 0), inertia=(0.002, 0.001, 0.001), momentum=(L, 0, 0))
    yaw, pitch = hinge("yaw"), hinge("pitch", "y")
    model = gs.assemble("top", gs.chain("world", yaw, gs.RigidBody("fork", mass=0.1), pitch, top))
    tau = inverse_dynamics(model, rep)([0.4, 0.0], [m * g * d / L, 0.0], [0.0, 0.0])
    assert_close(tau, np.zeros(2), 1e-14)
    assert_differs(inverse_dynamics(model, rep)([0.4, 0.0], [0.0, 0.0], [0.0, 0.0]), np.zeros(2), 0.1)


# ------------------------------------------------------------------------------------------------ gravity
G = (1.5, -2.5, -9.0)


@pytest.mark.parametrize("rep", REPRESENTATIONS)
@pytest.mark.parametrize("base", ["fixed", "free"])
def test_uniform_gravity_is_the_same_as_acceleration_field_and_function(rep, base):
    laws = [
        G,
        gs.UniformGravity(g=G, treat_as="field"),
        gs.GravityField(field=lambda p: np.array(G)),
        lambda p: list(G),
    ]
    trees = [gs.robots.tree(3, bodies=5, base=base, reversed_share=0.4, gravity=law) for law in laws]
    q, v, a = state(trees[0])
    expected, *others = (inverse_dynamics(tree, rep)(q, v, a) for tree in trees)
    for tau in others:
        assert_close(tau, expected)
    weightless = gs.robots.tree(3, bodies=5, base=base, reversed_share=0.4, gravity=(0, 0, 0))
    assert_differs(inverse_dynamics(weightless, rep)(q, v, a), expected)


def test_cut_forces_do_not_depend_on_how_gravity_is_treated():
    one, two = (
        gs.robots.tree(3, bodies=5, gravity=gs.UniformGravity(g=G, treat_as=how)) for how in ("acceleration", "field")
    )
    q, v, a = state(one)
    forces = [inverse_dynamics(model).port_forces(q, v, a) for model in (one, two)]
    for port, f in forces[0].items():
        assert_close(f, forces[1][port])


@pytest.mark.parametrize("rep", REPRESENTATIONS)
def test_central_gravity_far_away_is_uniform(rep):
    radius = 1e9
    direction = np.array(G) / np.linalg.norm(G)
    far = gs.CentralGravity(mu=np.linalg.norm(G) * radius**2, centre=direction * radius)
    trees = [gs.robots.tree(3, bodies=5, gravity=law) for law in (G, far)]
    q, v, a = state(trees[0])
    assert_close(*(inverse_dynamics(tree, rep)(q, v, a) for tree in trees), 1e-7)


def test_central_gravity_pulls_a_point_with_mu_over_r_squared():
    body = gs.RigidBody("body", mass=2.0)
    model = gs.assemble(
        "m", body, gs.connect("world", "body.origin"), gravity=gs.CentralGravity(mu=36.0, centre=(1, 2, 2))
    )
    force = inverse_dynamics(model).port_forces([], [], [])["world.frame"]
    assert_close(force, np.r_[0, 0, 0, -np.array([1, 2, 2]) / 3 * 2.0 * 36.0 / 9], 1e-14)  # the base holds it back


POINTS = np.array([[0.9, 0.1, 0.0], [-0.5, 0.6, 0.2], [0.1, -0.8, 0.5], [-0.3, 0.2, -0.7], [0.4, 0.5, 0.6]])
MASSES = np.array([0.7, 1.1, 0.5, 0.9, 0.3])


def cloud(size, law):
    """The same points as one body, and as one body for each; both free to move, the frame in the centre of mass."""
    r = (POINTS - MASSES @ POINTS / MASSES.sum()) * size
    inertia = sum(m * ((x @ x) * np.eye(3) - np.outer(x, x)) for m, x in zip(MASSES, r, strict=True))
    one = gs.RigidBody("all", mass=MASSES.sum(), inertia=(inertia + inertia.T) / 2)
    together = gs.assemble("cloud", one, gs.connect("world", "all.origin"), gravity=law, base="free")
    shifts = [gs.Displacement(f"to{k}", translation=x) for k, x in enumerate(r)]
    points = [gs.RigidBody(f"point{k}", mass=m) for k, m in enumerate(MASSES)]
    joined = [gs.connect("world", *(f"to{k}.a" for k in range(len(r))))]
    joined += [gs.connect(f"to{k}.b", f"point{k}.origin") for k in range(len(r))]
    return together, gs.assemble("cloud", *shifts, *points, *joined, gravity=law, base="free")


def order_of(errors, sizes):
    return np.polyfit(np.log(sizes), np.log(errors), 1)[0]


def test_the_gradient_torque_of_central_gravity_is_exact_to_the_order_of_the_theory():
    """What is neglected is of third order in the size, of the force and of the torque, which is of second order."""
    law = gs.CentralGravity(mu=5.0, centre=(0.3, -2.0, 1.0))
    turn = np.array([0.1, -0.5, 0.3, 0.8])
    q, rest = np.r_[0.4, 0.1, -0.2, turn / np.linalg.norm(turn)], np.zeros(6)
    sizes = np.array([0.2, 0.1, 0.05, 0.025])
    torque_errors, force_errors, torques, accelerated = [], [], [], []
    for size in sizes:
        one, many = (inverse_dynamics(model)(q, rest, rest) for model in cloud(size, law))
        torque_errors.append(np.abs(one - many)[:3].max())
        force_errors.append(np.abs(one - many)[3:].max())
        torques.append(np.abs(many[:3]).max())
        pull = gs.GravityField(field=gs.spatial.gravity.gravity(law).field)  # without the gradient
        accelerated.append(np.abs(inverse_dynamics(cloud(size, pull)[0])(q, rest, rest)[:3]).max())
    assert order_of(torques, sizes) == pytest.approx(2.0, abs=0.15)
    assert order_of(torque_errors, sizes) == pytest.approx(3.0, abs=0.2)
    assert order_of(force_errors, sizes) == pytest.approx(3.0, abs=0.2)
    assert torque_errors[-1] < 0.1 * torques[-1]
    assert max(accelerated) < 1e-14


@pytest.mark.parametrize(
    "law", [gs.CentralGravity(mu=9.0, centre=(0, 0, -3)), lambda p: np.array([0, p[0] ** 2, -p[2]])]
)
def test_bodies_in_a_field_that_varies_are_not_merged(law):
    first = gs.RigidBody("first", mass=1.0, inertia=(0.01, 0.01, 0.01), frames={"tip": (1, 0, 0)})
    second = gs.RigidBody("second", mass=1.0, inertia=(0.01, 0.01, 0.01))
    model = gs.assemble("m", gs.chain("world", hinge("j", "y"), first, second), gravity=law)
    tau, drawn = (inverse_dynamics(model, rules=rules)([0.1], [0.0], [0.0]) for rules in (None, ()))
    assert_close(tau, drawn)
    assert "merge-bodies" not in gs.network(model).rules
    assert "merge-bodies" in gs.network(model.replace({"context.gravity": G})).rules


@pytest.mark.parametrize(
    ("value", "pattern"),
    [
        (9.81, r"gravity field: field\(p\) has shape \(\), expected \(3,\), got 9.81"),
        ([1.0, 2.0], r"has shape \(2,\), expected \(3,\)"),
        (None, r"has shape \(\), expected \(3,\)"),
        (["a", "b", "c"], "must hold real numbers"),
        ([np.nan, 0.0, 0.0], "is not finite"),
    ],
)
@pytest.mark.parametrize("mode", ["interpret", "compile"])
def test_a_gravity_function_that_returns_no_vector_is_told_so(value, pattern, mode):
    model = gs.assemble("m", gs.chain("world", hinge("j", "y"), link("body")), gravity=lambda p: value)
    with pytest.raises(gs.GyrostatError, match=pattern):
        gs.InverseDynamics(model, mode=mode)([0.1], [0.0], [0.0])


def test_a_gravity_function_with_branches_is_interpreted():
    """It cannot be recorded; the solver says so and takes the plain code."""

    def inside_and_outside(p):
        return np.array([0.0, 0.0, -9.81]) if p @ p < 0.1 else np.zeros(3)

    model = gs.assemble("m", gs.chain("world", hinge("j", "y"), link("body")), gravity=inside_and_outside)
    for ask in (lambda s: s([0.1], [0.2], [0.3]), lambda s: s.port_forces([0.1], [0.2], [0.3])["j.b"]):
        solver = gs.InverseDynamics(model)
        assert_close(ask(solver), ask(inverse_dynamics(model)), 0.0)
        assert solver.mode == "interpret"
        assert "interpreted: " in solver.explain()


def test_gravity_functions_get_the_centre_of_mass_in_the_world():
    asked = []

    def field(p):
        asked.append(np.array(p))
        return np.zeros(3)

    model = gs.assemble("m", gs.chain("world", hinge("j"), link("body")), gravity=field)
    inverse_dynamics(model)([0.5], [0.0], [0.0])
    frame = kinematics_of(model)([0.5])["body"]
    assert_close(asked[-1], frame.p + frame.R @ np.array([0.1, -0.2, 0.15]), 1e-15)


# ------------------------------------------------------------------------------------------------ driven bases
MOTION = gs.HarmonicMotion(
    offset=(0.1, 0.2, 0.3), velocity=(0.3, 0.0, 0.4), amplitude=(0.12, 0.0, 0.16), frequency=0.4, phase=0.3,
    axis=(0.0, 0.6, 0.8), angle=0.2, rate=0.7, swing=0.5, swing_frequency=0.3, swing_phase=0.9,
)  # fmt: skip
PLANT_LINKS = gs.Joint("ball", "spherical"), link("upper", tip=(0.2, 0.3, 0.1)), hinge("knee", "x"), link("lower")
PLANT = gs.chain("world", *PLANT_LINKS)


def law(offset, rate, amplitude, frequency, phase, t):
    """x, dx, ddx of HarmonicMotion's law, written out once more."""
    w = 2 * math.pi * frequency
    s, c = math.sin(w * t + phase), math.cos(w * t + phase)
    return offset + rate * t + amplitude * s, rate + amplitude * w * c, -amplitude * w * w * s


def as_joints(t):
    """The motion as an explicit model: a slide along (0.6, 0, 0.8), which velocity and amplitude share, and a turn."""
    start = gs.Displacement("start", translation=MOTION.offset)
    slide, turn = gs.Joint("slide", "prismatic", axis=(0.6, 0.0, 0.8)), hinge("turn", (0.0, 0.6, 0.8))
    model = gs.assemble("explicit", gs.chain("world", start, slide, turn, *PLANT_LINKS), gravity=G)
    return model, law(0.0, 0.5, 0.2, 0.4, 0.3, t), law(0.2, 0.7, 0.5, 0.3, 0.9, t)


def as_function(t):
    """R, p, V, A of the same motion for MovingBase."""
    R, p, V, A = gs.spatial.base_motion.base_state(MOTION, t)
    return R, p, V, A


@pytest.mark.parametrize("rep", REPRESENTATIONS)
@pytest.mark.parametrize("t", [0.0, 0.45, 3.2])
def test_a_harmonic_base_is_a_function_of_time_and_a_mechanism_with_prescribed_coordinates(rep, t):
    harmonic, moving = (gs.assemble("driven", PLANT, gravity=G, base=base) for base in (MOTION, as_function))
    q, v, a = state(harmonic)
    tau = inverse_dynamics(harmonic, rep)(q, v, a, t=t)
    assert_close(inverse_dynamics(moving, rep)(q, v, a, t=t), tau)
    explicit, slide, turn = as_joints(t)
    assert explicit.dofs[:2] == ("slide", "turn")
    whole = (np.r_[slide[k], turn[k], x] for k, x in enumerate((q, v, a)))
    assert_close(tau, inverse_dynamics(explicit, rep)(*whole)[2:])
    still = gs.assemble("still", PLANT, gravity=G)
    assert_differs(inverse_dynamics(still, rep)(q, v, a), tau)


@pytest.mark.parametrize("mode", ["interpret", "compile"])
def test_frames_on_a_driven_base_move_with_it(mode):
    model = gs.assemble("driven", PLANT, base=MOTION)
    solver = gs.ForwardKinematics(model, ["world", "lower"], mode=mode)
    q, v, a = state(model)
    t = np.array([0.1, 0.7])
    frame = solver(q, v, a, t=t)["world"]
    for k in range(2):
        R, p, V, A = as_function(t[k])
        for found, expected in ((frame.R, R), (frame.p, p), (frame.V, V), (frame.A, A)):
            assert_close(found[k], expected, 1e-13)


@pytest.mark.parametrize("mode", ["interpret", "compile"])
def test_a_driven_base_needs_the_time(mode):
    for base in (MOTION, as_function):
        model = gs.assemble("driven", PLANT, base=base)
        q, v, a = state(model)
        with pytest.raises(gs.StateError, match=r"rnea: the base of 'driven' moves with time\. Hint: give t="):
            gs.InverseDynamics(model, mode=mode)(q, v, a)
        with pytest.raises(gs.StateError, match="fk: the base of 'driven' moves with time"):
            gs.ForwardKinematics(model, mode=mode)(q)
        with pytest.raises(gs.StateError, match="t must be finite, got nan"):
            gs.InverseDynamics(model, mode=mode)(q, v, a, t=np.nan)
        with pytest.raises(gs.ShapeError, match="t must hold real numbers"):
            gs.InverseDynamics(model, mode=mode)(q, v, a, t="now")
    fixed = gs.assemble("still", PLANT)
    assert_close(inverse_dynamics(fixed)(q, v, a, t=3.0), inverse_dynamics(fixed)(q, v, a), 0.0)


ONE, ZERO3, ZERO6 = np.eye(3), np.zeros(3), np.zeros(6)


@pytest.mark.parametrize(
    ("returned", "pattern"),
    [
        (None, r"base motion at t = 0.5: expected \(R, p, V, A\)"),
        ((ONE, ZERO3, ZERO6), r"base motion at t = 0.5: expected \(R, p, V, A\)"),
        ((ZERO3, ZERO3, ZERO6, ZERO6), r"base motion at t = 0.5: R has shape \(3,\), expected \(3, 3\)"),
        ((ONE, [0, [0], 0], ZERO6, ZERO6), "base motion at t = 0.5: p is not a rectangular array"),
        ((ONE, ["x", "y", "z"], ZERO6, ZERO6), "base motion at t = 0.5: p must hold real numbers"),
        ((ONE, ZERO3, ZERO6 + 1j, ZERO6), "base motion at t = 0.5: V must hold real numbers"),
        ((ONE, ZERO3, ZERO6, ZERO6 * np.nan), "base motion at t = 0.5: A is not finite"),
        ((2 * ONE, ZERO3, ZERO6, ZERO6), r"base motion at t = 0.5: R is not a rotation matrix, R R\^T differs from 1"),
        ((-ONE, ZERO3, ZERO6, ZERO6), "base motion at t = 0.5: R is not a rotation matrix, left-handed axes"),
    ],
)
@pytest.mark.parametrize("mode", ["interpret", "compile"])
def test_a_base_function_that_returns_no_motion_is_told_so(returned, pattern, mode):
    model = gs.assemble("m", gs.chain("world", hinge("j"), link("body")), base=lambda t: returned)
    with pytest.raises(gs.GyrostatError, match=pattern):
        gs.InverseDynamics(model, mode=mode)([0.1], [0.0], [0.0], t=0.5)


# ------------------------------------------------------------------------------------------------ given forces
W = np.array([0.5, -0.3, 0.8, 4.0, -2.0, 3.0])


@pytest.mark.parametrize("rep", REPRESENTATIONS)
@pytest.mark.parametrize("form", ["local", "aligned", "world"])
def test_a_force_element_is_a_wrench_that_belongs_to_the_model(form, rep):
    push = gs.ForceElement("push", wrench=W, expressed_in=form)
    for port in ("fore.tip", "fore.origin", "slide.b"):
        model = gs.assemble("arm", ARM, push, gs.connect(port, "push.frame"))
        plain = gs.assemble("arm", ARM)
        q, v, a = state(model)
        tau = inverse_dynamics(model, rep)(q, v, a)
        assert_close(tau, inverse_dynamics(plain, rep)(q, v, a, {port: gs.Wrench(W, form)}))
        assert_close(tau, inverse_dynamics(model, rep, rules=())(q, v, a))
        assert_close(gs.operators(model, q, v, representation=rep).rnea(a), tau)
        assert_differs(tau, inverse_dynamics(plain, rep)(q, v, a))


def test_wrenches_enter_by_the_transposed_jacobian():
    """tau(w) - tau(0) = -J^T w, with J column by column from velocities: an independent path through the code."""
    model = various_tree(7, bodies=5)
    q, v, a = state(model)
    solver, kinematics = inverse_dynamics(model), kinematics_of(model, rules=())
    for port in ("body1.tip", "body3.side", "joint2.a", "world"):
        for form in ("local", "aligned", "world"):
            columns = [kinematics(q, unit)[port].velocity(form) for unit in np.eye(model.nv)]
            change = solver(q, v, a, {port: gs.Wrench(W, form)}) - solver(q, v, a)
            assert_close(change, -np.array(columns) @ W)
            assert np.abs(change).max() > 0.1 or port == "world"


def test_a_wrench_may_be_expressed_in_any_other_frame():
    model = gs.assemble("arm", ARM)
    q, v, a = state(model)
    frames = kinematics_of(model)(q)
    other, solver = frames["hand.origin"], inverse_dynamics(model)
    f = other.R @ W[3:]
    about_world = np.r_[other.R @ W[:3] + np.cross(other.p, f), f]
    told = solver(q, v, a, {"fore.tip": gs.Wrench(W, "hand")})
    assert_close(told, solver(q, v, a, {"fore.tip": gs.Wrench(about_world, "world")}))


@pytest.mark.parametrize("mode", ["interpret", "compile"])
def test_wrenches_at_two_names_of_one_port_add_up(mode):
    model = gs.assemble("arm", ARM)
    q, v, a = state(model)
    solver = gs.InverseDynamics(model, mode=mode)
    both = solver(q, v, a, {"hand": W, "hand.origin": 2 * W})
    assert_close(both, solver(q, v, a, {"hand": 3 * W}))
    forces = solver.port_forces(q, v, a, {"hand": W, "hand.origin": 2 * W})
    assert_close(forces["wrist.b"], solver.port_forces(q, v, a, {"hand": 3 * W})["wrist.b"])


# ------------------------------------------------------------------------------------------------ cut forces
def at_origin_of_world(frame, f):
    force = frame.R @ f[3:]
    return np.r_[frame.R @ f[:3] + np.cross(frame.p, force), force]


@pytest.mark.parametrize("rep", REPRESENTATIONS)
@pytest.mark.parametrize("seed", [2, 3])
def test_newton_s_law_holds_at_every_body_by_its_cut_forces(seed, rep):
    """Forces through the ports of each body, and its weight, change its momentum: by finite differences."""
    model = gs.robots.tree(
        seed, bodies=4, reversed_share=0.4, momentum=True, kinds=("revolute", "prismatic", "universal")
    )
    q, v, a = state(model)
    g = np.array(model.context.gravity.g)
    forces = inverse_dynamics(model, rep).port_forces(q, v, a)
    kinematics = kinematics_of(model, rules=())

    def frames(s):
        return kinematics(q + s * v + 0.5 * s * s * a, v + s * a)

    def momentum(body, s):
        """Linear, and angular about the world's origin."""
        frame = frames(s)[f"{body.name}.origin"]
        w, u = frame.velocity("aligned")[:3], frame.velocity("aligned")[3:]
        c = frame.p + frame.R @ np.array(body.com)
        p = body.mass * (u + np.cross(w, frame.R @ np.array(body.com)))
        angular = frame.R @ (np.array(body.inertia) @ (frame.R.T @ w) + np.array(body.momentum))
        return np.r_[angular + np.cross(c, p), p]

    now, net = frames(0.0), gs.network(model, rules=())
    for body in (e for e in model.entities if isinstance(e, gs.RigidBody)):
        (component,) = (c for c in net.components if c.name == body.name)
        ports = [net.ports[component.inport], *(net.ports[o] for o in component.outports.values())]
        entering, *leaving = (at_origin_of_world(now[port], forces[port]) for port in ports)
        centre = now[f"{body.name}.origin"].p + now[f"{body.name}.origin"].R @ np.array(body.com)
        weight = np.r_[np.cross(centre, body.mass * g), body.mass * g]
        assert_close(entering - sum(leaving) + weight, central(lambda s, b=body: momentum(b, s), 0.0), 1e-8)


@pytest.mark.parametrize("rep", REPRESENTATIONS)
def test_joint_torques_are_projections_of_cut_forces(rep):
    model = gs.robots.tree(6, bodies=7, reversed_share=0.4, base="free", momentum=True)
    q, v, a = state(model)
    solver = inverse_dynamics(model, rep)
    tau, forces = solver(q, v, a), solver.port_forces(q, v, a)
    net = gs.network(model, rules=())
    op = gs.operators(model, q, v)
    for component in net.components:
        if component.v_at.stop > component.v_at.start:
            (out,) = component.outports.values()
            S = op.H[6 * out : 6 * out + 6, component.v_at]
            assert_close(S.T @ forces[net.ports[out]], tau[component.v_at])


def test_connections_pass_forces_on_and_joints_pass_them_through():
    model = gs.robots.tree(6, bodies=7, reversed_share=0.4)
    q, v, a = state(model)
    forces, net = inverse_dynamics(model).port_forces(q, v, a), gs.network(model, rules=())
    frames = kinematics_of(model, rules=())(q)
    for out, fed in net.feeds.items():
        assert_close(forces[net.ports[out]], sum((forces[net.ports[i]] for i in fed), np.zeros(6)), 1e-13)
    for component in net.components:
        if component.kind in (gs.Joint, gs.Displacement):
            ports = [net.ports[component.inport], *(net.ports[o] for o in component.outports.values())]
            one, two = (at_origin_of_world(frames[port], forces[port]) for port in ports)
            assert_close(one, two)


def test_a_hanging_chain_carries_the_weights_below():
    """Closed form: at link k of n hang n - k + 1 links; nothing turns, and the base holds everything."""
    n, mass, g = 5, 1.2, 9.81
    model = gs.robots.chain(n, axes=("x", "y"), mass=mass).replace(
        {"context.gravity": (0, 0, g)}
    )  # upwards: it hangs along z
    rest = np.zeros(n)
    solver = inverse_dynamics(model)
    forces = solver.port_forces(rest, rest, rest)
    for k in range(1, n + 1):
        below = n - k + 1
        for port in (f"joint{k}.a", f"joint{k}.b", f"link{k}.origin"):
            assert_close(forces[port], [0, 0, 0, 0, 0, -below * mass * g], 1e-12)
        assert_close(forces[f"link{k}.tip"], [0, 0, 0, 0, 0, -(below - 1) * mass * g], 1e-12)
    assert_close(forces["world.frame"], [0, 0, 0, 0, 0, -n * mass * g], 1e-12)
    assert_close(solver(rest, rest, rest), rest, 1e-12)


def test_a_horizontal_beam_bends_its_clamp_by_weight_times_lever():
    beam = gs.RigidBody("beam", mass=2.0, com=(0.5, 0, 0), frames={"end": (1, 0, 0)})
    load = gs.RigidBody("load", mass=3.0)
    model = gs.assemble("cantilever", gs.chain("world", beam, load))
    solver = inverse_dynamics(model)
    forces = solver.port_forces([], [], [])
    assert_close(forces["world.frame"], [0, -9.81 * (2.0 * 0.5 + 3.0), 0, 0, 0, 9.81 * 5.0], 1e-13)
    assert_close(forces["beam.end"], [0, 0, 0, 0, 0, 9.81 * 3.0], 1e-13)
    assert solver([], [], []).shape == (0,)


def test_a_wrench_at_a_port_is_carried_by_everything_further_in_and_by_nothing_further_out():
    links = hinge("j1"), link("one", tip=(0, 0, 1)), hinge("j2", "y"), link("two", tip=(1, 0, 0))
    model = gs.assemble("arm", gs.chain("world", *links), gravity=(0, 0, 0))
    rest, solver = np.zeros(2), inverse_dynamics(model)
    order = ["world.frame", "j1.a", "j1.b", "one.origin", "one.tip", "j2.a", "j2.b", "two.origin", "two.tip"]
    push = gs.Wrench(W, "world")
    frames = kinematics_of(model, rules=())(rest)
    for k, port in enumerate(order):
        forces = solver.port_forces(rest, rest, rest, {port: push})
        for j, other in enumerate(order):
            expected = -W if j <= k else np.zeros(6)  # what the base side must exert to balance it
            assert_close(at_origin_of_world(frames[other], forces[other]), expected, 1e-13)


def test_the_reaction_of_the_base_balances_weights_inertia_and_wrenches():
    model = gs.robots.tree(9, bodies=6, reversed_share=0.3)
    q, v, a = state(model)
    solver, kinematics = inverse_dynamics(model), kinematics_of(model, rules=())
    bodies = [e for e in model.entities if isinstance(e, gs.RigidBody)]
    g = np.array(model.context.gravity.g)

    def force(frames):
        """sum m (a - g) over the centres of mass."""
        total = np.zeros(3)
        for body in bodies:
            frame = frames[f"{body.name}.origin"]
            com, A, w = np.array(body.com), frame.acceleration("local"), frame.V[:3]
            at_com = A[3:] + np.cross(A[:3], com) + np.cross(w, np.cross(w, com))
            total += body.mass * (frame.R @ at_com - g)
        return total

    reaction = solver.port_forces(q, v, a, {"body3.tip": gs.Wrench(W, "world")})["world.frame"]
    assert_close(reaction[3:], force(kinematics(q, v, a)) - W[3:])
    # a base that accelerates does work on its reaction: the free model's first torques are the reaction
    free = gs.Model(
        model.name, model.entities, model.connections, gs.Context(gravity=model.context.gravity, base="free")
    )
    at_rest = np.r_[0, 0, 0, 0, 0, 0, 1, q], np.r_[np.zeros(6), v], np.r_[np.zeros(6), a]
    assert_close(inverse_dynamics(free)(*at_rest)[:6], solver.port_forces(q, v, a, ports=["world"])["world.frame"])


def test_cut_forces_of_some_ports_and_of_batches():
    model = gs.assemble("arm", ARM)
    solver = inverse_dynamics(model)
    states = [state(model, seed) for seed in range(4)]
    q, v, a = (np.array([s[k] for s in states]).reshape(2, 2, -1) for k in range(3))
    everything = solver.port_forces(q, v, a)
    assert set(everything) == set(gs.network(model, rules=()).ports)
    assert everything["wrist.a"].shape == (2, 2, 6)
    some = solver.port_forces(q, v, a, ports=["wrist", "hand"])
    assert list(some) == ["wrist.b", "hand.origin"]
    assert_close(some["wrist.b"], everything["wrist.b"], 0.0)
    assert_close(solver.port_forces(*states[3], ports="wrist.a")["wrist.a"], everything["wrist.a"][1, 1], 0.0)
    with pytest.raises(gs.FrameError, match=r"no frame or port 'wrist\.c'.*did you mean 'wrist\.[ab]'"):
        solver.port_forces(q, v, a, ports=["wrist.c"])


# ------------------------------------------------------------------------------------------------ rows on other scalars
def arithmetic(operation):
    """A method of Traced; arrays take over, so that the operation goes through their elements."""

    def method(self, other):
        if isinstance(other, np.ndarray):
            return NotImplemented
        return Traced(operation(self.value, Traced.of(other)))

    return method


class Traced:
    """A number that only knows arithmetic: no comparison, no truth, no conversion."""

    __slots__ = ("value",)
    __hash__ = None

    def __init__(self, value):
        self.value = value

    @staticmethod
    def of(x):
        if isinstance(x, Traced):
            return x.value
        assert isinstance(x, int | float | np.floating | np.integer), f"arithmetic with {x!r}"
        return float(x)

    __add__ = __radd__ = arithmetic(operator.add)
    __mul__ = __rmul__ = arithmetic(operator.mul)
    __sub__, __rsub__ = arithmetic(operator.sub), arithmetic(lambda x, y: y - x)
    __truediv__, __rtruediv__ = arithmetic(operator.truediv), arithmetic(lambda x, y: y / x)
    __pow__ = arithmetic(operator.pow)

    def __neg__(self):
        return Traced(-self.value)

    def sin(self):
        return Traced(math.sin(self.value))

    def cos(self):
        return Traced(math.cos(self.value))

    def sqrt(self):
        return Traced(math.sqrt(self.value))

    def refuse(self, *_):
        raise AssertionError("a row asked for the value of a scalar")

    __bool__ = __float__ = __int__ = __index__ = __abs__ = refuse
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = refuse


def traced(array):
    return np.vectorize(Traced, otypes=[object])(np.asarray(array, dtype=float))


def plain(array):
    return np.array([Traced.of(x) for x in np.asarray(array, dtype=object).flat]).reshape(np.shape(array))


def sweep(model, rep, q, v, a, t=0.0, rules=None, live=None):
    on = Setting(representation(rep), gravity_law(model.context.gravity), t)
    return sweep_forces(gs.network(model, rules, live=live), on, q, v, a)


def test_the_traced_scalar_refuses_to_be_looked_at():
    x = Traced(1.0)
    for look in (bool, float, int, abs, lambda y: y < 1.0, lambda y: y == 1.0, lambda y: np.array([y]) == np.ones(1)):
        with pytest.raises(AssertionError, match="asked for the value"):
            look(x)
    assert plain(np.sin(traced([0.5])) + 1.0) == math.sin(0.5) + 1.0


@pytest.mark.parametrize("kind", gs.JOINT_KINDS)
@pytest.mark.parametrize("rep", REPRESENTATIONS)
def test_rows_of_every_joint_run_on_scalars_that_are_not_floats(kind, rep):
    model = gs.robots.tree(4, bodies=2, kinds=(kind,), reversed_share=0.5, momentum=True)
    q, v, a = state(model)
    for rules in (None, ()):
        tau, forces, motions = sweep(model, rep, traced(q), traced(v), traced(a), rules=rules)
        expected, expected_forces, expected_motions = sweep(model, rep, q, v, a, rules=rules)
        assert_close(plain(tau), expected, 1e-13)
        for k, f in expected_forces.items():
            assert_close(plain(forces[k]), f, 1e-13)
        for k, m in expected_motions.items():
            assert_close(plain(motions[k].V), m.V, 1e-13)
            assert_close(plain(motions[k].A), m.A, 1e-13)
    assert all(isinstance(x, Traced) for x in tau)


@pytest.mark.parametrize("rep", REPRESENTATIONS)
@pytest.mark.parametrize(
    "context",
    [
        {"base": "free"},
        {"base": MOTION},
        {"gravity": gs.UniformGravity(g=G, treat_as="field")},
        {"gravity": gs.CentralGravity(mu=20.0, centre=(1, 2, -3))},
        {"gravity": lambda p: p * 0.5 - 1.0},
        {"base": "free", "gravity": gs.CentralGravity(mu=20.0, centre=(1, 2, -3))},
    ],
    ids=["free", "driven", "field", "central", "function", "free central"],
)
def test_rows_of_bases_gravities_and_forces_run_on_scalars_that_are_not_floats(context, rep):
    parts = [
        gs.Joint("ball", "spherical"),
        link("one", tip=((0.1, 0.2, 0.3), gs.rpy(0.1, 0.2, 0.3))),
        hinge("knee"),
        link("two"),
    ]
    pushes = [gs.ForceElement(f"push_{form}", wrench=W, expressed_in=form) for form in ("local", "aligned", "world")]
    model = gs.assemble("m", gs.chain("world", *parts), *pushes,
                        *(gs.connect("one.tip", f"{push.name}.frame") for push in pushes), **context)  # fmt: skip
    q, v, a = state(model)
    expected, *_ = sweep(model, rep, q, v, a, t=0.4)
    tau, *_ = sweep(model, rep, traced(q), traced(v), traced(a), t=Traced(0.4))
    assert_close(plain(tau), expected, 1e-13)


LIVE_JOINTS = {
    "revolute": {"axis": (0.6, 0.0, 0.8)},
    "prismatic": {"axis": (0.6, 0.0, 0.8)},
    "helical": {"axis": (0.6, 0.0, 0.8), "pitch": 0.3},
    "cylindrical": {"axis": (0.6, 0.0, 0.8)},
    "universal": {"axis": (0.6, 0.0, 0.8), "second_axis": (0.0, 1.0, 0.0)},
    "planar": {"axis": (0.6, 0.0, 0.8)},
    "spherical": {},
}


def everything_live(kind):
    """A model with all sorts of properties, and the paths of those that are numbers."""
    joint = gs.Joint("joint", kind, **LIVE_JOINTS[kind])
    shifts = [
        gs.Displacement("by_euler", translation=(0.1, 0.2, 0.3), rotation=gs.euler((0.3, 0.2, 0.1), "zxz")),
        gs.Displacement("by_quaternion", rotation=gs.quaternion(0.1, 0.5, -0.5, 0.7)),
        gs.Displacement("by_axis", rotation=gs.axis_angle((0, 0.6, 0.8), 0.4)),
        gs.Displacement("by_matrix", rotation=along(AXIS)),
        gs.DHDisplacement("by_dh", a=0.1, alpha=0.2, d=0.3, theta=0.4),
    ]
    body = gs.RigidBody("body", mass=1.3, com=(0.1, -0.2, 0.15), inertia=J, momentum=(0.1, 0.2, 0.3),
                        frames={"tip": ((0.1, 0.2, 0.3), gs.rpy(0.1, 0.2, 0.3))})  # fmt: skip
    quaternion = np.array([0.1, 0.5, -0.5, 0.7])
    model = gs.assemble(
        "live", gs.chain("world", *shifts, joint, ("tip", body), "origin", hinge("last", "x"), link("end"))
    )
    model = model.replace({"by_quaternion.rotation": {"quaternion": quaternion / np.linalg.norm(quaternion)}})
    paths = [
        "by_euler.translation", "by_euler.rotation.euler", "by_quaternion.rotation.quaternion", "by_axis.rotation.axis",
        "by_axis.rotation.angle", "by_matrix.rotation.matrix", "by_dh.a", "by_dh.alpha", "by_dh.d", "by_dh.theta",
        "body.mass", "body.com", "body.inertia", "body.momentum", "body.tip.translation", "body.tip.rotation.euler",
        "last.axis", "end.mass",
    ]  # fmt: skip
    return model, paths + [f"joint.{key}" for key in LIVE_JOINTS[kind]]


@pytest.mark.parametrize("kind", LIVE_JOINTS)
@pytest.mark.parametrize("rep", REPRESENTATIONS)
def test_live_properties_of_every_kind_run_on_scalars_that_are_not_floats(kind, rep):
    model, paths = everything_live(kind)
    q, v, a = state(model)
    expected, *_ = sweep(model, rep, q, v, a)
    for rules in (None, ()):
        live = {path: traced(model[path]) for path in paths}
        tau, *_ = sweep(model, rep, q, v, a, rules=rules, live=live)
        assert_close(plain(tau), expected, 1e-12)
        assert all(isinstance(x, Traced) for x in tau)
        tau, *_ = sweep(model, rep, traced(q), traced(v), traced(a), rules=rules, live=live)
        assert_close(plain(tau), expected, 1e-12)


@pytest.mark.parametrize("rep", REPRESENTATIONS)
@pytest.mark.parametrize(
    "path", ["body.mass", "body.com", "body.inertia", "body.momentum", "body.tip.translation", "end.mass"]
)
def test_derivatives_by_live_properties_are_those_of_other_models(path, rep):
    """A complex step through a live property, against differences of models that have other numbers."""
    model, _ = everything_live("universal")
    q, v, a = state(model)
    value = np.array(model[path])
    direction = np.random.default_rng(5).normal(size=value.shape)
    if path.endswith("inertia"):
        direction = (direction + direction.T) / 20
    tau, *_ = sweep(model, rep, q, v, a, live={path: value + 1e-30j * direction})
    found = np.imag(tau) / 1e-30

    def other(s):
        changed = value + s * direction
        return sweep(model.replace({path: changed if value.ndim else float(changed)}), rep, q, v, a)[0]

    assert_close(found, central(other, 0.0), 1e-9)
    assert np.abs(found).max() > 1e-3
