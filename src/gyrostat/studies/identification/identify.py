"""Inertias, friction and rotors of a real robot from its motion and its torques.

    tau = A(q, v, a) x + tau_known + e,    x = (inertias, friction, rotors, tilt of the base, ...)

1. Signals are filtered without phase, differentiated, thinned [measured_run].
2. Terms beyond the first ones are chosen by blocked folds [fold_selection].
3. Weighted least squares: base parameters with deviations [base_estimate].
4. The parameters nearest to the model, in the sense of a weak prior, that explain the torques and that a machine can
   have: pseudo-inertias positive definite, friction not negative [consistent_fit]. Weights are iterated."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError, clipped, nearest
from gyrostat.solvers.dynamics.actuator_dynamics import ActuatorDynamics
from gyrostat.spec.check import expect_model
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.studies.identification.base_estimate import base_estimate, structure
from gyrostat.studies.identification.fold_selection import Selection, select_terms, time_blocks
from gyrostat.studies.identification.friction_speeds import fitted_speeds
from gyrostat.studies.identification.identification import Identification
from gyrostat.studies.identification.identified_model import identified_model
from gyrostat.studies.identification.measured_run import MeasuredRun, measured_run
from gyrostat.studies.identification.sought import expect_linear, random_run, sought
from gyrostat.studies.identification.torque_fit import Fit, Prior, fitted, rms, starting_weights
from gyrostat.studies.identification.torque_terms import TERMS, TorqueColumns
from gyrostat.studies.progress import Progress

Array = np.ndarray
WHO = "identify"
UNEXPLAINED = 0.5
"""Part of the deviation of a torque that nothing explains, from which on it is told."""
FAR_OFF = 30.0
"""Ratio of torques to those of the given model that is told."""
CANDIDATES = ("offset", "asymmetric", "stribeck", "load", "tilt", "cogging")
SIDES = ("joint", "motor")


def identify(
    model: Model | Identification,
    t: Any,
    q: Any,
    tau: Any,
    v: Any = None,
    a: Any = None,
    *,
    terms: Sequence[str] | None = None,
    candidates: Sequence[str] | None = None,
    parameters: Sequence[str] = (),
    bodies: Sequence[str] | None = None,
    band: float | bool | None = None,
    wrenches: Any = None,
    temperature: Any = None,
    torque_side: str = "joint",
    unmeasured: Sequence[str] = (),
    smooth: float | None = None,
    stribeck: float | None = None,
    folds: int = 5,
    weights: str = "joint",
    prior: float = 2.0,
    check_signs: bool = True,
    progress: Any = None,
) -> Identification:
    """Fit the inertias and the friction of ``model`` to a measured motion.

    ``t`` (T,) [s], ``q`` (T, nq), ``tau`` (T, nv) [N m, N], ``v``, ``a`` (T, nv) if measured; lists of such arrays are
    several runs. ``tau`` is what the joints exert, against load and friction; ``torque_side="motor"``: on the shafts
    of the motors, (T, motors) in the order of ``gs.ActuatorDynamics(model).actuators``. Of a floating base the six
    rows are the wrench on it: zeros if nothing holds it. ``wrenches``: measured ones by port (T, 6).

    ``terms`` are fitted in any case (by default viscous and Coulomb friction of every joint with a shaft),
    ``candidates`` if blocked folds want them (``()``: none); names and equations:
    :mod:`~gyrostat.studies.identification.torque_terms`. ``parameters``: further properties by path in which
    torques are linear (stiffness of a spring, inertia of a rotor). ``bodies``: whose inertias are sought, all
    that move by default; ``()`` none. ``band`` [Hz], False: clean signals. ``unmeasured``: rates whose tau is not
    known. ``smooth``, ``stribeck`` [rad/s, m/s]: by default fitted, from 3 % and 20 % of each shaft's rms speed
    on. ``weights``: ``"joint"``, or ``"full"``: the residual's covariance. ``prior``: how far, in multiples of
    the robot's mean mass and size, bodies may be from the model where the motion does not tell."""
    before = model if isinstance(model, Identification) else None
    robot: Any = before.model if before is not None else model
    expect_model(robot, WHO)
    expect_linear(robot, WHO)
    wanted, tries = (
        _terms(_usual(robot) if terms is None else terms, "terms"),
        _terms(CANDIDATES if candidates is None else candidates, "candidates"),
    )
    _expect_numbers(folds, prior, weights, torque_side)
    runs = read_runs(robot, t, q, tau, v, a, band, wrenches, temperature, torque_side, WHO)
    beside = [np.zeros_like(r.tau) if before is None else before.beside(r) for r in runs]
    columns, usual, notes = sought(robot, runs, wanted, tries, parameters, bodies, smooth, stribeck, candidates is None)
    rows = _rows(robot, unmeasured)
    notes += [note for r in runs for note in r.notes]
    A = np.concatenate([r.smoothed(columns.linear(r)) for r in runs])[:, rows]
    known = [r.smoothed(columns.known(r) + extra) for r, extra in zip(runs, beside, strict=True)]
    b = np.concatenate([r.tau[r.inner] - x for r, x in zip(runs, known, strict=True)])[:, rows]
    if not np.any(b):
        raise GyrostatError(f"{WHO}: tau is zero throughout, there is nothing to fit. Hint: torques [N m] over time")
    task = Fit(columns, tuple(runs), A, b, rows, Prior.of(columns, A, b, prior), weights)
    every = (*usual, *(c for c in tries if c in columns.terms))
    with Progress(progress, WHO, 3 + len(every) ** 2) as shown:
        try:
            x, W = fitted(task, usual, starting_weights(b), WHO)
            fitted_speeds(task, usual, x, W)
            x, W = fitted(task, usual, W, WHO)
            shown.step(1, "terms")
            selection = Selection((usual,), np.ones((1, len(rows))), usual)
            if len(every) > len(usual):
                blocks = time_blocks([len(range(len(r.t))[r.inner]) for r in runs], folds)
                task.refresh(x, columns.terms)
                selection = select_terms(
                    task.A, b, W, blocks, usual, every, task.columns_of, (task.prior.H, task.prior.g),
                    lambda term: shown.step(1, term),
                )  # fmt: skip
            x, W = fitted(task, selection.chosen, W, WHO)
            if selection.chosen != usual:
                fitted_speeds(task, selection.chosen, x, W)
                x, W = fitted(task, selection.chosen, W, WHO)
        except np.linalg.LinAlgError as error:
            raise GyrostatError(f"{WHO}: the fit failed ({error}). Hint: check units of q and tau") from None
        shown.step(1, "deviations")
        at = task.columns_of(selection.chosen)
        base = _base(task, selection.chosen, at, W)
    columns = task.columns
    residual = task.A @ x - b
    measured = np.concatenate([r.tau[r.inner] for r in runs])[:, rows]
    told = task.A @ columns.prior() + (measured - b)
    if check_signs:
        _expect_signs(robot, told, measured, residual, rows)
    changed = identified_model(columns, selection.chosen, x)
    noise = np.full(robot.nv, np.nan)
    noise[rows] = rms(residual)
    message = "finished" if selection.finished else "interrupted: folds did not try all terms"
    notes += [*_suspicions(robot, told, measured, residual, rows), *_told(columns, selection.chosen, base)]
    return Identification(
        changed, robot, columns, selection.chosen, x, base, noise, residual.T @ residual / len(residual), selection,
        tuple(runs), tuple(dict.fromkeys(notes)), before, selection.finished, message,
    )  # fmt: skip


