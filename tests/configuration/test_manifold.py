"""Steps, differences and tangents on the manifold of configurations: identities over every kind of joint, closed forms,
exponentials with 50 digits, and Pinocchio."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gyrostat as gs
from gyrostat.configuration.manifold import difference, integrate, neutral, random_configuration, tangent
from tests.support.comparing import assert_close, central
from tests.support.examples import few
from tests.support.random_models import random_state, spatial_ports, various_tree

TOLERANCE = 1e-12
ANGLES = (0.0, 1e-300, 1e-15, 1e-9, 1e-5, 0.01, 0.2499999, 0.2500001, 1.0, 3.0, np.pi - 1e-5, np.pi - 1e-9)
SHAPES = ((), (1,), (3,), (2, 1), (0,))


def one_joint(kind: str, **properties) -> gs.Model:
    body = gs.RigidBody("body", mass=1.0, inertia=(0.1, 0.1, 0.1))
    return gs.assemble("one", gs.chain("world", gs.Joint("joint", kind, **properties), body))


SPHERICAL, FREE = one_joint("spherical"), one_joint("free")
BASE = gs.assemble("box", gs.chain("world", gs.RigidBody("body", mass=2.0, inertia=(0.1, 0.2, 0.25))), base="free")


def every_joint(seed: int, base: str = "free") -> gs.Model:
    """Trees with all kinds of joints, half of them met from the far side."""
    return gs.robots.tree(seed, 25, base=base, reversed_share=0.5)


def rotation_rates(model: gs.Model) -> list[np.ndarray]:
    """Places of angular velocities in v."""
    return list(model.layout.angular)


def quaternions(model: gs.Model) -> list[np.ndarray]:
    """Places of quaternions in q."""
    return list(model.layout.quaternions)


def with_angle(model: gs.Model, v: np.ndarray, angle: float) -> np.ndarray:
    """v whose angular velocities have the length ``angle``."""
    v = v.copy()
    for place in rotation_rates(model):
        v[..., place] *= angle / np.linalg.norm(v[..., place], axis=-1, keepdims=True)
    return v


def same_side(model: gs.Model, q: np.ndarray, like: np.ndarray) -> np.ndarray:
    """q with the signs of quaternions that are closer to ``like``."""
    q = q.copy()
    for place in quaternions(model):
        q[..., place] *= np.where(np.sum(q[..., place] * like[..., place], axis=-1, keepdims=True) < 0, -1.0, 1.0)
    return q


def assert_same_configuration(model: gs.Model, got: np.ndarray, want: np.ndarray) -> None:
    assert_close(same_side(model, got, want), want, TOLERANCE)


def random_direction(rng: np.random.Generator) -> np.ndarray:
    x = rng.normal(size=3)
    return x / np.linalg.norm(x)


models = st.builds(various_tree, st.integers(0, 2**32 - 1), st.integers(1, 12))
seeds = st.integers(0, 2**32 - 1)


# ------------------------------------------------------------------------------------------------ identities
@settings(max_examples=few(40), deadline=None)
@given(model=models, seed=seeds, angle=st.sampled_from(ANGLES))
def test_the_difference_undoes_a_step(model, seed, angle):
    q, v, _ = random_state(model, np.random.default_rng(seed))
    v = with_angle(model, v, angle)
    assert_close(difference(model, q, integrate(model, q, v)), v, TOLERANCE)


@settings(max_examples=few(40), deadline=None)
@given(model=models, seed=seeds)
def test_a_step_by_the_difference_arrives(model, seed):
    rng = np.random.default_rng(seed)
    q0, q1 = random_configuration(model, rng, 5), random_configuration(model, rng, 5)
    v = difference(model, q0, q1)
    assert_same_configuration(model, integrate(model, q0, v), q1)
    assert_same_configuration(model, integrate(model, q1, v, -1.0), q0)
    for place in rotation_rates(model):
        assert (np.linalg.norm(v[..., place], axis=-1) <= np.pi + 1e-15).all()


@settings(max_examples=few(25), deadline=None)
@given(model=models, seed=seeds, first=st.floats(-1, 1), second=st.floats(-1, 1))
def test_two_steps_with_the_same_velocity_are_one(model, seed, first, second):
    q, v, _ = random_state(model, np.random.default_rng(seed))
    there = integrate(model, integrate(model, q, v, first), v, second)
    assert_same_configuration(model, there, integrate(model, q, v, first + second))


@settings(max_examples=few(25), deadline=None)
@given(model=models, seed=seeds)
def test_the_tangent_is_the_rate_of_a_step(model, seed):
    q, v, _ = random_state(model, np.random.default_rng(seed))
    assert_close(tangent(model, q) @ v, central(lambda t: integrate(model, q, v, t), 0.0, 4e-3), TOLERANCE)
    units = np.eye(model.nv)
    T = central(lambda t: integrate(model, q, units, t), 0.0, 4e-3)
    assert_close(tangent(model, q), T.T, TOLERANCE)


@pytest.mark.parametrize(("seed", "base"), [(1, "fixed"), (2, "free"), (3, "free")])
def test_frames_move_with_the_velocity_of_forward_kinematics(seed, base):
    """d/dt of all placements along a step is the velocity that v means, for joints that are met from either side."""
    model = gs.robots.tree(seed, 6, base=base, reversed_share=0.5, branching=0.3)
    q, v, _ = random_state(model, np.random.default_rng(seed))
    v *= 0.3
    along = lambda t: integrate(model, q, v, np.asarray(t))  # noqa: E731
    motions = gs.fk(model, q, v, np.zeros(model.nv))
    for port in spatial_ports(model)[::4]:
        moved = motions[port].velocity("aligned")
        rate = central(lambda t, port=port: gs.fk(model, along(t))[port].p, 0.0, 1e-2)
        assert_close(rate, moved[3:], 1e-10)
        R = motions[port].R
        spin = central(lambda t, port=port: gs.fk(model, along(t))[port].R, 0.0, 1e-2) @ R.T
        assert_close(np.array([spin[2, 1], spin[0, 2], spin[1, 0]]), moved[:3], 1e-10)


def test_neutral_steps_and_differences_know_every_kind_of_joint():
    kinds = set()
    for seed in range(4):
        model = every_joint(seed)
        kinds |= {entity.kind for entity in model.entities if isinstance(entity, gs.Joint)}
        q = neutral(model)
        for place in quaternions(model):
            assert q[place].tolist() == [0.0, 0.0, 0.0, 1.0]
        assert q.sum() == len(quaternions(model))
        v = with_angle(model, np.random.default_rng(seed).normal(size=model.nv), 2.0)
        assert_close(difference(model, q, integrate(model, q, v)), v, TOLERANCE)
    assert kinds == set(gs.JOINT_KINDS)


# ------------------------------------------------------------------------------------------------ closed forms
def test_a_turn_about_z_has_half_the_angle_in_its_quaternion():
    q = integrate(SPHERICAL, [0, 0, 0, 1], [0, 0, 0.8], 0.5)
    assert_close(q, [0, 0, np.sin(0.2), np.cos(0.2)], 1e-15)


def test_spherical_rates_are_seen_from_the_moving_frame():
    half = np.sqrt(0.5)
    q = integrate(SPHERICAL, [0, 0, half, half], [np.pi / 2, 0, 0])  # b is turned about z: its x is y of a
    assert_close(q, [half * half, half * half, half * half, half * half], 1e-15)


@pytest.mark.parametrize("model", [FREE, BASE])
def test_a_body_that_turns_while_it_goes_forward_runs_in_a_circle(model):
    start = neutral(model)
    for angle in (0.0, 0.1, 0.3, np.pi, 5.0, 2 * np.pi):
        reached = integrate(model, start, [0, 0, 1, 1, 0, 0.5], angle)
        assert_close(reached[:3], [np.sin(angle), 1 - np.cos(angle), 0.5 * angle], 1e-14)
        assert_close(reached[3:], [0, 0, np.sin(angle / 2), np.cos(angle / 2)], 1e-14)


def test_the_shifts_of_a_planar_joint_are_those_of_its_first_frame():
    model = one_joint("planar", axis="z")
    assert integrate(model, [1, 2, 0.5], [0.1, 0.2, 3.0], 2.0) == pytest.approx([1.2, 2.4, 6.5], rel=1e-15)
    assert tangent(model, [1, 2, 0.5]).tolist() == np.eye(3).tolist()


def test_angles_are_subtracted_and_not_wrapped():
    for kind in ("revolute", "continuous"):
        model = one_joint(kind, axis="x")
        assert difference(model, [3.0], [-3.0]).tolist() == [-6.0]
        assert integrate(model, [3.0], [1.0]).tolist() == [4.0]


def test_the_shortest_turn_is_taken():
    turned = integrate(SPHERICAL, [0, 0, 0, 1], [0, 1.5 * np.pi, 0])
    assert_close(difference(SPHERICAL, [0, 0, 0, 1], turned), [0, -0.5 * np.pi, 0], 1e-15)


@settings(max_examples=few(25), deadline=None)
@given(seed=seeds)
def test_a_quaternion_and_its_negative_are_one_configuration(seed):
    rng = np.random.default_rng(seed)
    q0, q1 = random_configuration(FREE, rng), random_configuration(FREE, rng)
    other = q1 * np.array([1, 1, 1, -1, -1, -1, -1])
    assert difference(FREE, q0, q1).tolist() == difference(FREE, q0, other).tolist()
    assert difference(FREE, q0, q0 * np.array([1, 1, 1, -1, -1, -1, -1])).tolist() == [0.0] * 6


def test_half_a_turn_is_as_short_in_both_directions():
    v = difference(SPHERICAL, [0, 0, 0, 1], [0, 0, 1, 0])
    assert_close(v, [0, 0, np.pi], 1e-15)
    assert_close(difference(SPHERICAL, [0, 0, 0, 1], [0, 0, -1, 0]), -v, 1e-15)


def exact_step(w: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """R and p of exp of the twist (w, u), with 50 digits."""
    with mpmath.workdps(50):
        x, y, z = (mpmath.mpf(float(c)) for c in w)
        X = mpmath.matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        U = mpmath.matrix([float(c) for c in u])
        a = mpmath.sqrt(x * x + y * y + z * z)
        one = mpmath.eye(3)
        if a == 0:
            R, p = one, U
        else:
            with mpmath.workdps(750):  # angles of 1e-300 cancel hundreds of digits
                first, second = (1 - mpmath.cos(a)) / a**2, (a - mpmath.sin(a)) / a**3
            R = one + mpmath.sin(a) / a * X + first * X * X
            p = (one + first * X + second * X * X) * U
        return np.array(R.tolist(), dtype=float), np.array(p.tolist(), dtype=float).ravel()


@pytest.mark.parametrize("angle", [*ANGLES, np.pi, 4.0, 6.0, 2 * np.pi, 30.0])
def test_steps_are_exact_for_every_angle(angle):
    rng = np.random.default_rng(7)
    for _ in range(3):
        w, u = angle * random_direction(rng), rng.normal(size=3)
        R, p = exact_step(w, u)
        reached = integrate(FREE, neutral(FREE), np.concatenate([w, u]))
        assert_close(reached[:3], p, 1e-14)
        x, y, z, s = reached[3:]
        got = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - z * s), 2 * (x * z + y * s)],
                [2 * (x * y + z * s), 1 - 2 * (x * x + z * z), 2 * (y * z - x * s)],
                [2 * (x * z - y * s), 2 * (y * z + x * s), 1 - 2 * (x * x + y * y)],
            ]
        )
        assert_close(got, R, 1e-14)


@pytest.mark.parametrize("angle", [1e-300, 1e-15, 1e-9, 1e-5])
def test_tiny_turns_keep_their_digits(angle):
    """From rest, so that the quaternion can hold the turn: relative, not only absolute."""
    w = angle * random_direction(np.random.default_rng(3))
    np.testing.assert_allclose(
        difference(SPHERICAL, [0, 0, 0, 1], integrate(SPHERICAL, [0, 0, 0, 1], w)), w, rtol=1e-14
    )


@pytest.mark.parametrize("size", [1e-7, 1e-9, 1e-13])
def test_tiny_differences_of_quaternions_keep_their_digits(size):
    """The turn between two given quaternions, anywhere: 2 vec(conj(p) q) / real, with 50 digits."""
    rng = np.random.default_rng(4)
    p = random_configuration(SPHERICAL, rng)
    q = p + size * rng.normal(size=4)
    with mpmath.workdps(50):
        a, b = ([mpmath.mpf(float(c)) for c in x] for x in (p, q))
        real = sum(x * y for x, y in zip(a, b, strict=True))
        cross = [a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3] for k in range(3)]
        sines = [(a[3] * b[k] - b[3] * a[k] - cross[k]) / real for k in range(3)]
        tan = mpmath.sqrt(sum(x * x for x in sines))
        want = [float(2 * mpmath.atan(tan) / tan * x) for x in sines]
    np.testing.assert_allclose(difference(SPHERICAL, p, q), want, rtol=1e-12)


# ------------------------------------------------------------------------------------------------ Pinocchio
PIN_ORDER = [3, 4, 5, 0, 1, 2]  # linear first


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("kind", ["spherical", "free"])
def test_steps_and_differences_equal_those_of_pinocchio(kind, angle):
    pin = pytest.importorskip("pinocchio", reason="Pinocchio comes with the extra 'oracles'")
    ours, theirs = (FREE, pin.JointModelFreeFlyer()) if kind == "free" else (SPHERICAL, pin.JointModelSpherical())
    order = PIN_ORDER if kind == "free" else [0, 1, 2]
    model = pin.Model()
    model.addJoint(0, theirs, pin.SE3.Identity(), "joint")
    rng = np.random.default_rng(11)
    for _ in range(10):
        q, v, _ = random_state(ours, rng)
        v = with_angle(ours, v, angle)
        want = pin.integrate(model, q, v[order])
        assert_same_configuration(ours, integrate(ours, q, v), want)
        assert_close(difference(ours, q, want)[order], pin.difference(model, q, want), TOLERANCE)


def test_a_floating_tree_steps_as_in_pinocchio():
    pytest.importorskip("pinocchio", reason="Pinocchio comes with the extra 'oracles'")
    from tests.support.pinocchio_oracle import Oracle, pin

    for seed in range(5):
        model = gs.robots.tree(seed, 12, base="free")
        oracle = Oracle(model)
        q, v, _ = random_state(model, np.random.default_rng(seed))
        start, rate, _, _ = oracle._convert(q, v, v)
        end, *_ = oracle._convert(integrate(model, q, v), v, v)
        off = pin.difference(oracle.model, pin.integrate(oracle.model, start, rate), end)
        assert_close(off, np.zeros(model.nv), TOLERANCE)


# ------------------------------------------------------------------------------------------------ batches
@settings(max_examples=few(30), deadline=None)
@given(seed=seeds, lead=st.tuples(*[st.sampled_from(SHAPES)] * 3).filter(lambda s: _go_together(*s)))
def test_leading_shapes_broadcast(seed, lead):
    rng = np.random.default_rng(seed)
    model = gs.robots.tree(seed % 5, 6, base="free")
    q, q1 = random_configuration(model, rng, lead[0]), random_configuration(model, rng, lead[1])
    v, dt = rng.normal(size=(*lead[1], model.nv)), rng.normal(size=lead[2])
    step, way, T = integrate(model, q, v, dt), difference(model, q, q1), tangent(model, q)
    shape, pair = np.broadcast_shapes(*lead), np.broadcast_shapes(*lead[:2])
    assert step.shape == (*shape, model.nq)
    assert way.shape == (*pair, model.nv)
    assert T.shape == (*lead[0], model.nq, model.nv)
    for i in np.ndindex(shape):
        one = [np.broadcast_to(x, (*shape, n))[i] for x, n in ((q, model.nq), (v, model.nv))]
        assert_close(integrate(model, *one, np.broadcast_to(dt, shape)[i]), step[i], 1e-14)
    for i in np.ndindex(pair):
        one = [np.broadcast_to(x, (*pair, model.nq))[i] for x in (q, q1)]
        assert_close(difference(model, *one), way[i], 1e-14)
    for i in np.ndindex(lead[0]):
        assert_close(tangent(model, q[i]), T[i], 1e-14)


def _go_together(*shapes) -> bool:
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        return False
    return True


def test_a_model_that_cannot_move_has_one_configuration():
    model = gs.assemble("pose", gs.chain("world", gs.Displacement("shift", translation=(1, 0, 0))))
    assert neutral(model).shape == integrate(model, [], []).shape == difference(model, [], []).shape == (0,)
    assert tangent(model, []).shape == (0, 0)
    assert random_configuration(model, 0, (2,)).shape == (2, 0)


def test_quaternions_stay_of_unit_length():
    model = every_joint(1)
    q, v, _ = random_state(model, np.random.default_rng(1))
    for place in quaternions(model):
        q[place] *= 1 + 4e-7  # as far off as a state may be
    for _ in range(300):
        q = integrate(model, q, v, 0.1)
    for place in quaternions(model):
        assert abs(np.linalg.norm(q[place]) - 1) < 4e-16


def test_arguments_are_left_alone_and_results_are_new():
    q, v, _ = random_state(FREE, np.random.default_rng(0))
    q.flags.writeable = v.flags.writeable = False
    reached = integrate(FREE, q, v)
    assert reached.flags.writeable
    assert not np.shares_memory(reached, q)
    assert not np.shares_memory(neutral(FREE), neutral(FREE))
    difference(FREE, q, reached)
    tangent(FREE, q)


def test_states_may_be_given_by_name():
    reached = integrate(FREE, {"joint": [0, 0, 0, 0, 0, 0, 1]}, {"joint": [0, 0, 0, 1, 2, 3]}, 2)
    assert reached.tolist() == [2, 4, 6, 0, 0, 0, 1]


# ------------------------------------------------------------------------------------------------ random configurations
def limited(**more) -> gs.Model:
    """A leader within (-0.5, 1) whose follower -2 q + 0.3 has its own limits; and a joint with one limit."""
    body = lambda name: gs.RigidBody(name, mass=1.0, inertia=(0.1, 0.1, 0.1))  # noqa: E731
    lead = gs.Joint("lead", "revolute", axis="z", lower=-0.5, upper=1.0)
    follow = gs.Joint("follow", "prismatic", axis="x", **({"lower": -0.7, "upper": 0.9} | more))
    above, below = (
        gs.Joint("above", "revolute", axis="y", lower=2.0),
        gs.Joint("below", "prismatic", axis="y", upper=-4),
    )
    parts = gs.chain("world", lead, body("a"), follow, body("b"), above, body("c"), below, body("d"))
    ties = gs.connect("lead.shaft", "tie.joint"), gs.connect("follow.shaft", "tie.motor")
    return gs.assemble("limited", parts, gs.Gear("tie", -2.0, offset=0.3), *ties)


def test_random_configurations_are_within_the_limits_of_joints_and_followers():
    model = limited()
    q = random_configuration(model, 1, 4000)
    assert model.coordinates == ("lead", "above", "below")
    assert np.allclose(q.min(axis=0), [-0.3, 2.0, -6.0], atol=5e-3)
    assert np.allclose(q.max(axis=0), [0.5, np.pi, -4.0], atol=5e-3)
    free = random_configuration(model, 1, 4000, within_limits=False)
    assert np.allclose(free.min(axis=0), [-np.pi, -np.pi, -1.0], atol=1e-2)
    with pytest.raises(gs.StateError, match=r"limits of 'lead' and of the joints that follow it leave no room. Hint"):
        random_configuration(limited(lower=3.0, upper=4.0))
    assert np.all(random_configuration(limited(lower=0.3, upper=0.3), 1, 5)[:, 0] == 0.0)


def test_a_joint_that_follows_two_others_stays_within_its_limits():
    body = lambda name: gs.RigidBody(name, mass=1.0, inertia=(0.1, 0.1, 0.1))  # noqa: E731

    def model(lower, upper):
        joints = [gs.Joint(n, "revolute", axis="z", lower=-1, upper=1) for n in ("one", "two")]
        joints.append(gs.Joint("both", "revolute", axis="z", lower=lower, upper=upper))
        links = [x for j in joints for x in (j, body(f"{j.name}_body"))]
        ends = (("one", "joint1"), ("two", "joint2"), ("both", "motor"))
        ties = [gs.connect(f"{name}.shaft", f"sum.{port}") for name, port in ends]
        return gs.assemble("m", gs.chain("world", *links), gs.Gear("sum", [[1.0, 2.0]], offset=0.5), *ties)

    q = random_configuration(model(-0.2, 0.1), 3, (40, 50))
    follower = q @ (1.0, 2.0) + 0.5
    assert follower.min() >= -0.2
    assert follower.max() <= 0.1
    assert np.ptp(q[..., 0]) > 1.8
    with pytest.raises(gs.StateError, match="no configuration was found in which all joints that follow others"):
        random_configuration(model(10.0, 11.0), 3)


def test_random_configurations_cover_angles_lengths_and_rotations():
    parts = [("prismatic", 1.0), ("revolute", np.pi), ("continuous", np.pi)]
    for kind, reach in parts:
        q = random_configuration(one_joint(kind, axis="x"), 1, 4000)
        assert q.shape == (4000, 1)
        assert 0.99 * reach < np.abs(q).max() <= reach
        assert abs(q.mean()) < 0.05 * reach
    reach = {"cylindrical": (np.pi, 1.0), "planar": (1.0, 1.0, np.pi)}
    for kind, want in reach.items():
        q = random_configuration(one_joint(kind, axis="z"), 2, 4000)
        assert np.abs(q).max(axis=0) == pytest.approx(want, rel=0.01)
    q = random_configuration(one_joint("helical", axis="z", pitch=0.1), 2, 4000)
    assert np.abs(q).max() == pytest.approx(np.pi, rel=0.01)


@pytest.mark.parametrize("model", [FREE, BASE])
def test_random_rotations_are_uniform(model):
    q = random_configuration(model, 3, (100, 200))
    assert np.abs(q[..., :3]).max() == pytest.approx(1.0, rel=0.01)
    x = q[..., 3:].reshape(-1, 4)
    assert_close(np.linalg.norm(x, axis=-1), np.ones(len(x)), 1e-15)
    assert_close(x.T @ x / len(x), np.eye(4) / 4, 0.01)  # second and fourth moments of the sphere
    assert_close(np.mean(x**4, axis=0), np.full(4, 1 / 8), 0.005)


def test_the_same_seed_gives_the_same_configuration():
    model = every_joint(2)
    assert random_configuration(model, 5).tolist() == random_configuration(model, 5).tolist()
    assert random_configuration(model, 5).tolist() != random_configuration(model, 6).tolist()
    assert random_configuration(model).tolist() != random_configuration(model).tolist()
    rng = np.random.default_rng(5)
    assert random_configuration(model, rng).tolist() == random_configuration(model, 5).tolist()
    assert random_configuration(model, rng).tolist() != random_configuration(model, 5).tolist()  # it went on
    gs.rnea(FREE, random_configuration(FREE, 0), np.zeros(6), np.zeros(6))  # a state that solvers accept


# ------------------------------------------------------------------------------------------------ errors
REST = [0, 0, 0, 0, 0, 0, 1]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: neutral("arm"), gs.SpecError, r"neutral: expected a Model, got str"),
        (lambda: integrate(None, REST, np.zeros(6)), gs.SpecError, r"integrate: expected a Model, got NoneType"),
        (lambda: difference(1, REST, REST), gs.SpecError, r"difference: expected a Model, got int"),
        (lambda: tangent([], REST), gs.SpecError, r"tangent: expected a Model, got list"),
        (lambda: random_configuration({}), gs.SpecError, r"random_configuration: expected a Model, got dict"),
        (
            lambda: integrate(FREE, np.zeros(6), np.zeros(6)),
            gs.ShapeError,
            r"integrate: q has shape \(6,\), expected \(\.\.\., 7\)",
        ),
        (
            lambda: integrate(FREE, REST, np.zeros(7)),
            gs.ShapeError,
            r"integrate: v has shape \(7,\), expected \(\.\.\., 6\)",
        ),
        (lambda: integrate(FREE, REST, np.zeros(6), "soon"), gs.ShapeError, r"integrate: dt must hold real numbers"),
        (lambda: integrate(FREE, REST, np.zeros(6), np.nan), gs.NonFiniteError, r"integrate: dt is nan"),
        (
            lambda: integrate(FREE, REST, np.zeros((3, 6)), np.zeros(2)),
            gs.ShapeError,
            r"integrate: leading shapes do not go together: q \(\), v \(3,\), dt \(2,\)",
        ),
        (
            lambda: integrate(FREE, REST, [0, 0, np.nan, 0, 0, 0]),
            gs.NonFiniteError,
            r"integrate: v of 'joint.wz' is nan, not a finite number",
        ),
        (
            lambda: integrate(FREE, [np.inf, 0, 0, 0, 0, 0, 1], np.zeros(6)),
            gs.NonFiniteError,
            r"integrate: q of 'joint.x' is inf",
        ),
        (
            lambda: integrate(FREE, np.zeros(7), np.zeros(6)),
            gs.StateError,
            r"integrate: the quaternion of 'joint' has length 0, expected 1",
        ),
        (
            lambda: integrate(FREE, REST, [0, 0, 0, 1e308, 0, 0], 10.0),
            gs.NonFiniteError,
            r"integrate: the reached q of 'joint.x' is nan",
        ),
        (
            lambda: integrate(SPHERICAL, [0, 0, 0, 1], [1e308, 0, 0], 10.0),
            gs.NonFiniteError,
            r"integrate: the reached q of 'joint.qx' is nan",
        ),
        (lambda: difference(FREE, np.zeros(3), REST), gs.ShapeError, r"difference\(q0\): q has shape \(3,\)"),
        (lambda: difference(FREE, REST, np.zeros(3)), gs.ShapeError, r"difference\(q1\): q has shape \(3,\)"),
        (
            lambda: difference(FREE, REST, np.full(7, 2.0)),
            gs.StateError,
            r"difference\(q1\): the quaternion of 'joint' has length 4",
        ),
        (
            lambda: difference(FREE, [REST] * 2, [REST] * 3),
            gs.ShapeError,
            r"difference: leading shapes do not go together: q0 \(2,\), q1 \(3,\)",
        ),
        (
            lambda: difference(one_joint("prismatic", axis="x"), [-1.7e308], [1.7e308]),
            gs.NonFiniteError,
            r"difference: the difference of 'joint' is inf",
        ),
        (lambda: tangent(FREE, np.zeros(7)), gs.StateError, r"tangent: the quaternion of 'joint' has length 0"),
        (lambda: tangent(FREE, 1.0), gs.ShapeError, r"tangent: q has shape \(\), expected \(\.\.\., 7\)"),
        (lambda: random_configuration(FREE, "dice"), gs.StateError, r"rng is 'dice', expected None, a seed"),
        (lambda: random_configuration(FREE, -1), gs.StateError, r"rng is -1, expected None, a seed"),
        (lambda: random_configuration(FREE, 0, -2), gs.ShapeError, r"shape is -2, expected an integer or a tuple"),
        (lambda: random_configuration(FREE, 0, (2, 1.5)), gs.ShapeError, r"shape is \(2, 1.5\), expected an integer"),
        (lambda: random_configuration(FREE, 0, None), gs.ShapeError, r"shape is nothing, expected an integer"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_sentence(call, error, message):
    with pytest.raises(error, match=message):
        call()
