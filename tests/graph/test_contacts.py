"""Contact candidates: which surfaces may touch, what they are on a plane, and by which law."""

from dataclasses import replace

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.errors import ModelWarning
from gyrostat.graph.contacts import contact_candidates
from tests.support.surface_models import flying, shape


def names(model):
    return [c.name for c in contact_candidates(model)]


def law(model, name):
    return next(c.law for c in contact_candidates(model) if c.name == name)


def arm(*more, shapes=True):
    """Three links in a row, the first two joined by one joint, the last two by two."""

    def link(name):
        return gs.RigidBody(
            name, mass=1.0, inertia=(1.0,) * 3, frames={"tip": (0, 0, 1)}, shapes=[shape("sphere")] * shapes
        )

    joints = [gs.Joint(f"j{k}", "revolute", axis="xyzx"[k]) for k in range(4)]
    return gs.assemble(
        "arm",
        gs.chain("world", joints[0], link("one"), joints[1], link("two"), joints[2], joints[3], link("three")),
        *more,
    )


ALL = gs.ContactPair("*", "*")


# ------------------------------------------------------------------------------------------------ which
def test_shapes_alone_touch_nothing():
    assert not contact_candidates(arm())


def test_everything_touches_a_ground():
    model = arm(gs.Ground("floor"), gs.ContactPoint("p"), gs.connect("three.tip", "p.frame"))
    assert names(model) == ["one|floor", "two|floor", "three|floor", "p|floor"]


def test_what_is_fixed_to_a_ground_does_not_touch_it():
    post = gs.RigidBody("post", mass=1.0, shapes=[shape("sphere")])
    assert names(arm(post, gs.connect("world", "post"), gs.Ground("floor"))) == [
        "one|floor",
        "two|floor",
        "three|floor",
    ]
    assert names(arm(gs.Ground("tray"), gs.connect("two.tip", "tray.frame"))) == ["one|tray", "three|tray"]


def test_a_free_base_touches_a_ground_in_the_world_but_not_one_on_itself():
    body = gs.RigidBody("body", mass=1.0, inertia=(1.0,) * 3, shapes=[shape("sphere")])
    model = gs.assemble("m", gs.chain("world", body), gs.Ground("floor"), base="free")
    assert names(model) == ["body|floor"] and contact_candidates(model)[0].b.port == ""
    assert names(gs.assemble("m", gs.chain("world", body), gs.chain("world", gs.Ground("floor")), base="free")) == []


def test_neighbours_touch_only_by_name():
    """One joint joins one and two, and two joints without a body between them join two and three."""
    assert names(arm(ALL)) == ["one|three"]
    assert names(arm(ALL, gs.ContactPair("one", "two"))) == ["one|two", "one|three"]


def test_bodies_that_fly_are_no_neighbours_of_what_stands():
    post = gs.RigidBody("post", mass=1.0, shapes=[shape("sphere")])
    model = gs.assemble(
        "m", flying("a", shape("sphere")), flying("b", shape("sphere")), post, gs.connect("world", "post"), ALL
    )
    assert names(model) == ["a|b", "a|post", "b|post"]


def test_excluded_pairs_are_none():
    assert names(arm(ALL, gs.ContactPair("three", "one", exclude=True))) == []
    assert names(arm(gs.Ground("g"), gs.ContactPair("one", "g", exclude=True))) == ["two|g", "three|g"]


def test_the_more_exact_name_counts_then_the_later_one():
    model = arm(gs.Ground("g"), gs.ContactPair("*", "g", friction=0.1), gs.ContactPair("one", "g", friction=0.2))
    assert (law(model, "one|g").mu_static, law(model, "two|g").mu_static) == (0.2, 0.1)
    other = arm(gs.Ground("g"), gs.ContactPair("one", "g", friction=0.2), gs.ContactPair("*", "g", friction=0.1))
    assert law(other, "one|g").mu_static == 0.2
    later = arm(
        gs.Ground("g"), gs.ContactPair("one", "g", friction=0.2), gs.ContactPair("g", "one", friction=0.3, name="x")
    )
    assert law(later, "one|g").mu_static == 0.3


