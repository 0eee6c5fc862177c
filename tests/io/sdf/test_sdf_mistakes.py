"""All that can be wrong with an SDF file: each mistake has a rule, a line and a remedy; hostile files end soon."""

from __future__ import annotations

import ast
import random
import re
import time
import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gyrostat as gs
from tests.io.sdf.test_sdf import BODY, four_bar, joint, link, sdf
from tests.support.examples import few

ONE = link("a") + joint("j", "revolute", "world", "a")
AXIS = "<axis><xyz>0 1 0</xyz></axis>"


def hinge(inside: str, kind: str = "revolute") -> str:
    return sdf(link("a"), joint("j", kind, "world", "a", inside))


def pose(text: str, attributes: str = "") -> str:
    return sdf(f'<link name="a"><pose {attributes}>{text}</pose>{BODY}</link>\n')


MOMENTS = "<ixx>{}</ixx><iyy>1</iyy><izz>1</izz>"
ALWAYS: dict[str, tuple[str, str, int, str]] = {
    "no sdf": ("<model/>", "root-tag", 1, "outermost tag must be <sdf>"),
    "too old": (sdf(ONE, version="1.2"), "version", 1, "versions 1.4 to 1.12 are read"),
    "no links": (sdf(""), "links", 1, "a file has models with links"),
    "two worlds": (
        '<sdf version="1.9"><world name="a"><gravity>0 0 0</gravity>'
        f'<model name="m">{ONE}</model></world>\n<world name="b"/></sdf>',
        "worlds",
        4,
        "second <world>",
    ),
    "no name": (sdf("<link/>", ONE), "missing", 3, "needs the attribute 'name'"),
    "a reserved name": (sdf(link("world"), ONE), "reserved-name", 3, "be 'world'"),
    "another reserved name": (sdf(link("__x__"), ONE), "reserved-name", 3, "begin and end with '__'"),
    "a name with colons": (sdf(link("x::y"), ONE), "reserved-name", 3, "must not hold '::'"),
    "two links of one name": (sdf(link("a"), ONE), "unique-name", 4, "another link has the same name, in line 3"),
    "two joints of one name": (
        sdf(ONE, link("b"), joint("j", "fixed", "a", "b", "")),
        "unique-name",
        6,
        "another joint",
    ),
    "no parent": (
        sdf(link("a"), '<joint name="j" type="fixed"><child>a</child></joint>'),
        "missing",
        4,
        "has no <parent>",
    ),
    "an empty child": (
        sdf(link("a"), '<joint name="j" type="fixed"><parent>world</parent><child/></joint>'),
        "missing",
        4,
        "has no <child>",
    ),
    "an unknown parent": (
        sdf(link("arm"), joint("j", "revolute", "amr", "arm")),
        "unknown-link",
        4,
        "did you mean 'arm'",
    ),
    "an unknown child": (
        sdf(link("arm"), joint("j", "revolute", "world", "amr")),
        "unknown-link",
        4,
        "did you mean 'arm'",
    ),
    "world as a child": (
        sdf(link("a"), joint("j", "revolute", "a", "world")),
        "unknown-link",
        4,
        "cannot be the world",
    ),
    "a joint of one link": (
        sdf(link("a"), '<frame name="f" attached_to="a"/>', joint("j", "revolute", "f", "a")),
        "self-joint",
        4,
        "joins a link with itself",
    ),
    "an unknown type": (hinge(AXIS, "revolut"), "joint-type", 4, "did you mean 'revolute'"),
    "no type": (
        sdf(link("a"), '<joint name="j"><parent>world</parent><child>a</child></joint>'),
        "missing",
        4,
        "'type'",
    ),
    "no axis": (hinge(""), "missing", 4, "needs <axis>"),
    "no second axis": (hinge(AXIS, "universal"), "missing", 4, "needs <axis2>"),
    "an axis of nothing": (hinge("<axis><xyz>0 0 0</xyz></axis>"), "axis", 4, "must not be zero"),
    "an axis of two numbers": (hinge("<axis><xyz>0 1</xyz></axis>"), "number", 4, "there are 2"),
    "an axis in no frame": (
        hinge('<axis><xyz expressed_in="b">0 1 0</xyz></axis>'),
        "unknown-frame",
        4,
        "expressed in a frame that does not exist",
    ),
    "a screw without pitch": (hinge(AXIS, "screw"), "missing", 4, "a screw needs its pitch"),
    "a screw of zero": (hinge(AXIS + "<thread_pitch>0</thread_pitch>", "screw"), "thread-pitch", 4, "must not be zero"),
    "a gearbox of nobody": (hinge(AXIS, "gearbox"), "missing", 4, "needs the link that its angles count from"),
    "NaN in a pose": (pose("0 0 nan 0 0 0"), "number", 3, "give a finite number"),
    "five numbers in a pose": (pose("0 0 0 0 0"), "number", 3, "there are 5"),
    "a quaternion of nothing": (
        pose("0 0 0 0 0 0 0", 'rotation_format="quat_xyzw"'),
        "quaternion",
        3,
        "must have unit length",
    ),
    "a quaternion in degrees": (
        pose("0 0 0 0 0 0 1", 'rotation_format="quat_xyzw" degrees="true"'),
        "rotation-format",
        3,
        "no degrees",
    ),
    "an unknown rotation": (pose("0 0 0 0 0 0", 'rotation_format="quat"'), "rotation-format", 3, "no such format"),
    "relative to nobody": (
        pose("0 0 0 0 0 0", 'relative_to="b"'),
        "unknown-frame",
        3,
        "relative to a frame that does not exist",
    ),
    "attached to nobody": (
        sdf(ONE, '<frame name="f" attached_to="b"/>'),
        "unknown-frame",
        5,
        "frame that does not exist",
    ),
    "frames in a circle": (
        sdf(
            ONE,
            '<frame name="f"><pose relative_to="g"/></frame><frame name="g"><pose relative_to="f"/></frame>',
            link("b", inside='<pose relative_to="f"/>' + BODY),
        ),
        "frame-circle",
        5,
        "in a circle",
    ),
    "frames attached in a circle": (
        sdf(ONE, '<frame name="f" attached_to="g"/><frame name="g" attached_to="f"/>'),
        "frame-circle",
        5,
        "attached to each other",
    ),
    "a mass of NaN": (sdf(link("a", inside="<inertial><mass>nan</mass></inertial>")), "number", 3, "finite"),
    "a mass with units": (sdf(link("a", inside="<inertial><mass>5kg</mass></inertial>")), "number", 3, "without units"),
    "a negative mass": (sdf(link("a", inside=BODY.replace("1.5", "-1.5"))), "mass", 3, "must not be negative"),
    "an inertial elsewhere": (
        sdf('<frame name="f"/>', link("a", inside=BODY.replace("<pose>", '<pose relative_to="f">'))),
        "unknown-frame",
        3,
        "seen from its link",
    ),
    "two inertials": (sdf(link("a", inside=BODY + BODY)), "duplicate-element", 3, "second <inertial>"),
    "auto without collisions": (sdf(link("a", inside='<inertial auto="1"/>')), "auto-inertia", 3, "it has none"),
    "auto of a mesh": (
        sdf(
            link(
                "a",
                inside='<inertial auto="1"/><collision name="c">'
                "<geometry><mesh><uri>x.stl</uri></mesh></geometry></collision>",
            )
        ),
        "auto-inertia",
        3,
        "alone",
    ),
    "auto of a planet": (
        sdf(
            link(
                "a",
                inside='<inertial auto="1"/><collision name="c">'
                "<geometry><sphere><radius>1e200</radius></sphere></geometry></collision>",
            )
        ),
        "auto-inertia",
        3,
        "between 1e-09 and 1e+09",
    ),
    "a truth that is none": (sdf("<static>maybe</static>", ONE), "truth-value", 3, "true or false"),
    "a spring that pushes": (
        hinge("<axis><xyz>0 1 0</xyz><dynamics><spring_stiffness>-1</spring_stiffness></dynamics></axis>"),
        "dynamics",
        4,
        "negative",
    ),
    "a follower of itself": (
        hinge('<axis><xyz>0 1 0</xyz><mimic joint="j"/></axis>'),
        "mimic",
        4,
        "cannot follow itself",
    ),
    "a follower of axis3": (
        hinge('<axis><xyz>0 1 0</xyz><mimic joint="j" axis="axis3"/></axis>'),
        "mimic",
        4,
        "'axis' or 'axis2'",
    ),
    "an include of nothing": (sdf(ONE, "<include/>"), "include", 5, "needs a <uri>"),
    "a merged include": (sdf(ONE, '<include merge="true"><uri>x</uri></include>'), "include", 5, "merging"),
    "a placement in nothing": (
        sdf(ONE, '<model name="m" placement_frame="q">' + link("b") + "</model>"),
        "frame",
        5,
        "placement frame",
    ),
}
"""Text, rule, line, words: refused whatever the policy."""

