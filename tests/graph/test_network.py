"""From ports and connections to a network: connectivity, causality, loops, and the rewriting rules."""

from __future__ import annotations

import itertools
import time
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gyrostat as gs
from gyrostat.graph.rewrite import DEFAULT, RULES
from gyrostat.spec.spanning_tree import Visit
from tests.support.comparing import assert_close
from tests.support.examples import few
from tests.support.random_models import random_state, random_wrenches, various_tree

Joint, Body, Shift = gs.Joint, gs.RigidBody, gs.Displacement


def link(name, **frames):
    """A body that is lopsided enough for mistakes to show."""
    J = ((0.30, 0.02, -0.01), (0.02, 0.25, 0.03), (-0.01, 0.03, 0.20))
    return Body(name, mass=1.3, com=(0.1, -0.2, 0.15), inertia=J, momentum=(0.1, 0.2, -0.3), frames=frames)


def hinge(name, axis="z"):
    return Joint(name, "revolute", axis=axis)


def shift(name, *translation):
    return Shift(name, translation=translation or (0.3, -0.2, 0.4), rotation=gs.rpy(0.3, -0.5, 0.7))


def names(net):
    return {component.name for component in net.components}


def one(net, name):
    (found,) = (component for component in net.components if component.name == name)
    return found


# ------------------------------------------------------------------------------------------------ connectivity
def test_the_connectivity_of_the_printed_example_is_the_printed_matrix():
    """H04 Figure 2.12 (b): a base and two entities of two ports in a row; the last port is open."""
    told = gs.connectivity(gs.assemble("example", gs.chain("world", hinge("one"), hinge("two"))))
    assert told.ports == ("world.frame", "one.a", "one.b", "two.a", "two.b")
    assert np.array_equal(told.C, [[0, 1, 0, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 1, 0], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]])
    assert np.array_equal(told.PE, [[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]])
    assert np.array_equal(told.C_plus, [[0, 1, 0], [1, 0, 1], [0, 1, 0]])


def test_three_ports_in_one_connection_are_connected_with_each_other():
    model = gs.assemble("star", hinge("a"), hinge("b"), gs.connect("world", "a.a", "b.a"))
    told = gs.connectivity(model)
    assert told.ports == ("world.frame", "a.a", "a.b", "b.a", "b.b")
    expected = np.zeros((5, 5))
    for i, j in itertools.permutations((0, 1, 3), 2):
        expected[i, j] = 1
    assert np.array_equal(told.C, expected)
    assert np.array_equal(told.C_plus, np.ones((3, 3)) - np.eye(3))


def test_connections_are_transitive_however_they_are_written():
    parts = hinge("a"), hinge("b"), hinge("c")
    at_once = gs.assemble("star", *parts, gs.connect("world", "a.a", "b.a", "c.a"))
    pairs = gs.assemble("star", *parts, gs.connect("world", "a.a"), gs.connect("c.a", "b.a"), gs.connect("b.a", "a.a"))
    assert np.array_equal(gs.connectivity(at_once).C, gs.connectivity(pairs).C)


def test_shafts_are_not_part_of_the_spatial_connectivity():
    told = gs.connectivity(gs.robots.pendulum())
    assert told.ports == ("world.frame", "hinge.a", "hinge.b", "rod.origin", "rod.tip")
    assert [told.ports[k] for k in range(5) if not told.C[k].any()] == ["rod.tip"]


def test_a_model_without_connections_has_no_connectivity():
    told = gs.connectivity(gs.Model("empty", (gs.ReferenceFrame("world"),)))
    assert told.C.shape == (1, 1)
    assert not told.C.any()


# ------------------------------------------------------------------------------------------------ causality
def test_causality_goes_depth_first_from_the_reference_frame():
    parts = [hinge("left"), link("arm", tip=(0, 0, 1)), hinge("right"), link("leg"), hinge("wrist", "x"), link("hand")]
    model = gs.assemble("tree", *parts, gs.connect("world", "left.a", "right.a"), gs.connect("left.b", "arm.origin"),
                        gs.connect("arm.tip", "wrist.a"), gs.connect("wrist.b", "hand.origin"),
                        gs.connect("right.b", "leg.origin"))  # fmt: skip
    tree = model.wiring.tree
    assert list(tree.visits) == [
        Visit("world", None, None),
        Visit("left", "a", "world.frame"),
        Visit("arm", "origin", "left.b"),
        Visit("wrist", "a", "arm.tip"),
        Visit("hand", "origin", "wrist.b"),
        Visit("right", "a", "world.frame"),
        Visit("leg", "origin", "right.b"),
    ]
    assert tree.loops == ()


