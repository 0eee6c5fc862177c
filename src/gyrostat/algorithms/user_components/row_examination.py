"""Rows from elsewhere are looked at once, on random numbers, before they serve: what cannot be is told by name.

Newton-Euler must be linear in the accelerations and in the forces behind a component, forces must do the work that the
motions say (f = phi^T f_k, u = S^T f_k), velocities and accelerations must fit each other, inertia must be symmetric,
and a component that is met by another port than its first must be the same component."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.recursions.kinematics import Own, kinematics
from gyrostat.algorithms.recursions.rne import rne
from gyrostat.algorithms.user_components.component_equations import (
    Equations,
    equations,
    linear_forces,
    placements,
    quadratic_forces,
    run,
)
from gyrostat.engine.tracing.dual import rates_of, with_rates
from gyrostat.errors import RowError
from gyrostat.geometry.rotation import from_quaternion
from gyrostat.graph.lower import Values, lower
from gyrostat.graph.network import Component, Network
from gyrostat.spatial.algebra import Array, compose, skew
from gyrostat.spatial.coordinate_rates import rates_of_coordinates
from gyrostat.spatial.gravity import Gravity, gravity
from gyrostat.spatial.inertia import SpatialInertia, steiner
from gyrostat.spatial.representation import Motion, Pose, representation
from gyrostat.spec.entity import Entity

TOLERANCE = 1e-8
"""Relative: what differs more was meant differently."""
NOWHERE = Gravity(np.zeros(3))


@dataclass(frozen=True)
class Character:
    """What is known of a component from elsewhere: whether its inertia is that of rigid bodies (``rigid``), whether its
    velocity forces are those of its inertia (``inertial``), whether it exerts forces at rest beside its weight
    (``pushes``), whether it has inertia at all (``massive``), whether its weight is that of one body (``weighs``)."""

    rigid: bool
    inertial: bool
    pushes: bool
    massive: bool
    weighs: bool


class Examination:
    """Of one component at a random motion."""

    def __init__(self, network: Network, c: Component):
        rng = np.random.default_rng(7)
        self.network, self.c = network, c
        self.entity: Entity = c.entity or network.model.wiring.entities[c.name]
        self.q, self.v = _random_state(c, self.entity, rng)
        self.pose = Pose(from_quaternion(unit_vector(rng.normal(size=4))), rng.normal(size=3))
        self.V, self.A, self.rng = rng.normal(size=6), rng.normal(size=6), rng

    def character(self) -> Character:
        on, motion = self.on("body"), Motion(self.pose, self.V, self.A)
        own = equations(self.c, on, motion, self.q, self.v)
        self._expect_motions(on, motion, own)
        self._expect_accelerations()
        self._expect_work(on, motion, own)
        self._expect_symmetry(on, motion)
        self._expect_energy(own)
        first = next(port.name for port in self.entity.ports if port.kind == "spatial")
        if self.c.met and self.c.met != first:
            self._expect_the_same(on, first)
        rigid = _close(SpatialInertia.from_matrix(own.M).matrix(), own.M)
        weighs = self._weighs(rigid)
        still = np.concatenate(run(self.c, on, Motion(self.pose, np.zeros(6), np.zeros(6)), self._rest())[1:])
        size = max(1.0, float(np.abs(own.whole).max(initial=0.0)))
        pushes = bool(np.abs(still).max() > TOLERANCE * size)
        return Character(rigid, self._is_inertial(), pushes, bool(np.any(own.whole != 0.0)), weighs)

    def on(self, name: str) -> Setting:
        return Setting(representation(name), NOWHERE)

    def _rest(self) -> Own:
        return Own(self.q, self.v * 0.0, self.v * 0.0)

    def _refuse(self, what: str, hint: str) -> RowError:
        kind = self.c.kind.__name__
        return RowError(f"the rows of kind {kind}, as '{self.c.name}' uses them: {what}. Hint: {hint}")

    def _expect_motions(self, on: Setting, motion: Motion, own: Equations) -> None:
        out, _ = kinematics.of(self.c)(self.c, on, motion, self.q, self.v, self.v * 0.0)
        for name, there in out.items():
            expected = own.shifts[name].motion(motion.V) + own.S[name] @ self.v
            if not _close(there.V, expected):
                raise self._refuse(
                    f"the velocity at '{name}' is {_shown(there.V)}, but accelerations and placement make it phi V + "
                    f"S v = {_shown(expected)}",
                    "V and A at an outport come from the same placement and the same S",
                )

    def _expect_accelerations(self) -> None:
        """In inertial representation A is the rate of V."""
        on, a = self.on("inertial"), self.rng.normal(size=len(self.v))
        turned, moved = skew(self.V[:3]) @ self.pose.R, self.V[3:]
        pose = Pose(with_rates(self.pose.R, turned, 1), with_rates(self.pose.p, moved, 1))
        rates = rates_of_coordinates(self.q, self.v, self.entity.quaternion_at)
        state = with_rates(self.q, rates, 1), with_rates(self.v, a, 1)
        row = kinematics.of(self.c)
        moving, _ = row(self.c, on, Motion(pose, with_rates(self.V, self.A, 1), self.A), *state, a)
        there, _ = row(self.c, on, Motion(self.pose, self.V, self.A), self.q, self.v, a)
        for name, motion in there.items():
            expected = rates_of(moving[name].V, 1)
            if not _close(motion.A, expected):
                raise self._refuse(
                    f"the acceleration at '{name}' is {_shown(motion.A)}, but the rate of its velocity is "
                    f"{_shown(expected)}",
                    "the bias of a joint is (dS/dt) v; representation.through adds the rest",
                )

    def _expect_work(self, on: Setting, motion: Motion, own: Equations) -> None:
        _, memo = kinematics.of(self.c)(self.c, on, motion, self.q, self.v, self.v * 0.0)
        action = rne.of(self.c)(self.c, on, motion, memo)
        none = {name: np.zeros(6) for name in self.c.outports}
        f_0, u_0 = action(none)
        size = max(1.0, float(np.abs(f_0).max()), float(np.abs(u_0).max(initial=0.0)))  # stiff ones: not lost in those
        for name in self.c.outports:
            force = self.rng.normal(size=6) * size
            f, u = action({**none, name: force})
            if not _close(f - f_0, own.shifts[name].force(force)) or not _close(u - u_0, own.S[name].T @ force):
                raise self._refuse(
                    f"a force at '{name}' does other work at the port '{self.c.met}' and on its own rates than the "
                    "motions say",
                    "the force at the inport is the sum of phi^T f, the generalised forces are the sum of S^T f",
                )

    def _expect_symmetry(self, on: Setting, motion: Motion) -> None:
        _, whole, _ = linear_forces(self.c, on, motion, self.q, self.v)
        if not _close(whole, whole.T):
            raise self._refuse(
                "the inertia that is read off them is not symmetric",
                "f and u must come from one inertia: f = M A + G a, u = G^T A + D a",
            )

    def _expect_energy(self, own: Equations) -> None:
        """M and D are those of masses; together they may be those of a rotor that its carrier contains already."""
        for block in (own.M, own.D):
            least, most = (f(np.linalg.eigvalsh(block), initial=0.0) for f in (np.min, np.max))
            if least < -TOLERANCE * max(most, 1e-6, -TOLERANCE * least):
                raise self._refuse(
                    f"the inertia that is read off them has the eigenvalue {least:.6g}, expected none below zero",
                    "check the signs of mass and inertia",
                )

    def _expect_the_same(self, on: Setting, first: str) -> None:
        """Met by another port, it is the component that it is when met by its first one."""
        c, other = self.c, _met_by(self.c, self.entity, first)
        hint = (
            f"c.met is the name of the port by which the component is met, here '{c.met}'; place '{first}' from there"
        )
        told = f"met by '{c.met}' it is another component than met by '{first}'"
        try:
            there, back = placements(c, on, self.q), placements(other, on, self.q)
        except RowError as error:
            raise self._refuse(f"{told}, {error}", hint) from error
        reference = there[first]
        for name, place in (*there.items(), (c.met, (np.eye(3), np.zeros(3)))):
            expected = compose(*reference, *back.get(name, (np.eye(3), np.zeros(3))))
            far = float(np.abs(reference[1]).max())  # there and back: what is left is rounding of the way
            if not _close(place[0], expected[0]) or not _close(place[1], expected[1], size=far):
                raise self._refuse(f"{told}: '{name}' is placed differently", hint)
        here = Motion(Pose(np.eye(3), np.zeros(3)), np.zeros(6), np.zeros(6))
        placed = Motion(Pose(*reference), np.zeros(6), np.zeros(6))
        own, seen = (equations(x, on, at, self.q, self.v * 0.0) for x, at in ((c, here), (other, placed)))
        phi = np.stack([own.shifts[first].motion(unit) for unit in np.eye(6)], axis=1)
        n = len(self.v)
        L = np.block([[phi, own.S[first]], [np.zeros((n, 6)), np.eye(n)]])
        if not _close(own.whole, L.T @ seen.whole @ L):
            raise self._refuse(f"{told}: its inertia differs", hint)
        if not _close(np.concatenate([own.z, own.b]), L.T @ np.concatenate([seen.z, seen.b])):
            raise self._refuse(f"{told}: its forces differ", hint)

    def _weighs(self, rigid: bool) -> bool:
        """In a field of gravity, each component has its own weight; whether it is that of one rigid body."""
        law = gravity(self.network.context.gravity)
        still = Motion(self.pose, np.zeros(6), np.zeros(6))
        M = equations(self.c, self.on("body"), still, self.q, self.v * 0.0).body
        if law.field is None or not rigid or float(M.m) == 0.0:
            return True
        g = np.array([1.0, -2.0, 3.0])
        uniform = self._weight(Gravity(np.zeros(3), lambda p: g))
        expected = self.pose.R.T @ g * M.m
        if not _close(uniform[3:], expected):
            raise self._refuse(
                f"in a field of gravity it has the weight {_shown(uniform[3:])}, expected {_shown(expected)} N",
                "subtract on.representation.force(pose, on.gravity.weight(pose, m, com, J)) from the force",
            )
        com = M.h / M.m
        return _close(self._weight(law), law.weight(self.pose, M.m, com, M.J - M.m * steiner(com)))

    def _weight(self, law: Gravity) -> Array:
        """Wrench (6,) of a field, in the frame of the inport."""
        still = Motion(self.pose, np.zeros(6), np.zeros(6))
        settings = self.on("body"), Setting(representation("body"), law)
        light, heavy = (run(self.c, on, still, self._rest())[1] for on in settings)
        return light - heavy

    def _is_inertial(self) -> bool:
        """Whether the velocity forces do the work that changes the kinetic energy: x . Omega x = x . dM/dt x / 2."""
        on, x = self.on("inertial"), np.concatenate([self.V, self.v])
        still = Motion(self.pose, self.V, np.zeros(6))
        turned = with_rates(self.pose.R, skew(self.V[:3]) @ self.pose.R, 1)
        moved = Motion(Pose(turned, with_rates(self.pose.p, self.V[3:], 1)), self.V, np.zeros(6))
        q = with_rates(self.q, rates_of_coordinates(self.q, self.v, self.entity.quaternion_at), 1)
        change = rates_of(equations(self.c, on, moved, q, self.v).whole, 1)
        power = x @ quadratic_forces(self.c, on, still, self.q, self.v)  # what is linear and inertial does no work
        scale = max(1.0, float(np.abs(equations(self.c, on, still, self.q, self.v).whole).max()))
        return abs(float(power) - 0.5 * float(x @ change @ x)) <= 1e3 * TOLERANCE * scale * float(x @ x) ** 1.5


def _random_state(c: Component, entity: Entity, rng: np.random.Generator) -> tuple[Array, Array]:
    """Of as many coordinates and rates as the component gets, which for a rotor are those of its shaft."""
    q, v = (x.stop - x.start for x in (c.q_at, c.v_at))
    q, v = rng.uniform(-0.5, 0.5, q), rng.normal(size=v)
    at = entity.quaternion_at
    if at is not None:
        q[at : at + 4] = unit_vector(rng.normal(size=4))
    return q, v


def unit_vector(x: Array) -> Array:
    return x / np.sqrt(x @ x)


def _close(x: Any, y: Any, tolerance: float = TOLERANCE, size: float = 1e-6) -> bool:
    """Equal but for rounding, relative to the greatest of them, and at least to ``size``."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    size = max(np.abs(x).max(initial=0.0), np.abs(y).max(initial=0.0), size, 1e-6)
    return bool(np.all(np.abs(x - y) <= tolerance * size))


def _shown(x: Any) -> str:
    return "(" + ", ".join(f"{float(value):.6g}" for value in x) + ")"


def _met_by(c: Component, entity: Entity, port: str) -> Component:
    """The same component, entered by another of its ports."""
    low = lower(entity, Values(c.name, entity, {}), port)
    others = {name: k for name, k in c.outports.items() if name != port} | {c.met: int(c.inport or 0)}
    return replace(c, met=port, props=low.props, places=low.places, inport=c.outports[port], outports=others)
