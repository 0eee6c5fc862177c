"""docs/correctness.md from what was found: no dates, no places of this machine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version

from validation.compare import QUANTITIES, TOLERANCE, Difference
from validation.references import ADAMS, MEASURED, ReferenceRow
from validation.robots import BASES, RobotRow

PACKAGES = {
    "gyrostat": "gyrostat", "Pinocchio": "pin", "MuJoCo": "mujoco", "example-robot-data": "example-robot-data",
    "NumPy": "numpy",
}  # fmt: skip

HEAD = f"""# Correctness

This page is written by `./run validate`, which fails if a number is larger than it may be. {{versions}}.

{{summary}}

Each robot takes one random state: angles within 1.5 rad, any orientation of a free base, rates and accelerations of
size one. Differences are relative to the largest entry of the vector or matrix (placements and Jacobians: to 1 where
that is larger). {TOLERANCE:g} is allowed. Accelerations solve for the mass matrix, so two programs may differ by
rounding times its condition number; where that is above {TOLERANCE:g} it is what is allowed, and the table says so.
Jacobians are those of four links, spread over those that many rates move. A file whose audit has errors is loaded as it
stands, which is the default. {{mode}}
"""
MODES = {
    "interpret": "The plain NumPy equations are compared here; that compiled code gives the same, the tests show.",
    "compile": "Compiled code is compared here.",
}

LOADED = """## Damping, friction and couplings

Files with `<dynamics>` or `<mimic>`, loaded with all they say. Pinocchio computes the joints without them; couplings
are a projection of its results, and d u + f sign(u) is added for damping d and friction f at every joint, those that
follow another one among them. In each cell: fixed base, then free base.
"""

ZERO = 1e-9
"""A difference from a history of ADAMS that is not worth a number: rounding where ADAMS says zero."""
HISTORIES = """
## Histories of MSC ADAMS

A body on a joint, an actuator or a spring, from Chrono's unit tests: simulated from the start over 5 s by `gs.simulate`
(compiled code), and compared in all samples of all columns. In each cell: the largest difference, then what is allowed;
0 is below 1e-9. Allowed is 1.1 times the error of ADAMS, which was found without gyrostat, by Newton-Euler equations
with Lagrange multipliers; the table in `tests/oracles/test_adams_histories.py` tells it, and where it comes from.

