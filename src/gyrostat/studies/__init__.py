"""Questions that need many evaluations of a model: what a programmed motion asks of the actuators."""

from gyrostat.studies.achievable.achievable_motion import AchievableMotion

__all__ = ["AchievableMotion"]