def test_the_first_outport_feeds_every_other_port_of_its_connection():
    model = gs.assemble("star", hinge("j"), link("one"), link("two"), link("three"), gs.connect("world", "j.a"),
                        gs.connect("one.origin", "two.origin", "j.b", "three.origin"))  # fmt: skip
    net = gs.network(model, rules=())
    number = {name: k for k, name in enumerate(net.ports)}
    fed = [number[f"{name}.origin"] for name in ("one", "two", "three")]
    assert net.feeds[number["j.b"]] == tuple(fed)
    assert all(net.source[k] == number["j.b"] for k in fed)
    assert [net.components[net.owner[k]].name for k in fed] == ["one", "two", "three"]
    assert net.feeds[number["world.frame"]] == (number["j.a"],)


def test_entities_met_from_the_far_side_are_entered_there():
    joint, offset = Joint("j", "cylindrical", axis="z"), shift("d")
    body = link("body", tip=((0.5, 0.1, -0.2), gs.rpy(0.2, 0.3, 0.4)))
    model = gs.assemble("far", gs.chain("world", ("b", offset), "a", ("b", joint), "a", ("tip", body)))
    net = gs.network(model, rules=())
    assert [net.ports[c.inport] for c in net.components[1:]] == ["d.b", "j.b", "body.tip"]
    assert [list(c.outports) for c in net.components] == [["frame"], ["a"], ["a"], ["origin"]]
    assert one(net, "j")["far"] is True
    # the displacement is inverted, and the body's data are written in the frame of its tip
    near = gs.network(gs.assemble("near", gs.chain("world", offset, joint, body)), rules=())
    R, p = one(near, "d").places["b"]
    assert_close(one(net, "d").places["a"][0], R.T, 1e-15)
    assert_close(one(net, "d").places["a"][1], -R.T @ p, 1e-15)
    tip, inertia = one(near, "body").places["tip"], np.array(body.inertia)
    assert_close(one(net, "body")["com"], tip[0].T @ (np.array(body.com) - tip[1]), 1e-15)
    assert_close(one(net, "body")["inertia"], tip[0].T @ inertia @ tip[0], 1e-15)
    assert_close(one(net, "body")["momentum"], tip[0].T @ np.array(body.momentum), 1e-15)


def test_the_order_of_the_file_does_not_matter_for_what_feeds_what():
    model = gs.robots.tree(5, bodies=6, reversed_share=0.4)
    shuffled = gs.Model(
        model.name, model.entities[::-1], tuple(c[::-1] for c in model.connections[::-1]), model.context
    )

    def flows(net):
        return {(net.ports[i], net.ports[o]) for i, o in net.source.items()}

    assert flows(gs.network(model, rules=())) == flows(gs.network(shuffled, rules=()))


def test_components_know_their_part_of_the_state():
    model = gs.assemble("mixed", gs.chain("world", Joint("ball", "spherical"), link("one"), hinge("knee"), link("two")),
                        base="free")  # fmt: skip
    net = gs.network(model)
    assert (one(net, "world").q_at, one(net, "world").v_at) == (slice(0, 7), slice(0, 6))
    assert (one(net, "ball").q_at, one(net, "ball").v_at) == (slice(7, 11), slice(6, 9))
    assert (one(net, "knee").q_at, one(net, "knee").v_at) == (slice(11, 12), slice(9, 10))
    assert one(net, "two").v_at == slice(0, 0)
    assert (model.nq, model.nv) == (12, 10)


# ------------------------------------------------------------------------------------------------ loops
def four_bar():
    bars = [link(name, tip=(1.0, 0, 0)) for name in ("crank", "coupler", "rocker")]
    return gs.assemble(
        "four_bar", *(hinge(f"h{k}") for k in range(4)), *bars, Shift("ground", translation=(1, 0, 0)),
        gs.connect("world", "h0.a", "ground.a"), gs.connect("h0.b", "crank.origin"), gs.connect("crank.tip", "h1.a"),
        gs.connect("h1.b", "coupler.origin"), gs.connect("coupler.tip", "h2.a"), gs.connect("h2.b", "rocker.tip"),
        gs.connect("rocker.origin", "h3.b"), gs.connect("h3.a", "ground.b"),
    )  # fmt: skip


