"""Connectivity of ports and of entities (H04 2.3, (2.28)), before any direction is chosen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model


@dataclass(frozen=True)
class Connectivity:
    """``C`` (2.28): 1 where two ports are connected. ``PE``: 1 where port i belongs to entity j. ``C_plus`` = PE^T C
    PE."""

    ports: tuple[str, ...]
    entities: tuple[str, ...]
    C: np.ndarray
    PE: np.ndarray

    @property
    def C_plus(self) -> np.ndarray:
        """Connectivity of entities, counted over the integers (the entries say how many connections there are)."""
        return self.PE.T @ self.C @ self.PE


def connectivity(model: Model) -> Connectivity:
    """Connectivity of the spatial ports of a model, in file order; open ports give zero rows."""
    expect_model(model, "connectivity")
    entities = model.wiring.entities
    ports = [(name, p.name) for name, e in entities.items() for p in e.ports if p.kind == "spatial"]
    at = {port: k for k, port in enumerate(ports)}
    C = np.zeros((len(ports), len(ports)), dtype=int)
    for group in model.wiring.groups:
        inside = [at[port] for port in group if port in at]
        for i in inside:
            for j in inside:
                C[i, j] = i != j
    order = {name: k for k, name in enumerate(entities)}
    PE = np.zeros((len(ports), len(entities)), dtype=int)
    for k, (name, _) in enumerate(ports):
        PE[k, order[name]] = 1
    return Connectivity(tuple(".".join(p) for p in ports), tuple(entities), C, PE)
