"""Motion in time: trajectories, integration, drives and controllers."""
