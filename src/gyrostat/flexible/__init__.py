"""Flexible links: small vibrations superposed on a rigid motion, and how far they are from the full one."""

from gyrostat.flexible.compare import Comparison, compare
from gyrostat.flexible.superposed_result import Superposed
from gyrostat.flexible.superposed_vibration import superposed

__all__ = ["Comparison", "Superposed", "compare", "superposed"]
