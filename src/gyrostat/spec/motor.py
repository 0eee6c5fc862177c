"""Motors: where drive torques enter, and what limits them."""

from __future__ import annotations

from typing import Any, ClassVar

from gyrostat.errors import Problem
from gyrostat.spec.entity import Entity, Port
from gyrostat.spec.rules import not_finite, shown
from gyrostat.spec.shaft_elements import Curve, curve_problems, sign_problems
from gyrostat.spec.values import Number

ELECTRIC = ("resistance", "inductance", "torque_constant", "voltage_limit", "current_limit")


class Motor(Entity):
    """A motor on a shaft; port ``shaft``. All figures are those of its own shaft, on the motor side of a gear.

    ``torque_limit`` [N m], ``speed_limit`` [rad/s]; ``torque_speed``: points (|speed|, greatest torque), straight
    between them, instead of a constant limit. Electric figures are optional: ``resistance`` [ohm], ``inductance`` [H],
    ``torque_constant`` k_t [N m/A] (= back-e.m.f. constant [V s/rad]), ``voltage_limit`` [V], ``current_limit`` [A];
    with them the torque at the speed w is bounded by k_t current_limit and by k_t (voltage_limit - k_t |w|) /
    resistance when it drives."""

    has_inertia: ClassVar[bool] = False
    drives: ClassVar[bool] = True

    torque_limit: Number | None = None
    speed_limit: Number | None = None
    torque_speed: Curve = ()
    resistance: Number | None = None
    inductance: Number | None = None
    torque_constant: Number | None = None
    voltage_limit: Number | None = None
    current_limit: Number | None = None

    def __init__(self, name: str, **properties: Any):
        super().__init__(name, **properties)

    @property
    def ports(self) -> tuple[Port, ...]:
        return (Port("shaft", "scalar"),)

    @property
    def default_port(self) -> str | None:
        return "shaft"

    @property
    def needs_all_shafts(self) -> bool:
        return True

    def problems(self) -> list[Problem]:
        problems = not_finite(self) + curve_problems(self, "torque_speed")
        for key in ("torque_limit", "speed_limit", *ELECTRIC):
            problems += sign_problems(self, key, positive=True)
        if any(speed < 0.0 or torque < 0.0 for speed, torque in self.torque_speed):
            message = f"'torque_speed' has negative numbers, got {shown(self.torque_speed)}"
            remedy = "give magnitudes; both directions are alike"
            problems.append(self.problem("torque-speed", message, remedy, ("torque_speed",)))
        if self.torque_constant is None and any(getattr(self, key) is not None for key in ELECTRIC):
            message = "has electric figures, but no 'torque_constant'"
            problems.append(self.problem("motor-electric", message, "add it in N m/A", ("torque_constant",)))
        if self.voltage_limit is not None and self.resistance is None:
            message = "'voltage_limit' needs 'resistance'"
            problems.append(self.problem("motor-electric", message, "add it in ohm", ("resistance",)))
        return problems
