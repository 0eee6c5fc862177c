"""Flexible links: shapes, and the rows of beams in each recursion."""
