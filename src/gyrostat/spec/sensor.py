"""Sensors as parts of a model: what is measured, and where. They change nothing; runs and solvers tell their values."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, get_args

from gyrostat.errors import Problem, nearest
from gyrostat.spec.entity import Entity, Port
from gyrostat.spec.wiring import Wiring

OfFrame = Literal[
    "imu", "accelerometer", "gyro", "velocimeter", "force_torque", "force", "torque", "position", "quaternion",
    "x_axis", "y_axis", "z_axis", "linear_velocity", "angular_velocity", "linear_acceleration", "angular_acceleration",
]  # fmt: skip
OfJoint = Literal["encoder", "joint_position", "joint_velocity"]
OF_JOINTS = frozenset(get_args(OfJoint))


class Sensor(Entity):
    """What is measured (``measures``) at a frame or joint (``at``), without noise and delay:

    * ``imu``: gyro, then accelerometer (6,);
    * ``gyro``: angular velocity [rad/s], ``velocimeter``: velocity of the origin [m/s], in the axes of the frame;
    * ``accelerometer``: acceleration of the origin less gravity [m/s^2], in the axes of the frame;
    * ``force_torque``: torque, then force (6,), that the base side exerts on the far side through a port [N m, N];
    * ``force``, ``torque``: the one or the other; all in the port's axes, about its origin, or those of ``reference``;
    * ``position`` [m], ``quaternion`` (x y z w), ``x_axis``, ``y_axis``, ``z_axis`` in the world, or in ``reference``;
    * ``linear_velocity``, ``angular_velocity`` in the world's axes, or against ``reference`` in its axes;
    * ``linear_acceleration`` (less gravity), ``angular_acceleration`` in the world's axes;
    * ``encoder``: coordinates, then rates of a joint; ``joint_position``, ``joint_velocity``: the one or the other.

    No ports, no mass. Names are those of the scope that it is in."""

    since: ClassVar[int] = 4
    measures: OfFrame | OfJoint
    at: str
    reference: str | None = None

    def __init__(self, name: str, **properties: Any):
        super().__init__(name, **properties)

    @property
    def ports(self) -> tuple[Port, ...]:
        return ()

    @property
    def stands_alone(self) -> bool:
        return True

    @property
    def of_joint(self) -> bool:
        """Whether ``at`` is a joint."""
        return self.measures in OF_JOINTS

    def where(self, scope: str, wiring: Wiring) -> tuple[str | None, str | None]:
        """The full names of ``at`` and ``reference``, from a scope; None where there is no such thing."""
        return _found(self.at, scope, wiring), None if self.reference is None else _found(self.reference, scope, wiring)


def _found(name: str, scope: str, wiring: Wiring) -> str | None:
    """The first of scope.name, outer scopes, that is an entity, or a port of one."""
    while True:
        full = f"{scope}.{name}" if scope else name
        owner, _, port = full.rpartition(".")
        if full in wiring.entities:
            return full
        if owner in wiring.entities and any(p.name == port for p in wiring.entities[owner].ports):
            return full
        if not scope:
            return None
        scope = scope.rpartition(".")[0]


def sensor_problems(wiring: Wiring) -> list[Problem]:
    """Rule ``sensor``: sensors are at things that are there."""
    problems: list[Problem] = []
    for name, sensor in sensors_of(wiring).items():
        scope = name.rpartition(".")[0]
        said = ("at", sensor.at), ("reference", sensor.reference)
        for (key, given), found in zip(said, sensor.where(scope, wiring), strict=True):
            if given is None:
                continue
            if found is None:
                message = f"'{key}' is '{given}', there is no such {'joint' if sensor.of_joint else 'frame'}"
                problems.append(sensor.problem("sensor", message, nearest(given, wiring.entities), given))
            elif key == "at" and sensor.of_joint and not wiring.entities.get(found, sensor).is_joint:
                message = f"measures {sensor.measures} at '{given}', which is no joint that moves"
                problems.append(sensor.problem("sensor", message, "name a joint", given))
    return problems


def sensors_of(wiring: Wiring) -> dict[str, Sensor]:
    """Sensors by full name."""
    return {name: entity for name, entity in wiring.entities.items() if isinstance(entity, Sensor)}
