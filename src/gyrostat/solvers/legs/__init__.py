"""Robots on legs: reduced dynamics, criteria of balance."""
