"""Flexible links: finite-element models and their reduction; small vibrations superposed on a rigid motion, and how far
they are from the full one."""

from gyrostat.finite_elements.reduce_fe import reduce_fe
from gyrostat.finite_elements.reduction import Reduction
from gyrostat.flexible.compare import Comparison, compare
from gyrostat.flexible.superposed_result import Superposed
from gyrostat.flexible.superposed_vibration import superposed

__all__ = ["Comparison", "Reduction", "Superposed", "compare", "reduce_fe", "superposed"]
