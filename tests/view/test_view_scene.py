"""What is drawn for a model: parts that move as one, shapes, meshes, sticks; triangles of solids."""

from __future__ import annotations

import logging
import struct
import sysconfig
from pathlib import Path

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.io.yaml.read import from_text
from gyrostat.io.yaml.write import to_text
from gyrostat.spec.shape import Shape
from gyrostat.view.scene.mesh_places import MeshError, find_mesh, read_mesh
from gyrostat.view.scene.rigid_parts import rigid_parts
from gyrostat.view.scene.scene import equal_box, scene
from gyrostat.view.scene.triangles import solid

BODY = '<inertial><mass value="2"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>'


def robot(visual: str, more: str = "") -> str:
    return f"""<robot name="r">{more}
<link name="base"/>
<link name="arm">{BODY}{visual}</link>
<joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint>
</robot>"""


@pytest.fixture
def loaded(tmp_path):
    def load(text, **options):
        path = tmp_path / "robot" / "r.urdf"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
        return gs.load(path, **options)

    return load


def stl(path, size=1.0):
    """A tetrahedron in binary STL."""
    corners = size * np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=float)
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    records = b"".join(struct.pack("<12fH", *[0.0] * 3, *corners[list(f)].ravel(), 0) for f in faces)
    path.write_bytes(b" " * 80 + struct.pack("<I", len(faces)) + records)
    return path


# ------------------------------------------------------------------------------------ shapes
@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"kind": "box"}, r"shape: 'size' of a box must be three numbers above zero, got \(\). Hint: give the lengths"),
        ({"kind": "box", "size": (1, 1, -1)}, "'size' of a box must be three numbers above zero"),
        ({"kind": "sphere", "size": (float("nan"),)}, "'size' of a sphere must be one number above zero"),
        ({"kind": "mesh"}, "'file' must name the file of the mesh"),
        ({"kind": "mesh", "file": "a.stl", "size": (1, 0, 1)}, "three numbers other than zero"),
        ({"kind": "box", "size": (1, 1, 1), "file": "a.stl"}, "'file' is only for meshes, this is a box"),
        ({"kind": "sphere", "size": (1,), "color": (2, 0, 0)}, "'color' must be three or four numbers between 0 and 1"),
        ({"kind": "sphere", "size": (1,), "translation": (0, 0, float("inf"))}, "'translation' must be finite"),
        ({"kind": "bax", "size": (1,)}, "did you mean 'box'"),
    ],
)
def test_a_wrong_shape_is_told(given, told):
    with pytest.raises(gs.SpecError, match=told):
        Shape(**given)


def test_shapes_survive_the_text_form_and_do_not_touch_the_dynamics():
    plain = gs.robots.pendulum()
    shapes = [
        Shape(kind="capsule", size=(0.05, 0.9), translation=(0, 0, -0.5), color=(1, 0, 0)),
        {"kind": "mesh", "file": "rod.stl", "size": (1, -1, 1), "rotation": gs.rpy(0.1, 0.2, 0.3)},
        Shape(kind="sphere", size=[0.1], role="collision"),
    ]
    model = plain.replace({"rod.shapes": shapes})
    assert model["rod.shapes"][0].color == (1, 0, 0, 1)
    assert from_text(to_text(model)) == model != plain
    assert gs.rnea(model, [0.3], [1.0], [2.0]) == gs.rnea(plain, [0.3], [1.0], [2.0])
    turned = to_text(model).replace("{euler: [0.1, 0.2, 0.3]}", "{quaternion: [0, 0, 0, 2]}")
    with pytest.raises(gs.SpecError, match=r"'rod' \(<text>:\d+\): 'shapes.1.rotation' must be a unit quaternion"):
        from_text(turned)


def test_solids_and_colours_of_a_urdf_become_shapes(loaded):
    def visual(geometry, material="", place=""):
        return f"<visual>{place}<geometry>{geometry}</geometry>{material}</visual>"

    own = '<material name="own"><color rgba="0 1 0 0.5"/></material>'
    found = [
        visual('<box size="1 2 3"/>', '<material name="blue"/>', '<origin xyz="0 0 0.1" rpy="0 0 1"/>'),
        visual('<cylinder radius="0.1" length="0.4"/>', own),
        visual('<capsule radius="0.1" length="0.4"/>', '<material name="own"/>'),
        visual('<sphere radius="0.2"/>', '<material name="unknown"/>'),
        '<collision><geometry><sphere radius="0.3"/></geometry></collision>',
    ]
    model = loaded(robot("".join(found), '<material name="blue"><color rgba="0 0 1 1"/></material>'))
    box, cylinder, capsule, ball, contact = model["arm.shapes"]
    assert (box.kind, box.size, box.color) == ("box", (1, 2, 3), (0, 0, 1, 1))
    assert (box.translation, box.rotation) == ((0, 0, 0.1), gs.rpy(0, 0, 1))
    assert (cylinder.kind, cylinder.size, cylinder.color) == ("cylinder", (0.1, 0.4), (0, 1, 0, 0.5))
    assert (capsule.kind, capsule.color) == ("capsule", (0, 1, 0, 0.5))
    assert (ball.color, ball.role, contact.role, contact.size) == (None, "visual", "collision", (0.3,))
    drawn = scene(model)
    assert drawn.drawn
    assert [s.role for s in drawn.links[1].solids] == ["visual"] * 4 + ["collision", "com", "inertia"]


