"""The closure of the valves of G13 with cylinders in the place of the law (14): pressures of ten chambers are states.

G13: "the actual forces, velocities, elasticity and damping in the actuators can be transferred to the joint variables".
Here they are not transferred: joints 2 to 4 have cylinders between pins of their links, joints 1 and 5 racks. All data
are ours; hoses and friction are chosen so that stiffness and damping at the joints are those of (14) at the closure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

import gyrostat as gs

Array = np.ndarray
SUPPLY, FLOW = 25e6, 6e-7  # [Pa], [m^3/s/sqrt(Pa)] through the open valve
LEAKAGE = 2e-14  # past each piston [m^3/s/Pa]


@dataclass(frozen=True)
class Drive:
    """A cylinder: ``between`` two ports, or a rack with a pinion of radius ``lever`` [m]. ``area`` [m^2], ``stroke``,
    ``closed`` length [m], ``dead`` volume of each chamber [m^3]."""

    area: float
    stroke: float
    closed: float
    dead: float
    between: tuple[str, str] | None = None
    lever: float = 1.0

    def cylinder(self, joint: str, **options) -> gs.blocks.HydraulicCylinder:
        ratio = 1.0 if self.between is None else 0.6  # racks have pistons on both ends
        opening = f"u_{joint}" if self.between else "u_racks"
        return gs.blocks.HydraulicCylinder(
            self.area, self.stroke, self.dead, SUPPLY, FLOW, ratio, closed_length=self.closed, leakage=LEAKAGE,
            between=self.between, lever=self.lever, opening=opening, target=f"tau_{joint}", name=joint, **options,
        )  # fmt: skip


DRIVES = {
    "q1": Drive(1.20e-2, 0.70, -0.35, 5e-4, lever=0.20),
    "q2": Drive(6.36e-3, 0.55, 0.75, 3e-4, ("link1.boom_base", "link2.boom_rod")),
    "q3": Drive(3.12e-3, 0.50, 0.75, 2e-4, ("link2.stick_base", "link3.stick_rod")),
    "q4": Drive(1.96e-3, 0.22, 0.33, 1e-4, ("link3.wrist_base", "link4.wrist_rod")),
    "q5": Drive(1.00e-3, 0.10, -0.05, 2e-5, lever=0.05),
}


@dataclass(frozen=True)
class Place:
    """A cylinder at the closure: ``length`` [m], ``lever`` dl/dq [m/rad] of its joint."""

    length: float
    lever: float


@dataclass(frozen=True)
class Cylinders:
    """A closure with cylinders, in the order of the joints; ``run`` has the pressures of chamber a and b of each."""

    blocks: tuple[gs.blocks.HydraulicCylinder, ...]
    run: gs.Result

    @cached_property
    def pressures(self) -> Array:
        """(N, 5, 2) [Pa]: chambers a and b."""
        return self.run.p.reshape(len(self.run.t), len(self.blocks), 2)


def places(arm: gs.Model, q: Array) -> dict[str, Place]:
    """Lengths and levers of all cylinders."""
    frames, places = gs.fk(arm, q), {}
    for j, (joint, drive) in enumerate(DRIVES.items()):
        if drive.between is None:
            places[joint] = Place(drive.lever * q[j], drive.lever)
            continue
        a, b = drive.between
        way = frames[b].p - frames[a].p
        apart = gs.jacobian(arm, q, b, "aligned")[3:, j] - gs.jacobian(arm, q, a, "aligned")[3:, j]
        length = float(np.linalg.norm(way))
        places[joint] = Place(length, float(way @ apart) / length)
    return places


def hose(cylinder: gs.blocks.HydraulicCylinder, length: float, stiffness: float) -> float:
    """Compliance C [m^3/Pa] of each hose with which the closed cylinder has a stiffness [N/m]:
    A^2 / (V_a / beta + C) + A_b^2 / (V_b / beta + C), the larger root of a quadratic equation."""
    A, A_b = cylinder.area[0], cylinder.area[0] * cylinder.rod_ratio[0]
    a, b = (float(x[0]) for x in cylinder.capacities(np.array([length])))
    roots = np.roots([stiffness, stiffness * (a + b) - A**2 - A_b**2, stiffness * a * b - A**2 * b - A_b**2 * a])
    compliance = float(np.max(roots.real))
    if compliance <= 0.0:
        raise gs.GyrostatError(f"hydraulic: the oil alone is softer than {stiffness:.3g} N/m. Hint: a larger area")
    return compliance


def matched(arm: gs.Model, q: Array, stiffness: Array, damping: Array) -> dict[str, gs.blocks.HydraulicCylinder]:
    """Cylinders that have, at q, the stiffness [N m/rad] and damping [N m s/rad] of (14) at their joints."""
    elastic = {}
    for j, (joint, place) in enumerate(places(arm, q).items()):
        rigid = DRIVES[joint].cylinder(joint, viscous=damping[j] / place.lever**2)
        elastic[joint] = replace(rigid, compliance=hose(rigid, place.length, stiffness[j] / place.lever**2))
    return elastic


def closure(
    arm: gs.Model, q: Array, v: Array, stiffness: Array, damping: Array, t: Array, closing: float = 0.0
) -> Cylinders:
    """The valves close at once while the oil carries the weight, as in (14); or within ``closing`` [s], from openings
    that keep the joints at their speeds."""
    cylinders, at = matched(arm, q, stiffness, damping), places(arm, q)
    torque = gs.rnea(arm, q, v, np.zeros(5)) if closing else gs.gravity(arm, q)
    opened = np.zeros(5)
    for j, (joint, place) in enumerate(at.items()):
        moving = cylinders[joint].steady(torque[j] / place.lever, place.lever * v[j] if closing else 0.0)
        cylinders[joint] = replace(cylinders[joint], initial=(moving.p_a, moving.p_b))
        opened[j] = moving.opening
    parts: list[gs.blocks.Block] = [_valve("u_racks", opened, closing)]
    for j, (joint, cylinder) in enumerate(cylinders.items()):
        if cylinder.between is None:
            parts.append(gs.blocks.at_joints(arm, [joint], cylinder))
        else:
            parts += [_valve(cylinder.opening, opened[j : j + 1], closing), cylinder]
    total = gs.blocks.sum_of(*(x.target for x in cylinders.values()), target="tau")
    law = gs.blocks.diagram(*parts, total, gives="tau")
    run = gs.simulate(arm, law, q, v, t_end=t[-1], rtol=1e-8, t_eval=t, progress=False)
    return Cylinders(tuple(cylinders.values()), run)


def _valve(signal: str, opening: Array, closing: float) -> gs.blocks.Block:
    """Openings that go to zero within a time [s], smoothly; at once if it is 0."""
    if not closing:
        return gs.blocks.Constant(np.zeros(len(opening)), target=signal)
    way = gs.trajectories.quintic(opening, np.zeros(len(opening)), closing)
    return gs.blocks.Reference(way, 0, (signal,))
