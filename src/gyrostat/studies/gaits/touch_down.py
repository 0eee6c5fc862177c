"""Touch-down with an impact: what joins the end of one phase to the start of the next [H04 3.2.4, 5.4.2].

The feet of the next phase come to rest at once, positions stay. With v- before, v+ = N v_I after, J N = 0 of these,

    N^T M (v+ - v-) = 0,        J_D^T P = (M (v+ - v-))_D                                                  (1)

as many equations as independent rates, and the impulses P, which must push, inside the friction cone and, of flat feet,
inside the sole. Feet that land come down, feet that leave at that instant do not go down after it. Landing at rest
is the special case P = 0."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.algorithms.recursions.crba import composite_mass_matrix
from gyrostat.studies.gaits.collocation import Passage
from gyrostat.studies.gaits.conditions import force_rows
from gyrostat.studies.gaits.directional_function import DirectionalFunction
from gyrostat.studies.gaits.gait import Gait
from gyrostat.studies.gaits.legged_robot import Mirror
from gyrostat.studies.gaits.stance_functions import Moment, StanceFunctions

Array = np.ndarray


class TouchDown:
    """From ``before`` to ``after``, stance functions of two phases; ``image``: the mirror between them, or None."""

    def __init__(self, gait: Gait, before: StanceFunctions, after: StanceFunctions, image: Mirror | None):
        self.gait, self.before, self.after, self.image = gait, before, after, image
        swap = (lambda foot: foot) if image is None else image.feet.__getitem__
        stood = {swap(foot) for foot in _feet(gait, before)}
        self.feet = _feet(gait, after)
        self.landing = [foot for foot in self.feet if foot not in stood]
        self.leaving = [foot for foot in stood if foot not in self.feet]

    def jump(self, end: Any, start: Any) -> tuple[Moment, Moment, Any]:
        """Moments just before and after, seen as in the next phase, forces being impulses [N m s, N s]; and
        N^T M (v+ - v-)."""
        v = self.before.state(end)[1]
        if self.image is not None:
            v = v[list(self.image.partner)] * np.array(self.image.sign)
        q, new, dependence = self.after.state(start)
        solver = self.after.reduced.solver
        net, on = solver.network, solver.setting(0.0)
        momentum = composite_mass_matrix(net, on, q) @ (new - v)
        parts = self.after.reduced.parts
        P = dependence.solve_transposed(momentum[list(parts.dependent)][:, None])[:, 0]
        wrenches = solver.wrenches(net, P)
        by_frame = {c.frame: w for c, w in zip(self.after.reduced.contacts, wrenches, strict=True)}
        impulses = {name: by_frame[self.gait.robot.foot(name).frame] for name in self.feet}
        still = np.zeros(self.gait.model.nv)
        two = [Moment(net, on, q, rates, still, still[6:], impulses, 0.0) for rates in (v, new)]
        return two[0], two[1], dependence.project(momentum[:, None])[:, 0]

    def parts(self, end: Any, start: Any) -> list[tuple[Any, float, float]]:
        """Values and bounds, scaled by the mass."""
        mass = sum(float(getattr(e, "mass", 0.0)) for e in self.gait.model.wiring.entities.values())
        old, new, lost = self.jump(end, start)
        found: list[tuple[Any, float, float]] = [(lost * (1.0 / mass), 0.0, 0.0)]
        for name in self.feet:
            found += [(row.value(new), 0.0, np.inf) for row in force_rows(self.gait, self.gait.robot.foot(name), mass)]
        for names, moment, low, high in ((self.landing, old, -np.inf, 0.0), (self.leaving, new, 0.0, np.inf)):
            for name in names:
                foot = self.gait.robot.foot(name)
                found += [(moment.R(f)[2] @ moment.V(f)[3:], low, high) for f in foot.corners or (foot.frame,)]
        return [(np.atleast_1d(np.asarray(value, dtype=object)), low, high) for value, low, high in found]

    def passage(self, a: int, b: int) -> Passage:
        """For the programme."""
        ny, bounds = self.before.ny, []

        def rows(z: Any) -> Any:
            parts = self.parts(z[:ny], z[ny:])
            bounds[:] = [np.concatenate([np.full(len(p[0]), p[k]) for p in parts]) for k in (1, 2)]
            return np.concatenate([p[0] for p in parts])

        function = DirectionalFunction(rows, ny + self.after.ny, {}, f"{self.gait.model.name}_touch_down_{b}")
        return Passage(a, b, function, *bounds)

    def impulses(self, end: Array, start: Array) -> dict[str, Array]:
        """P (3,) [N s] on each foot that stands afterwards, in the world."""
        _, new, _ = self.jump(end, start)
        found = {}
        for name, P in new.forces.items():
            R = new.R(self.gait.robot.foot(name).frame)
            found[name] = np.asarray(R @ P[3:], dtype=float)
        return found


def _feet(gait: Gait, made: StanceFunctions) -> list[str]:
    stand = {c.frame for c in made.reduced.contacts}
    return [foot.name for foot in gait.robot.feet if foot.frame in stand]
