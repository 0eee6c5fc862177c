"""Rotations, solids and meshes as plain numbers: what the geometry of a part says about its mass. Knows no robots."""
