"""Flexible links: finite-element models, their reduction, bodies made of them."""

from gyrostat.finite_elements.reduce_fe import reduce_fe
from gyrostat.finite_elements.reduction import Reduction

__all__ = ["Reduction", "reduce_fe"]
