"""What one pass over a text has gathered: mistakes of form, lines of everything, guesses."""

from __future__ import annotations

from dataclasses import dataclass, field

from gyrostat.errors import Problem, SpecError
from gyrostat.io.yaml.parse import Node
from gyrostat.spec.check import Doubts

ENOUGH = 1000
"""After so many mistakes, the rest of the text is not read."""


@dataclass
class Reading:
    """``problems``: mistakes of form; ``sources``: path -> file:line; ``doubts``: what had to be guessed, for
    ``check``; ``version``: that of the text form that the file says."""

    file: str
    version: int = 1
    problems: list[Problem] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)
    doubts: Doubts = field(default_factory=Doubts)

    def add(self, entity: str, rule: str, message: str, remedy: str, value: object, where: int | str | None) -> None:
        """Keep a mistake; ``where``: its line, or file:line."""
        place = f"{self.file}:{where}" if isinstance(where, int) else where
        self.problems.append(Problem(entity, rule, message, remedy, value, place))
        if len(self.problems) >= ENOUGH:
            message = f"has {ENOUGH} mistakes or more, and was not read any further"
            raise SpecError([*self.problems, Problem("model", "too-many", message, "mend these first", None, place)])

    def note(self, path: str, line: int) -> None:
        """Remember where something stands."""
        self.sources[path] = f"{self.file}:{line}"

    def note_all(self, path: str, node: Node) -> None:
        """The same for a value and everything in it."""
        self.note(path, node.line)
        for key, inner in node.value.items() if isinstance(node.value, dict) else ():
            self.note_all(f"{path}.{key}", inner)

    def doubt_scope(self, prefix: str) -> None:
        """Something may be missing among the entities here."""
        self.doubts.names.add(f"{prefix}*")
        self.doubts.root = True
