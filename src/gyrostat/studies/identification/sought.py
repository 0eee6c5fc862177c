"""What is sought of a model: whose inertias, where there is friction, which terms make sense."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gyrostat.configuration.manifold import random_configuration
from gyrostat.errors import GyrostatError, clipped, nearest
from gyrostat.graph.network import kept_network
from gyrostat.solvers.dynamics.parameter_derivatives import ParameterDerivatives
from gyrostat.solvers.dynamics.regressor import Regressor
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.spec.context import UniformGravity
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.rotor import RotorInertia
from gyrostat.spec.shaft_elements import Friction
from gyrostat.studies.identification.measured_run import MeasuredRun
from gyrostat.studies.identification.torque_terms import FRICTION, ShaftTerms, TorqueColumns

Array = np.ndarray
SMOOTH, STRIBECK = 0.03, 0.2
"""Of the rms speed of a shaft."""


def expect_linear(model: Model, who: str) -> None:
    """Torques are linear in the inertias where gravity is uniform and no loop is kept as constraint."""
    if not isinstance(model.context.gravity, UniformGravity):
        raise GyrostatError(
            f"{who}: torques are not linear in the inertias in this field of gravity. Hint: UniformGravity"
        )
    if kept_network(model).closures:
        raise GyrostatError(
            f"{who}: '{model.name}' keeps loops as constraints, whose torques are not determined by q, v, a. "
            "Hint: context.loops='minimal', where the loop has a closed form"
        )
    if model.shafts.rotors:
        raise GyrostatError(
            f"{who}: the rotor '{model.shafts.rotors[0]}' sits behind a spring. Hint: identify the model without "
            "stiffness first, then gs.studies.identify_elasticity"
        )


def sought(
    model: Model,
    runs: Sequence[MeasuredRun],
    terms: tuple[str, ...],
    candidates: tuple[str, ...],
    parameters: Sequence[str],
    bodies: Sequence[str] | None,
    smooth: float | None,
    stribeck: float | None,
    usual: bool,
) -> tuple[TorqueColumns, tuple[str, ...], list[str]]:
    """Columns of all terms and candidates; the terms that are fitted in any case; notes. ``usual``: candidates were not
    asked for one by one, and those that make no sense here are left out."""
    notes: list[str] = []
    every = tuple(dict.fromkeys((*terms, *candidates)))
    shafts, bare = _shafts(model, runs, every, smooth, stribeck, notes)
    paths = list(dict.fromkeys(model.canonical(p) for p in parameters))
    rotors = [n for n, e in model.wiring.entities.items() if isinstance(e, RotorInertia)]
    if rotors and "rotor" in terms:
        paths += [f"{n}.inertia" for n in rotors if f"{n}.inertia" not in paths]
        every = tuple(t for t in every if t != "rotor")
    refused = _senseless(model, runs, shafts, every, bool(rotors) and "rotor" not in terms)
    if "coulomb" not in terms:
        refused |= {t: "there is no Coulomb friction to change" for t in ("asymmetric", "stribeck") if t in every}
    for term, why in refused.items():
        if term in terms or not usual:
            raise GyrostatError(f"identify: the term '{term}' makes no sense here: {why}. Hint: leave it out")
    every = tuple(t for t in every if t not in refused)
    values = np.array([_number(model, p) for p in paths])
    axes = _horizontal(model) if "tilt" in every else np.zeros((2, 3))
    warm = 0.0
    if "temperature" in every:
        warm = float(np.mean(np.concatenate([r.temperature for r in runs if r.temperature is not None])))
    columns = TorqueColumns(bare, _bodies(bare, bodies, runs), shafts, every, tuple(paths), values, axes, warm)
    _expect_linear_paths(bare, paths, values, runs[0])
    return columns, tuple(t for t in terms if t in every), notes


def _shafts(
    model: Model,
    runs: Sequence[MeasuredRun],
    terms: tuple[str, ...],
    smooth: float | None,
    stribeck: float | None,
    notes: list[str],
) -> tuple[tuple[ShaftTerms, ...], Model]:
    """Shafts with friction: those of the model's gs.Friction, and those of joints that have none yet."""
    for name, value in (("smooth", smooth), ("stribeck", stribeck)):
        if value is not None and (isinstance(value, bool) or not 0.0 < value < np.inf):
            raise GyrostatError(f"identify: {name} must be a positive speed, got {clipped(value)}.")
    v, tau = (np.concatenate([getattr(r, key) for r in runs]) for key in ("v", "tau"))
    size = np.sqrt(np.mean(tau**2, axis=0))
    found: list[ShaftTerms] = []
    emptied: dict[str, object] = {}
    covered: set[int] = set()
    own = bool(set(FRICTION) & set(terms))
    for c in kept_network(model).transmission.elements:
        if not issubclass(c.kind, Friction) or not own:
            continue
        shaft = c.shafts["shaft"]
        if not shaft.is_linear:
            notes.append(f"friction of '{c.name}' moves by a curve: it is taken as the model has it")
            continue
        ties = tuple((int(k), float(f)) for k, f in shaft.ties if f != 0.0)
        emptied |= {
            f"{c.name}.viscous": 0.0,
            f"{c.name}.coulomb": 0.0,
            f"{c.name}.static": None,
            f"{c.name}.stribeck": None,
        }
        if len(ties) == 1 and ties[0][0] in covered:
            notes.append(f"'{c.name}' and other friction on its joint cannot be told apart: its own is set to zero")
            continue
        covered |= {ties[0][0]} if len(ties) == 1 else set()
        entity = model.wiring.entities[c.name]
        speed = sum((v[:, k] * f for k, f in ties), np.zeros(len(v)))
        load = abs(size[ties[0][0]] / ties[0][1])
        found.append(_shaft(c.name, model.dofs[ties[0][0]], ties, speed, smooth, stribeck, load, entity, None))
    for k, name in enumerate(model.dofs):
        joint = model.wiring.entities.get(name)
        if k in covered or not isinstance(joint, Joint) or len(joint.shafts) != 1:
            continue
        port = f"{name}.{joint.shafts[0]}"
        found.append(_shaft(f"{name}_friction", name, ((k, 1.0),), v[:, k], smooth, stribeck, size[k], None, port))
    found.sort(key=lambda s: s.ties[0][0])
    return tuple(found), model.replace(emptied) if emptied else model


