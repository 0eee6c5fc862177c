"""Recursions over the tree, each a table of rows: kinematics, Newton-Euler, articulated bodies, derivatives."""
