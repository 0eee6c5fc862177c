"""MJCF files: what is said about them, policies, names, included files, meshes."""

from __future__ import annotations

import re
import struct
import sys

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.geometry.rotation import from_quaternion
from gyrostat.io.mjcf.load import read_mjcf
from tests.io.mjcf.test_mjcf_features import BALL, EXAMPLES, MASS, body, mjcf, two
from tests.support.accepting import load_accepted
from tests.support.mjcf_models import compiled, disagreement, pair, without_what_is_not_taken

mujoco = pytest.importorskip("mujoco", reason="MJCF files are read through MuJoCo, extra 'oracles'")

ROUND = 'diaginertia="1 1 1"'
ARM = two('<joint name="j" axis="0 1 0"/>')


@pytest.fixture
def path(tmp_path):
    return tmp_path / "m.xml"


def rules(path, severity="error", **options):
    return [f.rule for f in gs.audit(path, **options) if f.severity == severity]


# -------------------------------------------------------------------------------------------- which reader
def test_the_outermost_tag_says_what_a_file_is(tmp_path):
    urdf = '<?xml version="1.0"?><!-- <mujoco> -->\n<robot name="r"><link name="base"/></robot>'
    for suffix, text, name in ((".xml", urdf, "r"), (".urdf", mjcf(ARM), "m"), (".mjcf", mjcf(ARM), "m")):
        path = tmp_path / f"x{suffix}"
        path.write_text(text)
        assert gs.load(path).name == name
    path.write_text("<mojoco/>")
    with pytest.raises(gs.SpecError, match=r"x\.mjcf:1.*must be <mujoco>.*did you mean 'mujoco'"):
        gs.load(path)


def test_without_mujoco_there_is_one_sentence(path, monkeypatch):
    path.write_text(mjcf(ARM))
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(gs.LoadError, match=r"read through MuJoCo, which is not installed\. Hint: pip install mujoco"):
        gs.load(path)


# -------------------------------------------------------------------------------------------- what is said
@pytest.mark.parametrize(
    ("rule", "text", "line"),
    [
        ("fluid", mjcf(ARM, '<option density="1.2"/>'), 2),
        ("tendon", mjcf(ARM, after='<tendon><fixed stiffness="3"><joint joint="j" coef="1"/></fixed></tendon>'), 10),
        ("gravcomp", mjcf(body(f"<joint/>{MASS}", at='gravcomp="1"')), 4),
        ("joint-forces", mjcf(two('<joint type="ball" armature="1"/>')), 6),
        ("joint-forces", mjcf(two('<joint damping="1 2"/>')), 6),
        ("joint-forces", mjcf(body(f'<joint type="free" stiffness="1"/>{MASS}')), 5),
        ("flexible", mjcf(ARM + '<flexcomp type="grid" count="2 2 2" name="f"/>'), 8),
        ("plugin", mjcf(ARM, '<extension><plugin plugin="mujoco.elasticity.cable"/></extension>'), 2),
        ("actuator", mjcf(ARM + '<site name="s"/>', after='<actuator><motor site="s" armature="1"/></actuator>'), 10),
    ],
)
def test_what_moves_the_robot_otherwise_is_an_error_that_can_be_accepted(path, rule, text, line):
    path.write_text(text)
    (found,) = gs.audit(path).errors
    assert (found.rule, found.line, found.file) == (rule, line, str(path))
    for policy in ("strict", "repair"):
        with pytest.raises(gs.SpecError, match=rf"m\.xml:{line}"):
            gs.load(path, policy=policy)
    with pytest.warns(gs.ModelWarning, match=rf"m\.xml: 1 error accepted; left out of the model: 1 {rule} \("):
        gs.load(path)


