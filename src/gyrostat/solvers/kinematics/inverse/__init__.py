"""Inverse kinematics: configurations that bring a frame to a target."""
