"""Studies as plain data: every problem and every result of a study goes to a dictionary and comes back equal.

The dictionary holds what JSON holds: numbers, texts, lists, dictionaries, None. Floats keep all their digits; what JSON
has no word for is a dictionary with one key that begins with ``$``:

    {"$array": [[1.0, 2.0]], "dtype": "float64", "shape": [1, 2]}    an array of numbers or truth values
    {"$float": "inf"}                                                 inf, -inf, nan
    {"$model": "gyrostat: 5\\n..."}                                    a model, in the text form of gyrostat
    {"$study": "Calibration", ...}                                    data of a study inside another one
    {"$tuple": [...]}, {"$items": [[key, value], ...]}                tuples; dictionaries whose keys are not texts

Dictionaries are untrusted input: kinds are looked up by name among the classes of gyrostat, fields must be known, sizes
are checked, and nothing is executed.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Self

import numpy as np

from gyrostat.errors import GyrostatError, clipped, nearest
from gyrostat.io.yaml.read import from_text
from gyrostat.io.yaml.write import to_text
from gyrostat.spec.model import Model

KINDS: dict[str, type[StudyData]] = {}
"""Name of a class -> the class: everything that ``{"$study": name}`` may stand for."""

DTYPES = ("float64", "int64", "bool")


class StudyData:
    """Base of the frozen dataclasses of studies: ``to_dict`` and ``from_dict``.

    Every field that the constructor takes is stored; fields with ``field(init=False)`` are made again by it. Functions
    cannot be stored: a study with a function in it runs, but ``to_dict`` refuses it by name."""

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        if KINDS.setdefault(cls.__name__, cls).__module__ != cls.__module__:
            raise TypeError(f"two classes of studies are called {cls.__name__}")
        KINDS[cls.__name__] = cls  # dataclass(slots=True) makes the class a second time

    def to_dict(self) -> dict[str, Any]:
        """This as plain data, which ``json.dumps`` takes. Equation of the round trip: ``from_dict(to_dict(x)) = x``."""
        kind = type(self).__name__
        fields = [f.name for f in dataclasses.fields(self) if f.init]  # type: ignore[arg-type]
        return {"$study": kind, **{name: _plain(getattr(self, name), f"{kind}.{name}") for name in fields}}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """What :meth:`to_dict` wrote, checked again by the constructor."""
        made = _made(data, cls.__name__)
        if not isinstance(made, cls):
            raise _error(cls.__name__, f"the data are those of a {type(made).__name__}", "ask that class")
        return made


def _plain(value: Any, where: str) -> Any:
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, np.bool_ | np.integer):
        return value.item()
    if isinstance(value, float | np.floating):
        number = float(value)
        return number if math.isfinite(number) else {"$float": repr(number)}
    if isinstance(value, np.ndarray):
        return _plain_array(value, where)
    if isinstance(value, Model):
        return {"$model": to_text(value)}
    if isinstance(value, StudyData):
        return value.to_dict()
    if isinstance(value, tuple):
        return {"$tuple": [_plain(x, f"{where}[{k}]") for k, x in enumerate(value)]}
    if isinstance(value, list):
        return [_plain(x, f"{where}[{k}]") for k, x in enumerate(value)]
    if isinstance(value, dict):
        pairs = [(key, _plain(x, f"{where}[{clipped(key)}]")) for key, x in value.items()]
        if all(isinstance(key, str) and not key.startswith("$") for key, _ in pairs):
            return dict(pairs)
        return {"$items": [[_plain(key, where), x] for key, x in pairs]}
    what = "a function" if callable(value) else f"of type {type(value).__name__}"
    remedy = "give it as numbers, names or data of gyrostat: only those can be stored"
    raise _error(where, f"is {what}, which is no data", remedy)


def _plain_array(value: np.ndarray, where: str) -> dict[str, Any]:
    kind = {"f": "float64", "i": "int64", "u": "int64", "b": "bool"}.get(value.dtype.kind)
    if kind is None:
        raise _error(where, f"is an array of {value.dtype}", "arrays of numbers or truth values can be stored")
    flat = value.astype(kind).ravel().tolist()
    if kind == "float64" and not np.all(np.isfinite(value)):
        flat = [_plain(x, where) for x in flat]
    return {"$array": flat, "dtype": kind, "shape": list(value.shape)}


def _made(data: Any, where: str) -> Any:
    if data is None or isinstance(data, bool | int | float | str):
        return data
    if isinstance(data, list):
        return [_made(x, f"{where}[{k}]") for k, x in enumerate(data)]
    if not isinstance(data, dict):
        raise _error(where, f"holds {clipped(data)}", "expected what to_dict writes")
    if "$float" in data:
        return _float(data["$float"], where)
    if "$array" in data:
        return _array(data, where)
    if "$model" in data:
        return from_text(_expect(data["$model"], str, where))
    if "$tuple" in data:
        return tuple(_made(x, f"{where}[{k}]") for k, x in enumerate(_expect(data["$tuple"], list, where)))
    if "$items" in data:
        pairs = [_expect(pair, list, where) for pair in _expect(data["$items"], list, where)]
        if any(len(pair) != 2 for pair in pairs):
            raise _error(where, "has items that are no pairs", "expected [key, value]")
        return {_hashable(_made(key, where), where): _made(x, where) for key, x in pairs}
    if "$study" in data:
        return _study(data, where)
    return {key: _made(x, f"{where}.{key}") for key, x in data.items()}


def _study(data: dict[str, Any], where: str) -> StudyData:
    name = _expect(data["$study"], str, where)
    if name not in KINDS:
        raise _error(where, f"has data of an unknown kind {clipped(name)}", nearest(name, KINDS))
    cls = KINDS[name]
    known = {f.name: f for f in dataclasses.fields(cls) if f.init}  # type: ignore[arg-type]
    given = {key: x for key, x in data.items() if key != "$study"}
    for key in given:
        if key not in known:
            raise _error(name, f"has no field {clipped(key)}", nearest(key, known))
    for key, field in known.items():
        required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if required and key not in given:
            raise _error(name, f"lacks '{key}'", "expected what to_dict writes")
    return cls(**{key: _made(x, f"{name}.{key}") for key, x in given.items()})


def _array(data: dict[str, Any], where: str) -> np.ndarray:
    flat, kind, shape = _expect(data["$array"], list, where), data.get("dtype"), data.get("shape")
    if kind not in DTYPES:
        raise _error(where, f"is an array of dtype {clipped(kind)}", f"expected one of {', '.join(DTYPES)}")
    sizes = _expect(shape, list, where)
    if not all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in sizes):
        raise _error(where, f"has the shape {clipped(shape)}", "expected a list of sizes")
    if math.prod(sizes) != len(flat):
        raise _error(where, f"has {len(flat)} numbers for the shape {clipped(shape)}", "the two must agree")
    numbers = [_made(x, where) if isinstance(x, dict) else x for x in flat]
    wanted = {"float64": float | int, "int64": int, "bool": bool}[kind]
    for x in numbers:
        if not isinstance(x, wanted) or (kind != "bool" and isinstance(x, bool)):
            raise _error(where, f"holds {clipped(x)} in an array of {kind}", "expected numbers of that kind")
    return np.array(numbers, dtype=kind).reshape(sizes)


def _float(text: Any, where: str) -> float:
    if text not in ("inf", "-inf", "nan"):
        raise _error(where, f"holds the float {clipped(text)}", "expected inf, -inf or nan")
    return float(text)


def _hashable(key: Any, where: str) -> Any:
    try:
        hash(key)
    except TypeError:
        raise _error(where, f"has the key {clipped(key)}", "keys are numbers, texts and tuples of them") from None
    return key


def _expect(value: Any, kind: type, where: str) -> Any:
    if not isinstance(value, kind):
        raise _error(where, f"holds {clipped(value)}", f"expected a {kind.__name__}")
    return value


def _error(where: str, what: str, remedy: str) -> GyrostatError:
    return GyrostatError(f"{where}: {what}. Hint: {remedy}.")