def _shaft(
    entity: str,
    joint: str,
    ties: tuple[tuple[int, float], ...],
    speed: Array,
    smooth: float | None,
    stribeck: float | None,
    load: float,
    known: object,
    port: str | None,
) -> ShaftTerms:
    usual = float(np.sqrt(np.mean(speed**2))) or 1.0
    rounded = smooth if smooth is not None else getattr(known, "smooth", None)
    if rounded is None and (known is None or not getattr(known, "coulomb", 0.0)):
        rounded = SMOOTH * usual
    fade = stribeck if stribeck is not None else getattr(known, "stribeck", None) or STRIBECK * usual
    free = ("smooth",) if rounded is not None and smooth is None and getattr(known, "smooth", None) is None else ()
    free += ("stribeck",) if stribeck is None and getattr(known, "stribeck", None) is None else ()
    rounded = None if rounded is None else float(rounded)
    return ShaftTerms(entity, joint, ties, rounded, float(fade), float(load), port, usual, free)


def _senseless(
    model: Model, runs: Sequence[MeasuredRun], shafts: tuple[ShaftTerms, ...], terms: tuple[str, ...], rotors: bool
) -> dict[str, str]:
    """Terms that cannot be fitted here, and why."""
    refused: dict[str, str] = {}
    if not shafts:
        refused |= {t: "no joint has a shaft" for t in terms if t != "tilt"}
    if model.context.base == "free" or any(
        e.kind == "free" for e in model.wiring.entities.values() if isinstance(e, Joint)
    ):
        refused["tilt"] = "the robot flies, and its orientation is measured"
    elif not np.any(model.context.gravity.g):  # type: ignore[union-attr]
        refused["tilt"] = "there is no gravity"
    if rotors:
        refused["rotor"] = "the model has rotors: name their inertia in parameters, or rotor in terms"
    if any(r.temperature is None for r in runs):
        refused["temperature"] = "no temperature was given"
    if any(model.layout.lengths[model.coordinates.index(model.dofs[s.ties[0][0]])] for s in shafts):
        refused |= {t: "some joints move along, not about, their axis" for t in ("cogging", "cogging2")}
    return {t: why for t, why in refused.items() if t in terms}


