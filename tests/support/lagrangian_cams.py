"""A mechanism with a follower, written down by hand: an arm that turns in the plane of x and z, a slide along it whose
position is a curve of the arm's angle, and a pendulum on the slide. Lagrange's equations in 40 digits, of nothing but
its energies; points of the plane are complex numbers x + i z, and a turn by q about y is exp(-i q)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import mpmath as mp
import numpy as np
from scipy.interpolate import PPoly, make_interp_spline

import gyrostat as gs
from tests.support.cam_models import ANGLES, CLOSED, SlidingCrank, tied

mp.mp.dps = 40
G = 9.81
MASS = {"arm": 2.0, "cart": 1.5, "bob": 0.7}
CENTRE = {"arm": (0.2, -0.1), "cart": (0.05, 0.15), "bob": (0.1, -0.3)}
INERTIA = {"arm": 0.03, "cart": 0.02, "bob": 0.01}
PIVOT = (0.1, 0.05)  # of the bob, in the cart
ROTOR, RATIO, STIFFNESS, REST, VISCOUS = 2e-3, 12.0, 80.0, 0.1, 0.4
OPEN = [-2.0, -1.0, 0.3, 1.0, 2.5], [0.4, 0.1, 0.3, 0.25, 0.6]


@dataclass(frozen=True)
class Follower:
    """r(q) and r'(q) in many digits; the entity that makes it so."""

    r: Callable
    slope: Callable
    entity: Callable[[], gs.Entity]


def spline(x, y, periodic: bool) -> tuple[Callable, Callable]:
    """By SciPy; straight on beyond the ends."""
    flat = [(2, 0.0), (3, 0.0)]
    made = make_interp_spline(x, y, k=5, bc_type="periodic" if periodic else (flat, flat))
    pieces = PPoly.from_spline(made)

    def at(q, order):
        q = mp.mpf(q)
        if periodic:
            q = q - (x[-1] - x[0]) * mp.floor((q - x[0]) / (x[-1] - x[0]))
        elif not x[0] <= q <= x[-1]:
            end = x[0] if q < x[0] else x[-1]
            value, slope = (mp.mpf(float(made.derivative(n)(end)) if n else float(made(end))) for n in (0, 1))
            return value + slope * (q - end) if order == 0 else slope
        k = int(np.clip(np.searchsorted(pieces.x, float(q), "right") - 1, 0, len(pieces.x) - 2))
        t, c = q - mp.mpf(pieces.x[k]), [mp.mpf(float(z)) for z in pieces.c[:, k][::-1]]
        if order == 0:
            return sum(z * t**n for n, z in enumerate(c))
        return sum(n * z * t ** (n - 1) for n, z in enumerate(c) if n)

    return (lambda q: at(q, 0)), (lambda q: at(q, 1))


def _crank(q):
    s = mp.mpf(0.2) * mp.sin(q)
    return mp.mpf(0.2) * mp.cos(q) + mp.sqrt(mp.mpf(0.5) ** 2 - s * s)


def _crank_slope(q):
    s, root = mp.mpf(0.2) * mp.sin(q), _crank(q) - mp.mpf(0.2) * mp.cos(q)
    return -s - s * mp.mpf(0.2) * mp.cos(q) / root


def _polynomial(x):
    return mp.mpf(0.2) + mp.mpf(0.3) * x - mp.mpf(0.1) * x**2 + mp.mpf(0.05) * x**3


FOLLOWERS = {
    "scotch yoke": Follower(
        lambda q: mp.mpf(0.3) + mp.mpf(0.2) * mp.cos(q + mp.mpf(0.4)),
        lambda q: -mp.mpf(0.2) * mp.sin(q + mp.mpf(0.4)),
        lambda: gs.ScotchYoke("curve", 0.2, offset=0.3, phase=0.4),
    ),
    "polynomial": Follower(
        lambda q: _polynomial(q - mp.mpf(0.4)),
        lambda q: mp.diff(_polynomial, q - mp.mpf(0.4)),
        lambda: gs.PolynomialCoupling("curve", (0.2, 0.3, -0.1, 0.05), reference=0.4),
    ),
    "slider-crank": Follower(_crank, _crank_slope, lambda: SlidingCrank("curve", r=0.2, l=0.5)),
    "periodic cam": Follower(*spline(ANGLES, CLOSED, True), lambda: gs.Cam("curve", ANGLES, CLOSED, periodic=True)),
    "open cam": Follower(*spline(*OPEN, False), lambda: gs.Cam("curve", *OPEN)),
}


