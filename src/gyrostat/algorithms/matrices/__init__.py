"""Dynamics as matrices: stacked operators, body Jacobians, factors along the tree."""
