"""Flexible links: an arm of 27 rates next to SciPy's Radau, Kane's spin-up next to Exudyn's geometrically exact beams,
and forward dynamics of a robot with one flexible link next to the rigid one."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import gyrostat as gs
from benchmarks import spin_up
from benchmarks.flexible_arm_run import ArmRun
from benchmarks.harness import Effort, Row, best_of

NOTES = (
    "Seconds of the processor: the shortest of several runs in turns with the peer, with the set-up of a run.",
    "Arm: gs.robots.flexible_arm(), 24 in-cut joints, PID drives, 1 s, all springs vibrate. Target: 15 times. Every",
    "program has the settings that were the fastest of those tried with errors within 1e-5 rad; SciPy: rtol 1e-2, atol",
    "1e-5 of seven pairs. Loop: what the steps take of it, the rest is set-up.",
    "Spin-up: steps of 1 ms, 8 s, by dina. Beams with about the same error of the tip's least lag are compared. Exudyn",
    "has a kept Newton matrix and tolerances of 1e-4: with its own it takes 17 to 27 times as long. Target: 15 times.",
    "Link: 8 shapes in a 6-axis robot; here the peer is the rigid one: it costs 1 / ratio of it, 4.5 times at most.",
)
ALUMINIUM = {"area": 4e-4, "I_y": 1.3e-8, "I_z": 2.1e-8, "J": 2.5e-8, "E": 7e10, "G": 2.7e10, "density": 2700.0}
WITHIN = 1e-5
HOW: dict[str, dict[str, Any]] = {
    "dina, simpson, 25 ms": {"method": "dina", "scheme": "simpson", "dt": 0.025},
    "dina, 2.5 ms": {"method": "dina", "dt": 2.5e-3, "rtol": 1e-5},
    "generalised-alpha, 2.5 ms": {"method": "generalised-alpha", "dt": 2.5e-3, "rho_inf": 0.95},
    "radau, 1e-2": {"method": "radau", "rtol": 1e-2, "atol": 1e-5},
}


def measure(effort: Effort) -> list[Row]:
    quick = effort.number is not None
    return _arm(1 if quick else 5) + _spin(quick) + _link(effort)


def _arm(rounds: int) -> list[Row]:
    arm, case = ArmRun(), "arm of 27 rates, 1 s"
    best: dict[tuple[str, str], float] = {}
    for _ in range(rounds):
        for name, how in HOW.items():
            seconds, error, run = arm.timed(4, **how)
            _expect(error < WITHIN, f"{name} is {error:.1e} rad from the reference")
            for stage, taken in (("run", seconds), ("loop", run.counters.wall_time)):
                best[stage, name] = min(best.get((stage, name), np.inf), taken)
        seconds, error = arm.scipy(1, 1e-2, 1e-5)
        _expect(error < WITHIN, f"SciPy is {error:.1e} rad from the reference")
        peer = "run", "SciPy Radau, aba"
        best[peer] = min(best.get(peer, np.inf), seconds)
    return [Row(stage, case, name, taken, peer="SciPy" in name) for (stage, name), taken in best.items()]


def _spin(quick: bool) -> list[Row]:
    """Beams of about the same error are compared: error of the lag [m], shapes, segments, elements of Exudyn."""
    t_end, dt, rounds = (0.05, 1e-3, 1) if quick else (8.0, 1e-3, 3)
    cases = ((1e-3, 3, 2, 8), (1e-4, 4, 4, 32))
    rows: list[Row] = []
    for within, modes, segments, elements in cases[: 1 if quick else None]:
        case = f"spin-up, a step, lag within {within:g} m"
        model = spin_up.spun_beam(modes, segments)
        ours, peer = [], []
        for _ in range(rounds):
            ours.append(spin_up.simulated(model, dt, t_end))
            if spin_up.available():
                peer.append(spin_up.exudyn_simulated(elements, dt, t_end))
        if not quick:
            for _, lag in ours + peer:
                _expect(abs(lag - spin_up.LEAST_LAG) < within, f"the least lag is {lag:.5f} m")
        rows.append(Row("run", case, f"{segments} x {modes} shapes", min(ours)[0]))
        if peer:
            rows.append(Row("run", case, f"Exudyn, {elements} elements", min(peer)[0], peer=True))
    return rows


def six_axis(modes: tuple[int, int] | None = None) -> gs.Model:
    """A 6-axis robot whose third link is rigid, or a beam with such shapes."""
    links: list[Any] = [
        gs.RigidBody(f"link{i}", mass=2 / (i + 1), com=(0.1, 0.02, 0.03), inertia=(0.02, 0.03, 0.025),
                     frames={"next": (0.6, 0, 0) if i in (1, 2) else (0, 0, 0.1)})
        for i in range(6)
    ]  # fmt: skip
    ends = [(f"link{i}.origin", f"link{i}.next") for i in range(6)]
    if modes is not None:
        links[2] = gs.FlexibleBeam("boom", length=0.6, **ALUMINIUM, modes=modes, modes_x=(2, 0))
        ends[2] = "boom.a", "boom.b"
    joints = [gs.Joint(f"joint{i}", "revolute", axis=axis) for i, axis in enumerate("zyyxyx")]
    wires = [gs.connect(ends[i - 1][1] if i else "world", f"joint{i}.a") for i in range(6)]
    wires += [gs.connect(f"joint{i}.b", ends[i][0]) for i in range(6)]
    return gs.assemble("six_axis", *joints, *links, *wires)


def _link(effort: Effort) -> list[Row]:
    rows: list[Row] = []
    solvers = {name: gs.ForwardDynamics(six_axis(modes)) for name, modes in (("rigid", None), ("3 + 3 + 2", (3, 3)))}
    for name, solver in solvers.items():
        x = np.full(solver.model.nv, 0.01)
        began = time.perf_counter()
        solver(x, x, x)
        rows.append(Row("build", "aba, 6-axis robot, first call", name, time.perf_counter() - began))
        seconds = best_of(lambda s=solver, x=x: s(x, x, x), effort.repeat, effort.number)
        rows.append(Row("run", "aba, 6-axis robot", name, seconds, peer=name == "rigid"))
    return rows


def _expect(right: bool, message: str) -> None:
    """Nothing is timed that is not right."""
    if not right:
        raise ArithmeticError(message)
