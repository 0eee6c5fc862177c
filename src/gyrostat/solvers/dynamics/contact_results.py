"""What solvers with contacts return: arrays of the rates, and forces by the names of the contacts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gyrostat.errors import FrameError, nearest

Array = np.ndarray


class ContactForces(Mapping[str, Array]):
    """Wrenches (..., 6) by the name of the contact: torque [N m], then force [N] on the robot, about the frame's
    origin and in its axes; impulses likewise. ``array`` (..., contacts, 6) holds all of them."""

    __slots__ = ("_also", "_trailing", "array", "names")

    def __init__(self, array: Array, names: Sequence[str], also: Mapping[str, int] | None = None, trailing: int = 1):
        self.array, self.names = array, tuple(names)
        self._also, self._trailing = dict(also or {}), trailing

    def __getitem__(self, name: str) -> Array:
        places = {**self._also, **{known: k for k, known in enumerate(self.names)}}
        if name not in places:
            raise FrameError(f"forces: no contact is called {name!r}. Hint: {nearest(str(name), self.names)}")
        return self.array[(..., places[name], *(slice(None),) * self._trailing)]

    def __contains__(self, name: object) -> bool:
        return name in self.names or name in self._also

    def get(self, key: str, default: Any = None) -> Any:
        """The wrench, or ``default`` if there is no contact of this name."""
        return self[key] if self.__contains__(key) else default

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __reduce__(self) -> tuple[Any, ...]:
        return ContactForces, (self.array, self.names, self._also, self._trailing)

    def __repr__(self) -> str:
        return f"<forces of {len(self)} contacts: {', '.join(self.names[:6])}{', ...' if len(self) > 6 else ''}>"


class ContactResult(tuple[Any, ...]):
    """Abstract: arrays, the second of which belongs to contacts. Machine code makes it; names are its
    class's."""

    __slots__ = ()
    _fields: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    also: Mapping[str, int] = {}

    def __new__(cls, **parts: Any) -> ContactResult:
        return tuple.__new__(cls, [parts[name] for name in cls._fields])

    @classmethod
    def of(cls, names: Sequence[str], also: Mapping[str, int]) -> type[ContactResult]:
        """The class for these contacts; ``also``: other names of theirs."""
        body = {"__slots__": (), "names": tuple(names), "also": dict(also), "__doc__": cls.__doc__}
        return type(cls.__name__, (cls,), body | {"_written": cls})

    def _by_name(self) -> ContactForces:
        return ContactForces(self[1], self.names, self.also)

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (type(self)._written, self.names, dict(self.also), tuple(self))  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._fields[0]}={self[0]!r}, {self._fields[1]}={self._by_name()!r})"


def _remade(written: type[ContactResult], names: Sequence[str], also: Mapping[str, int], parts: Sequence[Any]) -> Any:
    cls = written.of(names, also)
    return cls(**dict(zip(cls._fields, parts, strict=True)))


class ContactAcceleration(ContactResult):
    """``a`` (..., nv) and ``forces`` by contact, a :class:`ContactForces`."""

    __slots__ = ()
    _fields = ("a", "forces")

    @property
    def a(self) -> Array:
        return self[0]

    @property
    def forces(self) -> ContactForces:
        return self._by_name()


class ImpactVelocity(ContactResult):
    """``v`` (..., nv) after the impact, and ``impulses`` [N m s, N s] by contact, a :class:`ContactForces`."""

    __slots__ = ()
    _fields = ("v_after", "impulses")

    @property
    def v(self) -> Array:
        return self[0]

    @property
    def impulses(self) -> ContactForces:
        return self._by_name()


class ContactDerivatives(ContactResult):
    """da / dq, dv, dtau (..., nv, nv), and of the contact forces by name: ``dforces_dq[name]`` (..., 6, nv), ..."""

    __slots__ = ()
    _fields = ("da_dq", "da_dv", "da_dtau", "dforces_dq", "dforces_dv", "dforces_dtau")

    @property
    def da_dq(self) -> Array:
        return self[0]

    @property
    def da_dv(self) -> Array:
        return self[1]

    @property
    def da_dtau(self) -> Array:
        return self[2]

    @property
    def dforces_dq(self) -> ContactForces:
        return ContactForces(self[3], self.names, self.also, 2)

    @property
    def dforces_dv(self) -> ContactForces:
        return ContactForces(self[4], self.names, self.also, 2)

    @property
    def dforces_dtau(self) -> ContactForces:
        return ContactForces(self[5], self.names, self.also, 2)

    def __repr__(self) -> str:
        return f"{type(self).__name__} of {', '.join(self.names)}: {', '.join(self._fields)}"


class InverseContact(ContactResult):
    """``tau`` (..., nv), zero where nothing drives the robot, and ``forces`` by contact, a :class:`ContactForces`."""

    __slots__ = ()
    _fields = ("tau", "forces")

    @property
    def tau(self) -> Array:
        return self[0]

    @property
    def forces(self) -> ContactForces:
        return self._by_name()
