"""A model as a table: every entity with its kind, what it is on, its mass and its rates."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gyrostat.spec.model import Model

Row = tuple[str, str, str, str, str]
HEAD: Row = ("entity", "kind", "on", "mass [kg]", "rates")


def rows(model: Model) -> list[Row]:
    """(name, kind, moved or placed by, mass, dofs) of every entity."""
    parent = model.wiring.tree.parent
    table: list[Row] = []
    rates = {block.entity: block.rates for block in model.layout}
    for name, entity in model.wiring.entities.items():
        kind = getattr(entity, "kind", entity.type_name.replace("_", " "))
        mass = getattr(entity, "mass", None)
        on = parent.get(name) or _beside(model, name)
        shown = f"{mass:g}" if isinstance(mass, float | int) else ""
        table.append((name, kind, "" if on == name else on, shown, ", ".join(rates.get(name, ()))))
    return table


def _beside(model: Model, name: str) -> str:
    """What an entity that has shafts only is connected with."""
    wiring = model.wiring
    connected = [wiring.connection(name, port.name) for port in wiring.entities[name].ports]
    beside = [other for group in connected for other, _ in group if other != name]
    return ", ".join(dict.fromkeys(beside)) or "unreachable"


def as_text(model: Model) -> str:
    """Headline and table, in columns."""
    lines = [HEAD, *rows(model)]
    widths = [max(len(row[k]) for row in lines) for k in range(len(HEAD))]
    text = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in lines]
    text.insert(1, "  ".join("-" * w for w in widths))
    return "\n".join([headline(model), *text])


def as_html(model: Model) -> str:
    """Headline and table, for notebooks."""
    head = "".join(f"<th>{h}</th>" for h in HEAD)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows(model))
    return f"<p>{html.escape(headline(model))}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def headline(model: Model) -> str:
    """Name, sizes, mass, base and gravity in one line."""
    entities = model.wiring.entities
    elsewhere = [name for name, e in entities.items() if e.from_elsewhere and len(e.shafts) < len(e.ports)]
    mass = sum(float(getattr(e, "mass", 0.0)) for name, e in entities.items() if name not in elsewhere)
    unknown = f" without {', '.join(map(repr, elsewhere[:3]))}{', ...' * (len(elsewhere) > 3)}" if elsewhere else ""
    base = model.context.base if isinstance(model.context.base, str) else "moving"
    gravity = model.context.gravity
    shown = f"({', '.join(f'{x:g}' for x in gravity.g)}) m/s^2" if hasattr(gravity, "g") else type(gravity).__name__
    return (
        f"Model '{model.name}': nq {model.nq}, nv {model.nv}, mass {mass:g} kg{unknown}, base {base}, gravity {shown}"
    )
