"""Whether the coordinates of a kind can be integrated from its rates: numbers from their own rates, a unit quaternion
from an angular velocity, a placement from a twist. Shafts turn with numbers."""

from __future__ import annotations

from gyrostat.errors import Problem
from gyrostat.spec.entity import Entity
from gyrostat.spec.wiring import label_of

WITH_QUATERNION = {0: (4, 3), 3: (7, 6)}
"""Where the quaternion is -> number of coordinates and rates: a rotation, a placement."""


def state_problems(name: str, entity: Entity) -> list[Problem]:
    """Rule ``state``: of one entity."""
    nq, nv, at, shafts = len(entity.coordinates), len(entity.rates), entity.quaternion_at, len(entity.shafts)
    if not nq and not nv:
        return []
    label, rates = label_of(entity, name), f"{nv} rate{'s' * (nv != 1)}"
    if at is None and nq != nv:
        message = f"has {nq} coordinates and {rates}, expected one rate for each coordinate"
        remedy = "a rate is the derivative of its coordinate; a quaternion is told by quaternion_at"
        return [Problem(label, "state", message, remedy, (nq, nv), name)]
    if at is not None and WITH_QUATERNION.get(at) != (nq, nv):
        message = (
            f"has {nq} coordinates, a quaternion at {at}, and {rates}, expected a rotation (4 coordinates, quaternion "
            "at 0, 3 rates) or a placement (7, at 3, 6 rates)"
        )
        return [Problem(label, "state", message, "write it as two components, one of which turns", at, name)]
    told = f"has {shafts} shaft{'s' * (shafts != 1)}"
    if at is not None and shafts:
        message = f"{told}, but its coordinates are a quaternion, of which no number is the angle of a shaft"
        return [Problem(label, "state", message, "leave out the scalar ports", shafts, name)]
    if shafts > nv:
        message = f"{told}, but {rates}: each shaft turns with a rate of its own"
        return [Problem(label, "state", message, "leave out scalar ports, or add rates", shafts, name)]
    return []
