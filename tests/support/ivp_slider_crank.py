"""The flexible slider-crank of the IVP test set (problem ``crank``, after Simeon 1996), its matrices as data of a body.

Numbers from CRAN deTestSet, src/Ex_crank.f: linear strains, no damping, no gravity; pi as the source has it."""

import numpy as np

import gyrostat as gs

PI, RHO, B, L1, L2, OMEGA = 3.1415927, 7870.0, 0.008, 0.15, 0.3, 150.0
M2, M3, J2 = 0.151104, 0.075552, 0.0045339259
Q0 = [0.0, 0.0, 1.03339863e-05, 1.69327969e-05]
V0 = [0.444896105, 0.00463434311, -1.78591076e-06, -2.68938672e-06]
PHI2_RATE = -74.995767
CONSISTENT = -L1 * OMEGA / (L2 + Q0[3])
"""Rate of the rod at t = 0 that keeps the slider's height. The source's, PHI2_RATE, has 8 digits and lets it move at
1.2e-8 m/s; its x3, 9 digits, is 2e-10 m off what the shapes say."""
ACCURATE = {  # t = 0.1 s: source's equations, this start, 113 bits, dop853, 40,000 and 80,000 steps alike
    "phi2": -0.33117349882564467,
    "q": [0.00018931928430200427, 2.3757513204885726e-05, -5.3238967781923848e-06, -8.3633132916665837e-06],
    "x3": 0.16973733263995855,
    "v_phi2": 60.253467551296026,
    "v": [-0.030055411709507006, -0.0055004306459252852, 0.00049741116636744837, 0.001105559971607834],
    "v_x3": -8.7531163267271399,
}
DRIFTED = -0.33117349462760826
"""phi2 at t = 0.1 s by index 1 from PHI2_RATE."""


def closed(t, q, v):
    """Angle and rate of the rod whose end is at height zero."""
    phi2 = -np.arcsin(L1 * np.sin(OMEGA * t) / (L2 + q[3]))
    return phi2, -(L1 * OMEGA * np.cos(OMEGA * t) + v[3] * np.sin(phi2)) / ((L2 + q[3]) * np.cos(phi2))


def source_acceleration(t, phi2, q, w2, v):
    """Accelerations (5,) of the rod's angle and shapes: M a = f - G' lambda of Simeon's model, G a = gamma."""
    F, area = RHO * B * B * L2, B * B
    M, C = F * np.diag([0.5, 0.5, 8.0, 2.0]), np.zeros((4, 4))
    M[2, 3] = M[3, 2] = F
    C[0, 2], C[0, 3], C[1, 3] = -F * 16 / PI**3, F * (8 / PI**3 - 1 / PI), F / 2 / PI
    C -= C.T
    K = np.zeros((4, 4))
    K[:2, :2] = np.diag([PI**4 / 24, PI**4 * 2 / 3]) * (B / L2) ** 2
    K[2:, 2:] = [[16 / 3, -8 / 3], [-8 / 3, 7 / 3]]
    K *= 2e11 * area / L2
    along, across = F * np.array([0, 0, 2 / 3, 1 / 6]), F * np.array([2 / PI, 0, 0, 0])
    moment, turn = L2 * F * np.array([0, 0, 1 / 3, 1 / 6]), L2 * F * np.array([1 / PI, -0.5 / PI, 0, 0])
    phi1 = OMEGA * t
    s, c, l = np.sin(phi1 - phi2), np.cos(phi1 - phi2), L2 + q[3]
    A, right = np.zeros((8, 8)), np.zeros(8)  # angle, slider, shapes, two multipliers
    A[0, 0], A[1, 1], A[2:6, 2:6] = J2 + q @ M @ q + 2 * moment @ q, M3, M
    A[0, 2:6] = A[2:6, 0] = turn + q @ C
    A[6, :6] = [l * np.cos(phi2), 0, 0, 0, 0, np.sin(phi2)]
    A[7, :6] = [l * np.sin(phi2), 1, 0, 0, 0, -np.cos(phi2)]
    A[:6, 6:] = A[6:, :6].T
    right[0] = L1 * OMEGA**2 * (0.5 * L2 * M2 * s + s * along @ q - c * across @ q)
    right[0] -= 2 * w2 * (moment @ v + v @ M @ q) + v @ C @ v
    right[2:6] = w2**2 * (M @ q + moment) + L1 * OMEGA**2 * (c * along + s * across) + 2 * w2 * C @ v - K @ q
    right[6] = L1 * OMEGA**2 * np.sin(phi1) + l * np.sin(phi2) * w2**2 - 2 * w2 * np.cos(phi2) * v[3]
    right[7] = -L1 * OMEGA**2 * np.cos(phi1) - l * np.cos(phi2) * w2**2 - 2 * w2 * np.sin(phi2) * v[3]
    return np.linalg.solve(A, right)[[0, 2, 3, 4, 5]]


def rod(name="rod"):
    """Two bending shapes (sines), two axial ones; the end moves along x only."""
    FM, FK = RHO * B * B * L2, 2e11 * B * B / L2
    S, K, C2 = np.zeros((3, 3, 4, 4)), np.zeros((4, 4)), np.zeros((3, 3, 4))
    S[0, 0, 2:, 2:] = FM * np.array([[8, 1], [1, 2]])
    S[1, 1, :2, :2] = FM / 2 * np.eye(2)
    S[0, 1, 2, 0], S[0, 1, 3, :2] = FM * 16 / PI**3, (-FM * (8 / PI**3 - 1 / PI), -FM / 2 / PI)
    S[1, 0] = S[0, 1].T
    K[:2, :2] = FK * PI**4 * (B / L2) ** 2 * np.diag([1 / 24, 2 / 3])
    K[2:, 2:] = FK * np.array([[16, -8], [-8, 7]]) / 3
    C2[0, 0], C2[0, 1] = FM * L2 * np.array([0, 0, 1 / 3, 1 / 6]), FM * L2 * np.array([1 / PI, -0.5 / PI, 0, 0])
    C1 = FM * np.array([[0, 0, 2 / 3, 1 / 6], [2 / PI, 0, 0, 0], [0, 0, 0, 0]])
    none = np.zeros((3, 4))
    end = {"translation": (L2, 0, 0), "displacement": np.outer([1, 0, 0], [0, 0, 0, 1.0]), "turn": none}
    return gs.FlexibleBody(
        name, mass=M2, first_moment=(M2 * L2 / 2, 0, 0), second_moment=(J2, 0, 0), C1=C1, C2=C2, S=S, stiffness=K,
        interfaces={"a": {"displacement": none, "turn": none}, "b": end},
    )  # fmt: skip
