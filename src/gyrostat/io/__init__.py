"""Files to models and back. Every foreign convention is converted here and nowhere else."""