def model(name: str, driven: bool = False) -> gs.Model:
    """In gyrostat."""

    def body(part, **frames):
        x, z = CENTRE[part]
        return gs.RigidBody(part, mass=MASS[part], com=(x, 0, z), inertia=(0.05, INERTIA[part], 0.05), frames=frames)

    chain = gs.chain(
        "world",
        gs.Joint("turn", "revolute", axis="y"),
        body("arm"),
        gs.Joint("slide", "prismatic", axis="x"),
        body("cart", pivot=(PIVOT[0], 0, PIVOT[1])),
    )
    hung = gs.chain("cart.pivot", gs.Joint("swing", "revolute", axis="y"), body("bob"))
    made = tied(gs.assemble("arm", chain, hung), (FOLLOWERS[name].entity(), "turn.shaft", "slide.shaft"))
    if not driven:
        return made
    made = made.with_drive("slide", rotor_inertia=ROTOR, gear_ratio=RATIO, rotor_axis="y", viscous=VISCOUS)
    spring = gs.Spring("spring", stiffness=STIFFNESS, rest=REST, ground=True)
    return gs.Model("arm", (*made.entities, spring), (*made.connections, ("slide.shaft", "spring.a")), made.context)


@dataclass(frozen=True)
class Lagrangian:
    """q = (angle of the arm, angle of the bob)."""

    follower: Follower
    driven: bool = False

    def kinetic(self, q1, q2, v1, v2):
        r, dr = self.follower.r(q1), self.follower.slope(q1) * v1
        arm, cart, bob = (mp.mpc(*CENTRE[part]) for part in CENTRE)
        pivot, w = mp.mpc(*PIVOT), v1 + v2
        turned = bob * mp.exp(-1j * q2)
        speeds = {
            "arm": -1j * v1 * arm,
            "cart": dr - 1j * v1 * (r + cart),
            "bob": dr - 1j * v1 * (r + pivot) - 1j * w * turned,
        }
        T = sum(mp.mpf(MASS[part]) * abs(u) ** 2 / 2 for part, u in speeds.items())
        T += (mp.mpf(INERTIA["arm"]) + mp.mpf(INERTIA["cart"])) * v1**2 / 2 + mp.mpf(INERTIA["bob"]) * w**2 / 2
        spin = mp.mpf(RATIO) * dr
        return T + (mp.mpf(ROTOR) * (spin**2 / 2 + spin * v1) if self.driven else 0)

    def potential(self, q1, q2):
        r, pivot = self.follower.r(q1), mp.mpc(*PIVOT)
        arm, cart, bob = (mp.mpc(*CENTRE[part]) for part in CENTRE)
        turn = mp.exp(-1j * q1)
        places = {"arm": arm * turn, "cart": (r + cart) * turn, "bob": (r + pivot + bob * mp.exp(-1j * q2)) * turn}
        U = sum(mp.mpf(MASS[part]) * mp.mpf(G) * mp.im(p) for part, p in places.items())
        return U + (mp.mpf(STIFFNESS) * (r - mp.mpf(REST)) ** 2 / 2 if self.driven else 0)

    # ------------------------------------------------------------------ Lagrange's equations
    def mass_matrix(self, q):
        """T is quadratic in the rates: M_ij = T(e_i + e_j) - T(e_i) - T(e_j)."""
        T1, T2, both = (self.kinetic(*q, *v) for v in ((1, 0), (0, 1), (1, 1)))
        return mp.matrix([[2 * T1, both - T1 - T2], [both - T1 - T2, 2 * T2]])

    def christoffel(self, q, v):
        """C_ij = sum over k of (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) v_k / 2, by differences in many digits."""
        step = mp.mpf(10) ** (-mp.mp.dps // 3)
        ends = [[self.mass_matrix(_moved(q, k, q[k] + s * step)) for s in (1, -1)] for k in range(2)]
        dM = [(plus - minus) / (2 * step) for plus, minus in ends]
        return mp.matrix(
            [
                [sum((dM[k][i, j] + dM[j][i, k] - dM[i][j, k]) * v[k] for k in range(2)) / 2 for j in range(2)]
                for i in range(2)
            ]
        )

    def gravity(self, q):
        step = mp.mpf(10) ** (-mp.mp.dps // 3)
        ends = [[self.potential(*_moved(q, k, q[k] + s * step)) for s in (1, -1)] for k in range(2)]
        return [(plus - minus) / (2 * step) for plus, minus in ends]

    def damping(self, q, v):
        slope = self.follower.slope(q[0])
        return [mp.mpf(VISCOUS) * slope**2 * v[0] if self.driven else mp.mpf(0), mp.mpf(0)]

    def torques(self, q, v, a):
        M, C = self.mass_matrix(q), self.christoffel(q, v)
        U, D = self.gravity(q), self.damping(q, v)
        return [sum(M[i, j] * a[j] + C[i, j] * v[j] for j in range(2)) + U[i] + D[i] for i in range(2)]


def _moved(q, k, x):
    return tuple(x if i == k else y for i, y in enumerate(q))


def numbers(x) -> np.ndarray:
    """As floats."""
    if isinstance(x, mp.matrix):
        return np.array([[float(x[i, j]) for j in range(x.cols)] for i in range(x.rows)])
    return np.array([float(y) for y in x])
