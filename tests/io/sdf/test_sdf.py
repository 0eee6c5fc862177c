"""SDF files to models: agreement with Pinocchio, frames, closed chains, names, bases."""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
import warnings
from pathlib import Path

import numpy as np
import pytest

import gyrostat as gs
from tests.support.accepting import load_told

pin = pytest.importorskip("pinocchio")
from tests.support import sdf_oracle  # noqa: E402  # it needs Pinocchio

FOLDER = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
FILES = sorted(str(p.relative_to(FOLDER)) for p in FOLDER.rglob("*.sdf"))

BODY = (
    "<inertial><pose>0.1 0.2 0.3 0.3 -0.2 0.5</pose><mass>1.5</mass><inertia><ixx>0.03</ixx><ixy>0.001</ixy>"
    "<ixz>-0.002</ixz><iyy>0.04</iyy><iyz>0.003</iyz><izz>0.05</izz></inertia></inertial>"
)


def link(name: str, pose: str = "", inside: str = BODY) -> str:
    return f'<link name="{name}">{pose and f"<pose>{pose}</pose>"}{inside}</link>\n'


def joint(name: str, kind: str, parent: str, child: str, inside: str = "<axis><xyz>0 1 0</xyz></axis>") -> str:
    ends = f"<parent>{parent}</parent><child>{child}</child>"
    return f'<joint name="{name}" type="{kind}">{ends}{inside}</joint>\n'


def sdf(*parts: str, version: str = "1.9", name: str = "robot") -> str:
    return f'<sdf version="{version}">\n<model name="{name}">\n{"".join(parts)}</model>\n</sdf>\n'


def load(text: str, **options) -> gs.Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if options.get("policy") == "accept" else "error")
        return gs.load_string(text, **({"policy": "strict"} | options))


def state(model: gs.Model, other, seed: int = 3):
    """A configuration in both programs, and T: v of Pinocchio = T v of gyrostat."""
    rng = np.random.default_rng(seed)
    q, q_pin, T = np.zeros(model.nq), np.zeros(other.nq), np.zeros((other.nv, model.nv))
    for k in range(1, other.njoints):
        row, name = other.joints[k], other.names[k]
        of = [j for j, c in enumerate(model.coordinates) if c == name or c.startswith(f"{name}.")]
        dofs = [j for j, c in enumerate(model.dofs) if c == name or c.startswith(f"{name}.")]
        x = rng.uniform(-1.0, 1.0, size=row.nq)
        x = x / np.linalg.norm(x) if row.nq == 4 else x
        q[of], q_pin[row.idx_q : row.idx_q + row.nq] = x, x
        T[range(row.idx_v, row.idx_v + row.nv), dofs] = 1.0
    return q, q_pin, T, *rng.normal(size=(2, model.nv))


def disagreement(text: str, **options) -> float:
    """Worst relative difference of torques, mass matrix and places of links against the oracle; the tree alone."""
    oracle = sdf_oracle.read(text)
    for name in oracle.closing:
        text = re.sub(rf'<joint name="{name}".*?</joint>', "", text, flags=re.DOTALL)
    model = load(text, friction=False, mimic=False, **options).replace({"context.gravity": [0.0, 0.0, -9.81]})
    springs = [e for e in model.entities if isinstance(e, gs.Spring)]
    model = model.replace({f"{e.name}.stiffness": 1e-300 for e in springs}) if springs else model
    q, q_pin, T, v, a = state(model, oracle.model)
    assert T.shape[0] == T.shape[1] == np.linalg.matrix_rank(T)
    data = oracle.model.createData()
    tau = T.T @ pin.rnea(oracle.model, data, q_pin, T @ v, T @ a)
    still = np.zeros(model.nv)
    rest = pin.rnea(oracle.model, data, q_pin, still, still)  # by columns: the order of joints is no matter there
    M = T.T @ np.transpose([pin.rnea(oracle.model, data, q_pin, still, e) - rest for e in np.eye(model.nv)]) @ T
    worst = [
        np.abs(gs.rnea(model, q, v, a) - tau).max() / np.abs(tau).max(),
        np.abs(gs.crba(model, q) - M).max() / np.abs(M).max(),
    ]
    pin.framesForwardKinematics(oracle.model, data, q_pin)
    places = gs.fk(model, q)
    for frame, X in zip(oracle.model.frames, data.oMf, strict=True):
        if frame.type == pin.FrameType.BODY:
            found = places[frame.name]
            worst += [np.abs(found.p - X.translation).max(), np.abs(found.R - X.rotation).max()]
    assert np.isfinite(worst).all()
    return float(max(worst))


