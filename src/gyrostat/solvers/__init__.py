"""What a user calls: one file per solver, states in and results out as NumPy arrays."""
