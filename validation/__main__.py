"""python -m validation [--only TEXT ...] [--mode compile] [--out FILE]: compare, write the page, fail if off."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from validation import references, robots
from validation.page import Results, page

REPOSITORY = Path(__file__).parents[1]
PAGE = REPOSITORY / "docs" / "correctness.md"
MODULES = {"Pinocchio": "pinocchio", "MuJoCo": "mujoco"}


def main(arguments: Sequence[str] | None = None) -> int:
    """0 if everything is within its tolerance, 1 otherwise."""
    parser = argparse.ArgumentParser(prog="python -m validation", description="Agreement with independent programs.")
    parser.add_argument("--only", nargs="+", default=[], metavar="TEXT", help="robots whose file name contains a TEXT")
    parser.add_argument("--mode", choices=("interpret", "compile"), default="interpret", help="what is compared")
    parser.add_argument("--out", type=Path, default=PAGE, help="the page (default: docs/correctness.md)")
    options = parser.parse_args(arguments)
    paths = robots.files(tuple(options.only))
    if options.only and not paths:
        parser.error(f"no robot's file name contains {' or '.join(map(repr, options.only))}.")
    if options.only and options.out == PAGE:
        parser.error("with --only say where the page goes: --out FILE. docs/correctness.md is about all robots.")

    console = Console(stderr=True)
    with _progress(console) as progress:
        results = validated(paths, options.mode, progress)
    options.out.write_text(page(results), "utf-8")
    print(f"written: {_shown(options.out)}")
    for failure in results.failures:
        print(f"above what is allowed: {failure}", file=sys.stderr)
    return 1 if results.failures else 0


def validated(paths: Sequence[Path], mode: str, progress: Progress) -> Results:
    """Every robot against every peer that is installed, then the published numbers."""
    peers = [peer for peer, module in MODULES.items() if find_spec(module)]
    missing = [peer for peer in MODULES if peer not in peers]
    results = Results({peer: [] for peer in peers}, [], [], missing, references.complete(), mode)
    task = progress.add_task("robots", total=len(paths) + len(references.SOURCES))
    for path in paths if peers else ():
        progress.update(task, description=path.stem)
        for peer, row in robots.compared(path, peers, mode).items():
            results.robots[peer].append(row)
        if "Pinocchio" in peers and (row := robots.as_loaded(path)):
            results.loaded.append(row)
        progress.advance(task)
    for name, source in references.SOURCES.items():
        progress.update(task, description=name)
        results.references += source()
        progress.advance(task)
    return results


def _progress(console: Console) -> Progress:
    columns = TextColumn("{task.description:30}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    return Progress(*columns, console=console)


def _shown(path: Path) -> Path:
    return path.relative_to(REPOSITORY) if path.is_relative_to(REPOSITORY) else path


if __name__ == "__main__":
    sys.exit(main())
