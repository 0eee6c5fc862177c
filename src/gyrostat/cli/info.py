"""``gyrostat info``: what a model is made of."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gyrostat.cli.options import Json, Quiet, Reading, examples, reads

if TYPE_CHECKING:
    from gyrostat.spec.joint import Joint
    from gyrostat.spec.model import Model

LIMITS = ("lower", "upper", "velocity_limit", "effort_limit")
HEAD = ("joint", "kind", "axis", "lower", "upper", "velocity", "effort", "parent", "child")


def register(app: typer.Typer) -> None:
    app.command(
        epilog=examples(
            "info", "info lwr", "info robot.urdf --base free", "info robot.urdf --json", "info robot.urdf --no-tree"
        )
    )(reads(info))


def info(
    model: Annotated[
        str | None,
        typer.Argument(
            metavar="MODEL", help="A file or a robot; without it, the robots are listed.", show_default=False
        ),
    ] = None,
    tree: Annotated[bool, typer.Option("--tree/--no-tree", help="Show who hangs on whom.")] = True,
    json: Json = False,
    quiet: Quiet = False,
    *,
    reading: Reading,
) -> None:
    """What a model is made of: joints, limits, tree, masses.

    Limits are in rad or m, rad/s or m/s, N m or N. With --quiet: one line.
    """
    if model is None:
        _list_robots(json)
        return
    loaded = reading.load(model, quiet)
    about = summary(loaded)
    if json:
        from gyrostat.cli.output import show_json

        show_json(about)
    else:
        _print(loaded, about, tree, quiet)


def _list_robots(json: bool) -> None:
    from gyrostat.cli.models import robots
    from gyrostat.cli.output import shortened, show_json, show_table
    from gyrostat.robots.catalogue import short_names

    known = robots()
    short = {full: name for name, full in short_names().items()}
    rows = [(name, short.get(name, ""), " ".join((make.__doc__ or "").split())) for name, make in known.items()]
    if json:
        show_json([dict(zip(("name", "short", "text"), row, strict=True)) for row in rows])
        return
    first = [(name, also, shortened(first_sentence(text).replace("``", ""), 90)) for name, also, text in rows]
    show_table("robots that come with gyrostat", ("name", "also", "what it is"), first)


def first_sentence(text: str) -> str:
    """Up to the first full stop; dots in a row are none.

    >>> first_sentence("Joints q1 ... q5. And more.")
    'Joints q1 ... q5'
    """
    import re

    return re.split(r"(?<![. ])\.(?:\s|$)", text)[0]


def summary(model: Model) -> dict[str, Any]:
    """Everything that ``info`` tells, as plain data."""
    entities = model.wiring.entities
    gravity, base = model.context.gravity, model.context.base
    return {
        "name": model.name,
        "nq": model.nq,
        "nv": model.nv,
        "mass": float(sum(float(getattr(entity, "mass", 0.0)) for entity in entities.values())),
        "base": base if isinstance(base, str) else "moving",
        "gravity": [float(x) for x in gravity.g] if hasattr(gravity, "g") else type(gravity).__name__,  # type: ignore[union-attr]
        "coordinates": list(model.coordinates),
        "dofs": list(model.dofs),
        "counts": dict(Counter(entity.type_name for entity in entities.values())),
        "joints": _joints(model),
        "bodies": [
            {"name": name, "mass": float(entity.mass), "com": [float(x) for x in entity.com]}  # type: ignore[attr-defined]
            for name, entity in entities.items()
            if entity.type_name == "rigid_body"
        ],
    }


def _joints(model: Model) -> list[dict[str, Any]]:
    from gyrostat.cli.structure import drives, ends, parents
    from gyrostat.spec.joint import Joint

    on, turned = ends(model, parents(model)), drives(model)
    return [
        {
            "name": name,
            "kind": entity.kind,
            "axis": None if entity.axis is None else [float(x) for x in entity.axis],
            **{limit: _number(entity, limit) for limit in LIMITS},
            "parent": on[name][0],
            "child": on[name][1],
            "drive": turned[name],
        }
        for name, entity in model.wiring.entities.items()
        if isinstance(entity, Joint)
    ]


def _number(joint: Joint, limit: str) -> float | None:
    """A limit; None where there is none."""
    value = getattr(joint, limit, None)
    return None if value is None or abs(value) == float("inf") else float(value)


def _print(model: Model, about: dict[str, Any], tree: bool, quiet: bool) -> None:
    from gyrostat.cli.output import painted, say, show_table, show_tree
    from gyrostat.cli.structure import children, drives, parents
    from gyrostat.spec.table import headline

    painted(headline(model), "bold")
    if quiet:
        return
    counts = ", ".join(f"{n} {kind.replace('_', ' ')}" for kind, n in about["counts"].items())
    say(f"entities: {counts}")
    say(f"dofs: {', '.join(model.dofs) or 'none'}")
    if model.coordinates != model.dofs:
        say(f"coordinates: {', '.join(model.coordinates)}")
    if about["joints"]:
        say()
        rows = [_row(joint) for joint in about["joints"]]
        used = [k for k in range(len(HEAD)) if k not in range(3, 7) or any(row[k] for row in rows)]
        right = [n for n, k in enumerate(used) if k in range(3, 7)]
        show_table("", [HEAD[k] for k in used], [[row[k] for k in used] for row in rows], right)
    if tree and model.wiring.root is not None:
        say()
        entities = model.wiring.entities
        turned = drives(model)
        label = {name: _label(name, turned) if e.type_name == "joint" else name for name, e in entities.items()}
        show_tree(model.wiring.root, children(model, parents(model)), label)


def _label(joint: str, turned: dict[str, list[str]]) -> str:
    """``(elbow)``, with what its shaft turns: ``(elbow + gear, rotor, motor)``; names without the drive's own."""
    parts = [name.removeprefix(f"{joint}_drive.") for name in turned[joint]]
    return f"({joint} + {', '.join(parts)})" if parts else f"({joint})"


def _row(joint: dict[str, Any]) -> tuple[str, ...]:
    axis = "" if joint["axis"] is None else " ".join(f"{x:g}" for x in joint["axis"])
    limits = ("" if joint[limit] is None else f"{joint[limit]:g}" for limit in LIMITS)
    return (joint["name"], joint["kind"], axis, *limits, joint["parent"], joint["child"])
