"""What a step with contacts needs of a model at a state, as one program; which bodies touch is found at run time.

With the viscous damping D of the shafts, which steps take implicitly,

    H = M + h D = L^T diag(d) L,      v_free = v + h H^-1 (tau - f(q, v_m) + D (v_m - v)),
    v_m = v + h/2 H^-1 (tau - f(q, v)),

f Newton-Euler efforts at rest of the accelerations: gyroscopic forces are those of the middle of the step, so that they
gain no energy to second order. Beside it, at the ``end`` of the step without impulses, the placements of the ports that
carry surfaces, and the screw of every rate in the world's axes about the world's origin: angular rate w, velocity of
the point of the body at the origin; a point x of it moves with w x x + that. L keeps the zeros of the tree
[Featherstone 2005]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gyrostat.algorithms.matrices.ltdl import factorise, inboard_rates
from gyrostat.algorithms.recursions.crba import composite_mass_matrix
from gyrostat.algorithms.recursions.kinematics import JointMemo, Own, kinematics, sweep_motion
from gyrostat.algorithms.recursions.rne import sweep_forces
from gyrostat.algorithms.shafts.elements import is_zero, shaft_motion, shafts
from gyrostat.engine.tracing.choose import maximum
from gyrostat.engine.tracing.dual import Dual, rates_of
from gyrostat.engine.tracing.program import Program
from gyrostat.engine.tracing.record import record
from gyrostat.graph.network import Component, Network
from gyrostat.spatial.algebra import cross
from gyrostat.spatial.representation import Motion, Pose
from gyrostat.spec.shaft_elements import Damper, Friction

if TYPE_CHECKING:
    from gyrostat.simulate.constraints.dry_friction import DryFriction
    from gyrostat.simulate.kernels.model_kernels import ModelKernels

Array = np.ndarray
LEVEL = 7
"""Of rates that belong to this module alone."""
WORLD = Pose(np.eye(3), np.zeros(3))


@dataclass(frozen=True)
class ContactScene:
    """``program``: (t, q, end, v, tau, h, live) to v_free (nv,), v_turned (nv,): v changed by gyroscopic forces alone,
    L by rows, scale (nv,) = d^-1/2, poses (ports, 12), screws (own rates, 6), factors, boxes (frictions, 2) [N m, N],
    ends (followers,).

    ``inboard``: columns of each row of L, in outward order; ``chains``: of each port (rate of the model, screw, factor)
    along its path; ``ends``: of each follower asked for (rate, factor)."""

    program: Program
    inboard: Mapping[int, tuple[int, ...]]
    chains: tuple[tuple[tuple[int, int, int], ...], ...]
    ends: tuple[tuple[tuple[int, int], ...], ...]


class _Factors:
    """Factors of ties: numbers and recorded ones, each once."""

    def __init__(self) -> None:
        self.values: list[Any] = [1.0]

    def number(self, x: Any) -> int:
        for k, known in enumerate(self.values):
            if known is x or (isinstance(x, int | float) and isinstance(known, int | float) and x == known):
                return k
        self.values.append(x)
        return len(self.values) - 1


def contact_scene(
    kernels: ModelKernels,
    ports: Sequence[int | None],
    dry: DryFriction | None,
    followers: Sequence[int] = (),
) -> ContactScene:
    """Of outports of the network, None for the world; ``followers``: those whose coordinates are asked for."""
    model = kernels.model
    n, found = model.nv, {}

    def function(t: Array, q: Array, end: Array, v: Array, tau: Array, h: Array, live: Array) -> Mapping[str, Any]:
        net, on = kernels.scene(t[0], live)
        screws, motions = _screws(net, on, end, v)
        damping = implicit_damping(net, q, v)
        inboard = with_fill(inboard_rates(net), damping)
        H = np.array(composite_mass_matrix(net, on, q), dtype=object)
        for (j, k), d in damping.items():
            H[j, k] = H[j, k] + h[0] * d
        factors = factorise(inboard, H)
        middle = v + factors.solve(0.5 * h[0] * (tau - sweep_forces(net, on, q, v, np.zeros(n))[0]))
        rest = sweep_forces(net, on, q, np.zeros(n), np.zeros(n))[0]
        own = sweep_forces(net, on, q, middle, np.zeros(n))[0] - _product(damping, middle) - rest
        turned = v - factors.solve(h[0] * own)
        ties = _Factors()
        now, moved = net.at(end, v), net.at(q, v).transmission
        chains = tuple(() if port is None else _chain(now, port, screws, ties) for port in ports)
        ends = tuple(tuple((k, ties.number(x)) for k, x in moved.followers[i].ties) for i in followers)
        found["inboard"], found["chains"], found["ends"] = inboard, chains, ends
        at = [WORLD if port is None else motions[port].pose for port in ports]
        poses = [np.concatenate([np.ravel(pose.R), pose.p]) for pose in at]
        return {
            "v_free": turned + factors.solve(h[0] * (tau - rest - _product(damping, v))),
            "v_turned": turned,
            "L": np.array([factors.L[k, j] for k, js in inboard.items() for j in js] or [0.0]),
            "scale": np.array([np.sqrt(factors.inverse[k]) for k in range(n)]),
            "poses": np.concatenate([np.zeros(0), *poses, np.zeros(1)]),
            "screws": np.concatenate([np.zeros(0), *(s for own in screws.values() for s in own), np.zeros(1)]),
            "factors": np.array(ties.values),
            "boxes": np.array(_boxes(dry, v)),
            "ends": np.array([moved.followers[i].angle(q, moved.place) for i in followers] or [0.0]),
        }

    shapes = {
        "t": (1,),
        "q": (model.nq,),
        "end": (model.nq,),
        "v": (n,),
        "tau": (n,),
        "h": (1,),
        "live": (kernels.live_size,),
    }
    with np.errstate(all="ignore"):
        program = record(function, shapes, f"{model.name}_contact_scene")
    return ContactScene(program, found["inboard"], found["chains"], found["ends"])


Screws = dict[tuple[str, str], list[Array]]
"""Screws (6,) of the own rates of a component at one of its outports, in the world's axes about its origin."""


