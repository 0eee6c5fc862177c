"""Algorithms for what holds a mechanism: the inertia that is felt at contacts, lines between frames."""
