"""Collision: which shapes can meet, how far apart they are, whether they touch."""
