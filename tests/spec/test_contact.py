"""Contact entities: where they stand, what edits and files make of them."""

import pickle

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.graph.contacts import contact_candidates
from gyrostat.io.yaml.read import from_text
from gyrostat.io.yaml.write import to_text
from gyrostat.view.scene.scene import scene
from tests.support.surface_models import ball_on, shape


def biped(**law):
    """A trunk with two legs, one of them an assembly."""

    def rod(name):
        return gs.RigidBody(name, mass=1.0, com=(0, 0, -0.2), inertia=(0.1, 0.1, 0.01), frames={"tip": (0, 0, -0.4)})

    leg = gs.assembly(
        "leg", gs.Joint("knee", "revolute", axis="y"), rod("shin"), gs.ContactPoint("toe"),
        gs.connect("knee.b", "shin"),
        gs.connect("shin.tip", "toe.frame"), gs.ContactPair("toe", "floor", friction=0.9), exposes={"top": "knee.a"},
    )  # fmt: skip
    trunk = gs.RigidBody("trunk", mass=5.0, inertia=(1, 1, 1), shapes=[shape("box")])
    foot = gs.ContactPoint("foot", radius=0.05)
    return gs.assemble(
        "biped", gs.chain("world", gs.Joint("flight", "free"), trunk),
        gs.chain("trunk", gs.Joint("hip", "revolute", axis="y"), rod("thigh"), "tip", foot),
        leg, gs.connect("trunk", "leg.top"), gs.Ground("floor", friction=(0.8, 0.6), **law),
        gs.ContactPair("leg", "thigh", exclude=True), gs.ContactPair("foot", "trunk", restitution=0.2),
    )  # fmt: skip


def names(model):
    return [c.name for c in contact_candidates(model)]


def test_a_ground_alone_stands_in_the_world():
    model = ball_on()
    gs.check(model)
    assert model.wiring.tree.parent["floor"] == "world"
    assert dict((row[0], row[2]) for row in model.rows())["floor"] == "world"


@pytest.mark.parametrize("model", [biped(), biped(stiffness=1e4, damping=0.2)])
def test_text_and_pickles_keep_everything(model):
    assert from_text(to_text(model)) == model
    assert to_text(model).startswith("gyrostat: 4\n")
    assert names(pickle.loads(pickle.dumps(model))) == names(model)


def test_a_law_on_a_shape_needs_version_4():
    text = to_text(ball_on(friction=0.5)).replace(
        "role: collision", "role: collision\n        contact: {friction: 0.5}"
    )
    assert from_text(text)["ball"].shapes[0].contact.friction == 0.5
    body = text[text.index("  - rigid_body") : text.index("  - ground")]
    assert "contact" in body
    with pytest.raises(
        gs.SpecError, match=r"the property 'shapes.0.contact' came with version 4, the file says version 1"
    ):
        from_text(text.replace("gyrostat: 4", "gyrostat: 1"))


def test_a_model_without_contact_is_stored_as_before():
    model = gs.assemble(
        "m",
        gs.chain(
            "world",
            gs.Joint("j", "revolute", axis="x"),
            gs.RigidBody("b", mass=1.0, com=(0, 1, 0), shapes=[shape("box")]),
        ),
    )
    assert to_text(model).startswith("gyrostat: 1\n")


# ------------------------------------------------------------------------------------------------ solvers
def test_rigid_contact_changes_no_solver_of_the_tree():
    with_contact, q = biped(), None
    entities = [e for e in with_contact.entities if not isinstance(e, gs.Ground | gs.ContactPair)]
    bare = (
        gs.Model("bare", tuple(entities), with_contact.connections, with_contact.context)
        .detach("leg.toe")
        .detach("foot")
    )
    rng = np.random.default_rng(0)
    q, v, a = gs.random_configuration(bare, rng), rng.normal(size=bare.nv), rng.normal(size=bare.nv)
    for solve in (gs.rnea, gs.aba):
        assert np.array_equal(solve(bare, q, v, a), solve(with_contact, q, v, a))
    assert np.array_equal(gs.crba(bare, q), gs.crba(with_contact, q))


def test_contact_points_are_frames():
    model = biped()
    q = gs.random_configuration(model, 1)
    frames = gs.fk(model, q)
    assert np.allclose(frames["foot"].p, frames["thigh.tip"].p) and np.allclose(
        frames["leg.toe"].p, frames["leg.shin.tip"].p
    )
    assert np.allclose(gs.jacobian(model, q, "foot", "aligned"), gs.jacobian(model, q, "thigh.tip", "aligned"))