"""


@dataclass
class Results:
    """Everything that was found. ``robots``: rows by peer; ``missing``: peers that are not installed."""

    robots: dict[str, list[RobotRow]] = field(default_factory=dict)
    loaded: list[RobotRow] = field(default_factory=list)
    references: list[ReferenceRow] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    histories: bool = True
    mode: str = "interpret"

    @property
    def failures(self) -> list[str]:
        """What differs by more than it may."""
        rows = [(peer, row) for peer, robots in self.robots.items() for row in robots]
        rows += [("as loaded", row) for row in self.loaded]
        failed = [f"{row.name} ({peer})" for peer, row in rows if row.failed]
        return failed + [f"{row.case}, {row.quantity} ({row.source})" for row in self.references if row.failed]


def page(results: Results) -> str:
    """The whole page."""
    known = [f"{name} {_version(package)}" for name, package in PACKAGES.items() if _version(package)]
    parts = [HEAD.format(versions=", ".join(known), summary=_summary(results), mode=MODES[results.mode])]
    parts += [_against(peer, rows) for peer, rows in results.robots.items()]
    parts += [f"## Robots against {peer}\n\n{peer} was not installed.\n" for peer in results.missing]
    if results.loaded:
        parts.append(LOADED + "\n" + _robot_table(results.loaded, QUANTITIES[:3]))
    parts.append(_reference_section(results))
    return "\n".join(parts)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _summary(results: Results) -> str:
    lines = []
    for peer, rows in results.robots.items():
        compared = [row for row in rows if row.errors]
        numbers = [one for row in compared for one in row.differences]
        agreeing = sum(not row.failed for row in compared)
        worst = max((one.error for one in numbers if one.allowed <= TOLERANCE), default=0.0)
        lines.append(
            f"* **{peer}**: {agreeing} of {len(compared)} robots agree, {len(numbers)} comparisons; the largest "
            f"difference, where {TOLERANCE:g} is allowed, is {worst:.0e}."
        )
    if results.loaded:
        agreeing = sum(not row.failed for row in results.loaded)
        lines.append(f"* **Damping, friction, couplings**: {agreeing} of {len(results.loaded)} robots agree.")
    count = len(results.references)
    lines.append(f"* **Published numbers**: {count - sum(r.failed for r in results.references)} of {count} are met.")
    lines += [f"* **Above what is allowed**: {text}." for text in results.failures]
    return "\n".join(lines)


def _against(peer: str, rows: Sequence[RobotRow]) -> str:
    compared = [row for row in rows if row.errors]
    text = f"## Robots against {peer}\n\nIn each cell: fixed base, then free base.\n\n" + _robot_table(compared)
    left_out = [f"* `{row.name}`: {_plain(row.refused)}." for row in rows if row.refused and not row.errors]
    if left_out:
        text += "\nNot compared, for the reason that the refusing program gives:\n\n" + "\n".join(left_out) + "\n"
    return text


def _robot_table(rows: Sequence[RobotRow], quantities: Sequence[str] = QUANTITIES) -> str:
    """One line per robot. The second column: errors of the audit that were accepted."""
    cells = [
        [
            f"`{row.name}`",
            str(row.dofs),
            ", ".join(row.audit) or "-",
            *(" / ".join(_cell(row, base, x) for base in BASES) for x in quantities),
        ]
        for row in rows
    ]
    return table(["robot", "rates", "errors accepted", *quantities], cells)


def _cell(row: RobotRow, base: str, quantity: str) -> str:
    difference = row.errors.get(base, {}).get(quantity)
    return "-" if difference is None else _number(difference)


def _number(difference: Difference) -> str:
    text = f"{difference.error:.0e}" if difference.error else "0"
    text += f" (allowed {difference.allowed:.0e})" if difference.allowed > TOLERANCE else ""
    return f"**{text}**" if difference.failed else text


def _reference_section(results: Results) -> str:
    text = "## Published numbers\n\nAllowed is the accuracy of what was published: half a unit of the last digit.\n\n"
    rows = [
        [row.source, row.case, f"{row.quantity} [{row.unit}]", f"{row.error:.0e}" if row.error else "0",
         f"{row.allowed:.0e}"]
        for row in results.references if row.source != ADAMS
    ]  # fmt: skip
    text += table(["source", "case", "quantity", "difference", "allowed"], rows)
    histories = [row for row in results.references if row.source == ADAMS]
    return text + _history_section(histories, results.histories)


def _history_section(histories: Sequence[ReferenceRow], complete: bool) -> str:
    """One line per case."""
    if not histories and complete:
        return ""
    text = HISTORIES
    if not complete:
        text += (
            "The histories of ADAMS were not at hand: samples at 1, 2.5 and 5 s that the tests hold are compared.\n\n"
        )
    by_case: dict[str, dict[str, ReferenceRow]] = {}
    for row in histories:
        by_case.setdefault(row.case, {})[row.quantity] = row
    cells = [
        [case, *(_of_history(row[name]) if name in row else "-" for name, _ in MEASURED.values())]
        for case, row in by_case.items()
    ]
    return text + table(["case", *(f"{name} [{unit}]" for name, unit in MEASURED.values())], cells)


def _of_history(row: ReferenceRow) -> str:
    text = "0" if row.error < ZERO else f"{row.error:.1e} / {row.allowed:.1e}"
    return f"**{text}**" if row.failed else text


def _plain(text: str) -> str:
    """Foreign messages in a Markdown line."""
    return text.replace("|", "/").replace("<", "&lt;").rstrip(".")


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