def independent_loops(model):
    """Edges - nodes + 1 of the graph whose nodes are entities and connections, and whose edges are connected ports."""
    groups = model.wiring.groups
    return sum(len(group) for group in groups) - len(groups) - len(model.wiring.entities) + 1


def as_constraints(model):
    return gs.Model(model.name, model.entities, model.connections, gs.Context(loops="constraints"))


def check_loops(model):
    """The right number of loops, each of them closed: neighbours in its list of entities share a connection."""
    net = gs.network(as_constraints(model), rules=())
    assert len(net.loops) == independent_loops(model)
    together = {
        frozenset(pair) for group in model.wiring.groups for pair in itertools.combinations([n for n, _ in group], 2)
    }
    for loop in net.loops:
        assert len(set(loop.entities)) == len(loop.entities)
        for pair in itertools.pairwise([*loop.entities, loop.entities[0]]):
            assert frozenset(pair) in together, f"{pair} of {loop} are not connected"
        assert {port.rpartition(".")[0] for port in loop.cut} <= set(loop.entities)
        assert frozenset(port.rpartition(".")[0] for port in loop.cut) in together
    return net.loops


def test_a_four_bar_has_one_loop_with_all_its_parts():
    (loop,) = check_loops(four_bar())
    assert set(loop.entities) == {"world", "h0", "crank", "h1", "coupler", "h2", "rocker", "h3", "ground"}
    assert str(loop) == " - ".join(loop.entities) + f" (closed by {loop.cut[0]} - {loop.cut[1]})"


def test_two_loops_are_two():
    """A ladder: two rungs between two rails beside the one that the tree uses."""
    rails = [link(f"rail{k}", top=(0, 0, 2), middle=(0, 0, 1)) for k in (1, 2)]
    rungs = [hinge(f"rung{k}") for k in (1, 2, 3)]
    model = gs.assemble("ladder", *rails, *rungs, gs.connect("world", "rail1.origin", "rung1.a"),
                        gs.connect("rung1.b", "rail2.origin"), gs.connect("rail1.middle", "rung2.a"),
                        gs.connect("rung2.b", "rail2.middle"), gs.connect("rail1.top", "rung3.a"),
                        gs.connect("rung3.b", "rail2.top"))  # fmt: skip
    loops = check_loops(model)
    assert len(loops) == 2
    assert loops[0].entities != loops[1].entities


def test_a_loop_through_one_connection_of_three_ports_is_one():
    model = gs.assemble("triangle", hinge("one"), hinge("two"), hinge("three"),
                        gs.connect("world", "one.a", "two.a"), gs.connect("one.b", "two.b", "three.a"))  # fmt: skip
    (loop,) = gs_loops(model)
    assert set(loop.entities) >= {"one", "two"}
    assert "three" not in loop.entities


def gs_loops(model):
    """Loops of a model without masses: the search itself."""
    loops = model.wiring.tree.loops
    assert len(loops) == independent_loops(model)
    return loops


def test_a_connection_that_is_fed_from_two_sides_closes_one_loop():
    """Of the four ports at the first connection, B is reached around a corner, and is the one to reach E."""
    model = gs.Model(
        "corner",
        (gs.ReferenceFrame("w"), Shift("C"), Shift("D"), Shift("B"), Shift("E")),
        (("w.frame", "C.a", "B.b", "E.a"), ("C.b", "D.a"), ("D.b", "B.a")),
    )
    (loop,) = gs_loops(model)
    assert set(loop.entities) == {"w", "C", "D", "B"}


@settings(max_examples=few(60), deadline=None)
@given(st.data())
def test_any_mechanism_has_as_many_loops_as_it_has_surplus_ports(data):
    """Bodies with several frames, joined at random; the parts that the reference frame does not reach are left out."""
    count = data.draw(st.integers(1, 6))
    bodies = [Body(f"b{k}", mass=1.0, frames={"x": (1, 0, 0), "y": (0, 1, 0)}) for k in range(count)]
    ports = ["w.frame", *(f"{b.name}.{p}" for b in bodies for p in ("origin", "x", "y"))]
    groups: list[list[str]] = [[] for _ in range(data.draw(st.integers(1, 5)))]
    for port in ports:
        at = data.draw(st.integers(0, len(groups)))
        if at < len(groups) and port.partition(".")[0] not in {p.partition(".")[0] for p in groups[at]}:
            groups[at].append(port)
    connections = [tuple(group) for group in groups if len(group) > 1]
    model = gs.Model("random", (gs.ReferenceFrame("w"), *bodies), connections)
    reached = set(model.wiring.tree.parent)
    kept = tuple(e for e in model.entities if e.name in reached)
    model = gs.Model("random", kept, [c for c in connections if c[0].partition(".")[0] in reached])
    check_loops(model)


