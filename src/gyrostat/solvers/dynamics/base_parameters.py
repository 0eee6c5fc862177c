"""Base parameters: the combinations of inertial parameters that torques depend on."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gyrostat.configuration.manifold import generator, random_configuration
from gyrostat.errors import StateError
from gyrostat.graph.network import kept_network
from gyrostat.solvers.dynamics.regressor import Regressor
from gyrostat.solvers.machinery.state_solver import Array
from gyrostat.spec.model import Model


class BaseParameters(NamedTuple):
    """The combinations of inertial parameters that torques depend on.

    ``columns``: numbers of independent columns of the regressor; ``names`` of these parameters; ``projection`` (rank,
    10 bodies): base parameters = projection pi, so that tau = Y[:, columns] projection pi; ``rank``; names of all
    ``parameters``. Its ``repr`` is a table: what each base parameter is made of."""

    columns: Array
    names: tuple[str, ...]
    projection: Array
    rank: int
    parameters: tuple[str, ...] = ()

    def combination(self, k: int) -> str:
        """Base parameter k as a sum: ``link1.Jzz + link2.Jyy - 0.16 link2.m``; coefficients to four digits."""
        names = self.parameters or tuple(f"pi[{j}]" for j in range(self.projection.shape[1]))
        row = self.projection[k]
        order = [int(self.columns[k]), *(j for j in np.flatnonzero(row) if j != self.columns[k])]
        sizes = [f"{abs(row[j]):.4g} ".removeprefix("1 ") for j in order]
        signs = [" - " if row[j] < 0.0 else " + " for j in order]
        return "".join(f"{s}{c}{names[j]}" for s, c, j in zip(signs, sizes, order, strict=True)).removeprefix(" + ")

    def __repr__(self) -> str:
        head = f"{self.rank} base parameters of {self.projection.shape[1]} inertial parameters"
        width = max([6, *(len(name) for name in self.names)])
        lines = [f"column  {'name'.ljust(width)}  combination", f"------  {'-' * width}  -----------"]
        lines += [
            f"{column:6d}  {name.ljust(width)}  {_short(self.combination(k))}"
            for k, (column, name) in enumerate(zip(self.columns, self.names, strict=True))
        ]
        return "\n".join([head, *lines])


def _short(text: str, limit: int = 100) -> str:
    """A sum that fits on a line; how many terms are left out."""
    if len(text) <= limit:
        return text
    shown = text[:limit].rpartition(" ")[0]
    while shown.endswith((" +", " -")) or (shown.rpartition(" ")[2][:1].isdigit()):
        shown = shown.rpartition(" ")[0]
    return f"{shown} ... and {text[len(shown) :].count(' + ') + text[len(shown) :].count(' - ')} more"


def base_parameters(model: Model, rng: Any = 0, tolerance: float = 1e-9) -> BaseParameters:
    """Base parameters from random motions [Gautier 1991]: independent columns by QR, the others expressed by them."""
    if isinstance(tolerance, bool) or not isinstance(tolerance, float | int) or not 0.0 < tolerance < 1.0:
        raise StateError(f"base_parameters: tolerance must be a number between 0 and 1, got {tolerance!r}. Hint: 1e-9")
    random = generator(rng, "base_parameters")
    kept_network(model).refuse_loops("base_parameters")
    solver = Regressor(model)
    count = max(20, 4 * len(solver.columns) // max(1, model.nv) + 10)
    q = random_configuration(model, random, (count,), within_limits=False)
    v, a = random.uniform(-2.0, 2.0, (2, count, model.nv))
    W = solver(q, v, a).Y.reshape(count * model.nv, len(solver.columns))
    size = np.linalg.norm(W, axis=0)
    scale = np.where(size > tolerance * max(1.0, size.max(initial=0.0)), size, 1.0)
    chosen = _independent(W / scale, tolerance)
    others = np.setdiff1d(np.arange(W.shape[1]), chosen)
    projection = np.zeros((len(chosen), W.shape[1]))
    projection[np.arange(len(chosen)), chosen] = 1.0
    if len(chosen) and len(others):
        beta = np.linalg.lstsq(W[:, chosen], W[:, others], rcond=None)[0]
        projection[:, others] = np.where(np.abs(beta) > 1e-8 * max(1.0, np.abs(beta).max()), beta, 0.0)
    names = tuple(solver.columns[k] for k in chosen)
    return BaseParameters(chosen, names, projection, len(chosen), solver.columns)


def _independent(W: Array, tolerance: float) -> Array:
    """Columns that are not combinations of those before them (Gram-Schmidt, twice for safety)."""
    basis: list[Array] = []
    chosen: list[int] = []
    for k, column in enumerate(W.T):
        rest = column
        for _ in range(2):
            for b in basis:
                rest = rest - b * (b @ rest)
        size = np.linalg.norm(rest)
        if size > tolerance * max(1e-300, np.linalg.norm(column)) and np.linalg.norm(column) > tolerance:
            basis.append(rest / size)
            chosen.append(k)
    return np.array(chosen, dtype=int)