@pytest.mark.parametrize(
    ("rule", "text", "match"),
    [
        ("unknown-tag", mjcf('<bdy name="b"/>'), "4: error: bdy 'b': <bdy> in <worldbody> .* did you mean 'body'"),
        ("unknown-attribute", mjcf(body(f'<joint tipe="hinge"/>{MASS}')), "5: error: joint of body 'b': .* 'tipe'"),
        ("mujoco", mjcf(body(f'<joint type="hing"/>{MASS}')), "5: error: joint of body 'b': .*: invalid keyword"),
        ("mujoco", mjcf(body(f'<joint axis="0 0 0"/>{MASS}')), "5: error: joint of body 'b': .*: axis too small"),
        ("mujoco", mjcf(ARM + ARM), "8: error: body 'b': MuJoCo refuses it: repeated name"),
        ("moving-massless", mjcf(body("<joint/>")), "4: error: body 'b': moves, but it has no mass"),
        ("number", mjcf(body(f"<joint/>{MASS}", at='pos="0 0 nan"')), "4: error: body 'b': 'pos' of <body> must hold"),
        ("number", mjcf(body(f'<joint/><inertial pos="0 0 0" mass="inf" {ROUND}/>')), "5: error: inertial of body 'b'"),
        ("unknown-joint", mjcf(ARM, after='<actuator><motor joint="jj"/></actuator>'), "10: error: .*did you mean 'j'"),
        ("attach", mjcf(ARM + '<attach model="x" body="b" prefix="p"/>'), "8: error: attach: other models are not"),
        ("coordinate", mjcf(ARM, '<compiler coordinate="global"/>'), "2: error: compiler: global coordinates"),
    ],
)  # fmt: skip
def test_mistakes_are_told_with_element_and_line(path, rule, text, match):
    path.write_text(text)
    audit = gs.audit(path)
    assert [f.rule for f in audit.errors] == [rule]
    assert re.search(f"m.xml:{match}", str(audit)), str(audit)
    for policy in ("strict", "repair", "accept"):
        with pytest.raises(gs.SpecError, match=r"m\.xml:\d+"):
            gs.load(path, policy=policy)


def test_all_unknown_names_are_told_at_once(path):
    path.write_text(mjcf(body(f'<jont/><joint axes="0 0 1" nme="x"/>{MASS}<geom sise="1"/>'), "<opton/>"))
    assert sorted(rules(path)) == ["unknown-attribute"] * 3 + ["unknown-tag"] * 2


def test_everything_that_is_left_out_is_listed(path):
    path.write_text(EXAMPLES["contact and sensors"])
    found = rules(path, "ignored")
    assert sorted(found) == [f"unused-{sort}" for sort in ("custom", "keyframe", "light", "texture")]
    path.write_text(mjcf(ARM, '<option timestep="1"/><visual><map/></visual><size njmax="9"/>', "<!-- -->"))
    assert sorted(rules(path, "ignored")) == ["unused-option", "unused-size", "unused-visual"]


def test_a_body_that_the_user_moves_stands_still_and_is_told(path):
    path.write_text(EXAMPLES["mocap"])
    assert rules(path, "warning") == ["mocap"]


# -------------------------------------------------------------------------------------------- inertias
def test_an_impossible_inertia_is_refused_mended_or_accepted(path, caplog):
    path.write_text(mjcf(body('<joint/><inertial pos="0 0 .1" euler="0 90 0" mass="1" diaginertia=".1 .1 .5"/>')))
    (found,) = gs.audit(path).errors
    assert (found.rule, found.line) == ("inertia-triangle", 5)
    with pytest.raises(gs.SpecError, match="triangle"):
        gs.load(path, policy="strict")
    assert rules(path, "repaired", policy="repair") == ["inertia-triangle"]
    mended = np.array(gs.load(path, policy="repair")["b.inertia"])
    moments = np.linalg.eigvalsh(mended)
    assert np.isclose(moments[0] + moments[1], moments[2])
    assert np.allclose(np.diag(mended), (moments[2], moments[0], moments[0]))  # turned by 90 degrees
    accepted = load_accepted(path)
    assert np.allclose(accepted["b.inertia"], np.diag((0.5, 0.1, 0.1)), atol=1e-15)


def test_full_inertias_and_negative_masses_are_judged_too(path, caplog):
    path.write_text(mjcf(body('<joint/><inertial pos="0 0 0" mass="1" fullinertia=".1 .1 .1 .5 0 0"/>')))
    assert rules(path) == ["inertia-positive"]
    assert rules(path, "repaired", policy="repair") == ["inertia-positive"]
    assert np.linalg.eigvalsh(gs.load(path, policy="repair")["b.inertia"]).min() > -1e-12
    assert load_accepted(path)["b.inertia"][0][1] == 0.5
    path.write_text(mjcf(body('<joint/><inertial pos="0 0 0" mass="-1" diaginertia="1 1 1"/>')))
    assert rules(path) == ["mass"]
    for policy in ("strict", "repair", "accept"):
        with pytest.raises(gs.SpecError, match="must not be negative, got -1 kg"):
            gs.load(path, policy=policy)


def test_suspicious_units_are_warnings(path):
    inertial = '<inertial pos="0 0 0" mass="42" diaginertia="9000 9000 9000"/>'
    path.write_text(mjcf(body(f"<joint/>{inertial}", "finger")))
    assert sorted(rules(path, "warning")) == ["inertia-units", "mass-units"]