# -------------------------------------------------------------------------------------------- against Pinocchio
@pytest.mark.by_default(2)
@pytest.mark.parametrize("file", FILES)
def test_the_tree_of_every_installed_file_is_that_of_pinocchio(file):
    assert disagreement((FOLDER / file).read_text(), policy="accept") < 1e-10


TURNED = "<pose>0.3 -0.1 0.2 0.4 0.5 -0.6</pose>"
AXIS = "<axis><xyz>0 0.6 0.8</xyz></axis>"
SMALL = {
    "poses": sdf(
        link("a", "0.1 0.2 0.3 0.1 0.2 0.3"), link("b", "1 0 0.5 -0.4 0.2 0.9"), joint("j", "revolute", "a", "b")
    ),
    "pose of the joint": sdf(link("a"), link("b", "1 0 0 0 0 0"), joint("j", "prismatic", "a", "b", TURNED + AXIS)),
    "pose of the model": sdf("<pose>1 2 3 0.1 0.2 0.3</pose>", link("a"), joint("j", "continuous", "world", "a")),
    "world as parent": sdf(link("a", "0 0 1 0.3 0 0"), joint("j", "revolute", "world", "a", TURNED + AXIS)),
    "ball": sdf(link("a"), link("b", "0 0 1 0.3 0 0"), joint("j", "ball", "a", "b", TURNED)),
    "universal": sdf(
        link("a"),
        link("b"),
        joint("j", "universal", "a", "b", TURNED + AXIS + "<axis2><xyz>1 0 0</xyz></axis2>"),
    ),
    "revolute2": sdf(
        link("a"),
        link("b", "0 1 0 0 0 0.5"),
        joint("j", "revolute2", "a", "b", AXIS + "<axis2><xyz>1 0 0</xyz></axis2>"),
    ),
    "screw": sdf(
        link("a"), link("b"), joint("j", "screw", "a", "b", AXIS + "<screw_thread_pitch>0.7</screw_thread_pitch>")
    ),
    "fixed": sdf(
        link("a"),
        link("b", "0 0 1 0 0 0.5"),
        link("c", "1 0 1 0 0 0"),
        joint("f", "fixed", "a", "b", TURNED),
        joint("j", "revolute", "b", "c"),
    ),
    "relative to": sdf(
        link("a"),
        f'<link name="b"><pose relative_to="j">0.1 0 0 0 0.2 0</pose>{BODY}</link>',
        '<frame name="f" attached_to="a"><pose>0 0 0.5 0.1 0.2 0.3</pose></frame>',
        joint(
            "j",
            "revolute",
            "a",
            "b",
            '<pose relative_to="f">0 0.2 0 0 0 0.4</pose><axis><xyz expressed_in="f">0 0 1</xyz></axis>',
        ),
    ),
    "joints at frames": sdf(
        link("a"),
        link("b", "0 0 1 0 0 0.3"),
        '<frame name="f" attached_to="b"><pose>0 0 0.5 0.1 0.2 0.3</pose></frame>',
        '<frame name="g" attached_to="a"/>',
        joint("j", "revolute", "g", "f", AXIS),
    ),
    "expressed in the model": sdf(
        "<pose>0 0 0 0.5 0.2 0.1</pose>",
        link("a"),
        link("b", "0 0 1 0.3 0.4 0.5"),
        joint("j", "revolute", "a", "b", '<axis><xyz expressed_in="__model__">1 0 0</xyz></axis>'),
    ),
    "quaternion": sdf(
        link("a"),
        f'<link name="b"><pose rotation_format="quat_xyzw">1 0 0 0.5 0.5 0.5 0.5</pose>{BODY}</link>',
        joint("j", "revolute", "a", "b"),
    ),
    "degrees": sdf(
        link("a"),
        f'<link name="b"><pose degrees="true">1 0 0 30 40 50</pose>{BODY}</link>',
        joint("j", "revolute", "a", "b"),
    ),
    "version 1.4": sdf(link("a"), link("b", "0 0 1 0.3 0.4 0.5"), joint("j", "revolute", "a", "b"), version="1.4"),
    "version 1.6": sdf(
        link("a"),
        link("b", "0 0 1 0.3 0.4 0.5"),
        joint(
            "j", "revolute", "a", "b", "<axis><xyz>0 1 0</xyz><use_parent_model_frame>1</use_parent_model_frame></axis>"
        ),
        joint("a", "revolute", "world", "a", "<pose>0 0 0.2 0.1 0 0</pose><axis><xyz>1 0 0</xyz></axis>"),
        version="1.6",
    ),
}


