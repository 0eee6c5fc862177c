"""A model with everything that drives it, as a system to integrate."""
