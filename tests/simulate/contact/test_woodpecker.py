"""Glocker's woodpecker toy: a sleeve that jams on a pole, a spring and a beak, in his linear coordinates.

With y, phi_M, phi_S small, heights are sums of y, l_M phi_M and l_G phi_S: three rails, with rotors for J_M and J_S,
and massless followers that carry the three contact points [Glocker, Dynamik von Starrkoerpersystemen mit Reibung und
Stoessen, 1995, 10.4]. The sleeve stands at phi_M = -0.1036 in Siconos' run, and touches there here."""

from __future__ import annotations

import json

import numpy as np

import gyrostat as gs
from tests.simulate.contact.scenes import expect_sound
from tests.support.reference_data import reference

L_M, L_G, L_S, H_M, H_S = 0.01, 0.015, 0.0201, 0.0058, 0.02
R_M, R_O = 0.0031, 0.0025
M_M, M_S, J_M, J_S, C_PHI = 0.0003, 0.0045, 5e-9, 7e-7, 0.0056
START = 0.1036


def followers(at: str, name: str, driver: str, up: float, aside: float, gap: float, side: float) -> list[object]:
    """Rails that follow a driver, ``up`` and ``aside`` of its way, with a contact point at the ``gap`` from the pole,
    which is on the ``side`` 1 or -1."""
    speck = gs.RigidBody(f"{name}_speck", mass=1e-14, inertia=(1e-16,) * 3)
    pole = gs.Displacement(f"{name}_pole", translation=(-gap * side, 0, 0), rotation=turned(side))
    return [
        gs.chain(at, gs.Joint(f"{name}_z", "prismatic", axis="z"), gs.Joint(f"{name}_x", "prismatic", axis="x"), speck,
                 gs.ContactPoint(name)),
        gs.PolynomialCoupling(f"{name}_up", (0.0, up)), gs.PolynomialCoupling(f"{name}_aside", (0.0, aside)),
        gs.connect(f"{driver}.shaft", f"{name}_up.driver", f"{name}_aside.driver"),
        gs.connect(f"{name}_z.shaft", f"{name}_up.follower"), gs.connect(f"{name}_x.shaft", f"{name}_aside.follower"),
        gs.chain("world", pole, gs.Ground(f"{name}_side", friction=0.3, restitution=0.5 if name == "beak" else 0.0)),
    ]  # fmt: skip


def turned(side: float) -> np.ndarray:
    """Axes whose z is +x or -x."""
    return np.array([[0.0, 0.0, side], [0.0, 1.0, 0.0], [-side, 0.0, 0.0]])


def toy(gap: float) -> gs.Model:
    """``gap`` [m] between the sleeve that stands upright and the pole, at both ends."""
    carriage, bird = (gs.RigidBody(n, mass=m, inertia=(1e-12,) * 3) for n, m in (("sleeve", M_M), ("bird", M_S)))
    rails = [gs.Joint(n, "prismatic", axis="z") for n in ("y", "s_M", "s_S")]
    beak = L_M + L_G - L_S - R_O
    pairs = [("beak", "lower_side"), ("beak", "upper_side"), ("lower", "beak_side"), ("lower", "upper_side"),
             ("upper", "beak_side"), ("upper", "lower_side")]  # fmt: skip
    model = gs.assemble(
        "woodpecker",
        gs.chain("world", rails[0], carriage, rails[1], rails[2], bird),
        *followers("sleeve", "lower", "s_M", R_M / L_M, H_M / L_M, gap, 1.0),
        *followers("sleeve", "upper", "s_M", R_M / L_M, H_M / L_M, gap, -1.0),
        *followers("bird", "beak", "s_S", -L_S / L_G, H_S / L_G, beak, -1.0),
        *(gs.ContactPair(a, b, exclude=True) for a, b in pairs),
    )
    for joint, inertia, arm in (("s_M", J_M, L_M), ("s_S", J_S, L_G)):
        model = model.with_drive(joint, rotor_inertia=inertia, gear_ratio=1.0 / arm, reflected_inertia_only=True)
    return model


def spring(t, q, v):
    twist = C_PHI * (q[1] / L_M - q[2] / L_G)
    return np.array([0.0, -twist / L_M, twist / L_G])


def test_the_sleeve_slides_down_the_pole_as_in_siconos():
    known = json.loads(reference("woodpecker_toy_siconos.json").read_text())
    rows = np.array(known["ref_rows_sample"])
    model = toy(H_M * START)
    q0, v0 = [0.0, -START * L_M, -0.2788 * L_G], [-0.3411, 0.0, -7.4583 * L_G]
    run = gs.simulate(model, spring, q0=q0, v0=v0, t_eval=rows[:, 0], rtol=1e-10, atol=1e-14)
    found = np.stack([run.q[:, 0], run.v[:, 0], run.q[:, 1] / L_M, run.q[:, 2] / L_G, run.v[:, 2] / L_G], axis=1)
    np.testing.assert_allclose(found, rows[:, [1, 2, 3, 5, 6]], rtol=1e-7, atol=1e-12)
    assert {x.phase for x in run.contact_phases if x.name.startswith("lower")} == {"slide"}


def test_the_bird_pecks_twice_and_is_where_siconos_has_it():
    model, end = toy(R_M - R_O), 0.29998
    q0, v0 = [0.0, -(R_M - R_O) / H_M * L_M, -0.2788 * L_G], [-0.3411, 0.0, -7.4583 * L_G]
    run = gs.simulate(model, spring, q0=q0, v0=v0, t_end=end, rtol=1e-8, atol=1e-12)
    beaks = [x.t for x in run.impulses if x.name.startswith("beak")]
    assert len(beaks) == 2 and {x.name.split("|")[0] for x in run.impulses} == {"lower", "upper", "beak"}
    found = run.q[-1, 0], run.v[-1, 0], run.q[-1, 1] / L_M, run.q[-1, 2] / L_G, run.v[-1, 2] / L_G
    siconos = (
        -4.134818676828059e-02,
        -2.601373307896104e-01,
        -1.034684682729378e-01,
        -3.409339755522578e-01,
        -8.32755535,
    )
    np.testing.assert_allclose(found, siconos, rtol=5e-3)  # after ten impacts, at steps of 2e-5 s
    expect_sound(model, run, 0.3)