@pytest.mark.parametrize(
    ("geometry", "rule"),
    [
        ('<box size="1 0 1"/>', "shape"),
        ('<box size="1 1"/>', "number"),
        ('<cylinder radius="1"/>', "shape"),
        ('<mesh filename="x.stl" scale="0 1 1"/>', "shape"),
        ('<mesh filename=""/>', "shape"),
        ('<mesh filename="x.stl"/>', "mesh-missing"),
        ('<mesh filename="../x.stl"/>', "mesh-path"),
        ('<mesh filename="file:///etc/hostname"/>', "mesh-path"),
        ('<mesh filename="package://p/x.stl"/>', "mesh-missing"),
    ],
)
def test_shapes_that_cannot_be_are_warnings(tmp_path, geometry, rule):
    path = tmp_path / "r.urdf"
    path.write_text(robot(f"<visual><geometry>{geometry}</geometry></visual>"))
    audit = gs.audit(path)
    assert audit.ok
    assert rule in {f.rule for f in audit.warnings}


def test_meshes_are_found_beside_the_file_and_in_roots(loaded, tmp_path):
    (tmp_path / "robot" / "meshes").mkdir(parents=True)
    (tmp_path / "pkg" / "hand").mkdir(parents=True)
    near, far = stl(tmp_path / "robot" / "meshes" / "a.stl"), stl(tmp_path / "pkg" / "hand" / "b.stl")
    names = ("meshes/a.stl", near.as_uri(), "package://hand/b.stl", far.as_uri(), "../pkg/hand/b.stl")
    text = robot("".join(f'<visual><geometry><mesh filename="{n}"/></geometry></visual>' for n in names))
    model = loaded(text, roots=[tmp_path / "pkg"])
    assert [shape.file for shape in model["arm.shapes"]] == [str(near)] * 2 + [str(far)] * 3
    assert scene(model).missing == ()


# ------------------------------------------------------------------------------------ meshes
def test_a_text_form_names_meshes_in_its_own_folder_only(tmp_path):
    (tmp_path / "in").mkdir()
    inside, outside = stl(tmp_path / "in" / "a.stl"), stl(tmp_path / "b.stl")
    path = tmp_path / "in" / "model.yaml"
    shapes = [Shape(kind="mesh", file=file) for file in ("a.stl", str(inside), str(outside), "../b.stl")]
    made = gs.robots.pendulum().replace({"rod.shapes": shapes})
    gs.save(made, path)
    model = gs.load(path)
    drawn = scene(model)
    assert [s.file for s in drawn.links[1].solids if s.role == "visual"] == [inside, inside]
    assert all("leads out of the allowed folders" in line for line in drawn.missing)
    assert len(drawn.missing) == 2
    assert scene(model, roots=[tmp_path]).missing == ()
    assert find_mesh(made, "rod", str(outside)) == (outside, "")  # written in Python by the user
    assert find_mesh(made, "rod", str(tmp_path / "c.stl"))[0] is None


def test_a_robot_without_its_meshes_is_drawn_as_sticks(tmp_path):
    path = tmp_path / "r.urdf"
    path.write_text(robot('<visual><geometry><mesh filename="x.stl"/></geometry></visual>'))
    drawn = scene(gs.load(path))
    assert not drawn.drawn
    assert drawn.missing == ("arm: the mesh 'x.stl' is not there",)
    assert {s.role for link in drawn.links for s in link.solids} >= {"stick", "joint", "com", "inertia"}


def test_a_mesh_is_read_scaled_and_stays_outside_out(tmp_path):
    pytest.importorskip("trimesh")
    path = stl(tmp_path / "a.stl", 2.0)
    for scale in ((1, 1, 1), (1, -2, 1)):
        [(vertices, faces, _)] = read_mesh(path, scale)
        assert vertices.max(axis=0) - vertices.min(axis=0) == pytest.approx(2.0 * np.abs(scale))
        assert volume(vertices, faces) == pytest.approx(8.0 / 6.0 * abs(np.prod(scale)))


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("a.mesh", b"x", "the format '.mesh' is not read"),
        ("a.stl", b"solid nothing", "cannot be read|no triangles"),
        ("a.obj", b"v 0 0 0\n", "cannot be read|no triangles"),
        (
            "a.dae",
            b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "/etc/hostname">]><COLLADA>&e;</COLLADA>',
            "refused",
        ),
        ("a.dae", "<COLLADA/>".encode("utf-16"), "refused"),
        ("a.ply", b"\x00" * 50, "cannot be read|no triangles"),
    ],
)
def test_a_broken_mesh_is_told(tmp_path, name, data, told):
    pytest.importorskip("trimesh")
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(MeshError, match=told):
        read_mesh(path, (1, 1, 1))


