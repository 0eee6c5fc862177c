"""Constraints along a run: stops (joint limits) and dry friction as rows, when they act, and impacts.

What a kind of constraint is, and the linear algebra of all of them: :mod:`gyrostat.algorithms.constrained`."""
