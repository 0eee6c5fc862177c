"""Loops of which some are solved in closed form and others stay constraints; loops that cannot move."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.constrained.loop_dynamics import constrained_accelerations
from gyrostat.graph.network import network
from gyrostat.spatial.gravity import gravity
from gyrostat.spatial.representation import representation
from tests.support import opened_loops
from tests.support.comparing import assert_close
from tests.support.loop_models import hinge, placed, rod


def four_bar_with_an_arm(loops: str = "auto") -> gs.Model:
    """An arm of five joints from the coupler of a four-bar to a post: no closed form for it."""
    links = []
    for k, axis in enumerate("xyzxy"):
        body = gs.RigidBody(
            f"r{k}", mass=0.5, com=(0.1, 0.02, 0.03), inertia=(0.01, 0.012, 0.011), frames={"tip": (0.25, 0.05, 0.03)}
        )
        links += [gs.Joint(f"R{k}", "revolute", axis=axis), body, "tip"]
    return gs.assemble(
        "mixed",
        gs.chain("world", hinge("A"), rod("crank", 0.3), hinge("B"), rod("coupler", 0.9)),
        gs.chain("world", placed("ground", 1.0, 0, 0), hinge("D"), rod("rocker", 0.7)),
        hinge("C"),
        gs.connect("coupler.tip", "C.a"),
        gs.connect("C.b", "rocker.tip"),
        gs.chain("coupler.tip", *links[:-1]),
        gs.chain("world", placed("post", 1.6, 0.2, 0.5)),
        gs.Joint("S", "spherical"),
        gs.connect("r4.tip", "S.a"),
        gs.connect("S.b", "post.b"),
        reference={"A": -1.0, "B": 0.6, "D": -1.5},
        loops=loops,
    )


@pytest.fixture(scope="module")
def mixed():
    model = four_bar_with_an_arm()
    rng = np.random.default_rng(0)
    start = gs.neutral(model) + 0.05 * rng.normal(size=model.nv)
    return model, *gs.close(model, start, rng.normal(size=model.nv)), rng.normal(size=model.nv)


def test_one_loop_is_solved_and_the_other_stays_a_constraint(mixed):
    model, q, v, tau = mixed
    assert [report.treatment for report in gs.loops(model)] == ["closed form", "constraints"]
    whole = four_bar_with_an_arm("constraints")
    a = gs.aba(model, q, v, tau)
    state = opened_loops.in_tree(model, q, v, a)
    lift = np.zeros(whole.nv)
    lift[[whole.dofs.index(x) for x in model.dofs]] = tau
    assert_close(opened_loops.accelerations(model, state.q, state.v, lift), state.a, 1e-9)
    assert_close(gs.aba(whole, state.q, state.v, lift), state.a, 1e-9)
    mine = gs.ForwardDynamics(model).port_forces(q, v, tau)
    theirs = gs.ForwardDynamics(whole).port_forces(state.q, state.v, lift)
    assert {"S.a", "C.b", "coupler.tip"} <= set(mine) == set(theirs)
    for port in mine:
        assert_close(mine[port][[1, 3, 5]], theirs[port][[1, 3, 5]], 1e-8)  # across the plane they are redundant
    with pytest.raises(gs.StateError, match="closed form, and have forces that no multipliers tell"):
        gs.InverseDynamics(model).port_forces(q, v, a, multipliers=np.zeros(3))


def test_derivatives_of_mixed_loops_are_exact_in_every_column(mixed):
    model, q, v, tau = mixed
    net, on = network(model), Setting(representation("body"), gravity(model.context.gravity))
    found, h = gs.aba_derivatives(model, q, v, tau), 1e-6

    def a(x, y):
        return np.asarray(constrained_accelerations(net, on, x, y, tau).a, dtype=float)

    units = h * np.eye(model.nv)
    dq = np.stack([(a(q + u, v) - a(q - u, v)) / (2 * h) for u in units], axis=1)
    dv = np.stack([(a(q, v + u) - a(q, v - u)) / (2 * h) for u in units], axis=1)
    assert_close(found.da_dq, dq, 1e-7)
    assert_close(found.da_dv, dv, 1e-7)


def test_a_triangle_of_rods_does_not_move_and_has_forces():
    model = gs.assemble(
        "triangle",
        gs.chain("world", hinge("A", passive=False), rod("p", 0.5), "tip", hinge("B", passive=False), rod("r", 0.6)),
        gs.chain("world", placed("g", 0.8, 0, 0)),
        hinge("C"),
        gs.connect("r.tip", "C.a"),
        gs.connect("C.b", "g.b"),
        loops="constraints",
        reference={"A": -0.8, "B": 1.3},
    )
    q, rest, tau = gs.neutral(model), np.zeros(2), np.array([1.0, 2.0])
    assert_close(gs.aba(model, q, rest, tau), rest, 1e-12)
    assert_close(gs.aba_derivatives(model, q, rest, tau).da_dtau, np.zeros((2, 2)), 1e-12)
    assert_close(gs.close(model, q, [1.0, 1.0])[1], rest, 1e-12)
    force = gs.ForwardDynamics(model).port_forces(q, rest, tau)["C.b"][3:]  # on the ground
    J = gs.jacobian(model, q, "r.tip", expressed_in="aligned")[3:]
    assert_close(J.T @ force, tau - gs.gravity(model, q), 1e-10)
