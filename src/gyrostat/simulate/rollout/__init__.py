"""Thousands of robots at once, in machine code."""
