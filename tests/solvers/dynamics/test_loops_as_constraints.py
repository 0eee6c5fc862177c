"""Loops that stay constraints: redundant equations, singular positions, forces in the loops, drives, every way to
call."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.constrained.loop_dynamics import cheaper_way, constrained_accelerations, loop_structure
from gyrostat.graph.network import network
from gyrostat.spatial.gravity import gravity
from gyrostat.spatial.representation import representation
from tests.support import loop_models, opened_loops
from tests.support.comparing import assert_close


def closed_state(model: gs.Model, seed: int = 0, spread: float = 0.1):
    rng = np.random.default_rng(seed)
    start = gs.integrate(model, gs.neutral(model), spread * rng.normal(size=model.nv))
    q, v = gs.close(model, start, rng.normal(size=model.nv))
    return q, v, rng.normal(size=model.nv)


def bricard() -> gs.Model:
    """Five rods of 1 m and 1 kg; six hinges at right angles close to a cube's edges [IFToMM benchmark A04]."""
    points = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1.0)])
    links = []
    for k in range(5):
        u, moments = points[k + 1] - points[k], [1.01 / 12] * 3
        moments[int(np.argmax(np.abs(u)))] = 0.01 / 6
        links.append(gs.Joint(f"hinge{k}", "revolute", axis="yzxyz"[k], passive=False))
        links.append(gs.RigidBody(f"rod{k}", mass=1.0, com=u / 2, inertia=moments, frames={"end": tuple(u)}))
        links.append("end")
    closing = [
        gs.Joint("hinge5", "revolute", axis="x"),
        gs.connect("rod4.end", "hinge5.a"),
        gs.connect("hinge5.b", "post.b"),
    ]
    post = gs.chain("world", gs.Displacement("post", translation=tuple(points[5])))
    return gs.assemble(
        "bricard", gs.chain("world", *links[:-1]), post, *closing, gravity=(0, -9.81, 0), loops="constraints"
    )


def ring(count: int) -> gs.Model:
    """A long loop in space, closed by a ball."""
    links = []
    for k in range(count):
        links.append(gs.Joint(f"J{k}", "revolute", axis="xyz"[k % 3]))
        body = gs.RigidBody(
            f"b{k}", mass=1.0, com=(0.1, 0.02, 0.03), inertia=(0.01, 0.02, 0.015), frames={"tip": (0.2, 0.05, 0.03)}
        )
        links += [body, "tip"]
    far = gs.chain("world", gs.Displacement("far", translation=(0.4, 0.1, 0.2)))
    closing = [gs.Joint("C", "spherical"), gs.connect(f"b{count - 1}.tip", "C.a"), gs.connect("C.b", "far.b")]
    return gs.assemble("ring", gs.chain("world", *links[:-1]), far, *closing, loops="constraints")


# ------------------------------------------------------------------------------------------------ redundant equations
@pytest.mark.parametrize(
    ("make", "rows", "count"),
    [
        (lambda: loop_models.four_bar(loops="constraints"), 2, 5),
        (lambda: loop_models.parallelogram(loops="constraints"), 2, 5),
        (lambda: loop_models.slider_crank(loops="constraints"), 2, 5),
        (bricard, 4, 5),
        (lambda: loop_models.stewart(loops="constraints"), 18, 18),
    ],
)
def test_equations_that_say_nothing_new_are_left_out(make, rows, count):
    model = make()
    structure = loop_structure(network(model))
    assert (len(structure.rows), structure.count) == (rows, count)
    q, v, tau = closed_state(model, 1, 0.05)
    expected = opened_loops.accelerations(model, q, v, tau)
    assert_close(gs.aba(model, q, v, tau), expected, 1e-9)
    assert np.isfinite(gs.ForwardDynamics(model).multipliers(q, v, tau)).all()


def test_bricards_mechanism_moves_with_one_degree_of_freedom():
    model = bricard()
    assert loop_structure(network(model)).mobility == 1
    q = gs.neutral(model)
    motions = np.array([gs.close(model, q, x)[1] for x in np.eye(model.nv)])
    assert np.linalg.matrix_rank(motions, 1e-8) == 1


def test_articulated_bodies_and_composite_bodies_give_the_same_in_long_loops():
    model = ring(24)
    assert cheaper_way(model) == "articulated"
    assert cheaper_way(loop_models.four_bar(loops="constraints")) == "kkt"
    q, v, tau = closed_state(model)
    net, on = network(model), Setting(representation("body"), gravity(model.context.gravity))
    one, two = (constrained_accelerations(net, on, q, v, tau, way=way) for way in ("kkt", "articulated"))
    assert_close(one.a, two.a, 1e-10)
    assert_close(one.multipliers.astype(float), two.multipliers.astype(float), 1e-10)
    assert_close(gs.aba(model, q, v, tau), opened_loops.accelerations(model, q, v, tau), 1e-9)