LEFT: dict[str, tuple[str, str, int, str]] = {
    "no version": (sdf(ONE).replace(' version="1.9"', ""), "version", 1, "must say its version"),
    "a version to come": (sdf(ONE, version="1.99"), "version", 1, "read as 1.12"),
    "relative_to too early": (
        pose("0 0 0 0 0 0", 'relative_to="__model__"').replace("1.9", "1.6"),
        "version",
        3,
        "came with SDF 1.7",
    ),
    "frame too late": (pose("0 0 0 0 0 0", 'frame="__model__"'), "version", 3, "is called 'relative_to'"),
    "expressed_in too early": (
        hinge('<axis><xyz expressed_in="__model__">0 1 0</xyz></axis>').replace("1.9", "1.5"),
        "version",
        4,
        "came with SDF 1.7",
    ),
    "the frame of the model too late": (
        hinge("<axis><xyz>0 1 0</xyz><use_parent_model_frame>1</use_parent_model_frame></axis>"),
        "version",
        4,
        "since 1.7",
    ),
    "an axis that is long": (hinge("<axis><xyz>0 2 0</xyz></axis>"), "axis", 4, "its length is 2"),
    "a triangle": (
        sdf(link("a", inside=f"<inertial><mass>1</mass><inertia>{MOMENTS.format(5)}</inertia></inertial>")),
        "inertia-triangle",
        3,
        "triangle inequality",
    ),
    "no mass": (
        sdf(
            link("a"),
            link(
                "b", inside="<inertial><mass>0</mass><inertia><ixx>0</ixx><iyy>0</iyy><izz>0</izz></inertia></inertial>"
            ),
            joint("j", "revolute", "a", "b"),
        ),
        "massless",
        4,
        "has no mass",
    ),
    "inertia without mass": (
        sdf(link("a", inside="<inertial><mass>0</mass></inertial>"), link("b"), joint("j", "fixed", "a", "b", "")),
        "inertia-without-mass",
        3,
        "inertia but no mass",
    ),
    "limits the wrong way": (
        hinge("<axis><xyz>0 1 0</xyz><limit><lower>1</lower><upper>-1</upper></limit></axis>"),
        "limit-order",
        4,
        "above the upper",
    ),
    "damping that drives": (
        hinge("<axis><xyz>0 1 0</xyz><dynamics><damping>-1</damping></dynamics></axis>"),
        "dynamics",
        4,
        "negative",
    ),
    "a thread of many meanings": (
        hinge(AXIS + "<thread_pitch>3</thread_pitch>", "screw"),
        "thread-pitch",
        4,
        "as Gazebo does",
    ),
    "a follower of nobody": (
        hinge('<axis><xyz>0 1 0</xyz><mimic joint="k"/></axis>'),
        "unknown-joint",
        4,
        "does not exist",
    ),
    "a follower that stands": (
        sdf(
            ONE,
            link("b"),
            joint(
                "k",
                "revolute",
                "a",
                "b",
                '<axis><xyz>0 1 0</xyz><mimic joint="j"><multiplier>0</multiplier></mimic></axis>',
            ),
        ),
        "mimic",
        6,
        "does not move",
    ),
    "a follower of a ball": (
        sdf(
            link("a"),
            joint("j", "ball", "world", "a", ""),
            link("b"),
            joint("k", "revolute", "a", "b", '<axis><xyz>0 1 0</xyz><mimic joint="j"/></axis>'),
        ),
        "mimic",
        6,
        "that the joint does not have",
    ),
    "a gearbox without hinges": (
        sdf(
            ONE,
            link("b"),
            joint("k", "revolute", "a", "b"),
            joint(
                "g",
                "gearbox",
                "world",
                "b",
                AXIS + "<gearbox_reference_body>a</gearbox_reference_body><axis2><xyz>1 0 0</xyz></axis2>",
            ),
        ),
        "gearbox",
        7,
        "needs hinges",
    ),
    "a link without weight": (
        sdf(link("a", inside=BODY + "<gravity>0</gravity>")),
        "link-gravity",
        3,
        "falls like the others",
    ),
    "velocity that decays": (
        sdf(link("a", inside=BODY + "<velocity_decay><linear>0.1</linear></velocity_decay>")),
        "unused-velocity-decay",
        3,
        "decay",
    ),
    "wind": (
        '<sdf version="1.9"><world name="w"><gravity>0 0 0</gravity>'
        "<wind><linear_velocity>1 0 0</linear_velocity></wind>"
        f'<model name="m">{ONE}</model></world></sdf>',
        "unused-wind",
        1,
        "wind",
    ),
    "a kinematic link": (
        sdf(link("a", inside=BODY + "<kinematic>true</kinematic>")),
        "unused-kinematic",
        3,
        "without forces",
    ),
    "added mass": (
        sdf(link("a", inside=BODY.replace("<mass>", "<fluid_added_mass><xx>1</xx></fluid_added_mass><mass>"))),
        "unused-fluid-added-mass",
        3,
        "fluid",
    ),
    "a misspelt tag": (
        sdf(link("a", inside=BODY.replace("inertial", "inertail"))),
        "misspelt-tag",
        3,
        "did you mean 'inertial'",
    ),
    "a misspelt attribute": (
        pose("0 0 0 0 0 0", 'relativ_to="x"'),
        "misspelt-attribute",
        3,
        "did you mean 'relative_to'",
    ),
    "a tag of drake": (
        sdf('<x:joint xmlns:x="d"/>', ONE).replace("x:", "drake:").replace("xmlns:x", "xmlns:drake"),
        "drake",
        3,
        "what Drake does",
    ),
    "a misplaced tag": (
        sdf(ONE.replace("<mass>1.5</mass>", "<mass>1.5<joint/></mass>")),
        "misplaced-tag",
        3,
        "has no meaning",
    ),
    "a missing include": (sdf(ONE, "<include><uri>model://sun</uri></include>"), "include", 5, "mere reference"),
    "names of a joint and a link": (
        sdf(ONE, joint("a", "revolute", "world", "b"), link("b")),
        "unique-name",
        5,
        "names of frames mean it",
    ),
}
"""The same: refused by ``strict``, accepted with a warning by ``accept``."""

