"""The model with what was found, as far as a model can hold it."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.spec.model import Model
from gyrostat.spec.rotor import RotorInertia
from gyrostat.spec.shaft_elements import Friction
from gyrostat.studies.identification.torque_terms import FRICTION, TorqueColumns, inertia_changes

Array = np.ndarray


def identified_model(columns: TorqueColumns, terms: tuple[str, ...], x: Array) -> Model:
    """Inertias, properties, friction, rotors, gravity. ``gs.rnea`` of it is A x + tau_known without the terms beside
    the model."""
    places, model = columns.places, columns.bare
    changes = inertia_changes(columns.bodies, x)
    changes |= dict(zip(columns.paths, x[places["paths"]].tolist(), strict=True))
    if "tilt" in terms:
        g = np.array(model.context.gravity.g, dtype=float)  # type: ignore[union-attr]
        turned = g + sum(angle * np.cross(e, g) for angle, e in zip(x[places["tilt"]], columns.axes, strict=True))
        changes["context.gravity"] = tuple(turned.tolist())
    found = {t: x[places[t]] for t in terms if t in places}
    new: list[tuple[Any, str]] = []
    for k, shaft in enumerate(columns.shafts if set(FRICTION) & set(terms) else ()):
        law = _law({t: float(found[t][k]) for t in FRICTION if t in found}, shaft.smooth, shaft.stribeck)
        if shaft.new is None:
            changes |= {f"{shaft.entity}.{key}": value for key, value in law.items()}
        else:
            new.append(
                (Friction(_free(model, shaft.entity), **{k: v for k, v in law.items() if v is not None}), shaft.new)
            )
    for k, shaft in enumerate(columns.shafts if "rotor" in found else ()):
        inertia = float(found["rotor"][k])
        if inertia > 1e-15:
            joint = model.wiring.entities[shaft.joint]
            rotor = RotorInertia(_free(model, f"{shaft.joint}_rotor"), inertia=inertia)
            new.append((rotor, f"{shaft.joint}.{joint.shafts[0]}"))
    model = model.replace(changes) if changes else model
    for entity, port in new:
        scope, _, name = entity.name.rpartition(".")
        placed = entity.model_copy(update={"name": name}) if scope else entity
        model = model.attach(placed, to=port)
    return model


def _free(model: Model, name: str) -> str:
    """The name, or one that is not taken."""
    known, k, chosen = model.wiring.entities, 2, name
    while chosen in known:
        chosen, k = f"{name}{k}", k + 1
    return chosen


def _law(found: dict[str, float], smooth: float | None, stribeck: float) -> dict[str, Any]:
    """Properties of a gs.Friction; rounding below zero is zero."""
    c, d, e = (found.get(key, 0.0) for key in ("coulomb", "asymmetric", "stribeck"))
    two = "asymmetric" in found
    moving = tuple(max(s, 0.0) for s in (c + d, c - d)) if two else max(c, 0.0)
    sticks = "stribeck" in found
    more = max(e, 0.0)
    static = tuple(s + more for s in moving) if isinstance(moving, tuple) else moving + more
    return {
        "viscous": max(found.get("viscous", 0.0), 0.0),
        "coulomb": moving,
        "static": static if sticks else None,
        "stribeck": stribeck if sticks else None,
        "smooth": smooth,
    }
