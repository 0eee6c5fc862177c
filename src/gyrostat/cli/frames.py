"""``gyrostat frames``: where everything is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from gyrostat.cli.options import Json, ModelName, Quiet, Reading, examples, reads

if TYPE_CHECKING:
    import numpy as np

    from gyrostat.spec.model import Model


def register(app: typer.Typer) -> None:
    app.command(
        epilog=examples(
            "frames lwr",
            "frames lwr --at q2=0.5 --at q4=-1.2",
            "frames lwr --at 0,0.5,0,-1.2,0,0,0 --frame link7.flange --json",
        )
    )(reads(frames))


def frames(
    model: ModelName,
    at: Annotated[
        list[str] | None,
        typer.Option(
            "--at",
            metavar="NAME=VALUE|LIST",
            help="A coordinate by name, or all of q separated by commas; repeatable. Others are at rest. [rad, m]",
        ),
    ] = None,
    frame: Annotated[
        list[str] | None, typer.Option("--frame", metavar="NAME", help="Only this port or entity; repeatable.")
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
    *,
    reading: Reading,
) -> None:
    """Placements of all ports in the world.

    Positions in m, and unit quaternions x y z w; --json adds the rotation matrix.
    """
    import gyrostat as gs
    from gyrostat.cli.output import show_json, show_table
    from gyrostat.geometry.rotation import quaternion_of

    loaded = reading.load(model, quiet)
    q = configuration(loaded, at or [])
    motions = gs.ForwardKinematics(loaded, frames=frame or None, mode="interpret")(q)  # one state: not worth compiling
    placed = {name: (f.p, f.R, quaternion_of(f.R)) for name, f in motions.items()}
    if json:
        q_by_name = dict(zip(loaded.coordinates, map(float, q), strict=True))
        show_json({"q": q_by_name, "frames": {name: _plain(*where) for name, where in placed.items()}})
        return
    rows = [(name, *(f"{x + 0.0:.6f}" for x in (*p, *turn))) for name, (p, _, turn) in placed.items()]
    show_table("", ("frame", "x [m]", "y [m]", "z [m]", "qx", "qy", "qz", "qw"), rows, right=range(1, 8))


def _plain(p: np.ndarray, R: np.ndarray, turn: np.ndarray) -> dict[str, Any]:
    return {"position": p.tolist(), "quaternion": turn.tolist(), "rotation": R.tolist()}


def configuration(model: Model, words: list[str]) -> np.ndarray:
    """q (nq,) from ``elbow=0.5`` and ``0,0.5,1`` on the command line; at rest where nothing is said."""
    import gyrostat as gs
    from gyrostat.cli.output import MisuseError
    from gyrostat.errors import clipped, nearest

    q = gs.neutral(model)
    for word in words:
        name, sign, value = word.partition("=")
        if sign:
            if name not in model.coordinates:
                hint = nearest(name, model.coordinates)
                raise MisuseError(f"--at: '{model.name}' has no coordinate {clipped(name)}. Hint: {hint}")
            q[model.coordinates.index(name)] = _number(value, word)
            continue
        values = word.split(",")
        if len(values) != model.nq:
            raise MisuseError(f"--at: got {len(values)} numbers, expected {model.nq}: {', '.join(model.coordinates)}")
        q[:] = [_number(x, word) for x in values]
    return q


def _number(text: str, word: str) -> float:
    import math

    from gyrostat.cli.output import MisuseError
    from gyrostat.errors import clipped

    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise MisuseError(
            f"--at {clipped(word)}: {clipped(text)} is not a finite number. Hint: --at elbow=0.5, in rad or m"
        )
    return value
