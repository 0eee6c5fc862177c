"""Motion by ``gs.simulate``, all told, next to the lines that one writes with SciPy, Pinocchio and MuJoCo.

What is timed is the line of a user: checks of the arguments, recording, set-up, steps, results. Peers run in the same
process and in turns.
"""

from __future__ import annotations

import gc
import itertools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import gyrostat as gs
from benchmarks.harness import REPOSITORY, Effort, Row
from benchmarks.motions import GOAL, KD, KP, Chain, Motion, led_elastic_arm, panda, pd, talos

Array = np.ndarray

NOTES = (
    "Panda with gripper (9 joints) under a PD law; 'all told': all that the line of a user does, set-up included.",
    "SciPy: solve_ivp(RK45 or BDF, rtol 1e-6, atol 1e-9) on pin.aba. MuJoCo: mj_step(model, data, steps) on a chain of "
    "nine hinges with servos, no contact, no constraints; a state is one step. Ends agree before anything is timed.",
    "Aims: dopri5 25, Talos 15, bdf 50, rk4 5, semi-implicit-euler 4; elastic arm, dina for dopri5: 20.",
    "In calls of rnea: the ratio is 1 / calls; dina 1/6 = 0.167, generalised-alpha 1/20 = 0.05 or more.",
    "0.01 s, warm: 1 ms or less. 0.3 s at 1 kHz: the ratio is to the run without samples, 0.5 or more.",
    "Gradient of a rollout by gains: the ratio is to the rollout alone, 1/4.5 = 0.222 or more.",
)
DT = 1e-3
TOLERANCE: dict[str, Any] = {"rtol": 1e-6, "atol": 1e-9}
SECONDS_PER_CASE = 4.0
LEAST_ROUNDS = 5


@np.errstate(invalid="ignore", over="ignore")  # in its first step SciPy's BDF subtracts rows that were never set
def measure(effort: Effort) -> list[Row]:
    quick = effort.number is not None
    arm = panda()
    rows = [*first_runs(), *short_runs(arm, effort), *new_laws(arm, effort)]
    rows += against_scipy("Panda", arm, 0.05 if quick else 4.0, {"dopri5": "RK45", "bdf": "BDF"}, effort)
    rows += against_scipy("Talos, free base", talos(), 0.01 if quick else 1.0, {"dopri5": "RK45"}, effort)
    for method, integrator in {"rk4": "RK4", "semi-implicit-euler": "Euler"}.items():
        rows += against_mujoco(method, Chain(integrator), 50 if quick else 4000, effort)
    for method in ("dina", "generalised-alpha"):
        rows += in_calls_of_rnea(method, arm, 50 if quick else 4000, effort)
    rows += elastic_arm(0.05 if quick else 1.0, effort)
    for method in ("dopri5", "bdf"):
        rows += sampled(method, arm, 0.005 if quick else 0.3, effort)
    return rows + gradient(arm, 20 if quick else 1000, effort)


