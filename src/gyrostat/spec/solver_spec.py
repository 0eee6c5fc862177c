"""The specification of a solver as data (H04 4.1, SolverSpec): stored beside the model, built when it is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gyrostat.errors import Problem, SpecError, clipped, nearest
from gyrostat.spec.solver_kinds import ANSWERS, KINDS, REPRESENTATIONS, USUAL, Kind

COMMON = ("algorithm", "representation", "frames", "order", "live", "rules", "mode")


@dataclass(frozen=True, init=False, eq=False)
class SolverSpec:
    """Which solver, and how: ``gs.SolverSpec("ForwardDynamics", algorithm="crba", live=["payload.mass"])``.

    ``solver``: the name of its class. ``algorithm`` and ``representation`` are the usual ones if they are not given.
    ``frames``: of forward kinematics, or the one frame of a Jacobian. ``order``: joints of its arrays, see
    ``in_order``. ``live``: paths of properties that stay inputs. ``options``: what else the solver takes
    (``rules``, ``mode``, ``only``, ``contacts``, ...), as plain data.

    Names that do not exist are refused here; those of frames, joints and properties when a model is there, by
    ``gs.check`` or :meth:`build`."""

    solver: str
    algorithm: str | None
    representation: str | None
    frames: tuple[str, ...]
    order: tuple[str, ...]
    live: tuple[str, ...]
    options: Mapping[str, Any]

    def __init__(
        self,
        solver: str,
        *,
        algorithm: str | None = None,
        representation: str | None = None,
        frames: Any = (),
        order: Any = (),
        live: Any = (),
        **options: Any,
    ):
        given = {"algorithm": algorithm, "representation": representation, "frames": frames, "order": order}
        problems = list(mistakes(solver, given | {"live": live} | options))
        if problems:
            raise SpecError(problems)
        kind = KINDS[solver]
        values = {
            "solver": solver,
            "algorithm": algorithm or (kind.algorithms[0] if kind.algorithms else None),
            "representation": representation or (REPRESENTATIONS[0] if kind.representation else None),
            "frames": _names(frames),
            "order": _names(order),
            "live": _names(live),
            "options": {key: plain(value) for key, value in options.items() if _is_said(key, value)},
        }
        for key, value in values.items():
            object.__setattr__(self, key, value)

    # ------------------------------------------------------------------ data
    def data(self) -> dict[str, Any]:
        """Plain data, from which ``SolverSpec(**data)`` makes an equal one."""
        data = {name: getattr(self, name) for name in ("solver", *COMMON[:5])}
        return {k: plain(v) for k, v in data.items() if v not in (None, ())} | dict(self.options)

    def _key(self) -> Any:
        return _frozen(self.data())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SolverSpec) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        shown = ", ".join(f"{key}={value!r}" for key, value in self.data().items() if key != "solver")
        return f"SolverSpec({self.solver!r}{', ' if shown else ''}{shown})"

    def keywords(self) -> dict[str, Any]:
        """What the class of the solver is called with, besides the model; and ``solver``, ``order``, if there is
        one."""
        data = self.data()
        frames = data.pop("frames", None)
        if frames is not None:
            data |= {"frame": frames[0]} if KINDS[self.solver].frames == "one" else {"frames": frames}
        return data

    def renamed(self, name: Callable[[str], str]) -> SolverSpec:
        """The same with other names of joints, frames and properties."""
        return SolverSpec(**_renamed(self.data(), name))

    # ------------------------------------------------------------------ from data to a solver
    def build(self, model: Any) -> Any:
        """The solver of a model."""
        from gyrostat.solvers.builders.builder import build  # upwards, and listed: nothing computes before this call

        return build(self, model)


def mistakes(solver: Any, given: Mapping[str, Any]) -> Iterator[Problem]:
    """What is wrong with a specification by itself; ``value`` of a problem is the path of what is to blame."""
    label = "solver specification"
    if not isinstance(solver, str) or solver not in KINDS:
        hint = nearest(str(solver), KINDS)
        yield Problem(label, "unknown-solver", f"there is no solver {clipped(solver)}", hint, ("solver",))
        return
    kind, label = KINDS[solver], f"specification of {solver}"
    known = known_options(kind)
    for key, value in given.items():
        if value is None or (isinstance(value, list | tuple) and not value):
            continue
        if key not in known:
            yield Problem(label, "unknown-property", f"has no property '{key}'", nearest(key, known), (key,))
            continue
        words = {"algorithm": kind.algorithms, "representation": REPRESENTATIONS}.get(key)
        if words is not None and value not in words:
            message = f"there is no {key} {clipped(value)}"
            yield Problem(label, "property-value", message, nearest(str(value), words), (key,))
        if key in ("frames", "order", "live"):
            yield from _name_mistakes(label, key, value, kind)
        elif not is_plain(value):
            message = f"'{key}' is {clipped(value)}, which is no plain data"
            yield Problem(label, "property-type", message, "use numbers, texts, lists and mappings of them", (key,))
        elif key == "answers":
            yield from _answer_mistakes(label, value)
    for key in kind.needs:
        if given.get(key) is None or (isinstance(given[key], list | tuple | dict) and not given[key]):
            yield Problem(label, "missing-property", f"needs the property '{key}'", f"add '{key}'", ())


def known_options(kind: Kind) -> list[str]:
    """Names of the properties that a specification of this kind may have."""
    there = {
        "algorithm": bool(kind.algorithms), "representation": kind.representation, "frames": bool(kind.frames),
        "order": kind.order, "live": kind.live, "rules": kind not in (KINDS["Regressor"], KINDS["Solvers"]),
        "mode": True,
    }  # fmt: skip
    return [*(name for name in COMMON if there[name]), *kind.options]


def _name_mistakes(label: str, key: str, value: Any, kind: Kind) -> Iterator[Problem]:
    listed = (value,) if isinstance(value, str) else value
    if not isinstance(listed, list | tuple) or not all(isinstance(name, str) for name in listed):
        message = f"'{key}' must be a list of names, got {clipped(value)}"
        yield Problem(label, "property-type", message, f"write {key}: [a, b]", (key,))
    elif key == "frames" and kind.frames == "one" and len(listed) != 1:
        yield Problem(label, "property-value", f"has one frame, got {len(listed)}", "make one of each", (key,))


def _answer_mistakes(label: str, answers: Any) -> Iterator[Problem]:
    if not isinstance(answers, Mapping):
        yield Problem(
            label, "property-type", "'answers' must map names to options", "answers: {rnea: {}}", ("answers",)
        )
        return
    for name, options in answers.items():
        path = ("answers", str(name))
        if not isinstance(options, Mapping):
            message = f"answer '{name}' must have options by name, got {clipped(options)}"
            yield Problem(label, "property-type", message, f"write {name}: {{}}", path)
            continue
        of = str(options.get("solver", name))
        if of not in ANSWERS and of not in KINDS:
            message = f"answer '{name}': there is no answer {clipped(of)}"
            yield Problem(label, "unknown-solver", message, nearest(str(of), [*ANSWERS, *KINDS]), path)
            continue
        kind = KINDS[ANSWERS.get(of, of)]
        words = [*(k for k in known_options(kind) if k not in ("live", "mode", "order")), "solver"]
        words += ["frame"] if kind.frames == "one" else []
        words += ["derivatives"] if kind is KINDS["ForwardKinematics"] else []
        for key in options:
            if key not in words:
                message = f"answer '{name}' has no option '{key}'"
                yield Problem(label, "unknown-property", message, nearest(str(key), words), (*path, str(key)))


# ------------------------------------------------------------------------------------------------ plain data
def is_plain(value: Any) -> bool:
    """Whether a file can hold it: numbers, texts, lists, mappings with texts for keys, arrays."""
    value = plain(value)
    if isinstance(value, dict):
        return all(isinstance(k, str) and is_plain(v) for k, v in value.items())
    if isinstance(value, list):
        return all(is_plain(v) for v in value)
    return value is None or isinstance(value, bool | int | float | str)


def plain(value: Any) -> Any:
    """Lists for tuples and arrays, dicts for mappings."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {key: plain(v) for key, v in value.items()}
    return [plain(v) for v in value] if isinstance(value, list | tuple) else value


