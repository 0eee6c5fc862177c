"""Thousands of robots at once: a fixed-step simulation whose whole loop is machine code."""

from __future__ import annotations

import logging
import math
import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from gyrostat.configuration.model_cache import cached_on
from gyrostat.configuration.packing import coordinates, rates, real_array
from gyrostat.engine.arguments import check_nonfinite, check_threads
from gyrostat.engine.kernel import Kernel
from gyrostat.errors import GyrostatError, NonFiniteError, ShapeError, StateError, clipped, nearest
from gyrostat.simulate.constraints.dry_friction import DryFriction
from gyrostat.simulate.plant.parameters import further_arguments
from gyrostat.simulate.rollout.contact_results import ContactRecord
from gyrostat.simulate.rollout.control_law import WHO, Law, constant, is_block
from gyrostat.simulate.rollout.gradient import Gradient
from gyrostat.simulate.rollout.kernel import METHODS, RolloutKernel
from gyrostat.simulate.rollout.lane_memory import Rows
from gyrostat.simulate.rollout.loop import run
from gyrostat.simulate.rollout.moreau_model import expect_no_rigid_contact
from gyrostat.simulate.rollout.result import DivergedError, Rollout, divergence
from gyrostat.simulate.rollout.wrenches import RolloutWrenches
from gyrostat.simulate.run.settings import spelt
from gyrostat.simulate.run.stable_steps import expect_stable_moreau_steps, expect_stable_steps
from gyrostat.solvers.machinery.live_properties import expect_may_be_live
from gyrostat.spatial.algebra import Array
from gyrostat.spec.check import check, expect_model
from gyrostat.spec.model import Model

_log = logging.getLogger("gyrostat")


def rollout(
    model: Model,
    controller: Any = None,
    q0: Any = None,
    v0: Any = None,
    dt: float = 1e-3,
    steps: int = 1000,
    method: str = "rk4",
    parameters: Mapping[str, Any] | None = None,
    every: int | None = 1,
    threads: int = 1,
    nonfinite: str = "raise",
    wrenches: Mapping[str, Any] | None = None,
) -> Rollout:
    """Simulate N robots with a fixed step dt [s]; states after every ``every``-th of ``steps`` steps, the start first.

    ``q0`` (N, nq) or (nq,), ``v0`` (N, nv) or (nv,), by default zero; N comes from them, from the torque and from the
    parameters, together. ``controller``: None; a constant tau (nv,) or (N, nv), or by joint name; a function
    f(t, q, v) -> tau (nv,) of one robot in plain NumPy, or a block: they are recorded and compiled into the loop, and
    evaluated in every stage. A digital block needs a sample time that is a multiple of dt.

    ``parameters``: physical properties by path, one value for each robot, ``{"lower.mass": (N,)}``; further arguments
    of a function by name, with the robots in front: ``f(t, q, v, kp)`` and ``{"kp": (N,)}`` or ``(N, nv)``.

    ``wrenches``: external ones by port, as :func:`simulate` takes them; arrays (6,), or (N, 6) with one for each robot.

    ``method``: ``"rk4"`` (order 4), ``"semi-implicit"`` Euler (order 1, one evaluation a step), or ``"moreau"``
    (order 1): rigid contacts and joint limits as impulses of its steps, the scheme of ``gs.simulate(method="moreau")``
    with all candidates in every step; ``Rollout.unsettled`` counts steps whose contact residual stayed above 1e-8 m/s.
    ``every=None``: the last state only, one row. ``threads``: over groups of robots; neither they nor the number of
    robots change a bit.

    A robot whose state is not finite any more raises :class:`DivergedError`, which names robot, step and time and
    carries the result; ``nonfinite="return"`` returns it, see ``Rollout.diverged``. The others are not affected."""
    expect_model(model, WHO)
    check_nonfinite(nonfinite, WHO)
    threads = check_threads(threads, WHO)
    h, count, between = _times(dt, steps, every)
    method = "semi-implicit" if spelt(method) == "semi-implicit-euler" else spelt(method)
    if not isinstance(method, str) or method not in METHODS:
        raise GyrostatError(f"{WHO}: there is no method {method!r}. Hint: {nearest(str(method), METHODS)}")
    if q0 is None:
        raise StateError(f"{WHO}: q0 is missing. Hint: q0=gs.neutral(model), or one row for each robot")
    given = _parameters(model, controller, parameters or {})
    applied = RolloutWrenches(model, wrenches)
    if method == "moreau" and h <= 0.0:
        raise StateError(f"{WHO}: method 'moreau' goes forward in time, got dt = {h:g} s. Hint: dt={-h:g}")
    if method != "moreau":
        expect_no_rigid_contact(model, method)
    kernel = _kernel(model, method, controller, given, applied)
    for q in coordinates(model, q0, WHO).reshape(-1, model.nq)[:1]:
        if method == "moreau":
            expect_stable_moreau_steps(model, q, h, WHO)
        else:
            expect_stable_steps(model, q, abs(h), METHODS[method], WHO)
    arrays = {
        "q0": coordinates(model, q0, WHO),
        "v0": np.zeros(model.nv) if v0 is None else rates(model, v0, WHO, "v0"),
    }
    if kernel.law is None:
        arrays["tau"] = constant(model, controller, rates)
    arrays |= applied.inputs
    sizes = {name: 1 for name in arrays} | {name: len(shape) for name, (_, shape) in given.items()}
    arrays |= {name: x for name, (x, _) in given.items()}
    lead = _lead(arrays, sizes)
    rows = _rows(kernel, arrays, lead, h, (count, between))
    run(kernel, rows, threads)
    gradient = Gradient(kernel, rows, arrays, sizes, lead, len(rows.q) - 1 if every is None else 0, threads)
    result = _result(gradient, every)
    if nonfinite == "raise" and np.any(result.diverged >= 0):
        raise DivergedError(divergence(result, h, None if kernel.law is None else kernel.law.source), result)
    return result