# -------------------------------------------------------------------------------------------- names
def test_names_stay_where_they_can_and_changes_are_told(path):
    inside = f'<joint name="arm"/><site name="tip.1"/><site name="origin"/>{MASS}'
    path.write_text(
        mjcf(body(inside, "arm") + body(f"<joint/>{MASS}", "") + body(f'<joint name="a b"/>{MASS}', "world2"))
    )
    model = gs.load(path)
    assert model.dofs == ("arm", "body2_joint", "a_b")
    assert [e.name for e in model.entities if isinstance(e, gs.RigidBody)] == ["arm_body", "body2", "world2"]
    assert [f.name for f in model["arm_body"].frames] == ["tip_1", "origin_site"]
    assert rules(path, "warning") == ["name"] * 4
    assert gs.audit(path).warnings[0].line == 4


def test_the_order_is_that_of_mujoco(path):
    path.write_text(
        mjcf(
            body(f'<joint name="z"/>{MASS}' + body(f'<joint name="y"/>{MASS}', "c"), "b")
            + body(f'<joint name="x"/>{MASS}', "d")
        )
    )
    assert gs.load(path).dofs == ("z", "y", "x")  # fmt: skip


def test_entities_know_their_lines(path):
    path.write_text(EXAMPLES["hinge"])
    model = gs.load(path)
    assert [model.source(name) for name in ("world", "b", "z", "c", "j")] == [f"{path}:{k}" for k in (3, 4, 5, 5, 6)]


# -------------------------------------------------------------------------------------------- included files
def test_included_files_are_read_with_their_own_lines(tmp_path, path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.xml").write_text('<mujoco>\n<option gravity="1 2 3"/>\n<include file="b.xml"/>\n</mujoco>')
    (tmp_path / "sub" / "b.xml").write_text('<mujocoinclude>\n\n<option density="2"/>\n</mujocoinclude>')
    (tmp_path / "bodies.xml").write_text(f"<x>\n{ARM}\n</x>")
    path.write_text(mjcf('<include file="bodies.xml"/>', '<include file="sub/a.xml"/>'))
    (found,) = gs.audit(path).errors
    assert (found.rule, found.file, found.line) == ("fluid", str(tmp_path / "sub" / "b.xml"), 3)
    (tmp_path / "sub" / "b.xml").write_text("<mujocoinclude><option/></mujocoinclude>")
    model = gs.load(path)
    assert (model.dofs, model.context.gravity.g) == (("z", "j"), (1.0, 2.0, 3.0))
    assert model.source("c") == f"{tmp_path / 'bodies.xml'}:3"
    other = compiled(mujoco, path)
    assert max(disagreement(mujoco, pair(model, other)).values()) < 1e-12


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("m.xml", "included already"),
        ("a.xml", "included already"),
        ("../outside.xml", "leads out of the allowed folders"),
        ("/etc/hostname", "refused"),
        ("http://localhost/x.xml", "refused"),
        ("none.xml", "is not there"),
        ("link.xml", "leads out of the allowed folders"),
        ("", "needs the attribute"),
    ],
)
def test_includes_stay_in_the_folder_and_end(tmp_path, name, what):
    folder = tmp_path / "in"
    folder.mkdir()
    (tmp_path / "outside.xml").write_text('<mujoco><option gravity="0 0 0"/></mujoco>')
    (folder / "link.xml").symlink_to(tmp_path / "outside.xml")
    (folder / "a.xml").write_text(f'<mujoco>\n<include file="{name}"/></mujoco>')
    (folder / "m.xml").write_text(mjcf(ARM, '<include file="a.xml"/>'))
    (found,) = gs.audit(folder / "m.xml").errors
    assert (found.line, found.file) == (2, str(folder / "a.xml"))
    assert what in found.what
    if name == "../outside.xml":
        assert rules(folder / "m.xml", roots=[tmp_path]) == []


# -------------------------------------------------------------------------------------------- meshes
CORNERS = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.5, 0.0), (0.0, 0.0, 2.0))
FACES = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))


def stl() -> bytes:
    """A tetrahedron."""
    rows = [struct.pack("<12fH", 0, 0, 0, *(x for k in face for x in CORNERS[k]), 0) for face in FACES]
    return b"\0" * 80 + struct.pack("<I", len(rows)) + b"".join(rows)


MESH = '<joint axis="0 1 0"/><geom type="mesh" mesh="t" pos=".1 .2 .3" euler="10 20 30"/>'