def read_runs(
    model: Model, t: Any, q: Any, tau: Any, v: Any, a: Any, band: Any, wrenches: Any, warm: Any, side: str, who: str
) -> list[MeasuredRun]:
    """One run, or several in lists."""
    several = isinstance(t, list | tuple) and len(t) > 0 and np.ndim(t[0]) == 1
    lists = {"q": q, "tau": tau, "v": v, "a": a, "wrenches": wrenches, "temperature": warm}
    if not several:
        t, lists = [t], {name: [x] for name, x in lists.items()}
    for name, value in lists.items():
        if value is None and name not in ("q", "tau"):
            lists[name] = [None] * len(t)
        elif not isinstance(value, list | tuple) or len(value) != len(t):
            raise GyrostatError(
                f"{who}: t has {len(t)} runs, {name} must be a list of as many. Hint: [{name}1, {name}2]"
            )
    runs = []
    for k, clock in enumerate(t):
        parts = {name: value[k] for name, value in lists.items()}
        if parts["wrenches"] is not None and not isinstance(parts["wrenches"], Mapping):
            raise GyrostatError(f"{who}: wrenches must map ports to arrays (T, 6). Hint: {{'tool': w}}")
        if side == "motor":
            parts["tau"] = _at_joints(model, parts["tau"], who)
        place = f"{who}: run {k}" if several else who
        runs.append(
            measured_run(
                model,
                clock,
                parts["q"],
                parts["tau"],
                parts["v"],
                parts["a"],
                band=band,
                who=place,
                wrenches=parts["wrenches"],
                temperature=parts["temperature"],
            )
        )
    return runs


def _at_joints(model: Model, tau: Any, who: str) -> Array:
    """tau = T^T u of torques on the motors' shafts."""
    solver = ActuatorDynamics(model)
    u = np.asarray(tau, dtype=float)
    u = u[:, None] if u.ndim == 1 and len(solver.actuators) == 1 else u
    if u.ndim != 2 or u.shape[1] != len(solver.actuators):
        raise GyrostatError(
            f"{who}: tau has shape {u.shape}, expected (T, {len(solver.actuators)}): "
            f"{', '.join(solver.actuators)}. Hint: gs.ActuatorDynamics(model).actuators is the order"
        )
    return u @ solver.motor_map


def _usual(model: Model) -> tuple[str, ...]:
    """Terms that nobody asked for."""
    joints = (e for e in model.wiring.entities.values() if isinstance(e, Joint))
    return ("viscous", "coulomb") if any(len(j.shafts) == 1 for j in joints) else ()