# ------------------------------------------------------------------------------------------------ what is given
def _times(dt: Any, steps: Any, every: Any) -> tuple[float, int, int]:
    """dt [s], steps, and steps between two rows."""
    if isinstance(dt, bool) or not isinstance(dt, float | int | np.floating) or not 0.0 < abs(dt) < math.inf:
        raise StateError(f"{WHO}: dt must be a finite time [s] other than zero, got {clipped(dt)}. Hint: dt=1e-3")
    counts: list[int] = []
    for name, value, least in (("steps", steps, 0), ("every", 1 if every is None else every, 1)):
        try:
            counts.append(operator.index(value))
        except TypeError:
            counts.append(-1)
        if counts[-1] < least:
            raise StateError(f"{WHO}: {name} must be a whole number from {least} on, got {clipped(value)}")
    count, between = counts[0], max(1, counts[0]) if every is None else counts[1]
    if count % between:
        raise StateError(
            f"{WHO}: {count} steps are not a multiple of every = {between}. Hint: steps={count - count % between}"
        )
    return float(dt), count, between


Given = dict[str, tuple[Array, tuple[int, ...]]]
"""Parameters: all values, and the shape of one."""


def _parameters(model: Model, controller: Any, parameters: Mapping[str, Any]) -> Given:
    """Values of live properties and of further arguments, checked."""
    if not parameters:
        return {}
    known = further_arguments(controller) if callable(controller) and not is_block(controller) else ()
    paths = _paths(model)
    arrays: Given = {}
    for name, value in parameters.items():
        array = real_array(value, WHO, f"parameters['{name}']")
        if not np.all(np.isfinite(array)):
            raise NonFiniteError(f"{WHO}: parameters['{name}'] is not finite everywhere")
        if name in known:
            arrays[name] = array, array.shape[1:]
            continue
        path = model.canonical(name) if isinstance(name, str) else name
        if path not in paths:
            raise StateError(
                f"{WHO}: parameters name '{name}', which is no property of '{model.name}' and no argument of the "
                f"controller. Hint: {nearest(str(name), [*paths, *known])}"
            )
        shape = np.shape(getattr(model[path], "g", model[path]))
        if array.shape[array.ndim - len(shape) :] != shape or array.ndim > len(shape) + 1:
            raise ShapeError(f"{WHO}: parameters['{name}'] has shape {array.shape}, expected (N, *{shape})")
        expect_may_be_live(model, path)
        arrays[path] = array, shape
        _check_extremes(model, path, array, shape)
    return arrays


def _paths(model: Model) -> frozenset[str]:
    """Of all properties; found once for a model object."""
    kept = cached_on(model)
    if "paths" not in kept:
        kept["paths"] = frozenset(model.paths())
    return kept["paths"]


def _check_extremes(model: Model, path: str, array: Array, shape: tuple[int, ...]) -> None:
    """The rules of the specification for the least and the greatest value of a number."""
    if shape == () and array.size:
        for value in {float(array.min()), float(array.max())}:
            check(model.replace({path: value}))


def _kernel(model: Model, method: str, controller: Any, given: Given, applied: RolloutWrenches) -> RolloutKernel:
    """The kernels. A controller is recorded at every call, as what it reads from outside may have changed; machine code
    is found again by what it computes."""
    law = None
    paths = _paths(model) if given else frozenset()
    if callable(controller) or is_block(controller):
        law = Law(model, controller, {name: shape for name, (_, shape) in given.items() if name not in paths})
    live = {name: shape for name, (_, shape) in given.items() if name in paths}
    kernel = RolloutKernel(model, method, law, live, applied)
    if law is not None:
        _expect_fixed(law, {name: given[name] for name in live})
    kept = cached_on(model)
    if "creeps" not in kept:  # said once
        kept["creeps"] = DryFriction.of(model) is not None
        if kept["creeps"]:
            _log.warning(
                "%s: dry friction with an exact sign lets '%s' creep and chatter where it should stick. "
                "Hint: give its frictions 'smooth', or use gs.simulate", WHO, model.name,
            )  # fmt: skip
    return kernel


