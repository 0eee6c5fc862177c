"""A finite-element model to the numbers of one flexible body: shapes, integrals, stiffness, damping, interfaces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.errors import MeshError
from gyrostat.finite_elements.damping import damping_matrix
from gyrostat.finite_elements.elasticity import FeModel
from gyrostat.finite_elements.flexible_shapes import FlexibleShapes, flexible_shapes
from gyrostat.finite_elements.interfaces import rigid_motions, select_interfaces
from gyrostat.finite_elements.shape_integrals import shape_integrals
from gyrostat.finite_elements.sparse_algebra import Array

GROUNDED = 1e-3
"""Stiffness over mass of a rigid-body motion, relative to that of the first shape: more is a support, not rounding."""


@dataclass(frozen=True)
class Recovery:
    """The way back from the coordinates of a body to its finite elements: ``Phi`` (coordinates of the model, n), and
    the axes ``R`` of the floating frame in those of the mesh."""

    model: FeModel
    Phi: Array
    R: Array


def body_data(
    model: FeModel,
    interfaces: Mapping[str, Any],
    modes: int,
    coupling: str = "rigid",
    basis: str = "craig-bampton",
    highest: float | None = None,
    damping: Any = None,
) -> tuple[dict[str, Any], Recovery]:
    """Properties of a :class:`~gyrostat.spec.flexible_body.FlexibleBody`, in the axes of its first interface."""
    frames = select_interfaces(model, interfaces)
    shapes = flexible_shapes(model, frames, modes, coupling, basis, highest)
    first = frames[0]
    o, R = first.origin, first.R
    _expect_free(model, shapes, o)
    integrals = shape_integrals(model, shapes.Phi, o, R)
    M = sum(integrals.S[a, a] for a in range(3))
    K = np.diag(shapes.stiffness)
    places = {
        frame.name: {"displacement": R.T @ motion[:3], "turn": R.T @ motion[3:]}
        | ({} if frame is first else {"translation": R.T @ (frame.origin - o), "rotation": R.T @ frame.R})
        for frame, motion in zip(frames, shapes.frames, strict=True)
    }
    properties = {
        "mass": integrals.m,
        "first_moment": integrals.h,
        "second_moment": integrals.K0,
        "C1": integrals.C1,
        "C2": integrals.C2,
        "S": integrals.S,
        "stiffness": K,
        "damping": damping_matrix(damping, np.asarray(M), K),
        "interfaces": places,
    }
    return properties, Recovery(model, shapes.Phi, R)


def _expect_free(model: FeModel, shapes: FlexibleShapes, origin: Array) -> None:
    """K must not resist motions of the whole body: supports are joints of the model."""
    T = rigid_motions(model, np.arange(len(model.node)), origin)
    energy, inertia = np.sum(T * (model.K @ T), axis=0), np.sum(T * (model.M @ T), axis=0)
    least = float(np.min(shapes.stiffness / shapes.mass))
    bound = GROUNDED * least * inertia + 1e-9 * np.sum(np.abs(T) * (abs(model.K) @ np.abs(T)), axis=0)
    for k in np.flatnonzero(np.abs(energy) > bound):
        motion = f"{'displacement along' if k < 3 else 'rotation about'} {'xyz'[k % 3]}"
        raise MeshError(
            f"K resists a {motion} of the whole body: {energy[k]:.3g} {'N/m' if k < 3 else 'N m/rad'}, expected none. "
            "Hint: export the matrices of the free body, without supports"
        )
