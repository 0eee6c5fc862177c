"""Every feature of MJCF that the model takes, in a small file of its own, against MuJoCo."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.spec.shaft_elements import Spring
from tests.support.mjcf_models import compiled, disagreement, pair, uncoupled, without_what_is_not_taken

mujoco = pytest.importorskip("mujoco", reason="MJCF files are read through MuJoCo, extra 'oracles'")

MASS = '<inertial pos=".1 .2 .3" quat=".8 .2 -.4 .4" mass="1.5" diaginertia=".03 .04 .05"/>'
BALL = '<geom type="sphere" size=".1" pos=".05 .02 .3" mass="2"/>'


def mjcf(world: str, before: str = "", after: str = "") -> str:
    return f'<mujoco model="m">\n{before}\n<worldbody>\n{world}\n</worldbody>\n{after}\n</mujoco>\n'


def body(inside: str, name: str = "b", at: str = 'pos=".1 -.2 .4" quat=".6 .4 .6 .3"') -> str:
    return f'<body name="{name}" {at}>\n{inside}\n</body>'


def two(joint: str, more: str = "") -> str:
    """A body on a hinge, and one with the given joints on it."""
    return body(f'<joint name="z" axis=".6 0 .8"/>{MASS}{more}' + body(joint + MASS, "c"))


EXAMPLES: dict[str, str] = {
    "hinge": mjcf(two('<joint name="j" axis="0 1 0"/>')),
    "hinge beside the origin": mjcf(two('<joint name="j" axis="0 1 0" pos=".1 .2 .3"/>')),
    "axis of any length": mjcf(two('<joint name="j" axis="0 3 4"/>')),
    "slide": mjcf(two('<joint name="j" type="slide" axis=".6 0 .8" pos=".1 .2 .3"/>')),
    "ball": mjcf(two('<joint name="j" type="ball" pos=".1 .2 .3"/>')),
    "free": mjcf(body(f'<freejoint name="f"/>{MASS}' + body('<joint name="j" axis="1 0 0"/>' + MASS, "c"))),
    "two free": mjcf(body(f"<freejoint/>{MASS}", "a") + body(f'<joint type="free"/>{BALL}', "b")),
    "free, aligned": mjcf(body(f'<freejoint align="true"/>{MASS}{BALL}'), '<compiler inertiafromgeom="true"/>'),
    "three hinges": mjcf(
        two(
            '<joint name="x" axis="1 0 0" pos=".1 0 0"/><joint name="y" axis="0 1 0" pos="0 .2 0"/>'
            '<joint name="w" axis="0 0 1"/>'
        )
    ),
    "slide and hinge": mjcf(
        two('<joint name="s" type="slide" axis="1 0 0"/><joint name="h" axis="0 1 0" pos=".1 .2 .3"/>')
    ),
    "hinge and slide": mjcf(
        two('<joint name="h" axis="0 1 0" pos=".1 .2 .3"/><joint name="s" type="slide" axis="1 0 0"/>')
    ),
    "hinge and ball": mjcf(
        two('<joint name="h" axis="0 1 0" pos=".1 0 0"/><joint name="k" type="ball" pos="0 .3 0"/>')
    ),
    "ball and slide": mjcf(
        two('<joint name="k" type="ball" pos="0 .3 0"/><joint name="s" type="slide" axis="1 0 0"/>')
    ),
    "planar": mjcf(
        body('<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/><joint axis="0 1 0"/>' + MASS)
    ),
    "reference angles": mjcf(
        two(
            '<joint name="h" axis="0 1 0" pos=".1 .2 .3" ref="30"/><joint name="s" type="slide" axis="1 0 0" ref=".4"/>'
        )
    ),
    "radians": mjcf(two('<joint name="h" axis="0 1 0" ref=".5" range="-1 1"/>'), '<compiler angle="radian"/>'),
    "euler, degrees": mjcf(body("<joint/>" + MASS, at='pos="1 0 0" euler="10 20 30"')),
    "euler, other order": mjcf(
        body("<joint/>" + MASS, at='euler=".1 .2 .3"'), '<compiler angle="radian" eulerseq="ZYx"/>'
    ),
    "axis and angle": mjcf(body("<joint/>" + MASS, at='axisangle="1 2 3 40"')),
    "two axes": mjcf(body("<joint/>" + MASS, at='xyaxes="0 1 0 -1 0 1"')),
    "z axis": mjcf(body("<joint/>" + MASS, at='zaxis="1 2 3"')),
    "full inertia": mjcf(body('<joint/><inertial pos=".1 0 0" mass="2" fullinertia=".03 .04 .05 .001 -.002 .003"/>')),
    "turned inertia": mjcf(
        body('<joint/><inertial pos=".1 0 0" euler="10 20 30" mass="2" diaginertia=".03 .04 .05"/>')
    ),
    "inertia of solids": mjcf(
        body(
            '<joint axis="1 0 0"/><geom type="box" size=".1 .2 .3" pos=".1 0 0" euler="10 20 30"/>'
            '<geom type="capsule" fromto="0 0 0 .1 .2 .3" size=".05"/><geom type="cylinder" size=".05 .2" mass="3"/>'
            '<geom type="ellipsoid" size=".1 .2 .15" density="500"/><geom size=".1" shellinertia="true" pos="0 .5 0"/>'
        )
    ),
    "inertia of geoms against inertial": mjcf(body(f"<joint/>{MASS}{BALL}"), '<compiler inertiafromgeom="true"/>'),
    "groups of geoms": mjcf(
        body(f'<joint/>{BALL}<geom group="4" size=".5" mass="30"/>'), '<compiler inertiagrouprange="0 2"/>'
    ),
    "bounds of mass": mjcf(
        body('<joint/><inertial pos="0 0 .1" mass=".001" diaginertia="1e-6 1e-6 1e-6"/>'),
        '<compiler boundmass=".5" boundinertia=".01"/>',
    ),
    "balanced inertia": mjcf(
        body('<joint/><inertial pos="0 0 .1" mass="1" diaginertia=".1 .1 .5"/>'), '<compiler balanceinertia="true"/>'
    ),
    "total mass": mjcf(two('<joint axis="0 1 0"/>'), '<compiler settotalmass="14"/>'),
    "defaults": mjcf(
        f'<body name="b" childclass="arm"><joint name="z"/>{MASS}<geom/><body name="c" pos="0 0 1">'
        f'<joint class="wrist"/>{BALL}<geom class="small"/></body></body>',
        '<default><joint axis="0 1 0" damping=".3"/><default class="arm"><joint armature=".2" pos=".1 0 0"/>'
        '<geom type="box" size=".1 .1 .1"/><default class="wrist"><joint type="slide" frictionloss=".4"/></default>'
        '<default class="small"><geom size=".01 .02 .03"/></default></default></default>',
    ),
    "frames": mjcf(
        '<frame name="f" pos="1 2 3" euler="10 20 30">'
        + body('<joint/><frame euler="0 0 50" pos="1 0 0">' + BALL + '<site name="tip" pos="0 0 1"/></frame>' + MASS)
        + "</frame>",
    ),
    "replicas": mjcf(
        '<replicate count="3" offset="0 1 0" euler="0 0 10">' + body('<joint axis="0 1 0"/>' + BALL) + "</replicate>"
    ),
    "fixed bodies": mjcf(body(MASS, "pole") + body("<joint/>" + MASS + body(BALL, "knob") + body("", "empty"), "b")),
    "mocap": mjcf('<body name="hand" mocap="true" pos="1 1 1"><geom size=".1"/></body>' + two("<joint/>")),
    "gravity": mjcf(two("<joint/>"), '<option gravity="1 2 -3"/>'),
    "no gravity": mjcf(two("<joint/>"), '<option><flag gravity="disable"/></option>'),
    "armature": mjcf(two('<joint axis="0 1 0" armature=".3"/>')),
    "damping and friction": mjcf(two('<joint axis="0 1 0" damping=".3" frictionloss=".2"/>')),
    "spring": mjcf(two('<joint axis="0 1 0" stiffness="3" springref="20" ref="10"/>')),
    "spring by frequency": mjcf(two('<joint axis="0 1 0" springdamper=".1 .5"/>')),
    "springs switched off": mjcf(
        two('<joint axis="0 1 0" stiffness="3" springref="20" damping="2"/>'),
        '<option><flag spring="disable" damper="disable"/></option>',
    ),
    "ball with spring": mjcf(two('<joint type="ball" stiffness="3" damping=".4" pos=".1 .2 .3"/>')),
    "free with damping": mjcf(body(f'<joint type="free" damping=".7"/>{MASS}')),
    "motors": mjcf(
        two('<joint name="j" axis="0 1 0" damping=".1" armature=".01"/>'),
        after='<actuator><motor joint="j" gear="3" armature=".1" damping=".2"/>'
        '<motor joint="z" gear="-2" armature=".1"/></actuator>',
    ),
    "coupled joints": mjcf(
        two('<joint name="j" axis="0 1 0" ref="20" armature=".1"/>'),
        after='<equality><joint joint1="j" joint2="z" polycoef=".1 -.5 0 0 0"/></equality>',
    ),
    "joints coupled by a tendon": mjcf(
        two('<joint name="j" axis="0 1 0" ref="20"/><joint name="k" axis="1 0 0" damping=".2"/>'),
        after='<tendon><fixed name="t"><joint joint="j" coef="2"/><joint joint="z" coef="1"/>'
        '<joint joint="k" coef="-.5"/></fixed></tendon>'
        '<equality><tendon tendon1="t" polycoef=".1 0 0 0 0"/></equality>',
    ),
    "inertia of a mesh": mjcf(
        body('<joint axis="0 1 0"/><geom type="mesh" mesh="t" euler="10 20 30" pos=".1 0 0"/>'),
        '<asset><mesh name="t" vertex="0 0 0 1 0 0 0 1 0 0 0 1" scale=".1 .2 .3" refpos=".1 0 0"/></asset>',
    ),
    "contact and sensors": mjcf(
        two('<joint name="j" axis="0 1 0"/>', BALL) + '<geom type="plane" size="1 1 1"/><light pos="0 0 1"/>',
        '<asset><texture type="2d" builtin="checker" width="9" height="9" name="t"/>'
        '<material name="m" texture="t"/></asset>',
        '<contact><exclude body1="b" body2="c"/></contact><sensor><jointpos joint="j"/></sensor>'
        '<keyframe><key qpos="0 0"/></keyframe><custom><numeric name="n" data="1 2"/></custom>',
    ),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "m.xml"


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_feature_agrees_with_mujoco(path, name, caplog):
    path.write_text(EXAMPLES[name])
    model = gs.load(path)
    other = compiled(mujoco, path)
    without_what_is_not_taken(mujoco, other)
    for seed in range(2):
        found = disagreement(mujoco, pair(model, other, seed))
        assert max(found.values()) < 1e-11, found


@pytest.mark.parametrize("name", ["coupled joints", "joints coupled by a tendon"])
def test_couplings_are_those_of_mujoco(path, name):
    path.write_text(EXAMPLES[name])
    model, other = gs.load(path), compiled(mujoco, path)
    assert model.nv == other.nv - 1
    assert uncoupled(mujoco, pair(model, other)) < 1e-14


def test_sites_and_named_frames_are_frames(path):
    path.write_text(EXAMPLES["frames"])
    model, other = gs.load(path), compiled(mujoco, path)
    p, data = pair(model, other), mujoco.MjData(other)
    data.qpos[:] = p.qpos
    mujoco.mj_forward(other, data)
    motions = gs.fk(model, p.q)
    assert np.allclose(motions["b.tip"].p, data.site("tip").xpos, atol=1e-14)
    assert np.allclose(motions["b.tip"].R, data.site("tip").xmat.reshape(3, 3), atol=1e-14)
    assert np.allclose(motions["worldbody.f"].p, (1, 2, 3))


def test_limits_springs_and_efforts_are_taken(path):
    path.write_text(
        mjcf(
            two('<joint name="j" axis="0 1 0" range="-30 60" stiffness="2" springref="90"/>')
            + body(f'<joint name="k" actuatorfrcrange="-7 7"/>{MASS}', "d") + body(f'<joint name="l"/>{MASS}', "e"),
            after='<actuator><motor joint="j" gear="-5" ctrlrange="-1 2"/>'
            '<position joint="z" kp="9" forcerange="-4 4" gear="2"/><motor joint="k" gear="3" ctrlrange="-9 9"/>'
            '<motor joint="l" gear="3" ctrlrange="-9 9"/><motor joint="l"/></actuator>',
        )
    )  # fmt: skip
    model = gs.load(path)
    assert np.allclose((model["j.lower"], model["j.upper"]), np.radians((-30, 60)))
    assert (model["j.effort_limit"], model["z.effort_limit"]) == (10.0, 8.0)
    assert (model["k.effort_limit"], model["l.effort_limit"], model["z.lower"]) == (7.0, None, None)
    (spring,) = (e for e in model.entities if isinstance(e, Spring))
    assert (spring.stiffness, spring.ground) == (2.0, True)
    assert np.isclose(spring.rest, np.pi / 2)


def test_geoms_become_shapes(path):
    path.write_text(
        mjcf(
            '<geom type="plane" size="1 1 1"/><geom name="post" type="box" size="1 2 3" rgba="1 0 0 .5"/>'
            + body('<joint/><geom size=".2" material="m"/><geom type="capsule" size=".1 .3" group="3" pos="0 1 0"/>'
                   '<geom type="cylinder" size=".1 .3"/><geom type="ellipsoid" size=".1 .2 .3"/>'),
            '<asset><material name="m" rgba="0 1 0 1"/></asset>',
        )
    )  # fmt: skip
    model = gs.load(path)
    (post,) = model["worldbody"].shapes
    assert (post.kind, post.size, post.color) == ("box", (2.0, 4.0, 6.0), (1.0, 0.0, 0.0, 0.5))
    shapes = model["b"].shapes
    assert [s.kind for s in shapes] == ["sphere", "capsule", "cylinder", "ellipsoid"]
    assert [s.size for s in shapes] == [(0.2,), (0.1, 0.6), (0.1, 0.6), (0.1, 0.2, 0.3)]
    assert [s.role for s in shapes] == ["visual", "collision", "visual", "visual"]
    assert (shapes[0].color, shapes[1].translation) == ((0.0, 1.0, 0.0, 1.0), (0.0, 1.0, 0.0))
    assert isinstance(model["ground"], gs.Ground)
    assert [f.what for f in gs.audit(path).ignored if f.rule == "unused-geom"] == []
    off = gs.audit(path, contacts=False)
    assert [f.what for f in off.ignored if f.rule == "unused-geom"] == [
        "a plane that nothing touches is not in the model"
    ]


@pytest.mark.parametrize(("base", "dofs"), [(None, 7), ("free", 7), ("fixed", 1)])
def test_the_file_says_whether_it_floats_unless_the_base_is_fixed(path, base, dofs):
    path.write_text(EXAMPLES["free"])
    model = gs.load(path, base=base)
    assert model.nv == dofs
    assert [f.rule for f in gs.audit(path, base=base).ignored] == (["free-joint"] if base == "fixed" else [])
    if base == "fixed":
        assert np.allclose(gs.fk(model, [0.0])["b"].p, (0.1, -0.2, 0.4))


def test_a_file_without_free_joint_floats_as_a_whole(path):
    path.write_text(EXAMPLES["hinge"])
    assert gs.load(path).dofs == ("z", "j")
    model = gs.load(path, base="free")
    assert model.dofs[:2] + model.dofs[6:] == ("world.wx", "world.wy", "z", "j")
    assert gs.load(path, base="fixed") == gs.load(path)
