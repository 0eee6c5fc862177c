"""Patterns of gaits, mirror images, and what is asked of a gait."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.studies.gaits.patterns import BIPED


@pytest.mark.parametrize("name", gs.studies.PATTERNS)
def test_phases_fill_a_stride_and_every_foot_stands_for_its_duty(name):
    pattern = gs.studies.gait_pattern(name)
    phases = pattern.phases
    assert phases[0].start == 0.0 and phases[-1].end == 1.0
    assert all(a.end == b.start and a.feet != b.feet for a, b in pairwise(phases))
    for foot, beta in zip(pattern.feet, pattern.duty, strict=True):
        assert abs(sum(p.end - p.start for p in phases if foot in p.feet) - beta) < 1e-12
    for k, phase in enumerate(phases):
        after = phases[(k + 1) % len(phases)]
        assert (set(phase.feet) | set(after.landing)) - set(phase.lifting) == set(after.feet)
    assert pattern.feet[0] in phases[0].landing


def test_the_usual_gaits_are_those_of_the_field():
    feet = {name: [set(p.feet) for p in gs.studies.gait_phases(name)] for name in gs.studies.PATTERNS}
    left, right = {"front_left", "rear_left"}, {"front_right", "rear_right"}
    assert feet["trot"] == [{"front_left", "rear_right"}, {"front_right", "rear_left"}]
    assert feet["pace"] == [left, right]
    assert feet["bound"] == [{"front_left", "front_right"}, set(), {"rear_left", "rear_right"}, set()]
    assert all(len(f) == 3 for f in feet["walk"]) and feet["biped run"] == [{"left"}, set(), {"right"}, set()]
    assert feet["biped walk"] == [{"left", "right"}, {"left"}, {"left", "right"}, {"right"}]
    landing = [p.landing[0] for p in gs.studies.gait_phases("walk")]
    assert landing == ["front_left", "rear_right", "front_right", "rear_left"]  # a rear foot, then the front one beside
    rotary, transverse = (
        [foot for p in gs.studies.gait_phases(f"{name} gallop") for foot in p.landing]
        for name in ("rotary", "transverse")
    )
    assert rotary == ["front_left", "rear_left", "rear_right", "front_right"]
    assert transverse == ["front_left", "rear_right", "rear_left", "front_right"]


def test_only_symmetric_gaits_are_their_own_mirror_image():
    sides = {"front_left": "front_right", "rear_left": "rear_right"}
    own = {
        name
        for name, (feet, *_) in gs.studies.PATTERNS.items()
        if len(feet) == 4 and gs.studies.gait_pattern(name).mirrored(sides)
    }
    assert own == {"walk", "trot", "pace", "rack"}
    with pytest.raises(gs.GyrostatError, match="no mirror image"):
        gs.studies.gait_pattern("bound").half(sides)


@pytest.mark.parametrize("robot", [gs.robots.humanoid, gs.robots.aibo])
def test_the_mirror_image_of_a_motion_costs_the_same_torques(robot):
    model = robot()
    image = gs.studies.mirror(gs.studies.legged(model))
    rng = np.random.default_rng(3)
    x, v, a = 0.3 * rng.normal(size=(3, model.nv))
    x[3:6] = 0.0
    base = gs.neutral(model)
    q, other = gs.integrate(model, base, x), gs.integrate(model, base, image(x))
    assert np.abs(image(gs.rnea(model, q, v, a)) - gs.rnea(model, other, image(v), image(a))).max() < 1e-10
    assert np.allclose(image(image(x)), x)


def test_a_robot_that_is_no_mirror_image_of_itself_is_refused():
    with pytest.raises(gs.GyrostatError, match="not its own mirror image"):
        gs.studies.mirror(gs.studies.legged(gs.robots.aibo().replace({"front_left_lower.mass": 0.2})))


def test_feet_are_placed_where_the_body_passes_over_them():
    gait = gs.studies.Gait(gs.robots.humanoid(), "biped walk", stride=0.4, period=4.0)
    assert [p.feet for p in gait.phases] == [BIPED, ("left",)] and sum(gait.intervals) + 2 == gait.nodes == 63
    assert np.allclose(gait.place("left", 0.3)[0], 0.4 * 0.3) and np.allclose(gait.place("right", 0.05)[0], -0.4 * 0.2)
    assert np.allclose(gait.place("right", 0.55) - gait.place("right", 0.05), [0.4, 0.0, 0.0])
    assert gait.swing("right", 0.3) == pytest.approx((0.1, 0.5))


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"pattern": "trott"}, "no pattern 'trott'. Hint: did you mean.*trot"),
        ({"pattern": "trot", "stability": "static"}, "static stability needs an area to stand on"),
        ({"pattern": "trot", "cost": "efort"}, "no cost 'efort'.*effort"),
        ({"pattern": "trot", "period": 0.0}, r"period must be above zero, or \(shortest, longest\), got 0.0"),
        ({"pattern": "trot", "period": (1.0, 0.5)}, r"period must be .*got \(1.0, 0.5\)"),
        ({"pattern": "trot", "landing": "soft"}, "landing is 'soft'. Hint: .*rest"),
        ({"pattern": "biped walk"}, "has no foot 'left'"),
        ({"pattern": "trot", "nodes": 2}, "nodes must be a whole number from 5"),
    ],
)
def test_what_is_wrong_with_a_gait_is_said(asked, words):
    with pytest.raises(gs.GyrostatError, match=words):
        gs.studies.Gait(gs.robots.aibo(), **({"stride": 0.1, "period": 1.0} | asked))


def test_a_model_without_known_feet_is_refused():
    with pytest.raises(gs.GyrostatError, match="feet of 'two_link' are not known"):
        gs.studies.legged(gs.robots.two_link())


def test_a_gait_is_data():
    asked = {"stride": 0.1, "period": (0.5, 1.0), "landing": "impact", "cost": {"torque": 1.0, "power": 0.5}}
    gait = gs.studies.Gait(gs.robots.aibo(), "trot", **asked)
    again = gs.studies.Gait.from_dict(gait.to_dict())
    assert again.period == (0.5, 1.0) and again.landing == "impact"
    assert again.pattern == gait.pattern and again.cost == gait.cost and np.array_equal(again.q0, gait.q0)