@pytest.mark.parametrize(
    ("who", "call"),
    [
        ("operators", lambda m: gs.operators(m, np.zeros(3), np.zeros(3))),
    ],
)
def test_algorithms_for_trees_refuse_loops_by_name(who, call):
    loop = r"crank - h1 - coupler.*\(closed by coupler.tip - h2.a\)"
    pattern = rf"^{who}: 'four_bar' has 1 kinematic loop\(s\).*{loop}.*Hint: gs.loops"
    with pytest.raises(gs.LoopError, match=pattern) as caught:
        call(as_constraints(four_bar()))
    (loop,) = caught.value.loops
    assert set(loop) >= {"crank", "coupler", "rocker", "ground"}


def test_a_network_with_loops_can_still_be_looked_at():
    told = gs.network(four_bar()).explain()
    assert "loop world - " in told
    assert "the reference is at a singular position" in told


# ------------------------------------------------------------------------------------------------ rewriting rules
inverse_dynamics = partial(gs.InverseDynamics, mode="interpret")


def check_results(model, rules=None, seed=0):
    """Torques, also under wrenches, and all located ports are those of the network as it was drawn."""
    rng = np.random.default_rng(seed)
    q, v, a = random_state(model, rng)
    w = random_wrenches(model, rng, 6)
    expected = inverse_dynamics(model, rules=())(q, v, a, w)
    assert_close(inverse_dynamics(model, rules=rules)(q, v, a, w), expected)
    plain, rewritten = (gs.ForwardKinematics(model, rules=r, mode="interpret")(q, v, a) for r in ((), rules))
    assert set(plain) == set(rewritten)
    for name in plain:
        assert_close(rewritten[name].matrix, plain[name].matrix, 1e-13)
        assert_close(rewritten[name].V, plain[name].V, 1e-12)
        assert_close(rewritten[name].A, plain[name].A, 1e-12)


def test_drop_identities_removes_fixed_joints_and_displacements_that_do_nothing():
    weld, nothing, something = Joint("weld", "fixed"), Shift("nothing"), shift("something")
    model = gs.assemble("m", gs.chain("world", hinge("j"), weld, nothing, something, link("body")))
    net = gs.network(model, rules=["drop-identities"])
    assert names(net) == {"world", "j", "something", "body"}
    assert net.events == (
        ("drop-identities", "'weld' dropped: a fixed joint that changes nothing"),
        ("drop-identities", "'nothing' dropped: a displacement that changes nothing"),
    )
    assert net.ports[net.located["nothing.b"][0]] == net.ports[net.located["weld.a"][0]] == "j.b"
    check_results(model, ["drop-identities"])


def test_a_displacement_folds_into_the_body_behind_it():
    model = gs.assemble("m", gs.chain("world", hinge("j"), shift("d"), link("body", tip=(0.1, 0.2, 0.3))))
    net = gs.network(model, rules=["fold-displacements"])
    assert names(net) == {"world", "j", "body"}
    assert net.events == (("fold-displacements", "'d' folded into body 'body'"),)
    R, p = one(gs.network(model, rules=()), "d").places["b"]
    body = link("body")
    assert_close(one(net, "body")["com"], p + R @ np.array(body.com), 1e-15)
    assert_close(one(net, "body")["inertia"], R @ np.array(body.inertia) @ R.T, 1e-15)
    assert_close(one(net, "body")["momentum"], R @ np.array(body.momentum), 1e-15)
    check_results(model, ["fold-displacements"])


def test_displacements_fold_into_each_other():
    model = gs.assemble("m", gs.chain("world", shift("d1"), shift("d2", 1, 2, 3), hinge("j"), link("body")))
    net = gs.network(model, rules=["fold-displacements"])
    assert names(net) == {"world", "d2", "j", "body"}
    assert net.events == (("fold-displacements", "'d1' folded into displacement 'd2'"),)
    check_results(model, ["fold-displacements"])