VISUAL = "<visual name='v'><material><specular>1 1 1</specular></material><geometry>{}</geometry>"
TOLD: dict[str, tuple[str, str, str, int, str]] = {
    "sensor": (
        sdf(link("a", inside=BODY + '<sensor name="s" type="imu"><x/></sensor>')),
        "ignored",
        "unused-sensor",
        3,
        "sensors",
    ),
    "plugin": (
        sdf(ONE, '<plugin filename="x.so" name="p"><any/></plugin>'),
        "ignored",
        "unused-plugin",
        5,
        "never loaded",
    ),
    "self collide": (sdf("<self_collide>1</self_collide>", ONE), "ignored", "unused-self-collide", 3, "contact"),
    "physics of a joint": (
        hinge(AXIS + "<physics><ode><cfm>1</cfm></ode></physics>"),
        "ignored",
        "unused-physics",
        4,
        "simulator",
    ),
    "axis of a ball": (
        hinge("<axis><xyz>0 1 0</xyz><dynamics><damping>1</damping></dynamics></axis>", "ball"),
        "ignored",
        "unused-axis",
        4,
        "has no <axis>",
    ),
    "soft stops": (
        hinge("<axis><xyz>0 1 0</xyz><limit><stiffness>1</stiffness></limit></axis>"),
        "ignored",
        "unused-limit",
        4,
        "stops",
    ),
    "limits of a universal": (
        hinge(
            "<axis><xyz>0 1 0</xyz><limit><lower>-1</lower><upper>1</upper></limit></axis>"
            "<axis2><xyz>1 0 0</xyz></axis2>",
            "universal",
        ),
        "ignored",
        "unused-limit",
        4,
        "universal",
    ),
    "range of a continuous": (
        hinge("<axis><xyz>0 1 0</xyz><limit><lower>-1</lower></limit></axis>", "continuous"),
        "ignored",
        "unused-limit",
        4,
        "continuous",
    ),
    "a plane": (
        sdf(
            link(
                "a",
                inside=BODY
                + "<collision name='c'><geometry><plane><normal>0 0 1</normal></plane></geometry></collision>",
            )
        ),
        "ignored",
        "unused-shape",
        3,
        "<plane>",
    ),
    "a surface": (
        sdf(
            link(
                "a",
                inside=BODY
                + "<collision name='c'><geometry><sphere><radius>1</radius></sphere></geometry><surface/></collision>",
            )
        ),
        "ignored",
        "unused-surface",
        3,
        "contact",
    ),
    "no inertial": (sdf(link("a", inside="")), "warning", "inertial-missing", 3, "as SDF says"),
    "no inertia": (
        sdf(link("a", inside="<inertial><mass>2</mass></inertial>")),
        "warning",
        "inertial-missing",
        3,
        "1 kg m^2",
    ),
    "no xyz": (hinge("<axis/>"), "warning", "axis-missing", 4, "z axis"),
    "degrees": (pose("0 0 0 90 0 0"), "warning", "rpy-degrees", 3, "degrees"),
    "limits in degrees": (
        hinge("<axis><xyz>0 1 0</xyz><limit><upper>90</upper></limit></axis>"),
        "warning",
        "limit-degrees",
        4,
        "degrees",
    ),
    "an unknown tag": (sdf("<colour/>", ONE), "warning", "unknown-tag", 3, "passed over"),
    "a tag of others": (sdf('<x:y xmlns:x="d"/>', ONE), "warning", "unknown-tag", 3, "is no tag of SDF"),
    "an unknown attribute": (pose("0 0 0 0 0 0", 'colour="1"'), "warning", "unknown-attribute", 3, "passed over"),
    "stray text": (sdf("hello", ONE), "warning", "text", 2, "there is text in <model>"),
    "a box without size": (
        sdf(link("a", inside=BODY + "<visual name='c'><geometry><box/></geometry></visual>")),
        "warning",
        "shape",
        3,
        "no <size>",
    ),
    "a sphere of nothing": (
        sdf(
            link(
                "a", inside=BODY + "<visual name='c'><geometry><sphere><radius>0</radius></sphere></geometry></visual>"
            )
        ),
        "warning",
        "shape",
        3,
        "no extent",
    ),
    "a colour too bright": (
        sdf(
            link(
                "a",
                inside=BODY + "<visual name='c'><geometry><sphere><radius>1</radius></sphere></geometry>"
                "<material><diffuse>2 0 0</diffuse></material></visual>",
            )
        ),
        "warning",
        "color",
        3,
        "clipped",
    ),
    "a world without gravity": (
        f'<sdf version="1.9"><world name="w"><model name="m">{ONE}</model></world></sdf>',
        "warning",
        "gravity-missing",
        1,
        "9.8",
    ),
    "a quaternion of few digits": (
        pose("0 0 0 0 0 0.7 0.7", 'rotation_format="quat_xyzw"'),
        "warning",
        "quaternion",
        3,
        "scaled",
    ),
    "given beside auto": (
        sdf(
            link(
                "a",
                inside='<inertial auto="1"><mass>3</mass></inertial><collision name="c"><geometry>'
                "<sphere><radius>1</radius></sphere></geometry></collision>",
            )
        ),
        "ignored",
        "unused-inertial",
        3,
        "<mass> beside auto",
    ),
    "a material of many words": (
        sdf(link("a", inside=BODY + VISUAL.format("<sphere><radius>1</radius></sphere>") + "</visual>")),
        "ignored",
        "unused-material",
        3,
        "found specular",
    ),
    "a part of a mesh": (
        sdf(link("a", inside=BODY + VISUAL.format("<mesh><uri>x.stl</uri><submesh/></mesh>") + "</visual>")),
        "ignored",
        "unused-mesh",
        3,
        "the whole mesh",
    ),
    "two pitches of a screw": (
        hinge(AXIS + "<thread_pitch>3</thread_pitch><screw_thread_pitch>1</screw_thread_pitch>", "screw"),
        "ignored",
        "unused-thread-pitch",
        4,
        "counts",
    ),
    "physics of a world": (
        f'<sdf version="1.5"><world name="w"><physics type="ode"><gravity>0 0 -5</gravity></physics>\n'
        f'<model name="m">{ONE}</model></world></sdf>',
        "ignored",
        "unused-physics",
        1,
        "simulator",
    ),
    "a name with dots": (sdf(link("a.b")), "warning", "name", 3, "a_b"),
}
"""Text, severity, rule, line, words: not an error."""


