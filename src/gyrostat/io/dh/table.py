"""Rows of a Denavit-Hartenberg table, as the Robotics Toolbox has them, checked field by field."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np

from gyrostat.errors import Problem, SpecError, clipped, nearest
from gyrostat.spec.describe import RefusedError
from gyrostat.spec.rules import shown
from gyrostat.spec.values import to_matrix, to_number, to_vector

Vector = tuple[float, float, float]
ZERO: Vector = (0.0, 0.0, 0.0)
KINDS = {"revolute": "revolute", "R": "revolute", "0": "revolute", "prismatic": "prismatic", "P": "prismatic"}
KINDS |= {"1": "prismatic"}
"""What may be written for the kind of a joint; ``sigma`` is 0 or 1."""


@dataclass(frozen=True)
class DHRow:
    """One joint and the link it moves.

    ``a``, ``d`` [m], ``alpha``, ``theta`` [rad]. Of a revolute joint the angle is theta + offset + q, of a prismatic
    one the shift is d + offset + q; with ``flip`` q counts the other way. ``kind``: revolute or prismatic.

    The link, in its own frame: mass ``m`` [kg], centre of mass ``r`` [m], inertia ``I`` about the centre of mass
    [kg m^2], written as three moments, as six numbers xx yy zz xy yz xz, or 3x3.

    The motor, with ``G`` motor turns per joint turn (it may be negative): inertia ``Jm`` [kg m^2], viscous friction
    ``B`` [N m s/rad] and Coulomb friction ``Tc`` [N m], one number or (plus, minus) with minus not positive, all on the
    side of the motor; plus and minus go by the sign of the rate of the *joint*. ``qlim``: (lower, upper).
    """

    a: float = 0.0
    alpha: float = 0.0
    d: float = 0.0
    theta: float = 0.0
    offset: float = 0.0
    kind: str = "revolute"
    flip: bool = False
    m: float = 0.0
    r: Vector = ZERO
    I: Any = ZERO
    Jm: float = 0.0
    G: float = 1.0
    B: float = 0.0
    Tc: Any = 0.0
    qlim: tuple[float, float] | None = None
    name: str = ""
    link: str = ""

    @property
    def has_motor(self) -> bool:
        return bool(self.Jm or self.B or any(self.Tc))


NAMES = tuple(f.name for f in fields(DHRow))


def to_rows(table: object) -> list[DHRow]:
    """Rows of a list of mappings or :class:`DHRow`, every value in its final form; all mistakes in one SpecError."""
    if isinstance(table, Mapping | str | bytes) or not isinstance(table, Iterable):
        message = f"must be a list of rows, got {clipped(table)}"
        raise SpecError.one("DH table", "dh-table", message, "write [{'a': 0.4, 'alpha': 0.0}, ...]", table)
    given = list(table)
    if not given:
        raise SpecError.one("DH table", "dh-table", "has no rows", "give one row for each joint", table)
    problems: list[Problem] = []
    rows = [_Reader(k, row, problems).row() for k, row in enumerate(given, start=1)]
    if problems:
        raise SpecError(problems)
    return rows


@dataclass
class _Reader:
    """Reads one row; ``problems`` collects what is wrong."""

    number: int
    given: object
    problems: list[Problem]
    values: dict[str, Any] = field(default_factory=dict)

    def row(self) -> DHRow:
        if isinstance(self.given, DHRow):
            self.values = {key: getattr(self.given, key) for key in NAMES}
        elif isinstance(self.given, Mapping):
            self.values = {str(key): value for key, value in self.given.items()}
        else:
            self.tell("row", f"must be a mapping or a DHRow, got {clipped(self.given)}", "write {'a': 0.4}")
        self._kind()
        for key in self.values.keys() - {*NAMES}:
            self.tell(key, f"there is no field '{key}'", nearest(key, [*NAMES, "sigma"]))
        defaults = asdict(DHRow(name=f"q{self.number}", link=f"link{self.number}"))
        read = {key: self._value(key, self.values.get(key), default) for key, default in defaults.items()}
        row = DHRow(**read)
        self._check(row)
        return row

    def tell(self, key: str, message: str, remedy: str) -> None:
        """Keep a problem with the field ``key``."""
        value = self.values.get(key)
        called = self.values.get("name")
        named = f" ('{called}')" if called and isinstance(called, str) else ""
        self.problems.append(Problem(f"DH row {self.number}{named}", f"dh-{key.lower()}", message, remedy, value))

    def _kind(self) -> None:
        if "sigma" in self.values and "kind" in self.values:
            self.tell("sigma", "'sigma' and 'kind' say the same", "keep one of them")
        key = "sigma" if "sigma" in self.values else "kind"
        given = self.values.pop("sigma", self.values.get("kind", "revolute"))
        text = str(int(given)) if isinstance(given, int | float) and given in (0, 1) else str(given)
        if text not in KINDS:
            self.values[key] = given
            self.tell(key, f"'{key}' is {clipped(given)}", "write revolute (sigma 0) or prismatic (sigma 1)")
            self.values.pop("sigma", None)
        self.values["kind"] = KINDS.get(text, "revolute")

    def _value(self, key: str, given: Any, default: Any) -> Any:
        if given is None or (key in ("name", "link") and given == ""):
            given = default
        try:
            return _FORMS.get(key, _number)(given)
        except RefusedError as refused:
            self.tell(key, f"'{key}' {refused}", refused.remedy)
            return _FORMS.get(key, _number)(default)

    def _check(self, row: DHRow) -> None:
        for key in ("m", "Jm", "B"):
            if getattr(row, key) < 0.0:
                self.tell(key, f"'{key}' must not be negative, got {shown(getattr(row, key))}", "give its magnitude")
        if row.G == 0.0:
            self.tell("G", "'G' must not be zero", "give motor turns per joint turn; 1 for a direct drive")
        plus, minus = row.Tc
        if plus < 0.0 or minus > 0.0:
            message = f"'Tc' must be (plus, minus) with plus >= 0 >= minus, got {shown(row.Tc)}"
            self.tell("Tc", message, f"write ({abs(plus):g}, {-abs(minus):g})")
        if row.qlim is not None and row.qlim[0] > row.qlim[1]:
            self.tell("qlim", f"'qlim' must be (lower, upper), got {shown(row.qlim)}", "exchange them")


def _number(value: Any) -> float:
    number = to_number(value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value)
    if not math.isfinite(number):
        raise RefusedError("must be finite", value, "give a number in SI units")
    return number


def _finite(values: Any, given: object) -> Any:
    if not np.isfinite(np.array(values)).all():
        raise RefusedError("must be finite", given, "give numbers in SI units")
    return values


def _vector(value: Any) -> Vector:
    return _finite(to_vector(value), value)


def _inertia(value: Any) -> tuple[Vector, Vector, Vector]:
    """3x3 from three moments, from xx yy zz xy yz xz, or from rows."""
    items = value.tolist() if isinstance(value, np.ndarray) else value
    if not isinstance(items, list | tuple):
        raise RefusedError("must be 3, 6 or 3x3 numbers", value, "write xx yy zz, then xy yz xz")
    if len(items) == 6:
        xx, yy, zz, xy, yz, xz = (_number(x) for x in items)
        return (xx, xy, xz), (xy, yy, yz), (xz, yz, zz)
    if len(items) == 3 and not isinstance(items[0], list | tuple):
        x, y, z = _vector(items)
        return (x, 0.0, 0.0), (0.0, y, 0.0), (0.0, 0.0, z)
    try:
        return _finite(to_matrix(items), value)
    except RefusedError:
        raise RefusedError("must be 3, 6 or 3x3 numbers", value, "write xx yy zz, then xy yz xz") from None


def _pair(value: Any, remedy: str) -> tuple[float, float]:
    items = value.tolist() if isinstance(value, np.ndarray) else value
    if not isinstance(items, list | tuple) or len(items) != 2:
        raise RefusedError("must be two numbers", value, remedy)
    return _number(items[0]), _number(items[1])


def _coulomb(value: Any) -> tuple[float, float]:
    if isinstance(value, list | tuple | np.ndarray) and np.ndim(value) == 1:
        return _pair(value, "write one number or (plus, minus)")
    number = _number(value)
    return number, -number


def _limits(value: Any) -> tuple[float, float] | None:
    return None if value is None else _pair(value, "write (lower, upper)")


def _flag(value: Any) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise RefusedError("must be true or false", value, "write True or False")
    return bool(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise RefusedError("must be a text", value, "write a name")
    return value


_FORMS: dict[str, Any] = {"r": _vector, "I": _inertia, "Tc": _coulomb, "qlim": _limits, "flip": _flag}
_FORMS |= {"kind": _text, "name": _text, "link": _text}
