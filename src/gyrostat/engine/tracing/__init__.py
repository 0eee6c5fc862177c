"""From NumPy functions to programs: recording scalars, numbers with derivatives, and the program they write."""