@pytest.mark.parametrize("case", ALWAYS)
def test_what_means_nothing_is_refused_by_every_policy(case):
    text, rule, line, words = ALWAYS[case]
    found = [f for f in gs.audit_string(text, "sdf") if f.rule == rule]
    assert found and found[0].severity == "error" and found[0].fatal, [str(f) for f in gs.audit_string(text)]
    assert found[0].line == line and words in str(found[0]), str(found[0])
    for policy in ("strict", "repair", "accept"):
        with pytest.raises(gs.SpecError, match=rf"<text>\.sdf:{line}"):
            gs.load_string(text, "sdf", policy=policy)


@pytest.mark.parametrize("case", LEFT)
def test_what_can_be_computed_is_accepted_with_one_warning(case):
    text, rule, line, words = LEFT[case]
    (found,) = [f for f in gs.audit_string(text).errors if f.rule == rule]
    assert found.line == line and words in str(found), str(found)
    with pytest.raises(gs.SpecError, match=rf"<text>\.sdf:{line}"):
        gs.load_string(text, policy="strict")
    with pytest.warns(gs.ModelWarning, match=rf"\b1 {rule}\b"):
        gs.load_string(text)


@pytest.mark.parametrize("case", TOLD)
def test_what_is_odd_or_not_in_the_model_is_told(case):
    text, severity, rule, line, words = TOLD[case]
    found = [f for f in gs.audit_string(text) if f.rule == rule]
    assert found, [str(f) for f in gs.audit_string(text)]
    assert (found[0].severity, found[0].line) == (severity, line) and words in str(found[0]), str(found[0])
    gs.load_string(text, policy="strict")