def test_a_displacement_before_a_joint_becomes_a_frame_of_the_body_it_starts_from():
    start_at_origin = gs.assemble("m", hinge("j"), link("body"), shift("d"), hinge("k", "x"), link("last"),
                                  gs.connect("world", "j.a"), gs.connect("j.b", "body.origin", "d.a"),
                                  gs.connect("d.b", "k.a"), gs.connect("k.b", "last.origin"))  # fmt: skip
    start_at_tip = gs.assemble("m", gs.chain("world", hinge("j"), link("body", tip=((1, 0, 0), gs.rpy(0.1, 0.2, 0.3))),
                                             shift("d"), hinge("k", "x"), link("last")))  # fmt: skip
    for model in (start_at_origin, start_at_tip):
        net = gs.network(model, rules=["fold-displacements"])
        assert names(net) == {"world", "j", "body", "k", "last"}
        assert net.events == (("fold-displacements", "'d' became the frame 'd.b' of body 'body'"),)
        assert "d.b" in one(net, "body").outports
        check_results(model, ["fold-displacements"])


def test_a_displacement_with_a_body_and_a_joint_behind_it_serves_both():
    model = gs.assemble("m", hinge("j"), shift("d"), link("body"), hinge("k", "x"), link("last"),
                        gs.connect("world", "j.a"), gs.connect("j.b", "d.a"),
                        gs.connect("d.b", "body.origin", "k.a"), gs.connect("k.b", "last.origin"))  # fmt: skip
    net = gs.network(model)
    assert names(net) == {"world", "j", "body", "k", "last"}
    check_results(model)
    # a wrench at the body's own origin acts there, and not where the body is entered now
    q, w = [0.3, 0.4], np.arange(1.0, 7.0)
    for form in ("local", "aligned", "world", "last"):
        wrenches = {"body": gs.Wrench(w, form)}
        tau = inverse_dynamics(model)(q, q, q, wrenches)
        assert_close(tau, inverse_dynamics(model, rules=())(q, q, q, wrenches), 1e-13)


def test_an_open_displacement_is_computed_only_when_asked_for_and_says_so():
    model = gs.assemble("m", gs.chain("world", hinge("j"), link("body"), shift("tool")))
    net = gs.network(model)
    assert "tool" not in names(net)
    assert any("'tool'" in text for _, text in net.events)
    check_results(model)


def test_bodies_that_are_rigidly_joined_merge_and_keep_their_mass_properties():
    one_body, other = link("one", tip=((0.5, -0.1, 0.2), gs.rpy(0.4, 0.5, 0.6))), link("other", tip=(0, 0, 1))
    behind = gs.assemble("m", gs.chain("world", hinge("j"), one_body, other))
    beside = gs.assemble("m", hinge("j"), one_body, other, gs.connect("world", "j.a"),
                         gs.connect("j.b", "one.origin", "other.tip"))  # fmt: skip
    for model, (R, p) in ((behind, one_tip(one_body)), (beside, (np.eye(3), np.array([0.0, 0.0, -1.0])))):
        net = gs.network(model, rules=["merge-bodies"])
        assert names(net) == {"world", "j", "one"} or names(net) == {"world", "j", "other"}
        merged = net.components[-1]
        assert net.events in (
            (("merge-bodies", "body 'other' merged into 'one'"),),
            (("merge-bodies", "body 'one' merged into 'other'"),),
        )
        m = np.array([one_body.mass, other.mass])
        coms = np.array([one_body.com, p + R @ np.array(other.com)])
        com = m @ coms / m.sum()
        inertias = np.array(one_body.inertia), R @ np.array(other.inertia) @ R.T
        about = sum(J + mk * ((c - com) @ (c - com) * np.eye(3) - np.outer(c - com, c - com))
                    for J, mk, c in zip(inertias, m, coms, strict=True))  # fmt: skip
        assert merged["mass"] == pytest.approx(m.sum(), rel=1e-15)
        assert_close(merged["com"], com, 1e-15)
        assert_close(merged["inertia"], about, 1e-15)
        assert_close(merged["momentum"], np.array(one_body.momentum) + R @ np.array(other.momentum), 1e-15)
        check_results(model, ["merge-bodies"])


def one_tip(body):
    (frame,) = body.frames
    angles = np.array(frame.rotation.euler)
    turn = [np.eye(3)] * 3
    for k in range(3):
        c, s, (x, y) = np.cos(angles[k]), np.sin(angles[k]), ((k + 1) % 3, (k + 2) % 3)
        turn[k] = np.eye(3)
        turn[k][[x, x, y, y], [x, y, x, y]] = c, -s, s, c
    return turn[2] @ turn[1] @ turn[0], np.array(frame.translation)


