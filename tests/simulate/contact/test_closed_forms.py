"""Contact by events against closed forms: balls, blocks, spheres and discs."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.integrate import quad

import gyrostat as gs
from tests.simulate.contact.scenes import G, at, ball, block, expect_sound, sphere
from tests.support.reference_data import reference

""


def bounced(t: float, e: float) -> float:
    """Height of a ball from 1 m."""
    first, speed = np.sqrt(2.0 / G), np.sqrt(2.0 * G)
    if t < first:
        return 1.0 - 0.5 * G * t * t
    t, speed = t - first, speed * e
    while t > 2.0 * speed / G:
        t, speed = t - 2.0 * speed / G, speed * e
    return speed * t - 0.5 * G * t * t


def test_a_ball_bounces_as_the_closed_form_to_twelve_digits():
    run = gs.simulate(ball(), q0=[1.0], t_eval=[0.5, 1.0, 2.0, 3.0])
    np.testing.assert_allclose(run.q[:, 0], [bounced(t, 0.9) for t in run.t], atol=1e-12)


def test_infinitely_many_bounces_end_in_rest_at_their_instant():
    run = gs.simulate(ball(), q0=[1.0], t_end=10.0)
    rest = np.sqrt(2.0 / G) * (1.0 + 0.9) / (1.0 - 0.9)
    opened, closed = run.contact_phases
    assert opened.t_end == closed.t_start == pytest.approx(rest, abs=1e-9)
    assert (opened.phase, closed.phase, closed.t_end) == ("open", "slide", 10.0)
    assert run.q[-1, 0] == pytest.approx(0.0, abs=1e-14)
    np.testing.assert_allclose(run.contact_forces["tip|floor"][-1], [G, 0.0, 0.0], atol=1e-12)


def test_the_first_impact_is_that_of_siconos():
    known = json.loads(reference("bouncing_ball.json").read_text())["siconos_first_impact"]
    run = gs.simulate(ball(), q0=[1.0], t_end=0.6)
    (hit,), (impulse,) = run.events, run.impulses
    found = hit.t, hit.v[0], hit.v_after[0], impulse.impulse[0]
    np.testing.assert_allclose(found, [known[k] for k in ("t", "v_minus", "v_plus", "impulse")], rtol=1e-9)
    assert (hit.name, hit.kind, impulse.name) == ("tip|floor", "impact", "tip|floor")


def test_a_ball_without_loss_bounces_on_and_on():
    run = gs.simulate(ball(1.0), q0=[1.0], t_end=20.0)
    assert np.ptp(run.energy) <= 1e-11
    assert len(run.impulses) == int((20.0 / np.sqrt(2.0 / G) + 1.0) / 2.0)


@pytest.mark.parametrize("friction", [0.3, (0.5, 0.3)])
def test_a_sphere_slides_until_it_rolls_with_five_sevenths_of_its_speed(friction):
    model, v0 = sphere(friction), 2.0
    ends = 2.0 * v0 / (7.0 * 0.3 * G)
    run = gs.simulate(model, q0=at(0, 0, 0.1), v0=[0, 0, 0, v0, 0, 0], t_end=1.0, rtol=1e-10, atol=1e-12)
    (stick,) = [e for e in run.events if e.kind == "stick"]
    assert stick.t == pytest.approx(ends, abs=1e-10)
    assert run.q[-1, 0] == pytest.approx(v0 * ends - 0.15 * G * ends**2 + 5.0 / 7.0 * v0 * (1.0 - ends), abs=1e-9)
    assert [x.phase for x in run.contact_phases] == ["slide", "stick"]
    expect_sound(model, run, 0.5, gain=1e-9)


def test_a_sphere_on_a_slope_rolls_with_five_sevenths_of_gravity():
    model = sphere(0.6, angle=0.4)
    run = gs.simulate(model, q0=at(0, 0, 0.1), t_end=1.0, rtol=1e-9)
    assert run.q[-1, 0] == pytest.approx(5.0 / 14.0 * G * np.sin(0.4), abs=1e-8)
    f = run.contact_forces["tip|floor"]
    np.testing.assert_allclose(np.linalg.norm(f[:, 1:], axis=1), 2.0 / 7.0 * G * np.sin(0.4), rtol=1e-9)


@pytest.mark.parametrize(("angle", "slides"), [(np.arctan(0.5) - 1e-6, False), (np.arctan(0.5) + 1e-6, True)])
def test_a_block_slides_beyond_the_angle_of_static_friction(angle, slides):
    run = gs.simulate(block((0.5, 0.4), angle=angle), q0=at(0, 0, 0.1), t_end=1.0)
    a = G * (np.sin(angle) - 0.4 * np.cos(angle)) if slides else 0.0
    np.testing.assert_allclose(run.q[-1, :3], [0.5 * a, 0.0, 0.1], atol=1e-11)
    total = sum(f[-1] for f in run.contact_forces.values())
    friction = 0.4 * np.cos(angle) if slides else np.sin(angle)
    np.testing.assert_allclose(np.abs(total), [2.0 * G * np.cos(angle), 2.0 * G * friction, 0.0], atol=1e-9)


@pytest.mark.parametrize("angle", [0.6, 0.4])
def test_a_block_thrown_uphill_stops_and_comes_back_if_static_friction_lets_it(angle):
    run = gs.simulate(block((0.5, 0.4), angle=angle), q0=at(0, 0, 0.1), v0=[0, 0, 0, -3.0, 0, 0], t_end=1.5)
    slows = G * (np.sin(angle) + 0.4 * np.cos(angle))
    back = G * (np.sin(angle) - 0.4 * np.cos(angle)) if np.tan(angle) > 0.5 else 0.0
    expected = -4.5 / slows + 0.5 * back * (1.5 - 3.0 / slows) ** 2
    assert run.q[-1, 0] == pytest.approx(expected, abs=1e-9)


def rocking() -> tuple[gs.Model, list[float], float, float]:
    """Housner's block of half height 0.5 m and half width 0.1 m on one edge, at half of the angle of its diagonal."""
    h, b = 0.5, 0.1
    R, alpha = np.hypot(h, b), np.arctan2(b, h)
    shape = gs.Shape(kind="box", size=(2 * b, 0.2, 2 * h), role="collision")
    body = gs.RigidBody("block", mass=1.0, inertia=(0.3, R * R / 3.0, 0.3), shapes=[shape])
    joints = (
        gs.Joint("x", "prismatic", axis="x"),
        gs.Joint("z", "prismatic", axis="z"),
        gs.Joint("pitch", "revolute", axis="y"),
    )
    model = gs.assemble("rocking", gs.chain("world", *joints, body), gs.Ground("floor", friction=10.0))
    tilt = 0.5 * alpha
    q0 = [b - (b * np.cos(tilt) - h * np.sin(tilt)), b * np.sin(tilt) + h * np.cos(tilt), tilt]
    return model, q0, alpha, np.sqrt(3.0 * G / (4.0 * R))


