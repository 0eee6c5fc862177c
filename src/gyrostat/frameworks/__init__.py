"""Solvers as functions of JAX and PyTorch, with exact derivatives of any order."""
