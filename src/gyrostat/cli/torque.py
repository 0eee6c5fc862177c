"""``gyrostat torque``: inverse dynamics along a trajectory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from gyrostat.cli.options import Force, Json, ModelName, Out, Quiet, Reading, examples, reads

if TYPE_CHECKING:
    import numpy as np

    from gyrostat.cli.trajectory import Columns
    from gyrostat.spec.model import Model


def register(app: typer.Typer) -> None:
    app.command(
        epilog=examples(
            "torque robot.urdf motion.csv -o torques.csv",
            "torque lwr motion.csv --differentiate > torques.csv",
            "torque lwr - < motion.csv",
        )
    )(reads(torque))


def torque(
    model: ModelName,
    trajectory: Annotated[str, typer.Argument(metavar="TRAJECTORY.csv", help="The motion; - for stdin.")],
    out: Out = None,
    differentiate: Annotated[
        bool,
        typer.Option(
            "--differentiate", "-d", help="Take v and a that the file lacks from differences (needs t, three rows)."
        ),
    ] = False,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
    *,
    reading: Reading,
) -> None:
    """Joint torques along a motion, as CSV.

    The first line of the trajectory names its columns, in any order: t, q.NAME, v.NAME, a.NAME, by the names that
    'gyrostat info MODEL' prints (coordinates for q, dofs for v and a), in SI units. Out come t, if it is there, and
    tau.NAME [N m, N]. The file may be of any length.
    """
    from gyrostat.cli.files import writing
    from gyrostat.cli.output import note, show_json
    from gyrostat.cli.trajectory import opened, read_header, size_of

    loaded = reading.load(model, quiet)
    with opened(trajectory) as file:
        columns = read_header(file, trajectory, loaded)
        _expect_motion(columns, loaded, trajectory, differentiate)
        if columns.ignored:
            note(f"{trajectory}: columns that are not used: {', '.join(columns.ignored[:20])}", quiet or json)
        as_json = json and out is None
        with writing(out, force) as sink, _progress(size_of(file), quiet or json) as advance:
            blocks = states(file, trajectory, columns, loaded, advance)
            count, largest = _write(sink, loaded, columns.t is not None, solved(loaded, trajectory, blocks), as_json)
    if json and out is not None:
        show_json({"file": str(out), "rows": count, "largest": dict(zip(loaded.dofs, largest, strict=True))})
    elif out is not None:
        note(f"{out}: {count} rows", quiet)


def _expect_motion(columns: Columns, model: Model, file: str, differentiate: bool) -> None:
    """All that inverse dynamics needs must be there, or be derivable."""
    from gyrostat.cli.trajectory import refuse

    missing = [letter for letter, part in (("v", columns.v), ("a", columns.a)) if part is None]
    if missing and model.nv:
        what = f"there are no columns for {' and '.join(missing)}"
        if not differentiate:
            raise refuse(file, 1, "columns", what, "add them, or take them from differences with --differentiate")
        if columns.t is None:
            raise refuse(file, 1, "columns", f"{what}, and no column t", "differences need the times: add a column t")
    if not isinstance(model.context.base, str) and columns.t is None:
        raise refuse(file, 1, "columns", "the base moves with time, and there is no column t", "add a column t [s]")


State = tuple[Any, Any, Any, Any, list[int]]
"""t (n,) or None, q (n, nq), v, a (n, nv), and the line of each in the file."""


def states(file: TextIO, name: str, columns: Columns, model: Model, advance: Callable[[int], None]) -> Iterator[State]:
    """The motion in blocks. Differences look one row ahead, so each block but the last keeps its last row back."""
    import numpy as np

    from gyrostat.cli.trajectory import read_blocks, refuse

    derived = (columns.v is None or columns.a is None) and model.nv > 0
    values = kept = np.zeros((0, len(columns.names)))
    lines, fresh = list[int](), 0  # rows before `fresh` went out already
    for block in read_blocks(file, name, columns):
        values, lines = np.concatenate([kept, block.values]), lines + block.lines
        _expect_order(values, lines, columns, name, derived)
        if not derived:
            yield (*split(values, columns, model), lines)
            lines = []
        elif len(values) >= 3:
            parts = split(values, columns, model)
            yield (*(None if x is None else x[fresh:-1] for x in parts), lines[fresh:-1])  # type: ignore[misc]
            kept, lines, fresh = values[-2:], lines[-2:], 1
        else:
            kept = values
        advance(block.size)
    if not len(values):
        raise refuse(name, 0, "rows", "there are no rows below the header", "write one row for each state")
    if derived and len(values) < 3:
        raise refuse(name, 0, "rows", f"there are only {len(values)}", "differences need three rows at least")
    if derived:
        parts = split(values, columns, model)
        yield (*(None if x is None else x[-1:] for x in parts), lines[-1:])  # type: ignore[misc]


def split(values: np.ndarray, columns: Columns, model: Model) -> tuple[Any, Any, Any, Any]:
    """t, q, v, a of rows; what is missing by differences."""
    import numpy as np

    from gyrostat.cli.differences import motion_of, rates_of

    t = None if columns.t is None else np.ascontiguousarray(values[:, columns.t])
    q, v, a = (None if part is None else values[:, part] for part in (columns.q, columns.v, columns.a))
    if model.nv == 0:
        v = a = np.zeros((len(values), 0))
    elif v is None or a is None:
        rates, accelerations = motion_of(model, t, q) if v is None else (v, rates_of(t, v))  # type: ignore[arg-type]
        v, a = rates, accelerations if a is None else a
    return t, q, v, a


def _expect_order(values: np.ndarray, lines: list[int], columns: Columns, file: str, derived: bool) -> None:
    """For differences, time must go on."""
    import numpy as np

    from gyrostat.cli.trajectory import refuse

    if not derived or columns.t is None:
        return
    back = np.flatnonzero(np.diff(values[:, columns.t]) <= 0.0)
    if len(back):
        k = int(back[0])
        one, two = values[k, columns.t], values[k + 1, columns.t]
        raise refuse(file, lines[k + 1], "time", f"t goes from {one:g} to {two:g}", "differences need growing times")


def solved(model: Model, file: str, blocks: Iterator[State]) -> Iterator[tuple[Any, Any]]:
    """(t, tau) block by block; a state that is refused is told with its line."""
    import gyrostat as gs
    from gyrostat.cli.trajectory import refuse

    solver = gs.InverseDynamics(model)
    moving = not isinstance(model.context.base, str)
    for t, q, v, a, lines in blocks:
        try:
            yield t, solver(q, v, a, t=t) if moving else solver(q, v, a)
        except gs.GyrostatError:
            for k, line in enumerate(lines):
                try:
                    solver(q[k], v[k], a[k], t=t[k] if moving else None)
                except gs.GyrostatError as error:
                    told, _, hint = str(error).partition(" Hint: ")
                    raise refuse(file, line, "state", told, hint or "mend the file, or the model") from None
            raise


def _write(sink: TextIO, model: Model, timed: bool, torques: Iterator[tuple[Any, Any]], json: bool) -> tuple[int, Any]:
    """Rows of CSV, or one JSON object with the columns and the rows; returns how many, and the largest |tau|."""
    import json as json_text

    import numpy as np

    names = [*(["t"] if timed else []), *(f"tau.{dof}" for dof in model.dofs)]
    count, largest, between = 0, np.zeros(model.nv), ""
    sink.write(f'{{"columns": {json_text.dumps(names)}, "rows": [' if json else _csv(names))
    for t, tau in torques:
        rows = np.column_stack([t, tau]).tolist() if timed else tau.tolist()
        if json:
            sink.write(between + ",\n".join(map(json_text.dumps, rows)))
            between = ",\n"
        else:
            sink.write("".join(",".join(map(repr, row)) + "\n" for row in rows))
        count += len(rows)
        largest = np.maximum(largest, np.abs(tau).max(axis=0, initial=0.0))
    if json:
        sink.write("]}\n")
    return count, largest.tolist()


def _csv(names: list[str]) -> str:
    import csv
    import io

    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(names)
    return line.getvalue()


@contextmanager
def _progress(total: int | None, quiet: bool) -> Iterator[Callable[[int], None]]:
    """A bar on stderr, if somebody looks at it."""
    import sys

    if quiet or not sys.stderr.isatty():
        yield lambda size: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("torques", total=total)
        yield lambda size: bar.advance(task, size)