def test_inertias_of_mesh_files_agree_with_mujoco(tmp_path, path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "t.stl").write_bytes(stl())
    mesh = '<mesh file="t.stl" scale=".1 .2 .3" refpos=".2 .1 0" refquat=".8 .6 0 0"/>'
    asset = f'<compiler meshdir="parts"/><asset>{mesh}</asset>'
    path.write_text(mjcf(body(MESH), asset))
    model, other = gs.load(path), compiled(mujoco, path)
    assert max(disagreement(mujoco, pair(model, other)).values()) < 1e-12
    assert gs.load(path)["b"].shapes == ()  # turned, then scaled: no shape can say it
    assert "turned, then scaled" in gs.audit(path).ignored[0].what
    path.write_text(mjcf(body(MESH + MASS), asset.replace(' refquat=".8 .6 0 0"', "")))
    assert gs.load(path)["b"].shapes[0].file == (tmp_path / "parts" / "t.stl").as_posix()


@pytest.mark.parametrize("inertial", ["", MASS])
@pytest.mark.parametrize(
    "moved", ['scale=".1 .2 .3" refpos=".2 .1 0"', 'scale=".2 .2 .2" refpos=".2 .1 0" refquat=".8 .6 0 0"']
)
def test_a_mesh_is_drawn_where_mujoco_has_it(tmp_path, path, inertial, moved):
    (tmp_path / "t.stl").write_bytes(stl())
    asset = f'<asset><mesh file="t.stl" {moved}/></asset>'
    path.write_text(mjcf(body(MESH + inertial), asset))
    (shape,) = gs.load(path)["b"].shapes
    other = compiled(mujoco, path)
    w, x, y, z = other.geom_quat[0]
    there = from_quaternion(np.array((x, y, z, w))) @ other.mesh_vert.T + other.geom_pos[0][:, None]
    here = np.array(shape.rotation.matrix) @ (np.array(CORNERS) * shape.size).T + np.array(shape.translation)[:, None]
    assert np.allclose(
        sorted(map(tuple, there.T)), sorted(map(tuple, here.T)), atol=1e-7
    )  # vertices are single precision


def test_a_mesh_that_is_not_there_matters_only_for_the_inertia(path):
    asset = '<asset><mesh name="t" file="../t.stl"/></asset>'
    path.write_text(mjcf(body(MESH), asset))
    (found,) = gs.audit(path).errors
    assert (found.rule, found.line) == ("mesh-missing", 2)
    assert "leads out of the allowed folders" in found.what
    path.write_text(mjcf(body(MESH + MASS), asset))
    audit = gs.audit(path)
    assert (audit.ok, rules(path, "warning"), rules(path, "ignored")) == (True, ["mesh-path"], ["unused-geom"])
    assert gs.load(path)["b"].shapes == ()


def test_a_broken_mesh_is_named(tmp_path, path):
    (tmp_path / "t.stl").write_bytes(stl()[:-7])
    path.write_text(mjcf(body(MESH), '<asset><mesh file="t.stl"/></asset>'))
    (found,) = gs.audit(path).errors
    assert (found.rule, found.line, found.owner) == ("mujoco", 2, "mesh 't'")
    assert "t.stl" in found.what


def test_height_fields_and_textures_are_not_opened(path):
    asset = '<asset><hfield name="h" file="/x.png" size="1 1 1 1"/><texture name="t" file="/x.png" type="2d"/></asset>'
    path.write_text(mjcf('<geom type="hfield" hfield="h"/>' + ARM, asset))
    assert sorted(rules(path, "ignored")) == ["unused-geom", "unused-hfield", "unused-texture"]
    assert gs.load(path).nv == 2


def test_text_is_read_without_a_file():
    model, audit = read_mjcf(mjcf(ARM + BALL))
    assert model is not None
    assert (model.nv, audit.ok, audit.file) == (2, True, "<text>")


def test_friction_and_couplings_can_be_left_out(path):
    path.write_text(EXAMPLES["damping and friction"])
    assert not any("drive" in e.name for e in gs.load(path, friction=False).entities)
    path.write_text(EXAMPLES["coupled joints"])
    assert gs.load(path).dofs == ("z",)
    assert gs.load(path, mimic=False).dofs == ("z", "j")


def test_an_old_mujoco_is_refused_in_one_sentence(path, monkeypatch):
    path.write_text(mjcf(ARM))
    monkeypatch.setattr(mujoco, "__version__", "3.1.6")
    with pytest.raises(gs.LoadError, match=r"need MuJoCo 3\.3\.7 or later, 3\.1\.6 is installed"):
        gs.load(path)


@pytest.mark.parametrize("name", ["joints coupled by a tendon", "ball with spring", "defaults", "frames", "motors"])
def test_models_are_stored_and_compiled(tmp_path, path, name):
    path.write_text(EXAMPLES[name])
    model, other = gs.load(path), compiled(mujoco, path)
    gs.save(model, tmp_path / "m.yaml")
    assert gs.load(tmp_path / "m.yaml") == model
    without_what_is_not_taken(mujoco, other)
    assert max(disagreement(mujoco, pair(model, other), "compile").values()) < 1e-11
