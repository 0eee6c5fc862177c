"""The layout of q and v: blocks cover the state once, in order, and say what kind of numbers they hold."""

import pickle

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.configuration.layout import Layout
from gyrostat.spec.joint import JOINT_KINDS

Joint, Body = gs.Joint, gs.RigidBody
KINDS = {
    "revolute": {"axis": "z"},
    "continuous": {"axis": "z"},
    "prismatic": {"axis": "z"},
    "helical": {"axis": "z", "pitch": 0.1},
    "cylindrical": {"axis": "z"},
    "universal": {"axis": "z", "second_axis": "x"},
    "planar": {"axis": "z"},
    "spherical": {},
    "free": {},
    "fixed": {},
}
LENGTHS = {
    "prismatic": (True,),
    "cylindrical": (False, True),
    "planar": (True, True, False),
    "free": (True,) * 3 + (False,) * 4,
}
PERIODIC = {
    "revolute": (True,),
    "continuous": (True,),
    "cylindrical": (True, False),
    "universal": (True, True),
    "planar": (False, False, True),
}


def body(name):
    return Body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), frames={"tip": (0, 0, 1)})


def chain_of(*kinds, base="fixed"):
    parts = []
    for k, kind in enumerate(kinds):
        parts += [Joint(f"j{k}", kind, **KINDS[kind]), body(f"b{k}")]
    return gs.assemble("chain", gs.chain("world", *parts), base=base)


EVERY = chain_of(*KINDS, base="free")


def test_blocks_cover_the_state_once_and_in_order():
    layout = EVERY.layout
    assert [k for b in layout for k in range(b.q.start, b.q.stop)] == list(range(EVERY.nq))
    assert [k for b in layout for k in range(b.v.start, b.v.stop)] == list(range(EVERY.nv))
    assert layout.entities == ("world", *(f"j{k}" for k in range(9)))
    assert [(b.nq, b.nv) for b in layout] == [(len(b.coordinates), len(b.rates)) for b in layout]


def test_names_are_those_of_the_model():
    layout = EVERY.layout
    assert tuple(n for b in layout for n in b.coordinate_names) == EVERY.coordinates == layout.coordinates
    assert tuple(n for b in layout for n in b.rate_names) == EVERY.dofs == layout.dofs
    assert (layout.nq, layout.nv) == (EVERY.nq, EVERY.nv)
    assert layout.of["j5"].rate_names == ("j5.angle1", "j5.angle2")
    assert layout.of["j0"].coordinate_names == ("j0",)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "fixed"])
def test_every_kind_of_joint_says_what_its_numbers_are(kind):
    (block,) = chain_of(kind).layout
    assert block.kind == {"spherical": "rotation", "free": "placement"}.get(kind, "numbers")
    assert block.lengths == LENGTHS.get(kind, (False,) * block.nq)
    assert block.periodic == PERIODIC.get(kind, (False,) * block.nq)
    if block.turns:
        assert [block.coordinates[k] for k in range(block.nq)[block.quaternion]] == ["qx", "qy", "qz", "qw"]
        assert [block.rates[k] for k in range(block.nv)[block.angular]] == ["wx", "wy", "wz"]
        assert block.quaternion_at == JOINT_KINDS[kind].quaternion_at
    if block.moves:
        assert [block.coordinates[k] for k in range(block.nq)[block.position]] == ["x", "y", "z"]
        assert [block.rates[k] for k in range(block.nv)[block.linear]] == ["vx", "vy", "vz"]


def test_arrays_of_places_share_out_the_state():
    at = EVERY.layout
    q = np.concatenate([at.number_q, at.quaternions.ravel(), at.positions.ravel()])
    v = np.concatenate([at.number_v, at.angular.ravel(), at.linear.ravel()])
    assert sorted(q) == list(range(EVERY.nq))
    assert sorted(v) == list(range(EVERY.nv))
    assert len(at.quaternions) == 3
    assert at.placed.tolist() == [0, 2]
    assert [EVERY.coordinates[k] for k in at.periodic_q] == [EVERY.dofs[k] for k in at.periodic_v]
    assert [EVERY.coordinates[k] for k in np.flatnonzero(at.lengths)][:4] == ["world.x", "world.y", "world.z", "j2"]


def test_places_of_joints_follow_the_order_in_which_they_are_named():
    q, v = EVERY.layout.places(["j4", "world"])
    assert [EVERY.coordinates[k] for k in q[:3]] == ["j4.angle", "j4.shift", "world.x"]
    assert [EVERY.dofs[k] for k in v[:3]] == ["j4.angle", "j4.shift", "world.wx"]
    assert len(EVERY.layout.places([])[0]) == 0


def test_the_coordinate_of_a_rate_has_its_name():
    at = EVERY.layout
    for v, q in enumerate(at.coordinate_of_rate):
        if v in at.number_v:
            assert EVERY.coordinates[q] == EVERY.dofs[v]


def test_a_follower_has_no_block_and_a_rotor_behind_a_spring_has_one():
    arm = chain_of("revolute", "revolute")
    elastic = arm.with_drive("j1", rotor_inertia=0.01, gear_ratio=50.0, stiffness=100.0)
    assert elastic.layout.entities == ("j0", "j1", *elastic.shafts.rotors)
    assert len(elastic.shafts.rotors) == 1
    wires = (*arm.connections, ("j1.shaft", "mimic.motor"), ("j0.shaft", "mimic.joint"))
    coupled = gs.Model("coupled", (*arm.entities, gs.Gear("mimic", 2.0)), wires)
    assert coupled.layout.entities == ("j0",)


def test_of_a_joint_that_follows_in_one_of_its_rates_the_other_one_is_named():
    arm = chain_of("universal")
    wires = (*arm.connections, ("j0.shaft2", "mimic.motor"), ("j0.shaft1", "mimic.joint"))
    coupled = gs.Model("coupled", (*arm.entities, gs.Gear("mimic", 2.0)), wires)
    (block,) = coupled.layout
    assert block.coordinates == ("angle1",)
    assert coupled.dofs == ("j0.angle1",)
    assert coupled.layout.periodic_q.tolist() == [0]


def test_a_model_with_mistakes_has_a_layout_too():
    broken = gs.Model("broken", (Joint("j", "revolute", axis="z"), body("b")), (("j.b", "b.origin"),))
    assert isinstance(broken.layout, Layout)
    assert (broken.nq, broken.nv) == (0, 0)
    with pytest.raises(gs.SpecError, match="reference frame"):
        gs.check(broken)


def test_the_layout_does_not_travel_with_a_copy():
    copy = pickle.loads(pickle.dumps(EVERY))
    assert "layout" not in copy.__dict__
    assert copy.layout == EVERY.layout
