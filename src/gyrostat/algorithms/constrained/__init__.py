"""Algorithms for what holds a mechanism: the inertia at contacts, lines between frames."""
