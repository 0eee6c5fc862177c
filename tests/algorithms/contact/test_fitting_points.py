"""Nearest points of round shapes at edges: gap and normal fit each other, where an iteration alone finds rubbish."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algorithms.contact.contact_normals import apart
from gyrostat.algorithms.contact.nearest_points import extents_of_pair, nearest_points, solids_of, surface_poses
from gyrostat.graph.contacts import contact_candidates

pytest.importorskip("coal")


def pile() -> gs.Model:
    """An ellipsoid beside a box."""
    sizes = {"low": ("box", (0.4, 0.4, 0.1)), "top": ("ellipsoid", (0.1, 0.08, 0.05))}
    bodies = []
    for name, (kind, size) in sizes.items():
        shape = gs.Shape(kind=kind, size=size, role="collision")
        body = gs.RigidBody(name, mass=1.0, inertia=(1, 1, 1), shapes=[shape])
        bodies.append(gs.chain("world", gs.Joint(f"{name}_free", "free"), body))
    return gs.assemble("pile", *bodies, gs.ContactPair("top", "low", name="pair", friction=0.4))


def turned(rng: np.random.Generator) -> np.ndarray:
    turn = rng.normal(size=4)
    return np.array([0, 0, 0, *turn / np.linalg.norm(turn)])


def test_an_ellipsoid_on_the_edge_of_a_box_is_as_far_as_its_normal_says():
    """25 in 3000 such places had a normal along which the shapes were millimetres inside each other."""
    model = pile()
    candidate = next(c for c in contact_candidates(model) if not c.closed_form)
    one, two = extents_of_pair(candidate, solids_of(model, candidate))
    poses, rng = surface_poses(model, [candidate]), np.random.default_rng(5)
    for _ in range(260):
        x, angle = rng.uniform(-0.15, 0.15), rng.uniform(0.05, 1.5)  # a normal between those of top and side
        top, low = turned(rng), turned(rng)
        a, b = poses(np.concatenate([low, top]))[0]
        n = b.R @ [0.0, np.sin(angle), np.cos(angle)]
        y = np.square(candidate.a.size) * (-n @ a.R)
        touching = b.R @ [x, 0.2, 0.05] - a.R @ (y / np.sqrt(y @ (-n @ a.R)))
        for depth in (0.0, 2e-7, -2e-7):
            top[:3] = touching + n * depth
            q = np.concatenate([low, top])
            found, (a, b) = nearest_points(model, q, [candidate]), poses(q)[0]
            assert found.gaps[0] == pytest.approx(depth, abs=3e-6)
            assert apart(one, a, two, b, found.normals)[0] == pytest.approx(depth, abs=3e-6)
