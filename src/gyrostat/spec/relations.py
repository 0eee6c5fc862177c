"""Relations between the angles of shafts, as entities say them: linear ones, and curves.

An entity that ties shafts to each other overrides ``relations`` or ``curves`` of :class:`~gyrostat.spec.entity.Entity`;
:mod:`gyrostat.graph.shafts` solves them. ``value(property)`` reads a number of the entity: the one of the
specification, or a live one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Value = Callable[[str], Any]
"""Reads a property of an entity by its name."""


@dataclass(frozen=True)
class LinearRelation:
    """sum of ``terms[port]`` x angle at the port = ``constant``.

    ``follower``: the port whose shaft gives up its coordinate, where there is a choice."""

    follower: str
    terms: Mapping[str, Any]
    constant: Any = 0.0


@dataclass(frozen=True)
class CurveRelation:
    """Angle at ``follower`` = ``function`` (angle at ``driver``).

    The function is written with arithmetic and NumPy (``np.sin``, ``np.sqrt``, ``np.where``), on one number; it is also
    run on recorded numbers and on numbers with rates, which give its derivatives. It must have a continuous second
    derivative: accelerations of the follower depend on it."""

    follower: str
    driver: str
    function: Callable[[Any], Any]