@pytest.mark.parametrize("name", SMALL)
def test_small_robots_are_those_of_pinocchio(name):
    text = SMALL[name]
    if name == "version 1.6":  # a joint and a link of one name, which was allowed
        text = text.replace('<joint name="a"', '<joint name="a0"')
    assert disagreement(text) < 1e-12


def test_a_joint_may_have_the_name_of_a_link_up_to_version_1_6():
    named, other = load(SMALL["version 1.6"]), load(SMALL["version 1.6"].replace('<joint name="a"', '<joint name="a0"'))
    assert named.dofs == ("j", "a") or named.dofs == ("a", "j")
    q, v, a = np.random.default_rng(0).normal(size=(3, 2))
    order = [0, 1] if [d.replace("a0", "a") for d in other.dofs] == list(named.dofs) else [1, 0]
    assert np.allclose(gs.rnea(named, q, v, a), gs.rnea(other, q[order], v[order], a[order])[order], rtol=1e-14, atol=0)
    (error,) = gs.audit_string(
        SMALL["version 1.6"].replace("1.6", "1.8").replace("<use_parent_model_frame>1</use_parent_model_frame>", "")
    ).errors
    assert error.rule == "unique-name" and "a link has the same name" in error.what


# -------------------------------------------------------------------------------------------- drives
def test_damping_friction_springs_and_limits_act():
    inside = (
        "<axis><xyz>0 1 0</xyz>"
        "<limit><lower>-1</lower><upper>2</upper><effort>30</effort><velocity>4</velocity></limit>"
        "<dynamics><damping>0.5</damping><friction>0.2</friction><spring_stiffness>7</spring_stiffness>"
        "<spring_reference>0.3</spring_reference></dynamics></axis>"
    )
    plain = load(sdf(link("a"), joint("j", "revolute", "world", "a")))
    model = load(sdf(link("a"), joint("j", "revolute", "world", "a", inside)))
    q, v = [0.7], [2.0]
    more = gs.rnea(model, q, v, [0.0])[0] - gs.rnea(plain, q, v, [0.0])[0]
    assert more == pytest.approx(0.5 * 2.0 + 0.2 + 7.0 * (0.7 - 0.3), rel=1e-12)
    limits = [model[f"j.{key}"] for key in ("lower", "upper", "effort_limit", "velocity_limit")]
    assert limits == [-1.0, 2.0, 30.0, 4.0]
    without = load(sdf(link("a"), joint("j", "revolute", "world", "a", inside)), friction=False)
    assert gs.rnea(without, q, v, [0.0])[0] - gs.rnea(plain, q, v, [0.0])[0] == pytest.approx(2.8, rel=1e-12)


def test_both_axes_of_a_universal_joint_have_dynamics_of_their_own():
    dynamics = "<dynamics><damping>{}</damping></dynamics>"
    axes = f"<axis><xyz>0 1 0</xyz>{dynamics.format(0.5)}</axis><axis2><xyz>1 0 0</xyz>{dynamics.format(3)}</axis2>"
    bare = load(
        re.sub("<dynamics>.*?</dynamics>", "", text := sdf(link("a"), joint("j", "universal", "world", "a", axes)))
    )
    q, v = [0.2, 0.4], [1.0, 2.0]
    more = gs.rnea(load(text), q, v, [0.0, 0.0]) - gs.rnea(bare, q, v, [0.0, 0.0])
    assert more == pytest.approx([0.5, 6.0], rel=1e-12)


