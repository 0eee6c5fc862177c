"""Bodies from shapes: closed forms, exact integrals over meshes, and what is refused."""

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.errors import MeshError
from gyrostat.geometry.polyhedron import polyhedron
from gyrostat.geometry.solids import SOLIDS
from tests.support.comparing import assert_close

PLACE = {"translation": (0.1, -0.2, 0.3), "rotation": gs.rpy(0.3, -0.4, 0.5)}
SIZES = {
    "box": (0.1, 0.2, 0.3),
    "sphere": (0.2,),
    "cylinder": (0.1, 0.5),
    "capsule": (0.1, 0.4),
    "ellipsoid": (0.1, 0.2, 0.3),
}


def slices(kind: str, size) -> tuple[list[float], float, object]:
    """Ends of smooth pieces along z; <x^2> of a slice by its half width squared; half widths squared at z."""
    if kind == "box":
        a, b, c = size
        return [-c / 2, c / 2], 1 / 3, lambda z: (a * a / 4, b * b / 4)
    if kind in ("sphere", "ellipsoid"):
        a, b, c = size if kind == "ellipsoid" else size * 3
        return [-c, c], 1 / 4, lambda z: (a * a * (1 - z * z / c / c), b * b * (1 - z * z / c / c))
    r, h = size[0], size[1] / 2
    ends = [-h, h] if kind == "cylinder" else [-h - r, -h, h, h + r]
    return ends, 1 / 4, lambda z: (r * r - max(abs(z) - h, 0.0) ** 2,) * 2


@pytest.mark.parametrize("kind", SIZES)
def test_closed_forms_are_the_integrals_over_the_solid(kind):
    """Slices along z, whose areas and moments are polynomials: Gauss's rule is exact."""
    ends, share, half = slices(kind, SIZES[kind])
    area = 4.0 if kind == "box" else np.pi
    volume, moments = 0.0, np.zeros(3)
    for low, high in pairwise(ends):
        for x, weight in zip(*np.polynomial.legendre.leggauss(5), strict=True):
            z = (low + high) / 2 + x * (high - low) / 2
            aa, bb = half(z)
            dV = weight * (high - low) / 2 * area * np.sqrt(aa * bb)
            volume += dV
            moments += dV * np.array([aa * share, bb * share, z * z])
    got = SOLIDS[kind](SIZES[kind])
    assert got.volume == pytest.approx(volume, rel=1e-13)
    assert_close(got.inertia * 1e4, (np.eye(3) * moments.sum() - np.diag(moments)) * 1e4, 1e-13)


@pytest.mark.parametrize(
    ("kind", "size", "mass", "inertia"),
    [
        ("box", (1.0, 2.0, 3.0), 6.0, (6.5, 5.0, 2.5)),
        ("sphere", (1.0,), 4 / 3 * np.pi, (8 / 15 * np.pi,) * 3),
        ("cylinder", (1.0, 2.0), 2 * np.pi, (2 * np.pi * (3 + 4) / 12,) * 2 + (np.pi,)),
        ("capsule", (1.0, 1e-12), 4 / 3 * np.pi, (8 / 15 * np.pi,) * 3),
    ],
)
def test_masses_and_moments_of_density_one(kind, size, mass, inertia):
    body = gs.RigidBody.from_shape("b", kind, size=size, density=1.0)
    assert body.mass == pytest.approx(mass, rel=1e-11)
    assert_close(np.array(body.inertia), np.diag(inertia), 1e-11)
    assert body.com == (0.0, 0.0, 0.0)
    assert body.shapes[0].kind == kind


def test_the_place_of_the_shape_counts_and_mass_may_be_given():
    shape = gs.Shape(kind="box", size=(0.1, 0.2, 0.3), **PLACE)
    body = gs.RigidBody.from_shape("b", shape, mass=3.0, frames={"tip": (0, 0, 1)})
    straight = gs.RigidBody.from_shape("b", "box", size=(0.1, 0.2, 0.3), mass=3.0)
    c, s = np.cos([0.3, -0.4, 0.5]), np.sin([0.3, -0.4, 0.5])
    Rx = np.array([[1, 0, 0], [0, c[0], -s[0]], [0, s[0], c[0]]])
    Ry = np.array([[c[1], 0, s[1]], [0, 1, 0], [-s[1], 0, c[1]]])
    Rz = np.array([[c[2], -s[2], 0], [s[2], c[2], 0], [0, 0, 1]])
    R = Rz @ Ry @ Rx
    assert_close(np.array(body.inertia), R @ np.array(straight.inertia) @ R.T, 1e-14)
    assert body.com == (0.1, -0.2, 0.3)
    assert body.mass == 3.0
    assert body.shapes == (shape,)
    assert [f.name for f in body.frames] == ["tip"]
    gs.check(gs.assemble("m", gs.chain("world", gs.Joint("j", "revolute", axis="z"), body)))


# ------------------------------------------------------------------------------------------------ meshes
def box_mesh(size=(1.0, 2.0, 3.0), at=(0.0, 0.0, 0.0)) -> tuple[np.ndarray, np.ndarray]:
    """Twelve triangles, counterclockwise from outside."""
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
    faces = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1),
             (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)]  # fmt: skip
    return (corners - 0.5) * size + at, np.array(faces)