def test_a_mesh_that_is_gone_is_told(tmp_path):
    with pytest.raises(MeshError, match="cannot be read: No such file"):
        read_mesh(tmp_path / "a.stl", (1, 1, 1))


def test_a_material_outside_the_folder_of_a_mesh_is_not_read(tmp_path):
    pytest.importorskip("trimesh")
    (tmp_path / "in").mkdir()
    (tmp_path / "m.mtl").write_text("newmtl red\nKd 1 0 0\n")
    path = tmp_path / "in" / "a.obj"
    text = "mtllib {}\nusemtl red\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
    path.write_text(text.format("../m.mtl"))
    logging.disable(logging.CRITICAL)  # trimesh tells that it has not found it
    try:
        [(_, _, color)] = read_mesh(path, (1, 1, 1))
        assert color is None or color[:3] != pytest.approx((1, 0, 0))
        (tmp_path / "in" / "m.mtl").write_text("newmtl red\nKd 1 0 0\n")
        path.write_text(text.format("m.mtl") + "\n")
        [(_, _, color)] = read_mesh(path, (1, 1, 1))
        assert color[:3] == pytest.approx((1, 0, 0))
    finally:
        logging.disable(logging.NOTSET)


# ------------------------------------------------------------------------------------ parts and sticks
def test_fixed_joints_and_displacements_belong_to_the_part_they_are_on():
    tool = [gs.Displacement("out", translation=(0, 0, 0.1)), gs.Joint("weld", "fixed"), gs.RigidBody("tool", mass=0.1)]
    rod = gs.RigidBody("rod", mass=1, com=(0, 0, 0.5), inertia=(0.1, 0.1, 0.01), frames={"tip": (0, 0, 1)})
    model = gs.assemble("m", gs.chain("world", gs.Joint("hinge", "revolute", axis="y"), rod, *tool))
    base, arm = rigid_parts(model)
    assert (base.name, base.outer) == ("world", [("hinge", "hinge.a")])
    assert (arm.name, arm.port, arm.bodies, arm.inner) == ("rod", "rod.origin", ["rod", "tool"], "hinge.b")
    assert {"rod.tip", "tool.origin"} <= set(arm.named)


def test_placements_are_those_of_forward_kinematics():
    for model in (gs.robots.kuka_lwr4(), gs.robots.chain(4), gs.robots.tree(8)):
        drawn = scene(model)
        q = gs.random_configuration(model, rng=1)
        R, p = drawn.placements(q)
        motions = gs.fk(model, q)
        for k, link in enumerate(drawn.links):
            assert R[k] == pytest.approx(motions[link.port].R, abs=1e-12)
            assert p[k] == pytest.approx(motions[link.port].p, abs=1e-12)
        batch = drawn.placements(np.stack([q, gs.neutral(model)]))
        assert batch[1].shape == (2, len(drawn.links), 3)
        assert batch[1][0] == pytest.approx(p, abs=1e-12)


def test_sticks_lead_from_joint_to_joint():
    model = gs.robots.kuka_lwr4()
    drawn = scene(model)
    motions = gs.fk(model, np.zeros(7))
    R, p = drawn.placements(np.zeros(7))
    for k in range(1, 6):
        [stick] = [s for s in drawn.links[k].solids if s.role == "stick"]
        half = stick.R[:, 2] * stick.size[1] / 2.0
        ends = [p[k] + R[k] @ (stick.p + side * half) for side in (-1, 1)]
        assert ends[0] == pytest.approx(motions[f"q{k}.b"].p, abs=1e-12)
        assert ends[1] == pytest.approx(motions[f"q{k + 1}.a"].p, abs=1e-12)
    drums = [s for link in drawn.links for s in link.solids if s.role == "joint"]
    assert [s.kind for s in drums] == ["cylinder"] * 7
    assert drawn.up == pytest.approx((0, 1, 0))  # this robot stands along y


def test_every_kind_of_joint_is_drawn():
    for kind, table in gs.JOINT_KINDS.items():
        given = {"axis": "x", "second_axis": "y", "pitch": 0.1}
        joint = gs.Joint("j", kind, **{key: given[key] for key in table.needs})
        body = gs.RigidBody("body", mass=1, com=(0, 0, 0.2), inertia=(0.1, 0.1, 0.1))
        drawn = scene(gs.assemble("m", gs.chain("world", joint, body)))
        found = [s.role for link in drawn.links for s in link.solids]
        assert ("joint" in found) == (kind not in ("fixed", "free"))
        assert found.count("com") == found.count("inertia") == 1


