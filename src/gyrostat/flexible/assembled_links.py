"""Assembly of reduced links over hinges [AS 2.2, program MON]: M(q) U'' + D U' + K U = R + F, with the matrices of the
nominal configuration q(t) alone.

Every frame of the mechanism has a small displacement d (6,), turn and shift in its own axes, beside its nominal motion.
Outwards from the base it is a sum over the variables U,

    hinge:   d_b = d_a + (axis, 0) mu              three displacements coincide, the turn about the axis is free
    body:    d moves rigidly along
    link:    d_b = d_a moved rigidly + displacements of its end section, seen from the first one

and U holds the angles mu of the hinges, and for each link the kept displacements of its finite-element model, reduced
by [AS (12)-(18)]. M and R are sums of those of bodies and links; R are minus the inertia forces and weights of the
nominal motion. As in AS the small displacements have inertia by M(q) alone: Coriolis forces on them, and the stiffness
that rotation, forces and weight give to bent links, are left out."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.errors import SpecError, nearest
from gyrostat.flexible.assembled_beams import reduced_lines, variable_names
from gyrostat.flexible.superposed_equations import STRETCH, Sample
from gyrostat.flexible.superposed_nominal import Nominal
from gyrostat.solvers.functions import fk, rnea
from gyrostat.spatial.algebra import skew
from gyrostat.spec.entity import Entity
from gyrostat.spec.flexible_beam import FlexibleBeam
from gyrostat.spec.joint import Joint
from gyrostat.spec.rigid_body import RigidBody

Array = np.ndarray
TX, TY, TZ, UX, UY, UZ = range(6)
FAMILIES = {"v": (UY, TZ, 1.0), "w": (UZ, TY, -1.0), "twist": (TX, TX, 0.0), "stretch": (UX, UX, 0.0)}
"""Family of a link -> where displacement c0 and slope c1 of its first section are in d, and the sign of the latter."""


class AssembledLinks:
    """The equations of a tree of revolute hinges, rigid bodies and beams on a fixed base, along a nominal motion.

    ``names`` of U: hinges, and ``boom.v``, ``boom.v'``, ``boom.v@1.5``, ``boom.w``, ..., ``boom.twist``,
    ``boom.stretch``: displacements of the end section, and at places [m] between, seen from the first one."""

    shared = True

    def __init__(self, given: Nominal, inside: int, elements: int, who: str):
        self.given, self.who = given, who
        self.lines = reduced_lines(given, inside, elements, who)
        self.names: tuple[str, ...] = tuple(variable_names(given, self.lines))
        self.free = np.arange(len(self.names))
        self.rows = np.array([self.names.index(name) for name in given.rigid.dofs])
        self.K, self.D = self._stiffness()
        self._stretch: tuple[int, tuple[Array, ...]] = 0, ()

    @property
    def t(self) -> Array:
        return self.given.t

    def turning(self, k: int | slice) -> None:
        """No coordinate is a quaternion."""
        return

    def sample(self, k: int) -> Sample:
        """At the instant t[k]."""
        first, rows = self._stretch
        if not rows or not first <= k < first + len(rows[0]):
            first = k
            self._stretch = first, (rows := self.matrices(slice(first, first + STRETCH)))
        M, D, K, r = (x[k - first : k - first + 1] for x in rows)
        return Sample(M, D, K, r, None)

    def matrices(self, k: slice) -> tuple[Array, Array, Array, Array]:
        """M, D, K (samples, n, n) and r (samples, n); r of hinges are the efforts of the rigid robot."""
        n, count = len(self.names), len(self.t[k])
        M, r = np.zeros((count, n, n)), np.zeros((count, n))
        for X, mass, force in self._parts(k):
            M += np.swapaxes(X, 1, 2) @ mass @ X
            r += np.einsum("tij,ti->tj", X, force)
        r[:, self.rows] = self.efforts(k)
        return M, np.broadcast_to(self.D, M.shape), np.broadcast_to(self.K, M.shape), r

    def efforts(self, k: slice) -> Array:
        """Generalised forces (samples, n') of the hinges in the nominal motion."""
        given = self.given
        return rnea(given.model, given.q[k], given.v[k], given.a[k])[:, given.places]

    def displacement(self, port: str, k: Any) -> Array:
        """(samples, 6, n): d of a port for unit U, in its own axes."""
        displacements = self._displacements(k)
        if port not in displacements:
            remedy = nearest(str(port), displacements)
            raise SpecError.one(self.who, "assembled-port", f"'{port}' is no port of the assembly", remedy, port)
        return displacements[port]

    # ------------------------------------------------------------------ outwards
    def _displacements(self, k: Any) -> dict[str, Array]:
        """By port."""
        given, wiring = self.given, self.given.model.wiring
        places = fk(given.model, given.q[k])
        at: dict[str, Array] = {}
        for visit in wiring.tree.visits:
            name, entity = visit.entity, wiring.entities[visit.entity]
            for port in (port.name for port in entity.ports if port.kind == "spatial"):
                if visit.source is None:
                    at[f"{name}.{port}"] = np.zeros((len(given.t[k]), 6, len(self.names)))
                    continue
                moved = _moved(places[f"{name}.{visit.inport}"], places[f"{name}.{port}"]) @ at[visit.source]
                at[f"{name}.{port}"] = moved if port == visit.inport else moved + self._added(name, entity, port)
        return at

    def _added(self, name: str, entity: Entity, port: str) -> Array:
        """(6, n): displacement of an outport beside that of the inport."""
        if isinstance(entity, FlexibleBeam) and port == "b":
            return self._end(name)
        E = np.zeros((6, len(self.names)))
        if isinstance(entity, Joint) and name in self.names:
            E[:3, self.names.index(name)] = np.array(entity.axis) * (1.0 if port == "b" else -1.0)
        return E

    def _end(self, name: str) -> Array:
        """(6, n): displacement of a beam's last section, seen from the first one."""
        E = np.zeros((6, len(self.names)))
        for family, (shift, slope, sign) in FAMILIES.items():
            E[shift, self.names.index(f"{name}.{family}")] = 1.0
            if sign:
                E[slope, self.names.index(f"{name}.{family}'")] = sign
        return E

    def _parts(self, k: slice) -> list[tuple[Array, Array, Array]]:
        """(X, mass, force) of every body and line: displacements X (samples, m, n) of its coordinates, its mass matrix
        (m, m), and the forces (samples, m) that the nominal motion needs."""
        given = self.given
        entities, displacements = given.model.wiring.entities, self._displacements(k)
        motions = fk(given.model, given.q[k], given.v[k], given.a[k])
        parts: list[tuple[Array, Array, Array]] = []
        for name, entity in entities.items():
            if isinstance(entity, RigidBody):
                frame = f"{name}.origin"
                mass, force = _of_body(entity, *_felt(motions[frame], given))
                parts.append((displacements[frame], mass, force))
            elif isinstance(entity, FlexibleBeam):
                parts += self._of_link(name, displacements[f"{name}.a"], *_felt(motions[f"{name}.a"], given))
        return parts

    def _of_link(self, name: str, d: Array, a: Array, w: Array) -> list[tuple[Array, Array, Array]]:
        W = skew_all(a[:, :3]) + skew_all(w) @ skew_all(w)
        fields = {
            "v": (a[:, 4], W[:, 1, 0]), "w": (a[:, 5], W[:, 2, 0]), "twist": (a[:, 0], 0.0 * a[:, 0]),
            "stretch": (a[:, 3], W[:, 0, 0]),
        }  # fmt: skip
        parts: list[tuple[Array, Array, Array]] = []
        for family, (shift, slope, sign) in FAMILIES.items():
            line = self.lines[name][family]
            X = line.rigid[:, :1] * d[:, None, shift] + (sign * line.rigid[:, 1:]) * d[:, None, slope]
            X = X + self._own(name, family)
            parts.append((X, line.M, np.stack(fields[family], axis=1) @ line.loads.T))
        return parts

    def _own(self, name: str, family: str) -> Array:
        """(k, n): the kept displacements that are variables."""
        line = self.lines[name][family]
        S = np.zeros((len(line.M), len(self.names)))
        begin = self.names.index(f"{name}.{family}")
        for row in range(line.first, len(line.M)):
            S[row, begin + row - line.first] = 1.0
        return S

    def _stiffness(self) -> tuple[Array, Array]:
        n = len(self.names)
        K, D = np.zeros((2, n, n))
        for name, families in self.lines.items():
            damping = getattr(self.given.model.wiring.entities[name], "damping", 0.0)
            for family, line in families.items():
                S = self._own(name, family)
                K += (own := S.T @ line.K @ S)
                D += float(damping) * own
        return K, D


# ------------------------------------------------------------------------------------------------ parts
def skew_all(w: Array) -> Array:
    """w~ (samples, 3, 3)."""
    return np.stack([skew(x) for x in w])


def _moved(here: Any, there: Any) -> Array:
    """(samples, 6, 6): displacement of ``here`` in its axes -> that of ``there``, rigidly connected, in its own."""
    R = np.swapaxes(there.R, 1, 2) @ here.R
    p = np.einsum("tji,tj->ti", here.R, there.p - here.p)
    X = np.zeros((len(R), 6, 6))
    X[:, :3, :3] = X[:, 3:, 3:] = R
    X[:, 3:, :3] = -R @ skew_all(p)
    return X


def _felt(motion: Any, given: Nominal) -> tuple[Array, Array]:
    """Angular acceleration and that of the origin less gravity (samples, 6), and w (samples, 3), in the frame's
    axes."""
    a = np.array(motion.acceleration("local"))
    g = np.array(getattr(given.model.context.gravity, "g", given.model.context.gravity), dtype=float)
    a[:, 3:] -= np.einsum("tji,j->ti", motion.R, g)
    return a, motion.V[:, :3]


def _of_body(body: RigidBody, a: Array, w: Array) -> tuple[Array, Array]:
    """Inertia (6, 6) at the body's origin, and the forces (samples, 6) of Newton and Euler."""
    m, c, J = body.mass, np.array(body.com), np.array(body.inertia)
    J = J + m * (c @ c * np.eye(3) - np.outer(c, c))
    M = np.block([[J, m * skew(c)], [-m * skew(c), m * np.eye(3)]])
    turning = np.cross(w, w @ J.T) + np.cross(w, np.array(body.momentum))
    return M, a @ M.T + np.concatenate([turning, m * np.cross(w, np.cross(w, c))], axis=1)
