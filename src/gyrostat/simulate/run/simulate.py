"""``gs.simulate``: from torques to motion, step by step, with events, sampling instants and partial results."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gyrostat.configuration.manifold import neutral
from gyrostat.configuration.packing import coordinates, rates
from gyrostat.errors import ShapeError
from gyrostat.simulate.constraints.dry_friction import DryFriction
from gyrostat.simulate.methods import METHODS
from gyrostat.simulate.plant.parameters import given_parameters
from gyrostat.simulate.plant.plant import Plant
from gyrostat.simulate.plant.user_dynamics import refuse_by_residual
from gyrostat.simulate.results.recorder import Recorder
from gyrostat.simulate.results.result import Result
from gyrostat.simulate.run.loop import Run
from gyrostat.simulate.run.progress import Progress
from gyrostat.simulate.run.settings import given_numbers, given_times, last_of, made_method, sampled, spelt
from gyrostat.simulate.sensitivity.asked import asked_for
from gyrostat.simulate.sensitivity.refusals import expect_method
from gyrostat.simulate.sensitivity.tangents import Tangents
from gyrostat.solvers.machinery.solver import LARGE
from gyrostat.spec.check import expect_model
from gyrostat.spec.context import HarmonicMotion
from gyrostat.spec.model import Model

WHO = "simulate"


def needs_numbers(model: Model, torque: Any, events: Any, wrenches: Any) -> bool:
    """Whether somebody but machine code reads the numbers of the model: constraints, blocks, wrenches."""
    given = (events if isinstance(events, list | tuple) else [events]) if events is not None else []
    others = len(given) > 0 or wrenches is not None or callable(getattr(torque, "output", None))
    in_python = model.nv > LARGE or not isinstance(model.context.base, str | HarmonicMotion)
    return others or in_python or DryFriction.of(model) is not None


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
    **options: Any,
) -> Result:
    """The motion of a model from (q0, v0) at ``t_start`` to ``t_end`` [s] under the efforts ``torque``.

    ``torque``: None, an array (nv,), a dict by joint name (others get none), a function f(t, q, v) -> (nv,) or such a
    dict, or a block; or an array (T, nv) of efforts at the instants ``t_eval``, with straight lines between them. A
    function that can be recorded is compiled together with the forward dynamics: it is then called a few times only,
    and must return the same for the same arguments; ``compiled=False`` calls it every time.
    ``wrenches``: external ones by port, each an array (6,) (torque, then force, in the port's axes), a
    :class:`Wrench` with another frame, a function f(t, q, v) -> (6,), a block that gives (6,), or rows (T, 6) at
    ``t_eval``; a :class:`Wrench` may hold a function or block as its value.
    ``q0``, ``v0``: arrays or dicts; by default at rest in the neutral configuration.

    ``method``: "dopri5" (default), "dop853", "ode23": adaptive, explicit; "bdf", "radau", "cvode", "ida": adaptive, for
    stiff models; "rk4", "semi-implicit-euler", "variational" (symplectic), "newmark", "trapezoid", "generalised-alpha",
    "dina": steps of ``dt`` [s].
    Adaptive ones keep the estimated error of each step within ``rtol`` times the size of a coordinate or rate plus
    ``atol``. ``options`` are those of the method.

    ``forward_dynamics``: ``gs.BlockSolver(model, f, like=gs.ForwardDynamics)``, a function of yours in the place of the
    articulated-body algorithm, for methods that ask for accelerations (not newmark, trapezoid, generalised-alpha,
    dina, ida, variational).

    ``parameters``: physical properties by path, and further arguments of a function f(t, q, v, kp) by name:
    ``{"hand.mass": 0.8, "kp": 30.0}``. They are inputs of the machine code: other values compile nothing.

    ``sensitivities``: names of parameters and physical properties, "q0", "v0": derivatives of the motion by them, in
    ``Result.sensitivities``. With the explicit methods, whose steps they leave as they are; exact derivatives of the
    numerical solution for fixed steps, and for adaptive ones with the steps that were chosen.

    ``t_eval`` (T,): instants [s] to keep; by default the end of every step. ``events``: :class:`Event`,
    :class:`JointLimits`, or a list of them. ``progress``: True, False, a function of (t, step, fraction), or None: a
    bar where there is a terminal. Ctrl-C returns what was computed, with the status "interrupted"; a run that cannot go
    on raises :class:`SimulationError`, whose ``result`` holds it up to there."""
    start = time.perf_counter()
    t0, t1 = given_numbers(t_start, last_of(t_end, t_eval), dt)
    times = given_times(t_eval, t0, t1)
    expect_model(model, WHO)
    numbers = given_parameters(model, torque, parameters, WHO)
    told = numbers.replaced(model)
    plant = Plant(
        told if needs_numbers(model, torque, events, wrenches) else model,
        *(sampled(torque, times), compiled, wrenches, times, forward_dynamics),
        parameters=numbers,
        base=model,
    )
    refuse_by_residual(forward_dynamics, spelt(method))
    q = coordinates(model, neutral(model) if q0 is None else q0, WHO)
    v = rates(model, np.zeros(model.nv) if v0 is None else v0, WHO, "v")
    if q.shape != (model.nq,) or v.shape != (model.nv,):
        raise ShapeError(f"{WHO}: q0 and v0 have shapes {q.shape} and {v.shape}, expected one state. Hint: gs.rollout")
    made = made_method(METHODS, method, plant, rtol, atol, max_step, dt, options)
    asked = asked_for(model, torque, numbers, sensitivities)
    tangents = None
    if asked is not None:
        expect_method(made, METHODS)
        tangents = Tangents(plant, made, asked, times, dt)
    recorder = Recorder(plant, times, made.name, told, tangents)
    settings = {"rtol": rtol, "atol": atol, "dt": dt, "max_step": max_step, "t_start": t0, "t_end": t1, **options}
    run = Run(plant, made, recorder, events, settings, t1)
    return run.go(t0, np.array(q), np.array(v), Progress(progress, t0, t1), start)
