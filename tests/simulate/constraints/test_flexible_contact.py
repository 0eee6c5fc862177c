"""A flexible link that falls onto the ground with its tip: by events, by steps with impulses, by springs."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import gyrostat as gs
from tests.support.flexible_product import KINDS, link, ways

RADIUS = 0.02
OFTEN = ("modal, by b", "segments")
CASES = [kind if kind in OFTEN else pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS]


@cache
def falling(kind, compliant=False):
    near, far = ways(kind)
    law = {"stiffness": 1e5, "damping": 0.05, "friction": 0.3} if compliant else {"friction": 0.3, "restitution": 0.5}
    return gs.assemble(
        "falling",
        gs.Displacement("post", translation=(0, 0, 0.3)),
        gs.Joint("hinge", "revolute", axis="y"),
        link(kind),
        gs.ContactPoint("tip", radius=RADIUS),
        gs.Ground("floor", **law),
        gs.connect("world", "post.a"),
        gs.connect("post.b", "hinge.a"),
        gs.connect("hinge.b", f"boom.{near}"),
        gs.connect(f"boom.{far}", "tip.frame"),
    )


def fallen(model, kind, method, **options):
    q = np.zeros(model.nv)
    q[0] = np.pi - 0.1 if ways(kind)[0] == "b" else -0.1
    t = np.linspace(0.0, 0.4, 201)
    run = gs.simulate(model, None, q, None, 0.4, method=method, t_eval=t, progress=False, **options)
    return run, gs.KineticEnergy(model)(run.q, run.v) + gs.PotentialEnergy(model)(run.q)


def heights(model, run):
    return np.array([gs.fk(model, q)["tip.frame"].p[2] for q in run.q]) - RADIUS


@pytest.mark.parametrize("kind", CASES)
def test_a_falling_link_loses_energy_and_stays_above_ground(kind):
    model = falling(kind)
    (events, E), (steps, E_steps) = fallen(model, kind, "dopri5"), fallen(model, kind, "moreau", dt=1e-4)
    assert len(events.impulses) >= 2
    for energy in (E, E_steps):
        assert np.diff(energy).max() <= 1e-7 * energy[0] and energy[-1] < 0.95 * energy[0]
    assert heights(model, events).min() > -1e-7 and heights(model, steps).min() > -2e-4
    assert abs(E[-1] - E_steps[-1]) < 5e-3 * E[0]


@pytest.mark.parametrize("kind", CASES)
def test_on_springs_it_loses_energy_too(kind):
    model = falling(kind, compliant=True)
    run, E = fallen(model, kind, "dopri5", rtol=1e-8)
    assert np.diff(E).max() <= 1e-7 * E[0] and E[-1] < 0.96 * E[0]
    assert -0.02 < heights(model, run).min() < 0.0


@pytest.mark.parametrize("kind", CASES)
def test_an_impact_moves_deflections_by_the_whole_mass_matrix(kind):
    """v+ = v + M^-1 J^T P, with the normal velocity turned round by the restitution."""
    model = falling(kind)
    q = gs.neutral(model)
    v = np.random.default_rng(2).normal(size=model.nv)
    J = gs.jacobian(model, q, "tip.frame", "aligned")[5:]
    Y = np.linalg.solve(gs.crba(model, q), J.T)
    expected = v - 1.5 * Y @ np.linalg.solve(J @ Y, J @ v)
    normal = gs.fk(model, q)["tip.frame"].R[2]
    got = gs.Impact(model, {"tip.frame": np.concatenate([np.zeros(3), normal])[None]}, 0.5, mode="interpret")(q, v)
    assert np.allclose(got.v, expected, rtol=1e-9, atol=1e-10)
    assert np.abs(got.v - v)[1:].max() > 1e-3
