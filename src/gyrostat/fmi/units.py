"""Units of variables by their exponents of the base units of the SI, as descriptions of FMUs define them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gyrostat.spec.model import Model
from gyrostat.view.channels import channels

UNITS: Mapping[str, Mapping[str, int]] = {
    "rad": {"rad": 1},
    "rad/s": {"rad": 1, "s": -1},
    "rad/s2": {"rad": 1, "s": -2},
    "m": {"m": 1},
    "m/s": {"m": 1, "s": -1},
    "m/s2": {"m": 1, "s": -2},
    "N": {"kg": 1, "m": 1, "s": -2},
    "N.m": {"kg": 1, "m": 2, "s": -2},
    "kg": {"kg": 1},
    "kg.m2": {"kg": 1, "m": 2},
    "s": {"s": 1},
    "1/s": {"s": -1},
    "1": {},
}

_ANGLE = {"q": "rad", "v": "rad/s", "a": "rad/s2", "tau": "N.m"}
_SHIFT = {"q": "m", "v": "m/s", "a": "m/s2", "tau": "N"}
_OF_SORT = {"angle": _ANGLE, "turn": _ANGLE | {"q": "1"}, "shift": _SHIFT, "place": _SHIFT}

PROPERTIES = {
    "mass": "kg",
    "inertia": "kg.m2",
    "rotor_inertia": "kg.m2",
    "com": "m",
    "center": "m",
    "position": "m",
    "length": "m",
    "lower": "",
    "ratio": "1",
    "efficiency": "1",
}
"""Units of physical properties by the last name of their path; where an element has another, or where it depends on
the joint, nothing is said."""


def state_units(model: Model) -> dict[str, list[str]]:
    """Units of q (nq,), v, a and tau (nv,); empty where numbers of a flexible link have no common one."""
    units = {"q": [""] * model.nq} | {name: [""] * model.nv for name in ("v", "a", "tau")}
    for channel in channels(model):
        for quantity, names in units.items():
            for k in channel.at(quantity):
                names[k] = _OF_SORT.get(channel.sort, {}).get(quantity, "")
    return units


def property_unit(path: str) -> str:
    """The unit of a physical property, as far as its name tells."""
    return PROPERTIES.get(path.rpartition(".")[2], "")


def used(names: Iterable[str]) -> dict[str, Mapping[str, int]]:
    """Definitions of these units, in one order."""
    wanted = set(names)
    return {name: exponents for name, exponents in UNITS.items() if name in wanted}
