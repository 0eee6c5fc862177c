"""Which method serves a plant whose loops are constraints, and which does not."""

from __future__ import annotations

import numpy as np

from gyrostat.errors import GyrostatError
from gyrostat.simulate.methods.loop_multipliers import LoopDina, LoopGeneralisedAlpha, LoopNewmark, LoopTrapezoid
from gyrostat.simulate.methods.method import Method
from gyrostat.simulate.plant.plant import Plant

WHO = "simulate"
WITH_MULTIPLIERS: dict[str, type[Method]] = {
    "newmark": LoopNewmark, "trapezoid": LoopTrapezoid, "generalised-alpha": LoopGeneralisedAlpha, "dina": LoopDina,
}  # fmt: skip
"""Methods whose steps solve for the forces of loops."""
UNFIT = {
    "variational": "its discrete momenta know no forces of loops. Hint: method='trapezoid' loses little energy; or "
    "loops='minimal', where variational serves",
}
"""Methods that cannot treat loops as constraints, and why."""


def for_loops(method: type[Method], plant: Plant) -> type[Method]:
    """The method as it treats the loops of a plant; refused by name if it cannot."""
    loops = plant.loops
    if loops is None:
        return method
    name, settings = method.name, loops.settings
    if name in UNFIT:
        raise GyrostatError(
            f"{WHO}: method '{name}' does not serve '{plant.model.name}', whose loops are constraints: {UNFIT[name]}"
        )
    if settings.index is not None and name not in WITH_MULTIPLIERS and (name, settings.index) != ("ida", 2):
        known = ", ".join(WITH_MULTIPLIERS)
        raise GyrostatError(
            f"{WHO}: index={settings.index} is the form of the equations of {known}; '{name}' "
            + ("solves those of index 2" if name == "ida" else "projects what it integrates")
            + ". Hint: leave it out"
        )
    if settings.index == 3 and not loops.holonomic.all():
        wheel = loops.loops[int(np.argmin(loops.holonomic))].name
        raise GyrostatError(
            f"{WHO}: index=3 asks that positions satisfy all equations, and '{wheel}' of '{plant.model.name}' rolls: "
            "its slip is an equation of velocities alone. Hint: index=2, or leave it out"
        )
    if name == "ida" and not settings.projects:
        raise GyrostatError(
            f"{WHO}: method 'ida' solves the equations of index 2, which hold loops closed by themselves. "
            "Hint: leave stabilisation out, or method='cvode'"
        )
    return WITH_MULTIPLIERS.get(name, method)
