"""Robots on legs: phases of a gait, and the gait that costs least."""
