"""``gyrostat check``: the audit of files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from gyrostat.cli.options import Json, Quiet, Reading, examples, reads

if TYPE_CHECKING:
    from gyrostat.io.audit import Audit

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

    One line for each: file:line: severity: whom it concerns, what, found, fix. Exit code 1 if there is an error in any
    file. With --quiet errors only.
    """
    from gyrostat.cli.output import show_json

    audits: list[Audit] = []
    for word in models:
        audits.append(reading.audit(word))
        if not json:
            _print(audits[-1], quiet)
    ok = all(audit.ok for audit in audits)
    if json:
        show_json({"ok": ok, "files": [audit.data() for audit in audits]})
    if not ok:
        raise typer.Exit(1)


def _print(audit: Audit, quiet: bool) -> None:
    from gyrostat.cli.output import painted, say

    for finding in audit.errors if quiet else audit.findings:
        painted(str(finding), STYLES[finding.severity])
    if not quiet:
        say(audit.summary())