@pytest.mark.parametrize(
    ("one", "two", "touch"),
    [((1, 1), (1, 1), True), ((1, 0), (0, 1), True), ((1, 0), (1, 0), False), ((2, 2), (1, 1), False)],
)
def test_layers_decide_unless_a_pair_names_both(one, two, touch):
    shapes = [
        gs.Shape(kind="sphere", size=[0.1], contact=gs.ContactSurface(layers=layers, touches=touches))
        for layers, touches in (one, two)
    ]
    parts = flying("a", shapes[0]), flying("b", shapes[1])
    assert names(gs.assemble("m", *parts, ALL)) == ["a|b"] * touch
    assert names(gs.assemble("m", *parts, gs.ContactPair("a", "b"))) == ["a|b"]
    ground = gs.Ground("g", layers=two[0], touches=two[1])
    assert names(gs.assemble("m", parts[0], ground)) == ["a|g"] * touch


def test_points_do_not_touch_points():
    parts = [gs.ContactPoint("p"), gs.ContactPoint("r", radius=0.1), gs.ContactPoint("s")]
    model = arm(
        *parts,
        *(gs.connect(f"{x}.origin", p.name) for x, p in zip(("one", "three", "three"), parts, strict=True)),
        ALL,
        shapes=False,
    )
    assert names(model) == ["p|r"]


def test_inside_assemblies_own_names_come_first():
    foot = gs.assembly(
        "foot", gs.RigidBody("sole", mass=1.0), gs.ContactPoint("toe"), gs.connect("sole", "toe.frame"),
        gs.ContactPair("toe", "floor", friction=0.7), exposes={"top": "sole.origin"},
    )  # fmt: skip
    model = arm(foot, gs.connect("three.tip", "foot.top"), gs.Ground("floor"), shapes=False)
    assert names(model) == ["foot.toe|floor"] and law(model, "foot.toe|floor").mu_static == 0.7
    whole = arm(
        foot, gs.connect("three.tip", "foot.top"), gs.Ground("floor"), gs.ContactPair("foot", "floor", exclude=True)
    )
    assert names(whole) == ["one|floor", "two|floor", "three|floor", "foot.toe|floor"]  # the exact one counts


# ------------------------------------------------------------------------------------------------ surfaces
@pytest.mark.parametrize(
    ("kind", "features"),
    [
        ("sphere", {"sphere": 1}),
        ("capsule", {"sphere": 2}),
        ("box", {"point": 8}),
        ("cylinder", {"rim": 2, "point": 8}),
        ("ellipsoid", {"ellipsoid": 1}),
    ],
)
def test_what_shapes_are_on_a_plane(kind, features):
    found = contact_candidates(gs.assemble("m", flying("a", shape(kind)), gs.Ground("g")))
    assert {sort: sum(c.a.kind == sort for c in found) for sort in features} == features and len(found) == sum(
        features.values()
    )
    assert all(c.closed_form for c in found) and len({c.name for c in found}) == len(found)


@pytest.mark.parametrize("kind", ["box", "cylinder", "capsule", "ellipsoid", "sphere"])
def test_closed_forms_among_bodies_are_those_of_spheres_and_capsules(kind):
    model = gs.assemble("m", flying("a", shape("capsule")), flying("b", shape(kind)), gs.ContactPair("a", "b"))
    (found,) = contact_candidates(model)
    assert found.closed_form == (kind in ("sphere", "capsule"))


def test_shapes_are_called_by_their_names_or_numbers():
    shapes = [shape("sphere"), replace_name(shape("sphere"), "heel"), shape("sphere")]
    assert names(gs.assemble("m", flying("a", *shapes), gs.Ground("g"))) == ["a.0|g", "a.heel|g", "a.2|g"]


def replace_name(of, name):
    return of.model_copy(update={"name": name})


