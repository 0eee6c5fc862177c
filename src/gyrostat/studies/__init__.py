"""Questions that need many evaluations: what a programmed motion asks of the actuators."""
