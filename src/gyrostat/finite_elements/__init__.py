"""Finite elements: meshes, mass and stiffness matrices, their reduction, shape integrals. Knows no robots."""
