"""The flexible slider-crank of the IVP test set (problem ``crank``, after Simeon 1996), its matrices as data of a body.

Numbers from CRAN deTestSet, src/Ex_crank.f: linear strains, no damping, no gravity; pi as the source has it."""

import numpy as np

import gyrostat as gs

PI, RHO, B, L1, L2, OMEGA = 3.1415927, 7870.0, 0.008, 0.15, 0.3, 150.0
M2, M3, J2 = 0.151104, 0.075552, 0.0045339259
Q0 = [0.0, 0.0, 1.03339863e-05, 1.69327969e-05]
V0 = [0.444896105, 0.00463434311, -1.78591076e-06, -2.68938672e-06]
PHI2_RATE = -74.995767
ACCURATE = {  # t = 0.1 s, index 1 by DOP853 with 1e-12, source's equations
    "phi2": -0.33117349462760826,
    "q": [0.0001893192938165304, 2.3757513233527935e-05, -5.323896758411386e-06, -8.363313255536344e-06],
    "v_phi2": 60.25346750629596,
    "v": [-0.030055412324772775, -0.005500430615712365, 0.0004974111838998687, 0.001105559983695893],
    "x3": 0.16973733325259105,
}


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