def test_gravity_stands_in_the_physics_up_to_version_1_5():
    text = TOLD["physics of a world"][0]
    assert gs.load_string(text)["context.gravity.g"] == (0.0, 0.0, -5.0)
    assert gs.load_string(text.replace("1.5", "1.6", 1))["context.gravity.g"] == (0.0, 0.0, -9.8)


def test_what_is_left_out_as_asked_for_is_told():
    rubbing = hinge("<axis><xyz>0 1 0</xyz><dynamics><damping>1</damping></dynamics></axis>")
    assert "unused-dynamics" in {f.rule for f in gs.audit_string(rubbing, friction=False)}
    box = sdf(ONE, joint("g", "gearbox", "world", "a", AXIS + "<gearbox_reference_body>a</gearbox_reference_body>"))
    assert "unused-gearbox" in {f.rule for f in gs.audit_string(box, mimic=False)}


def test_an_included_light_is_told_and_several_models_are_refused(tmp_path):
    (tmp_path / "sun.sdf").write_text('<sdf version="1.9"><light name="sun"/></sdf>')
    (tmp_path / "two.sdf").write_text('<sdf version="1.9"><model name="a"/><model name="b"/></sdf>')
    text = sdf(ONE, "<include><uri>sun.sdf</uri></include>")
    assert ("unused-include", 5) in [(f.rule, f.line) for f in gs.audit_string(text, folder=tmp_path).ignored]
    (error,) = gs.audit_string(text.replace("sun", "two"), folder=tmp_path).errors
    assert error.rule == "include" and error.found == "2 models"


