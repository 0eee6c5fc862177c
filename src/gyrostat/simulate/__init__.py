"""Motion in time: trajectories, integration, drives and controllers."""

from gyrostat.simulate import blocks as blocks
from gyrostat.simulate import sensors as sensors
from gyrostat.simulate import trajectories as trajectories
