"""What was measured of a robot: the base of all kinds, and what they share.

A kind gives for the frames it looks at, with R (n, 3, 3) and p (n, 3) each, and for unknown numbers of its own y (m,),

    r = predicted - measured (n, k)     dr per frame (n, k, 6): by turn and shift of the frame in the world's axes
                                        dr/dy (n, k, m)

Residuals are whitened by the covariance of the measurement: e = L^-1 r with L L^T = covariance."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from gyrostat.errors import GyrostatError, clipped
from gyrostat.studies.study_data import StudyData

Array = np.ndarray


@dataclass(frozen=True)
class OwnUnknown:
    """A number of the measuring system: its name, start, unit, and how large an error of it may be."""

    name: str
    start: float
    unit: str
    expected: float


@dataclass(frozen=True)
class Rows:
    """r (n, k) and its derivatives: ``frames``: one (n, k, 6) for each frame; ``own`` (n, k, m)."""

    r: Array
    frames: tuple[Array, ...]
    own: Array


class Measurement(StudyData):
    """Abstract: ``q`` (n, c) commands, what was measured there, how exactly (``std`` or ``covariance``), ``properties``
    of the robot that were different meanwhile (path -> value, or one value for each pose: the payload), ``seen`` (n,
    ...) where something was not seen, and ``name``."""

    what: ClassVar[str] = "measurement"
    unit: ClassVar[str] = "m"
    usual: ClassVar[float] = 1e-4
    """The standard deviation that stands for one that is not known."""
    together: ClassVar[int] = 1
    """Numbers of one marker: what a short ``std`` or ``covariance`` is for."""

    q: Any
    std: Any
    covariance: Any
    properties: Mapping[str, Any]
    seen: Any
    name: str

    @property
    @abstractmethod
    def frames(self) -> tuple[str, ...]:
        """Frames of the robot that it looks at."""

    @property
    @abstractmethod
    def width(self) -> int:
        """Numbers k at one pose."""

    @abstractmethod
    def own_unknowns(self) -> list[OwnUnknown]:
        """Unknown numbers of the measuring system."""

    @abstractmethod
    def rows(self, R: Sequence[Array], p: Sequence[Array], y: Array) -> Rows:
        """Residuals (predicted - measured) and derivatives."""

    @property
    @abstractmethod
    def planned(self) -> bool:
        """Whether nothing was measured yet."""

    @property
    def count(self) -> int:
        return len(np.asarray(self.q))

    def row_names(self) -> list[str]:
        """A name for each of the k numbers."""
        return [str(k) for k in range(self.width)]

    def visible(self) -> Array:
        """(n, k): which numbers were measured."""
        shape = (self.count, self.width)
        if self.seen is None:
            return np.ones(shape, dtype=bool)
        seen = np.asarray(self.seen, dtype=bool)
        each = self.width // max(1, int(np.prod(seen.shape[1:])))
        return np.repeat(seen.reshape(len(seen), -1), each, axis=1).reshape(shape)

    def whitening(self) -> Array:
        """L^-1 (n, k, k) or (k, k)."""
        k, one = self.width, self.together
        if self.covariance is not None:
            C = np.asarray(self.covariance, dtype=float)
            size = C.shape[-1]
            if C.shape not in ((size, size), (self.count, size, size)) or size not in (one, k):
                raise self.refused(f"covariance has shape {C.shape}", f"({one}, {one}), or one for each pose")
            if np.abs(C - np.swapaxes(C, -1, -2)).max() > 1e-9 * np.abs(C).max():
                raise self.refused("covariance is not symmetric", "C = C^T")
            seen = self.visible()
            if np.all(seen == seen[:, :1]):  # all of a pose or nothing
                inverse = np.linalg.inv(np.linalg.cholesky(C))
                return np.kron(np.eye(k // size), inverse) if C.ndim == 2 else _blocks(inverse, k // size)
            whole = _blocks(np.broadcast_to(C, (self.count, size, size)), k // size)
            return np.array([_of_seen(one, part) for one, part in zip(whole, seen, strict=True)])
        sigma = np.full(k, self.usual) if self.std is None else np.asarray(self.std, dtype=float)
        if sigma.shape == (2,) and one == 6:
            sigma = np.repeat(sigma, 3)
        if sigma.ndim > 1 or (sigma.ndim == 1 and len(sigma) not in (1, one, k)):
            raise self.refused(
                f"std has shape {sigma.shape}",
                f"one number, or {one}; covariance (n, {one}, {one}) is that of each pose",
            )
        sigma = np.broadcast_to(sigma if sigma.ndim == 0 else np.tile(sigma, k // len(sigma)), (k,))
        return np.diag(1.0 / sigma)

    def noise_in_words(self, factor: float) -> str:
        """The standard deviation ``factor`` times the usual one, with its unit."""
        return f"{factor * self.usual:.2g} {'m and rad' if self.together == 6 else self.unit}"

    # ------------------------------------------------------------------ reading
    def refused(self, what: str, expected: str) -> GyrostatError:
        return GyrostatError(f"{type(self).__name__} '{self.name}': {what}. Hint: expected {expected}.")

    def check(self) -> None:
        """What every kind has: called by the constructors."""
        q = self.array("q", self.q, None)
        if q.ndim != 2 or not len(q):
            raise self.refused(f"q has shape {q.shape}", "commands (n, c)")
        if not isinstance(self.name, str):
            raise self.refused(f"name is {clipped(self.name)}", "a text")
        if self.std is not None and self.covariance is not None:
            raise self.refused("std and covariance are given", "one of them")
        for word in ("std", "covariance"):
            value = getattr(self, word)
            if value is None:
                continue
            numbers = self.array(word, value, None)
            if word == "std" and np.any(numbers <= 0.0):
                raise self.refused(f"std is {clipped(value)}", "positive numbers")
        if not isinstance(self.properties, Mapping):
            raise self.refused(f"properties are {clipped(self.properties)}", "{'payload.mass': 120.0}")
        if self.seen is not None:
            seen = np.asarray(self.seen)
            each, k, one = int(np.prod(seen.shape[1:])), self.width, self.together
            if seen.dtype != bool or seen.shape[:1] != (len(q),) or each not in (1, k // one, k):
                raise self.refused(f"seen has shape {seen.shape} of {seen.dtype}", "truth values, one for each pose")
            if not seen.any() and not self.planned:
                raise self.refused("seen is False everywhere", "something that was seen")
        if self.covariance is not None:
            try:
                self.whitening()
            except np.linalg.LinAlgError:
                raise self.refused("covariance is not positive definite", "variances that are positive") from None
        self.whitening()

    def array(self, word: str, value: Any, shape: tuple[int, ...] | None) -> Array:
        """Finite numbers of a shape."""
        try:
            array = np.asarray(value, dtype=float)
            if np.asarray(value).dtype == bool:
                raise TypeError
        except (TypeError, ValueError):
            raise self.refused(f"{word} is {clipped(value)}", "numbers") from None
        if shape is not None and array.shape != shape:
            raise self.refused(f"{word} has shape {array.shape}", f"{shape}")
        if not np.all(np.isfinite(array)):
            raise self.refused(f"{word} holds a number that is not finite", "seen=[...] where something is missing")
        return array

    def keep(self, word: str, shape: tuple[int, ...], blank: Any = 0.0) -> Array:
        """The field ``word`` as numbers of a shape, finite where they were seen and ``blank`` elsewhere."""
        value = getattr(self, word)
        try:
            array = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            raise self.refused(f"{word} is {clipped(value)}", "numbers") from None
        if self.seen is not None and array.shape == shape:
            seen = self.visible()
            each = seen.reshape(shape) if seen.size == array.size else np.any(seen, axis=1, keepdims=True)[:, :, None]
            array = np.where(each, array, blank)
        object.__setattr__(self, word, self.array(word, array, shape))
        return getattr(self, word)

    def expect_placements(self, word: str, T: Array) -> None:
        """T (..., 4, 4): right-handed orthonormal axes, the last row 0 0 0 1."""
        R = T[..., :3, :3]
        off = float(np.abs(R @ np.swapaxes(R, -1, -2) - np.eye(3)).max(initial=0.0))
        if off > 1e-6 or np.any(np.linalg.det(R) < 0.0):
            raise self.refused(f"rotations of {word} are not orthonormal, by {off:.2g}", "right-handed axes")
        if np.abs(T[..., 3, :] - [0.0, 0.0, 0.0, 1.0]).max(initial=0.0) > 1e-9:
            raise self.refused(f"the last row of {word} is not 0 0 0 1", "[[R, p], [0, 1]], not its transpose")

    def chosen(self, unknown: Any, known: Sequence[str]) -> None:
        if isinstance(unknown, str) or any(u not in known for u in unknown):
            raise self.refused(f"unknown is {clipped(unknown)}", f"some of {', '.join(known)}")


def _of_seen(C: Array, seen: Array) -> Array:
    """L^-1 (k, k) of what was seen at one pose: numbers that were not have no part in it."""
    W = np.zeros_like(C)
    W[np.ix_(seen, seen)] = np.linalg.inv(np.linalg.cholesky(C[np.ix_(seen, seen)]))
    return W


def _blocks(inverse: Array, count: int) -> Array:
    n, size, _ = inverse.shape
    wide = np.zeros((n, count * size, count * size))
    for k in range(count):
        wide[:, k * size : (k + 1) * size, k * size : (k + 1) * size] = inverse
    return wide


def point_motion(R: Array, b: Array) -> tuple[Array, Array]:
    """R b (n, 3) of a point b of a frame, and the derivative (n, 3, 6) of p + R b: [-(R b)~, 1]."""
    arm = np.einsum("nij,j->ni", R, b)
    D = np.zeros((len(R), 3, 6))
    x, y, z = arm.T
    D[:, 0, 1], D[:, 0, 2], D[:, 1, 0] = z, -y, -z
    D[:, 1, 2], D[:, 2, 0], D[:, 2, 1] = x, y, -x
    D[:, range(3), range(3, 6)] = 1.0
    return arm, D


def no_properties() -> Any:
    return field(default_factory=dict)
