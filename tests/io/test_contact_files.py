"""Contact in files of others: geoms, planes, pairs and masks of MJCF against MuJoCo; collisions of URDF; SRDF."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.graph.contacts import contact_candidates
from tests.support.mjcf_models import ABSENT, compiled, folders, pair
from tests.support.surface_models import kinematics_of

SCENE = """<mujoco model="scene"><compiler angle="radian"/>
<default><default class="rubber"><geom friction="0.9 0.01 0.002" condim="6"/></default></default>
<worldbody>
<geom name="floor" type="plane" size="0 0 1" friction="0.7 .1 .2"/>
<geom name="ramp" type="plane" size="0 0 1" pos="1 0 .5" quat=".9238795 0 -.3826834 0" conaffinity="2"/>
<body name="a" pos="0 0 1"><freejoint/><geom name="ball" size=".1" class="rubber"/>
<geom name="rod" type="capsule" size=".05 .2" pos=".2 0 0" friction=".4" contype="3"/></body>
<body name="b" pos="1 0 1"><freejoint/><geom name="slick" size=".2" condim="1"/>
<body name="c" pos="0 0 .5"><joint name="h" axis="0 1 0"/>
<geom name="end" type="box" size=".1 .1 .2" solref=".01 1"/></body></body>
<body name="d"><freejoint/><geom name="ghost" size=".1" contype="0" conaffinity="0"/></body>
</worldbody>
<contact>{contact}</contact></mujoco>"""
CONTACT = '<pair geom1="ghost" geom2="ball" condim="4" friction="0.3 0.3 0.02 0 0"/><exclude body1="a" body2="b"/>'

mujoco = pytest.importorskip("mujoco", reason="MJCF files are read through MuJoCo, extra 'oracles'")


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "scene.xml"
    file.write_text(SCENE.format(contact=CONTACT))
    return file


def surfaces(model):
    """The pairs of surfaces, without the parts that they are on a plane."""
    return {tuple(s.name for s in c.surfaces): c.law for c in contact_candidates(model)}


# ------------------------------------------------------------------------------------------------ MJCF
def test_planes_are_grounds_and_geoms_touch_them(path):
    found = surfaces(gs.load(path))
    assert set(found) == {
        *((name, "floor") for name in ("a.ball", "a.rod", "b.slick", "c.end")), ("a.rod", "ramp"), ("a.ball", "ramp"),
        ("b.slick", "ramp"), ("c.end", "ramp"), ("d.ghost", "a.ball"),
    }  # fmt: skip
    assert np.allclose(gs.fk(gs.load(path), gs.neutral(gs.load(path)))["ramp"].p, [1, 0, 0.5])


def test_friction_is_as_condim_says(path):
    found = surfaces(gs.load(path))
    ball, rod, slick = (found[name, "floor"] for name in ("a.ball", "a.rod", "b.slick"))
    assert (ball.mu_static, ball.torsional, ball.rolling) == (0.9, 0.01, 0.002)
    assert (rod.mu_static, rod.torsional, slick.mu_static) == (0.7, 0.0, 0.7)  # the larger one of both sides
    asked = found["d.ghost", "a.ball"]
    assert (asked.mu_static, asked.torsional, asked.rolling) == (0.3, 0.02, 0.002)


def test_geoms_touch_each_other_if_asked_for_but_those_that_are_left_out(path):
    own = {key for key in surfaces(gs.load(path, contacts=True)) if "floor" not in key and "ramp" not in key}
    assert own == {("a.ball", "c.end"), ("a.rod", "c.end"), ("a.ball", "d.ghost")}  # b and c are neighbours
    path.write_text(SCENE.format(contact=""))
    own = {key for key in surfaces(gs.load(path, contacts=True)) if "floor" not in key and "ramp" not in key}
    assert own == {(a, b) for a in ("a.ball", "a.rod") for b in ("b.slick", "c.end")}


def test_contact_can_be_left_out(path):
    model = gs.load(path, contacts=False)
    assert not contact_candidates(model) and not any(isinstance(e, gs.Ground) for e in model.entities)


def test_contact_that_the_file_switches_off_is_off(path):
    path.write_text(path.read_text().replace("<worldbody>", '<option><flag contact="disable"/></option><worldbody>'))
    assert not contact_candidates(gs.load(path))


def test_what_is_not_taken_is_told(path):
    told = [(f.line, f.what) for f in gs.audit(path).ignored if f.rule == "unused-contact"]
    assert [what for _, what in told] == [
        "contact of geoms with each other is not in the model; that with planes and height fields is",
        "settings of MuJoCo's contact are not in the model: contacts are rigid, and touch without a margin",
    ]
    assert not [f for f in gs.audit(path, contacts=True).ignored if "each other" in f.what]
    off = [f.what for f in gs.audit(path, contacts=False).ignored if f.rule == "unused-contact"]
    assert off == ["contact is not in the model, since contacts=False"]


def test_a_pair_with_two_coefficients_is_told(path):
    path.write_text(SCENE.format(contact='<pair geom1="rod" geom2="end" friction="0.3 0.5 0 0 0"/>'))
    (found,) = (f for f in gs.audit(path).warnings if f.rule == "contact-friction")
    assert "the first of two numbers is taken" in found.what
    assert surfaces(gs.load(path))["a.rod", "c.end"].mu_static == 0.3


def test_a_file_with_contact_comes_back_from_yaml(path, tmp_path):
    model = gs.load(path, contacts=True)
    gs.save(model, tmp_path / "scene.yaml")
    assert gs.load(tmp_path / "scene.yaml") == model and surfaces(gs.load(tmp_path / "scene.yaml")) == surfaces(model)


@pytest.mark.parametrize("name", ["dm_control/suite/humanoid.xml", "gymnasium/envs/mujoco/assets/half_cheetah.xml"])
def test_contacts_are_those_of_mujoco(name):
    """The same pairs touch, with the same depths: gaps to 1e-12 m."""
    package, _, rest = name.partition("/")
    if package not in folders():
        pytest.skip(ABSENT)
    file = folders()[package] / rest
    model, other = gs.load(file, contacts=True, roots=[folders()[package]]), compiled(mujoco, file)
    candidates = contact_candidates(model)
    assert all(c.closed_form for c in candidates)
    seen = 0
    for seed in range(6):
        state = pair(model, other, seed)
        q, data = state.q.copy(), mujoco.MjData(other)
        data.qpos[:] = state.qpos
        if other.jnt_type[0] == 0:
            q[2] = data.qpos[2] = 0.3
        mujoco.mj_forward(other, data)
        gaps: dict[frozenset[str], list[float]] = {}
        for c, gap in zip(candidates, kinematics_of(model, q).gaps, strict=True):
            gaps.setdefault(frozenset(s.name.rpartition(".")[2] for s in c.surfaces), []).append(gap)
        theirs: dict[frozenset[str], list[float]] = {}
        for contact in data.contact:
            names = frozenset(other.geom(int(k)).name for k in (contact.geom1, contact.geom2))
            theirs.setdefault(names, []).append(contact.dist)
        assert {names for names, own in gaps.items() if min(own) < -1e-9} <= set(theirs) <= set(gaps)
        for names, depths in theirs.items():
            assert abs(min(depths) - min(gaps[names])) < 1e-12, names
            seen += 1
    assert seen > 20


# ------------------------------------------------------------------------------------------------ URDF and SRDF
LINK = """<link name="{0}"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><sphere radius="0.1"/></geometry></collision></link>"""
JOINT = """<joint name="{0}{1}" type="continuous"><parent link="{0}"/><child link="{1}"/><axis xyz="0 1 0"/></joint>"""
SRDF = '<robot name="r"><disable_collisions link1="{}" link2="{}" reason="Never"/></robot>'


@pytest.fixture
def urdf(tmp_path):
    links, joints = "abcd", ["ab", "bc", "cd"]
    text = "".join(LINK.format(x) for x in links) + "".join(JOINT.format(*x) for x in joints)
    (tmp_path / "r.urdf").write_text(f'<robot name="r">{text}</robot>')
    return tmp_path / "r.urdf"


def test_collisions_of_a_urdf_touch_what_is_asked_for(urdf):
    assert not contact_candidates(gs.load(urdf))
    assert set(surfaces(gs.load(urdf, contacts=True))) == {("a", "c"), ("a", "d"), ("b", "d")}
    assert set(surfaces(gs.load(urdf).with_ground(friction=0.5))) == {(x, "ground") for x in "bcd"}
    assert set(surfaces(gs.load(urdf, base="free").with_ground())) == {(x, "ground") for x in "abcd"}


def test_an_srdf_says_which_links_never_touch(urdf, tmp_path):
    (tmp_path / "r.srdf").write_text(SRDF.format("d", "a"))
    model = gs.load(urdf, contacts=True, srdf=tmp_path / "r.srdf")
    assert set(surfaces(model)) == {("a", "c"), ("b", "d")}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SRDF.format("a", "e"), r"SRDF \(.*r.srdf:1\): there is no link 'e' in the model"),
        ('<robot name="r"><disable_collisions link1="a"/></robot>', r"must name two links, got 'a' and None"),
        ("<semantics/>", r"the outermost tag of an SRDF must be <robot>, got <semantics>"),
        ('<!DOCTYPE r [<!ENTITY x "y">]><robot name="r"/>', r"r.srdf"),
        ("<robot", r"r.srdf"),
    ],
)
def test_a_wrong_srdf_is_refused(urdf, tmp_path, text, message):
    (tmp_path / "r.srdf").write_text(text)
    with pytest.raises(gs.SpecError, match=message):
        gs.load(urdf, srdf=tmp_path / "r.srdf")


def test_an_srdf_that_is_not_there_is_told(urdf, tmp_path):
    with pytest.raises(gs.LoadError, match=r"nowhere.srdf"):
        gs.load(urdf, srdf=tmp_path / "nowhere.srdf")


@pytest.mark.parametrize("options", [{"contacts": True}, {"srdf": "x.srdf"}])
def test_options_of_contact_are_for_files_of_others(tmp_path, options):
    gs.save(gs.robots.puma560(), tmp_path / "p.yaml")
    with pytest.raises(gs.SpecError, match="contacts and srdf are for URDF, SDF and MJCF files"):
        gs.load(tmp_path / "p.yaml", **options)


def test_contacts_is_a_truth_value(urdf):
    with pytest.raises(gs.SpecError, match="contacts must be True, False or None, got 'all'"):
        gs.load(urdf, contacts="all")


@pytest.mark.parametrize(
    ("inside", "gazebo", "mu"),
    [
        ('<contact_coefficients mu="0.4"/>', "", 0.4),
        ("", '<gazebo reference="foot"><mu1>0.7</mu1><mu2>0.7</mu2></gazebo>', 0.7),
        ('<contact_coefficients mu="0.4"/>', '<gazebo reference="foot"><mu1>0.7</mu1><mu2>0.7</mu2></gazebo>', 0.4),
        ("", '<gazebo reference="foot"><mu1>0.7</mu1><mu2>0.2</mu2></gazebo>', None),
        ('<contact_coefficients mu="-1"/>', "", None),
    ],
)
def test_friction_of_urdf_collisions_is_taken_where_it_is_one_number(inside, gazebo, mu):
    text = (
        '<robot name="r"><link name="foot"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" '
        f'iyz="0"/></inertial><collision><geometry><sphere radius="0.1"/></geometry>{inside}</collision></link>{gazebo}'
        "</robot>"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shape = gs.load_string(text, base="free").wiring.entities["foot"].shapes[0]
    assert (shape.contact.friction if shape.contact else None) == mu
    told = {finding.rule for finding in gs.audit_string(text).findings}
    assert ("unused-gazebo" in told) == (bool(gazebo) and mu is None)


@pytest.mark.parametrize(
    ("surface", "mu", "e"),
    [
        ("<friction><ode><mu>0.6</mu><mu2>0.6</mu2></ode></friction>", 0.6, None),
        ("<friction><ode><mu>0.6</mu></ode></friction>", None, None),  # the other direction has 1
        ("<bounce><restitution_coefficient>0.3</restitution_coefficient></bounce>", None, 0.3),
        ("<contact><ode><kp>1e6</kp></ode></contact>", None, None),
    ],
)
def test_friction_and_restitution_of_sdf_surfaces_are_taken_where_their_meaning_is_clear(surface, mu, e):
    text = (
        '<sdf version="1.9"><model name="m"><link name="a"><inertial><mass>1</mass></inertial><collision name="c">'
        f"<geometry><sphere><radius>0.1</radius></sphere></geometry><surface>{surface}</surface></collision></link>"
        "</model></sdf>"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shape = gs.load_string(text, base="free").wiring.entities["a"].shapes[0]
    assert ((shape.contact.friction, shape.contact.restitution) if shape.contact else (None, None)) == (mu, e)
    assert any(f.rule == "unused-surface" for f in gs.audit_string(text).findings) == (mu is None and e is None)
