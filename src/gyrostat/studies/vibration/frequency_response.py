"""How a robot answers harmonic forces about a pose: H(f) from inputs to outputs, with its controller.

    x' = A x + B u,   y = C x + D u,   H(s) = s^k (C (s - A)^-1 B + D),   s = 2 pi j f

x: displacements, rates and states of the controller; k: 1 for accelerations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gyrostat.configuration.packing import real_array
from gyrostat.errors import NonFiniteError, ShapeError, StateError
from gyrostat.solvers.dynamics.closed_contacts import refuse_closed
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model
from gyrostat.studies.vibration.bode import plot_response
from gyrostat.studies.vibration.eigenfrequencies import free_rates
from gyrostat.studies.vibration.hessenberg import resolvent
from gyrostat.studies.vibration.linear_controller import linear_controller
from gyrostat.studies.vibration.live_parameters import with_parameters
from gyrostat.studies.vibration.rest_pose import rest_pose, say
from gyrostat.studies.vibration.signals import Signals, every
from gyrostat.studies.vibration.small_motion import small_motion
from gyrostat.studies.vibration.zeros import zeros

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = np.ndarray
WHO = "frequency_response"


class LinearSystem(NamedTuple):
    """``A`` (n, n), ``B`` (n, inputs), ``C`` (outputs, n), ``D`` (outputs, inputs); outputs are differentiated
    ``order`` (outputs,) times behind that."""

    A: Array
    B: Array
    C: Array
    D: Array
    order: Array


@dataclass(frozen=True, eq=False)
class FrequencyResponse:
    """``H`` (len(hz), outputs, inputs), complex: amplitude and phase of each output for a unit of each input
    cos(2 pi f t), at ``hz`` (len(hz),) [Hz]. ``inputs`` and ``outputs``: their names. ``system``: A, B, C, D.
    ``model`` and ``q`` (nq,): about which pose; ``held`` (nv,): the constant efforts there; ``note``: what is to be
    known of that, or ""."""

    hz: Array
    H: Array
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    system: LinearSystem
    model: Model
    q: Array
    held: Array
    note: str = ""

    def __getitem__(self, pair: Any) -> Array:
        """``response["tool.z", "elbow"]``: H (len(hz),) of an output and an input, by name or number."""
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise StateError(f"{WHO}: expected [output, input], got {pair!r}. Hint: response['{self.outputs[0]}', 0]")
        return self.H[:, every(self.outputs, pair[0], "output", WHO), every(self.inputs, pair[1], "input", WHO)]

    @property
    def magnitude(self) -> Array:
        """|H|."""
        return np.abs(self.H)

    @property
    def phase(self) -> Array:
        """Angle of H [rad], without jumps along the frequencies."""
        return np.unwrap(np.angle(self.H), axis=0)

    @cached_property
    def poles(self) -> Array:
        """Eigenvalues of A [rad/s], slowest first."""
        poles = np.linalg.eigvals(self.system.A).astype(complex)
        return poles[np.lexsort((np.imag(poles), np.abs(poles)))]

    @property
    def stable(self) -> bool:
        """Whether all poles have a negative real part, beyond rounding: only then does the robot come to answer so."""
        size = float(np.abs(self.poles).max(initial=0.0))
        return bool((np.real(self.poles) < 1e-12 * size).all())

    @property
    def resonances(self) -> Array:
        """Frequencies [Hz] of the poles that oscillate, in increasing order, as far as they are within ``hz``."""
        return self._within(self.poles)

    def zeros(self, output: Any = 0, input: Any = 0) -> Array:
        """Zeros [rad/s] of the way from an input to an output, but for those at s = 0 of derivatives."""
        i, j = every(self.outputs, output, "output", WHO), every(self.inputs, input, "input", WHO)
        s = self.system
        return zeros(s.A, s.B[:, j], s.C[i], float(s.D[i, j]), 2.0 * np.pi * float(self.hz.max(initial=0.0)))

    def antiresonances(self, output: Any = 0, input: Any = 0) -> Array:
        """Frequencies [Hz] of the zeros that oscillate, in increasing order, as far as they are within ``hz``."""
        return self._within(self.zeros(output, input))

    def _within(self, s: Array) -> Array:
        up = s[np.imag(s) > 1e-9 * np.abs(s)]
        f = np.sort(np.imag(up)) / (2.0 * np.pi)
        return f[(f >= self.hz.min(initial=np.inf)) & (f <= self.hz.max(initial=-np.inf))]

    def plot(self, outputs: Any = None, inputs: Any = None, *, figure: Figure | None = None) -> Figure:
        """Bode's figure: magnitude [dB] and phase [degrees] over frequency; of some outputs and inputs."""
        i = [every(self.outputs, x, "output", WHO) for x in _listed(outputs, self.outputs)]
        j = [every(self.inputs, x, "input", WHO) for x in _listed(inputs, self.inputs)]
        labels = [[f"{self.inputs[b]} \N{RIGHTWARDS ARROW} {self.outputs[a]}" for b in j] for a in i]
        return plot_response(self.hz, self.H[:, i][:, :, j], labels, self.model.name, figure)


