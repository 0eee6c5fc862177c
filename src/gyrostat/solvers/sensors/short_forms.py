"""Usual sensors in one word; all are a :class:`~gyrostat.spec.sensor.Sensor`."""

from __future__ import annotations

from dataclasses import replace

from gyrostat.errors import SpecError, clipped
from gyrostat.spec.check import check
from gyrostat.spec.model import Model
from gyrostat.spec.sensor import Sensor


def IMU(frame: str, name: str = "imu") -> Sensor:
    """Angular velocity [rad/s], then specific force [m/s^2], (6,) in the axes of a frame."""
    return Sensor(name, measures="imu", at=frame)


def ForceTorque(port: str, name: str = "force_torque") -> Sensor:
    """Torque [N m], then force [N], (6,) that the base side exerts through a port, in its axes, about its origin."""
    return Sensor(name, measures="force_torque", at=port)


def Encoder(joint: str, name: str | None = None) -> Sensor:
    """Coordinates and rates of a joint."""
    return Sensor(name or f"{joint.replace('.', '_')}_encoder", measures="encoder", at=joint)


def add(model: Model, *sensors: Sensor) -> Model:
    """The model with sensors: ``gs.sensors.add(model, gs.sensors.IMU("torso"))``; runs of it have ``run.sensors``."""
    for sensor in sensors:
        if not isinstance(sensor, Sensor):
            message = f"expected sensors, got {clipped(sensor)}"
            raise SpecError.one("sensors", "sensor", message, "gs.sensors.IMU('torso')", sensor)
    made = replace(model, entities=(*model.entities, *sensors))
    check(made)
    return made
