"""Another structure takes over at an event (AS 1, C6.6): where the robot then is, and how fast it goes on.

Both models have bodies in common, which stay where they are. Coordinates of joints that both have keep their values;
those of new joints are such that the common bodies do not move. With K_o v_o and K_n v_n, the twists of the common
bodies and the rates of the common joints and shafts,

    K_n Z z = K_o v-                 if that has a solution: bodies go on as they were           (release)
    T^T M_o T z = T^T M_o v-         else, where the new motions are some of the old ones, K_o T = K_n Z: the inelastic
                                     impact that keeps the momentum along all new motions
                                                                             (grasp, dock, lock)  [H04 (3.68)-(3.70)]

and v+ = Z z, with the motions Z that loops and wheels of the new model leave, J Z = 0. M_o is the mass matrix of the
old model with its rotors and gears: of all new motions v+ is the nearest one in its metric."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from gyrostat.algorithms.constrained.loop_numbers import loop_numbers
from gyrostat.configuration.manifold import integrate, neutral
from gyrostat.configuration.packing import coordinates, rates
from gyrostat.errors import StateError
from gyrostat.graph.network import kept_network
from gyrostat.solvers.dynamics.actuator_efforts import null_space
from gyrostat.solvers.functions import crba, fk
from gyrostat.solvers.kinematics.closed_configuration import close
from gyrostat.spatial import so3
from gyrostat.spec.model import Model
from gyrostat.spec.rigid_body import RigidBody

Array = np.ndarray
WHO = "simulate"
PLACED = 1e-6
"""How far [m, rad] a body may be from where it was, by the errors of a run."""
SAME = 1e-8
"""Differences of twists, relative to one plus their size, that are rounding."""
TURNS = 50


class NewState(NamedTuple):
    """q (nq,), v (nv,) in the coordinates of the new model."""

    q: Array
    v: Array


def another_structure(old: Model, new: Model) -> bool:
    """Whether coordinates, or what closes loops and rolls, are others."""
    if new.coordinates != old.coordinates or new.dofs != old.dofs:
        return True
    return _closures(old) != _closures(new)


def _closures(model: Model) -> list[tuple[str, str]]:
    return [(closure.name, closure.kind) for closure in kept_network(model).closures]


def changed(old: Model, q: Array, v: Array, new: Model, given: tuple[Any, Any], who: str, t: float) -> NewState:
    """The state of ``new`` after that of ``old`` at t [s]; ``given``: its q and v where they are said, else None."""
    change = _Change(old, new, who, t)
    q_new = change.place(q) if given[0] is None else np.array(coordinates(new, given[0], f"{WHO}: {who}"))
    q_new = change.closed(q_new)
    if given[1] is not None:
        return NewState(q_new, change.closing(q_new, np.array(rates(new, given[1], f"{WHO}: {who}", "v"))))
    return NewState(q_new, change.speed(q, v, q_new))


class _Change:
    def __init__(self, old: Model, new: Model, who: str, t: float):
        self.old, self.new, self.who, self.t = old, new, who, t
        before, after = _bodies(old), _bodies(new)
        self.common = [name for name in after if name in before]
        self.lost, self.added = ([x for x in one if x not in two] for one, two in ((before, after), (after, before)))
        self.dofs = [dof for dof in new.dofs if dof in old.dofs]

    # ------------------------------------------------------------------ where
    def place(self, q: Array) -> Array:
        """Coordinates of the new model, in which common bodies are where they are."""
        found, known = neutral(self.new).copy(), np.zeros(self.new.nv, dtype=bool)
        for block in self.new.layout:
            was = self.old.layout.of.get(block.entity)
            if was is not None and was.nq == block.nq and was.nv == block.nv:
                found[block.q], known[block.v] = q[was.q], True
        places = _places(self.old, q, self.common, self.t)
        unknown, error = np.flatnonzero(~known), np.inf
        for _ in range(TURNS if len(unknown) else 0):
            gap = self._gap(found, places)
            if np.abs(gap).max(initial=0.0) >= error:
                break
            error = float(np.abs(gap).max(initial=0.0))
            J = _twists(self.new, found, self.common, self.t)[:, unknown]
            step = np.zeros(self.new.nv)
            step[unknown] = np.linalg.lstsq(J, gap, rcond=1e-10)[0]
            found = integrate(self.new, found, step)
        self._expect_placed(self._gap(found, places))
        return found

    def _gap(self, q: Array, places: tuple[Array, Array]) -> Array:
        """Displacements (6 bodies,), along twists, from where the new model has its bodies to where they were."""
        R, p = _places(self.new, q, self.common, self.t)
        turn = so3.log(np.einsum("bij,bkj->bik", places[0], R))
        return np.concatenate([turn, places[1] - p], axis=1).ravel()

    def _expect_placed(self, gap: Array) -> None:
        worst = int(np.argmax(np.abs(gap))) if len(gap) else 0
        if len(gap) and not abs(gap[worst]) <= PLACED:
            body = self.common[worst // 6]
            raise StateError(
                f"{WHO}: {self.who} at t = {self.t:.9g} s: '{body}' would jump by {np.abs(gap[worst]):.3g} (m or rad) "
                f"from where it is to where '{self.new.name}' has it, expected {PLACED:g} at most. Hint: make the "
                "model for where it is (gs.grasp(model, q, body, by), model.lock(joint, value)); or return "
                "(model, q, v) if it jumps"
            )

    def closed(self, q: Array) -> Array:
        """With loops and wheels that stay constraints closed to rounding; those that are open are refused."""
        net = kept_network(self.new)
        if not net.closures:
            return q
        g = np.abs(loop_numbers(self.new)(q).g)
        worst = int(np.argmax(g))
        if not g[worst] <= PLACED:
            rows = [closure for closure in net.closures for _ in closure.equations]
            raise StateError(
                f"{WHO}: {self.who} at t = {self.t:.9g} s: '{rows[worst].name}' of '{self.new.name}' cannot be put on, "
                f"it is open by {g[worst]:.3g} (m, or of a direction), expected {PLACED:g} at most. Hint: an event "
                "where its frames meet, or at=... where they are"
            )
        return np.asarray(close(self.new, q))

    # ------------------------------------------------------------------ how fast
    def speed(self, q: Array, v: Array, q_new: Array) -> Array:
        """Rates after the impact of what moves together from now on."""
        Z = self._free(q_new)
        before, after = self._marks(self.old, q), self._marks(self.new, q_new) @ Z
        asked = before @ v
        found, rank = _solved(after, asked)
        if rank < Z.shape[1]:
            self._refuse_unknown(after, Z)
        if np.abs(after @ found - asked).max(initial=0.0) <= SAME * (1.0 + np.abs(asked).max(initial=0.0)):
            return Z @ found
        T, _ = _solved(before, after)
        contained = np.abs(before @ T - after).max(initial=0.0) <= SAME * (1.0 + np.abs(after).max(initial=0.0))
        if self.lost or self.added or not contained:
            what = f"'{(self.lost or self.added)[0]}' is in one of them only" if self.lost or self.added else (
                "some motions of the new one are none of the old one, and others the other way round"
            )  # fmt: skip
            raise StateError(
                f"{WHO}: {self.who} at t = {self.t:.9g} s: how fast '{self.new.name}' goes on does not follow from "
                f"'{self.old.name}': {what}. Hint: return (model, q, v), or change one thing after the other"
            )
        M = crba(self.old, q, **_timed(self.old, self.t))
        return Z @ np.linalg.solve(T.T @ M @ T, T.T @ (M @ v))

    def closing(self, q: Array, v: Array) -> Array:
        """Given rates after the impact of constraints of the new model."""
        Z = self._free(q)
        if Z.shape[1] == self.new.nv:
            return v
        M = crba(self.new, q, **_timed(self.new, self.t))
        return Z @ np.linalg.solve(Z.T @ M @ Z, Z.T @ (M @ v))

    def _free(self, q: Array) -> Array:
        """Motions (nv, k) that constraints of the new model leave."""
        if not kept_network(self.new).closures:
            return np.eye(self.new.nv)
        return null_space(loop_numbers(self.new)(q).J, self.new.nv)

    def _marks(self, model: Model, q: Array) -> Array:
        """What both models tell of a motion, by their rates: (6 bodies + dofs, nv)."""
        own = np.eye(model.nv)[[model.dofs.index(dof) for dof in self.dofs]]
        return np.concatenate([_twists(model, q, self.common, self.t), own.reshape(-1, model.nv)])

    def _refuse_unknown(self, marks: Array, Z: Array) -> None:
        _, _, vt = np.linalg.svd(marks)
        dof = self.new.dofs[int(np.argmax(np.abs(Z @ vt[-1])))]
        raise StateError(
            f"{WHO}: {self.who} at t = {self.t:.9g} s: nothing of '{self.old.name}' tells how fast '{dof}' of "
            f"'{self.new.name}' moves. Hint: return (model, q, v)"
        )


def _solved(A: Array, b: Array) -> tuple[Array, int]:
    """x of least squares, and the rank."""
    if not A.shape[0]:
        return np.zeros((A.shape[1], *b.shape[1:])), 0
    x, _, rank, _ = np.linalg.lstsq(A, b, rcond=1e-10)
    return x, int(rank)


def _bodies(model: Model) -> list[str]:
    located = kept_network(model).located
    return [
        name
        for name, entity in model.wiring.entities.items()
        if isinstance(entity, RigidBody) and f"{name}.origin" in located
    ]


def _timed(model: Model, t: float) -> dict[str, Any]:
    return {} if isinstance(model.context.base, str) else {"t": t}


def _places(model: Model, q: Array, bodies: Iterable[str], t: float) -> tuple[Array, Array]:
    """R (bodies, 3, 3) and p (bodies, 3) in the world."""
    at = fk(model, q, **_timed(model, t))
    frames = [at[f"{name}.origin"] for name in bodies]
    R, p = ([getattr(frame, key) for frame in frames] for key in ("R", "p"))
    return np.reshape(R, (-1, 3, 3)), np.reshape(p, (-1, 3))


def _twists(model: Model, q: Array, bodies: Iterable[str], t: float) -> Array:
    """(6 bodies, nv): velocities in the world's axes, of the origins, for unit rates."""
    n = model.nv
    q, v = np.broadcast_to(q, (n + 1, model.nq)), np.concatenate([np.eye(n), np.zeros((1, n))])
    at = fk(model, q, v, t=None if isinstance(model.context.base, str) else np.full(n + 1, t))
    parts = [at[f"{name}.origin"].velocity("aligned") for name in bodies]
    return np.concatenate([np.zeros((0, n)), *((x[:n] - x[n]).T for x in parts)])