def _terms(given: Any, what: str) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise GyrostatError(
            f"{WHO}: {what} must be a list of names, got {clipped(given)}. Hint: ['viscous', 'coulomb']"
        )
    for name in given:
        if name not in TERMS:
            raise GyrostatError(f"{WHO}: {what} has no term {clipped(name)}. Hint: {nearest(str(name), TERMS)}")
    names = tuple(dict.fromkeys(given))
    if what == "terms" and "coulomb" not in names and {"asymmetric", "stribeck"} & set(names):
        raise GyrostatError(f"{WHO}: 'asymmetric' and 'stribeck' change Coulomb friction. Hint: add 'coulomb' to terms")
    return names


def _expect_numbers(folds: Any, prior: Any, weights: Any, side: Any) -> None:
    if isinstance(folds, bool) or not isinstance(folds, int) or not 2 <= folds <= 100:
        raise GyrostatError(f"{WHO}: folds must be a number of blocks, 2 to 100, got {clipped(folds)}. Hint: folds=5")
    if isinstance(prior, bool) or not isinstance(prior, int | float) or not 0.0 < prior < np.inf:
        raise GyrostatError(f"{WHO}: prior must be a positive number, got {clipped(prior)}. Hint: prior=2.0")
    if weights not in ("joint", "full"):
        raise GyrostatError(f"{WHO}: weights must be 'joint' or 'full', got {clipped(weights)}. Hint: weights='joint'")
    if side not in SIDES:
        raise GyrostatError(f"{WHO}: torque_side must be 'joint' or 'motor', got {clipped(side)}.")


def _rows(model: Model, unmeasured: Sequence[str]) -> Array:
    for name in unmeasured:
        if name not in model.dofs:
            raise GyrostatError(
                f"{WHO}: unmeasured names '{name}', which is no rate. Hint: {nearest(str(name), model.dofs)}"
            )
    rows = np.array([k for k, name in enumerate(model.dofs) if name not in unmeasured], dtype=int)
    if not len(rows):
        raise GyrostatError(f"{WHO}: no torque is measured. Hint: at least one rate must not be in unmeasured")
    return rows


def _base(task: Fit, terms: tuple[str, ...], at: Array, W: Array) -> Any:
    """Base parameters of the chosen terms; which they are is read off a rich random motion."""
    rich = random_run(task.columns)
    R = task.columns.at(rich, task.last)
    R = R[:, task.rows][:, :, at].reshape(-1, len(at))
    columns, B = structure(R)
    names = tuple(task.columns.names[k] for k in at)
    ends = np.cumsum([0, *(len(range(len(r.t))[r.inner]) for r in task.runs)])
    runs = tuple(slice(int(i), int(j)) for i, j in itertools.pairwise(ends))
    return base_estimate(task.A[:, :, at], task.b, W, columns, B, names, runs)


def _expect_signs(model: Model, told: Array, tau: Array, residual: Array, rows: Array) -> None:
    """A joint whose torque the consistent fit cannot explain, but its negative would go with the model, ``told``."""
    left = residual.std(axis=0) / np.maximum(tau.std(axis=0), 1e-300)
    for k, row in enumerate(rows):
        spread = told[:, k].std() * tau[:, k].std()
        if spread > 0.0 and left[k] > 0.3:
            correlation = float(np.mean((told[:, k] - told[:, k].mean()) * (tau[:, k] - tau[:, k].mean())) / spread)
            if correlation < -0.5:
                raise GyrostatError(
                    f"{WHO}: tau of '{model.dofs[row]}' runs against the model (correlation {correlation:.2f}), and no "
                    "masses explain it. Hint: torques are those that the joint exerts, positive along its axis: turn "
                    "the sign of tau or of q; check_signs=False takes them as they are"
                )


def _suspicions(model: Model, told: Array, tau: Array, residual: Array, rows: Array) -> list[str]:
    """What wrong units or columns look like: torques that nothing explains, or far from those of the given model."""
    notes = []
    left = residual.std(axis=0) / np.maximum(tau.std(axis=0), 1e-300)
    poor = [f"'{model.dofs[row]}'" for row, x in zip(rows, left, strict=True) if x > UNEXPLAINED]
    if poor:
        notes.append(
            f"masses and friction explain tau of {', '.join(poor)} badly, by {100 * left.max():.0f} % it is something "
            "else: units of q, t and tau, the order of columns, or contacts"
        )
    size, expected = float(np.sqrt(np.mean(tau**2))), float(np.sqrt(np.mean(told**2)))
    if expected > 0.0 and not 1.0 / FAR_OFF < size / expected < FAR_OFF:
        notes.append(f"tau is {size / expected:.2g} times that of the given model: units, or masses far from the truth")
    return notes


def _told(columns: TorqueColumns, chosen: tuple[str, ...], base: Any) -> list[str]:
    notes = []
    unseen = [name for name, seen in zip(base.names, base.excited, strict=True) if not seen]
    if unseen:
        more = f" and {len(unseen) - 6} more" if len(unseen) > 6 else ""
        notes.append(f"the motion does not tell {', '.join(unseen[:6])}{more}: they stay near the model")
    return notes
