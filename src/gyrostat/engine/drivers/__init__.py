"""Loops around kernels, in machine code: plain Python functions of numbers and pointers, translated, compiled, kept."""
