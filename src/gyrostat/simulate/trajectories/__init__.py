"""Joint trajectories with exact derivatives of any order that is smooth; every function here returns a Trajectory."""

from gyrostat.simulate.trajectories.cartesian_line import cartesian_line
from gyrostat.simulate.trajectories.compose import stack
from gyrostat.simulate.trajectories.filtered_step import filtered_step
from gyrostat.simulate.trajectories.fourier import fourier
from gyrostat.simulate.trajectories.polynomial import bezier, hermite, hold, point_to_point, quintic, septic
from gyrostat.simulate.trajectories.spline import spline
from gyrostat.simulate.trajectories.trajectory import Trajectory
from gyrostat.simulate.trajectories.trapezoidal import trapezoidal

__all__ = [
    "Trajectory",
    "bezier",
    "cartesian_line",
    "filtered_step",
    "fourier",
    "hermite",
    "hold",
    "point_to_point",
    "quintic",
    "septic",
    "spline",
    "stack",
    "trapezoidal",
]
