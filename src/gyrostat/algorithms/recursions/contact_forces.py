"""Compliant contact: forces of two surfaces that cut into each other.

Normal force [Hunt, Crossley 1975], for a depth d >= 0 of the surfaces and its rate d':

    f_n = k d^n (1 + D d'), never less than zero

so that it begins and ends with zero and takes energy out whenever the depth changes. A slow impact at v bounces with
e = 1 - (2/3) D v, nearly. Friction against the slip velocity w_t, s = |w_t|:

    f_t = -mu(s) f_n w_t / s,   mu = mu_s x (3 - x^2) / 2,                          x = s / v_s <= 1
                                mu = mu_d + (mu_s - mu_d) exp(-(x - 1)^2),          x > 1

with v_s = ``slip_speed``: the static coefficient is reached there, and within a few times of it, the dynamic one
(Stribeck); mu has a continuous slope. Below v_s the contact creeps: what holds still in truth slides slowly. Spin about
the normal and rolling across it meet moments of ``torsional`` and ``rolling`` [m] times f_n by the same curve, with
``torsional`` (``rolling``) times the angular velocity in place of s. All of it takes energy out, never puts it in."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.algorithms.recursions.moving_frame import MovingFrame
from gyrostat.engine.tracing.choose import where
from gyrostat.graph.contact_laws import ContactLaw
from gyrostat.graph.network import Pair
from gyrostat.spatial.algebra import Array, cross
from gyrostat.spatial.contact_geometry import Touch, touch


def compliant_contact(c: Pair, a: MovingFrame, b: MovingFrame) -> tuple[Array, Array]:
    """Force on a [N], and torque on it about the origin of its surface's frame [N m], in the world's axes."""
    law, t = c["law"], _touch(c, a, b)
    slip = a.u + cross(a.w, t.x - a.pose.p) - b.u - cross(b.w, t.x - b.pose.p)
    n = t.axes[0]
    rate = n @ slip
    press = normal_force(law, t.gap, rate)
    force = n * press
    if _some(law.mu_static):
        across = slip - n * rate
        force = force - across * (press * coefficient_over_speed(law, across @ across))
    return force, cross(t.x - a.pose.p, force) - _moment(law, n, a.w - b.w, press)


def compliant_contact_energy(c: Pair, a: MovingFrame, b: MovingFrame) -> Any:
    """k d^(n+1) / (n + 1) [J], the work of f_n against slow motions."""
    law, depth = c["law"], -_touch(c, a, b).gap
    return depth_power(depth, law.exponent + 1.0) * (law.stiffness * (1.0 / (law.exponent + 1.0)))


def normal_force(law: ContactLaw, gap: Any, rate: Any) -> Any:
    """f_n [N] for a gap [m] and its rate [m/s]."""
    press = depth_power(-gap, law.exponent) * law.stiffness
    if not _some(law.damping):
        return press
    with_loss = 1.0 - rate * law.damping
    return press * where(with_loss > 0.0, with_loss, 0.0)


def depth_power(depth: Any, exponent: float) -> Any:
    """depth^exponent, zero where the surfaces are apart; its derivatives are finite there."""
    inside = depth > 0.0
    return where(inside, where(inside, depth, 1.0) ** exponent, 0.0)


def coefficient_over_speed(law: ContactLaw, square: Any) -> Any:
    """mu(s) / s [s/m] for s^2 [m^2/s^2]: the curve at the head of this file, without a division by zero."""
    over = 1.0 / law.slip_speed
    y = square * (over * over)
    creeping = (3.0 - y) * (0.5 * over) * law.mu_static
    fast = y > 1.0
    x = np.sqrt(where(fast, y, 1.0))
    peak = (law.mu_static - law.mu_dynamic) * np.exp(-(x - 1.0) * (x - 1.0))
    return where(fast, (law.mu_dynamic + peak) / x * over, creeping)


def _moment(law: ContactLaw, n: Array, w: Array, press: Any) -> Array:
    """Moment [N m] that is taken off: of spin about the normal, and of rolling across it."""
    total: Any = np.zeros(3)
    spin = n * (n @ w)
    for arm, turn in ((law.torsional, spin), (law.rolling, w - spin)):
        if _some(arm):
            one = ContactLaw(1.0, 1.0, slip_speed=law.slip_speed)
            rate = turn * arm
            total = total + rate * (press * arm * coefficient_over_speed(one, rate @ rate))
    return total


def _touch(c: Pair, a: MovingFrame, b: MovingFrame) -> Touch:
    (kind_a, kind_b), (size_a, size_b) = c["kinds"], c["sizes"]
    return touch(kind_a, size_a, a.pose, kind_b, size_b, b.pose)


def _some(value: Any) -> bool:
    return not (isinstance(value, float) and value == 0.0)