def test_bodies_without_mass_merge_too():
    massless = Body("plate", mass=0.0, frames={"end": (0.1, 0, 0)})
    other = Body("plate2", mass=0.0, com=(1, 2, 3))
    model = gs.assemble("m", gs.chain("world", massless, other))
    _, plate = gs.network(model, rules=["merge-bodies"]).components
    assert plate["mass"] == 0.0
    assert np.all(np.isfinite(plate["com"]))


def test_open_frames_are_pruned_but_stay_located():
    body, last = link("body", tip=(1, 2, 3), side=(3, 2, 1)), link("last", end=(0, 0, 1))
    model = gs.assemble("m", gs.chain("world", hinge("j"), body, "tip", hinge("k"), last))
    net = gs.network(model, rules=["prune-frames"])
    assert net.events == (
        ("prune-frames", "open frame 'body.side' is computed only when asked for"),
        ("prune-frames", "open frame 'last.end' is computed only when asked for"),
    )
    assert set(one(net, "body").outports) == {"tip"}
    at, (_, p) = net.located["body.side"]
    assert net.ports[at] == "j.b"
    assert np.array_equal(p, [3, 2, 1])
    check_results(model, ["prune-frames"])


def test_joints_along_coordinate_axes_turn_in_a_plane():
    parts = [hinge("j", "-y"), link("one"), hinge("tilted", (0.6, 0.0, 0.8)), link("two"),
             Joint("cross", "universal", axis="x", second_axis=(0, 0, -1)), link("three")]  # fmt: skip
    model = gs.assemble("m", gs.chain("world", *parts))
    net = gs.network(model, rules=["align-axes"])
    assert net.events == (
        ("align-axes", "joint 'j' specialised: axis along y"),
        ("align-axes", "joint 'cross' specialised: axis along x, second_axis along z"),
    )
    assert one(net, "j")["axis_aligned"] == (1, -1.0)
    assert one(net, "cross")["second_axis_aligned"] == (2, -1.0)
    assert "axis_aligned" not in one(net, "tilted").props
    check_results(model, ["align-axes"])


def test_a_joint_takes_in_the_placement_before_it():
    arm = link("arm", tip=((0.5, -0.1, 0.2), gs.rpy(0.4, 0.5, 0.6)))
    model = gs.assemble("m", gs.chain("world", shift("d"), hinge("j"), arm, hinge("k", "x"), link("last")))
    net = gs.network(model, rules=["fold-into-joints"])
    assert net.events == (
        ("fold-into-joints", "'d' to 'j' folded into the joint"),
        ("fold-into-joints", "'arm' to 'k' folded into the joint"),
    )
    drawn = gs.network(model, rules=())
    for joint, owner, port in (("j", "d", "b"), ("k", "arm", "tip")):
        for mine, theirs in zip(one(net, joint)["before"], one(drawn, owner).places[port], strict=True):
            assert_close(mine, theirs, 1e-15)
        assert net.ports[net.source[one(net, joint).inport]] == drawn.ports[drawn.source[one(drawn, owner).inport]]
    check_results(model, ["fold-into-joints"])
    check_results(model, ["fold-into-joints", "prune-frames"])


@pytest.mark.parametrize("rep", ["body", "inertial", "absolute"])
def test_inertia_along_joint_axes_can_be_regrouped_without_changing_torques(rep):
    """Mass and the moments along a revolute axis go to the body before; of a prismatic one, all rotational inertia."""
    parts = [hinge("j"), link("one", tip=(0.3, 0.1, 0.4)), Joint("s", "prismatic", axis=(0.6, 0, 0.8)), link("two"),
             hinge("k", "x"), link("three")]  # fmt: skip
    model = gs.assemble("m", gs.chain("world", *parts))
    net = gs.network(model, rules=["fold-into-joints", "regroup-inertia"])
    told = [text for rule, text in net.events if rule == "regroup-inertia"]
    assert told == [
        "inertia of 'three' along the axis of 'k' passed to 'two'",
        "inertia of 'two' along the axis of 's' passed to 'one'",
        "inertia of 'one' along the axis of 'j' passed to the ground",
    ]
    assert "regroup-inertia" not in DEFAULT
    three = one(net, "three")["regrouped"]  # nothing is left along the axis x of its joint, which is the purpose
    second_moment = np.eye(3) * np.trace(three.J) / 2.0 - three.J
    assert_close([three.m, three.h[0], second_moment[0, 0]], np.zeros(3), 1e-15)
    q, v, a = random_state(model, np.random.default_rng(3))
    rules = ["fold-into-joints", "regroup-inertia"]
    plain, regrouped = (inverse_dynamics(model, rep, rules=r) for r in ((), rules))
    assert_close(regrouped(q, v, a), plain(q, v, a))
    w = {"three": np.arange(6.0), "one.tip": gs.Wrench(np.arange(6.0), "world")}
    assert_close(regrouped(q, v, a, w), plain(q, v, a, w))
    for port, f in regrouped.port_forces(q, v, a).items():  # which need the bodies as they are
        assert_close(f, plain.port_forces(q, v, a, ports=[port])[port])


