"""Encoder signals and torques to samples of q, v, a and tau: resampled, filtered without phase, differentiated.

    x' = F x  (Butterworth of order 4, forwards and backwards: no phase, half the amplitude at ``band``),
    x'_k = (x_k-2 - 8 x_k-1 + 8 x_k+1 - x_k+2) / 12 dt

q, v, a are those of F; tau is F tau. What is computed from q, v, a (columns of a regressor, torques of a model) goes
through F once more before it is compared with tau: F tau = (F A) x, edges of dry friction included [Gautier 1997]. The
ends, where the filter has no past or future, are cut; what is left is thinned to 25 samples for each period of the
band, and to 6 behind the second F. Quaternions are filtered by components, kept on one side of the sphere, and
normalised; their rates follow by dq/dt = T(q) v."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gyrostat.configuration.manifold import tangent
from gyrostat.configuration.packing import real_array
from gyrostat.errors import GyrostatError, NonFiniteError, ShapeError
from gyrostat.spec.model import Model
from gyrostat.studies.study_data import StudyData

Array = np.ndarray
USUAL_BAND, PER_BAND, CUT, DENSE, KEPT = 10.0, 10.0, 1.6, 25.0, 6.0
"""Hz; least samples in a period of the band, periods of it cut at each end, samples kept of each, and in fits."""
SHORTEST = 20


@dataclass(frozen=True, eq=False)
class MeasuredRun(StudyData):
    """Samples of one run: ``t`` (T,) [s], ``q`` (T, nq), ``v``, ``a``, ``tau`` (T, nv); ``wrenches`` (T, 6) by port;
    ``temperature`` (T, nv) or None. ``band`` [Hz], None where nothing was filtered; ``notes``: what was done."""

    t: Array
    q: Array
    v: Array
    a: Array
    tau: Array
    band: float | None = None
    wrenches: dict[str, Array] = field(default_factory=dict)
    temperature: Array | None = None
    notes: tuple[str, ...] = ()

    def part(self, chosen: Any) -> MeasuredRun:
        """Some of the samples."""
        wrenches = {port: w[chosen] for port, w in self.wrenches.items()}
        warm = None if self.temperature is None else self.temperature[chosen]
        t, q, v, a, tau = (x[chosen] for x in (self.t, self.q, self.v, self.a, self.tau))
        return MeasuredRun(t, q, v, a, tau, self.band, wrenches, warm, self.notes)

    @property
    def inner(self) -> slice:
        """Samples that are compared: without the ends, where :meth:`smoothed` is wrong, and thinned."""
        if self.band is None:
            return slice(0, len(self.t), 1)
        dt = float(self.t[1] - self.t[0])
        cut = min(round(CUT / self.band / dt), (len(self.t) - 1) // 3)
        return slice(cut, len(self.t) - cut, max(1, int(1.0 / (KEPT * self.band * dt))))

    def smoothed(self, x: Array) -> Array:
        """F x of what was computed from q, v, a (T, ...), at the :attr:`inner` samples."""
        if self.band is None:
            return x
        flat = _filtered(x.reshape(len(x), -1), self.band, float(self.t[1] - self.t[0]))
        return flat.reshape(x.shape)[self.inner]


def measured_run(
    model: Model,
    t: Any,
    q: Any,
    tau: Any,
    v: Any = None,
    a: Any = None,
    *,
    band: float | bool | None = None,
    wrenches: Mapping[str, Any] | None = None,
    temperature: Any = None,
    who: str = "measured_run",
) -> MeasuredRun:
    """Read, check, resample, filter, differentiate and thin one run.

    ``t`` (T,) increasing [s]; ``q`` (T, nq); ``tau`` (T, nv); ``v``, ``a`` (T, nv) if they were measured, by default
    derivatives of q, of v. ``band`` [Hz]: of the zero-phase filter, at most a tenth of the sampling rate; by default
    10 Hz or that; False: signals are clean, nothing is filtered and nothing left out but two samples at the ends."""
    signals = _read(model, t, q, tau, v, a, wrenches, temperature, who)
    clock, notes = signals.pop("t")[:, 0], []
    dt = float(np.median(np.diff(clock)))
    width = _band(band, 1.0 / dt, notes, who)
    uneven = float(np.abs(np.diff(clock) - dt).max())
    if uneven > 1e-6 * dt:
        _expect_no_gap(clock, dt, width, who)
        even = np.arange(clock[0], clock[-1] + 1e-9 * dt, dt)
        signals["q"] = _one_sided(model, signals["q"])
        signals = {k: np.stack([np.interp(even, clock, c) for c in x.T], 1) for k, x in signals.items()}
        notes.append(
            f"sampling is uneven (by up to {1e3 * uneven:.3g} ms): resampled every {1e3 * dt:.4g} ms, linearly"
        )
        clock = even
    if width is not None:
        signals["q"] = _one_sided(model, signals["q"])
        signals = {k: _filtered(x, width, dt) for k, x in signals.items()}
    signals["q"] = _normalised(model, signals["q"])
    if "v" not in signals:
        rates = _derivative(signals["q"], dt)
        if model.layout.turning:
            rates = np.einsum("tvq,tq->tv", np.linalg.pinv(tangent(model, signals["q"])), rates)
        signals["v"] = rates
    if "a" not in signals:
        signals["a"] = _derivative(signals["v"], dt)
    cut = 2 if width is None and (v is None or a is None) else 0 if width is None else round(CUT / width / dt)
    if width is None and v is None and a is None:
        cut = 4
    step = 1 if width is None else max(1, int(1.0 / (DENSE * width * dt)))
    kept = slice(cut, len(clock) - cut, step)
    left = len(range(*kept.indices(len(clock))))
    if left < SHORTEST:
        raise GyrostatError(
            f"{who}: the run of {clock[-1] - clock[0]:.3g} s is too short: {left} samples are left without its ends"
            f"{'' if width is None else f', {CUT / width:.3g} s each'}. Hint: a longer run, or a wider band"
        )
    if cut:
        notes.append(f"{cut * dt:.3g} s cut at each end")
    if step > 1:
        notes.append(f"every {step}th sample kept: {left} of {len(clock)}")
    signals = {k: x[kept] for k, x in signals.items()}
    ports = {k.removeprefix("at "): x for k, x in signals.items() if k.startswith("at ")}
    q, v, a, tau = (signals[k] for k in ("q", "v", "a", "tau"))
    return MeasuredRun(clock[kept], q, v, a, tau, width, ports, signals.get("temperature"), tuple(notes))


def _read(model: Model, t: Any, q: Any, tau: Any, v: Any, a: Any, wrenches: Any, warm: Any, who: str) -> dict[str, Any]:
    clock = real_array(t, who, "t")
    if clock.ndim != 1 or len(clock) < SHORTEST:
        raise ShapeError(f"{who}: t has shape {clock.shape}, expected (T,) with at least {SHORTEST} samples")
    given = {"q": (q, model.nq), "tau": (tau, model.nv), "v": (v, model.nv), "a": (a, model.nv)}
    given |= {f"at {port}": (w, 6) for port, w in (wrenches or {}).items()}
    signals = {"t": clock[:, None]}
    for name, (value, width) in given.items():
        if value is None and name in ("v", "a"):
            continue
        x = real_array(value, who, name)
        if x.ndim == 1 and width == 1 and len(x) == len(clock):
            x = x[:, None]
        if x.shape != (len(clock), width):
            what = {"q": " = nq", "tau": " = nv", "v": " = nv", "a": " = nv"}.get(name, ": torque, then force")
            raise ShapeError(
                f"{who}: {name} has shape {x.shape}, expected ({len(clock)}, {width}){what}. "
                "Hint: one row for each instant of t"
            )
        signals[name] = x
    if warm is not None:
        x = real_array(warm, who, "temperature")
        x = x[:, None] if x.ndim == 1 else x
        if x.ndim != 2 or len(x) != len(clock) or x.shape[1] not in (1, model.nv):
            raise ShapeError(
                f"{who}: temperature has shape {x.shape}, expected (T,) or (T, {model.nv}) with T = {len(clock)}"
            )
        signals["temperature"] = np.broadcast_to(x, (len(clock), model.nv)).copy()
    for name, x in signals.items():
        if not np.all(np.isfinite(x)):
            k = int(np.argmax(~np.isfinite(x).all(axis=1)))
            raise NonFiniteError(
                f"{who}: {name} is not finite at sample {k}. Hint: leave gaps out, as runs of their own"
            )
    late = np.flatnonzero(np.diff(clock) <= 0.0)
    if len(late):
        k = int(late[0])
        raise GyrostatError(
            f"{who}: t does not increase: t[{k}] = {clock[k]:.9g}, t[{k + 1}] = {clock[k + 1]:.9g} s. "
            "Hint: sort the samples, and drop those that were stored twice"
        )
    _expect_units(model, signals, who)
    return signals


def _expect_units(model: Model, signals: dict[str, Array], who: str) -> None:
    """Degrees and rates of another signal are told, not fitted."""
    for name, k in _angles(model):
        reach = float(np.ptp(signals["q"][:, k]))
        entity = model.wiring.entities.get(name)
        low, high = getattr(entity, "lower", None), getattr(entity, "upper", None)
        if low is not None and high is not None and np.isfinite(high - low) and reach > 3.0 * (high - low) > 0.0:
            raise GyrostatError(
                f"{who}: q of '{name}' moves by {reach:.4g}, its limits are {high - low:.4g} rad apart. "
                "Hint: angles are in radians: np.radians(q)"
            )
    if "v" not in signals or model.layout.turning:
        return
    t, rates = signals["t"][:, 0], signals["v"]
    moved = np.gradient(signals["q"], t, axis=0)
    for k, name in enumerate(model.dofs):
        slow, size = moved[:, k], float(rates[:, k] @ rates[:, k])
        if size > 0.0 and float(slow @ slow) > 1e-12 * size:
            drift = float(np.trapezoid(rates[:, k] * rates[:, k], t))
            slope = float(np.trapezoid(slow * rates[:, k], t)) / drift
            if not 0.5 < slope < 2.0:
                raise GyrostatError(
                    f"{who}: v of '{name}' is not the rate of its q: dq/dt is {slope:.3g} times v on average. "
                    "Hint: signs and units of q and v must agree; leave v out if it is not the rate of q"
                )


def _angles(model: Model) -> list[tuple[str, int]]:
    lengths = model.layout.lengths
    return [(name, k) for k, name in enumerate(model.coordinates) if name in model.dofs and not lengths[k]]


def _band(asked: float | bool | None, rate: float, notes: list[str], who: str) -> float | None:
    if asked is False:
        return None
    if asked is None:
        width = min(USUAL_BAND, rate / PER_BAND)
    elif isinstance(asked, bool) or not isinstance(asked, int | float) or not 0.0 < asked < np.inf:
        raise GyrostatError(f"{who}: band must be a frequency [Hz], None or False, got {asked!r}. Hint: band=10.0")
    elif asked * 4.0 > rate:
        raise GyrostatError(
            f"{who}: a band of {asked:g} Hz needs {4.0 * asked:g} samples per second, there are {rate:.4g}. "
            f"Hint: at most {rate / 4.0:.3g} Hz, or band=False"
        )
    else:
        width = float(asked)
    notes.append(f"zero-phase filter (Butterworth, order 4, both ways), half the amplitude at {width:.4g} Hz")
    return width


def _expect_no_gap(t: Array, dt: float, width: float | None, who: str) -> None:
    k = int(np.argmax(np.diff(t)))
    gap, longest = float(t[k + 1] - t[k]), max(5.0 * dt, 0.25 / width if width else 0.0)
    if gap > longest:
        raise GyrostatError(
            f"{who}: nothing was measured for {gap:.4g} s after t = {t[k]:.6g} s, longer than {longest:.3g} s, which "
            "can be bridged. Hint: give the parts before and behind as two runs, in lists"
        )


def _filtered(x: Array, width: float, dt: float) -> Array:
    from scipy.signal import butter, sosfiltfilt

    sos = butter(4, 2.0 * width * dt, output="sos")
    return sosfiltfilt(sos, x, axis=0, padlen=min(len(x) - 1, int(2.0 / (width * dt))))


def _derivative(x: Array, dt: float) -> Array:
    slope = np.gradient(x, dt, axis=0)
    slope[2:-2] = (x[:-4] - 8.0 * x[1:-3] + 8.0 * x[3:-1] - x[4:]) / (12.0 * dt)
    return slope


def _one_sided(model: Model, q: Array) -> Array:
    """Quaternions that do not jump from q to -q."""
    q = q.copy()
    for places in model.layout.quaternions:
        turns = np.einsum("tk,tk->t", q[1:, places], q[:-1, places]) < 0.0
        q[1:, places] *= np.where(np.cumsum(turns) % 2 == 1, -1.0, 1.0)[:, None]
    return q


def _normalised(model: Model, q: Array) -> Array:
    q = q.copy()
    for places in model.layout.quaternions:
        q[:, places] /= np.linalg.norm(q[:, places], axis=1, keepdims=True)
    return q
