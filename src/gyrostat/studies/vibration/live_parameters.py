"""Other numbers of a model without compiling anew: its live properties, for the time of one study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from gyrostat.configuration.model_cache import cached_on
from gyrostat.errors import StateError
from gyrostat.graph.network import kept_network
from gyrostat.solvers.dynamics.derivatives import ForwardDynamicsDerivatives, InverseDynamicsDerivatives
from gyrostat.solvers.dynamics.inverse_dynamics import InverseDynamics
from gyrostat.solvers.dynamics.mass_matrix import MassMatrix
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.spec.model import Model


@contextmanager
def with_parameters(model: Model, parameters: Mapping[str, Any] | None, method: str, who: str) -> Iterator[Model]:
    """The model with other values of properties by path; solvers in which these are inputs stay with the model, and
    serve the new one while the study lasts."""
    if parameters is None:
        yield model
        return
    if not isinstance(parameters, Mapping):
        raise StateError(
            f"{who}: parameters must map paths to values, got {type(parameters).__name__}. Hint: {{'boom.E': 7e10}}"
        )
    other = model.replace(dict(parameters))
    kinds: list[tuple[Any, dict[str, Any]]] = [
        (InverseDynamics, {"representation": "body"}),
        (InverseDynamicsDerivatives, {"method": method}),
        (MassMatrix, {"algorithm": "crba", "representation": "body"}),
    ]
    kinds += [(ForwardDynamicsDerivatives, {"method": method})] if kept_network(model).closures else []
    kept = cached_on(other)
    lent: list[Any] = []
    try:
        for kind, options in kinds:
            solver = cached_solver(model, kind, **options, live=tuple(parameters))
            solver.refresh(other)
            key = (kind, *sorted(options.items()))
            kept[key] = solver
            lent.append(key)
        yield other
    finally:
        for key in lent:  # the next study changes their numbers
            kept.pop(key, None)
