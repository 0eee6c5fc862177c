"""What all solvers share: recording, calling, derivatives, export."""
