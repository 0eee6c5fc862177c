"""Nearest points: coal where there is no closed form, equal to closed forms where there is one."""

import sys
from dataclasses import replace

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algorithms.contact.nearest_points import nearest_points
from gyrostat.errors import GyrostatError
from gyrostat.graph.contacts import contact_candidates
from tests.support.surface_models import SIZES, flying, shape


@pytest.fixture(scope="module")
def scene():
    pytest.importorskip("coal")
    rng = np.random.default_rng(5)
    bodies = [flying(kind, shape(kind, rng)) for kind in SIZES]
    model = gs.assemble("scene", *bodies, gs.Ground("floor"), gs.ContactPair("*", "*"))
    return model, gs.random_configuration(model, rng, (25,))


def test_gaps_normals_and_points_belong_together(scene):
    model, q = scene
    found = nearest_points(model, q)
    assert found.gaps.shape == (25, len(contact_candidates(model))) and found.near.all()
    along = np.einsum("...i,...i", found.normals, found.on_a - found.on_b)
    assert np.abs(along - found.gaps).max() < 1e-9
    assert np.abs(np.linalg.norm(found.normals, axis=-1) - 1.0).max() < 1e-12
    assert (found.gaps < 0).any() and (found.gaps > 0).any()


def test_closed_forms_are_what_coal_finds(scene):
    model, q = scene
    kinds = ("sphere", "capsule", "ellipsoid")
    closed = [c for c in contact_candidates(model) if c.closed_form and c.a.kind in kinds]
    assert {(c.a.kind, c.b.kind) for c in closed} >= {
        ("sphere", "plane"),
        ("ellipsoid", "plane"),
        ("sphere", "capsule"),
    }
    one = nearest_points(model, q, closed)
    two = nearest_points(model, q, [replace(c, closed_form=False) for c in closed])
    assert np.abs(one.gaps - two.gaps).max() < 1e-10 and np.abs(one.normals - two.normals).max() < 1e-7


def test_the_lowest_feature_on_a_plane_is_what_coal_finds_for_the_whole_shape(scene):
    model, q = scene
    for kind in ("box", "cylinder", "capsule"):
        features = [c for c in contact_candidates(model) if c.surfaces[0].name == kind and c.b.kind == "plane"]
        whole = replace(features[0].a, kind=kind, size=SIZES[kind])
        own = next(s for s in model[kind].shapes)
        middle = np.mean([c.a.p for c in features], axis=0)
        assert np.allclose(middle, own.translation)
        coal = nearest_points(model, q, [replace(features[0], a=replace(whole, p=middle), closed_form=False)])
        assert np.abs(nearest_points(model, q, features).gaps.min(axis=1) - coal.gaps[:, 0]).max() < 1e-10


def test_pairs_that_are_far_apart_are_left_to_their_spheres(scene):
    model, q = scene
    near, all_of_them = nearest_points(model, q, within=0.2), nearest_points(model, q)
    assert not near.near.all() and np.all(near.gaps <= all_of_them.gaps + 1e-9)
    assert np.allclose(near.gaps[near.near], all_of_them.gaps[near.near])


def test_a_single_state_has_no_batch_axis(scene):
    model, q = scene
    assert nearest_points(model, q[0]).gaps.shape == (len(contact_candidates(model)),)
    assert np.allclose(nearest_points(model, q[0]).gaps, nearest_points(model, q).gaps[0])


def test_without_coal_one_sentence_tells(monkeypatch):
    model = gs.assemble("m", flying("a", shape("box")), flying("b", shape("box")), gs.ContactPair("a", "b"))
    monkeypatch.setitem(sys.modules, "coal", None)
    with pytest.raises(GyrostatError, match=r"need the package coal. Hint: pip install 'gyrostat\[collision\]'"):
        nearest_points(model, gs.neutral(model))


def test_a_mesh_that_is_not_there_is_told():
    pytest.importorskip("coal")
    mesh = gs.Shape(kind="mesh", file="nowhere.stl", role="collision")
    model = gs.assemble("m", flying("a", mesh), gs.Ground("g"))
    with pytest.raises(GyrostatError, match=r"contact 'a\|g': the mesh of 'a' cannot be read. Hint: gs.audit"):
        nearest_points(model, gs.neutral(model))


def test_a_mesh_touches_by_its_hull(tmp_path):
    pytest.importorskip("coal")
    trimesh = pytest.importorskip("trimesh")
    trimesh.creation.box(extents=(0.2, 0.4, 0.6)).export(tmp_path / "box.stl")
    mesh = gs.Shape(kind="mesh", file=str(tmp_path / "box.stl"), role="collision")
    model = gs.assemble("m", flying("a", mesh), flying("b", shape("sphere")), gs.ContactPair("a", "b"))
    q = gs.neutral(model)
    q[9] = 0.7
    assert np.isclose(nearest_points(model, q).gaps[0], 0.7 - 0.3 - 0.1)
