"""Rollouts with rigid contact: closed forms, single runs of the same scheme, residuals, neighbours, refusals."""

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.environments.planar_robots import CHEETAH, gears, half_cheetah, hopper

MU, G = 0.3, 9.81


def slider(friction=MU, **law):
    """A point of 2 kg that moves without turning, over the ground."""
    joints = [gs.Joint(axis, "prismatic", axis=axis) for axis in "xyz"]
    body = gs.RigidBody("body", mass=2.0, inertia=(1.0, 1.0, 1.0))
    tip = gs.ContactPoint("tip")
    parts = (
        gs.chain("world", *joints, body),
        tip,
        gs.connect("body", "tip"),
        gs.Ground("floor", friction=friction, **law),
    )
    return gs.assemble("slider", *parts)


def ball(friction=0.5):
    shape = gs.Shape(kind="sphere", size=(0.1,), role="collision")
    body = gs.RigidBody("ball", mass=1.5, inertia=(0.01, 0.012, 0.009), com=(0.01, 0.0, 0.0), shapes=[shape])
    return gs.assemble("ball", gs.chain("world", gs.Joint("j", "free"), body), gs.Ground("floor", friction=friction))


def cheetahs(n, seed=3):
    rng = np.random.default_rng(seed)
    efforts = np.concatenate([np.zeros((n, 3)), rng.uniform(-1, 1, (n, 6)) * gears(CHEETAH)], axis=1)
    return half_cheetah(), rng.uniform(-0.1, 0.1, (n, 9)), rng.normal(size=(n, 9)) * 0.1, efforts


def test_a_body_that_slides_stops_as_coulomb_says_in_any_direction():
    angles = np.linspace(0.0, 2.0 * np.pi, 9)
    v0 = np.stack([2.0 * np.cos(angles), 2.0 * np.sin(angles), np.zeros(9)], axis=1)
    run = gs.rollout(slider(), q0=np.zeros((9, 3)), v0=v0, dt=1e-3, steps=1000, method="moreau", every=100)
    speed = np.maximum(2.0 - MU * G * run.t, 0.0)
    expected = speed[:, None, None] * v0 / 2.0
    assert np.abs(run.v - expected).max() < 1e-8
    assert np.abs(run.q[..., 2]).max() < 1e-12
    force = run.contact_forces["tip|floor"]
    assert np.abs(force[1:, :, 0] - 2.0 * G).max() < 1e-6
    slip = np.linalg.norm(force[1:6, :, 1:], axis=-1)
    assert np.abs(slip - MU * 2.0 * G).max() < 1e-6
    assert run.unsettled.sum() == 0


def test_a_body_falls_stops_without_a_bounce_and_stays():
    run = gs.rollout(slider(), q0=[0.0, 0.0, 1.0], dt=1e-3, steps=1000, method="moreau", every=1)
    assert run.q[:, 2].min() > -1e-9
    assert np.abs(run.v[600:, 2]).max() < 1e-9


@pytest.mark.parametrize("robot", ["hopper", "half-cheetah"])
def test_lanes_do_what_single_runs_do(robot):
    rng = np.random.default_rng(3)
    model, n = (hopper(), 6) if robot == "hopper" else (half_cheetah(), 9)
    q = rng.uniform(-0.1, 0.1, (3, n))
    q[:, 1] += 1.35 if n == 6 else 0.0
    q[:, 3:5] -= 0.15 if n == 6 else 0.0
    v, tau = rng.normal(size=(3, n)) * 0.1, np.zeros((3, n))
    tau[:, 3:] = rng.uniform(-20, 20, (3, n - 3))
    run = gs.rollout(model, tau, q0=q, v0=v, dt=5e-3, steps=60, method="moreau", every=None)
    for k in range(3):
        one = gs.simulate(
            model, tau[k], q0=q[k], v0=v[k], t_end=0.3, dt=5e-3, method="moreau", events=[gs.JointLimits()]
        )
        assert np.abs(one.q[-1] - run.q[-1, k]).max() < 1e-6
        assert np.abs(one.v[-1] - run.v[-1, k]).max() < 1e-5


@pytest.mark.slow
def test_impacts_bounce_as_in_single_runs_and_gain_no_energy():
    shape = gs.Shape(kind="box", size=(0.1, 0.2, 0.3), role="collision")
    brick = gs.RigidBody("brick", mass=1.5, inertia=(0.01, 0.012, 0.009), com=(0.01, 0.0, 0.0), shapes=[shape])
    floor = gs.Ground("floor", friction=0.5, restitution=0.7)
    model, n = gs.assemble("brick", gs.chain("world", gs.Joint("j", "free"), brick), floor), 5
    q, v = np.repeat(gs.neutral(model)[None], n, axis=0), 2.0 * np.random.default_rng(0).normal(size=(n, 6))
    q[:, 2] = 0.5
    run = gs.rollout(model, q0=q, v0=v, dt=1e-3, steps=600, method="moreau")
    one = gs.simulate(model, q0=q[1], v0=v[1], t_end=0.6, dt=1e-3, method="moreau")
    assert np.abs(one.q[-1] - run.q[-1, 1]).max() < 1e-6
    states = run.q.reshape(-1, 7), run.v.reshape(-1, 6)
    energy = (gs.kinetic_energy(model, *states) + gs.potential_energy(model, states[0])).reshape(-1, n)
    assert np.diff(energy, axis=0).max() < 1e-10 * energy.max()
    assert (energy[-1] < 0.8 * energy[0]).all()
    with pytest.raises(gs.GyrostatError, match=r"contact 'brick.*floor' has a restitution.* Hint: restitution=0.0"):
        run.vjp((np.ones_like(run.q), None))


