"""What vibrates, and how: frequencies with their shapes, seen at frames, in the viewer and in figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gyrostat.configuration.manifold import integrate
from gyrostat.errors import FrameError, ShapeError, StateError
from gyrostat.solvers.functions import fk
from gyrostat.spec.facts import facts_html
from gyrostat.spec.model import Model
from gyrostat.studies.vibration.mode_figures import frame_names, plot_frequencies, plot_shape

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = np.ndarray
PICTURES = 48
"""Configurations of one period that the viewer gets."""
SWING = 0.1
"""Amplitude in pictures, as a share of the size of the robot, unless another one is asked for."""


@dataclass(frozen=True, eq=False)
class Eigenfrequencies:
    """``undamped`` (..., k) [Hz], in increasing order, and ``modes`` (..., nv, k), the columns belonging to them,
    scaled to unit modal mass. A negative frequency f is a mode that grows as exp(2 pi |f| t). ``poles`` (..., m)
    [rad/s], the eigenvalues with damping, slowest first, and ``damped_modes`` (..., nv, m), complex, greatest entry 1;
    m = 2 k, and one more for each state of a controller. k is the number of rates that are free: not locked, and not
    bound by loops. ``model`` and ``q`` (..., nq): about which pose; ``note``: what is to be known of that, or ""."""

    undamped: Array
    modes: Array
    poles: Array
    damped_modes: Array
    model: Model
    q: Array
    note: str = ""

    @property
    def damped(self) -> Array:
        """(..., m) [Hz]: |imaginary part| / 2 pi of each pole, zero for those that do not oscillate."""
        return np.abs(np.imag(self.poles)) / (2.0 * np.pi)

    @property
    def damping_ratios(self) -> Array:
        """zeta (..., m) = -Re(p) / |p| of each pole: 1 where it does not oscillate, negative where it grows, 0 for
        motion without any force."""
        size = np.abs(self.poles)
        return np.where(size > 0.0, -np.real(self.poles) / np.where(size > 0.0, size, 1.0), 0.0)

    def __repr__(self) -> str:
        shape, count = self.undamped.shape[:-1], self.undamped.shape[-1]
        told = f"{int(np.prod(shape))} poses" if shape else ", ".join(f"{f:.4g}" for f in self.undamped[:6])
        more = ", ..." if not shape and count > 6 else ""
        return f"<eigenfrequencies of '{self.model.name}': {count} modes, {told}{more}{'' if shape else ' Hz'}>"

    def _repr_html_(self) -> str:
        if self.undamped.ndim > 1 or not self.undamped.size:
            return facts_html(repr(self).strip("<>"), ())
        most = np.argsort(-np.abs(self.modes), axis=0)[:2]
        rows = [
            (k + 1, f"{f:.6g}", ", ".join(self.model.dofs[i] for i in most[:, k] if self.modes[i, k] != 0.0))
            for k, f in enumerate(self.undamped)
        ]
        return facts_html(f"eigenfrequencies of '{self.model.name}'", rows, ("mode", "Hz", "moves most"))

    # ------------------------------------------------------------------ shapes
    def displacements(self, frame: str, *, expressed_in: str = "aligned", damped: bool = False) -> Array:
        """How a frame moves in every mode: (..., 6, k), rotation [rad], then displacement [m] of its origin, along the
        axes of the world (``"aligned"``) or of the frame (``"local"``), for shapes as they are scaled in ``modes``, or
        in ``damped_modes``."""
        if expressed_in not in ("aligned", "local"):
            raise FrameError(f"modes: expressed_in must be 'aligned' or 'local', got {expressed_in!r}. Hint: 'aligned'")
        shapes = np.swapaxes(self.damped_modes if damped else self.modes, -1, -2)
        q = np.broadcast_to(self.q[..., None, :], (*shapes.shape[:-1], self.q.shape[-1]))
        moves = (np.real(shapes), np.imag(shapes)) if damped else (shapes,)
        frames = [fk(self.model, q, v)[frame] for v in moves]
        twists = [np.asarray(one.V) for one in frames]
        V = twists[0] + 1j * twists[1] if damped else twists[0]
        R = frames[0].R if expressed_in == "aligned" else np.eye(3)
        parts = (R @ V[..., :3, None])[..., 0], (R @ V[..., 3:, None])[..., 0]
        return np.swapaxes(np.concatenate(parts, axis=-1), -1, -2)

    def motion(self, mode: int, amplitude: float | None = None, pictures: int = PICTURES) -> tuple[Array, Array]:
        """One period of a mode as t (T,) [s] and q (T, nq), q = q0 (+) amplitude shape sin(w t), on the manifold.

        ``amplitude``: how far the frame moves that moves most [m, rad], by default a tenth of the size of the robot.
        A mode that does not swing goes there and back within a second."""
        q, shape, f = self._one(mode)
        swing = self._scaled(q, shape, amplitude)
        phase = np.linspace(0.0, 2.0 * np.pi, int(pictures) + 1)
        period = 1.0 / abs(f) if abs(f) > 0.0 else 1.0
        moved = np.array([integrate(self.model, q, np.sin(x) * swing) for x in phase])
        return phase / (2.0 * np.pi) * period, moved

    def view(self, mode: int, amplitude: float | None = None, *, period: float = 1.0, **options: Any) -> Any:
        """The mode in the browser, slowed down or sped up to ``period`` [s]; options as of :func:`gyrostat.view`."""
        from gyrostat.view.viewer.viewer import view

        t, q = self.motion(mode, amplitude)
        return view(self.model, q, t / t[-1] * period, **options)

    def plot(self, mode: int | None = None, **options: Any) -> Figure:
        """A figure: of one ``mode`` the robot with arrows at its frames, see :func:`plot_shape`; else the frequencies,
        over the poses if there are several, see :func:`plot_frequencies`."""
        if mode is None:
            return plot_frequencies(self.undamped, title=self.model.name, **options)
        q, shape, f = self._one(mode)
        return plot_shape(self.model, q, self._scaled(q, shape, options.pop("amplitude", None)), f, mode, **options)

    def _one(self, mode: int) -> tuple[Array, Array, float]:
        if self.q.ndim != 1:
            raise ShapeError(f"modes: there are poses {self.q.shape[:-1]}. Hint: eigenfrequencies of one pose q (nq,)")
        k = self.undamped.shape[-1]
        if not isinstance(mode, int | np.integer) or not -k <= mode < k:
            raise StateError(f"modes: mode must be a number from 0 to {k - 1}, got {mode!r}. Hint: 0 is the slowest")
        return self.q, self.modes[:, mode], float(self.undamped[mode])

    def _scaled(self, q: Array, shape: Array, amplitude: float | None) -> Array:
        """The shape (nv,) so that the frame which moves most does so by the amplitude."""
        frames = fk(self.model, q, shape)
        names = frame_names(self.model)
        places, moves = (np.array([getattr(frames[name], key) for name in names]) for key in ("p", "V"))
        extent = float(np.ptp(places, axis=0).max(initial=0.0)) or 1.0
        largest = float(np.linalg.norm(moves[:, 3:], axis=1).max(initial=0.0))
        if largest <= 1e-9 * float(np.abs(shape).max(initial=0.0)) * extent:  # it only turns
            largest, extent = float(np.abs(shape).max(initial=1.0)), 1.0
        return shape * ((SWING * extent if amplitude is None else float(amplitude)) / largest)