@pytest.mark.parametrize("limit", ["1e16", "inf", "-1e16", "1e300"])
def test_limits_from_1e16_on_are_none(limit):
    size = limit.lstrip("-")
    limits = f"<limit><lower>-{size}</lower><upper>{size}</upper><effort>-1</effort></limit>"
    inside = f"<axis><xyz>0 1 0</xyz>{limits}</axis>"
    model = load(sdf(link("a"), joint("j", "revolute", "world", "a", inside)))
    assert [model[f"j.{key}"] for key in ("lower", "upper", "effort_limit")] == [None, None, None]


def test_a_follower_moves_by_multiplier_reference_and_offset():
    follow = (
        '<axis><xyz>0 1 0</xyz><mimic joint="j"><multiplier>2</multiplier><offset>0.1</offset>'
        "<reference>0.4</reference></mimic></axis>"
    )
    text = sdf(
        link("a"),
        link("b", "1 0 0 0 0 0"),
        joint("j", "revolute", "world", "a"),
        joint("k", "revolute", "a", "b", follow),
    )
    model, both = load(text), load(text, mimic=False)
    assert model.dofs == ("j",) and both.dofs == ("j", "k")
    q = 0.7
    one, two = gs.fk(model, [q])["b"], gs.fk(both, [q, 2.0 * (q - 0.4) + 0.1])["b"]
    assert np.allclose(one.R, two.R, atol=1e-15) and np.allclose(one.p, two.p, atol=1e-15)
    (told,) = [f for f in gs.audit_string(text, mimic=False).ignored if f.rule == "unused-mimic"]
    assert "independent here" in told.what


def test_a_follower_may_follow_the_second_axis_of_a_joint():
    axes = "<axis><xyz>0 1 0</xyz></axis><axis2><xyz>1 0 0</xyz></axis2>"
    follow = '<axis><xyz>0 0 1</xyz><mimic joint="u" axis="axis2"><multiplier>-3</multiplier></mimic></axis>'
    text = sdf(
        link("a"), link("b"), joint("u", "universal", "world", "a", axes), joint("k", "revolute", "a", "b", follow)
    )
    model, both = load(text), load(text, mimic=False)
    assert np.allclose(gs.fk(model, [0.2, 0.3])["b"].R, gs.fk(both, [0.2, 0.3, -0.9])["b"].R, atol=1e-15)


def test_a_gearbox_ties_two_hinges_to_its_reference_link():
    box = (
        "<gearbox_reference_body>base</gearbox_reference_body><gearbox_ratio>0.04</gearbox_ratio>"
        "<axis><xyz>0 1 0</xyz></axis><axis2><xyz>0 -1 0</xyz></axis2>"
    )
    text = sdf(
        link("base"),
        link("rotor"),
        link("arm"),
        joint("in", "revolute", "base", "rotor"),
        joint("out", "revolute", "base", "arm"),
        joint("box", "gearbox", "rotor", "arm", box),
    )
    model, both = load(text), load(text, mimic=False)
    assert model.dofs == ("out",) and both.dofs == ("in", "out")
    # theta_1 = q_in about y; theta_2 = -q_out, since axis2 is -y; theta_2 = -0.04 theta_1
    one, two = gs.fk(model, [0.3]), gs.fk(both, [0.3 / 0.04, 0.3])
    for name in ("rotor", "arm"):
        assert np.allclose(one[name].R, two[name].R, atol=1e-13)
    M = gs.crba(both, [0.0, 0.0])
    assert gs.crba(model, [0.0])[0, 0] == pytest.approx(M[1, 1] + 25.0**2 * M[0, 0], rel=1e-12)