NAMING = (
    "frame", "frames", "order", "live", "only", "contacts", "points", "independent", "parameters", "passive",
    "wrt_wrenches",
)  # fmt: skip
"""Properties that name parts of a model."""


def _renamed(data: Mapping[str, Any], name: Callable[[str], str]) -> dict[str, Any]:
    changed = dict(data)
    for key in NAMING:
        value = data.get(key)
        if isinstance(value, Mapping):
            changed[key] = {name(k): v for k, v in value.items()}
        elif isinstance(value, str):
            changed[key] = name(value)
        elif value is not None:
            changed[key] = [name(v) if isinstance(v, str) else v for v in value]
    if isinstance(data.get("answers"), Mapping):
        changed["answers"] = {k: _renamed(v, name) for k, v in data["answers"].items()}
    return changed


def _is_said(key: str, value: Any) -> bool:
    """Whether an option says anything: the usual value and an empty list (but of rules, or of independent joints) do
    not."""
    if value is None or (key not in ("rules", "independent") and isinstance(value, list | tuple) and not value):
        return False
    return key not in USUAL or plain(value) != plain(USUAL[key])


def _names(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value or ())


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple(sorted((k, _frozen(v)) for k, v in value.items()))
    return tuple(_frozen(v) for v in value) if isinstance(value, list | tuple) else value
