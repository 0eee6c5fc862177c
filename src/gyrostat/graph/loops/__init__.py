"""Closed loops: how they are closed, which coordinates follow from which, and in which order."""
