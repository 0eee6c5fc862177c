"""Height fields as shapes: what is refused, files of heights, mass, text form, drawing."""

import os

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.geometry.height_field import MOST
from gyrostat.graph.height_fields import height_field_of
from gyrostat.view.scene.scene import scene

SIZE = (2.0, 1.0, 0.5)
FLAT = ((0.0, 0.0), (0.0, 0.0))


def field(**given):
    return gs.Shape(kind="height-field", size=given.pop("size", SIZE), **given)


def ground(shape, **options):
    return gs.assemble("ground", gs.chain("world", gs.RigidBody("floor", mass=0.0, shapes=[shape])), **options)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "'heights' of a height field, or its file, must be given"),
        ({"heights": FLAT, "file": "h.npy"}, "one of them, got 'h.npy'"),
        ({"heights": [[0.0]]}, "at least 2 x 2, got '1 x 1'"),
        ({"heights": [[0.0, 1.0], [0.0]]}, "rows of the same length"),
        ({"heights": [[0.0, np.nan], [0.0, 0.0]]}, "must be finite"),
        ({"heights": [[0.0, np.inf], [0.0, 0.0]]}, "must be finite"),
        ({"heights": [[0.0, -0.5], [0.0, 0.0]]}, "above the base at -0.5 m, got -0.5"),
        ({"heights": np.zeros((2, MOST // 2 + 1))}, f"at most {MOST} numbers, got '2 x {MOST // 2 + 1}'"),
        ({"heights": 3.0}, "must be rows of numbers"),
        ({"heights": [1.0, 2.0]}, "must be a list of numbers"),
        ({"heights": [["high", 0.0], [0.0, 0.0]]}, "must be a number, got 'high'"),
        ({"heights": FLAT, "size": (1.0, 1.0)}, "three numbers above zero.*depth of its base"),
        ({"heights": FLAT, "size": (1.0, 1.0, 0.0)}, "three numbers above zero"),
        ({"heights": FLAT, "size": (1.0, np.nan, 1.0)}, "three numbers above zero"),
        ({"file": "../h.npy"}, "must lie in the folder of the model"),
        ({"file": "/etc/h.npy"}, "must lie in the folder of the model"),
    ],
)
def test_a_wrong_height_field_is_told(given, told):
    with pytest.raises(gs.SpecError, match=told):
        field(**given)


def test_other_shapes_have_no_heights():
    with pytest.raises(gs.SpecError, match="'heights' are only for height fields, this is a box"):
        gs.Shape(kind="box", size=(1, 1, 1), heights=FLAT)


def test_its_mass_is_that_of_the_solid_below():
    flat = gs.RigidBody.from_shape("slab", "height-field", size=SIZE, heights=np.full((3, 4), 0.5), density=10.0)
    box = gs.RigidBody.from_shape("box", "box", size=(2.0, 1.0, 1.0), density=10.0)
    assert flat.mass == pytest.approx(box.mass, rel=1e-14)
    assert np.abs(np.array(flat.inertia) - np.array(box.inertia)).max() < 1e-12
    assert np.abs(flat.com).max() < 1e-15
    with pytest.raises(gs.SpecError, match=r"heights are in the file 'h.npy'"):
        gs.RigidBody.from_shape("slab", "height-field", size=SIZE, file="h.npy", density=10.0)


def test_the_text_form_keeps_every_height(tmp_path):
    heights = np.random.default_rng(0).normal(size=(4, 7)) * 0.1
    model = ground(field(heights=heights, role="collision", contact={"friction": 0.7}))
    gs.save(model, tmp_path / "m.yaml")
    assert gs.load(tmp_path / "m.yaml")["floor"].shapes == model["floor"].shapes
    text = (tmp_path / "m.yaml").read_text("utf-8")
    assert text.startswith("gyrostat: 5\n")
    (tmp_path / "m.yaml").write_text(text.replace("gyrostat: 5", "gyrostat: 4"), "utf-8")
    with pytest.raises(gs.SpecError, match="'height-field', which came with version 5"):
        gs.load(tmp_path / "m.yaml")


@pytest.fixture
def from_file(tmp_path):
    """The grid of a model whose text names a file beside it."""

    def load(name="h.npy"):
        gs.save(ground(field(file=name)), tmp_path / "m.yaml")
        model = gs.load(tmp_path / "m.yaml")
        return height_field_of(model, "floor", model["floor"].shapes[0]).heights

    return load


def test_heights_are_read_from_a_file_beside_the_model(tmp_path, from_file):
    heights = np.array([[0.0, 0.5, 0.25], [1.0, 2.0, 3.0]])
    np.save(tmp_path / "h.npy", heights)
    assert np.array_equal(from_file(), heights)
    (tmp_path / "h.csv").write_text("0, 0.5, 0.25\n\n1, 2, 3\n", "utf-8")
    assert np.array_equal(from_file("h.csv"), heights)
    (tmp_path / "h.txt").write_text("0 0.5 0.25\n1 2 3", "utf-8")
    assert np.array_equal(from_file("h.txt"), heights)


def hostile_head(path):
    """A head that promises more numbers than the file has."""
    with open(path, "wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (10**6, 10**6)})
        file.write(b"\0" * 64)


@pytest.mark.parametrize(
    ("name", "write", "told"),
    [
        ("h.npy", lambda p: None, "cannot be read"),
        ("h.npy", hostile_head, "cannot be read"),
        ("h.npy", lambda p: p.write_bytes(b"\x93NUMPY nonsense"), "cannot be read"),
        ("h.npy", lambda p: np.save(p, np.array([[object()]]), allow_pickle=True), "cannot be read"),
        ("h.npy", lambda p: np.save(p, np.array([["a", "b"]])), "no array of at most"),
        ("h.npy", lambda p: np.save(p, np.zeros(4)), "not rows and columns"),
        ("h.npy", lambda p: np.save(p, np.full((2, 2), np.nan)), "must be finite"),
        ("h.npy", lambda p: np.save(p, np.zeros((1, 1))), "at least 2 x 2"),
        ("h.npy", lambda p: np.save(p, np.zeros((2, MOST), dtype=np.int8)), "no array of at most"),
        ("h.csv", lambda p: p.write_text("1,2\n3\n", "utf-8"), "rows of different lengths"),
        ("h.csv", lambda p: p.write_text("1,2\n3,x\n", "utf-8"), "cannot be read"),
        ("h.csv", lambda p: p.write_bytes(b"\xff\xfe\x00"), "cannot be read"),
        ("h.png", lambda p: p.write_bytes(b""), "the format '.png' is not read"),
        ("h.npy", lambda p: p.symlink_to(os.devnull), "leads out of the folder"),
    ],
)
def test_a_broken_file_of_heights_is_told(tmp_path, from_file, name, write, told):
    write(tmp_path / name)
    with pytest.raises(gs.SpecError, match=rf"rigid body 'floor'.*the file '{name}'.*{told}"):
        from_file(name)


def test_it_is_drawn_as_a_closed_solid(tmp_path):
    heights = np.array([[0.0, 0.1, 0.2], [0.0, 0.3, 0.1]])
    (solid,) = [s for link in scene(ground(field(heights=heights))).links for s in link.solids if s.role == "visual"]
    vertices, triangles = solid.triangles
    assert vertices.shape == (12, 3)
    edges = np.concatenate([triangles[:, [i, (i + 1) % 3]] for i in range(3)])
    assert sorted(map(tuple, edges)) == sorted(map(tuple, edges[:, ::-1]))  # each edge once in either direction
    gs.save(ground(field(file="gone.npy")), tmp_path / "m.yaml")
    assert "gone.npy" in scene(gs.load(tmp_path / "m.yaml")).missing[0]


def test_urdf_has_no_height_fields(tmp_path):
    arm = gs.chain("world", gs.Joint("j", "revolute", axis="z"), gs.RigidBody("arm", mass=1.0, inertia=(1, 1, 1)))
    body = gs.RigidBody("base", mass=1.0, inertia=(1, 1, 1), shapes=[field(heights=FLAT)])
    model = gs.assemble("r", gs.chain("world", body), arm)
    (lost,) = gs.save(model, tmp_path / "r.urdf")
    assert (lost.rule, lost.message) == ("urdf-shape", "URDF has no height-field")