def test_several_rules_together_leave_one_body_for_each_joint():
    """A gripper on a flange: a weld, an identity, displacements and three bodies become one body."""
    model = gs.assemble("arm", gs.chain(
        "world", shift("base"), hinge("j1"), link("upper", end=(0, 0, 1)), hinge("j2", "x"), shift("s1"),
        link("fore", end=(0, 0, 1)), Joint("weld", "fixed"), Shift("nothing"), shift("s2"),
        link("flange", out=(0, 0.1, 0)), shift("s3"), link("gripper"), shift("tool"),
    ))  # fmt: skip
    net = gs.network(model)
    assert [c.kind for c in net.components].count(Body) == 2
    assert len(net.components) == 5
    check_results(model)
    assert sorted(c["mass"] / link("x").mass for c in net.components if c.kind is Body) == pytest.approx([1.0, 3.0])


def test_the_explanation_tells_where_every_entity_went():
    model = gs.assemble("arm", gs.chain("world", hinge("j1"), link("fore"), Joint("weld", "fixed"), shift("s"),
                                        link("gripper"), shift("tool"), Shift("tip")))  # fmt: skip
    net = gs.network(model)
    text = net.explain()
    assert text.startswith("Network of 'arm': 8 entities became 3 components with ")
    assert f"rules on: {', '.join(DEFAULT)}" in text
    assert "drop-identities: 'weld' dropped" in text
    kept, gone = ("fore", "gripper") if "fore" in names(net) else ("gripper", "fore")
    assert f"merge-bodies: body '{gone}' merged into '{kept}'" in text
    assert f"outward order: world -> j1 -> {kept}" in text
    for name in set(model.wiring.entities) - names(net):
        assert any(f"'{name}'" in what for _, what in net.events), f"nothing tells where '{name}' went"
        assert f"'{name}'" in text
    assert "rules on: none" in gs.network(model, rules=()).explain()


def test_the_explanation_tells_what_was_normalised():
    almost = 1 + 4e-7
    rotation = gs.spec.values.RotationMatrix(matrix=((almost, 0, 0), (0, 1, 0), (0, 0, 1)))
    parts = [hinge("j", (0, 0, almost)), Shift("d", translation=(1, 0, 0), rotation=rotation),
             Shift("e", rotation=gs.axis_angle((almost, 0, 0), 0.3)), link("body")]  # fmt: skip
    model = gs.assemble("m", gs.chain("world", *parts))
    net = gs.network(model)
    assert net.notes == (
        "j.axis scaled to unit length",
        "d.rotation made orthonormal",
        "e.rotation.axis scaled to unit length",
    )
    assert "normalised: j.axis scaled to unit length" in net.explain()
    assert np.linalg.norm(one(net, "j")["axis"]) == 1.0
    R, _ = one(gs.network(model, rules=()), "d").places["b"]
    assert_close(R @ R.T, np.eye(3), 1e-15)
    exact = gs.assemble("m", gs.chain("world", hinge("j"), link("body")))
    assert gs.network(exact).notes == ()


@pytest.mark.parametrize("where", ["rules", "off"])
def test_an_unknown_rule_is_answered_with_the_near_ones(where):
    with pytest.raises(gs.SpecError, match=r"no rule 'merge-body'\. Hint: did you mean 'merge-bodies'"):
        gs.network(gs.robots.pendulum(), **{where: ["merge-body"]})


def test_rules_can_be_chosen_and_switched_off():
    model = gs.assemble("m", gs.chain("world", hinge("j"), link("one"), link("two"), shift("d")))
    assert gs.network(model).rules == DEFAULT
    assert gs.network(model, off=["merge-bodies"]).rules == tuple(r for r in DEFAULT if r != "merge-bodies")
    assert gs.network(model, off=iter(["merge-bodies"])).rules == gs.network(model, off=["merge-bodies"]).rules
    assert set(DEFAULT) < set(RULES)
    assert names(gs.network(model, off=["merge-bodies"])) == {"world", "j", "one", "two"}
    assert gs.network(model, rules=["align-axes", "drop-identities"]).rules == ("drop-identities", "align-axes")
    assert gs.network(model, rules=()).events == ()


