"""The two-link flexible arm of De Luca and Siciliano (IEEE T-SMC 21(4), 1991), and the arm by Lagrange's equations.

Published: each link clamped, link 1 with the mass and inertia of what it carries and without its offset (MD = 0), .48
and 1.80 Hz, link 2 with the payload 2.18 and 15.91 Hz."""

import casadi as ca
import numpy as np
import pytest
from numpy.polynomial import Legendre
from numpy.polynomial.legendre import leggauss
from scipy.linalg import eigh

import gyrostat as gs

LINK = {"length": 0.5, "area": 1e-4, "I_y": 1e-13, "I_z": 1e-13, "J": 1e-13, "E": 1e13, "G": 1e13, "density": 2000.0}
"""0.2 kg/m and E I = 1 N m^2; the sections have no rotary inertia to speak of."""
PAYLOAD = {"mass": 0.1, "inertia": (5e-4, 5e-4, 5e-4)}
ON_LINK_1 = {"mass": 1.2, "inertia": (1, 1, 0.1 + 0.1 * 0.25 / 3 + 5e-4 + 0.1 * 0.25)}


def link(name, n):
    return gs.FlexibleBeam(name, **LINK, modes=(n, 0), modes_x=0)


@pytest.mark.parametrize(
    ("load", "published", "computed"),
    [
        (ON_LINK_1, (0.48, 1.80), (0.47969304, 1.7965891, 32.097188)),
        (PAYLOAD, (2.18, 15.91), (2.1783336, 15.914513, 40.100816)),
    ],
)
def test_each_link_has_the_published_frequencies(load, published, computed):
    tip = gs.RigidBody("tip", **load)
    wires = gs.connect("world", "link.a"), gs.connect("link.b", "tip")
    model = gs.assemble("clamped", link("link", 10), tip, *wires, gravity=(0, 0, 0))
    f = gs.eigenfrequencies(model, np.zeros(10)).undamped[:3]
    assert np.array_equal(f[:2].round(2), published)
    assert np.allclose(f, computed, rtol=2e-7)


# ------------------------------------------------------------------------------------------------ the whole arm
def arm(n):
    """Hubs 0.1 kg m^2 (the second one with 1 kg), links 0.1 kg, payload 0.1 kg."""
    parts = [
        gs.Joint("j1", "revolute", axis="z"),
        gs.RigidBody("hub1", mass=0.3, inertia=(0.1, 0.1, 0.1)),
        link("link1", n),
        gs.RigidBody("stator2", mass=0.4, inertia=(0.01, 0.01, 0.02)),
        gs.Joint("j2", "revolute", axis="z"),
        gs.RigidBody("hub2", mass=0.6, inertia=(0.1, 0.1, 0.08)),
        link("link2", n),
        gs.RigidBody("payload", **PAYLOAD),
    ]
    wires = [("world", "j1.a"), ("j1.b", "hub1"), ("hub1", "link1.a"), ("link1.b", "stator2"), ("stator2", "j2.a"),
             ("j2.b", "hub2"), ("hub2", "link2.a"), ("link2.b", "payload")]  # fmt: skip
    return gs.assemble("arm", *parts, *(gs.connect(*w) for w in wires), gravity=(0.0, -9.81, 0.0))


