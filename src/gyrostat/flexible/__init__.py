"""Flexible links: finite-element models and their reduction; small vibrations superposed on a rigid motion, and how far
they are from the full one."""

from gyrostat.finite_elements.elasticity import Material
from gyrostat.finite_elements.reduce_fe import reduce_fe
from gyrostat.finite_elements.reduction import Reduction
from gyrostat.flexible.assembled_vibration import AssembledVibration, assembled
from gyrostat.flexible.compare import Comparison, compare
from gyrostat.flexible.inversion.feed_forward import FlexibleInverse, inverse_dynamics
from gyrostat.flexible.inversion.rest_to_rest import RestToRest, rest_to_rest
from gyrostat.flexible.inversion.zero_dynamics import Zeros, zeros
from gyrostat.flexible.rigid_links import rigid
from gyrostat.flexible.superposed_result import Superposed
from gyrostat.flexible.superposed_vibration import superposed
from gyrostat.spec.flexible_body import FlexibleBody

__all__ = [
    "AssembledVibration",
    "Comparison",
    "FlexibleBody",
    "FlexibleInverse",
    "Material",
    "Reduction",
    "RestToRest",
    "Superposed",
    "Zeros",
    "assembled",
    "compare",
    "inverse_dynamics",
    "reduce_fe",
    "rest_to_rest",
    "rigid",
    "superposed",
    "zeros",
]
