"""R, p, V, F, I and the three coordinate representations, in plain NumPy on arrays of floats or of recording
scalars."""
