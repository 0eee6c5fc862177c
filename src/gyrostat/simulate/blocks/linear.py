"""Linear systems: state space, transfer functions, filters; analogue, or digital as difference equations.

    analogue:  dx/dt = A x + B u,   y = C x + D u          digital:  x_(k+1) = A x_k + B u_k,   y_k = C x_k + D u_k

A transfer function becomes its controllable canonical form.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gyrostat.errors import ShapeError, clipped
from gyrostat.simulate.blocks.block import Array, Signals, Through
from gyrostat.simulate.blocks.foreign_systems import matrices_of, polynomials_of
from gyrostat.simulate.blocks.given import (
    Numbers,
    above_zero,
    at_least_zero,
    matrix,
    numbers,
    period,
    refuse,
    same_size,
    spread,
)

Four = tuple[Array, Array, Array, Array]


@dataclass(frozen=True)
class StateSpace(Through):
    """y (p,) from u (m,) by A (n, n), B (n, m), C (p, n), D (p, m); ``initial`` x (n,) at the start."""

    kind: ClassVar[str] = "state space"
    A: Any
    B: Any
    C: Any
    D: Any
    initial: Any = ()
    sample_time: float | None = None

    def __post_init__(self) -> None:
        who = self.who
        for key in "ABCD":
            object.__setattr__(self, key, matrix(getattr(self, key), who, key))
        object.__setattr__(self, "sample_time", period(self.sample_time, who))
        A, B, C, D = self.matrices
        n, m, outputs = len(A), B.shape[1], len(C)
        for key, given, wanted in (("A", A, (n, n)), ("B", B, (n, m)), ("C", C, (outputs, n)), ("D", D, (outputs, m))):
            if given.shape != wanted:
                raise ShapeError(
                    f"{who}: {key} has shape {given.shape}, expected {wanted}. "
                    "Hint: A (n, n), B (n, inputs), C (outputs, n), D (outputs, inputs)"
                )
        initial = numbers(self.initial, who, "initial") if len(self.initial) else (0.0,) * n
        if len(initial) != n:
            raise ShapeError(f"{who}: initial has {len(initial)} numbers, expected {n}. Hint: one for each state")
        object.__setattr__(self, "initial", initial)

    @property
    def matrices(self) -> Four:
        """A, B, C, D as arrays."""
        A, B, C, D = (np.array(getattr(self, key)) for key in "ABCD")
        return (A, B, C, D) if len(A) else (np.zeros((0, 0)), np.zeros((0, D.shape[1])), C, D)

    @property
    def states(self) -> Numbers:
        return self.initial if self.sample_time is None else ()

    @property
    def memory(self) -> Numbers:
        """x_k, then the outputs that are held."""
        if self.sample_time is None:
            return ()
        return (*self.initial, *(np.array(self.C) @ np.array(self.initial)).tolist())

    @property
    def feedthrough(self) -> bool:
        return bool(np.any(np.array(self.D)))

    def output(self, t: Any, x: Signals, p: Any, m: Any) -> dict[str, Any]:
        if self.sample_time is not None:
            return {self.target: m[len(self.A) :]}
        _, _, C, D = self.matrices
        y = C @ p
        return {self.target: y + D @ self._driven(x) if self.feedthrough else y}

    def derivative(self, t: Any, x: Signals, p: Any, m: Any) -> Any:
        if self.sample_time is not None:
            return np.zeros(0)
        A, B, _, _ = self.matrices
        return A @ p + B @ self._driven(x)

    def update(self, t: Any, x: Signals, p: Any, m: Any) -> Any:
        if self.sample_time is None:
            return m
        A, B, C, D = self.matrices
        u, now = self._driven(x), m[: len(A)]
        return np.concatenate([A @ now + B @ u, C @ now + D @ u])

    def unknown(self) -> dict[str, Array]:
        return {self.source: np.zeros(len(self.D[0]))}

    def _driven(self, x: Signals) -> Any:
        return self.take(x, self.source, len(self.D[0]))


def state_space(*system: Any, initial: Any = (), sample_time: Any = None, **ports: Any) -> StateSpace:
    """``state_space(A, B, C, D)``, or one object that has A, B, C, D and dt, as python-control and SciPy make them."""
    if len(system) == 1:
        matrices, own_sample_time = matrices_of(system[0])
        return StateSpace(*matrices, initial, own_sample_time if sample_time is None else sample_time, **ports)
    if len(system) != 4:
        message = f"expected A, B, C, D or one object that has them, got {len(system)} things"
        raise refuse("state space", "system", message, "state_space(A, B, C, D)", len(system))
    A, B, C, D = system
    return StateSpace(A, B, C, D, initial, sample_time, **ports)


def transfer_function(*system: Any, sample_time: Any = None, size: int = 1, name: str = "", **ports: Any) -> StateSpace:
    """``transfer_function(numerator, denominator)``: coefficients of s, or of z with a ``sample_time``, the highest
    power first; or one object that has them, as python-control and SciPy make them. ``size`` equal ones side by side.

    Must be proper: the degree of the numerator is at most that of the denominator."""
    who = f"transfer function '{name}'" if name else "transfer function"
    if len(system) == 1:
        (numerator, denominator), own_sample_time = polynomials_of(system[0], who)
        sample_time = own_sample_time if sample_time is None else sample_time
    elif len(system) == 2:
        numerator, denominator = system
    else:
        message = f"expected numerator and denominator, got {len(system)} things"
        raise refuse(who, "system", message, "transfer_function([1], [0.1, 1])", len(system))
    one = canonical(numbers(numerator, who, "numerator"), numbers(denominator, who, "denominator"), who)
    return _diagonal([one] * same_size(who, size), sample_time=sample_time, name=name, **ports)


def canonical(numerator: Numbers, denominator: Numbers, who: str) -> Four:
    """A, B, C, D of the controllable canonical form of b(s) / a(s)."""
    if denominator[0] == 0.0:
        message = f"the first coefficient of the denominator is zero, got {clipped(list(denominator))}"
        raise refuse(who, "denominator", message, "leave it out: the highest power comes first", denominator)
    above = np.trim_zeros(np.array(numerator), "f") / denominator[0]
    below = np.array(denominator) / denominator[0]
    n = len(below) - 1
    if len(above) > n + 1:
        message = f"the numerator has degree {len(above) - 1}, more than the {n} of the denominator: improper"
        raise refuse(who, "numerator", message, "add a fast lag, as in filtered_derivative(time_constant)", numerator)
    b = np.concatenate([np.zeros(n + 1 - len(above)), above])
    A = np.eye(n, k=-1)
    A[:1] = -below[None, 1:]
    return A, np.eye(n, 1), (b[1:] - below[1:] * b[0])[None, :], b[:1, None]


def _diagonal(systems: Sequence[Four], **options: Any) -> StateSpace:
    """Systems side by side, one for each entry of the signals."""
    parts = [_side_by_side([system[k] for system in systems]) for k in range(4)]
    return StateSpace(parts[0], parts[1], parts[2], parts[3], **options)


def _side_by_side(blocks: Sequence[Array]) -> Array:
    rows, columns = (sum(b.shape[axis] for b in blocks) for axis in (0, 1))
    matrix, i, j = np.zeros((rows, columns)), 0, 0
    for block in blocks:
        matrix[i : i + len(block), j : j + block.shape[1]] = block
        i, j = i + len(block), j + block.shape[1]
    return matrix


# ------------------------------------------------------------------------------------------------ filters
def _filters(who: str, size: int | None, form: Callable[..., tuple[Numbers, Numbers]], **given: Any) -> Any:
    ports = given.pop("ports")
    n = same_size(who, size, **given)
    rows = zip(*(spread(values, n) for values in given.values()), strict=True)
    return _diagonal([canonical(*form(*row), who) for row in rows], **ports)


def first_order(time_constant: Any, gain: Any = 1.0, size: int | None = None, **ports: Any) -> StateSpace:
    """gain / (1 + T s), T = ``time_constant`` [s]; numbers for all entries, or one for each."""
    who = _who("first-order filter", ports)
    T = above_zero(time_constant, who, "time_constant", "a lag has a positive time constant [s]")
    return _filters(who, size, lambda T, k: ((k,), (T, 1.0)), T=T, k=numbers(gain, who, "gain"), ports=ports)


def second_order(
    frequency: Any, damping: Any = 0.7071067811865476, gain: Any = 1.0, size: int | None = None, **ports: Any
) -> StateSpace:
    """gain w^2 / (s^2 + 2 d w s + w^2), w = ``frequency`` [rad/s], d = ``damping`` (ratio)."""
    who = _who("second-order filter", ports)
    w = above_zero(frequency, who, "frequency", "give it in rad/s: 2 pi times Hz")
    d = at_least_zero(damping, who, "damping", "a damping ratio: 1 is critical")
    k = numbers(gain, who, "gain")
    return _filters(who, size, lambda w, d, k: ((k * w * w,), (1.0, 2.0 * d * w, w * w)), w=w, d=d, k=k, ports=ports)


def lead_lag(lead: Any, lag: Any, gain: Any = 1.0, size: int | None = None, **ports: Any) -> StateSpace:
    """gain (1 + T1 s) / (1 + T2 s), T1 = ``lead``, T2 = ``lag`` [s]."""
    who = _who("lead-lag", ports)
    T1 = at_least_zero(lead, who, "lead", "a time constant [s]")
    T2 = above_zero(lag, who, "lag", "a time constant [s]")
    k = numbers(gain, who, "gain")
    return _filters(who, size, lambda a, b, k: ((k * a, k), (b, 1.0)), a=T1, b=T2, k=k, ports=ports)


def filtered_derivative(time_constant: Any, size: int | None = None, **ports: Any) -> StateSpace:
    """s / (1 + T s): the rate of a signal that has no measured rate, T = ``time_constant`` [s]."""
    who = _who("filtered derivative", ports)
    T = above_zero(time_constant, who, "time_constant", "a pure derivative is improper: choose a small lag [s]")
    return _filters(who, size, lambda T: ((1.0, 0.0), (T, 1.0)), T=T, ports=ports)


def _who(kind: str, ports: dict[str, Any]) -> str:
    return f"{kind} '{ports['name']}'" if ports.get("name") else kind
