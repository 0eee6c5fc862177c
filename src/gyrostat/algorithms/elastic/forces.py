"""Kinematics and forces on series in time, with rotors whose motion is not known yet (H04 (3.21)-(3.24), (3.34)).

Outboard, the motion of all bodies follows from the series of the joint coordinates. Inboard, the force that a body
needs contains the torques of the rotors that it carries, I z theta'' + w x I z theta', which are known only when the
torque of the joint that such a rotor drives is known, and two orders shorter. So a rotor's torque is a :class:`Promise`
that travels inward beside the force. It is fulfilled where an equation contains it, and joins the force as soon as all
equations further in contain it and it is long enough for them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting, defined_by
from gyrostat.algorithms.elastic.structure import ACCELERATION, RATE, Structure
from gyrostat.algorithms.recursions.frame_forces import with_frame_forces
from gyrostat.algorithms.recursions.kinematics import Own, Spin, sweep_motion, world_motion
from gyrostat.algorithms.recursions.rne import rne
from gyrostat.algorithms.recursions.transfer import Transfer, transfer
from gyrostat.engine.tracing.taylor import Taylor
from gyrostat.errors import RowError
from gyrostat.graph.network import Component, Network
from gyrostat.graph.transmission import Ties
from gyrostat.spatial.algebra import Array
from gyrostat.spatial.representation import Motion
from gyrostat.spec.rotor import RotorInertia

UNKNOWN = float("nan")
"""Stands for the motion of rotors on the way out; no row that is used there reads it."""


@dataclass
class Promise:
    """A force (6,) that rotors exert on what carries them, with ``what`` of them: RATE or ACCELERATION."""

    rotors: tuple[int, ...]
    what: int
    make: Callable[[], Array]

    @cached_property
    def force(self) -> Array:
        return self.make()

    def moved(self, move: Callable[[Array], Array]) -> Promise:
        return Promise(self.rotors, self.what, lambda: move(self.force))


@dataclass(frozen=True)
class Pull:
    """Force (6,) through a port, as far as it is known, and what will be added to it."""

    f: Array
    promises: tuple[Promise, ...] = ()

    def __add__(self, other: Pull) -> Pull:
        return Pull(self.f + other.f, self.promises + other.promises)

    def less(self, load: Array | None) -> Pull:
        return self if load is None else Pull(self.f - load, self.promises)


NOTHING = Pull(np.zeros(6))


class ElasticForces(ABC):
    """Kinematics outward and forces inward; ``q``: series of the joint coordinates. Everything is computed when it is
    first asked for. What moves the rotors, :meth:`motion`, is said elsewhere."""

    def __init__(self, net: Network, on: Setting, plan: Structure, q: list[Taylor]):
        self.net, self.on, self.plan = net, on, plan
        rotors = net.model.nv - plan.joints
        v = [x.rate() for x in q]
        self.q, self.v, self.a = (self._with_unknown(x, rotors) for x in (q, v, [x.rate() for x in v]))
        self.transfers: dict[str, Transfer] = {}
        self.carriers: dict[str, Motion] = {}
        self.actions: dict[str, Any] = {}
        self.motions = sweep_motion(net, on, self.q, self.v, self.a, world_motion(on.gravity.acceleration), self._begin)
        self.loads = with_frame_forces(net, on, self.motions, {})
        self.known: dict[Any, Any] = {}

    @staticmethod
    def _with_unknown(x: list[Taylor], rotors: int) -> Array:
        series = np.empty(len(x) + rotors, dtype=object)
        series[:] = [*x, *[UNKNOWN] * rotors]
        return series

    def _begin(self, c: Component, motion: Motion, memo: Any, own: Own) -> None:
        if transfer.serves(c):
            self.transfers[c.name] = transfer.of(c)(c, self.on, motion, memo)
        if self.waits(c):
            self.carriers[c.name] = motion
        else:
            self.actions[c.name] = rne.of(c)(c, self.on, motion, memo)

    def _rotors(self, ties: Ties) -> tuple[int, ...]:
        return tuple(k for k, _ in ties if k >= self.plan.joints)

    def waits(self, c: Component) -> bool:
        """Whether it is a rotor behind a spring."""
        return not c.outports and any(self._rotors(ties) for ties in c.ties)

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        if key not in self.known:
            self.known[key] = make()
        return self.known[key]

    # ------------------------------------------------------------------ forces, inward
    def behind(self, c: Component, name: str) -> Pull:
        """At an outport: what everything outboard needs."""
        port = c.outports[name]
        total = NOTHING
        for inport in self.net.feeds[port]:
            fed = self.net.components[self.net.owner[inport]]
            total = total + self.needed(fed).less(self.loads.get(inport))
        return total.less(self.loads.get(port))

    def needed(self, c: Component) -> Pull:
        """At the inport of a component."""
        return self.once(("needed", c.name), lambda: self._needed(c))

    def _needed(self, c: Component) -> Pull:
        if self.waits(c):
            return self._promised(c)
        if c.ties and c.outports:
            rows = self._inboard(c)
            further_in = tuple(
                p.moved(self._carry(c, name))
                for name in c.outports
                for p in self.gathered(c, name)[1]
                if any(self._contains(k, p) for k in rows)
            )
            return Pull(self.action(c)[0], further_in)
        pulls = {name: self.behind(c, name) for name in c.outports}
        f, _ = self.actions[c.name]({name: pull.f for name, pull in pulls.items()})
        return Pull(f, tuple(p.moved(self._carry(c, name)) for name, pull in pulls.items() for p in pull.promises))

    def _carry(self, c: Component, name: str) -> Callable[[Array], Array]:
        """How a force goes from an outport to the inport."""
        if c.name in self.transfers:
            return self.transfers[c.name].shifts[name].force
        action, none = self.actions[c.name], {other: np.zeros(6) for other in c.outports}
        return lambda f: action({**none, name: f})[0] - action(none)[0]  # a component from elsewhere

    def gathered(self, c: Component, name: str) -> tuple[Array, list[Promise]]:
        """Behind a joint, at an outport: the force with all promises that may join it, and the others."""
        return self.once(("gathered", c.name, name), lambda: self._gathered(c, name))

    def _gathered(self, c: Component, name: str) -> tuple[Array, list[Promise]]:
        pull = self.behind(c, name)
        further = self._inboard(c)
        rows = [*self._rows(c), *further]
        need = max((self.plan.alpha[k] for k in further), default=0)
        f, left = pull.f, []
        for p in pull.promises:
            if all(self._contains(k, p) for k in rows) and self._length(p) >= need:
                f = f + p.force
            else:
                left.append(p)
        return f, left

    def action(self, c: Component) -> tuple[Array, Array]:
        """Force in front of a joint, and its generalised forces, by what is gathered behind it."""
        forces = {name: self.gathered(c, name)[0] for name in c.outports}
        return self.once(("action", c.name), lambda: self.actions[c.name](forces))

    def _contains(self, row: int, p: Promise) -> bool:
        """Whether the equation of a joint contains what is promised."""
        return any(self.plan.acts.get((row, r), 0) >= p.what for r in p.rotors)

    def _length(self, p: Promise) -> int:
        """Order of the series that a promise will be."""
        return min(self.plan.alpha[self.plan.driver[r].joint] for r in p.rotors) - p.what

    def _rows(self, c: Component) -> list[int]:
        return [k for ties in c.ties for k, _ in ties if k < self.plan.joints]

    def _inboard(self, c: Component) -> list[int]:
        """Equations of the joints inboard of a component."""
        if c.inport is None:
            return []
        return [k for before, _ in self.net.path(self.net.source[c.inport]) for k in self._rows(before)]

    # ------------------------------------------------------------------ rotors
    def _promised(self, c: Component) -> Pull:
        if defined_by(c) is not RotorInertia:
            raise RowError(
                f"elastic inverse dynamics: '{c.name}' of kind {c.kind.__name__} turns with a rotor behind a spring, "
                "and only rotors may. Hint: connect its shaft to the joint's side of the spring"
            )
        (ties,) = c.ties

        def part(what: int) -> Promise:
            def make() -> Array:
                v, a = (self._spin(ties)[0], 0.0) if what == RATE else (0.0, self._spin(ties)[1])
                return self._row_of_rotor(c, Spin(v, a))[0]

            return Promise(self._rotors(ties), what, make)

        return Pull(np.zeros(6), (part(RATE), part(ACCELERATION)))

    def _row_of_rotor(self, c: Component, spin: Spin) -> tuple[Array, Array]:
        return rne.of(c)(c, self.on, self.carriers[c.name], spin)({})

    def _spin(self, ties: Ties) -> tuple[Any, Any]:
        v: Any = 0.0
        a: Any = 0.0
        for k, factor in ties:
            _, rate, change = self.motion(k)
            v, a = v + rate * factor, a + change * factor
        return v, a

    def force(self, c: Component) -> Array:
        """Generalised forces of a component."""
        return self.once(("force", c.name), lambda: self._made(c))

    def _made(self, c: Component) -> Array:
        if self.waits(c):
            return self._row_of_rotor(c, Spin(*self._spin(c.ties[0])))[1]
        if not c.outports:
            return self.actions[c.name]({})[1]
        u = self.action(c)[1]
        none = {name: np.zeros(6) for name in c.outports}
        still: Array | None = None
        for name in c.outports:
            for p in self.gathered(c, name)[1]:
                if any(self._contains(k, p) for k in self._rows(c)):
                    still = self.actions[c.name](none)[1] if still is None else still
                    u = u + self.actions[c.name]({**none, name: p.force})[1] - still
        return u

    @abstractmethod
    def motion(self, rate: int) -> tuple[Taylor, Taylor, Taylor]:
        """Coordinate, rate and acceleration of a joint or of a rotor."""
