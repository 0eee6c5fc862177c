"""Where shapes are, in one call of machine code: gaps of those that have a closed form, with their rates; poses and
Jacobians of the others, for coal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.contact.contact_kinematics import contact_kinematics, place_of
from gyrostat.algorithms.contact.contact_normals import Extent
from gyrostat.algorithms.contact.nearest_points import Solids, extents_of_pair, fitting_points, solids_of
from gyrostat.algorithms.matrices.body_jacobians import pseudo_velocities, weightless
from gyrostat.algorithms.recursions.kinematics import sweep_motion
from gyrostat.configuration.model_cache import cached_on
from gyrostat.engine.kernel import Kernel
from gyrostat.engine.tracing.record import record
from gyrostat.errors import GyrostatError
from gyrostat.graph.contacts import Candidate, Surface
from gyrostat.graph.network import Network, kept_network
from gyrostat.solvers.collision.pair_choice import CollisionPair
from gyrostat.spatial.gravity import Gravity
from gyrostat.spatial.representation import Pose, representation
from gyrostat.spec.model import Model

Array = np.ndarray
ABSOLUTE = representation("absolute")


@dataclass(frozen=True)
class Gap:
    """Of one candidate: gap [m], normal from b to a, points on a and b, gradient (nv,) of the gap; ``near``: False
    where only a lower bound was needed."""

    gap: float
    normal: Array
    on_a: Array
    on_b: Array
    gradient: Array
    near: bool


class CollisionProgram:
    """All candidates of some pairs of a model."""

    def __init__(self, model: Model, pairs: Sequence[CollisionPair]):
        self.model, self.pairs = model, tuple(pairs)
        self.network = kept_network(model)
        if self.network.driven:
            raise GyrostatError(
                f"distances: the base of '{model.name}' moves with time. Hint: use a fixed or a free base"
            )
        every = [c for pair in self.pairs for c in pair.candidates]
        self.closed = tuple(c for c in every if c.closed_form)
        self.by_coal = tuple(c for c in every if not c.closed_form)
        self.surfaces = {s.name: s for c in self.by_coal for s in (c.a, c.b)}
        self.ports = {s.port: place_of(self.network, s)[0] for s in self.surfaces.values() if s.port}

    @cached_property
    def solids(self) -> tuple[Solids, ...]:
        """coal's shapes of the candidates without a closed form, each made once for a model."""
        kept = cached_on(self.model).setdefault("solids of collision", {})
        for c in self.by_coal:
            if (c.a.name, c.b.name) not in kept:
                one, two = kept.get(c.a.name), kept.get(c.b.name)
                made = solids_of(self.model, c) if one is None or two is None else (one, two)
                kept[c.a.name], kept[c.b.name] = one or made[0], two or made[1]
                kept[c.a.name, c.b.name] = kept[c.a.name], kept[c.b.name]
        return tuple(kept[c.a.name, c.b.name] for c in self.by_coal)

    @cached_property
    def extents(self) -> tuple[tuple[Extent, Extent] | None, ...]:
        """How far the shapes of these candidates reach."""
        return tuple(extents_of_pair(c, s) for c, s in zip(self.by_coal, self.solids, strict=True))

    @cached_property
    def kernel(self) -> Kernel:
        key = "collision", tuple(c.name for c in (*self.closed, *self.by_coal))
        kept = cached_on(self.model)
        if key not in kept:
            kept[key] = Kernel(record(self._placed, {"q": (self.model.nq,)}, "distances"), "distances")
        return kept[key]

    def _placed(self, q: Array) -> dict[str, Array]:
        net, on = self.network, Setting(ABSOLUTE, Gravity(np.zeros(3)), 0.0)
        out = closed_gaps(net, on, self.closed, q)
        out |= {f"J{k}": J for k, J in enumerate(_world_jacobians(net, on, q, list(self.ports.values())))}
        motions = sweep_motion(net, weightless(on, ABSOLUTE), q, np.zeros(net.model.nv), np.zeros(net.model.nv))
        poses = [_pose(net, motions, s) for s in self.surfaces.values()]
        out["R"] = np.array([x.R for x in poses]).reshape(-1, 3, 3)
        out["p"] = np.array([x.p for x in poses]).reshape(-1, 3)
        return {name: value for name, value in out.items() if value.size}

    def gaps(self, q: Array, within: float) -> list[Gap]:
        """Of all candidates at q (nq,), pair by pair."""
        return self.gaps_of(self.kernel.call(q), within)

    def gaps_of(self, out: dict[str, Array], within: float) -> list[Gap]:
        """The same from what the kernel says of one state."""
        closed = iter(range(len(self.closed)))
        made = (self.solids, self.extents) if self.by_coal else ((), ())
        others = iter(zip(self.by_coal, *made, strict=True))
        places = {name: k for k, name in enumerate(self.surfaces)}
        jacobians = {port: out[f"J{k}"] for k, port in enumerate(self.ports)}
        found: list[Gap] = []
        for pair in self.pairs:
            for c in pair.candidates:
                if c.closed_form:
                    k = next(closed)
                    gap, n, x = float(out["gap"][k]), out["normal"][k], out["on_a"][k]
                    found.append(Gap(gap, n, x, x - n * gap, out["gradient"][k], True))
                    continue
                c, solids, extents = next(others)
                a, b = (Pose(out["R"][places[s.name]], out["p"][places[s.name]]) for s in (c.a, c.b))
                gap, n, on_a, on_b, near = fitting_points(c, solids, extents, a, b, within)
                gradient = _along(jacobians.get(c.a.port), on_a, n, self.model.nv)
                found.append(
                    Gap(gap, n, on_a, on_b, gradient - _along(jacobians.get(c.b.port), on_b, n, self.model.nv), near)
                )
        return found


def closed_gaps(net: Network, on: Setting, candidates: Sequence[Candidate], q: Array) -> dict[str, Array]:
    """``gap``, ``normal``, ``on_a``, ``gradient`` of candidates with a closed form, recorded."""
    if not candidates:
        return {}
    found = contact_kinematics(net, on, candidates, q)
    return {"gap": found.gaps, "normal": found.axes[:, 0], "on_a": found.positions, "gradient": found.J[:, 0]}


def _world_jacobians(net: Network, on: Setting, q: Array, ports: Sequence[Any]) -> list[Array]:
    """Twists about the world's origin of outports, per unit of each rate (6, nv)."""
    if not ports:
        return []
    rest = np.zeros(net.model.nv)

    def velocities(v: Array) -> Array:
        motions = sweep_motion(net, on, q, v, rest)
        return np.concatenate([motions[port].V for port in ports])

    if not len(rest):
        return [np.zeros((6, 0)) for _ in ports]
    return list(pseudo_velocities(velocities, len(rest)).reshape(len(ports), 6, len(rest)))


def _pose(net: Network, motions: Any, surface: Surface) -> Pose:
    port, R, p = place_of(net, surface)
    return Pose(R, p) if port is None else motions[port].pose.then(R, p)


def _along(J: Array | None, x: Array, n: Array, nv: int) -> Array:
    """(nv,) velocity along n of the point x of a body with world twists J (6, nv); the world stands still."""
    return np.zeros(nv) if J is None else np.cross(x, n) @ J[:3] + n @ J[3:]


def collision_program(model: Model, pairs: Sequence[CollisionPair]) -> CollisionProgram:
    """The program of these pairs, kept with the model."""
    kept = cached_on(model)
    key = "collision program", tuple((pair.a, pair.b) for pair in pairs)
    if key not in kept:
        kept[key] = CollisionProgram(model, pairs)
    return kept[key]
