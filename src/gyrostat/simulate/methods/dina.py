"""The implicit method of AS 2.1: Newmark (5) and Newton's method (6) on one Newton-Euler pass, with a matrix S that is
kept until convergence slows.

    S = (0.87 dH/da + h/2 dH/dv + h^2/4 dH/dq)^-1 at the middle of the way that it serves               (7)

A step is accepted by its residual, most after one Newton step; otherwise Newton goes on with S, without the 0.87;
otherwise S is computed anew; otherwise the step is done by Newton's method to its end, and halved if there is none. S
is computed anew as well when Newton's method slows down, and when the mass matrix has changed too much in any direction
(:mod:`~gyrostat.simulate.methods.drivers.kept_matrix`).

Two numbers differ from AS. The factor of dH/dv is h/2, as it follows from (5); AS prints h. And a part of the mass
matrix is left out. What AS prints is in :mod:`~gyrostat.simulate.methods.drivers.printed_steps`."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from gyrostat.errors import GyrostatError, clipped, nearest
from gyrostat.simulate.kernels import environment as env
from gyrostat.simulate.methods.drivers import fixed_clock as clock
from gyrostat.simulate.methods.drivers import implicit_memory as at
from gyrostat.simulate.methods.drivers.kept_matrix import DIAGONAL, EXACT, LEAST_PATIENCE, SPRINGS
from gyrostat.simulate.methods.drivers.printed_steps import KEPT_STEPS, PREDICTED_STEPS, PRINTED_STEPS, SIMPSON_STEPS
from gyrostat.simulate.methods.generalised_alpha import formulas
from gyrostat.simulate.methods.implicit import ImplicitMethod
from gyrostat.simulate.plant.harvest import Harvest
from gyrostat.simulate.plant.machine import Machine
from gyrostat.simulate.plant.plant import Plant

Array = np.ndarray
OFTEN = 10
"""Steps after which a state is kept."""
MATRICES = {"exact": EXACT, "springs": SPRINGS, "diagonal": DIAGONAL}
SCHEMES = {"checked": KEPT_STEPS, "predicted": PREDICTED_STEPS, "printed": PRINTED_STEPS, "simpson": SIMPSON_STEPS}


class Dina(ImplicitMethod):
    """``"dina"``: fixed steps ``dt``; without ``t_eval`` the state is kept after ``every`` of them, 10 by default.
    ``matrix``: ``"exact"`` (7); ``"springs"`` (8), (9): of dH/dq and dH/dv only what a robot at rest has, stiffness,
    damping and weight; ``"diagonal"``: the diagonal of that, for weakly coupled coordinates. ``iterations`` of Newton
    in each step, at least: 1 (default), 3 or 5. ``rtol``: residual of a step, relative to its forces, that is accepted.
    ``rho_inf`` below 1 damps fast vibrations, by the formulas of generalised-alpha in the place of (5). ``scheme``:
    ``"checked"`` (default); ``"simpson"``: Simpson's rule in the place of (5), of order 4, for robots whose coordinates
    are numbers (:mod:`~gyrostat.simulate.methods.drivers.simpson_steps`); or AS (6) without any check: ``"predicted"``,
    ``"printed"``; ``largest_residual`` of their statistics, relative to the forces in the step, tells what that leaves.

    ``statistics``: ``steps`` of dt, ``factorisations``, ``steps_per_factorisation`` on average, ``longest_service`` of
    one; steps ``repeated`` with a new S; ``newton_fallbacks``: steps that needed Newton's method to its end; steps that
    were ``halved``."""

    name = "dina"
    options = ("dt", "matrix", "iterations", "rho_inf", "every", "scheme")
    kernels = (*ImplicitMethod.kernels, env.MASS)
    counts: ClassVar[dict[str, int]] = {
        **ImplicitMethod.counts, "steps": clock.ACCEPTED, "longest_service": at.LONGEST_SERVICE,
        "repeated": at.REPEATED, "newton_fallbacks": at.FALLBACKS,
    }  # fmt: skip

    def __init__(self, plant: Plant, rtol: float = 1e-6, atol: float = 1e-9, max_step: float = np.inf, **options: Any):
        super().__init__(plant, rtol, atol, max_step, **options)
        rho, kind, iterations = (
            options.get("rho_inf", 1.0),
            options.get("matrix", "exact"),
            options.get("iterations", 1),
        )
        every, scheme = options.get("every"), options.get("scheme", "checked")
        self.use(formulas(rho, self.name))
        _expect(kind, iterations, every)
        _expect_scheme(scheme, iterations, rho, kind)
        if scheme == "simpson":
            if not plant.plain:
                raise GyrostatError(
                    f"simulate: dina: scheme 'simpson' takes coordinates that are numbers, '{plant.model.name}' has "
                    "quaternions, on which it would be of order 2. Hint: scheme='checked', or method='radau'"
                )
            self._allot(plant.nq, plant.nv, plant.np, pairs=True)
        self.words[at.KIND], self.words[at.MATRIX] = SCHEMES[scheme], MATRICES[kind]
        self.words[at.ITERATIONS], self.words[at.EVERY] = iterations, every or OFTEN
        self.words[at.PATIENCE] = LEAST_PATIENCE
        self.statistics["steps_per_factorisation"] = 0.0

    def begin(self, t: float, q: Array, v: Array, p: Array) -> None:
        super().begin(t, q, v, p)
        if self.words[at.KIND] != KEPT_STEPS:
            self.words[at.KEPT] = 0

    def run(self, machine: Machine, harvest: Harvest, budget: int) -> int:
        status = super().run(machine, harvest, budget)
        told = self.statistics
        told["steps_per_factorisation"] = told["steps"] / max(1, told["factorisations"])
        if self.words[at.KIND] in (PREDICTED_STEPS, PRINTED_STEPS):
            told["largest_residual"] = float(self.ctl[at.LARGEST])
        return status


def _expect(kind: Any, iterations: Any, every: Any) -> None:
    """Refuse options that make no sense."""
    if kind not in MATRICES:
        raise GyrostatError(f"simulate: dina: there is no matrix {kind!r}. Hint: {nearest(str(kind), tuple(MATRICES))}")
    if isinstance(iterations, bool) or iterations not in (1, 3, 5):
        raise GyrostatError(
            f"simulate: dina: iterations must be 1, 3 or 5, got {clipped(iterations)}. "
            "Hint: with an even number undamped vibrations grow"
        )
    if every is not None and (isinstance(every, bool) or not isinstance(every, int) or every < 1):
        raise GyrostatError(f"simulate: dina: every must be a whole number from 1 on, got {clipped(every)}")


def _expect_scheme(scheme: Any, iterations: Any, rho: Any, kind: Any) -> None:
    if scheme not in SCHEMES:
        raise GyrostatError(
            f"simulate: dina: there is no scheme {scheme!r}. Hint: {nearest(str(scheme), tuple(SCHEMES))}"
        )
    if scheme != "checked" and (iterations, rho, kind) != (1, 1.0, "exact"):
        what = "has one matrix and one formula" if scheme == "simpson" else "is AS (6) with (7) alone"
        raise GyrostatError(
            f"simulate: dina: scheme '{scheme}' {what}, iterations, rho_inf and matrix are not used. "
            "Hint: leave them out, or scheme='checked'"
        )
