"""Solvers of dynamics: forces, accelerations, mass matrix, energies, derivatives, small motions, identification."""