def _expect_fixed(law: Law, live: Given) -> None:
    """Refuse parameters that move the frames which a block acts on: it is recorded with those of the model."""
    if law.source is None or law.source.block is law.source.given:
        return
    for path, (array, shape) in live.items():
        for value in array.reshape(-1, *shape):
            changed = Law(law.model.replace({path: value if shape else float(value)}), law.controller, law.gains)
            if changed.program.digest != law.program.digest:
                raise StateError(
                    f"{WHO}: parameters['{path}'] moves the frames between which {law.told} acts. "
                    "Hint: one rollout, or gs.simulate, for each model.replace({...})"
                )


def _lead(arrays: Mapping[str, Array], sizes: Mapping[str, int]) -> tuple[int, ...]:
    """() or (N,)."""
    shapes = {name.removesuffix("0"): x.shape[: x.ndim - sizes[name]] for name, x in arrays.items()}
    told = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
    try:
        lead = np.broadcast_shapes(*shapes.values())
    except ValueError:
        raise ShapeError(f"{WHO}: numbers of robots do not go together: {told}") from None
    if len(lead) > 1:
        raise ShapeError(f"{WHO}: one axis of robots is expected in front of each state, got {told}")
    return lead


def _rows(
    kernel: RolloutKernel, arrays: Mapping[str, Array], lead: tuple[int, ...], dt: float, steps: tuple[int, int]
) -> Rows:
    """Memory of a run, with the start in its first rows."""
    robots, source = lead[0] if lead else 1, kernel.source
    start = {"q": arrays["q0"], "v": arrays["v0"], "p": source.p0, "m": kernel.m0}
    rows = {name: np.empty((steps[0] // steps[1] + 1, robots, x.shape[-1])) for name, x in start.items()}
    for name, array in rows.items():
        array[0] = start[name]
    parameters = _columns(arrays, source.slots)
    live = _columns(arrays, kernel.kernels.live)
    bad = np.full(robots, -1.0)
    return Rows(
        **rows, parameters=parameters, live=live, h=dt, every=steps[1], sample=_sample(kernel, dt), first_bad=bad
    )


def _columns(arrays: Mapping[str, Array], shapes: Mapping[str, tuple[int, ...]]) -> Array:
    """Numbers of each robot one behind the other, (N, size); (1, size) where all have the same."""
    flat = [arrays[name].reshape(-1, math.prod(shape)) for name, shape in shapes.items()]
    count = max((len(x) for x in flat), default=1)
    return np.concatenate([np.zeros((count, 0)), *(np.broadcast_to(x, (count, x.shape[1])) for x in flat)], axis=1)


def _sample(kernel: RolloutKernel, dt: float) -> int:
    """Steps between two samples of a digital controller or wrench."""
    law, told = kernel.law, "a wrench" if kernel.law is None else kernel.law.told
    times = kernel.wrenches.sample_times | ({law.sample_time} if law is not None and law.sample_time else set())
    if not times:
        return 1
    if len(times) > 1:
        raise StateError(f"{WHO}: there are different sample times {tuple(times)}. Hint: gs.simulate takes them")
    (sample_time,) = times
    steps = sample_time / dt
    if round(steps) < 1 or abs(steps - round(steps)) > 1e-9 * steps:
        raise StateError(
            f"{WHO}: the sample time {sample_time:g} s of {told} is no multiple of dt = {dt:g} s. "
            f"Hint: dt={sample_time / max(1, math.ceil(abs(steps))):g}"
        )
    return round(steps)


# ------------------------------------------------------------------------------------------------ what comes out
def _result(gradient: Gradient, every: int | None) -> Rollout:
    kernel, run, lead = gradient.kernel, gradient.rows, gradient.lead
    bad = run.first_bad.astype(np.int64)
    for robot in np.flatnonzero(bad >= 0):
        for array in (run.q, run.v, run.p, run.m):
            array[bad[robot] // run.every + 1 :, robot] = np.nan
    cut = slice(-1 if every is None else 0, None)
    t = (np.arange(len(run.q)) * (run.every * run.h))[cut]
    q, v, p, m = (x[cut] if lead else x[cut, 0] for x in (run.q, run.v, run.p, run.m))

    def torque() -> Array:
        law = kernel.law
        if law is None:
            tau = run.parameters[:, : kernel.model.nv]
            return np.array(np.broadcast_to(tau if lead else tau[0], v.shape))
        parameters = run.parameters[:, : sum(math.prod(shape) for shape in law.gains.values())]
        own = p[..., : len(law.p0)], m[..., : len(law.m0)]  # wrenches have theirs behind them
        given = (t.reshape(-1, *[1] * len(lead), 1), q, v, *own, parameters if lead else parameters[0])
        return Kernel(law.program, WHO).call(*given, nonfinite="return")["tau"]

    contact = ContactRecord(kernel, run, cut, not lead)
    return Rollout(kernel.model, t, q, v, p, bad if lead else bad[0], torque, gradient, contact)
