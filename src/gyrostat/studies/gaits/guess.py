"""A first motion: feet as they are to go, the centre of mass where it may be, legs by inverse kinematics, and the
efforts that bear this motion."""

from __future__ import annotations

import numpy as np

from gyrostat.configuration.manifold import difference
from gyrostat.errors import GyrostatError
from gyrostat.solvers.functions import center_of_mass, fk, jacobian, rnea
from gyrostat.studies.gaits.conditions import sole
from gyrostat.studies.gaits.gait import Gait
from gyrostat.studies.gaits.problem import GaitProblem

Array = np.ndarray
LOWEST = 0.05
"""How much lower than in q0 the torso may be when a leg does not reach, relative to its height."""


def first_guess(problem: GaitProblem) -> Array:
    """Variables of the programme."""
    gait, parts = problem.gait, []
    times = [p.start + (p.end - p.start) * s.grid for p, s in zip(gait.phases, problem.programme.segments, strict=True)]
    s_all = np.linspace(0.0, gait.part, 40 * len(gait.phases) + 1)
    c_all = _masses(gait, s_all)
    drop = 0.0
    for _ in range(12):
        tried = [_postures(gait, s, np.stack([np.interp(s, s_all, x) for x in c_all.T], axis=1), drop) for s in times]
        motions = [m for m in tried if m is not None]
        if len(motions) == len(tried):
            break
        drop += 0.02 * float(gait.home[gait.pattern.feet[0]][2] * 0.0 + _height(gait))
    else:
        raise GyrostatError("gait: legs do not reach where feet are to stand. Hint: a shorter stride, or a lower q0")
    for k, (made, q) in enumerate(zip(problem.functions, motions, strict=True)):
        t = (times[k] - times[k][0]) * gait.usual_period
        v = np.gradient(np.array([difference(gait.model, q[0], row) for row in q]), t, axis=0)
        a = 0.0 * v
        z = np.zeros((len(q), made.size))
        z[:, : made.n] = difference(gait.model, made.base, q)[:, made.independent]
        z[:, made.n : made.ny] = v[:, made.independent]
        z[:, made.ny :] = np.array([_efforts(gait, q[i], v[i], a[i], gait.phases[k].feet) for i in range(len(q))])
        z /= made.scale
        s = problem.programme.segments[k]
        parts.append(np.clip(z, np.minimum(s.low, s.high), s.high).ravel())
    return np.concatenate([*parts, [] if problem.programme.stretch is None else [1.0]])


def _height(gait: Gait) -> float:
    at = gait.model.layout.blocks[0].position
    return float(gait.q0[at.start + 2])


def _masses(gait: Gait, s: Array) -> Array:
    """Where the centre of mass goes (n, 2) over one computed part, smoothed over the stride: the middle of the feet
    that stand, or between those of the neighbours where none does."""
    from scipy.ndimage import gaussian_filter1d

    n = len(s) - 1
    whole = np.linspace(0.0, 1.0, round(n / gait.part) + 1)[:-1]
    centre = np.array([_support(gait, x + 1e-7) for x in whole])
    forward = gait.stride * whole
    off = centre - np.stack([forward, np.zeros_like(forward)], axis=1)
    width = 0.03 if gait.stability == "static" else 0.12
    off = gaussian_filter1d(off, width * len(whole), axis=0, mode="wrap")
    if gait.stability != "static":
        off[:, 0] = off[:, 0].mean()
    rows = np.arange(n + 1)
    return off[rows % len(whole)] + np.stack([gait.stride * s, np.zeros_like(s)], axis=1)


def _support(gait: Gait, s: float) -> Array:
    feet = next((p.feet for p in gait.pattern.phases if p.start <= s < p.end), gait.pattern.phases[-1].feet)
    if not feet:
        feet = gait.pattern.feet
        return np.mean([gait.home[f][:2] for f in feet], axis=0) + np.array([gait.stride * s, 0.0])
    points = []
    for f in feet:
        foot = gait.robot.foot(f)
        points.append(gait.place(f, s)[:2] + (sole(gait, foot).mean(axis=0) if foot.corners else 0.0))
    return np.mean(points, axis=0)


def _postures(gait: Gait, s: Array, c: Array, drop: float) -> Array | None:
    """q (n, nq), or None where a leg does not reach."""
    model, blocks = gait.model, gait.robot.closed_forms()
    base = model.layout.blocks[0]
    found = []
    q = np.array(gait.q0)
    for x, mass in zip(s, c, strict=True):
        q = np.array(gait.q0)
        q[base.position.start + 2] -= drop
        for _ in range(6):
            q[base.position.start : base.position.start + 2] += mass - center_of_mass(model, q)[:2]
            for foot in gait.robot.feet:
                angles = _leg(gait, blocks[foot.frame], foot, _foot_at(gait, foot.name, float(x)), q)
                if angles is None:
                    return None
                q[blocks[foot.frame].places] = angles
        found.append(q)
    return np.array(found)


def _foot_at(gait: Gait, name: str, s: float) -> Array:
    """Where a foot is (3,), in the air on a sine above the contour."""
    k = gait.pattern.feet.index(name)
    since = (s + gait.pattern.phase[0] - gait.pattern.phase[k] + 1e-9) % 1.0
    if since < gait.pattern.duty[k] + 2e-9:
        return gait.place(name, s - 1e-7 if since > gait.pattern.duty[k] - 1e-7 else s)
    lift, land = gait.swing(name, s)
    w = (s - lift) / (land - lift)
    one, two = gait.place(name, lift - 1e-6), gait.place(name, land + 1e-6)
    way = w * w * w * (10.0 - 15.0 * w + 6.0 * w * w)
    return one + way * (two - one) + np.array([0.0, 0.0, 1.3 * gait.clearance * np.sin(np.pi * w) ** 2])


def _leg(gait: Gait, block: object, foot: object, p: Array, q: Array) -> Array | None:
    torso = fk(gait.model, q)[block.reference.frames[0]]  # type: ignore[attr-defined]
    local = torso.R.T @ (p - torso.p)
    target = local
    if foot.kind == "fixed":  # type: ignore[attr-defined]
        target = np.eye(4)
        target[:3, :3], target[:3, 3] = torso.R.T, local
    with np.errstate(invalid="ignore"):
        rows = np.atleast_2d(np.asarray(block.function(target), dtype=float))  # type: ignore[attr-defined]
    off = np.abs(np.sin(0.5 * (rows - gait.q0[block.places]))).max(axis=1)  # type: ignore[attr-defined]
    return None if not np.isfinite(off).any() else rows[int(np.nanargmin(off))]


def _efforts(gait: Gait, q: Array, v: Array, a: Array, feet: tuple[str, ...]) -> Array:
    """u of the legs: contact forces of least norm bear the base."""
    tau = rnea(gait.model, q, v, a)
    J = []
    for name in feet:
        foot = gait.robot.foot(name)
        rows = jacobian(gait.model, q, foot.frame)
        J.append(rows if foot.kind == "fixed" else rows[3:])
    if not J:
        return tau[6:]
    J_all = np.concatenate(J)
    f = np.linalg.lstsq(J_all[:, :6].T, tau[:6], rcond=None)[0]
    return (tau - J_all.T @ f)[6:]
