"""Torques of a robot from its joint states, by gyrostat."""
