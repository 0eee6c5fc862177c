"""``gs.flexible.superposed``: small vibrations on a recorded rigid motion, thousands of cases at once [AS 2.2]."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gyrostat.configuration.packing import names_of, real_array
from gyrostat.errors import NonFiniteError, ShapeError, StateError, nearest
from gyrostat.flexible.rigid_links import rigid as with_rigid_links
from gyrostat.flexible.superposed_drives import GivenEfforts, Law
from gyrostat.flexible.superposed_equations import SuperposedEquations
from gyrostat.flexible.superposed_loads import Loads
from gyrostat.flexible.superposed_nominal import Nominal, nominal
from gyrostat.flexible.superposed_propagation import integrated, table_of, whole_number
from gyrostat.flexible.superposed_result import Superposed
from gyrostat.flexible.superposed_steps import State, Vibration
from gyrostat.simulate.plant.parameters import further_arguments, known_paths, value_shape
from gyrostat.simulate.trajectories.trajectory import Trajectory
from gyrostat.solvers.machinery.live_properties import expect_may_be_live
from gyrostat.spec.check import check, expect_model
from gyrostat.spec.model import Model

Array = np.ndarray
WHO = "superposed"


def superposed(
    model: Model,
    motion: Any,
    torque: Any = None,
    *,
    rigid: Model | None = None,
    dt: float | None = None,
    start: Any = None,
    start_rate: Any = None,
    locked: Sequence[str] = (),
    parameters: Mapping[str, Any] | None = None,
    wrenches: Mapping[str, Any] | None = None,
    method: str = "simpson",
    every: int = 1,
) -> Superposed:
    """Small motions U of a flexible model about a recorded rigid motion, from linear equations [AS (19)]:

        M(t) U'' + D(t) U' + K(t) U = R(t) + F(t, q + mu, q' + mu')

    ``motion``: the :class:`Result` of a rigid model, which has the joints of ``model`` by the same names and nothing
    else, at an odd number of evenly spaced samples; or a trajectory of the joints of ``rigid``, by default of
    :func:`rigid` of the model. ``dt`` [s]: other
    samples, interpolated.
    ``torque``: efforts of the drives, of the rigid model's coordinates, as ``gs.simulate(rigid, torque)`` takes them:
    they see the joints with their additional angles mu. By default the recorded efforts, or along a trajectory those
    that the undeformed robot needs, whatever the joints do.
    ``locked``: rates that follow the rigid motion exactly, as under stiff control.
    ``start``, ``start_rate``: U and U' at the first instant, (nv,) or (N, nv), zero by default; ``start="static"``:
    deflections that the loads of the first instant cause at rest, joints in place.

    **Cases.** ``parameters``: properties of the flexible model by path, {"load.mass": (N,)}, and further arguments of
    torque, {"kp": (N,)} or (N, n). ``wrenches``: disturbances by port, (6,), (N, 6) or a function f(t) of these, in
    the port's axes. Cases that differ in starts and wrenches alone share all factors.
    ``method``: "simpson" (order 4), or "trapezoid" (order 2, average acceleration). ``every``: samples that are kept.

    First order in U: the error is of the second. Large deflections, and stiffening by them, are for ``gs.simulate``;
    :func:`compare` shows how far the two are apart."""
    expect_model(model, WHO)
    stiff = rigid if rigid is not None or not isinstance(motion, Trajectory) else with_rigid_links(model)
    given = nominal(model, motion, stiff, dt, WHO)
    table, count = table_of(method, WHO), whole_number(every, WHO)
    free = _free(model, locked)
    live, gains = _parameters(model, torque, parameters or {})
    equations = SuperposedEquations(given, free, live, WHO)
    rows = np.array([free.index(k) if k in free else -1 for k in given.places])
    drives: Any = Law(given, torque, gains, WHO) if torque is not None else GivenEfforts(_recorded(given, equations))
    loads = Loads(given.t, wrenches, {port: equations.jacobian(port) for port in wrenches}, WHO) if wrenches else None
    vibration = Vibration(equations, drives, rows, loads, WHO)
    U = starts(model.nv, equations.free, start, "start", lambda: vibration.sag(given.elastic))
    V = starts(model.nv, equations.free, start_rate, "start_rate")
    cases = case_count({**live, **gains}, U, V, loads, WHO)
    return _result(given, vibration, integrated(vibration, table, U, V, cases, count), cases, count)


def _result(given: Nominal, vibration: Vibration, kept: list[State], cases: int, every: int) -> Superposed:
    model, free = given.model, vibration.equations.free
    at = np.arange(0, len(given.t), every)
    pick = (lambda x: x) if cases else (lambda x: x[:, 0])
    U, V, A = np.zeros((3, len(kept), len(kept[0].U), model.nv))
    tau = np.zeros(U.shape)
    for row, k in enumerate(at):
        x = kept[row]
        U[row][:, free], V[row][:, free], A[row][:, free] = x.U, x.V, x.A
        tau[row][:, given.places] = vibration.torques(int(k), x)
    p = np.stack([x.p for x in kept])
    return Superposed(given, given.t[at], pick(U), pick(V), pick(A), pick(tau), pick(p), at)


# ------------------------------------------------------------------------------------------------ what is given
def _free(model: Model, locked: Any) -> list[int]:
    """Rates that may move beside the rigid motion; an entity stands for all its rates."""
    still: set[int] = set()
    for name in names_of(locked, WHO, "locked"):
        rates = [k for k, rate in enumerate(model.dofs) if rate == name or rate.startswith(f"{name}.")]
        if not rates:
            raise StateError(f"{WHO}: locked names '{name}', which is no rate. Hint: {nearest(str(name), model.dofs)}")
        still.update(rates)
    return [k for k in range(model.nv) if k not in still]


def _recorded(given: Nominal, equations: SuperposedEquations) -> Array:
    """Efforts (T, n') of the rigid robot along its motion."""
    return equations.torques()[:, given.places] if given.tau is None else given.tau


def _parameters(model: Model, torque: Any, given: Mapping[str, Any]) -> tuple[dict[str, Array], dict[str, Array]]:
    """Physical properties and gains, each with its cases in front."""
    known = further_arguments(torque) if callable(torque) else ()
    live: dict[str, Array] = {}
    gains: dict[str, Array] = {}
    for name, value in given.items():
        array = real_array(value, WHO, f"parameters['{name}']")
        if not np.isfinite(array).all():
            raise NonFiniteError(f"{WHO}: parameters['{name}'] is not finite everywhere")
        if name in known:
            if array.ndim == 0:
                raise ShapeError(f"{WHO}: parameters['{name}'] has no axis of cases. Hint: [{float(array):g}]")
            gains[name] = array
            continue
        path = model.canonical(name) if isinstance(name, str) else name
        if path not in known_paths(model):
            raise StateError(
                f"{WHO}: parameters name '{name}', which is no property of '{model.name}' and no argument of the "
                f"torque. Hint: {nearest(str(name), [*known, *sorted(known_paths(model))])}"
            )
        shape = value_shape(model, path)
        if array.ndim != len(shape) + 1 or array.shape[1:] != shape:
            raise ShapeError(f"{WHO}: parameters['{name}'] has shape {array.shape}, expected (N, *{shape})")
        expect_may_be_live(model, path)
        for extreme in {float(array.min()), float(array.max())} if shape == () else ():
            check(model.replace({path: extreme}))
        live[path] = array
    return live, gains


def starts(size: int, free: Array, given: Any, name: str, static: Callable[[], Array] | None = None) -> Array:
    """U or U' of the ``free`` variables among ``size``, (n,) or (N, n)."""
    if given is None:
        return np.zeros(len(free))
    if isinstance(given, str):
        if static is None or given != "static":
            raise StateError(f"{WHO}: {name} is {given!r}. Hint: start='static', or an array ({size},)")
        return static()
    array = real_array(given, WHO, name)
    if array.ndim not in (1, 2) or array.shape[-1] != size or not np.isfinite(array).all():
        hint = "zero where nothing is displaced; start='static' for the sag"
        raise ShapeError(f"{WHO}: {name} has shape {array.shape}, expected ({size},) or (N, {size}). Hint: {hint}")
    return array[..., free]


def case_count(own: Mapping[str, Array], U: Array, V: Array, loads: Loads | None, who: str) -> int:
    """N; 0 where there is one case without an axis."""
    sizes = {name: len(x) for name, x in own.items()}
    sizes |= {name: len(x) for name, x in (("start", U), ("start_rate", V)) if x.ndim == 2}
    if loads is not None and loads.cases > 1:
        sizes["wrenches"] = loads.cases
    if len(set(sizes.values()) - {1}) > 1:
        told = ", ".join(f"{name} {size}" for name, size in sizes.items())
        raise ShapeError(f"{who}: what is given has different numbers of cases: {told}")
    return max(sizes.values(), default=0)
