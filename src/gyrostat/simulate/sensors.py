"""Sensors: what is measured, made in one line, and its values as functions of a state."""

from gyrostat.solvers.sensors.measured import measured
from gyrostat.solvers.sensors.short_forms import IMU, Encoder, ForceTorque, add
from gyrostat.spec.sensor import Sensor

__all__ = ["IMU", "Encoder", "ForceTorque", "Sensor", "add", "measured"]
