"""Sensors of a model: their values as functions of a state."""