@pytest.fixture
def cube(tmp_path):
    """A cube of two metres as OFF file."""
    corners = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    faces = [
        (0, 1, 3),
        (0, 3, 2),
        (4, 6, 7),
        (4, 7, 5),
        (0, 4, 5),
        (0, 5, 1),
        (2, 3, 7),
        (2, 7, 6),
        (0, 2, 6),
        (0, 6, 4),
        (1, 5, 7),
        (1, 7, 3),
    ]
    lines = ["OFF", "8 12 0", *(" ".join(map(str, c)) for c in corners), *(f"3 {a} {b} {c}" for a, b, c in faces)]
    (tmp_path / "cube.off").write_text("\n".join(lines) + "\n")
    return tmp_path / "cube.off"


def test_a_mesh_is_its_vertices_on_a_plane(cube):
    pytest.importorskip("trimesh")
    mesh = gs.Shape(kind="mesh", file=str(cube), size=[0.1, 0.2, 0.3], role="collision")
    found = contact_candidates(gs.assemble("m", flying("a", mesh), gs.Ground("g")))
    assert len(found) == 8 and all(c.closed_form for c in found)
    assert np.allclose(np.sort(np.abs([c.a.p for c in found]).max(axis=0)), [0.1, 0.2, 0.3])


def test_a_mesh_that_is_not_there_has_no_closed_form():
    mesh = gs.Shape(kind="mesh", file="nowhere.stl", role="collision")
    (found,) = contact_candidates(gs.assemble("m", flying("a", mesh), gs.Ground("g")))
    assert not found.closed_form and found.a.kind == "mesh"


def test_a_fine_mesh_is_told(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    trimesh.creation.icosphere(subdivisions=3, radius=1.0).export(tmp_path / "ball.stl")
    mesh = gs.Shape(kind="mesh", file=str(tmp_path / "ball.stl"), role="collision")
    with pytest.warns(ModelWarning, match=r"contact of 'a': its mesh is \d+ points on a plane, at most 64 are taken"):
        found = contact_candidates(gs.assemble("m", flying("a", mesh), gs.Ground("g")))
    assert 40 < len(found) <= 64 and all(np.isclose(np.linalg.norm(c.a.p), 1.0) for c in found)


# ------------------------------------------------------------------------------------------------ laws
def test_the_usual_law_is_rigid_and_without_friction():
    found = law(arm(gs.Ground("g")), "one|g")
    assert (found.mu_static, found.mu_dynamic, found.restitution, found.stiffness) == (0.0, 0.0, 0.0, None)


def test_the_larger_of_both_sides_counts_and_none_is_the_other_side():
    parts = gs.ContactPoint("p", friction=(0.9, 0.2), restitution=0.1), gs.connect("three.tip", "p.frame")
    found = law(arm(gs.Ground("g", friction=0.5, restitution=0.6, rolling=0.01), *parts), "p|g")
    assert (found.mu_static, found.mu_dynamic, found.restitution, found.rolling) == (0.9, 0.5, 0.6, 0.01)
    assert all(type(x) is float for x in (found.mu_static, found.mu_dynamic, found.restitution))


def test_two_compliant_surfaces_are_springs_in_a_row():
    parts = gs.ContactPoint("p", stiffness=2e4, damping=0.3), gs.connect("three.tip", "p.frame")
    found = law(arm(gs.Ground("g", stiffness=6e4, damping=0.1), *parts), "p|g")
    assert np.isclose(found.stiffness, 1.5e4) and np.isclose(found.damping, (6 * 0.3 + 2 * 0.1) / 8)


def test_a_copy_of_a_model_finds_its_own_candidates():
    model = arm(gs.Ground("g", friction=0.5))
    assert law(model, "one|g").mu_static == 0.5
    assert law(model.replace({"g.friction": 0.7}), "one|g").mu_static == 0.7
    assert law(replace(model, entities=model.entities), "one|g").mu_static == 0.5


def test_a_body_with_a_shape_that_nothing_connects_is_named():
    body = gs.RigidBody("ball", mass=2.0, shapes=[gs.Shape(kind="sphere", size=(0.1,), role="collision")])
    model = gs.assemble("loose", body, gs.Ground("floor"), base="free")
    with pytest.raises(gs.SpecError, match="'ball': cannot be reached"):
        gs.simulate(model, None, gs.neutral(model), t_end=0.1)
