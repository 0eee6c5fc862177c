"""Equations of points that close loops, seen from frames of the loop, against those of the closure."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.graph.loops.closed_forms import candidates
from gyrostat.graph.loops.solutions import Branches, Known
from gyrostat.graph.network import kept_network
from tests.support.loop_models import LOOPS

FORMS = {
    "slider_crank": gs.robots.slider_crank,
    "five_bar": gs.robots.five_bar,
    "excavator": gs.robots.excavator,
    "delta": gs.robots.delta,
    "governor": lambda: gs.robots.flyball_governor(rigid=True),
    **{
        name: LOOPS[name]
        for name in ("four-bar", "slider-crank", "cylinder", "rod, turning", "rod, sliding", "universal rod")
    },
}


def steps(model):
    """Loops that are solved, with all coordinates and random rates at the reference, by the numbers of the network."""
    net = kept_network(model)
    moved = net.transmission
    q = gs.neutral(model)
    x = np.asarray(moved.coordinates(q), dtype=float)
    v = np.random.default_rng(3).normal(size=100)
    return [(step, x, v) for step in moved.loops.steps]


@pytest.mark.parametrize("name", FORMS)
def test_rates_and_accelerations_of_unknowns_are_those_of_the_closure(name):
    """J_u v_u = -J_k v_k and J_u a_u = -b have the same solutions, whatever rows they are written in."""
    seen = 0
    for step, x, v in steps(FORMS[name]()):
        near, branches = dict(enumerate(x)), Branches(step.signs)
        step.form.solve(Known(lambda k, x=x: float(x[k]), near), branches)
        unknown, chosen = list(step.numbers), list(step.rows)
        plain = step.closure.rows(x, None)
        known = [k for k in plain.J if k not in unknown]
        wanted = np.linalg.solve(
            np.stack([plain.J[k][chosen] for k in unknown], axis=1).astype(float),
            -sum(plain.J[k][chosen].astype(float) * v[k] for k in known),
        )
        w = v.copy()
        w[unknown] = wanted
        full = step.closure.rows(x, w)
        cheap = step.form.rows(lambda k, x=x: x[k], lambda k, w=w: w[k], branches)
        if cheap is None:
            continue
        seen += 1
        A, B = (np.stack([rows.J[k] for k in unknown], axis=1).astype(float) for rows in (cheap, full))
        assert set(cheap.J) == set(plain.J)
        residual = sum(cheap.J[k].astype(float) * w[k] for k in cheap.J)
        np.testing.assert_allclose(residual, 0.0, atol=1e-12)
        want = np.linalg.solve(B[chosen], full.bias[chosen].astype(float))
        np.testing.assert_allclose(np.linalg.solve(A, cheap.bias.astype(float)), want, rtol=1e-10, atol=1e-12)
    assert seen


def platform(loops="auto"):
    """A body that turns in space, and three cranks that rods connect with it, whose angles follow from its pose."""
    corners = {f"c{k}": (0.4 * np.cos(2.1 * k), 0.4 * np.sin(2.1 * k), 0.05 * k) for k in range(3)}
    plate = gs.RigidBody("plate", mass=2.0, com=(0.01, 0.02, 0.0), inertia=(0.1, 0.12, 0.2), frames=corners)
    parts = [gs.chain("world", gs.Joint("pose", "free"), plate)]
    reference = {"pose": (0.05, -0.03, 0.6, 0.1, -0.1, 0.1, 0.97**0.5)}
    for k in range(3):
        place = gs.Displacement(
            f"foot{k}", translation=(0.5 * np.cos(2.1 * k), 0.5 * np.sin(2.1 * k), 0.0), rotation=gs.rpy(0, 0, 2.1 * k)
        )
        crank = gs.RigidBody(
            f"crank{k}", mass=0.3, com=(0.1, 0, 0), inertia=(1e-3, 2e-3, 2e-3), frames={"tip": (0.25, 0, 0)}
        )
        parts.append(gs.chain("world", place, gs.Joint(f"turn{k}", "revolute", axis="y"), crank))
        parts += [
            gs.ConnectingRod(f"rod{k}", 0.55),
            gs.connect(f"rod{k}.a", f"crank{k}.tip"),
            gs.connect(f"rod{k}.b", f"plate.c{k}"),
        ]
        reference[f"turn{k}"] = -0.5
    return gs.assemble("platform", *parts, reference=reference, independent=["pose"], loops=loops)


def test_cranks_that_follow_a_pose_in_space_move_as_by_constraints():
    model, tree = platform(), platform("constraints")
    assert {report.treatment for report in gs.loops(model)} == {"closed form"} and model.nv == 6
    rng = np.random.default_rng(5)
    q = gs.integrate(model, gs.neutral(model), 0.05 * rng.normal(size=6))
    v, tau = rng.normal(size=6), rng.normal(size=6)
    at = [tree.dofs.index(dof) for dof in model.dofs]
    start, rates, efforts = gs.neutral(tree), np.zeros(tree.nv), np.zeros(tree.nv)
    start[tree.layout.of["pose"].q], rates[at], efforts[at] = q, v, tau
    full, moving = gs.close(tree, start, rates, keep=["pose"])
    np.testing.assert_allclose(gs.aba(model, q, v, tau), gs.aba(tree, full, moving, efforts)[at], rtol=1e-9, atol=1e-9)


def test_a_loop_in_a_slanting_plane_falls_back_on_the_equations_of_its_closure():
    """Three rows of a point, of which two are needed: which, is known by their size and not by their zeros."""
    n = np.array([1.0, 2.0, 2.0]) / 3.0
    turned = gs.quaternion(*(np.cross([0.0, 1.0, 0.0], n) / np.sqrt(2.0 * (1.0 + n[1]))), np.sqrt((1.0 + n[1]) / 2.0))
    plain = LOOPS["four-bar"]()
    R = np.asarray(gs.fk(_mounted(plain, turned), [-1.0])["crank"].R)
    assert np.abs(R).min() > 1e-3
    model = _mounted(plain, turned)
    step = kept_network(model).transmission.loops.steps[0]
    assert candidates(step.closure, step.slots)
    for q, v, a in np.random.default_rng(6).normal(size=(5, 3)) * 0.3:
        np.testing.assert_allclose(
            gs.crba(model, [q - 1.0]), gs.crba(plain, [q - 1.0]), rtol=1e-10
        )  # weight apart, the plane does not matter
        still = gs.rnea(model, [q - 1.0], [0.0], [0.0])
        flat = gs.rnea(plain, [q - 1.0], [0.0], [0.0])
        np.testing.assert_allclose(
            gs.rnea(model, [q - 1.0], [v], [a]) - still,
            gs.rnea(plain, [q - 1.0], [v], [a]) - flat,
            rtol=1e-9,
            atol=1e-12,
        )


def _mounted(plain, rotation):
    """The same model on a base that is turned."""
    entities = [e for e in plain.entities if not isinstance(e, gs.ReferenceFrame)]
    tilt = gs.Displacement("tilt", rotation=rotation)
    wires = [tuple("tilt.b" if port in ("world", "world.frame") else port for port in c) for c in plain.connections]
    parts = [gs.connect(*wire) for wire in wires]
    context = plain.context
    return gs.assemble(
        "slanting",
        gs.chain("world", tilt),
        *entities,
        *parts,
        reference=dict(context.reference),
        independent=list(context.independent),
    )
