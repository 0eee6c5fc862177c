"""Solvers of dynamics: torques, accelerations, mass matrices, energies, derivatives."""