@pytest.mark.parametrize("base", ["fixed", "free", gs.HarmonicMotion(amplitude=(0, 0, 0.1), frequency=1.0)])
def test_models_with_contact_are_drawn_and_told(base):
    model = biped().replace({"context.base": base}) if base != "free" else ball_on().replace({"context.base": base})
    assert "floor" in gs.diagram(model) and "floor" in str(model) and "ground" in repr(model)
    assert all(link.name != "floor" for link in scene(model).links)


# ------------------------------------------------------------------------------------------------ edits
def test_pairs_follow_new_names():
    model = biped().rename("leg", "left").rename("left.toe", "claw").rename("floor", "lawn")
    said = {name: e.sides for name, e in model.wiring.entities.items() if isinstance(e, gs.ContactPair)}
    assert said == {"left.toe_floor": ("claw", "lawn"), "leg_thigh": ("left", "thigh"), "foot_trunk": ("foot", "trunk")}
    assert next(c.law for c in contact_candidates(model) if c.name == "left.claw|lawn").mu_static == 0.9


def test_points_and_pairs_go_with_what_carries_them():
    model = biped().detach("hip")
    assert not {"foot", "foot_trunk", "leg_thigh"} & set(model.wiring.entities) and "floor" in model.wiring.entities
    assert [n.split("|")[1] for n in names(model)] == ["floor"] * 9


def test_what_pairs_speak_of_is_not_removed_without_them():
    with pytest.raises(gs.SpecError, match=r"remove 'foot': 'foot_trunk' depends on it. Hint: model.detach\('foot'\)"):
        biped().remove("foot")
    assert "foot" not in biped().remove("foot_trunk").remove("foot").wiring.entities


def test_a_second_robot_brings_its_ground_to_where_it_is_mounted():
    table = gs.assemble("table", gs.Ground("top", friction=0.3), gs.chain("world", gs.RigidBody("plate", mass=1.0)))
    model = biped().attach(table, "trunk", at=(0, 0, 0.5), prefix="t_")
    assert ("t_table.b", "t_top.frame") in model.connections
    assert np.allclose(gs.fk(model, gs.neutral(model))["t_top"].p, [0, 0, 0.5])


def test_a_ground_inside_an_assembly_cannot_be_brought_along():
    inner = gs.assembly("inner", gs.Ground("top"), gs.RigidBody("plate", mass=1.0), exposes={"at": "plate.origin"})
    table = gs.assemble("table", inner, gs.connect("world", "inner.at"))
    with pytest.raises(gs.SpecError, match=r"'inner.top' stands by itself inside an assembly"):
        biped().attach(table, "trunk")


# ------------------------------------------------------------------------------------------------ with_ground
def test_with_ground_adds_a_floor_and_points():
    arm = gs.robots.puma560()
    port = next(f"{e.name}.origin" for e in reversed(arm.entities) if isinstance(e, gs.RigidBody))
    model = arm.with_ground(friction=0.7, restitution=0.1, points=[port], radius=0.02)
    (found,) = contact_candidates(model)
    assert found.name == f"{port.replace('.', '_')}_point|ground" and (found.law.mu_static, found.law.restitution) == (
        0.7,
        0.1,
    )
    named = arm.with_ground("table", at=(0, 0, -0.5), points={"hand": port})
    assert names(named) == ["hand|table"] and contact_candidates(named)[0].b.port == "table.frame"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"points": "trunk"}, r"points must be a list of ports, got 'trunk'. Hint: write points="),
        ({"points": ["nose"]}, r"with_ground: points 'nose': there is no entity 'nose'"),
        ({"points": ["hip.shaft"]}, r"'hip.shaft' is a shaft. Hint: name frames of bodies"),
        (
            {"points": ["leg.shin.tip"]},
            r"'leg.shin.tip' is inside the assembly 'leg'. Hint: attach a ContactPoint there",
        ),
        ({"name": "floor"}, r"the name 'floor' is in use already. Hint: choose another one"),
        ({"friction": -1.0}, r"ground 'ground': 'friction' must not be negative"),
        ({"grip": 1.0}, r"ground 'ground': has no property 'grip'"),
    ],
)
def test_what_with_ground_refuses(options, message):
    with pytest.raises(gs.SpecError, match=message):
        biped().with_ground(**options)


def test_with_ground_at_a_place_needs_a_base_that_stands():
    with pytest.raises(gs.SpecError, match="'at' is given, but the reference frame moves with the base"):
        ball_on().replace({"context.base": "free"}).with_ground("lawn", at=(0, 0, 1))


def test_contact_is_told_when_urdf_is_written(tmp_path):
    lost = gs.save(gs.robots.puma560().with_ground(friction=0.5), tmp_path / "x.urdf")
    assert [p.message for p in lost if p.entity == "ground 'ground'"] == ["contact cannot be said"]
