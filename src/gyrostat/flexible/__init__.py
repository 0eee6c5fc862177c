"""Flexible links: finite-element models, their reduction, bodies made of them."""

from gyrostat.finite_elements.elasticity import Material
from gyrostat.finite_elements.reduce_fe import reduce_fe
from gyrostat.finite_elements.reduction import Reduction
from gyrostat.spec.flexible_body import FlexibleBody

__all__ = ["FlexibleBody", "Material", "Reduction", "reduce_fe"]
