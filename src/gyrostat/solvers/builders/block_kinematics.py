"""A closed form of the user for inverse kinematics: of an arm, or of one leg of a robot (H04 4, introduction)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gyrostat.configuration.limits import limits_of
from gyrostat.configuration.manifold import neutral
from gyrostat.configuration.packing import names_of, real_array
from gyrostat.errors import DisagreementError, GyrostatError, ShapeError, StateError, nearest
from gyrostat.solvers.builders.block_checks import USUAL_SAMPLES, WHO, expect_function, given_samples, given_tolerance
from gyrostat.solvers.kinematics.forward_kinematics import ForwardKinematics
from gyrostat.solvers.kinematics.inverse.damped_least_squares import inside
from gyrostat.solvers.kinematics.inverse.inverse_kinematics import InverseKinematics, inverse_kinematics
from gyrostat.solvers.kinematics.inverse.pose_error import PoseError, chosen_rows
from gyrostat.solvers.kinematics.inverse.start_points import start_points, with_held
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model

Array = np.ndarray


class BlockKinematics:
    """A closed form of inverse kinematics: ``gs.BlockSolver(model, leg, like=gs.inverse_kinematics, frame="foot",
    axes="position", joints=["hip", "thigh", "knee"], reference="trunk")``.

    ``function(target)`` gets the position (3,) [m] if ``axes`` are positions, the rotation (3, 3) if they are turns,
    else the homogeneous matrix (4, 4), of ``frame`` in the axes of ``reference`` (a frame that the joints do not move;
    the world by default). It returns coordinates of ``joints`` (all by default), one solution (n,) or every branch
    (k, n); None, nothing or NaN where there is none. With ``with_start=True`` it is called with (target, q0 (nq,)).
    Other joints keep their q0.

    Called like :func:`inverse_kinematics` with (target, q0); that function and ``trajectories.cartesian_line`` take it
    as ``solver=``. Its solutions are not trusted: each is put into the forward kinematics. What reaches the target to
    the tolerance, within the limits, nearest to q0, is the answer, with no iterations; where none does, the
    search begins at the best of them. :meth:`check` looks at random configurations, as at construction."""

    def __init__(
        self,
        model: Model,
        function: Callable[..., Any],
        frame: str,
        axes: Any = "pose",
        *,
        joints: Sequence[str] | None = None,
        reference: str | None = None,
        limits: Any = "model",
        with_start: bool = False,
        check: int = USUAL_SAMPLES,
        tolerance: float = 1e-8,
    ):
        expect_model(model, WHO)
        expect_function(function)
        self.model, self.function, self.with_start = model, function, bool(with_start)
        self.rows = chosen_rows(axes, WHO)
        self.error = PoseError(model, frame, self.rows)
        self.frame, self.tolerance = self.error.frame, given_tolerance(tolerance)
        owners = model.layout.entities
        self.joints = owners if joints is None else names_of(joints, WHO, "joints")
        for name in self.joints:
            if name not in owners or self.joints.count(name) > 1:
                what = "is named twice" if name in owners else "is no joint with coordinates"
                raise StateError(f"{WHO}: joints: '{name}' {what}. Hint: {nearest(name, owners)}")
        self.places, free = model.layout.places(self.joints)
        self.held = np.setdiff1d(np.arange(model.nv), free)
        self.reference = None if reference is None else cached_solver(model, ForwardKinematics, frames=(reference,))
        self.low, self.high = limits_of(model, limits, WHO)
        samples = given_samples(check)
        if samples:
            self.check(samples)

    @property
    def called(self) -> str:
        """How messages call the function."""
        return f"'{getattr(self.function, '__name__', type(self.function).__name__)}'"

    def __call__(self, target: Any, q0: Any = None, **options: Any) -> InverseKinematics:
        """What :func:`inverse_kinematics` returns for this frame and these axes."""
        return inverse_kinematics(self.model, self.frame, target, q0, axes=self.rows, solver=self, **options)

    def expect(self, model: Model, frame: str, rows: tuple[str, ...], who: str) -> None:
        """Refuse what this block does not solve."""
        if model is not self.model and model != self.model:
            raise GyrostatError(f"{who}: the block is of '{self.model.name}' with other data. Hint: build one for it")
        if frame != self.frame or rows != self.rows:
            raise GyrostatError(
                f"{who}: the block {self.called} solves {', '.join(self.rows)} of '{self.frame}', "
                f"asked for {', '.join(rows)} of '{frame}'. Hint: leave solver out, or ask for what it solves"
            )

    def candidates(self, R_t: Array, p_t: Array, q0: Array, t: Any = None) -> Array:
        """Configurations (k, nq) for a target in the world: those of the function, other joints as in q0."""
        if self.reference is not None:
            (at,) = self.reference(q0, t=t).values()
            R_t, p_t = at.R.T @ R_t, at.R.T @ (p_t - at.p)
        target = self._target(R_t, p_t)
        value = self.function(target, q0.copy()) if self.with_start else self.function(target)
        if value is None or np.size(value) == 0:
            return np.empty((0, self.model.nq))
        array = real_array(value, WHO, f"what {self.called} returned")
        if array.ndim not in (1, 2) or array.shape[-1] != len(self.places):
            raise ShapeError(
                f"{WHO}: {self.called} returned shape {array.shape}, expected ({len(self.places)},) or "
                f"(k, {len(self.places)}): coordinates of {', '.join(self.joints[:8])}"
            )
        own = np.atleast_2d(array)
        own = own[np.isfinite(own).all(axis=1)]
        q = np.tile(q0, (len(own), 1))
        q[:, self.places] = own
        return q

    def _target(self, R: Array, p: Array) -> Array:
        if not self.error.turns:
            return p.copy()
        if not self.error.shifts:
            return R.copy()
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = R, p
        return T

    def check(self, samples: int = 64, tolerance: float | None = None) -> float:
        """Put the frame where random configurations within the limits have it, and the function's solutions into the
        forward kinematics: the largest error [m, rad] of any of them, or a :class:`DisagreementError` where that is
        above the tolerance, or where there is no solution at all."""
        count, limit = max(1, given_samples(samples)), self.tolerance if tolerance is None else tolerance
        model, worst = self.model, 0.0
        held = np.isin(np.arange(model.nv), self.held)
        rest = inside(model, neutral(model), self.low, self.high)
        time = {} if isinstance(model.context.base, str) else {"t": 0.0}
        for q in start_points(model, self.low, self.high, count):
            at = self.error.kinematics(q, **time)[self.frame]
            solutions = self.candidates(at.R, at.p, with_held(model, rest.copy(), q, held), time.get("t"))
            told = f"{WHO}: {self.called} for '{self.frame}' where the forward kinematics has it in one of {count} "
            told += f"configurations of '{model.name}'"
            hint = "Hint: .state of this exception is that configuration; check=False builds the block all the same"
            if not len(solutions):
                raise DisagreementError(f"{told} has no solution. {hint}", q, np.inf)
            many = (len(solutions), 1, 1)
            r = self.error.residual(solutions, np.tile(at.R, many), np.tile(at.p, many[:2]), time.get("t"))
            off = float(np.abs(r).max(initial=0.0))
            worst = max(worst, off)
            if not off <= limit:
                raise DisagreementError(f"{told} misses it by {off:.3g} m or rad, tolerance {limit:g}. {hint}", q, off)
        return worst

    def __repr__(self) -> str:
        return f"<BlockSolver of '{self.model.name}': {self.called} for {', '.join(self.rows)} of '{self.frame}'>"