def test_a_rocking_block_loses_what_housner_found_and_comes_down_when_the_pendulum_does():
    model, q0, alpha, p = rocking()
    run = gs.simulate(model, q0=q0, t_end=1.0, rtol=1e-11, atol=1e-13)
    hit = next(e for e in run.events if e.kind == "impact")
    assert hit.v_after[2] / hit.v[2] == pytest.approx(1.0 - 1.5 * np.sin(alpha) ** 2, abs=1e-12)
    tilt = q0[2]

    def slowness(s: float) -> float:  # theta = tilt - s^2, without the root at its start
        return 2.0 * s / (p * np.sqrt(2.0 * (np.cos(alpha - tilt) - np.cos(alpha - tilt + s * s))))

    quarter = quad(slowness, 1e-12, np.sqrt(tilt), epsabs=1e-13, epsrel=1e-13)[0]
    assert hit.t == pytest.approx(quarter, abs=1e-9)
    assert hit.t == pytest.approx(np.arccosh(1.0 / (1.0 - tilt / alpha)) / p, rel=2e-3)  # small angles
    expect_sound(model, run, 10.0, gain=1e-9)


@pytest.mark.parametrize(
    ("law", "after"),
    [("poisson", (-1 / 3, 2 / 3, 2 / 3)), ("newton", (-1 / 3, 2 / 3, 2 / 3)), ("sequential", (0, 0, 1))],
)
def test_newtons_cradle_needs_one_impact_after_the_other(law, after):
    chains = [
        gs.chain("world", gs.Joint(f"x{k}", "prismatic", axis="x"), gs.RigidBody(f"b{k}", mass=1.0, inertia=(1.0,) * 3),
                 gs.ContactPoint(f"p{k}", radius=0.05))
        for k in range(3)
    ]  # fmt: skip
    pairs = [gs.ContactPair(f"c{k}", a=f"p{k}", b=f"p{k + 1}", restitution=1.0) for k in range(2)]
    model = gs.assemble("cradle", *chains, *pairs, gravity=(0, 0, 0))
    run = gs.simulate(model, q0=[-0.2, 0.0, 0.1], v0=[1.0, 0.0, 0.0], t_end=1.0, impact=law)
    np.testing.assert_allclose(run.v[-1], after, atol=1e-12)
    assert run.energy[-1] == pytest.approx(run.energy[0], abs=1e-12)