def test_shapes_of_a_link_without_mass_are_told():
    nothing = "<inertial><mass>0</mass><inertia><ixx>0</ixx><iyy>0</iyy><izz>0</izz></inertia></inertial>"
    shape = "<visual name='v'><geometry><sphere><radius>1</radius></sphere></geometry></visual>"
    text = sdf(ONE, link("b", inside=nothing + shape), joint("k", "fixed", "a", "b", ""))
    assert "unused-shapes" in {f.rule for f in gs.audit_string(text, policy="accept").ignored}


def test_repairs_mend_what_can_be_mended():
    text = hinge(
        "<axis><xyz>0 2 0</xyz><limit><lower>1</lower><upper>-1</upper></limit>"
        "<dynamics><damping>-1</damping></dynamics></axis>"
    )
    model = gs.load_string(text, policy="repair")
    assert (model["j.axis"], model["j.lower"], model["j.upper"]) == ((0.0, 1.0, 0.0), -1.0, 1.0)
    assert {f.rule for f in gs.audit_string(text, policy="repair").repaired} == {"axis", "limit-order", "dynamics"}


def test_thread_pitch_is_taken_as_gazebo_does():
    with pytest.warns(gs.ModelWarning):
        old = gs.load_string(LEFT["a thread of many meanings"][0])
    hint = gs.audit_string(LEFT["a thread of many meanings"][0]).errors[0].fix
    new = hinge(AXIS + re.search(r"<screw_thread_pitch>.*</screw_thread_pitch>", hint)[0], "screw")
    assert old["j.pitch"] == pytest.approx(-1.0 / 3.0, rel=1e-15)
    assert gs.load_string(new)["j.pitch"] == pytest.approx(old["j.pitch"], rel=1e-9)


