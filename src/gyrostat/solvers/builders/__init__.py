"""Solvers made of others: from a specification, several answers together, a function of the user's."""
