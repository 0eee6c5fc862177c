"""python -m benchmarks [subject ...] [--operations] [--quick] [--out FILE]"""

import argparse
import importlib
import pkgutil
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

import benchmarks
from benchmarks import operations
from benchmarks.harness import FULL, QUICK, REPOSITORY, Row, print_tables, surroundings, write_json

PREFIX = "bench_"


def subjects() -> list[str]:
    names = (module.name for module in pkgutil.iter_modules(benchmarks.__path__))
    return sorted(name.removeprefix(PREFIX) for name in names if name.startswith(PREFIX))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Speed of gyrostat next to its peers.")
    parser.add_argument("subject", nargs="*", help=f"what to measure: {', '.join(subjects())} (default: all)")
    parser.add_argument("--operations", action="store_true", help="count operations instead of measuring time")
    parser.add_argument("--quick", action="store_true", help="one call each: shows that everything runs, no more")
    parser.add_argument(
        "--out", type=Path, help="the JSON record (default: out/bench.json or operations.json in the checkout)"
    )
    options = parser.parse_args(arguments)
    unknown = [name for name in options.subject if name not in subjects()]
    if unknown:
        parser.error(f"no subject {', '.join(map(repr, unknown))}, expected one of: {', '.join(subjects())}.")

    if options.operations and options.subject:
        parser.error("--operations counts for all algorithms, leave out the subjects.")

    console = Console(width=None if sys.stdout.isatty() else 120, soft_wrap=True, markup=False, highlight=False)
    path = options.out or REPOSITORY / "out" / ("operations.json" if options.operations else "bench.json")
    if options.operations:
        counts = operations.measure(options.quick)
        operations.print_tables(counts, console)
        operations.write_json(path, counts)
    else:
        measure_time(options.subject or subjects(), options.quick, path, console)
    shown = path.relative_to(REPOSITORY) if path.is_relative_to(REPOSITORY) else path
    console.print(f"written: {shown}")


def measure_time(names: Sequence[str], quick: bool, path: Path, console: Console) -> None:
    """Measure subjects, print their tables and write the record."""
    facts = surroundings()
    console.print(f"commit {facts['commit'] or 'unknown'}, {facts['cpu']}, Python {facts['python']}")
    results: dict[str, Sequence[Row]] = {}
    for name in names:
        bench = importlib.import_module(f"benchmarks.{PREFIX}{name}")
        results[name] = bench.measure(QUICK if quick else FULL)
        print_tables(name.replace("_", " "), results[name], bench.NOTES, console)
    write_json(path, results)


if __name__ == "__main__":
    main()