SOURCE = Path(gs.__file__).parent / "io" / "sdf"
DOCS = Path(__file__).parents[3] / "docs" / "reference"


def rules_in_the_source() -> set[str]:
    """Second arguments of what tells findings, where they are words."""
    rules: set[str] = set()
    for file in SOURCE.glob("*.py"):
        for call in ast.walk(ast.parse(file.read_text("utf-8"))):
            name = call.func.attr if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else ""
            at = {"error": 1, "wrong": 1, "warn": 1, "ignore": 1, "known": 3}.get(name)
            if at is not None and len(call.args) > at and isinstance(call.args[at], ast.Constant):
                rules.add(call.args[at].value)
    return rules


def test_every_rule_has_a_case_here_or_among_the_models():
    rules = rules_in_the_source()
    assert len(rules) > 40
    cases = {case[1] for table in (ALWAYS, LEFT) for case in table.values()} | {case[2] for case in TOLD.values()}
    others = "\n".join(p.read_text("utf-8") for p in Path(__file__).parent.glob("*.py"))
    assert not {rule for rule in rules - cases if f'"{rule}"' not in others}


def test_every_rule_is_on_the_page():
    page = (DOCS / "sdf.md").read_text("utf-8") + (DOCS / "urdf.md").read_text("utf-8")
    assert not {rule for rule in rules_in_the_source() if f"`{rule}`" not in page and not rule.startswith("unused-")}


