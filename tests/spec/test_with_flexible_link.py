"""``model.with_flexible_link``: mass properties, frames and attachments of the straight link stay what they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gyrostat as gs
from tests.support.comparing import assert_close

SECTION: dict[str, Any] = {"E": 7e10, "G": 2.6e10, "area": 1e-3, "I_y": 2e-7, "I_z": 3e-7, "J": 4e-7, "modes": 1}
try:
    from tests.oracles.test_edits_against_pinocchio import ROBOTS
except ImportError:  # without Pinocchio its robots are not there
    ROBOTS = Path("nowhere")


def stretched(rigid: gs.Model, flexible: gs.Model, seed: int = 0) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """q of the rigid robot, the same of the flexible one with straight links, places of the rigid rates."""
    q = gs.random_configuration(rigid, np.random.default_rng(seed))
    known = dict(zip(rigid.coordinates, q, strict=True))
    there = np.array([known.get(name, 0.0) for name in flexible.coordinates])
    return q, there, [flexible.dofs.index(name) for name in rigid.dofs]


def assert_same_straight(rigid: gs.Model, flexible: gs.Model) -> None:
    q, there, at = stretched(rigid, flexible)
    for got, expected in zip(gs.TotalInertia(flexible)(there), gs.TotalInertia(rigid)(q), strict=True):
        assert_close(got, expected, 1e-12)
    here, other = gs.ForwardKinematics(rigid)(q), gs.ForwardKinematics(flexible)(there)
    for name in gs.network(rigid).located:
        assert_close(other[name].p, here[name].p, 1e-14)
        assert_close(other[name].R, here[name].R, 1e-14)
    assert_close(gs.crba(flexible, there)[np.ix_(at, at)], gs.crba(rigid, q), 1e-12)
    v, a = np.random.default_rng(1).normal(size=(2, rigid.nv))
    whole = np.zeros((2, flexible.nv))
    whole[:, at] = v, a
    assert_close(gs.rnea(flexible, there, *whole)[at], gs.rnea(rigid, q, v, a), 1e-11)


@pytest.mark.parametrize("link", ["link2", "link3"])
def test_links_of_the_arm(link):
    arm = gs.robots.arm6()
    flexible = arm.with_flexible_link(link, **SECTION)
    assert [name for name in flexible.dofs if "." in name] == [f"{link}.beam.{x}1" for x in "yztx"]
    assert_same_straight(arm, flexible)


@pytest.mark.parametrize("options", [{"method": "in-cut", "elements": 1}, {"segments": 2, "modes_x": 0}], ids=str)
def test_every_way_to_make_a_beam(options):
    arm = gs.robots.arm6(drives=False)
    assert_same_straight(arm, arm.with_flexible_link("link3", **{**SECTION, **options}))


def test_a_link_that_is_held_by_another_frame_than_its_origin():
    """The origin of these links is along the beam: it becomes a frame of that."""
    lwr = gs.robots.kuka_lwr4()
    flexible = lwr.with_flexible_link("link3", **SECTION)
    assert dict(flexible.wiring.assemblies["link3"].exposes)["origin"] == "beam.origin"
    assert_same_straight(lwr, flexible)


@pytest.mark.skipif(not ROBOTS.exists(), reason="no example-robot-data")
@pytest.mark.parametrize(("file", "links"), [
    ("panda_description/urdf/panda.urdf", ["panda_link3", "panda_link4"]),
    ("ur_description/urdf/ur5_robot.urdf", ["upper_arm_link", "forearm_link"]),
])  # fmt: skip
def test_links_of_urdf_files_both_at_once(file, links):
    rigid = gs.load(ROBOTS / file)
    flexible = rigid
    for link in links:
        flexible = flexible.with_flexible_link(link, **SECTION)
    assert_same_straight(rigid, flexible)


def hanging() -> gs.Model:
    """A link with a sensor displaced from its origin to its middle, a bracket on a frame, and a wrist at its end."""
    J = ((0.05, 0.001, 0.002), (0.001, 0.3, 0.003), (0.002, 0.003, 0.28))
    frames = {"side": ((0.3, 0.1, 0.02), gs.rpy(0.1, 0.5, 0.0)), "beam": (1.0, 0.02, 0.0), "behind": (-0.1, 0.0, 0.0)}
    link = gs.RigidBody("link", mass=4.0, com=(0.45, 0.02, -0.01), inertia=J, frames=frames)
    parts = [
        gs.Joint("elbow", "revolute", axis="y"),
        link,
        gs.Displacement("mount", translation=(0.5, 0.05, 0.1), rotation=gs.rpy(0.2, 0.0, 0.3)),
        gs.RigidBody("sensor", mass=0.2, com=(0.01, 0, 0), inertia=(1e-4, 1e-4, 1e-4)),
        gs.Displacement("wrist_origin", translation=(1.0, 0.02, 0.0)),
        gs.Joint("wrist", "revolute", axis="z"),
        gs.RigidBody("hand", mass=0.7, com=(0.05, 0, 0), inertia=(1e-3, 1e-3, 1e-3)),
        gs.RigidBody("bracket", mass=0.1, com=(0.01, 0, 0), inertia=(1e-4, 1e-4, 1e-4)),
    ]
    wires = [("world", "elbow.a"), ("elbow.b", "link", "mount.a", "wrist_origin.a"), ("mount.b", "sensor")]
    wires += [("wrist_origin.b", "wrist.a"), ("wrist.b", "hand"), ("link.side", "bracket")]
    return gs.assemble("hanging", *parts, *(gs.connect(*w) for w in wires))


def test_what_hangs_on_a_link_stays_at_its_place_and_moves_with_its_section(tmp_path):
    rigid = hanging()
    flexible = rigid.with_flexible_link("link", **SECTION)
    assert_same_straight(rigid, flexible)
    _, q, _ = stretched(rigid, flexible)
    before = gs.ForwardKinematics(flexible)(q)
    q[flexible.coordinates.index("link.beam_part.z1")] += 0.01
    after = gs.ForwardKinematics(flexible)(q)
    moved = {
        name: np.linalg.norm(after[name].p - before[name].p) for name in ("link.behind", "sensor", "bracket", "hand")
    }
    assert moved["link.behind"] == 0.0 < moved["bracket"] < moved["sensor"] < moved["hand"]
    gs.save(flexible, tmp_path / "robot.yaml")
    assert gs.load(tmp_path / "robot.yaml") == flexible


def test_inside_an_assembly():
    parts = hanging()
    inner = tuple(e for e in parts.entities if e.name != "world")
    wires = tuple(c for c in parts.connections if "world" not in c)
    arm = gs.Assembly("arm", entities=inner, connections=wires, exposes=(("base", "elbow.a"),))
    rigid = gs.assemble("whole", arm, gs.connect("world", "arm.base"))
    assert_same_straight(rigid, rigid.with_flexible_link("arm.link", **SECTION))


def test_a_stiff_link_tends_to_the_rigid_one():
    """At the deflection that the motion makes: torques differ as the deflection does, by 1/E."""
    rigid = gs.robots.arm6(drives=False)
    rng = np.random.default_rng(3)
    v, a = 0.3 * rng.normal(size=(2, rigid.nv))
    off = []
    for E in (7e12, 7e14):
        flexible = rigid.with_flexible_link("link3", **{**SECTION, "E": E, "G": E / 3})
        q, there, at = stretched(rigid, flexible, 2)
        rates, accelerations = np.zeros((2, flexible.nv))
        rates[at], accelerations[at] = v, a
        bent = [k for k in range(flexible.nv) if k not in at]
        K = gs.rnea_derivatives(flexible, there, rates, accelerations).dtau_dq[np.ix_(bent, bent)]
        there[bent] -= np.linalg.solve(K, gs.rnea(flexible, there, rates, accelerations)[bent])
        off.append(np.abs(gs.rnea(flexible, there, rates, accelerations)[at] - gs.rnea(rigid, q, v, a)).max())
    assert off[0] < 1e-2 and off[1] == pytest.approx(off[0] / 100, rel=1e-2)


def test_what_is_left_of_the_mass_must_be_a_body():
    arm = gs.robots.arm6(drives=False)
    most = arm.with_flexible_link("link3", **SECTION)["link3.beam.density"] / 0.9
    assert_same_straight(arm, arm.with_flexible_link("link3", **SECTION, density=most))
    told = r"with_flexible_link 'link3': a beam of \S+ kg/m\^3 has \S+ of \S+ kg; what is left is no body"
    with pytest.raises(gs.SpecError, match=told) as error:
        arm.with_flexible_link("link3", **SECTION, density=1.01 * most)
    assert f"density={most:.6g} at most" in str(error.value)


@pytest.mark.parametrize(("link", "options", "told"), [
    ("q2", {}, "with_flexible_link 'q2': is a revolute joint, expected a rigid body"),
    ("link", {"end": "nothing"}, "has neither a port nor a joint 'nothing'"),
    ("link", {"end": "origin"}, "starts and ends at the same point"),
    ("hand", {}, r"carries 0 joints \(none\), so that its end is not known"),
    ("link", {"up": (1, 0.02, 0)}, "'up' must be a direction across the beam"),
    ("link", {"E": -1.0}, "'E' must be positive"),
])  # fmt: skip
def test_mistakes_are_told_by_name(link, options, told):
    model = gs.robots.arm6(drives=False) if link == "q2" else hanging()
    with pytest.raises(gs.SpecError, match=told):
        model.with_flexible_link(link, **{**SECTION, **options})


def test_of_several_joints_one_is_named():
    link = hanging().attach(gs.Joint("second", "revolute", axis="x"), "link.side", check=False)
    link = link.attach(gs.RigidBody("tool", mass=0.1, inertia=(1e-4,) * 3), "second")
    with pytest.raises(gs.SpecError, match=r"carries 2 joints \('wrist', 'second'\).*end='wrist'"):
        link.with_flexible_link("link", **SECTION)
    assert_same_straight(link, link.with_flexible_link("link", **SECTION, end="wrist"))


@pytest.mark.parametrize("link", ["link2", pytest.param("link4", marks=pytest.mark.slow)])
def test_a_link_whose_shift_is_an_entity_of_its_own_bends_along_it(link):
    """Standard tables of Denavit and Hartenberg place the body at the next joint; the Puma has motors beside it."""
    puma = gs.robots.puma560()
    bending = puma.with_flexible_link(link, **SECTION)
    shift = {"link2": 0.4318, "link4": 0.4318}[link]
    assert abs(bending[f"{link}.beam.length"] - shift) < 1e-12
    assert f"q{link[-1]}_shift" not in bending.wiring.entities
    q, there, at = stretched(puma, bending)
    for one, two in zip(gs.TotalInertia(puma)(q), gs.TotalInertia(bending)(there), strict=True):
        assert_close(one, two, 1e-12)
    assert_close(gs.crba(puma, q), gs.crba(bending, there)[np.ix_(at, at)], 1e-12)
    assert_close(gs.fk(puma, q)["link6"].p, gs.fk(bending, there)["link6"].p, 1e-14)