def in_turns(effort: Effort, calls: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Seconds of each call: the shortest of many rounds, in each of which all have their turn, after one that does not
    count. Long calls get fewer rounds."""
    best = dict.fromkeys(calls, np.inf)
    for call in calls.values():
        call()
    start = time.perf_counter()
    for done in range(effort.repeat):
        if done >= LEAST_ROUNDS and time.perf_counter() - start > SECONDS_PER_CASE:
            break
        for name, call in calls.items():
            best[name] = min(best[name], seconds_of(call))
    return best


def seconds_of(call: Callable[[], object]) -> float:
    """Of one call, while the garbage collector rests."""
    gathering = gc.isenabled()
    gc.disable()
    try:
        began = time.perf_counter()
        call()
        return time.perf_counter() - began
    finally:
        if gathering:
            gc.enable()


def check(what: str, far: Array, allowed: float) -> None:
    """Nothing is timed before it is right: differences from a reference."""
    if not np.abs(far).max() <= allowed:  # not a number is wrong too
        raise ArithmeticError(f"{what}: {np.abs(far).max():.1e} from the reference, allowed are {allowed:.0e}")


# ------------------------------------------------------------------------------------------------ the run itself
def against_scipy(name: str, motion: Motion, t_end: float, pairs: dict[str, str], effort: Effort) -> list[Row]:
    """Adaptive methods of gyrostat and those of SciPy on Pinocchio's forward dynamics."""
    from scipy.integrate import solve_ivp

    exact = motion.read(solve_ivp(motion.rates, (0.0, t_end), motion.y, "DOP853", rtol=1e-11, atol=1e-12).y.T)[-1]
    rows: list[Row] = []
    for method, theirs in pairs.items():

        def ours(method: str = method) -> Array:
            found = gs.simulate(motion.model, motion.law, motion.q, motion.v, t_end, method, **TOLERANCE)
            return found.q  # a result makes its arrays when it is asked for one of them, and SciPy has made its own

        def peer(theirs: str = theirs) -> Any:
            return solve_ivp(motion.rates, (0.0, t_end), motion.y, theirs, **TOLERANCE)

        check(f"{name}, {method}", gs.difference(motion.model, exact, ours()[-1]), 2e-5)
        check(f"{name}, SciPy {theirs}", gs.difference(motion.model, exact, motion.read(peer().y.T)[-1]), 2e-4)
        case = f"{name}, {t_end:g} s, {method}, all told"
        times = in_turns(effort, {"ours": ours, "peer": peer})
        rows.append(Row("run", case, "gyrostat, simulate", times["ours"]))
        rows.append(Row("run", case, f"SciPy {theirs}, Pinocchio", times["peer"], peer=True))
    return rows


def against_mujoco(method: str, chain: Chain, steps: int, effort: Effort) -> list[Row]:
    """Steps of 1 ms, the results of all of them kept."""

    def ours() -> gs.Result:
        return gs.simulate(chain.model, chain.law, chain.q, t_end=steps * DT, method=method, dt=DT)

    check(f"{method}, MuJoCo", ours().q[-1] - chain.steps(steps), 1e-9)
    case = f"chain of 9, {method}, one step of {steps}"
    times = in_turns(effort, {"ours": ours, "peer": lambda: chain.steps(steps)})
    return [
        Row("run", case, "gyrostat, simulate", times["ours"], steps),
        Row("run", case, "MuJoCo, mj_step", times["peer"], steps, True),
    ]


def in_calls_of_rnea(method: str, motion: Motion, steps: int, effort: Effort) -> list[Row]:
    """An implicit step of 1 ms, next to one call of inverse dynamics from Python."""
    model, q, calls = motion.model, motion.q, 1000
    v, a = np.zeros(model.nv), np.zeros(model.nv)

    def ours() -> gs.Result:
        return gs.simulate(model, motion.law, q, t_end=steps * DT, method=method, dt=DT)

    def unit() -> None:
        for _ in range(calls):
            gs.rnea(model, q, v, a)

    exact = gs.simulate(model, motion.law, q, t_end=steps * DT, rtol=1e-10, atol=1e-12)
    check(method, ours().q[-1] - exact.q[-1], 2e-5)
    case = f"Panda, {method}, one step of {steps}"
    times = in_turns(effort, {"ours": ours, "unit": unit})
    return [
        Row("run", case, "gyrostat, simulate", times["ours"], steps),
        Row("run", case, "gyrostat, rnea, one call", times["unit"], calls, True),
    ]


def elastic_arm(t_end: float, effort: Effort) -> list[Row]:
    """Seven elastic joints with springs of 5e4 to 1.2e5 N m/rad: implicit and explicit at equal errors, 5e-6 rad."""
    model, lead, q = led_elastic_arm(10.0)
    instants = np.linspace(0.0, t_end, 21)
    how: dict[str, dict[str, Any]] = {
        "dina, simpson, 9 ms": {"method": "dina", "scheme": "simpson", "dt": 9e-3, "rtol": 1e-4},
        "dina, 1.2 ms": {"method": "dina", "dt": 1.2e-3, "rtol": 1e-4},
        "dopri5, rtol 1e-5": {"method": "dopri5", "rtol": 1e-5, "atol": 1e-8},
    }

    def run(**options: Any) -> gs.Result:
        return gs.simulate(model, lead, q, t_end=t_end, t_eval=instants, **options)

    exact = run(method="radau", rtol=1e-9, atol=1e-12)
    for name, options in how.items():
        check(f"elastic arm, {name}", (run(**options).q - exact.q)[:, :7], 5e-6)
    calls: dict[str, Callable[[], object]] = {name: lambda o=options: run(**o) for name, options in how.items()}
    times, case = in_turns(effort, calls), f"elastic arm, led, {t_end:g} s, all told"
    return [Row("run", case, f"gyrostat, {name}", s, peer="dopri5" in name) for name, s in times.items()]


def sampled(method: str, motion: Motion, t_end: float, effort: Effort) -> list[Row]:
    """The PD law as a block, digital at 1 kHz and analogue."""
    laws = {T: gs.blocks.pd(KP, KD, reference=GOAL, sample_time=T) for T in (DT, None)}

    def run(T: float | None, by: str = method) -> gs.Result:
        return gs.simulate(motion.model, laws[T], motion.q, t_end=t_end, method=by, **TOLERANCE)

    for T in laws:
        check(f"samples of {T} s, {method}", run(T).q[-1] - run(T, "radau").q[-1], 1e-5)
    case = f"Panda, {t_end:g} s, {method}, digital"
    times = in_turns(effort, {"digital": lambda: run(DT), "analogue": lambda: run(None)})
    return [
        Row("run", case, "gyrostat, at 1 kHz", times["digital"]),
        Row("run", case, "gyrostat, without samples", times["analogue"], peer=True),
    ]


def gradient(motion: Motion, steps: int, effort: Effort) -> list[Row]:
    """Of the sum of all coordinates and rates at the end by the seven gains kp of the arm, adjoint, and the rollout."""
    model, arm = motion.model, KP[:7]

    def law(t: Any, q: Any, v: Any, kp: Any) -> Any:
        return np.concatenate([kp, KP[7:]]) * (GOAL - q) - KD * v

    def roll(kp: Array) -> Any:
        return gs.rollout(model, law, motion.q, motion.v, DT, steps, every=None, parameters={"kp": kp})

    def end(kp: Array) -> Array:
        motions = roll(kp)
        return (motions.q.sum(axis=-1) + motions.v.sum(axis=-1))[-1]

    def backward() -> Array:
        motions = roll(arm[None])
        return np.asarray(motions.vjp((np.ones_like(motions.q), np.ones_like(motions.v)))["kp"]).reshape(-1)

    h = 1e-3 * arm
    one, two = ((end(arm + k * np.diag(h)) - end(arm - k * np.diag(h))) / (2.0 * k * h) for k in (1.0, 2.0))
    exact = (4.0 * one - two) / 3.0
    check("gradient", (backward() - exact) / np.abs(exact).max(), 1e-9)
    case = f"Panda, {steps} steps of rk4, gradient by 7 gains"
    times = in_turns(effort, {"gradient": backward, "rollout": lambda: roll(arm[None])})
    return [
        Row("run", case, "gyrostat, rollout and vjp", times["gradient"]),
        Row("run", case, "gyrostat, rollout", times["rollout"], peer=True),
    ]


# ------------------------------------------------------------------------------------------------ the cost of asking
SHORT = 0.01
"""Length of a run [s] whose cost is that of asking for it."""


def short_runs(motion: Motion, effort: Effort) -> list[Row]:
    """Runs that differ from the one before in their start, or in the gains of a new function too.

    Nothing is found on the disk, where earlier processes may have left machine code for the same gains."""
    from scipy.integrate import solve_ivp

    model, shifts = motion.model, itertools.count(1)

    def start() -> Array:
        return motion.q * (1.0 + 1e-3 * next(shifts))

    def other_gains() -> gs.Result:
        return gs.simulate(model, pd(KP * (1.0 + 1e-3 * next(shifts)), KD, GOAL), start(), t_end=SHORT)

    def peer() -> Any:
        return solve_ivp(motion.rates, (0.0, SHORT), np.concatenate([start(), motion.v]), **TOLERANCE)

    calls: dict[str, Callable[[], object]] = {
        "gyrostat, other q0": lambda: gs.simulate(model, motion.law, start(), t_end=SHORT),
        "gyrostat, other q0 and gains": other_gains,
        "SciPy RK45, Pinocchio": peer,
    }
    with empty_cache():
        times = in_turns(effort, calls)
    return [Row("run", f"Panda, {SHORT:g} s, warm", name, s, peer="SciPy" in name) for name, s in times.items()]


def new_laws(motion: Motion, effort: Effort) -> list[Row]:
    """A run with a law that is not known yet: recorded, compiled, and on no disk."""
    numbers = itertools.count(1)

    def law() -> Any:
        terms = next(numbers)  # each has another number of terms, and so another program

        def wave(t: Any, q: Any, v: Any) -> Any:
            return KP * (GOAL + 1e-3 * sum(np.sin((k + 1) * t) for k in range(terms)) - q) - KD * v

        return wave

    rounds = Effort(min(effort.repeat, 10), effort.number)
    with empty_cache():
        times = in_turns(rounds, {"law": lambda: gs.simulate(motion.model, law(), motion.q, t_end=SHORT)})
    return [Row("build", f"Panda, {SHORT:g} s, a new law", "gyrostat, recorded and compiled", times["law"])]


@contextmanager
def empty_cache() -> Iterator[None]:
    """Machine code of earlier processes is not found."""
    before = os.environ.get("GYROSTAT_CACHE")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GYROSTAT_CACHE"] = folder
        try:
            yield
        finally:
            os.environ.pop("GYROSTAT_CACHE")
            if before is not None:
                os.environ["GYROSTAT_CACHE"] = before


def first_runs() -> list[Row]:
    """The first run in a process, with an empty cache and with what that has left there; loading not counted."""
    case, command = f"Panda, {SHORT:g} s, first run in a process", [sys.executable, "-c", FIRST]
    rows: list[Row] = []
    with empty_cache():
        for how in ("cold", "warm"):
            seconds = float(subprocess.check_output(command, text=True, cwd=REPOSITORY))
            rows.append(Row("build", case, f"gyrostat, {how}", seconds))
    return rows


FIRST = f"""
import time
import gyrostat as gs
from benchmarks.motions import panda
arm = panda()
start = time.perf_counter()
gs.simulate(arm.model, arm.law, arm.q, t_end={SHORT})
print(time.perf_counter() - start)
"""