# -------------------------------------------------------------------------------------------- closed chains
def four_bar() -> str:
    hinge = "<axis><xyz>0 1 0</xyz></axis>"
    return sdf(
        link("crank", "0 0 0 0 0 0"),
        link("coupler", "0 0 1 0 0 0"),
        link("rocker", "2 0 0 0 0 0"),
        joint("drive", "revolute", "world", "crank", hinge),
        joint("first", "revolute", "crank", "coupler", hinge),
        joint("pivot", "revolute", "world", "rocker", hinge),
        joint("second", "revolute", "rocker", "coupler", "<pose>2 0 0.5 0 0 0</pose>" + hinge),
    )


def test_a_link_with_two_parents_closes_a_loop_and_both_joints_stay():
    model = load(four_bar())
    (loop,) = model.wiring.tree.loops
    assert {"drive", "first", "pivot", "second"} <= set(loop.entities)
    assert {e.name for e in model.entities if isinstance(e, gs.Joint)} == {"drive", "first", "pivot", "second"}


@pytest.mark.parametrize("file", FILES)
def test_the_loops_of_cassie_are_there_with_all_their_joints(file):
    model, _ = load_told(FOLDER / file, base="free")
    text = (FOLDER / file).read_text()
    kinds = re.findall(r'<joint name="([^"]*)" type="([^"]*)"', text)
    names = {e.name for e in model.entities}
    assert {name for name, _ in kinds} <= names
    assert {e.name for e in model.entities if isinstance(e, gs.Gear)} == {
        name for name, kind in kinds if kind == "gearbox"
    }
    assert len(model.wiring.tree.loops) == len(sdf_oracle.read(text).closing)


# -------------------------------------------------------------------------------------------- world, names, bases
WORLD = """<sdf version="1.9"><world name="room"><gravity>0 1 -3</gravity>
<model name="one">{}</model><model name="two"><pose>5 0 0 0 0 0</pose>{}</model>
<model name="table"><static>true</static>{}</model></world></sdf>"""


def test_a_world_has_gravity_and_models_with_names_of_their_own():
    arm = link("base") + link("arm") + joint("j", "revolute", "base", "arm")
    model = load(WORLD.format(arm, arm, link("top", "0 0 1 0 0 0")))
    assert model.dofs == ("one::j", "two::j") and model.name == "room"
    assert model["context.gravity.g"] == (0.0, 1.0, -3.0)
    assert gs.fk(model, [0.0, 0.0])["two::arm"].p == pytest.approx([5.0, 0.0, 0.0])
    free = load(WORLD.format(arm, arm, link("top")), base="free")
    assert free.nv == 2 * 7 and {"one::base_base", "two::base_base"} <= {e.name for e in free.entities}


def test_one_floating_model_is_the_free_base_and_its_pose_is_told():
    text = sdf(link("trunk", "0 0 1.5 0 0 0"), link("leg", "0 0 1 0 0 0"), joint("hip", "revolute", "trunk", "leg"))
    model, fixed = load(text, base="free"), load(text)
    assert (model.nq, model.nv, fixed.dofs) == (8, 7, ("hip",))
    assert gs.fk(fixed, [0.0])["leg"].p == pytest.approx([0.0, 0.0, 1.0])
    assert gs.fk(model, [0, 0, 0, 0, 0, 0, 1, 0])["leg"].p == pytest.approx([0.0, 0.0, -0.5])
    (told,) = [f for f in gs.audit_string(text, base="free").ignored if f.rule == "free-pose"]
    assert told.found == "at 0 0 1.5"
    (told,) = [f for f in gs.audit_string(text).ignored if f.rule == "floating"]
    assert "base='free'" in told.fix


def test_a_static_model_stands_still_and_its_joints_are_told():
    text = sdf("<static>true</static>", link("a", "0 0 1 0 0 0"), link("b"), joint("j", "revolute", "a", "b"))
    model = load(text)
    assert model.nv == 0 and gs.fk(model, [])["a"].p == pytest.approx([0.0, 0.0, 1.0])
    assert [f.rule for f in gs.audit_string(text).ignored] == ["static-joint"]