def write_stl(path: Path, vertices: np.ndarray, faces: np.ndarray) -> Path:
    lines = ["solid s"]
    for face in faces:
        lines += ["facet normal 0 0 0", "outer loop"]
        lines += [f"vertex {' '.join(repr(float(x)) for x in vertices[k])}" for k in face]
        lines += ["endloop", "endfacet"]
    path.write_text("\n".join([*lines, "endsolid s"]))
    return path


def test_a_polyhedron_far_from_the_origin_keeps_its_digits():
    got = polyhedron(*box_mesh(at=(100.0, -200.0, 300.0)))
    box = SOLIDS["box"]((1.0, 2.0, 3.0))
    assert_close(got.volume, box.volume, 1e-12)
    assert_close(got.centre, (100.0, -200.0, 300.0), 1e-12)
    assert_close(got.inertia, box.inertia, 1e-10)


def test_a_tetrahedron_has_the_moments_of_its_formula():
    """With corners at 0 and the unit vectors: V = 1/6, centre 1/4, integral x^2 = 1/60, integral xy = 1/120."""
    vertices = np.concatenate([np.zeros((1, 3)), np.eye(3)])
    got = polyhedron(vertices, np.array([(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]))
    K = np.full((3, 3), 1 / 120) + np.eye(3) / 120 - np.full((3, 3), 1 / 6 / 16)
    assert got.volume == pytest.approx(1 / 6, rel=1e-14)
    assert_close(got.centre, (0.25, 0.25, 0.25), 1e-14)
    assert_close(got.inertia, np.trace(K) * np.eye(3) - K, 1e-14)


def test_a_mesh_from_a_file_scaled_and_mirrored(tmp_path):
    file = write_stl(tmp_path / "box.stl", *box_mesh())
    body = gs.RigidBody.from_shape("b", "mesh", file=str(file), size=(0.1, -0.1, 0.1), density=1000.0, **PLACE)
    same = gs.RigidBody.from_shape("b", "box", size=(0.1, 0.2, 0.3), density=1000.0, **PLACE)
    assert body.mass == pytest.approx(same.mass, rel=1e-12)
    assert_close(np.array(body.com), same.com, 1e-12)
    assert_close(np.array(body.inertia), np.array(same.inertia), 1e-12)
    assert body.shapes[0].file == str(file)


def test_a_relative_mesh_is_kept_by_its_path_and_drawn(tmp_path, monkeypatch):
    from gyrostat.view.scene.mesh_places import find_mesh

    write_stl(tmp_path / "box.stl", *box_mesh())
    monkeypatch.chdir(tmp_path)
    body = gs.RigidBody.from_shape("b", "mesh", file="box.stl", density=1.0)
    monkeypatch.chdir("/")
    model = gs.assemble("m", gs.chain("world", body))
    assert find_mesh(model, "b", body.shapes[0].file)[0] == tmp_path / "box.stl"


def test_surfaces_that_bound_no_solid_are_refused():
    vertices, faces = box_mesh()
    with pytest.raises(MeshError, match=r"is not closed: 3 of 18 edges have no neighbour. Hint: fill its holes"):
        polyhedron(vertices, faces[1:])
    with pytest.raises(MeshError, match="is inside out"):
        polyhedron(vertices, faces[:, ::-1])
    turned = faces.copy()
    turned[0] = turned[0, ::-1]
    with pytest.raises(MeshError, match="is not oriented: at 3 of 18 edges"):
        polyhedron(vertices, turned)
    with pytest.raises(MeshError, match="encloses no volume"):
        polyhedron(vertices * (1, 1, 0), faces)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda f: f("b", "box", size=(1, 1, 1)), r"'b': needs density \[kg/m\^3\] or mass \[kg\], got none"),
        (lambda f: f("b", "box", size=(1, 1, 1), mass=1, density=2), "needs density .* got density 2 and mass 1"),
        (lambda f: f("b", "box", size=(1, 1, 1), density=-1), "density must be positive, got -1"),
        (lambda f: f("b", "box", size=(1, 1, 1), density=np.nan), "density must be positive, got nan"),
        (lambda f: f("b", "box", size=(1, 1, 1), mass="heavy"), "mass must be a number, got 'heavy'"),
        (lambda f: f("b", "box", size=(1, 1), mass=1), "'size' of a box must be three numbers above zero"),
        (lambda f: f("b", "bx", size=(1, 1, 1), mass=1), "'kind' is 'bx'"),
        (lambda f: f("b", 3, mass=1), "the shape must be a Shape or the name of its kind, got 3"),
        (lambda f: f("b", gs.Shape(kind="sphere", size=[1]), size=[2], mass=1), "'size' is a property of the shape"),
        (lambda f: f("b", "mesh", file="nowhere.stl", density=1), "the mesh '.*nowhere.stl' cannot be read: No such"),
        (lambda f: f("b", "sphere", size=[1], mass=1, weight=3), "rigid body 'b': has no property 'weight'"),
    ],
)  # fmt: skip
def test_what_is_no_solid_is_refused_in_our_words(make, message):
    with pytest.raises(gs.SpecError) as caught:
        make(gs.RigidBody.from_shape)
    assert re.search(message, str(caught.value)), str(caught.value)


def test_an_open_mesh_is_refused_with_its_file(tmp_path):
    vertices, faces = box_mesh()
    file = write_stl(tmp_path / "open.stl", vertices, faces[2:])
    with pytest.raises(gs.SpecError, match=r"the mesh '.*open\.stl' is not closed: 4 of 17 edges have no neighbour"):
        gs.RigidBody.from_shape("b", "mesh", file=str(file), density=1.0)