def _screws(net: Network, on: Any, q: Array, v: Array) -> tuple[Screws, Mapping[int, Motion]]:
    """Screws of all components with rates, and the motions at all ports."""
    met: dict[str, tuple[Motion, Any, Own]] = {}

    def begin(c: Component, motion: Motion, memo: Any, own: Own) -> None:
        met[c.name] = motion, memo, own

    motions = sweep_motion(net, on, q, v, np.zeros(len(v)), begin=begin)
    screws: Screws = {}
    for c in net.components:
        n = c.v_at.stop - c.v_at.start
        for name, S in _subspaces(c, on, *met[c.name]).items() if n and c.outports else ():
            pose = motions[c.outports[name]].pose
            axes = [(pose.R @ s[:3], pose.R @ s[3:]) for s in np.asarray(S).T]
            screws[c.name, name] = [np.concatenate([w, u + cross(pose.p, w)]) for w, u in axes]
    return screws, motions


def _subspaces(c: Component, on: Any, motion: Motion, memo: Any, own: Own) -> dict[str, Array]:
    """S (6, n) of a component at each outport, in its axes; of kinematics from elsewhere, what unit accelerations do at
    rest."""
    if isinstance(memo, JointMemo):
        return dict.fromkeys(c.outports, memo.S)
    rest, columns = np.zeros(len(own.v)), []
    for unit in np.eye(len(own.v)):
        out, _ = kinematics.of(c)(c, on, Motion(motion.pose, np.zeros(6), np.zeros(6)), own.q, rest, unit)
        columns.append({name: on.representation.motion_local(m.pose, m.A) for name, m in out.items()})
    return {name: np.stack([column[name] for column in columns], axis=1) for name in c.outports}


def _chain(net: Network, port: int, screws: Screws, ties: _Factors) -> tuple[tuple[int, int, int], ...]:
    """(rate, screw, factor) of a port, from the world outward."""
    starts, at = {}, 0
    for key, own in screws.items():
        starts[key], at = at, at + len(own)
    chain = []
    for c, name in net.path(port):
        for i, own in enumerate(c.ties) if (c.name, name) in screws else ():
            chain += [(k, starts[c.name, name] + i, ties.number(x)) for k, x in own]
    return tuple(chain)


def implicit_damping(net: Network, q: Array, v: Array) -> dict[tuple[int, int], Any]:
    """D by places: slopes of the torques of dampers and of smooth friction by the rates, where these are positive."""
    entries: dict[tuple[int, int], Any] = {}
    moved = net.transmission.at(q, v)
    for c in moved.elements:
        if not issubclass(c.kind, Damper | Friction):
            continue
        motion = shaft_motion(c, moved, q, v, np.zeros(moved.n))
        ports = list(c.shafts)
        varied = [dict(x) for x in motion]
        varied[1][ports[0]] = Dual(varied[1][ports[0]], 1.0, LEVEL)
        slope = rates_of(shafts.of(c)(c, *varied)[ports[0]], LEVEL)[()]  # type: ignore[arg-type]
        if is_zero(slope):
            continue
        slope = max(slope, 0.0) if isinstance(slope, float) else maximum(slope, 0.0)
        shaft_ties = [
            (k, x * side) for port, side in zip(ports, (1.0, -1.0), strict=False) for k, x in c.shafts[port].ties
        ]
        for j, x in shaft_ties:
            for k, y in shaft_ties:
                entries[j, k] = entries.get((j, k), 0.0) + slope * x * y
    return entries


def _product(entries: Mapping[tuple[int, int], Any], x: Array) -> Array:
    """D x (nv,)."""
    total: list[Any] = [0.0] * len(x)
    for (j, k), d in entries.items():
        total[j] = total[j] + d * x[k]
    return np.array(total)


def with_fill(
    inboard: Mapping[int, tuple[int, ...]], entries: Mapping[tuple[int, int], Any]
) -> dict[int, tuple[int, ...]]:
    """The rows of L where D has entries beside those of M."""
    order = list(inboard)
    place = {k: i for i, k in enumerate(order)}
    beside = {k: set(js) for k, js in inboard.items()}
    for j, k in entries:
        if place[j] < place[k]:
            beside[k].add(j)
    rows: dict[int, tuple[int, ...]] = {}
    for k in reversed(order):
        before = sorted(beside[k], key=place.__getitem__, reverse=True)
        rows[k] = tuple(before)
        for i in before:
            beside[i] |= {j for j in before if place[j] < place[i]}
    return dict(reversed(rows.items()))


def _boxes(dry: DryFriction | None, v: Array) -> list[Any]:
    """Least and greatest effort of each dry friction at its speed."""
    boxes: list[Any] = []
    for group in () if dry is None else dry.groups:
        w = group.speed(v)
        plus, minus = (sum(element.size(w, side) for element in group.elements) for side in (0, 1))
        boxes += [-plus, minus]
    return boxes or [0.0]
