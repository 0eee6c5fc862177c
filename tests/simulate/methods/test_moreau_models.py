"""Moreau's steps with everything that a model can have: drives, limits, loops, springs, friction; random heaps."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.robots.catalogue import catalogue
from tests.support import cam_models, drive_models, loop_models, solver_zoo
from tests.support.contact_scenes import on_ground, random_heap

LOOPS = ("four_bar", "five_bar", "slider_crank", "cylinder", "rod_loop", "universal_rod", "two_rods")
STIFF = ("flyball_governor",)
"""Springs too stiff for explicit steps of a millisecond."""
ZOO = {name: make for name, make in catalogue().items() if name not in STIFF}
ZOO |= {f"loop {name}": getattr(loop_models, name) for name in LOOPS}
ZOO |= {f"constraints {x}": lambda x=x: getattr(loop_models, x)(loops="constraints") for x in ("four_bar", "five_bar")}
ZOO |= {f"cam {x}": getattr(cam_models, x) for x in ("yoke", "cam", "outboard", "branched", "driven", "behind_gears")}
ZOO |= {"branched": solver_zoo.branched, "branched, free": lambda: solver_zoo.branched("free")}
ZOO |= {f"driven {k}": lambda k=k: drive_models.driven_tree(k, couplings=k % 2, elastic=k == 0).model for k in range(3)}


def grounded(model: gs.Model) -> gs.Model:
    """With points at the origins of its last bodies."""
    bodies = [name for name, x in model.wiring.entities.items() if isinstance(x, gs.RigidBody) and "." not in name]
    return model.with_ground("flat", points=[f"{name}.origin" for name in bodies[-4:]], friction=0.7, restitution=0.3)


DECISIVE = "loop four_bar", "constraints five_bar", "cam cam", "branched, free", "driven 1"


@pytest.mark.parametrize("name", [x if x in DECISIVE else pytest.param(x, marks=pytest.mark.slow) for x in ZOO])
def test_every_robot_of_the_zoo_makes_twenty_steps_with_a_ground(name):
    model = grounded(ZOO[name]())
    limits = () if model.layout.plan else gs.JointLimits()
    result = gs.simulate(model, t_end=0.02, method="moreau", dt=1e-3, events=limits)
    assert result.counters.steps == 20 and np.isfinite(result.q).all() and np.isfinite(result.v).all()
    for force in result.contact_forces.values():
        assert (np.hypot(force[:, 1], force[:, 2]) <= 0.7 * force[:, 0] * (1 + 1e-9) + 1e-9).all()


def test_random_heaps_end_without_a_number_that_is_none():
    _heaps(np.random.default_rng(7), models=4, states=6)


@pytest.mark.slow
def test_ten_thousand_random_scenes_end_without_a_number_that_is_none():
    _heaps(np.random.default_rng(8), models=100, states=100)


def _heaps(rng: np.random.Generator, models: int, states: int) -> None:
    for _ in range(models):
        model, q, v = random_heap(rng)
        for k in range(states):
            speed = rng.normal(size=model.nv) * rng.choice([0.0, 0.3, 3.0])
            result = gs.simulate(model, q0=q, v0=v if k == 0 else speed, t_end=0.05, method="moreau", dt=2.5e-3)
            assert result.status == "finished" and np.isfinite(result.q).all()
            mu = max(x.friction for x in model.entities if isinstance(x, gs.Ground))
            for force in result.contact_forces.values():
                size = 1e-9 * (1.0 + np.abs(force).max(initial=0.0))
                assert (force[:, 0] >= 0.0).all()
                assert (np.hypot(force[:, 1], force[:, 2]) <= mu * force[:, 0] + size).all()


def test_a_joint_stops_and_bounces_at_its_limit():
    link = gs.RigidBody("link", mass=1.0, com=(0.5, 0, 0), inertia=(0.01, 0.01, 0.01))
    hinge = gs.Joint("hinge", "revolute", axis="y", lower=-1.0, upper=1.0)
    model = gs.assemble("arm", gs.chain("world", hinge, link))
    for e in (0.0, 0.5):
        limits = gs.JointLimits(restitution=e)
        exact = gs.simulate(model, q0=[0.5], t_end=0.6, events=limits, rtol=1e-10, t_eval=[0.6])
        stepped = gs.simulate(model, q0=[0.5], t_end=0.6, events=limits, method="moreau", dt=1e-4, t_eval=[0.6])
        np.testing.assert_allclose(stepped.q[-1], exact.q[-1], atol=2e-3)


def test_dry_friction_of_a_joint_sticks_and_slips_as_by_events():
    slide, block = gs.Joint("slide", "prismatic", axis="x"), gs.RigidBody("block", mass=2.0, inertia=(1, 1, 1))
    rub = gs.Friction("rub", coulomb=3.0)
    model = gs.assemble("rub", gs.chain("world", slide, block), rub, gs.connect("slide.shaft", "rub.shaft"))
    force = lambda t, q, v: np.array([4.0 * np.sin(3.0 * t)])  # noqa: E731
    exact = gs.simulate(model, force, t_end=2.0, rtol=1e-10, t_eval=[0.2, 2.0])
    stepped = gs.simulate(model, force, t_end=2.0, method="moreau", dt=1e-4, t_eval=[0.2, 2.0])
    assert stepped.v[0] == pytest.approx(0.0, abs=1e-12), "it sticks"
    np.testing.assert_allclose(stepped.q[-1], exact.q[-1], atol=1e-4)


@pytest.mark.parametrize("loops", ["minimal", "constraints"])
def test_loops_move_as_with_other_methods(loops):
    model = loop_models.five_bar(loops=loops)
    exact = gs.simulate(model, t_end=0.3, rtol=1e-10, t_eval=[0.3])
    stepped = gs.simulate(model, t_end=0.3, method="moreau", dt=2e-4, t_eval=[0.3])
    np.testing.assert_allclose(stepped.q[-1], exact.q[-1], atol=1e-4)


def test_a_geared_rotor_changes_the_impact():
    """The reflected inertia i^2 J of a rotor takes part: P = (m + i^2 J) (1 + e) v, m = 1 kg, i^2 J = 1 kg."""
    ball = [gs.Joint("lift", "prismatic", axis="z"), gs.RigidBody("ball", mass=1.0, inertia=(1, 1, 1))]
    plain = gs.assemble("drop", gs.chain("world", *ball))
    geared = plain.with_drive("lift", rotor_inertia=0.01, gear_ratio=10.0)
    for model, m in ((plain, 1.0), (geared, 2.0)):
        scene = model.with_ground(points=["ball.origin"], restitution=0.5)
        result = gs.simulate(scene, q0=[0.01], v0=[-1.0], t_end=0.02, method="moreau", dt=1e-4)
        v = np.sqrt(1.0 + 2.0 * 9.81 / m * 0.01)
        assert result.impulses[0].impulse[0] == pytest.approx(m * 1.5 * v, rel=2e-3)


def test_stepping_approaches_events_as_steps_become_shorter():
    model = on_ground("box", (0.2, 0.3, 0.1), mass=2.0, friction=0.4, restitution=0.3)
    q0, v0 = [0, 0, 0.3, 0.1, 0.2, 0, np.sqrt(0.95)], [1.0, 0.5, 0, 0.5, 0, 0]
    reference = gs.simulate(model, q0=q0, v0=v0, t_end=0.3, method="moreau", dt=2e-5, t_eval=[0.3]).q[-1]
    exact = gs.simulate(model, q0=q0, v0=v0, t_end=0.3, rtol=1e-9, t_eval=[0.3]).q[-1]
    np.testing.assert_allclose(reference, exact, atol=2e-3)


# ------------------------------------------------------------------------------------------------ refusals, memory
def test_what_it_does_not_know_is_refused_by_name(tmp_path):
    box = on_ground("box", (0.2, 0.3, 0.1), friction=0.5)
    with pytest.raises(gs.GyrostatError, match="method 'moreau' takes fixed steps"):
        gs.simulate(box, t_end=0.1, method="moreau")
    with pytest.raises(gs.GyrostatError, match="moreau"):
        gs.simulate(box, t_end=0.1, method="moreau", dt=1e-3, sensitivities=["v0"])
    with pytest.raises(gs.GyrostatError, match="moreau"):
        gs.Simulator(box, method="moreau", dt=1e-3).export_c(tmp_path)


def test_a_simulator_goes_on_from_its_memory_to_the_same_bits():
    model = on_ground("box", (0.2, 0.3, 0.1), mass=2.0, friction=0.4, restitution=0.3)
    start = {"q0": [0, 0, 0.3, 0.1, 0.2, 0, np.sqrt(0.95)], "v0": [1.0, 0.5, 0, 0.5, 0, 0]}
    one = gs.Simulator(model, method="moreau", dt=1e-3, **start)
    one.step(steps=300)
    kept = one.save()
    other = gs.Simulator(model, method="moreau", dt=1e-3, **start)
    other.restore(kept)
    here, there = one.step(steps=200), other.step(steps=200)
    np.testing.assert_array_equal(here.q, there.q)
    np.testing.assert_array_equal(here.v, there.v)
