"""Rotation matrices from axes, angles, quaternions and Denavit-Hartenberg parameters."""

from gyrostat.geometry.rotation import about_axis as about_axis
from gyrostat.geometry.rotation import about_coordinate as about_coordinate
from gyrostat.geometry.rotation import denavit_hartenberg as denavit_hartenberg
from gyrostat.geometry.rotation import from_euler as from_euler
from gyrostat.geometry.rotation import from_quaternion as from_quaternion