def _bodies(model: Model, asked: Sequence[str] | None, runs: Sequence[MeasuredRun]) -> tuple[str, ...]:
    """Bodies whose inertias matter: they have mass, and torques depend on them."""
    solver = cached_solver(model, Regressor)
    if asked is not None:
        for name in asked:
            if name not in solver.bodies:
                raise GyrostatError(f"identify: bodies names '{name}'. Hint: {nearest(str(name), solver.bodies)}")
            if not model[f"{name}.mass"] > 0.0:
                raise GyrostatError(f"identify: '{name}' has no mass in the model. Hint: give a first guess of it")
        return tuple(dict.fromkeys(asked))
    q = random_configuration(model, 0, (8,), within_limits=False)
    v = np.linspace(-1.0, 1.3, 8 * model.nv).reshape(8, model.nv)
    Y = np.abs(solver(q, v, v[::-1]).Y).max(axis=(0, 1)).reshape(-1, 10).max(axis=1)
    kept = 1e-9 * max(float(Y.max(initial=0.0)), 1e-300) < Y
    return tuple(b for b, k in zip(solver.bodies, kept, strict=True) if k and model[f"{b}.mass"] > 0.0)


def _number(model: Model, path: str) -> float:
    value = model[path]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise GyrostatError(f"identify: '{path}' is {clipped(value)}. Hint: parameters are single numbers")
    return float(value)


def _expect_linear_paths(model: Model, paths: Sequence[str], values: Array, run: MeasuredRun) -> None:
    """d tau / dp must not depend on p."""
    if not paths:
        return
    some = slice(0, min(50, len(run.q)))
    solver = ParameterDerivatives(model, tuple(paths))
    at = [np.array(solver(run.q[some], run.v[some], run.a[some]))]
    changes = {p: (1.5 * x if x else 1e-3) for p, x in zip(paths, values.tolist(), strict=True)}
    solver.refresh(model.replace(changes))
    at.append(np.array(solver(run.q[some], run.v[some], run.a[some])))
    size = np.abs(at[0]).max(axis=(0, 1))
    wrong = np.abs(at[1] - at[0]).max(axis=(0, 1)) > 1e-9 * np.maximum(size, 1e-300)
    if wrong.any():
        path = paths[int(np.argmax(wrong))]
        raise GyrostatError(
            f"identify: torques are not linear in '{path}'. Hint: gs.studies.output_error fits any property; "
            "geometry is for gs.studies.calibrate"
        )


def _horizontal(model: Model) -> Array:
    """Two axes (2, 3) normal to gravity, along those of the world if possible."""
    g = np.array(model.context.gravity.g, dtype=float)  # type: ignore[union-attr]
    down = g / np.linalg.norm(g)
    first = np.eye(3)[int(np.argmin(np.abs(down)))]
    first = first - down * (down @ first)
    first /= np.linalg.norm(first)
    return np.array([first, np.cross(first, down) * -1.0])


def random_run(columns: TorqueColumns) -> MeasuredRun:
    """A motion that shows everything, which no robot could do: for what can be told apart at all."""
    model = columns.bare
    random = np.random.default_rng(1)
    count = max(60, 4 * len(columns.names) // max(1, model.nv) + 20)
    q = random_configuration(model, random, (count,), within_limits=False)
    speeds = [s.stribeck / STRIBECK for s in columns.shafts] or [1.0]
    v = random.uniform(-2.0, 2.0, (count, model.nv)) * min(max(float(np.median(speeds)), 0.1), 10.0)
    a = random.uniform(-4.0, 4.0, (count, model.nv))
    warm = columns.warm + random.uniform(-10.0, 10.0, (count, model.nv))
    return MeasuredRun(np.arange(count, dtype=float), q, v, a, np.zeros_like(v), temperature=warm)