# ------------------------------------------------------------------------------------------------ singular positions
@pytest.mark.parametrize("turned", [0.0, np.pi / 2, 1.0])
def test_a_flat_parallelogram_is_refused_by_name_also_within_rounding(turned):
    model = gs.assemble(
        "flat",
        gs.chain("world", loop_models.hinge("lean"), loop_models.rod("floor", 1.0)),
        gs.chain("floor.origin", loop_models.hinge("A"), loop_models.rod("crank", 0.5), "tip", loop_models.hinge("B"),
                 loop_models.rod("coupler", 1.0)),
        gs.chain("floor.tip", loop_models.hinge("D"), loop_models.rod("rocker", 0.5)),
        loop_models.hinge("C"),
        gs.connect("coupler.tip", "C.a"),
        gs.connect("C.b", "rocker.tip"),
        reference={"A": -1.0, "B": 1.0, "D": -1.0},
        loops="constraints",
    )  # fmt: skip
    order = list(model.dofs)
    q = np.zeros(4)
    q[order.index("lean")] = turned
    with pytest.raises(gs.LoopError, match=r"singular position.*crank.*accelerations are not determined"):
        gs.aba(model, q, np.zeros(4), np.zeros(4))
    with pytest.raises(gs.LoopError, match=r"in state \(1,\) at a singular position"):
        gs.aba_derivatives(model, [gs.neutral(model), q], np.zeros(4), np.zeros(4))
    for angle in (1e-3, 1e-2, 1.0):  # near it, the answer is right: that of one pendulum
        q[order.index("A")], q[order.index("B")], q[order.index("D")] = angle, -angle, angle
        a = gs.aba(model, q, np.zeros(4), np.zeros(4))
        assert_close(a, opened_loops.accelerations(model, q, np.zeros(4), np.zeros(4)), 1e-6)
        assert_close(a[order.index("A")], -a[order.index("B")], 1e-6)


def test_an_order_of_elimination_that_fails_is_replaced_by_one_that_does_not():
    """A leg that points along the first axis of its knuckle moves its ball in two directions only; the plate holds
    it."""
    model = loop_models.stewart(loops="constraints")
    structure = loop_structure(network(model))
    assert structure.order != structure.safe, "the test is about the quick order"
    frames = gs.fk(model, gs.neutral(model))
    foot, ball = frames["foot0.b"].p, frames["plate.ball0"].p - frames["plate.origin"].p
    q = gs.neutral(model)
    at = list(model.coordinates)
    place = [at.index(f"platform.{x}") for x in "xyz"]
    q[place] = foot - ball - np.array([0.9, 0.0, 0.0])
    q[at.index("knuckle0.angle1")], q[at.index("knuckle0.angle2")] = 0.0, -np.pi / 2
    q[at.index("leg0")] = 0.9
    q = gs.close(model, q, keep=["platform"])
    rng = np.random.default_rng(0)
    v, tau = gs.close(model, q, rng.normal(size=model.nv))[1], rng.normal(size=model.nv)
    assert_close(gs.aba(model, q, v, tau), opened_loops.accelerations(model, q, v, tau), 1e-8)


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "fixed"])
def test_a_loop_that_is_turned_over_is_not_closed(kind):
    """The equations of axes that are parallel hold for opposite ones too."""
    arms = [
        (
            gs.Joint(f"ball_{x}", "spherical", passive=False),
            gs.RigidBody(x, mass=1.0, com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1)),
        )
        for x in "ab"
    ]
    if kind == "fixed":
        closing = [gs.connect("a.origin", "b.origin")]
    else:
        closing = [gs.Joint("c", kind, axis="z"), gs.connect("a.origin", "c.a"), gs.connect("b.origin", "c.b")]
    model = gs.assemble("twins", *(gs.chain("world", *arm) for arm in arms), *closing, loops="constraints")
    q = gs.neutral(model)
    rest = np.zeros(model.nv)
    gs.aba(model, q, rest, rest)
    over = q.copy()
    over[-4:] = 1.0, 0.0, 0.0, 0.0  # half a turn about x
    with pytest.raises(gs.LoopError, match="turned over"):
        gs.aba(model, over, rest, rest)
    with pytest.raises(gs.LoopError, match=r"turned over in state \(1,\)"):
        gs.rnea(model, np.stack([q, over]), rest, rest)
    with pytest.raises(gs.LoopError, match="turned over"):
        gs.close(model, over)


# ------------------------------------------------------------------------------------------------ forces in loops
def test_port_forces_of_inverse_dynamics_are_those_that_the_actuators_cause():
    plain = loop_models.four_bar(loops="constraints")
    driven = gs.Joint("A", "revolute", axis="y", passive=False)
    model = gs.Model(
        "driven", tuple(driven if e.name == "A" else e for e in plain.entities), plain.connections, plain.context
    )
    q, v, _ = closed_state(model)
    tau = np.zeros(3)
    tau[list(model.dofs).index("A")] = 2.0
    forward = gs.ForwardDynamics(model)
    a = forward(q, v, tau)
    one = forward.port_forces(q, v, tau)
    two = gs.InverseDynamics(model).port_forces(q, v, a)
    assert {"C.a", "C.b", "A.b", "rocker.tip"} <= set(one)
    for port in one:
        if port.startswith(("C.", "coupler", "rocker")):
            assert_close(one[port][[1, 3, 5]], two[port][[1, 3, 5]], 1e-9)  # in the plane; across it they are redundant
    turned = gs.fk(model, q)
    at_a, at_b = (turned[p].R @ one[port][3:] for p, port in (("coupler.tip", "C.a"), ("rocker.tip", "C.b")))
    assert_close(at_a, at_b, 1e-10)  # a massless joint hands on what it gets
    assert_close(one["rocker.tip"][3:], -one["C.b"][3:], 1e-10)
    batch = forward.port_forces(np.stack([q, q]), v, tau)
    assert_close(batch["C.b"], np.stack([one["C.b"]] * 2), 1e-12)