class LagrangianArm:
    """The same arm in the plane, from its energies alone: points of mass along each link, CasADi's derivatives.

    A point at x of a link goes to (X, v); v = sum f_i y_i with the modes that x^2, x^3, ... contain; X = x - 1/2 int
    v'^2, of which its mean and its linear part over the length are taken, as the model says; the tip itself at x."""

    def __init__(self, n):
        L, points = LINK["length"], leggauss(10)
        self.x, self.w = (points[0] + 1) / 2, points[1] / 2
        base = [Legendre.basis(k, domain=[0, 1]) * Legendre.fromroots([0, 0], domain=[0, 1]) for k in range(n)]
        values = lambda d, x: np.array([p.deriv(d)(x) if d else p(x) for p in base])  # noqa: E731
        f, bent = values(0, self.x), values(2, self.x)
        lam, V = eigh((bent * self.w) @ bent.T, (f * self.w) @ f.T)
        V = V * np.sign(values(0, 1.0) @ V)
        self.q, self.v = ca.SX.sym("q", 2 * n + 2), ca.SX.sym("v", 2 * n + 2)
        self.bodies, self.n = [], n
        place, angle = (ca.SX(0.0), ca.SX(0.0)), ca.SX(0.0)
        spins = ((0.3, 0.1, 0.4, 0.02), (0.6, 0.08, 0.1, 5e-4))
        q = [self.q[0], self.q[1 : n + 1], self.q[n + 1], self.q[n + 2 :]]
        U = 0
        for (m_hub, J_hub, m_end, J_end), joint, y in zip(spins, q[::2], q[1::2], strict=True):
            angle = angle + joint
            self.bodies.append((m_hub, J_hub, *place, angle))
            v = [ca.dot(ca.DM(V.T @ values(0, x)), y) for x in self.x]

            def shortened(end, y=y):
                inside = V.T @ values(1, end * self.x)
                return -sum(end * w * ca.dot(ca.DM(s), y) ** 2 for s, w in zip(inside.T, self.w, strict=True)) / (2 * L)

            X = [L * x + shortened(x) for x in self.x]
            mean = sum(w * s for w, s in zip(self.w, X, strict=True))
            tilt = sum(w * s * np.sqrt(3) * (2 * x - 1) for w, s, x in zip(self.w, X, self.x, strict=True))
            X = [mean + tilt * np.sqrt(3) * (2 * x - 1) for x in self.x]
            c, s = ca.cos(angle), ca.sin(angle)
            at = lambda a, b, c=c, s=s, p=place: (p[0] + c * a - s * b, p[1] + s * a + c * b)  # noqa: E731
            self.bodies += [(0.1 * w, 0.0, *at(a, b), angle) for a, b, w in zip(X, v, self.w, strict=True)]
            self.bodies.append((0.0, LINK["density"] * L * LINK["I_z"], *place, angle))
            place = at(L + shortened(1.0), ca.dot(ca.DM(V.T @ values(0, 1.0)), y))
            angle = angle + ca.dot(ca.DM(V.T @ values(1, 1.0)), y) / L
            self.bodies.append((m_end, J_end, *place, angle))
            U = U + 0.5 / L**3 * ca.dot(ca.DM(lam), y**2)
        T = 0
        for m, J, x, y, turn in self.bodies:
            rate = [ca.jtimes(value, self.q, self.v) for value in (x, y, turn)]
            T = T + 0.5 * m * (rate[0] ** 2 + rate[1] ** 2) + 0.5 * J * rate[2] ** 2
            U = U + m * 9.81 * y
        momentum = ca.gradient(T, self.v)
        a = ca.SX.sym("a", 2 * n + 2)
        tau = ca.jtimes(momentum, self.v, a) + ca.jtimes(momentum, self.q, self.v) - ca.gradient(T - U, self.q)
        self.torques = ca.Function("tau", [self.q, self.v, a], [tau])


def test_the_whole_arm_is_that_of_lagrange():
    n = 3
    model, lagrange = arm(n), LagrangianArm(n)
    assert model.nv == 2 * n + 2
    rng = np.random.default_rng(3)
    size = np.r_[1.0, [0.03] * n, 1.0, [0.03] * n]
    for _ in range(3):
        q, v, a = (rng.normal(size=model.nv) * scale for scale in (size, 10 * size, 30 * size))
        expected = np.asarray(lagrange.torques(q, v, a)).ravel()
        assert np.abs(gs.rnea(model, q, v, a) - expected).max() < 1e-8 * np.abs(expected).max()
        assert np.abs(gs.aba(model, q, v, expected) - a).max() < 1e-7 * np.abs(a).max()