@settings(max_examples=few(25), deadline=None)
@given(st.integers(0, 10_000), st.sets(st.sampled_from(list(RULES))))
def test_any_rules_leave_all_results_unchanged(seed, rules):
    check_results(various_tree(seed, bodies=1 + seed % 7, momentum=bool(seed % 2)), sorted(rules), seed)


@settings(max_examples=few(15), deadline=None)
@given(st.integers(0, 10_000))
def test_rigid_groups_of_any_shape_leave_all_results_unchanged(seed):
    """Bodies, displacements and welds in a heap behind every joint, several at one connection."""
    rng = np.random.default_rng(seed)
    parts, ends = [], ["world"]
    for k in range(10):
        kind = rng.choice(["body", "shift", "weld", "joint"]) if k else "joint"
        at = str(rng.choice(ends))
        entity, enter, leave = {
            "body": (link(f"e{k}", tip=((0.1, 0.2, 0.3), gs.rpy(0.1, 0.2, 0.3))), "origin", "tip"),
            "shift": (shift(f"e{k}"), "a", "b"),
            "weld": (Joint(f"e{k}", "fixed"), "a", "b"),
            "joint": (hinge(f"e{k}", "xyz"[k % 3]), "a", "b"),
        }[str(kind)]
        if rng.random() < 0.4:
            enter, leave = leave, enter
        parts += [entity, gs.connect(at, f"e{k}.{enter}")]
        ends += [f"e{k}.{leave}"] * (2 if kind == "joint" else 1)
    parts += [part for k, end in enumerate(dict.fromkeys(ends)) if end != "world"
              for part in (link(f"last{k}"), gs.connect(end, f"last{k}.origin"))]  # fmt: skip
    model = gs.assemble("heap", *parts, gravity=(1.0, 2.0, -9.0))
    check_results(model, None, seed)
    net = gs.network(model)
    bodies = [c for c in net.components if c.kind is Body]
    assert len(bodies) <= 1 + model.nv  # one for each joint, and one on the ground
    for name in set(model.wiring.entities) - names(net):
        assert any(f"'{name}'" in what for _, what in net.events), f"nothing tells where '{name}' went"


# ------------------------------------------------------------------------------------------------ names, size
def test_a_frame_may_be_called_by_its_entity():
    net = gs.network(gs.robots.pendulum())
    assert net.port("rod") == "rod.origin"
    assert net.port("hinge") == "hinge.b"
    assert net.port("world") == "world.frame"
    assert net.port("rod.tip") == "rod.tip"
    with pytest.raises(
        gs.FrameError, match=r"no frame or port 'rod\.tpi' in 'pendulum'. Hint: did you mean 'rod\.tip'"
    ):
        net.port("rod.tpi")


def test_a_wrong_model_is_refused_before_anything_else():
    with pytest.raises(gs.SpecError, match="unit length"):
        gs.network(gs.assemble("m", gs.chain("world", hinge("j", (0, 0, 2)), link("body"))))


def test_a_chain_of_3000_links_becomes_a_network_in_a_time_that_grows_with_its_length():
    def seconds(n, repeat):
        model, times = gs.robots.chain(n), []
        for _ in range(repeat):
            fresh = replace(model)  # without what was derived before
            start = time.process_time()
            net = gs.network(fresh)
            times.append(time.process_time() - start)
            assert len(net.components) == 2 * n + 1
        return min(times)

    short, long = seconds(1000, 2), seconds(3000, 1)
    assert long < 10.0
    assert long / short < 6.0


@pytest.mark.parametrize("seed", range(6))
def test_limbs_side_by_side_are_an_outward_order_too(seed):
    net = gs.network(various_tree(seed, 12))
    order, known, depth = net.side_by_side, set(), {}
    assert sorted(c.name for c in order) == sorted(c.name for c in net.components)
    for c in order:
        before = -1 if c.inport is None else depth[net.source[c.inport]]
        assert c.inport is None or net.source[c.inport] in known
        known |= set(c.outports.values())
        depth |= dict.fromkeys(c.outports.values(), before + 1)
    levels = [0 if c.inport is None else depth[net.source[c.inport]] + 1 for c in order]
    assert levels == sorted(levels)
