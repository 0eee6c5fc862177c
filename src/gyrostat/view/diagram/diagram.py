"""The component diagram of a model (H04 2.3) as SVG: outlined boxes are entities, filled squares on their borders are
ports, lines are connections. Shafts (scalar ports) are round, their connections dashed; assemblies are frames."""

from __future__ import annotations

import re
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model
from gyrostat.view.diagram.box import Box, kind_of
from gyrostat.view.diagram.layout import Layout, layout

FILLS = {
    "reference_frame": "#3b424d",
    "rigid_body": "#dbe8f6",
    "joint": "#fde3cc",
    "displacement": "#ffffff",
    "dh_displacement": "#ffffff",
    "force_element": "#f8dede",
}
SHAFTED = "#e0f0e3"
INK, SHAFT, FAINT = "#222831", "#2f7d4f", "#6b7480"
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

STYLE = f"""
text {{ font-family: Helvetica, Arial, sans-serif; fill: {INK}; }}
.name {{ font-size: 12px; font-weight: bold; text-anchor: middle; }}
.kind {{ font-size: 9.5px; fill: {FAINT}; text-anchor: middle; }}
.port {{ font-size: 8.5px; fill: {FAINT}; }}
.line {{ fill: none; stroke: {INK}; stroke-width: 1.3; }}
.shaft {{ fill: none; stroke: {SHAFT}; stroke-width: 1.3; stroke-dasharray: 5 3; }}
.frame {{ fill: #f4f6f9; fill-opacity: 0.6; stroke: {FAINT}; stroke-dasharray: 7 4; }}
.dark {{ fill: #ffffff; }}
"""


def diagram(model: Model) -> str:
    """The component diagram as SVG text: ``Path("arm.svg").write_text(gs.diagram(model))``."""
    expect_model(model, "diagram")
    placed = layout(model)
    scalar = _scalar_groups(model)
    body = [_frame(*frame) for frame in sorted(placed.frames, key=lambda f: -f[3] * f[4])]
    body += [_line(points, group in scalar) for group, points in placed.lines]
    body += [_curve(points, group in scalar) for group, points in placed.curves]
    body += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6" fill="{INK}"/>' for x, y in placed.dots]
    connected = {port for group in model.wiring.groups for port in group}
    body += [_box(box, connected) for box in placed.boxes.values()]
    return "\n".join([*_head(model, placed), *body, *_legend(placed), "</svg>", ""])


def _scalar_groups(model: Model) -> set[int]:
    entities = model.wiring.entities
    kinds = {(name, port.name): port.kind for name, entity in entities.items() for port in entity.ports}
    return {k for k, group in enumerate(model.wiring.groups) if kinds.get(group[0]) == "scalar"}


def _text(text: Any) -> str:
    return escape(_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", str(text)))


def _head(model: Model, placed: Layout) -> list[str]:
    w, h = placed.width, placed.height + 26.0
    title = f"{_text(model.name)}: component diagram"
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{w:.0f}" height="{h:.0f}" viewBox="0 0 {w:.0f} {h:.0f}">',
        f"<title>{title}</title>",
        f"<style>{STYLE}</style>",
        f'<rect width="{w:.0f}" height="{h:.0f}" fill="#ffffff"/>',
        f'<text x="24" y="32" font-size="16" font-weight="bold">{_text(model.name)}</text>',
    ]


def _frame(name: str, x: float, y: float, w: float, h: float) -> str:
    return (
        f'<g data-assembly={_quoted(name)}><rect class="frame" x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" '
        f'height="{h:.1f}" rx="6"/><text x="{x + 8:.1f}" y="{y + 13:.1f}" font-size="11">{_text(name)}</text></g>'
    )


def _quoted(text: str) -> str:
    return quoteattr(_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text))


def _line(points: list[tuple[float, float]], shaft: bool) -> str:
    kind = "shaft" if shaft else "line"
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline class="{kind}" points="{path}"/>'


def _curve(points: list[tuple[float, float]], shaft: bool) -> str:
    start, *others = [f"{x:.1f},{y:.1f}" for x, y in points]
    return f'<path class="{"shaft" if shaft else "line"}" d="M {start} C {" ".join(others)}"/>'


def _box(box: Box, connected: set[tuple[str, str]]) -> str:
    entity = box.entity
    scalar = all(port.kind == "scalar" for port in entity.ports)
    fill = FILLS.get(entity.type_name, SHAFTED if scalar else "#f3effa")
    dark = " dark" if entity.type_name == "reference_frame" else ""
    x, y, middle = box.x, box.y, box.x + box.w / 2.0
    name = box.name.rpartition(".")[2]
    room = int((box.w - 14.0) / 7.2)
    shown = name if len(name) <= room else f"{name[: max(room - 1, 1)]}\N{HORIZONTAL ELLIPSIS}"
    parts = [
        f"<g data-entity={_quoted(box.name)}><title>{_text(entity.label if '.' not in box.name else box.name)}</title>",
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{box.w:.1f}" height="{box.h:.1f}" rx="3" fill="{fill}" stroke="{INK}"/>',
        f'<text class="name{dark}" x="{middle:.1f}" y="{y + box.h / 2 - 1:.1f}">{_text(shown)}</text>',
        f'<text class="kind{dark}" x="{middle:.1f}" y="{y + box.h / 2 + 11:.1f}">{_text(kind_of(entity))}</text>',
    ]
    kinds = {port.name: port.kind for port in entity.ports}
    parts += [
        _port(box, port, kinds[port], (box.name, port) in connected, dark) for port in (*box.left, *box.right, *box.top)
    ]
    return "".join([*parts, "</g>"])


def _port(box: Box, port: str, kind: str, connected: bool, dark: str) -> str:
    x, y = box.at(port)
    color = SHAFT if kind == "scalar" else INK
    paint = f'fill="{color if connected else "#ffffff"}" stroke="{color}"'
    mark = (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.6" {paint}/>'
        if kind == "scalar"
        else f'<rect x="{x - 3.2:.1f}" y="{y - 3.2:.1f}" width="6.4" height="6.4" {paint}/>'
    )
    if port in box.top:
        place = f'x="{x:.1f}" y="{y - 6:.1f}" text-anchor="middle"'
    elif port in box.left:
        place = f'x="{x + 6:.1f}" y="{y + 3:.1f}"'
    else:
        place = f'x="{x - 6:.1f}" y="{y + 3:.1f}" text-anchor="end"'
    shown = "" if port in ("a", "b") and not dark else f'<text class="port{dark}" {place}>{_text(port)}</text>'
    return mark + shown


def _legend(placed: Layout) -> list[str]:
    y = placed.height + 8.0
    return [
        f'<g font-size="10"><rect x="24" y="{y - 6:.1f}" width="6.4" height="6.4" fill="{INK}"/>'
        f'<text x="36" y="{y:.1f}">frame (spatial port), connected</text>'
        f'<rect x="206" y="{y - 6:.1f}" width="6.4" height="6.4" fill="#ffffff" stroke="{INK}"/>'
        f'<text x="218" y="{y:.1f}">open</text>'
        f'<circle cx="262" cy="{y - 3:.1f}" r="3.6" fill="{SHAFT}"/>'
        f'<text x="272" y="{y:.1f}">shaft (scalar port)</text></g>'
    ]