def test_a_model_that_cannot_move_is_drawn():
    drawn = scene(gs.assemble("m", gs.chain("world", gs.RigidBody("block", mass=1))))
    assert len(drawn.links) == 1
    assert drawn.extent > 0.0


def test_a_free_base_carries_its_robot():
    body = gs.RigidBody("box", mass=1, inertia=(1, 1, 1))
    drawn = scene(gs.assemble("m", gs.chain("world", body), base="free"))
    _, p = drawn.placements([1, 2, 3, 0, 0, 0, 1])
    assert p[0] == pytest.approx((1, 2, 3))


def test_a_base_that_moves_by_itself_is_drawn_at_each_time():
    motion = gs.HarmonicMotion(amplitude=(0.5, 0, 0), frequency=1.0)
    body = gs.RigidBody("box", mass=1, inertia=(1, 1, 1))
    model = gs.assemble("m", gs.chain("world", gs.Joint("j", "revolute", axis="y"), body), base=motion)
    drawn = scene(model)
    assert not np.allclose(drawn.placements([0.0], 0.0)[1], drawn.placements([0.0], 0.25)[1])


def test_the_box_of_equal_inertia_is_the_box_itself():
    lengths, mass = np.array([0.1, 0.2, 0.5]), 3.0
    moments = mass / 12.0 * (np.sum(lengths**2) - lengths**2)
    R = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    found, axes = equal_box(mass, R @ np.diag(moments) @ R.T)
    assert sorted(found) == pytest.approx(lengths)
    assert np.linalg.det(axes) == pytest.approx(1.0)
    back = axes @ np.diag(mass / 12.0 * (np.sum(np.square(found)) - np.square(found))) @ axes.T
    assert back == pytest.approx(R @ np.diag(moments) @ R.T)
    assert equal_box(1.0, np.diag([1.0, 1.0, 5.0]))[0][2] == 0.0  # no distribution of mass has these


def test_a_real_robot_has_its_meshes():
    pytest.importorskip("trimesh")
    folder = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
    path = folder / "ur_description" / "urdf" / "ur5_robot.urdf"
    if not path.is_file():
        pytest.skip("the package example-robot-data is not installed")
    drawn = scene(gs.load(path))
    meshes = [s for link in drawn.links for s in link.solids if s.role == "visual" and s.kind == "mesh"]
    assert drawn.missing == ()
    assert len(meshes) >= 7
    assert all(len(read_mesh(s.file, s.size)) for s in meshes)


# ------------------------------------------------------------------------------------ triangles
def volume(vertices, faces):
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0)


@pytest.mark.parametrize(
    ("kind", "size", "exact"),
    [
        ("box", (1, 2, 3), 6.0),
        ("cylinder", (0.5, 2), np.pi * 0.25 * 2),
        ("sphere", (0.5,), 4 / 3 * np.pi / 8),
        ("ellipsoid", (1, 2, 3), 4 / 3 * np.pi * 6),
        ("capsule", (0.5, 2), np.pi * 0.25 * 2 + 4 / 3 * np.pi / 8),
    ],
)
def test_solids_are_closed_and_outside_out(kind, size, exact):
    vertices, faces = solid(kind, size)
    assert volume(vertices, faces) == pytest.approx(exact, rel=0.03)
    assert volume(vertices + 10.0, faces) == pytest.approx(volume(vertices, faces))  # only of closed surfaces
    assert vertices.mean(axis=0) == pytest.approx(np.zeros(3), abs=1e-12)


def test_a_flexible_beam_is_drawn_along_its_bent_axis():
    tube = gs.sections.tube(0.1, 0.005)
    for section, kind in ((tube, "cylinder"), (gs.sections.box(0.1, 0.05, 0.002), "box")):
        beam = gs.FlexibleBeam(
            "boom", length=2.0, section=section, E=7e10, G=2.7e10, density=2700.0, modes=2, modes_x=0
        )
        model = gs.assemble("m", beam, gs.connect("world", "boom.a"))
        seen = scene(model)
        assert seen.model is model
        pieces = [k for k, link in enumerate(seen.links) if link.name.startswith("boom.axis")]
        assert {seen.links[k].solids[0].kind for k in pieces} == {kind}
        _, straight = seen.placements(np.zeros(4))
        _, bent = seen.placements(np.array([0.1, 0.0, 0.0, 0.0]))
        assert np.allclose(straight[pieces, 0], 2.0 * (np.arange(16) + 0.5) / 16)
        assert np.all(np.diff(bent[pieces, 1]) > 0.0) and np.all(bent[pieces, 0] < straight[pieces, 0])
