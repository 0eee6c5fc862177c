"""What must hold at the points of a phase of a gait, and its cost [H04 5.4.2]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gyrostat.configuration.limits import limits_of
from gyrostat.geometry.convex_hull import convex_hull
from gyrostat.solvers.functions import fk
from gyrostat.spatial.so3_recorded import smooth_log
from gyrostat.studies.gaits.gait import Gait
from gyrostat.studies.gaits.legged_robot import Foot
from gyrostat.studies.gaits.patterns import StancePhase
from gyrostat.studies.gaits.stance_functions import Moment, Row

Array = np.ndarray


def running_cost(m: Moment, weights: Any) -> Any:
    """The integrand: u.u, v.v of all joints, the squares of their powers, in the order of ``TERMS``."""
    v = m.v[6:]
    power = m.u * v
    return weights[0] * (m.u @ m.u) + weights[1] * (v @ v) + weights[2] * (power @ power)


def rows_of(gait: Gait, phase: StancePhase) -> list[Row]:
    """Conditions of a phase, with the bounds they have at inner points."""
    weight = total_weight(gait)
    rows: list[Row] = []
    for name in phase.feet:
        foot = gait.robot.foot(name)
        rows += force_rows(gait, foot, weight)
        rows.append(Row(f"reach {name}", _reach(foot), 0.0, np.inf))
        rows += _joint_rows(gait, foot)
    if gait.stability == "static":
        rows.append(_static(gait, phase))
    for foot in gait.robot.feet:
        if foot.name not in phase.feet:
            rows += [_clearance(gait, foot, phase), _ceiling(gait, foot)]
    for a, b, least in gait.robot.apart:
        rows.append(Row(f"{a} apart from {b}", _apart(a, b, least), 0.0, np.inf))
    return rows


def total_weight(gait: Gait) -> float:
    """[N]."""
    mass = sum(getattr(e, "mass", 0.0) for e in gait.model.wiring.entities.values())
    return 9.81 * float(mass)


def force_rows(gait: Gait, foot: Foot, weight: float) -> list[Row]:
    """Unilateral, in a pyramid inside the cone, its centre of pressure inside the sole; impulses likewise."""
    name, mu = foot.name, gait.friction / np.sqrt(2.0)
    flat = foot.kind == "fixed"

    def world(m: Moment) -> Any:
        f = m.forces[name] * (1.0 / weight)
        return (f[:3], f[3:]) if flat else (f[:3], m.R(foot.frame) @ f[3:])

    def cone(m: Moment) -> Any:
        f = world(m)[1]
        return np.array([mu * f[2] - f[0], mu * f[2] + f[0], mu * f[2] - f[1], mu * f[2] + f[1]])

    rows = [Row(f"force {name}", lambda m: world(m)[1][2], 0.0, np.inf), Row(f"friction {name}", cone, 0.0, np.inf)]
    if flat and foot.corners:
        corners = sole(gait, foot)
        (x0, y0), (x1, y1) = corners.min(axis=0), corners.max(axis=0)
        inset = 0.003

        def pressure(m: Moment) -> Any:
            n, f = world(m)
            x, y, z = -n[1], n[0], f[2]
            return (
                np.array([x - (x0 + inset) * z, (x1 - inset) * z - x, y - (y0 + inset) * z, (y1 - inset) * z - y])
                * 10.0
            )

        rows.append(Row(f"pressure {name}", pressure, 0.0, np.inf))
    return rows


def sole(gait: Gait, foot: Foot) -> Array:
    """Corners (k, 2) of a flat foot, seen from its frame."""
    pose = fk(gait.model, gait.q0)
    return np.array([pose[corner].p[:2] - pose[foot.frame].p[:2] for corner in foot.corners])


def _reach(foot: Foot) -> Callable[[Moment], Any]:
    def reach(m: Moment) -> Any:
        r = m.p(foot.hip) - m.p(foot.ankle)
        return 1.0 - (r @ r) * (1.0 / foot.reach**2)

    return reach


def _joint_rows(gait: Gait, foot: Foot) -> list[Row]:
    """Joints of legs that stand are no variables: their limits are conditions."""
    model = gait.model
    low, high = limits_of(model, "model", "gait")
    q = [model.layout.of[j].q.start for j in foot.joints]
    v = [model.layout.of[j].v.start for j in foot.joints]
    speed = np.array([speed_limit(model, j) for j in foot.joints])
    rows = []
    kept = [k for k in q if np.isfinite(low[k]) or np.isfinite(high[k])]
    if kept:
        rows.append(Row(f"angles {foot.name}", lambda m: m.q[kept], low[kept], high[kept]))
    fast = [k for k, s in zip(v, speed, strict=True) if np.isfinite(s)]
    if fast:
        top = speed[np.isfinite(speed)]
        rows.append(Row(f"speeds {foot.name}", lambda m: m.v[fast], -top, top))
    return rows


def speed_limit(model: Any, joint: str) -> float:
    """[rad/s]."""
    value = getattr(model.wiring.entities[joint], "velocity_limit", None)
    return np.inf if value is None else float(value)


def effort_limit(model: Any, joint: str) -> float:
    """[N m]."""
    value = getattr(model.wiring.entities[joint], "effort_limit", None)
    return np.inf if value is None else float(value)


def _static(gait: Gait, phase: StancePhase) -> Row:
    """Distance of the centre of mass, seen from above, from the edges of the support polygon."""
    s = 0.5 * (phase.start + phase.end)
    points = []
    for name in phase.feet:
        foot, place = gait.robot.foot(name), gait.place(name, s)[:2]
        points += list(place + sole(gait, foot)) if foot.corners else [place]
    hull = convex_hull(np.array(points))
    edges = np.roll(hull, -1, axis=0) - hull
    inward = np.stack([-edges[:, 1], edges[:, 0]], axis=1) / np.linalg.norm(edges, axis=1)[:, None]
    offset = (inward * hull).sum(axis=1) + gait.margin

    def inside(m: Moment) -> Any:
        c = m.center_of_mass[:2]
        return (inward @ c - offset) * 10.0

    return Row("static stability", inside, 0.0, np.inf)


def _clearance(gait: Gait, foot: Foot, phase: StancePhase) -> Row:
    lift, land = gait.swing(foot.name, 0.5 * (phase.start + phase.end))
    frames = foot.corners or (foot.frame,)
    ground = float(gait.home[foot.name][2])

    def above(m: Moment) -> Any:
        s = phase.start + m.t * (phase.end - phase.start)
        contour = gait.clearance * np.sin(np.pi * (s - lift) * (1.0 / (land - lift)))
        return np.array([m.p(frame)[2] - ground - contour for frame in frames]) * 10.0

    return Row(f"clearance {foot.name}", above, 0.0, np.inf)


def _ceiling(gait: Gait, foot: Foot) -> Row:
    top = gait.highest + float(gait.home[foot.name][2])
    return Row(f"height {foot.name}", lambda m: (top - m.p(foot.frame)[2]) * 10.0, 0.0, np.inf)


def _apart(a: str, b: str, least: float) -> Callable[[Moment], Any]:
    def apart(m: Moment) -> Any:
        r = m.p(a) - m.p(b)
        return ((r @ r) - least**2) * (1.0 / least)

    return apart


def standing_rows(foot: Foot, place: Array, name: str) -> list[Row]:
    """The pose of a foot that stands or is about to, and its velocity: zero at the ends of a swing."""

    def pose(m: Moment) -> Any:
        off = m.p(foot.frame) - place
        return np.concatenate([smooth_log(m.R(foot.frame)), off]) if foot.kind == "fixed" else off

    def velocity(m: Moment) -> Any:
        V = m.V(foot.frame)
        return V if foot.kind == "fixed" else V[3:]

    return [Row(f"{name} place {foot.name}", pose, 0.0, 0.0), Row(f"{name} speed {foot.name}", velocity, 0.0, 0.0)]


def unloading_row(foot: Foot, weight: float) -> Row:
    """No force at the end of a stance, so that the foot can leave."""

    def force(m: Moment) -> Any:
        f = m.forces[foot.name] * (1.0 / weight)
        return f if foot.kind == "fixed" else f[3:]

    return Row(f"unloaded {foot.name}", force, 0.0, 0.0)
