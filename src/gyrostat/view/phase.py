"""Phase planes: rate over coordinate, one panel for each angle or shift."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from gyrostat.errors import ShapeError, StateError
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model
from gyrostat.view.channels import chosen
from gyrostat.view.marks import legend
from gyrostat.view.plots import BLUE, RED, lengthen, pretty, rounding
from gyrostat.view.reference import reference_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHO = "plot_phase"
SIDE, ACROSS = 2.6, 4
"""Size of a panel [inch]; how many are side by side at most."""


def plot_phase(
    model: Model,
    q: Any,
    v: Any,
    joints: Iterable[str] | str | None = None,
    *,
    reference: Any = None,
    title: str | None = None,
    figure: Figure | None = None,
) -> Figure:
    """v over q of every angle and shift; a dot where the motion begins, a square where it ends.

    q (T, nq), v (T, nv); ``reference`` as in :func:`plot_motion`, drawn dashed. Limits of coordinate and rate are
    dashed lines. Rotations in space and places have no phase plane: by default they are left out, by name refused."""
    from gyrostat.view.picture import empty

    expect_model(model, WHO)
    q, v = (np.asarray(x, dtype=float) for x in (q, v))
    samples = len(q) if q.ndim == 2 else 0
    if not samples or q.shape != (samples, model.nq) or v.shape != (samples, model.nv):
        wanted = f"(T, {model.nq}) and (T, {model.nv})"
        raise ShapeError(f"{WHO}: q has shape {q.shape}, v has {v.shape}, expected {wanted}. Hint: run.q, run.v")
    every = chosen(model, joints, WHO)
    flat = [c for c in every if c.sort not in ("turn", "place")]
    if joints is not None and len(flat) < len(every):
        name = next(c.name for c in every if c not in flat)
        raise StateError(f"{WHO}: '{name}' moves in space and has no phase plane. Hint: angles and shifts have one")
    wanted = None if reference is None else reference_of(model, reference, np.arange(samples), WHO)[1]
    across = min(ACROSS, max(len(flat), 1))
    down = -(-max(len(flat), 1) // across)
    size = (SIDE * across + 0.6, SIDE * 0.85 * down + 0.9)
    fig = empty(figure, *size, f"{model.name}: phase plane" if title is None else title, len(flat))
    if not flat:
        fig.text(0.5, 0.5, "no angle and no shift moves", ha="center")
        return fig
    axes = fig.subplots(down, across, squeeze=False)
    for ax in axes.flat[len(flat) :]:
        ax.remove()
    for ax, c in zip(axes.flat, flat, strict=False):
        x, y = q[:, c.q_at[0]], v[:, c.v_at[0]]
        if wanted is not None and "q" in wanted and "v" in wanted:
            dashes = {"color": "#222222", "lw": 1.0, "ls": (0, (4, 2)), "label": "reference"}
            ax.plot(wanted["q"][:, c.q_at[0]], wanted["v"][:, c.v_at[0]], **dashes)
        ax.plot(x, y, color=BLUE, lw=1.2, label="motion")
        ax.plot(x[:1], y[:1], "o", color=BLUE, ms=5, ls="", label="begin")
        ax.plot(x[-1:], y[-1:], "s", color=BLUE, ms=4, mfc="white", ls="", label="end")
        lengthen(ax.get_xlim(), rounding(q), ax.set_xlim)
        lengthen(ax.get_ylim(), rounding(v), ax.set_ylim)
        _limits(ax, c.limits)
        ax.set_title(c.name, fontsize=9, fontweight="bold", loc="left")
        ax.set_xlabel(f"{c.q_names[0]} [{pretty(c.unit('q'))}]" if c.unit("q") else c.q_names[0], fontsize=8)
        ax.set_ylabel(f"{c.v_names[0]} [{pretty(c.unit('v'))}]" if c.unit("v") else c.v_names[0], fontsize=8)
        ax.tick_params(labelsize=7)
        ax.grid(alpha=0.25)
    legend(fig, axes.flat[: len(flat)])
    return fig


def _limits(ax: Any, limits: dict[str, tuple[float | None, float | None]]) -> None:
    """Limits near the curve, which they do not push to the side."""
    for name, line, (low, high) in (("q", ax.axvline, ax.get_xlim()), ("v", ax.axhline, ax.get_ylim())):
        room = 0.5 * (high - low)
        for bound in limits.get(name, ()):
            if bound is not None and low - room <= bound <= high + room:
                line(bound, color=RED, lw=0.8, ls="--", label="limit")
