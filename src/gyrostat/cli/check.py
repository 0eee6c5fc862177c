"""``gyrostat check``: the audit of files."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from gyrostat.cli.options import Json, Quiet, Reading, examples, reads

if TYPE_CHECKING:
    from gyrostat.io.audit import Audit, Finding

STYLES = {"error": "bold red", "warning": "yellow", "ignored": "dim", "repaired": "cyan"}


def register(app: typer.Typer) -> None:
    app.command(
        epilog=examples(
            "check robot.urdf", "check *.urdf --quiet", "check robot.urdf --policy repair", "check robot.urdf --json"
        )
    )(reads(check))


def check(
    models: Annotated[list[str], typer.Argument(metavar="MODEL...", help="Files, or robots of gyrostat.")],
    json: Json = False,
    quiet: Quiet = False,
    *,
    reading: Reading,
) -> None:
    """Everything wrong, odd, ignored or repaired in robot files.

    One line for each: file:line: severity: whom it concerns, what, found, fix. What is said of several entities is said
    once; of robots by name, the last line has the path. Exit code 1 if there is an error in any file. With --quiet
    errors only; --json has every finding by itself.
    """
    from gyrostat.cli.output import show_json
    from gyrostat.robots.by_name import is_name

    audits: list[Audit] = []
    for word in models:
        audits.append(reading.audit(word))
        if not json:
            _print(audits[-1], quiet, is_name(word))
    ok = all(audit.ok for audit in audits)
    if json:
        show_json({"ok": ok, "files": [audit.data() for audit in audits]})
    if not ok:
        raise typer.Exit(1)


def _print(audit: Audit, quiet: bool, by_name: bool) -> None:
    """One line for each finding; those that say the same of several entities share one. Of a robot that was asked for
    ``by_name`` the last line has the path, the others only the name of its file."""
    from gyrostat.cli.output import painted, say

    for same in grouped(audit.errors if quiet else audit.findings):
        painted(told(same, audit.file if by_name and not quiet else ""), STYLES[same[0].severity])
    if not quiet:
        say(audit.summary().replace(audit.file, shown_path(audit.file), 1))


def told(same: list[Finding], named: str = "") -> str:
    """A line about findings that differ in place and owner only; of the file ``named`` without its folder."""
    file = same[0].file
    first = replace(same[0], file=os.path.basename(file) if file == named else shown_path(file))
    if len(same) == 1:
        return str(first)
    others = [str(one.line) for one in same[1:] if one.line]
    lines = f" (lines {', '.join(others[:8])}{', ...' if len(others) > 8 else ''})" if others else ""
    return str(replace(first, owner=f"{first.owner} and {len(same) - 1} more{lines}"))


def grouped(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Findings that say the same of several entities, in the order of the first of each."""
    groups: dict[tuple[str, str, str, str], list[Finding]] = {}
    for one in findings:
        groups.setdefault((one.severity, one.rule, one.what, one.fix), []).append(one)
    return list(groups.values())


def shown_path(file: str) -> str:
    """From where we are, where that is shorter."""
    try:
        relative = os.path.relpath(file)
    except ValueError:  # another drive
        return file
    return relative if len(relative) < len(file) and os.path.exists(file) else file
