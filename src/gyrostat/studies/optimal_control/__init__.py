"""Motions that cost least: direct collocation in phases."""