def coin(r: float = 0.1) -> gs.Model:
    """A disc without thickness: the lower rim of a cylinder, in the plane of its centre of mass."""
    shape = gs.Shape(kind="cylinder", size=(r, 0.05), translation=(0.0, 0.0, 0.025), role="collision")
    body = gs.RigidBody("coin", mass=1.0, inertia=(0.25 * r * r, 0.25 * r * r, 0.5 * r * r), shapes=[shape])
    return gs.assemble("coin", gs.chain("world", gs.Joint("free", "free"), body), gs.Ground("floor", friction=0.5))


def test_a_spinning_coin_precesses_steadily_about_its_centre_at_rest():
    r, tilt = 0.1, 0.5
    rate = np.sqrt(4.0 * G / (r * np.sin(tilt)))  # of the contact point about the vertical
    q0 = at(0, 0, r * np.sin(tilt), (np.sin(tilt / 2), 0, 0, np.cos(tilt / 2)))
    v0 = [0, rate * np.sin(tilt), 0, 0, 0, 0]
    times = np.array([0.25, 0.5, 1.0]) * 2.0 * np.pi / rate
    run = gs.simulate(coin(r), q0=q0, v0=v0, t_eval=times, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(run.q[:, :3], np.tile([0, 0, r * np.sin(tilt)], (3, 1)), atol=1e-9)
    x, y, z, w = run.q[:, 3:].T
    normals = np.stack([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)], axis=1)
    about = np.sign(normals[0, 0]) * rate * times  # either way round
    expected = np.stack([np.sin(tilt) * np.sin(about), -np.sin(tilt) * np.cos(about), np.full(3, np.cos(tilt))], axis=1)
    np.testing.assert_allclose(normals, expected, atol=1e-8)
    np.testing.assert_allclose(sum(f[:, 0] for f in run.contact_forces.values()), G, atol=1e-8)


@pytest.mark.parametrize("mu", [0.3, 0.36, 0.5])
def test_a_tall_block_that_slides_tips_where_friction_turns_it_over_its_front_foot(mu):
    """Delassus' matrix of contacts that slide is not symmetric: its transpose would let the rear foot pull."""
    m, I, height, half = 2.0, 0.05, 0.3, 0.1
    feet = {"rear": (-half, 0.0, -height), "front": (half, 0.0, -height)}
    body = gs.RigidBody("body", mass=m, inertia=(I, I, I), frames=feet)
    joints = (
        gs.Joint("x", "prismatic", axis="x"),
        gs.Joint("z", "prismatic", axis="z"),
        gs.Joint("p", "revolute", axis="y"),
    )
    wires = [gs.chain("world", *joints, body), *(gs.chain(f"body.{k}", gs.ContactPoint(k)) for k in feet)]
    model = gs.assemble("tall", *wires, gs.Ground("floor", friction=mu))
    run = gs.simulate(model, q0=[0.0, height, 0.0], v0=[1.0, 0.0, 0.0], t_end=1e-3)
    rear, front = (run.contact_forces[f"{k}|floor"][0, 0] for k in ("rear", "front"))
    lever = mu * height - half  # of the force of the front foot about the centre of mass
    if lever <= 0.0:
        np.testing.assert_allclose(
            [rear, front], 0.5 * m * G * (1.0 + np.array([-1.0, 1.0]) * mu * height / half), rtol=1e-9
        )
        return
    push = G / (1.0 / m - half * lever / I)
    np.testing.assert_allclose([rear, front], [0.0, push], atol=1e-9)
    np.testing.assert_allclose(run.a[0], [-mu * push / m, push / m - G, lever * push / I], atol=1e-9)
