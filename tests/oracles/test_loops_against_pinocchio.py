"""Loops that stay constraints, against the equations of motion that Pinocchio's terms of the open tree make: closed by
construction, plane and in space, every kind of joint as the cut one."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from tests.support.comparing import assert_close
from tests.support.random_loops import CLOSERS, LoopOracle, RandomLoop, random_loop

PLANE = ("revolute", "continuous", "prismatic", "fixed", "rod", "spherical", "planar")
FEW = [(seed, kind, False, "fixed", 1) for seed, kind in enumerate(CLOSERS)]
FEW += [(seed, kind, True, "fixed", 1) for seed, kind in enumerate(("revolute", "prismatic", "fixed"), 20)]
FEW += [(40, "spherical", False, "free", 1), (41, "rod", False, "fixed", 2), (42, "spherical", True, "fixed", 2)]
MANY = [(seed, kind, False, base, loops) for seed in range(100, 104) for kind in CLOSERS for base, loops in
        (("fixed", 1), ("free", 1), ("fixed", 2))]  # fmt: skip
MANY += [(seed, kind, True, base, loops) for seed in range(200, 204) for kind in PLANE for base, loops in
         (("fixed", 1), ("fixed", 2))]  # fmt: skip
EXAMPLES = [*FEW, *(pytest.param(*x, marks=pytest.mark.slow) for x in MANY)]


def state(loop: RandomLoop, seed: int):
    """A closed motion."""
    rng = np.random.default_rng(seed)
    q, v = gs.close(loop.model, loop.q, rng.normal(size=loop.model.nv))
    assert np.abs(q - loop.q).max() < 1e-9, "it was closed"
    return q, v, rng.normal(size=loop.model.nv)


@pytest.mark.by_default(6)
@pytest.mark.parametrize(("seed", "kind", "planar", "base", "loops"), EXAMPLES)
def test_closed_mechanisms_move_as_pinocchios_terms_say(seed, kind, planar, base, loops):
    loop = random_loop(seed, kind, planar, base, loops)
    oracle = LoopOracle(loop)
    q, v, tau = state(loop, seed)
    a, wrenches = oracle.solve(q, v, tau)
    found = gs.aba(loop.model, q, v, tau)
    assert_close(found, a, 1e-9)
    M, h = gs.crba(loop.model, q), gs.rnea(loop.model, q, v, found)
    expected = [oracle.bare.crba(loop.of_tree(q)), oracle.bare.rnea(*(loop.of_tree(x) for x in (q, v, found)))]
    if kind == "fixed":  # another tree: along motions of the closed robot
        along = [gs.close(loop.model, q, x)[1] for x in np.eye(loop.model.nv)]
        Z, Y = np.array(along), np.array([loop.of_tree(x) for x in along])
        M, h, expected = Z @ M @ Z.T, Z @ h, [Y @ expected[0] @ Y.T, Y @ expected[1]]
    assert_close(M, expected[0], 1e-9)
    assert_close(h, expected[1], 1e-9)
    if wrenches is not None and kind != "fixed":
        forces = gs.ForwardDynamics(loop.model).port_forces(q, v, tau)
        for closer in loop.closers:
            assert_close(forces[f"{closer.name}.b"], wrenches[closer.name], 1e-8)


@pytest.mark.parametrize(("seed", "kind"), [(60, "revolute"), (61, "rod"), (62, "universal")])
def test_rotors_friction_and_springs_act_in_loops_as_in_the_tree(seed, kind):
    loop = random_loop(seed, kind)

    def driven(model: gs.Model) -> gs.Model:
        model = model.with_drive("j_trunk", rotor_inertia=0.01, gear_ratio=12.0, viscous=0.4)
        spring = gs.PointSpring("spring", stiffness=80.0, rest_length=0.4, damping=3.0)
        ends = [("spring.a", "l0.origin"), ("spring.b", "r0.origin")]
        return gs.Model(model.name, (*model.entities, spring), [*model.connections, *ends], model.context)

    loop = RandomLoop(driven(loop.model), loop.tree, loop.closers, loop.q)
    q, v, tau = state(loop, seed)
    tree = driven(loop.tree)
    a, _ = LoopOracle(loop).solve(q, v, tau, gs.crba(tree, q), gs.bias(tree, q, v))
    assert_close(gs.aba(loop.model, q, v, tau), a, 1e-9)


@pytest.mark.by_default(5)
@pytest.mark.parametrize(("seed", "kind", "planar", "base", "loops"), EXAMPLES)
def test_derivatives_along_the_loop_are_differences_of_pinocchios_accelerations(seed, kind, planar, base, loops):
    loop = random_loop(seed, kind, planar, base, loops)
    oracle, model = LoopOracle(loop), loop.model
    q, v, tau = state(loop, seed)
    found = gs.aba_derivatives(model, q, v, tau)
    rng = np.random.default_rng(seed + 1)
    h, along = 1e-5, gs.close(model, q, rng.normal(size=model.nv))[1]
    along /= np.abs(along).max()
    turned = [gs.close(model, gs.integrate(model, q, s * h * along)) for s in (1.0, -1.0)]
    held = [gs.close(model, x, v)[1] for x in turned]  # v changes with q where J v = 0 is kept
    plus, minus = (oracle.solve(x, w, tau)[0] for x, w in zip(turned, held, strict=True))
    moved = gs.difference(model, turned[1], turned[0]) / (2 * h)
    expected = (plus - minus) / (2 * h)
    a = found.da_dq @ moved + found.da_dv @ ((held[0] - held[1]) / (2 * h))
    assert_close(a, expected, 3e-6)
    unit = rng.normal(size=model.nv)
    more = oracle.solve(q, v, tau + unit)[0] - oracle.solve(q, v, tau)[0]
    assert_close(found.da_dtau @ unit, more, 1e-8)