def test_a_body_bounces_to_the_height_that_its_restitution_allows():
    run = gs.rollout(
        slider(restitution=0.8), q0=np.array([[0, 0, 1.0], [0, 0, 0.5]]), dt=1e-4, steps=8000, method="moreau"
    )
    up = run.v[..., 2].max(axis=0)
    assert np.abs(up / (0.8 * np.sqrt(2.0 * G * np.array([1.0, 0.5]))) - 1.0).max() < 1e-3


def test_contacts_of_half_cheetahs_converge():
    model, q, v, tau = cheetahs(64)
    run = gs.rollout(model, tau, q0=q, v0=v, dt=0.01, steps=200, method="moreau", every=1)
    assert run.unsettled.sum() <= 0.01 * 64 * 200
    assert (run.contact_residual > 1e-8).mean() <= 0.01
    total = sum(f[..., 0] for f in run.contact_forces.values())
    assert np.abs(total[100:].mean() / (14.0 * G) - 1.0) < 0.05  # the ground carries them
    assert min(f[..., 0].min() for f in run.contact_forces.values()) >= 0.0


def test_no_robot_notices_its_neighbours_or_threads():
    model, q, v, tau = cheetahs(19)
    settings = {"dt": 0.01, "steps": 40, "method": "moreau", "every": 10}
    all_, two = (gs.rollout(model, tau, q0=q, v0=v, threads=k, **settings) for k in (1, 2))
    some = gs.rollout(model, tau[5:9], q0=q[5:9], v0=v[5:9], **settings)
    assert np.array_equal(all_.q, two.q)
    assert np.array_equal(all_.v[:, 5:9], some.v)


def test_a_joint_stops_at_its_limit():
    body = gs.RigidBody("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), com=(0.3, 0.0, 0.0))
    arm = gs.assemble("arm", gs.chain("world", gs.Joint("j", "revolute", axis="y", lower=-0.5, upper=0.4), body))
    run = gs.rollout(arm, q0=np.zeros((3, 1)), dt=1e-3, steps=1500, method="moreau")
    assert run.q.max() < 0.4 + 1e-9
    assert np.abs(run.q[-1] - 0.4).max() < 1e-6
    assert np.abs(run.v[-1]).max() < 1e-9


def test_energy_never_grows_in_contact():
    rng = np.random.default_rng(5)
    model, n = ball(), 40
    q = np.repeat(gs.neutral(model)[None], n, axis=0)
    q[:, 2] = rng.uniform(0.1, 0.5, n)
    run = gs.rollout(model, q0=q, v0=rng.normal(size=(n, 6)), dt=1e-3, steps=600, method="moreau", every=20)
    kinetic = gs.kinetic_energy(model, run.q.reshape(-1, 7), run.v.reshape(-1, 6))
    potential = gs.potential_energy(model, run.q.reshape(-1, 7))
    energy = (kinetic + potential).reshape(run.t.size, n)
    assert np.diff(energy, axis=0).max() < 1e-10 * np.abs(energy).max()


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (
            {"torsional": 0.1},
            r"rollout: contact 'tip\|floor' has torsional or rolling friction, .* Hint: torsional=0.0",
        ),
        ({"dt": -1e-3}, r"rollout: method 'moreau' goes forward in time, got dt = -0.001 s. Hint: dt=0.001"),
    ],
)
def test_what_lanes_do_not_know_is_refused(law, message):
    law = dict(law)
    dt = law.pop("dt", 1e-3)
    with pytest.raises(gs.GyrostatError, match=message):
        gs.rollout(slider(**law), q0=np.zeros(3), dt=dt, steps=2, method="moreau")


def test_other_methods_do_not_fall_through_the_ground():
    message = (
        r"rollout: method 'rk4' knows no rigid contact, and 'slider' has 1, such as 'tip\|floor'. Hint: method='moreau'"
    )
    with pytest.raises(gs.GyrostatError, match=message):
        gs.rollout(slider(), q0=np.zeros(3), steps=2)


def test_too_many_candidates_are_refused():
    shapes = [
        gs.Shape(kind="box", size=(0.1, 0.1, 0.1), translation=(0.2 * k, 0, 0), role="collision") for k in range(9)
    ]
    body = gs.RigidBody("raft", mass=1.0, inertia=(1.0, 1.0, 1.0), shapes=shapes)
    raft = gs.assemble("raft", gs.chain("world", gs.Joint("j", "free"), body), gs.Ground("floor", friction=0.5))
    with pytest.raises(
        gs.GyrostatError, match=r"'raft' has 72 contact candidates, and lanes take 64.* Hint: fewer shapes"
    ):
        gs.rollout(raft, q0=gs.neutral(raft), dt=1e-3, steps=2, method="moreau")


def test_a_dead_centre_gives_no_impulse_and_no_nan():
    """A rod that stands straight above its hinge's plane: its tip cannot move along the normal."""
    rod = gs.RigidBody("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), frames={"tip": (0.0, 0.0, -1.0)})
    pin = gs.Displacement("pin", translation=(0.0, 0.0, 1.0))
    parts = gs.chain("world", pin, gs.Joint("hinge", "revolute", axis="y"), rod), gs.ContactPoint("tip")
    model = gs.assemble("pendulum", *parts, gs.connect("rod.tip", "tip"), gs.Ground("floor", friction=0.5))
    run = gs.rollout(model, q0=np.zeros((2, 1)), v0=np.array([[0.0], [0.5]]), dt=1e-3, steps=100, method="moreau")
    assert np.isfinite(run.q).all()
    assert np.abs(run.v[:, 0]).max() == 0.0
