"""Shapes of a flexible beam along its length, and how frames on it move."""