# -------------------------------------------------------------------------------------------- hostile
HOSTILE = {
    "entities": '<!DOCTYPE x [<!ENTITY a "b">]>' + sdf(ONE),
    "depth": '<sdf version="1.9">' + "<model name='m'>" * 300 + "</model>" * 300 + "</sdf>",
    "size": '<sdf version="1.9">' + " " * (17 * 2**20) + "</sdf>",
    "nothing": "<sdf",
    "a long chain of frames": sdf(
        ONE,
        *(f'<frame name="f{k}"><pose relative_to="f{k + 1}"/></frame>' for k in range(20000)),
        '<frame name="f20000"/>',
    ),
    "a long circle": sdf(
        ONE, *(f'<frame name="f{k}"><pose relative_to="f{(k + 1) % 5000}"/></frame>' for k in range(5000))
    ),
    "many unknown names": sdf(ONE, *(f"<x{k}/>" for k in range(20000))),
    "many wrong links": sdf(link("a"), *(joint(f"j{k}", "fixed", f"x{k}", "a", "") for k in range(3000))),
    "a ring of followers": sdf(
        link("a"),
        link("b"),
        joint(
            "j",
            "revolute",
            "world",
            "a",
            '<axis><xyz>0 1 0</xyz><mimic joint="k"><multiplier>2</multiplier></mimic></axis>',
        ),
        joint(
            "k",
            "revolute",
            "world",
            "b",
            '<axis><xyz>0 1 0</xyz><mimic joint="j"><multiplier>2</multiplier></mimic></axis>',
        ),
    ),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_files_end_soon_in_an_error_or_a_model(case):
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            gs.load_string(HOSTILE[case], "sdf")
        except gs.SpecError as error:
            assert error.problems
    assert time.perf_counter() - began < 20.0


SEEDS = [four_bar(), *(case[0] for table in (ALWAYS, LEFT) for case in table.values())]
WORDS = ["nan", "", "-1", "1e300", "0 0 0", "world", "__model__", "a", "b", "a::b", "true", "\x7f", "1 0 0 0 0 0 0"]


@settings(max_examples=few(150), deadline=None)
@given(seed=st.integers(0, 10**9))
def test_changed_files_end_in_an_error_or_a_model_that_computes(seed):
    rng = random.Random(seed)
    text = rng.choice(SEEDS)
    for _ in range(rng.randint(1, 4)):
        parts = re.split(r"(<[^>]*>)", text)
        k, action = rng.randrange(len(parts)), rng.random()
        if action < 0.4:
            parts[k] = rng.choice(WORDS) if not parts[k].startswith("<") else parts[k]
        elif action < 0.6:
            parts[k] = re.sub(r'"[^"]*"', f'"{rng.choice(WORDS)}"', parts[k], count=1)
        elif action < 0.8:
            parts.insert(k, rng.choice(parts))
        else:
            del parts[k]
        text = "".join(parts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = gs.load_string(
                text, "sdf", policy=rng.choice(["accept", "repair", "strict"]), base=rng.choice([None, "free"])
            )
        except gs.SpecError as error:
            assert all(p.message for p in error.problems)
        else:
            gs.check(model)
        gs.audit_string(text, "sdf")
