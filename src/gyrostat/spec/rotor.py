"""The rotor (H04 2.1.1): a part of a body that spins about an axis fixed in it; what makes a body a gyrostat."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from gyrostat.errors import Problem
from gyrostat.spec.entity import Entity, Port
from gyrostat.spec.rules import LEAST, axis_problems, finite, not_finite, shown
from gyrostat.spec.values import Axis, Number, Vector


class RotorInertia(Entity):
    """A rotor of moment ``inertia`` [kg m^2] about its ``axis``, which is fixed in the axes of the port ``carrier``.

    Ports ``carrier`` (spatial: the body that it spins in) and ``shaft`` (scalar: its angle against the carrier).
    ``lumped``: the inertia of the carrier already contains the rotor, as if it stood still (H04 2.1.1). Otherwise the
    rotor brings its own ``mass`` [kg] with its centre at ``position`` [m] on the axis, seen from the carrier's port,
    and ``transverse`` [kg m^2], its moment about any axis through its centre and normal to the spin axis.

    Without an ``axis`` it is a pure 1-D inertia without carrier: it loads its shaft, and no body feels it.
    """

    tells_mass: ClassVar[bool] = True

    inertia: Number
    axis: Axis | None = None
    lumped: bool = True
    mass: Number = 0.0
    position: Vector = (0.0, 0.0, 0.0)
    transverse: Number = 0.0

    def __init__(self, name: str, **properties: Any):  # said here, because values may be written in several forms
        super().__init__(name, **properties)

    @property
    def ports(self) -> tuple[Port, ...]:
        return (Port("shaft", "scalar"),) if self.axis is None else (Port("carrier"), Port("shaft", "scalar"))

    @property
    def default_port(self) -> str | None:
        return "shaft" if self.axis is None else None

    @property
    def rotor_shaft(self) -> str | None:
        return "shaft"

    def problems(self) -> list[Problem]:
        problems = not_finite(self)
        if finite(self.inertia) and self.inertia <= 0.0:
            message = f"inertia must be positive, got {shown(self.inertia)} kg m^2"
            remedy = "give the moment of inertia about the spin axis, on the rotor's own side of the gear"
            problems.append(self.problem("rotor-inertia", message, remedy, ("inertia",)))
        if 0.0 < self.inertia < LEAST:
            message = f"inertia must be at least {LEAST:g} kg m^2, got {shown(self.inertia)} kg m^2"
            problems.append(self.problem("inertia-small", message, "give it in kg m^2", ("inertia",)))
        if self.axis is not None:
            problems += axis_problems(self, "axis", self.axis)
        own = {"mass": self.mass, "position": self.position, "transverse": self.transverse}
        given = [key for key, value in own.items() if value not in (0.0, (0.0, 0.0, 0.0))]
        if given and (self.lumped or self.axis is None):
            why = "its carrier contains it already (lumped)" if self.axis is not None else "it has no carrier"
            message = f"'{given[0]}' is given, but {why}"
            problems.append(self.problem("rotor-lumped", message, "write lumped=False, or take it out", (given[0],)))
        for key in ("mass", "transverse"):
            if finite(own[key]) and getattr(self, key) < 0.0:
                message = f"'{key}' must not be negative, got {shown(own[key])}"
                problems.append(self.problem("rotor-inertia", message, "check the sign", (key,)))
        if 0.0 < self.transverse < 0.5 * self.inertia * (1.0 - 1e-9):
            message = f"transverse is {shown(self.transverse)}, less than half of inertia {shown(self.inertia)} kg m^2"
            remedy = "no distribution of mass has such moments (triangle inequality)"
            problems.append(self.problem("inertia-triangle", message, remedy, ("transverse",)))
        return problems


class LockedRotor(Entity):
    """A rotor that stands still in the port ``carrier``: what :meth:`Model.lock` leaves of one that its carrier does
    not contain. Properties as in :class:`RotorInertia`; ``transverse`` may be zero, as there."""

    inertia: Number
    axis: Axis
    mass: Number = 0.0
    position: Vector = (0.0, 0.0, 0.0)
    transverse: Number = 0.0

    def __init__(self, name: str, **properties: Any):
        super().__init__(name, **properties)

    @property
    def ports(self) -> tuple[Port, ...]:
        return (Port("carrier"),)

    def problems(self) -> list[Problem]:
        """Those of the rotor."""
        given = {key: getattr(self, key) for key in LockedRotor.model_fields if key != "name"}
        rotor = RotorInertia(self.name, lumped=False, **given)
        return [replace(problem, entity=self.label) for problem in rotor.problems()]