def test_nested_models_have_scopes_frames_and_placement():
    inner = (
        '<model name="hand" placement_frame="grip"><pose relative_to="tip">0 0 0 0 0 0</pose>'
        + link("palm")
        + '<frame name="grip" attached_to="palm"><pose>0 0 -0.2 0 0 0</pose></frame></model>'
    )
    text = sdf(
        link("arm", "0 0 1 0 0 0"),
        '<frame name="tip" attached_to="arm"><pose>0 0 0.5 0 0 0</pose></frame>',
        inner,
        joint("j", "revolute", "world", "arm"),
        joint("wrist", "fixed", "tip", "hand::palm", ""),
    )
    model = load(text)
    places = gs.fk(model, [0.0])
    assert places["hand::palm"].p == pytest.approx([0.0, 0.0, 1.7])
    assert places["arm.tip"].p == pytest.approx([0.0, 0.0, 1.5])
    assert places["hand::palm.hand::grip"].p == pytest.approx([0.0, 0.0, 1.5])


def test_the_inertia_of_collisions_is_that_of_their_solids():
    solids = (
        "<collision name='c'><pose>0 0 0.2 0 0.3 0</pose><density>500</density>"
        "<geometry><box><size>0.1 0.2 0.3</size></box></geometry></collision>"
        "<collision name='d'><geometry><sphere><radius>0.1</radius></sphere></geometry></collision>"
        "<inertial auto='true'><density>2000</density></inertial>"
    )
    model = load(sdf(f'<link name="a">{solids}</link>', joint("j", "ball", "world", "a", "")))
    box, ball = 500 * 0.006, 2000 * 4.0 / 3.0 * np.pi * 1e-3
    assert model["a.mass"] == pytest.approx(box + ball, rel=1e-14)
    assert model["a.com"] == pytest.approx([0.0, 0.0, 0.2 * box / (box + ball)], abs=1e-15)
    whole = gs.RigidBody.from_shape("b", "box", size=(0.1, 0.2, 0.3), density=500)
    c, s = np.cos(0.3), np.sin(0.3)
    R = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    reduced = box * ball / (box + ball) * 0.04
    expected = R @ np.array(whole.inertia) @ R.T + np.eye(3) * 0.4 * ball * 0.01 + np.diag([reduced, reduced, 0.0])
    assert np.allclose(model["a.inertia"], expected, rtol=1e-13, atol=1e-16)


def test_shapes_are_drawn_where_they_are():
    visual = (
        "<visual name='v'><pose relative_to='f'>0 0 0.1 0 0 0</pose>"
        "<geometry><cylinder><radius>0.1</radius><length>0.4</length>"
        "</cylinder></geometry><material><diffuse>1 0 0 0.5</diffuse></material></visual>"
        "<collision name='c'><geometry><ellipsoid><radii>1 2 3</radii></ellipsoid></geometry></collision>"
    )
    model = load(sdf(link("a", "0 0 1 0 0 0", BODY + visual), '<frame name="f"><pose>1 0 0 0 0 0</pose></frame>'))
    drawn, touched = next(e for e in model.entities if e.name == "a").shapes
    assert (drawn.kind, drawn.size, drawn.color, drawn.role) == ("cylinder", (0.1, 0.4), (1.0, 0.0, 0.0, 0.5), "visual")
    assert drawn.translation == pytest.approx([1.0, 0.0, -0.9])
    assert (touched.kind, touched.size, touched.role) == ("ellipsoid", (1.0, 2.0, 3.0), "collision")


# -------------------------------------------------------------------------------------------- includes
def test_models_are_included_from_the_folder_with_name_pose_and_placement(tmp_path):
    (tmp_path / "wheel").mkdir()
    (tmp_path / "wheel" / "model.config").write_text('<model><sdf version="1.9">wheel.sdf</sdf></model>')
    (tmp_path / "wheel" / "wheel.sdf").write_text(sdf(link("disc"), name="wheel"))
    include = "<include><uri>model://wheel</uri><name>{}</name><pose>{} 0 0 0 0 0</pose></include>"
    text = sdf(
        link("cart"),
        include.format("left", 1),
        include.format("right", -1),
        joint("l", "revolute", "cart", "left::disc"),
        joint("r", "revolute", "cart", "right::disc"),
    )
    (tmp_path / "cart.sdf").write_text(text)
    model = gs.load(tmp_path / "cart.sdf", policy="strict")
    assert model.dofs == ("l", "r")
    assert gs.fk(model, [0.0, 0.0])["right::disc"].p == pytest.approx([-1.0, 0.0, 0.0])
    assert model.source("left::disc").endswith("wheel.sdf:3")


