"""One traversal: which tree a mechanism becomes, and where its loops are cut, whatever the order in its file."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gyrostat as gs
from tests.support.examples import few

Joint, Body, Shift = gs.Joint, gs.RigidBody, gs.Displacement
WHERE = (1.0, 0.0, 0.0)


def hinge(name, kind="revolute", **more):
    return Joint(name, kind, **({"axis": "z"} if kind in ("revolute", "prismatic", "cylindrical") else {}), **more)


def link(name, *frames):
    return Body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), frames=dict.fromkeys(frames or ("tip",), WHERE))


def four_bar(kinds=("revolute",) * 4, more=(), wires=()):
    joints = [hinge(f"h{k}", kind) for k, kind in enumerate(kinds)]
    bars = [link(name) for name in ("crank", "coupler", "rocker")]
    return gs.Model(
        "four_bar",
        (gs.ReferenceFrame("world"), *joints, *bars, Shift("ground", translation=WHERE), *more),
        (
            ("world.frame", "h0.a", "ground.a"), ("h0.b", "crank.origin"), ("crank.tip", "h1.a"),
            ("h1.b", "coupler.origin"), ("coupler.tip", "h2.a"), ("h2.b", "rocker.tip"), ("rocker.origin", "h3.b"),
            ("h3.a", "ground.b"), *wires,
        ),
    )  # fmt: skip


def ladder(rungs=4):
    """Two rails and rungs between them: as many loops as rungs less one."""
    names = [f"r{k}" for k in range(rungs)]
    rails = [link(name, *names) for name in ("left", "right")]
    connections = [("world.frame", "left.origin")]
    for name in names:
        connections += [(f"left.{name}", f"{name}.a"), (f"{name}.b", f"right.{name}")]
    return gs.Model("ladder", (gs.ReferenceFrame("world"), *rails, *map(hinge, names)), connections)


def braced():
    """A loop of rigid parts, and one through a connection of three ports."""
    return gs.Model(
        "braced",
        (gs.ReferenceFrame("world"), link("plate", "x", "y"), Shift("b1"), Shift("b2"), hinge("one"), hinge("two"),
         link("load")),
        (("world.frame", "plate.origin"), ("plate.x", "b1.a"), ("b1.b", "b2.a"), ("b2.b", "plate.y", "one.a", "two.a"),
         ("one.b", "two.b", "load.origin")),
    )  # fmt: skip


def driven(joint):
    return four_bar(
        more=(gs.Motor("m"), gs.Gear("g", 5.0)), wires=(("m.shaft", "g.motor"), ("g.joint", f"{joint}.shaft"))
    )


MODELS = {
    "four_bar": four_bar(),
    "driven": driven("h2"),
    "ball": four_bar(("revolute", "spherical", "revolute", "prismatic")),
    "ladder": ladder(),
    "braced": braced(),
}


def cuts(model):
    return [loop.cut[1] for loop in model.wiring.tree.loops]


def shuffled(model, rng):
    """The same mechanism, written in another order."""
    entities = [model.entities[k] for k in rng.permutation(len(model.entities))]
    for k, entity in enumerate(entities):
        if isinstance(entity, Body):
            frames = [entity.frames[i] for i in rng.permutation(len(entity.frames))]
            entities[k] = Body.model_validate(dict(entity) | {"frames": tuple(frames)})
    connections = [model.connections[k] for k in rng.permutation(len(model.connections))]
    connections = [tuple(ports[k] for k in rng.permutation(len(ports))) for ports in connections]
    return gs.Model(model.name, entities, connections)


# ------------------------------------------------------------------------------------------------ any order
@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=few(40), deadline=None)
@given(seed=st.integers(0, 2**32))
def test_the_order_in_the_file_decides_neither_the_tree_nor_the_cuts(name, seed):
    model = MODELS[name]
    other = shuffled(model, np.random.default_rng(seed))
    one, two = model.wiring.tree, other.wiring.tree
    assert one.loops == two.loops
    assert {v.entity: v for v in one.visits} == {v.entity: v for v in two.visits}
    assert one.parent == two.parent
    assert set(model.dofs) == set(other.dofs)


@pytest.mark.parametrize("name", MODELS)
def test_cutting_the_ports_leaves_a_tree(name):
    """Without the ports that are cut every entity is still reached, and nothing closes."""
    model = MODELS[name]
    cut = {tuple(port.rsplit(".", 1)) for port in cuts(model)}
    left = [tuple(p for p in group if p not in cut) for group in model.wiring.groups]
    opened = gs.Model("open", model.entities, [tuple(map(".".join, group)) for group in left if len(group) > 1])
    assert opened.wiring.tree.loops == ()
    tree = model.wiring.tree
    assert {k: v for k, v in opened.wiring.tree.parent.items() if k not in tree.left_out} == tree.parent
    assert len(cut) == len(model.wiring.tree.loops) > 0


# ------------------------------------------------------------------------------------------------ the rule
def test_a_loop_is_cut_far_from_the_reference_frame():
    assert cuts(four_bar()) == ["h2.a"]  # as far as h1, and later in the alphabet


def test_a_joint_that_is_driven_is_not_cut():
    assert cuts(driven("h2")) == ["h1.b"]
    assert cuts(driven("h1")) == ["h2.a"]


def test_if_all_joints_are_driven_one_of_them_is_cut():
    more = [gs.Motor(f"m{k}") for k in range(4)]
    model = four_bar(more=more, wires=[(f"m{k}.shaft", f"h{k}.shaft") for k in range(4)])
    assert cuts(model) == ["h2.a"]


@pytest.mark.parametrize("k", range(4))
def test_the_joint_with_most_rates_is_cut(k):
    kinds = ["spherical" if i == k else "cylindrical" for i in range(4)]
    (cut,) = cuts(four_bar(kinds))
    assert cut.startswith(f"h{k}.")


def test_rigid_entities_are_cut_only_where_no_joint_is():
    assert [loop.cut for loop in braced().wiring.tree.loops] == [("b1.b", "b2.a"), ("one.b", "two.b")]


def test_of_a_ladder_all_rungs_but_the_first_are_cut():
    assert [port.partition(".")[0] for port in cuts(ladder())] == ["r1", "r2", "r3"]


def test_a_loop_names_its_entities_from_where_the_ways_part():
    (loop,) = four_bar().wiring.tree.loops
    assert loop.entities == ("world", "h0", "crank", "h1", "coupler", "h2", "rocker", "h3", "ground")
    assert str(loop).endswith("(closed by coupler.tip - h2.a)")


# ------------------------------------------------------------------------------------------------ trees
def test_on_trees_the_state_keeps_the_order_of_the_file_parents_first():
    """Whatever the connections: joints in file order, unless one hangs on a later one."""
    joints = [hinge(name) for name in ("c", "a", "b")]
    model = gs.Model(
        "tree",
        (gs.ReferenceFrame("world"), *joints, *(link(f"l{n}") for n in "abc")),
        (("world.frame", "a.a", "c.a"), ("a.b", "la.origin"), ("la.tip", "b.a"), ("b.b", "lb.origin"),
         ("c.b", "lc.origin")),
    )  # fmt: skip
    assert model.dofs == ("c", "a", "b")
    later = gs.Model("tree", (model.entities[0], joints[2], *joints[:2], *model.entities[4:]), model.connections)
    assert later.dofs == ("a", "b", "c")


def test_forces_between_frames_hang_on_their_first_frame_and_close_no_loop():
    spring = gs.PointSpring("s", stiffness=1.0)
    model = gs.assemble("sprung", gs.chain("world", hinge("j"), link("arm")), spring,
                        gs.connect("arm.tip", "s.a"), gs.connect("world", "s.b"))  # fmt: skip
    tree = model.wiring.tree
    assert tree.loops == ()
    assert tree.beside == {"s": "arm"}
    assert [v.entity for v in tree.visits] == ["world", "j", "arm"]
    assert list(tree.parent)[-1] == "s"


def test_networks_state_and_files_use_one_tree():
    """Component order, parents and the state follow the same visits."""
    model = ladder(1)
    net = gs.network(model, rules=())
    assert [c.name for c in net.components] == [v.entity for v in model.wiring.tree.visits]
    assert [c.met or None for c in net.components] == [v.inport for v in model.wiring.tree.visits]


def test_parents_come_before_what_they_carry():
    for model in MODELS.values():
        rank = {name: k for k, name in enumerate(model.wiring.tree.parent)}
        assert all(rank[parent] <= rank[name] for name, parent in model.wiring.tree.parent.items())
        assert list(itertools.islice(rank, 1)) == ["world"]
