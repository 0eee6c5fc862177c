"""Solvers of kinematics: frames, Jacobians, inverse kinematics."""