@pytest.mark.parametrize(
    "uri", ["../secret.sdf", "/etc/passwd.sdf", "http://x/y.sdf", "model://../secret.sdf", "file:///etc/x.sdf"]
)
def test_nothing_outside_the_folder_is_included(uri, tmp_path):
    (tmp_path / "secret.sdf").write_text(sdf(link("a")))
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "m.sdf").write_text(sdf(link("b"), f"<include><uri>{uri}</uri></include>"))
    (error,) = gs.audit(tmp_path / "in" / "m.sdf").errors
    assert error.rule == "include" and "is refused" in error.what
    _, told = load_told(tmp_path / "in" / "m.sdf")
    assert told == {"include": 1}


def test_a_file_that_includes_itself_is_refused(tmp_path):
    (tmp_path / "m.sdf").write_text(sdf(link("b"), "<include><uri>m.sdf</uri></include>"))
    with pytest.raises(gs.SpecError, match=r"m\.sdf:4\): a file includes itself"):
        gs.load(tmp_path / "m.sdf")


# -------------------------------------------------------------------------------------------- one way among others
def test_an_sdf_is_known_by_its_tag_and_by_its_suffix(tmp_path):
    text = four_bar()
    for name in ("m.sdf", "m.world", "m.xml", "m.urdf"):
        (tmp_path / name).write_text(text)
        assert len(gs.load(tmp_path / name).wiring.tree.loops) == 1
    assert gs.load_string(text) == gs.load_string(text, format="sdf")
    with pytest.raises(gs.SpecError, match="outermost tag must be <sdf>"):
        gs.load_string("<world/>", format="sdf")


@pytest.mark.parametrize("text", [SMALL["relative to"], SMALL["universal"], four_bar()])
def test_models_come_back_from_yaml(text, tmp_path):
    model = load(text)
    gs.save(model, tmp_path / "m.yaml")
    assert gs.load(tmp_path / "m.yaml") == model


def test_cassie_comes_back_from_yaml_and_is_no_urdf(tmp_path):
    model = gs.load(FOLDER / "cassie_description" / "robots" / "cassie_v2.sdf", policy="strict", base="free")
    gs.save(model, tmp_path / "cassie.yaml")
    assert gs.load(tmp_path / "cassie.yaml") == model
    with pytest.raises(gs.SaveError, match=r"4 problems:\nmodel: has a loop, "):
        gs.save(model, tmp_path / "cassie.urdf", allow_loss=True)
    assert not (tmp_path / "cassie.urdf").exists()


def test_the_command_line_checks_an_sdf(tmp_path):
    (tmp_path / "bars.sdf").write_text(four_bar())
    command = [sys.executable, "-m", "gyrostat", "check", str(tmp_path / "bars.sdf")]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "bars.sdf: 0 errors" in done.stdout


# -------------------------------------------------------------------------------------------- loops against KKT
SPATIAL = sdf(
    link("crank"),
    link("slider", "0.4 1.2 0.3 0.2 0.1 0.3"),
    link("rod", "0 0.3 0.5 0.1 0.2 0.3"),
    joint("drive", "revolute", "world", "crank", "<axis><xyz>1 0 0</xyz></axis>"),
    joint("slide", "prismatic", "world", "slider", "<axis><xyz>0 0.6 0.8</xyz></axis>"),
    joint("one", "universal", "crank", "rod", "<axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 1 0</xyz></axis2>"),
    joint("two", "ball", "slider", "rod", "<pose>0.3 0.9 -0.2 0 0 0</pose>"),
)


