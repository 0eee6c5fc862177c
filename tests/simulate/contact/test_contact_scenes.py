"""Contact by events in scenes that nobody has chosen: sound in every one of them, with all joints, drives and loops."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.simulate.constraints.inner_forces import inner_forces, least
from tests.simulate.contact.scenes import G, at, block, expect_sound, sphere

SIZES = {"box": (0.2, 0.15, 0.1), "sphere": (0.1,), "capsule": (0.05, 0.2), "cylinder": (0.1, 0.1)}
DEFAULT, MANY = 6, 2000


def thrown(seed: int) -> tuple[gs.Model, float, np.ndarray, np.ndarray]:
    """One to three bodies above the ground, some flat, some turned; friction and restitution zero to large."""
    rng = np.random.default_rng(seed)
    friction, restitution = float(rng.choice([0.0, 0.2, 0.7])), float(rng.choice([0.0, 0.3, 0.8, 1.0]))
    chains, q0, v0 = [], list[float](), list[float]()
    for k in range(int(rng.integers(1, 4))):
        kind = str(rng.choice(list(SIZES)))
        shape = gs.Shape(kind=kind, size=SIZES[kind], role="collision")
        body = gs.RigidBody(f"b{k}", mass=1.0 + k, inertia=(0.01, 0.012, 0.009), shapes=[shape])
        chains.append(gs.chain("world", gs.Joint(f"j{k}", "free"), body))
        turn = rng.normal(size=4) if rng.random() < 0.6 else np.array([0.0, 0.0, 0.0, 1.0])
        q0 += [*0.3 * rng.normal(size=2), 0.3 + 0.3 * k, *turn / np.linalg.norm(turn)]
        v0 += list(rng.normal(size=6) if rng.random() < 0.7 else np.zeros(6))
    model = gs.assemble("thrown", *chains, gs.Ground("floor", friction=friction, restitution=restitution))
    return model, friction, np.array(q0), np.array(v0)


def expect_scene(seed: int) -> None:
    model, friction, q0, v0 = thrown(seed)
    expect_sound(model, gs.simulate(model, q0=q0, v0=v0, t_end=0.5), friction, gain=1e-4)


@pytest.mark.by_default(3)
@pytest.mark.parametrize("seed", range(DEFAULT))
def test_bodies_thrown_on_the_ground_stay_sound(seed):
    expect_scene(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(DEFAULT, MANY))
def test_many_bodies_thrown_on_the_ground_stay_sound(seed):
    expect_scene(seed)


KINDS = {
    "revolute": {"axis": "y"}, "prismatic": {"axis": "x"}, "spherical": {},
    "universal": {"axis": "x", "second_axis": "y"},
    "cylindrical": {"axis": "y"}, "helical": {"axis": "y", "pitch": 0.05}, "planar": {"axis": "y"}, "free": {},
}  # fmt: skip


@pytest.mark.parametrize(
    "kind", [kind if kind in ("spherical", "planar") else pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS]
)
def test_two_bodies_with_any_joint_between_them_fall_soundly(kind):
    one = gs.RigidBody("one", mass=2.0, inertia=(0.02, 0.03, 0.025), frames={"hip": (0.1, 0.0, 0.0)})
    two = gs.RigidBody(
        "two", mass=1.0, inertia=(0.01, 0.01, 0.012), com=(0.05, 0.0, -0.02), frames={"toe": (0.2, 0, -0.1)}
    )
    model = gs.assemble(
        "pair",
        gs.chain("world", gs.Joint("root", "free"), one, gs.Joint("link", kind, **KINDS[kind]), two),
        gs.chain("one.hip", gs.ContactPoint("back", radius=0.1)),
        gs.chain("two.toe", gs.ContactPoint("toe")),
        gs.Ground("floor", friction=0.4, restitution=0.2),
    )
    q0 = gs.neutral(model)
    q0[:3] = 0.0, 0.0, 0.4
    rng = np.random.default_rng(3)
    run = gs.simulate(model, q0=q0, v0=0.5 * rng.normal(size=model.nv), t_end=0.5)
    expect_sound(model, run, 0.4, gain=1e-4)
    assert run.impulses


def hopper(**drive: float) -> gs.Model:
    """A mass on a rail, whose tip meets the ground."""
    body = gs.RigidBody("body", mass=2.0, inertia=(0.1, 0.1, 0.1))
    chain = gs.chain("world", gs.Joint("z", "prismatic", axis="z"), body, gs.ContactPoint("tip"))
    model = gs.assemble("hopper", chain, gs.Ground("floor", restitution=0.5))
    return model.with_drive("z", reflected_inertia_only=True, **drive) if drive else model


def test_a_geared_rotor_takes_part_in_the_impact():
    driven = hopper(rotor_inertia=1e-4, gear_ratio=100.0)  # 1 kg more, which does not fall
    run = gs.simulate(driven, q0=[0.2], t_end=0.5)
    speed = np.sqrt(2.0 * 0.2 * G * 2.0 / 3.0)
    (impulse,) = run.impulses[:1]
    assert impulse.impulse[0] == pytest.approx(3.0 * 1.5 * speed, rel=1e-9)
    assert run.events[0].v_after[0] == pytest.approx(0.5 * speed, rel=1e-9)


def test_a_contact_a_stop_and_dry_friction_act_together():
    slider = gs.Joint("x", "prismatic", axis="x", lower=-1.0, upper=0.3)
    body = gs.RigidBody("body", mass=1.0, inertia=(0.1,) * 3)
    chain = gs.chain(
        "world",
        slider,
        gs.RigidBody("cart", mass=1.0, inertia=(0.1,) * 3),
        gs.Joint("z", "prismatic", axis="z"),
        body,
        gs.ContactPoint("tip"),
    )
    model = gs.assemble("cart", chain, gs.Ground("floor", friction=0.2)).with_drive("x", coulomb=0.5, motor=False)
    run = gs.simulate(model, q0=[0.0, 0.0], v0=[1.5, 0.0], t_end=1.0, events=gs.JointLimits(), rtol=1e-9)
    slows = (0.2 * G * 1.0 + 0.5) / 2.0  # the tip carries the body alone
    hit = next(e for e in run.events if e.kind == "upper")
    assert hit.t == pytest.approx((1.5 - np.sqrt(2.25 - 0.6 * slows)) / slows, abs=1e-8)
    assert run.v[-1] == pytest.approx([0.0, 0.0], abs=1e-12)
    assert run.q[-1] == pytest.approx([0.3, 0.0], abs=1e-9)


def test_loops_stay_closed_where_contacts_act():
    def bar(name: str) -> gs.RigidBody:
        return gs.RigidBody(name, mass=1.0, com=(0.2, 0, 0), inertia=(0.001, 0.02, 0.02), frames={"end": (0.4, 0, 0)})

    left, right = bar("left"), bar("right")
    seat = gs.RigidBody("seat", mass=1.0, inertia=(0.01,) * 3, frames={"a": (-0.1, 0, 0), "b": (0.1, 0, 0)})
    model = gs.assemble(
        "stool",
        gs.chain("world", gs.Joint("z", "prismatic", axis="z"), seat),
        gs.chain("seat.a", gs.Joint("ha", "revolute", axis="y"), left),
        gs.chain("seat.b", gs.Joint("hb", "revolute", axis="y"), right),
        gs.chain("left.end", gs.Joint("knee", "revolute", axis="y")),
        gs.connect("knee.b", "right.end"),
        gs.chain("left.end", gs.ContactPoint("foot")),
        gs.Ground("floor", friction=0.5, restitution=0.2),
        reference={"ha": 1.3, "hb": 1.8}, loops="constraints",
    )  # fmt: skip
    q0 = gs.close(model, np.array([0.6, 1.3, 1.8]))
    run = gs.simulate(model, q0=q0, t_end=1.0)
    expect_sound(model, run, 0.5, gain=1e-5)
    assert max(x.distance.max() for x in run.closure.values()) <= 1e-8
    assert run.impulses


@pytest.mark.parametrize("method", ["dop853", "ode23", "rk4", "semi-implicit-euler", "bdf", "radau", "scipy-radau"])
def test_contacts_are_found_with_every_method_that_takes_events(method):
    options = {"dt": 0.001} if method in ("rk4", "semi-implicit-euler") else {}
    model = sphere(0.3)
    run = gs.simulate(model, q0=at(0, 0, 0.1), v0=[0, 0, 0, 0.5, 0, 0], t_end=0.1, method=method, **options)
    (stick,) = [e for e in run.events if e.kind == "stick"]
    assert stick.t == pytest.approx(1.0 / (2.1 * G), abs=1e-3 if method == "semi-implicit-euler" else 1e-7)
    expect_sound(model, run, 0.3, gain=1e-3)


def test_forces_inside_cones_are_found_where_only_sums_are_known():
    rng = np.random.default_rng(0)
    inside = np.array([1.0, 0.2, 0.1, 2.0, -0.3, 0.4, 1.5, 0.0, 0.5])
    cones = [(0, 0.5), (3, 0.5), (6, 0.5)]
    N = np.linalg.qr(rng.normal(size=(9, 4)))[0]
    outside = inside + N @ (5.0 * rng.normal(size=4))
    assert least(outside, cones) < 0.0
    found = inner_forces(outside, N, cones)
    assert least(found, cones) > 0.0
    left = found - outside
    np.testing.assert_allclose(left, N @ (N.T @ left), atol=1e-10)


def test_a_block_at_rest_on_a_slope_needs_no_look_in_python():
    run = gs.simulate(block(0.5, angle=0.4), q0=at(0, 0, 0.1), t_end=1.0)
    assert run.counters.in_python == ""
    expect_sound(block(0.5, angle=0.4), run, 0.5)


@pytest.mark.parametrize(("friction", "restitution"), [(0.0, 0.0), (0.4, 0.3)])
def test_a_pile_of_balls_falls_apart_soundly(friction, restitution):
    chains = [
        gs.chain("world", gs.Joint(f"j{k}", "free"), gs.RigidBody(f"b{k}", mass=1.0 + k, inertia=(0.004,) * 3),
                 gs.ContactPoint(f"p{k}", radius=0.1))
        for k in range(3)
    ]  # fmt: skip
    law = gs.ContactPair("*", "*", friction=friction, restitution=restitution)
    model = gs.assemble("pile", *chains, gs.Ground("floor"), law)
    rng = np.random.default_rng(1)
    q0 = np.concatenate([at(*0.03 * rng.normal(size=2), 0.1 + 0.21 * k) for k in range(3)])
    run = gs.simulate(model, q0=q0, t_end=1.0)
    expect_sound(model, run, friction, gain=1e-4)
    assert {"p0|p1", "p1|p2"} <= {x.name for x in run.impulses}
