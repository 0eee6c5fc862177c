"""The load at a flange: mass, centre and inertia from one run, in one call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.studies.identification.identification import Identification
from gyrostat.studies.identification.identify import identify
from gyrostat.studies.identification.pseudo_inertia import mass_properties
from gyrostat.studies.report import Report
from gyrostat.studies.study_data import StudyData

Array = np.ndarray
WHO = "identify_payload"


@dataclass(frozen=True, eq=False)
class PayloadEstimate(StudyData):
    """``mass`` [kg], ``com`` (3,) [m] and ``inertia`` (3, 3) [kg m^2] about it, in the axes of the port ``at``;
    ``sigma`` (10,): deviations of m, m c, J about the port, infinite where the motion does not tell; ``model`` with the
    body ``name`` attached; ``identification``: the fit behind it."""

    mass: float
    com: Array
    inertia: Array
    sigma: Array
    at: str
    name: str
    identification: Identification

    @property
    def model(self) -> Model:
        return self.identification.model

    @property
    def known(self) -> bool:
        """Whether the motion told all ten numbers."""
        return bool(np.isfinite(self.sigma).all())

    def torques(self, q: Any, v: Any, a: Any, **asked: Any) -> Array:
        """tau (..., nv) with the payload."""
        return self.identification.torques(q, v, a, **asked)

    def report(self) -> Report:
        """The payload's numbers with their deviations, then the fit."""
        report = self.identification.report()
        report.title = f"Payload at {self.at}"
        rows = [("mass [kg]", self.mass, self.sigma[0])]
        rows += [
            (f"centre {x} [m]", float(c), float(s / self.mass))
            for x, c, s in zip("xyz", self.com, self.sigma[1:4], strict=True)
        ]
        names = ("Jxx", "Jxy", "Jxz", "Jyy", "Jyz", "Jzz")
        places = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
        J = self.inertia + self.mass * (self.com @ self.com * np.eye(3) - np.outer(self.com, self.com))
        rows += [
            (f"{n} about the port [kg m^2]", float(J[ij]), float(s))
            for n, ij, s in zip(names, places, self.sigma[4:], strict=True)
        ]
        return report.heading("Payload").table(("", "value", "sigma"), rows)


def identify_payload(
    model: Model | Identification,
    t: Any,
    q: Any,
    tau: Any,
    v: Any = None,
    a: Any = None,
    *,
    at: str,
    name: str = "payload",
    guess: float = 1.0,
    without: tuple[Any, ...] | None = None,
    **asked: Any,
) -> PayloadEstimate:
    """Mass, centre and inertia of a body at the port ``at`` from one run.

    ``model``: the robot without it, best as identified: friction and the terms beside the model are then known.
    ``without``: (t, q, tau) or (t, q, tau, v) of a run without the payload, from which the robot is identified first.
    ``guess`` [kg]: about what it weighs. Further arguments are those of ``identify`` (``band``, ``wrenches``, ``terms``
    that may have changed with the load, ``unmeasured``, ...)."""
    robot: Any = model.model if isinstance(model, Identification) else model
    expect_model(robot, WHO)
    if isinstance(guess, bool) or not isinstance(guess, int | float) or not 0.0 < guess < np.inf:
        raise GyrostatError(f"{WHO}: guess must be a positive mass [kg], got {guess!r}.")
    passed = {k: asked[k] for k in ("band", "torque_side", "unmeasured", "weights", "smooth", "stribeck") if k in asked}
    if without is not None:
        if not isinstance(without, list | tuple) or not 3 <= len(without) <= 5:
            raise GyrostatError(
                f"{WHO}: without must be (t, q, tau) or (t, q, tau, v). Hint: a run without the payload"
            )
        model = identify(model, *without, **passed)
        robot = model.model
    size = 0.05**2 * guess
    body = RigidBody(name, mass=float(guess), com=(0.0, 0.0, 0.05), inertia=np.diag([size] * 3).tolist())
    carrying = robot.attach(body, to=at)
    asked = {"terms": (), "candidates": (), "bodies": (name,), "check_signs": False} | asked
    before: Any = model.carrying(carrying) if isinstance(model, Identification) else carrying
    found = identify(before, t, q, tau, v, a, **asked)
    m, c, J = mass_properties(found.x[:10])
    return PayloadEstimate(m, c, J, _sigmas(found), at, name, found)


def _sigmas(found: Identification) -> Array:
    """Deviations of the ten numbers; infinite where they appear in combinations only, or not at all."""
    sigma = np.full(10, np.inf)
    for i, (k, s) in enumerate(zip(found.base.columns, found.base.sigma, strict=True)):
        alone = np.count_nonzero(np.abs(found.base.projection[i]) > 1e-6) == 1
        if k < 10 and alone:
            sigma[k] = s
    return sigma
