"""What the drives must give to hold the robot against its weight, as a table for the page."""

from __future__ import annotations

import html as html_text

import numpy as np

from gyrostat.errors import GyrostatError
from gyrostat.solvers.functions import rnea
from gyrostat.spec.model import Model
from gyrostat.view.channels import channels

Array = np.ndarray


def efforts(model: Model, q: Array) -> str:
    """The generalised forces at rest as a table in HTML, red beyond a joint's limit; or why there are none."""
    try:
        zero = np.zeros(model.nv)
        tau = rnea(model, q, zero, zero, t=None if isinstance(model.context.base, str) else 0.0)
    except GyrostatError as error:
        return f'<div style="font-size:12px;margin:4px 12px">{html_text.escape(str(error))}</div>'
    rows = []
    for channel in channels(model):
        bound = channel.limits.get("tau", (None, None))[1]
        for name, at in zip(channel.names("tau"), channel.v_at, strict=True):
            label = channel.name if len(channel.v_at) == 1 else f"{channel.name} {name}"
            color = ";color:#c0392b;font-weight:bold" if bound is not None and abs(tau[at]) > bound else ""
            value = f"{round(float(tau[at]), 3) + 0.0:.3f}"
            rows.append(
                f"<tr><td>{html_text.escape(label)}</td>"
                f'<td style="text-align:right;font-variant-numeric:tabular-nums{color}">{value}</td>'
                f'<td style="padding-left:6px">{channel.unit("tau")}</td></tr>'
            )
    return f'<table style="font-size:12px;margin:4px 12px;width:calc(100% - 24px)">{"".join(rows)}</table>'
