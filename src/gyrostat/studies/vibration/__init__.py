"""Vibration about a pose: frequencies and modes, response in frequency, with controllers."""
