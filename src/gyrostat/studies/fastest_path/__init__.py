"""The shortest time along a given path under the limits of the robot."""
