"""What a file says that is wrong, odd, unused or mended: one finding each, with file and line."""

from __future__ import annotations

import json
import logging
import os
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Literal

from gyrostat.errors import ModelWarning, Problem, clipped
from gyrostat.spec.facts import facts_html

Severity = Literal["error", "warning", "ignored", "repaired"]
Policy = Literal["strict", "repair", "accept"]
POLICIES = ("strict", "repair", "accept")

TOLD = 20
"""How many findings one message of the log spells out."""

MANY = "many"
"""The rule of the last finding, where there are more than can be listed."""

PACKAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")

LISTED = 20_000
"""How many findings of one severity are kept; the others are counted."""


@dataclass(frozen=True)
class Finding:
    """One thing that a reader noticed.

    ``element``: where it is in the file, ``robot/link[finger]/inertial/mass``; ``owner``: whom it concerns, ``link
    'finger'``; ``rule``: short stable name. ``fatal``: an error that cannot be accepted: there is nothing to compute.
    ``left_out``: an error that is accepted by leaving this part out of the model; others leave the numbers as they are.
    """

    severity: Severity
    file: str
    line: int
    element: str
    owner: str
    rule: str
    what: str
    found: str
    fix: str
    fatal: bool = False
    left_out: bool = False

    def __str__(self) -> str:
        parts = [f"{self.owner}: {self.what}"]
        parts += [f"found {self.found}"] if self.found else []
        parts += [f"fix: {self.fix}"] if self.fix else []
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.severity}: {', '.join(parts)}"

    def problem(self) -> Problem:
        """The same as exceptions tell it."""
        message = f"{self.what}, got {self.found}" if self.found else self.what
        place = f"{self.file}:{self.line}" if self.line else self.file
        return Problem(self.owner, self.rule, message, self.fix or "see gs.audit(path)", self.found, place)


@dataclass(frozen=True)
class Audit:
    """All findings about a file, in order of lines. ``print(audit)`` shows one line for each.

    ``version``: that of gyrostat's text form, as a YAML file says it; None for other files.
    """

    file: str
    findings: tuple[Finding, ...]
    version: int | None = None

    @property
    def errors(self) -> tuple[Finding, ...]:
        """What makes dynamics meaningless; ``gs.load`` warns of it, or refuses it if told to or if it must."""
        return self._of("error")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """What is odd."""
        return self._of("warning")

    @property
    def ignored(self) -> tuple[Finding, ...]:
        """What is not in the model."""
        return self._of("ignored")

    @property
    def repaired(self) -> tuple[Finding, ...]:
        """What the policy ``repair`` changed."""
        return self._of("repaired")

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return not self.errors

    def _of(self, severity: str) -> tuple[Finding, ...]:
        return tuple(f for f in self.findings if f.severity == severity)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def summary(self) -> str:
        """How many of each."""
        n = Counter(f.severity for f in self.findings)
        counted = [_plural(n["error"], "error"), _plural(n["warning"], "warning")]
        of = "" if self.version is None else f" (version {clipped(self.version)})"
        return f"{self.file}{of}: {', '.join(counted)}, {n['ignored']} ignored, {n['repaired']} repaired"

    def __str__(self) -> str:
        return "\n".join([*map(str, self.findings), self.summary()])

    def _repr_html_(self) -> str:
        rows = [(f.line or "", f.severity, f.owner, f.what, f.fix or "") for f in self.findings]
        return facts_html(self.summary(), rows, ("line", "severity", "element", "finding", "remedy"))

    def to_json(self) -> str:
        """The findings as JSON text, for other programs."""
        return json.dumps(self.data(), indent=2, ensure_ascii=False)

    def data(self) -> dict[str, object]:
        """The findings as plain data."""
        findings = [asdict(finding) for finding in self.findings]
        return {"file": self.file, "version": self.version, "ok": self.ok, "findings": findings}


def _plural(n: int, word: str) -> str:
    return f"{n} {word}" if n == 1 else f"{n} {word}s"


@dataclass
class Notes:
    """Findings while a file is read, under one policy."""

    file: str
    policy: str = "strict"
    findings: list[Finding] = field(default_factory=list)
    counted: Counter[str] = field(default_factory=Counter)
    fatal: bool = False  # whether no model can come out of this file

    def add(self, finding: Finding) -> None:
        """Keep a finding; of very many, count it."""
        self.counted[finding.severity] += 1
        self.fatal |= finding.fatal
        if self.counted[finding.severity] <= LISTED:
            self.findings.append(finding)

    @property
    def refused(self) -> bool:
        """Whether the policy refuses the file."""
        return self.fatal if self.policy == "accept" else self.counted["error"] > 0

    def audit(self) -> Audit:
        """Everything so far, in order of lines."""
        kept = sorted(self.findings, key=lambda f: f.line)
        for severity, n in self.counted.items():
            if n > LISTED:
                what = f"{n - LISTED} more findings of this kind are not listed"
                kept.append(_of_file(severity, self.file, MANY, what, "mend these first"))
        return Audit(self.file, tuple(kept))


def tell(audit: Audit, policy: str, lister: str = "gs.audit(path)") -> None:
    """Nothing is swallowed: accepted errors are one :class:`ModelWarning` at the caller's line; repairs are spelt out
    in the log ``gyrostat``, and warnings counted there. ``lister``: the call that lists everything."""
    if policy == "accept" and audit.errors:
        _warn(audit, lister)
        return
    told = audit.repaired
    more = [f"... and {len(told) - TOLD} more"] if len(told) > TOLD else []
    if told or audit.warnings:
        lines = [*map(str, told[:TOLD]), *more, f"{audit.summary()}; {lister} lists everything"]
        logging.getLogger("gyrostat").warning("%s", "\n".join(lines))


def _warn(audit: Audit, lister: str) -> None:
    rules = {so: Counter(f.rule for f in audit.errors if f.left_out is so and f.rule != MANY) for so in (False, True)}
    done = [
        f"{what} {', '.join(f'{n} {rule}' for rule, n in rules[so].items())}"
        for so, what in ((False, "taken as it stands:"), (True, "left out of the model:"))
        if rules[so]
    ]
    done += [f.what for f in audit.errors if f.rule == MANY]
    text = (
        f"{audit.file}: {_plural(len(audit.errors), 'error')} accepted; {'; '.join(done)} (besides: "
        f"{_plural(len(audit.warnings), 'warning')}, {len(audit.ignored)} ignored). Hint: {lister} lists each with its "
        'line and remedy; policy="strict" refuses such a file, policy="repair" mends what can be mended'
    )
    warnings.warn(ModelWarning(text, rules[False] + rules[True]), stacklevel=_depth_of_caller())


def _depth_of_caller() -> int:
    """How many frames above the function that warns the code is that called gyrostat."""
    depth, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        depth, frame = depth + 1, frame.f_back
    return depth


def _of_file(severity: str, file: str, rule: str, what: str, fix: str) -> Finding:
    return Finding(severity, file, 0, "", "file", rule, what, "", fix)  # pyright: ignore[reportArgumentType]


def from_problems(file: str, problems: Iterable[Problem], version: int | None = None) -> Audit:
    """The mistakes of a specification as findings."""
    findings: list[Finding] = []
    for p in problems:
        place, _, line = (p.where or file).rpartition(":")
        name, number = (place, int(line)) if place and line.isdecimal() else (p.where or file, 0)
        findings.append(Finding("error", name, number, "", p.entity, p.rule, p.message, "", p.remedy, fatal=True))
    return Audit(file, tuple(sorted(findings, key=lambda f: f.line)), version)
