"""The rigid contacts of a model for simulation by events: their rules, and their kinematics in machine code.

Candidates with a stiffness are smooth forces, and no matter of events. What cannot be found by events is refused by
name: nearest points without a closed form, torsional and rolling friction, a base that moves by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.contact.contact_kinematics import contact_gaps, contact_kinematics
from gyrostat.algorithms.recursions.crba import composite_mass_matrix
from gyrostat.configuration.model_cache import cached_on
from gyrostat.engine.drivers.kernel_code import KernelCode
from gyrostat.engine.kernel import Kernel
from gyrostat.engine.tracing.record import record
from gyrostat.errors import GyrostatError
from gyrostat.graph.contacts import Candidate, contact_candidates
from gyrostat.graph.network import kept_network
from gyrostat.simulate.plant.contact_phases import ContactRules, ContactState
from gyrostat.solvers.machinery.solver import LARGE
from gyrostat.spatial.gravity import gravity
from gyrostat.spatial.representation import representation
from gyrostat.spec.model import Model

Array = np.ndarray
WHO = "simulate"
MOREAU = "use method='moreau'"


def rigid_candidates(model: Model) -> tuple[Candidate, ...]:
    """Candidates without a stiffness."""
    return tuple(c for c in contact_candidates(model) if c.law.stiffness is None)


def contact_rules(model: Model) -> ContactRules | None:
    """Of the rigid contacts of a model, kept with it; None if it has none."""
    kept = cached_on(model)
    if "contact rules" not in kept:
        candidates = rigid_candidates(model)
        _expect_by_events(model, candidates)
        kept["contact rules"] = _rules(model, candidates) if candidates else None
    return kept["contact rules"]


def _expect_by_events(model: Model, candidates: Sequence[Candidate]) -> None:
    """Refuse what events do not know."""
    for c in candidates:
        if not c.closed_form:
            raise GyrostatError(
                f"{WHO}: contact '{c.name}' is a {c.a.kind} and a {c.b.kind}, whose nearest points have no closed "
                f"form: events are not found. Hint: {MOREAU}, or exclude it by ContactPair"
            )
        for what in ("torsional", "rolling"):
            if getattr(c.law, what):
                raise GyrostatError(
                    f"{WHO}: contact '{c.name}' has {what} friction {getattr(c.law, what):g} m, which events do not "
                    f"know. Hint: {MOREAU}"
                )
    if candidates and not isinstance(model.context.base, str):
        raise GyrostatError(
            f"{WHO}: '{model.name}' has rigid contacts, and its base moves by itself: events are not found there. "
            "Hint: a stiffness, or a joint in the place of the moving base"
        )


def _rules(model: Model, candidates: Sequence[Candidate]) -> ContactRules:
    net, laws = kept_network(model), [c.law for c in candidates]
    on = Setting(representation("body"), gravity(model.context.gravity), 0.0)
    k, n = len(candidates), model.nv

    def kinematics(q: Array, v: Array) -> Mapping[str, Any]:
        found = contact_kinematics(net, on, candidates, q, v)
        return {"g": found.gaps, "J": found.J.reshape(-1), "bias": found.bias.reshape(-1)}

    def gaps(q: Array) -> Mapping[str, Any]:
        return {"g": contact_gaps(net, on, candidates, q)}

    at, gaps_at = _called(model, kinematics, "contacts"), _called(model, gaps, "gaps")
    rest = np.zeros(n)

    def state(q: Array, v: Array) -> ContactState:
        found = at(q, v if len(v) else rest)
        return ContactState(found["g"], found["J"].reshape(k, 3, n), found["bias"].reshape(k, 3))

    return ContactRules(
        names=tuple(c.name for c in candidates),
        mu_static=np.array([law.mu_static for law in laws]),
        mu_dynamic=np.array([law.mu_dynamic for law in laws]),
        restitution=np.array([law.restitution for law in laws]),
        thickness=np.array([_thickness(c) for c in candidates]),
        at=state,
        gaps_at=lambda q: gaps_at(q)["g"],
        recorded_gaps=lambda q: contact_gaps(net, on, candidates, q),
    )


def _thickness(c: Candidate) -> float:
    """Way [m] that one surface must go to pass through the other."""
    if "plane" in (c.a.kind, c.b.kind):
        return np.inf
    return sum(float(x.size[0]) for x in (c.a, c.b) if len(x.size))


def contact_code(moving: Model) -> KernelCode:
    """Machine code of (q, v | M, g, J, b) for the equations of ``moving``, kept with it."""
    kept = cached_on(moving)
    if "contact code" not in kept:
        net, candidates = kept_network(moving), rigid_candidates(moving)
        on = Setting(representation("body"), gravity(moving.context.gravity), 0.0)

        def function(q: Array, v: Array) -> Mapping[str, Any]:
            found = contact_kinematics(net, on, candidates, q, v)
            M = composite_mass_matrix(net, on, q)
            return {"M": M, "g": found.gaps, "J": found.J.reshape(-1), "bias": found.bias.reshape(-1)}

        shapes = {"q": (moving.nq,), "v": (moving.nv,)}
        with np.errstate(all="ignore"):
            kept["contact code"] = KernelCode(record(function, shapes, f"{moving.name}_contact_rows"))
    return kept["contact code"]


def _called(model: Model, function: Any, name: str) -> Any:
    """A function of q, or of q and v, in machine code; as it is for models that are too large for that."""
    if model.nv > LARGE:
        return lambda *x: {key: np.array(value, dtype=float) for key, value in function(*x).items()}
    shapes = {"q": (model.nq,), "v": (model.nv,)}
    asked = function.__code__.co_varnames[: function.__code__.co_argcount]
    kernel = Kernel(record(function, {key: shapes[key] for key in asked}, f"{model.name}_{name}"), WHO)
    return kernel.call