def test_drives_springs_and_rotors_act_in_loops():
    def driven(model: gs.Model) -> gs.Model:
        model = model.with_drive("A", rotor_inertia=1e-3, gear_ratio=30.0, viscous=0.5, coulomb=0.2)
        return model.with_drive("D", rotor_inertia=2e-3, gear_ratio=-20.0)

    plain = loop_models.four_bar(loops="constraints")
    spring = gs.PointSpring("spring", stiffness=200.0, rest_length=0.3, damping=4.0)
    ends = [("spring.a", "crank.tip"), ("spring.b", "ground.b")]
    model = gs.Model("sprung", (*plain.entities, spring), [*plain.connections, *ends], plain.context)
    model = driven(model)
    q, v, tau = closed_state(model)
    assert_close(gs.aba(model, q, v, tau), opened_loops.accelerations(model, q, v, tau), 1e-9)
    assert np.abs(gs.aba(model, q, v, tau) - gs.aba(plain, q, v, tau)).max() > 0.1, "the drives matter"


# ------------------------------------------------------------------------------------------------ ways to call
def test_batches_orders_masters_and_casadi_agree():
    model = loop_models.universal_rod(loops="constraints")
    states = [closed_state(model, seed) for seed in range(4)]
    q, v, tau = (np.stack(x) for x in zip(*states, strict=True))
    solver = gs.ForwardDynamics(model)
    a = solver(q, v, tau)
    for k in range(4):
        assert_close(a[k], opened_loops.accelerations(model, q[k], v[k], tau[k]), 1e-9)
    assert_close(solver(q, v, tau, threads=2), a, 1e-13)
    joints = model.layout.entities[::-1]
    turned = solver.in_order(joints)
    at_q, at_v = model.layout.places(joints)
    assert_close(turned(q[:, at_q], v[:, at_v], tau[:, at_v]), a[:, at_v], 1e-12)
    both = gs.Solvers(model, aba={}, crba={}, aba_derivatives={})(q[0], v[0], tau[0])
    assert_close(both.aba, a[0], 1e-12)
    assert_close(both.crba, gs.crba(model, q[0]), 1e-12)
    with pytest.raises(gs.LoopError, match="open"):
        gs.Solvers(model, aba={}, crba={})(q[0] + 0.01, v[0], tau[0])
    assert_close(np.array(solver.casadi()(q[0], v[0], tau[0])).ravel(), a[0], 1e-10)
    slope = solver.jacobian("a", "tau")(q[0], v[0], tau[0])
    assert_close(slope, gs.aba_derivatives(model, q[0], v[0], tau[0]).da_dtau, 1e-9)


def test_a_live_length_opens_the_loop_that_it_is_in():
    model = loop_models.rod_loop(loops="constraints")
    q, v, tau = closed_state(model)
    solver = gs.ForwardDynamics(model, live=["link.length", "first.mass"])
    a = solver(q, v, tau)
    assert_close(a, gs.aba(model, q, v, tau), 1e-12)
    heavier = model.replace({"first.mass": 2.0})
    solver.refresh(heavier)
    assert_close(solver(q, v, tau), gs.aba(heavier, q, v, tau), 1e-12)
    solver.refresh(model.replace({"link.length": 0.81}))
    with pytest.raises(gs.LoopError, match="open by"):
        solver(q, v, tau)


def test_c_of_constrained_dynamics_passes_its_own_vectors(tmp_path):
    model = loop_models.four_bar(loops="constraints")
    files = gs.ForwardDynamics(model).export_c(tmp_path, vectors=4)
    assert any(f.suffix == ".c" for f in files)


def test_projected_jacobians_know_the_motions_of_the_loop_alone():
    model = loop_models.five_bar(loops="constraints")
    q, v, _ = closed_state(model)
    J, P = gs.jacobian(model, q, "p1.tip"), gs.jacobian(model, q, "p1.tip", constrained=True)
    assert_close(P @ v, J @ v, 1e-12)
    other = np.random.default_rng(5).normal(size=model.nv)
    assert_close(P @ other, J @ gs.close(model, q, other)[1], 1e-8)
    assert np.abs(P - J).max() > 0.01
    tree = gs.robots.two_link()
    x = gs.random_configuration(tree, 0)
    frame = next(f for f in gs.fk(tree, x))
    assert_close(gs.jacobian(tree, x, frame, constrained=True), gs.jacobian(tree, x, frame), 1e-14)