def _listed(asked: Any, names: Sequence[str]) -> list[Any]:
    return list(names) if asked is None else [asked] if isinstance(asked, str | int) else list(asked)


def frequency_response(
    model: Model,
    q: Any,
    inputs: Any,
    outputs: Any,
    hz: Any,
    controller: Any = None,
    *,
    locked: Sequence[str] = (),
    wrenches: Any = None,
    rest: bool = False,
    expressed_in: str = "aligned",
    parameters: Mapping[str, Any] | None = None,
    method: str = "auto",
) -> FrequencyResponse:
    """H (len(hz), outputs, inputs) of small motions about the pose q, held there by constant efforts.

    ``inputs`` and ``outputs``: names of forces and motions, see :mod:`gyrostat.studies.vibration.signals`: rates of the
    model (``"elbow"``), frames (``"tool.fz"`` in, ``"tool.z"``, ``"v tool.z"``, ``"a tool.z"`` out), motors, the base
    (``"base.ax"``), ``"tau elbow"``. ``hz``: frequencies [Hz]. ``controller``, ``locked``, ``wrenches``, ``rest``,
    ``parameters`` and ``q`` are those of :func:`eigenfrequencies`. ``expressed_in``: ``"aligned"``, frames along the
    axes of the world, or ``"local"``. All frequencies are computed at once, from one Hessenberg form; one at a pole is
    refused."""
    expect_model(model, WHO)
    with with_parameters(model, parameters, method, WHO) as used:
        return _found(used, q, (inputs, outputs, expressed_in), hz, controller, locked, wrenches, rest, method)


def _found(
    model: Model,
    q: Any,
    signals_asked: tuple[Any, Any, str],
    hz: Any,
    controller: Any,
    locked: Any,
    wrenches: Any,
    rest: bool,
    method: str,
) -> FrequencyResponse:
    inputs, outputs, expressed_in = signals_asked
    f = _frequencies(hz)
    free = free_rates(model, locked, WHO)
    pose = rest_pose(model, q, rest, WHO, wrenches)
    if pose.q.ndim != 1:
        raise ShapeError(f"{WHO}: one pose at a time, got q {pose.q.shape}. Hint: loop over them")
    refuse_closed(model, pose.q, WHO)
    law = linear_controller(model, controller, pose.q, WHO)
    motion = small_motion(model, pose.q, pose.held, free, law, WHO, method, wrenches)
    A, B = motion.state_space()
    signals = Signals(model, pose.q, expressed_in, WHO)
    names_in, forces = signals.inputs(inputs)
    names_out, y = signals.outputs(outputs, law)
    C = np.concatenate([y.d @ motion.Z, y.w @ motion.Z, y.p], axis=1)
    system = LinearSystem(A, B @ forces, C, y.u @ forces, y.order)
    s = 2j * np.pi * f
    H, poles = resolvent(A, system.B, C, s)
    if poles.any():
        first = float(f[int(np.argmax(poles))])
        raise StateError(
            f"{WHO}: '{model.name}' has a pole at {first:g} Hz, where its response is infinite. Hint: leave this "
            "frequency out" + ("; what nothing holds drifts away: locked, or a controller" if first == 0.0 else "")
        )
    H = (H + system.D) * s[:, None, None] ** y.order[:, None]
    if not np.isfinite(H).all():
        raise NonFiniteError(f"{WHO}: the response of '{model.name}' is not finite. Hint: look at gs.check(model)")
    say(WHO, model, pose.note)
    return FrequencyResponse(f, H, names_in, names_out, system, model, pose.q, pose.held, pose.note)


def _frequencies(hz: Any) -> Array:
    f = np.atleast_1d(real_array(hz, WHO, "hz"))
    if f.ndim != 1 or not np.isfinite(f).all() or (f < 0.0).any():
        raise ShapeError(
            f"{WHO}: hz must be frequencies (n,) [Hz], finite and not negative, got shape {f.shape}. "
            "Hint: np.geomspace(0.1, 100, 500)"
        )
    return f.astype(float)