class Closure:
    """The loop that one joint closes, on Pinocchio's frames: a hinge (five rows) or a ball (three)."""

    def __init__(self, text: str, name: str):
        self.oracle = sdf_oracle.read(text)
        assert self.oracle.closing == [name]
        self.model, self.data = self.oracle.model, self.oracle.model.createData()
        self.hinge = f'name="{name}" type="revolute"' in text
        ends, J = sdf_oracle.ends(text, name)
        pin.framesForwardKinematics(self.model, self.data, pin.neutral(self.model))
        self.frames = []
        for end in ends:
            joint_id, X = (0, pin.SE3.Identity()) if end == "world" else self._of(end)
            inner = X * (self.data.oMf[self.model.getFrameId(end)].inverse() * J if end != "world" else J)
            frame = pin.Frame(f"{name} {end}", joint_id, 0, inner, pin.FrameType.OP_FRAME)
            self.frames.append(self.model.addFrame(frame))
        self.data = self.model.createData()

    def _of(self, link: str):
        frame = self.model.frames[self.model.getFrameId(link)]
        return frame.parentJoint, frame.placement

    def rows(self, q):
        """Residual and Jacobian."""
        pin.computeJointJacobians(self.model, self.data, q)
        pin.updateFramePlacements(self.model, self.data)
        one, two = (self.data.oMf[k] for k in self.frames)
        J1, J2 = (pin.getFrameJacobian(self.model, self.data, k, pin.LOCAL_WORLD_ALIGNED) for k in self.frames)
        r, J = one.translation - two.translation, (J1 - J2)[:3]
        if self.hinge:  # about y, which is e_y of both: two rows of the difference of turns
            across = two.rotation[:, [0, 2]].T
            u = one.rotation[:, 1]
            r = np.concatenate([r, across @ u])
            J = np.vstack([J, across @ np.cross(np.eye(3), u).T @ (J1 - J2)[3:]])
        return r, J


@pytest.mark.parametrize(
    ("text", "name", "angle"), [(four_bar(), "second", 0.3), (SPATIAL, "two", -0.1)], ids=["four-bar", "spatial"]
)
def test_closed_chains_move_as_the_kkt_equations_on_terms_of_pinocchio_say(text, name, angle):
    model, closure = load(text), Closure(text, name)
    other, nv = closure.model, closure.model.nv
    index = {n: other.joints[other.getJointId(n)].idx_v for n in list(other.names)[1:]}
    kept = [index[d] for d in model.dofs]
    free = [k for k in range(nv) if k not in kept]
    q = np.zeros(nv)
    for step in np.linspace(0.0, angle, 7):
        q[kept] = step
        for _ in range(30):
            r, J = closure.rows(q)
            q[free] -= np.linalg.lstsq(J[:, free], r, rcond=1e-10)[0]
    assert np.abs(closure.rows(q)[0]).max() < 1e-13
    v, tau = np.zeros(nv), np.zeros(nv)
    v[kept], tau[kept] = 0.7, 1.3
    J = closure.rows(q)[1]
    v[free] = np.linalg.lstsq(J[:, free], -J[:, kept] @ v[kept], rcond=1e-10)[0]
    assert np.abs(J @ v).max() < 1e-12
    h = 1e-3
    d = [closure.rows(q + s * h * v)[1] @ v for s in (-2, -1, 1, 2)]
    rate = (d[0] - 8 * d[1] + 8 * d[2] - d[3]) / (12 * h)
    bias = pin.rnea(other, closure.data, q, v, np.zeros(nv))
    M = np.transpose([pin.rnea(other, closure.data, q, np.zeros(nv), e) for e in np.eye(nv)])
    M -= pin.rnea(other, closure.data, q, np.zeros(nv), np.zeros(nv))[:, None]
    K = np.block([[M, J.T], [J, np.zeros((len(J), len(J)))]])
    expected = np.linalg.lstsq(K, np.concatenate([tau - bias, -rate]), rcond=1e-12)[0][kept]
    found = gs.aba(model, q[kept], v[kept], tau[kept])
    assert np.abs(found - expected).max() / np.abs(expected).max() < 1e-9
