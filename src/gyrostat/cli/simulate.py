"""``gyrostat simulate``: the motion of a robot in time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gyrostat.cli.options import Force, Json, ModelName, Out, Quiet, Reading, examples, reads

if TYPE_CHECKING:
    from gyrostat.simulate.results.result import Result

WRITERS = {".mcap": "to_mcap", ".npz": "save", ".csv": "to_csv", ".parquet": "to_parquet"}


def register(app: typer.Typer) -> None:
    app.command(
        epilog=examples(
            "simulate pendulum --at hinge=0.5 --time 2",
            "simulate robot.urdf --torque pd.yaml -o run.mcap",
            "simulate panda --torque pd.yaml --time 5 --rows 501 -o run.csv",
        )
    )(reads(simulate))


def simulate(
    model: ModelName,
    torque: Annotated[
        Path | None,
        typer.Option("--torque", metavar="FILE.yaml", help="What drives it: see below. Without it, nothing does."),
    ] = None,
    time: Annotated[float, typer.Option("--time", "-t", min=0.0, help="Length of the run [s].")] = 1.0,
    at: Annotated[
        list[str] | None,
        typer.Option("--at", metavar="NAME=VALUE|LIST", help="Where it starts, at rest; as of 'frames'. Repeatable."),
    ] = None,
    method: Annotated[str, typer.Option("--method", help="Method of integration; see gs.simulate.")] = "dopri5",
    dt: Annotated[float | None, typer.Option("--dt", help="Step [s], for methods that have one.")] = None,
    rows: Annotated[int, typer.Option("--rows", min=2, max=1_000_000, help="Samples that are kept.")] = 1001,
    out: Out = None,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
    *,
    reading: Reading,
) -> None:
    """Simulate a robot, and write the run to a file.

    Files: .mcap, .npz, .csv or .parquet.

    The torque file says one of: 'pd: {kp: 100, kd: 20}', 'pid: {kp: 100, ki: 10, kd: 20}', 'torque: {elbow: 1.5}'.
    Gains and 'limit' are one number, a list, or numbers by joint; 'reference' (a list, or coordinates by name) is where
    a controller holds the robot, the start without it; 'gravity: true' adds what carries the weight.
    """
    import numpy as np

    import gyrostat as gs
    from gyrostat.cli.files import may_write
    from gyrostat.cli.frames import configuration
    from gyrostat.cli.output import MisuseError, note, say, show_json
    from gyrostat.cli.torque_file import controller
    from gyrostat.errors import nearest

    if out is not None:
        if out.suffix.lower() not in WRITERS:
            raise MisuseError(f"'{out}' has no ending of {', '.join(WRITERS)}. Hint: {nearest(out.suffix, WRITERS)}")
        may_write(out, force)
    loaded = reading.load(model, quiet)
    q0 = configuration(loaded, at or [])
    law = None if torque is None else controller(torque, loaded, q0)
    run = gs.simulate(loaded, law, q0, t_end=time, method=method, dt=dt, t_eval=np.linspace(0.0, time, rows))
    if out is not None:
        getattr(run, WRITERS[out.suffix.lower()])(out)
        note(f"written: {out}", quiet)
    told = summary(run)
    if json:
        show_json(told)
        return
    say(f"{loaded.name}: {told['t_end']:g} s by {method}, {told['rows']} rows, {told['status']}")
    for name, value in told["q"].items():
        say(f"  {name} = {value:.6g}")


def summary(run: Result) -> dict[str, Any]:
    """Where a run ended, as plain data."""
    names = run.model.coordinates
    return {
        "t_end": float(run.t[-1]),
        "rows": len(run.t),
        "status": str(run.status),
        "q": dict(zip(names, map(float, run.q[-1]), strict=True)),
        "v": dict(zip(run.model.dofs, map(float, run.v[-1]), strict=True)),
    }
