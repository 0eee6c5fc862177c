"""The equations of loops on numbers, by machine code: for searches that need them again and again."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.constrained.loop_equations import loop_equations
from gyrostat.algorithms.constrained.sparse_ldl import is_zero
from gyrostat.algorithms.recursions.crba import composite_mass_matrix
from gyrostat.configuration.model_cache import cached_on
from gyrostat.engine.kernel import Kernel
from gyrostat.engine.tracing.record import record
from gyrostat.graph.network import Network, network
from gyrostat.spatial.algebra import Array
from gyrostat.spatial.base_motion import BaseState
from gyrostat.spatial.gravity import Gravity
from gyrostat.spatial.representation import representation
from gyrostat.spec.model import Model

REST = BaseState(np.eye(3), np.zeros(3), np.zeros(6), np.zeros(6))


def resting(net: Network) -> Setting:
    """Without gravity, and on a base that stands still."""
    return Setting(representation("body"), Gravity(np.zeros(3)), REST if net.driven else 0.0)


class LoopTerms(NamedTuple):
    """g (..., m), J (..., m, nv) and the mass matrix of the tree M (..., nv, nv)."""

    g: Array
    J: Array
    M: Array


class LoopNumbers:
    """g, J and M of the loops of a model that stay constraints, at q (..., nq)."""

    def __init__(self, model: Model):
        self.network = net = network(model)
        self._places: dict[str, tuple[Array, tuple[int, ...]]] = {}

        def function(q: Array) -> dict[str, Any]:
            found = loop_equations(net, q)
            terms = {"g": found.g, "J": found.J, "M": composite_mass_matrix(net, resting(net), q)}
            return {name: self._present(name, np.asarray(x)) for name, x in terms.items()}

        with np.errstate(all="ignore"):
            program = record(function, {"q": (model.nq,)}, f"{model.name}_loops")
        self._kernel = Kernel(program, "loops")

    def _present(self, name: str, x: Array) -> Array:
        """Entries that are not known to be zero: most are."""
        places = np.array([k for k, entry in enumerate(x.ravel()) if not is_zero(entry)], dtype=int)
        self._places[name] = places, x.shape
        return x.ravel()[places]

    def __call__(self, q: Array) -> LoopTerms:
        found = self._kernel.call(np.asarray(q, dtype=float), nonfinite="return")
        terms: dict[str, Array] = {}
        for name, (places, shape) in self._places.items():
            whole = np.zeros((*found[name].shape[:-1], int(np.prod(shape))))
            whole[..., places] = found[name]
            terms[name] = whole.reshape((*found[name].shape[:-1], *shape))
        return LoopTerms(**terms)


def loop_numbers(model: Model) -> LoopNumbers:
    """Made once for a model object."""
    kept = cached_on(model)
    if "loop numbers" not in kept:
        kept["loop numbers"] = LoopNumbers(model)
    return kept["loop numbers"]
