"""Random machines with every kind of actuator, and the achievable motion by brute force: n + 1 inverse dynamics and
``numpy.linalg.solve`` with index sets."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

import numpy as np

import gyrostat as gs

KINDS = ("revolute", "continuous", "prismatic", "helical")
FREE = 1e30


@dataclass
class Drive:
    """An actuator as the test knows it: its row of T, and what bounds it on its own shaft."""

    row: np.ndarray
    limit: float = FREE
    speed: float = FREE
    curve: list = field(default_factory=list)
    electric: dict = field(default_factory=dict)
    passive: bool = False

    def bounds(self, w):
        if self.passive:
            return 0.0, 0.0
        top = self.limit
        if self.curve:
            xs, ys = zip(*self.curve, strict=True)
            top = min(top, float(np.interp(abs(w), xs, ys)))
        low, high = -top, top
        if self.electric:
            e = self.electric
            top = min(top, e["torque_constant"] * e["current_limit"])
            most = e["torque_constant"] * (e["voltage_limit"] - e["torque_constant"] * w) / e["resistance"]
            least = e["torque_constant"] * (-e["voltage_limit"] - e["torque_constant"] * w) / e["resistance"]
            low, high = max(-top, min(least, 0.0)), min(top, max(most, 0.0))
        return low, high


@dataclass
class Machine:
    model: gs.Model
    drives: dict
    passive: tuple = ()

    @cached_property
    def inverse(self):
        return gs.InverseDynamics(self.model)

    def map(self, names):
        return np.stack([self.drives[name].row for name in names])


def machine(seed, joints=None, harsh=False, passive=True, kinds=KINDS):
    """A tree whose joints have geared motors, pairs of them differentials, are driven directly, or by nothing. Torque
    limits are still infinite: see :func:`limited`."""
    rng = np.random.default_rng([seed, 7])
    n = int(rng.integers(2, 7)) if joints is None else joints
    model = gs.robots.tree(seed, n, kinds=kinds, base="fixed", reversed_share=0.3, branching=float(rng.uniform(0, 0.6)))
    drives, idle, k = {}, [], 0
    while k < n:
        kind = str(rng.choice(["geared", "geared", "pair", "direct", "passive"]))
        if kind == "pair" and k + 1 < n:
            model = _differential(rng, model, drives, k, n)
            k += 2
            continue
        name, row = f"joint{k}", np.eye(n)[k]
        if kind in ("geared", "pair"):
            ratio = float(rng.uniform(5, 60) * rng.choice([-1, 1]))
            at = str(rng.choice(["joint", "motor"]))
            fast = abs(ratio) if at == "motor" else 1.0
            rubbing = {"viscous": 0.3 / fast**2, "coulomb": (0.2 / fast, 0.4 / fast)} if rng.random() < 0.7 else {}
            model = model.with_drive(name, rotor_inertia=2e-4, gear_ratio=ratio, motor=True, friction_at=at, **rubbing)
            drives[name] = Drive(ratio * row)
        elif kind == "passive" and passive and k:
            idle.append(name)
            drives[name] = Drive(row, passive=True)
        else:
            drives[name] = Drive(row)
        k += 1
    return Machine(model, drives, tuple(idle))


def _differential(rng, model, drives, k, n):
    """Two motors that move two joints together."""
    ratio = rng.uniform(5, 40, (2, 2)) * np.array([[1, 1], [1, -1]]) * rng.choice([-1, 1])
    names = [f"left{k}", f"right{k}"]
    parts = [gs.Gear(f"diff{k}", ratio)]
    wires = [(f"joint{k}.shaft", f"diff{k}.joint1"), (f"joint{k + 1}.shaft", f"diff{k}.joint2")]
    for i, name in enumerate(names):
        parts += [gs.Motor(name), gs.RotorInertia(f"rotor_{name}", inertia=1e-4)]
        wires.append((f"diff{k}.motor{i + 1}", f"{name}.shaft", f"rotor_{name}.shaft"))
        row = np.zeros(n)
        row[k : k + 2] = ratio[i]
        drives[name] = Drive(row)
    return gs.Model(model.name, (*model.entities, *parts), (*model.connections, *wires), model.context)


def limited(seed, m, path, dt, share=(0.3, 1.1), motion=True):
    """The machine with limits that the programme meets here and there."""
    rng = np.random.default_rng([seed, 8])
    solver = gs.ActuatorDynamics(m.model, passive=m.passive)
    v = np.diff(path, axis=0) / dt
    a = np.diff(v, axis=0) / dt
    need = np.abs(solver.torques(path[:-2], v[:-1], a)).max(axis=0)
    fast = np.abs(v @ m.map(solver.actuators).T).max(axis=0)
    changes, drives = {}, {}
    for name, most, speed in zip(solver.actuators, need, fast, strict=True):
        d, limit = m.drives[name], float(most * rng.uniform(*share))
        given = {}
        if d.passive:
            drives[name] = d
            continue
        motor = f"{name}_drive.motor" if f"{name}_drive" in [e.name for e in m.model.entities] else name
        if isinstance(m.model.wiring.entities.get(motor), gs.Joint):
            given, kind = {"effort_limit": limit}, "limit"
        else:
            kind = str(rng.choice(["limit", "curve", "electric", "effort"]))
            kind = "limit" if kind == "effort" and motor == name else kind
            if kind == "limit":
                given = {"torque_limit": limit}
            elif kind == "curve":
                points = [(0.1 * speed, limit), (0.5 * speed, 0.9 * limit), (speed, 0.4 * limit)]
                given = {"torque_speed": points}
            elif kind == "electric":
                k_t = 0.1
                e = {"torque_constant": k_t, "current_limit": limit / k_t, "resistance": 0.5,
                     "voltage_limit": k_t * speed * 0.9 + 0.5 * limit / k_t}  # fmt: skip
                given = e
        new = Drive(d.row, limit if kind in ("limit", "effort") else FREE,
                    curve=given.get("torque_speed", []), electric=given if kind == "electric" else {})  # fmt: skip
        if kind == "effort":
            motor, given = name, {"effort_limit": limit * float(np.abs(d.row).max())}
        elif motion and motor != name and rng.random() < 0.5:
            new.speed = given["speed_limit"] = float(speed * rng.uniform(0.6, 1.1))
        changes |= {f"{motor}.{key}": value for key, value in given.items()}
        drives[name] = new
    for k in range(m.model.nv) if motion else ():
        if rng.random() < 0.4:
            changes[f"joint{k}.velocity_limit"] = float(np.abs(v[:, k]).max() * rng.uniform(0.5, 1.2))
        if rng.random() < 0.4 and m.model[f"joint{k}.kind"] != "continuous":
            changes[f"joint{k}.upper"] = float(path[:, k].max() * rng.uniform(0.7, 1.1))
            changes[f"joint{k}.lower"] = float(path[:, k].min() - 5.0)
    return Machine(m.model.replace(changes), drives, m.passive)


def programme(seed, n, steps, dt, amplitude=0.4):
    rng = np.random.default_rng([seed, 9])
    t = np.arange(steps + 1)[:, None] * dt
    return amplitude * np.sin(rng.uniform(2, 9, n) * t + rng.uniform(0, 6, n)) + 1.0


def reference(m, solver, q, v, v_p, wrenches=None, guesses=None):
    """One cycle by brute force: v_next, a, u, cut, slowed, stopped.

    Every set of saturated actuators is tried (3^n; or ``guesses``), until one is found in which nothing exceeds its
    limit and nothing that is held back is ahead of the programme: there is only one."""
    guesses = map(np.array, product(*[(0, 1, -1)] * m.model.nv)) if guesses is None else guesses
    n, dt, model = m.model.nv, solver.dt, m.model
    drives, T = [m.drives[name] for name in solver.actuators], m.map(solver.actuators)

    def limit(k, key, default):
        value = model[f"joint{k}.{key}"]
        return default if value is None else value

    reached, want = q + v * dt, np.array(v_p)
    slowed, stopped = np.zeros(n, bool), np.zeros(n, bool)
    for k in range(n):
        low, high, speed = limit(k, "lower", -FREE), limit(k, "upper", FREE), limit(k, "velocity_limit", FREE)
        inside = np.clip(want[k], (low - reached[k]) / dt, (high - reached[k]) / dt)
        stopped[k] = abs(inside - want[k]) * dt > 1e-8
        want[k] = np.clip(inside, -speed, speed)
        slowed[k] = abs(want[k] - inside) > 1e-8 * speed
    groups = [set(np.flatnonzero(row)) for row in T]
    for k in range(n):
        members = [i for i, g in enumerate(groups) if k in g]
        joints = sorted(set().union(*(groups[i] for i in members)))
        if joints[0] != k:  # each group once; pairs are whole groups here
            continue
        share = min([1.0, *(drives[i].speed / max(abs(T[i] @ want), 1e-300) for i in members)])
        if share < 1.0:
            want[joints] = want[joints] * share
            slowed[joints] |= share < 1.0 - 1e-8
    zero = np.zeros(n)
    bias, *columns = m.inverse(q, v, np.vstack([zero, np.eye(n)]), wrenches)
    H = np.stack(columns, axis=1) - bias[:, None]
    back = np.linalg.inv(T)
    H, bias, a = back.T @ H @ back, back.T @ bias, T @ (want - v) / dt
    low, high = np.array([d.bounds(w) for d, w in zip(drives, T @ v, strict=True)]).T
    needed, free = H @ a + bias, np.array([d.passive for d in drives])

    def held_at(held, torque):
        """Accelerations beyond the programmed ones, if some torques are given."""
        x = np.zeros(n)
        x[held] = np.linalg.solve(H[np.ix_(held, held)], (torque - needed)[held])
        return x

    start = held_at(np.flatnonzero(free), np.zeros(n))
    if solver.keep == "torques":
        u = needed + H @ start
        beyond = np.maximum(u - high, low - u) > 1e-11 * (1 + np.abs(u))
        cut = np.where(beyond & ~free, np.where(u > high, 1.0, -1.0), 0.0)
        u = np.where(free, 0.0, np.where(cut > 0, high, np.where(cut < 0, low, u)))
    else:
        fits = []
        for cut in guesses:
            cut = np.where(free, 0.0, cut)
            at = np.where(cut > 0, high, np.where(cut < 0, low, 0.0))
            x = held_at(np.flatnonzero((cut != 0) | free), at)
            u, ahead = needed + H @ x, np.where(free, 0.0, x - start)
            within = np.all(np.where(free, 0.0, np.maximum(u - high, low - u)) <= 1e-9 * (1 + np.abs(u)))
            if within and np.all(cut * ahead <= 1e-9 * (1 + np.abs(a))):
                fits.append((np.abs(cut).sum(), tuple(cut), u))
        _, cut, u = min(fits, key=lambda fit: fit[0])
    a = np.linalg.solve(H, u - bias)
    cut = np.where([d.passive for d in drives], 0.0, cut)
    return v + back @ a * dt, back @ a, u, cut, slowed, stopped
