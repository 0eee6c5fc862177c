"""``gs.simulate``: from torques to motion, step by step, with events, sampling instants and partial results."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gyrostat.engine.arguments import check_threads
from gyrostat.errors import GyrostatError, clipped
from gyrostat.simulate.plant.parameters import given_parameters
from gyrostat.simulate.run.batch import Batch
from gyrostat.simulate.run.prepared import Words, keep, repeatable, repeated, taken
from gyrostat.simulate.run.progress import Progress
from gyrostat.simulate.run.rolled import rolled
from gyrostat.simulate.run.runs import given_runs
from gyrostat.simulate.run.settings import given_numbers, given_times, last_of
from gyrostat.simulate.run.step_doubling import within_error
from gyrostat.simulate.run.structures import carried_on
from gyrostat.simulate.run.task import Task
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model

WHO = "simulate"


def simulate(
    model: Model,
    torque: Any = None,
    q0: Any = None,
    v0: Any = None,
    t_end: float | None = None,
    method: str = "dopri5",
    rtol: float = 1e-6,
    atol: float = 1e-9,
    t_eval: Any = None,
    events: Any = (),
    max_step: float = np.inf,
    dt: float | None = None,
    progress: Any = None,
    *,
    t_start: float = 0.0,
    compiled: bool | None = None,
    wrenches: Any = None,
    forward_dynamics: Any = None,
    parameters: Mapping[str, Any] | None = None,
    sensitivities: Sequence[str] | None = None,
    runs: int | None = None,
    threads: int = 1,
    **options: Any,
) -> Any:
    """The motion of a model from (q0, v0) at ``t_start`` to ``t_end`` [s] under the efforts ``torque``.

    ``torque``: None, an array (nv,), a dict by joint name (others get none), a function f(t, q, v) -> (nv,) or such a
    dict, or a block; or an array (T, nv) of efforts at the instants ``t_eval``, with straight lines between them. A
    function that can be recorded is compiled together with the forward dynamics: it is then called a few times only,
    and must return the same for the same arguments; ``compiled=False`` calls it every time.
    ``wrenches``: external ones by port, each an array (6,) (torque, then force, in the port's axes), a
    :class:`Wrench` with another frame, a function f(t, q, v) -> (6,), a block that gives (6,), or rows (T, 6) at
    ``t_eval``; a :class:`Wrench` may hold a function or block as its value.
    ``q0``, ``v0``: arrays or dicts; by default at rest in the neutral configuration.

    ``method``: "dopri5" (default), "dop853", "ode23": adaptive, explicit; "bdf", "radau": adaptive, for stiff models,
    and "scipy-bdf", "scipy-radau", "cvode", "ida", by other programs; "rk4", "semi-implicit-euler", "variational"
    (symplectic), "newmark", "trapezoid", "generalised-alpha", "dina": steps of ``dt`` [s]; "moreau": steps of ``dt``
    with contacts, impacts, joint limits and dry friction as impulses.
    Adaptive ones keep the estimated error of each step within ``rtol`` times the size of a coordinate or rate plus
    ``atol``. ``options`` are those of the method. ``error`` [rad, m], with fixed steps: what coordinates may be wrong
    by; the run is done again with steps of twice the length, ``counters.statistics["error"]`` tells the estimate, and
    :class:`SimulationError` comes where it is larger.

    Rigid contacts of the model act by events, with joint limits, friction and loops: ``impact="poisson"`` (default),
    ``"newton"`` or ``"sequential"``; see ``Result.contact_forces``, ``impulses``, ``contact_phases``.

    Loops that are constraints: ``stabilisation="projection"`` (default: stages and steps are projected onto closed
    loops) or ``"baumgarte"`` with ``k1`` [1/s], ``k2`` [1/s^2]; ``index=2`` (default) or 3 of the equations that
    newmark, trapezoid, generalised-alpha and dina solve with multipliers. ``Result.closure`` tells how far loops were
    open. q0 is then closed to 1e-8, and v0 keeps it so; by default it is the reference configuration.

    ``forward_dynamics``: ``gs.BlockSolver(model, f, like=gs.ForwardDynamics)``, a function of yours in the place of the
    articulated-body algorithm, for methods that ask for accelerations (not newmark, trapezoid, generalised-alpha,
    dina, ida, variational).

    ``parameters``: physical properties by path, and further arguments of a function f(t, q, v, kp) by name:
    ``{"hand.mass": 0.8, "kp": 30.0}``. They are inputs of the machine code: other values compile nothing.

    ``sensitivities``: names of parameters and physical properties, "q0", "v0": derivatives of the motion by them, in
    ``Result.sensitivities``. With the explicit methods, whose steps they leave as they are; exact derivatives of the
    numerical solution for fixed steps, and for adaptive ones with the steps that were chosen.

    ``t_eval`` (T,): instants [s] to keep; by default the end of every step. ``events``: :class:`Event`,
    :class:`JointLimits`, ``gs.Rolling(...).on(wheel)``, or a list of them. ``progress``: True, False, a function of
    (t, step, fraction), or None: a bar where there is a terminal. Ctrl-C returns what was computed, with the status
    "interrupted"; a run that cannot go on raises :class:`SimulationError`, whose ``result`` holds it up to there.

    **Batches.** ``q0`` (N, nq), ``v0`` (N, nv) or properties with N values, (N,) or (N, ...), are N runs, of which
    :class:`Results` come; what is given once serves all. Further arguments of a function then have the runs in front,
    ``{"kp": (N,)}`` or (N, nv); where they alone differ, ``runs=N`` says so. Each run has steps of its own, and the
    bits that it has alone, whatever N and the number of ``threads``; a run that cannot go on is kept with the status
    "failed" and its message, and the others finish. ``progress``: a function of (finished, N, fraction)."""
    if "error" in options:
        error = options.pop("error")

        def once(dt: float | None, times: Any = None) -> Any:
            instants = t_eval if times is None else times
            return simulate(
                model, torque, q0, v0, t_end, method, rtol, atol, instants, events, max_step, dt, progress,
                t_start=t_start, compiled=compiled, wrenches=wrenches, forward_dynamics=forward_dynamics,
                parameters=parameters, sensitivities=sensitivities, runs=runs, threads=threads, **options,
            )  # fmt: skip

        return within_error(error, method, dt, once)
    start = time.perf_counter()
    words: Words = (
        torque, events, method, rtol, atol, t_eval, max_step, dt, compiled, wrenches, forward_dynamics, parameters,
        sensitivities, runs, threads,
    )  # fmt: skip
    if not options and (progress is None or progress is False):
        result = repeated(model, words, q0, v0, t_start, t_end, start)
        if result is not None:
            return result
    t0, t1 = given_numbers(t_start, last_of(t_end, t_eval), dt)
    times = given_times(t_eval, t0, t1)
    expect_model(model, WHO)
    model, events = rolled(model, events)
    if compiled is not None and not isinstance(compiled, bool):
        raise GyrostatError(f"{WHO}: compiled must be True, False or None, got {clipped(compiled)}. Hint: leave it out")
    count = check_threads(threads, WHO)
    how = method, rtol, atol, max_step, dt
    given = events, compiled, wrenches, forward_dynamics, options
    task = Task(model, torque, t0, t1, times, *how, *given, sensitivities=sensitivities)
    q, v = task.state(q0, v0)
    batch = given_runs(model, torque, q, v, parameters, runs)
    if batch is not None:
        return Batch(task, batch, start).go(count, progress)
    numbers = given_parameters(model, torque, parameters, WHO)
    told = numbers.replaced(model)
    run, prepared = taken(task, numbers, told)
    result = run.go(t0, np.array(q), np.array(v), Progress(progress, t0, t1), start)
    if run.successor is not None:
        return carried_on(task, run, result, numbers, progress)
    if result.status == "finished":
        keep(model, prepared, words if not options and repeatable(words) else None)
    return result
