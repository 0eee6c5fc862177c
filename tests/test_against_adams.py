"""A body on one joint that falls from rest, as MSC ADAMS computed it: motion of its centre and reaction in the joint.

The histories come from the unit tests of projectchrono/chrono (data/testing/joints, BSD-3). Mass 1 kg, centre of
mass 2 m from the joint, gravity 9.80665 m/s^2 along -z. The joint's state is read off the history of the centre; then
the torques of the joint vanish, the centre moves as ADAMS says, and the cut force in the joint is the reaction.

Tolerances, relative to the largest number of a kind: 1e-5 for positions, which are printed with six digits, 5e-5 for
velocities, 2e-4 for accelerations and forces. More there is not in the histories: in Prismatic_Case02 the body
accelerates across its rail by 8e-4 m/s^2.
"""

import numpy as np
import pytest
from reference_data import reference

import gyrostat as gs
from gyrostat.spec.values import Euler

TURN, LEAN = (180, 90, 180), (180, 45, 180)  # Euler angles z-x-z [deg] of the joint's marker
LONG, TALL = (0.04, 0.1, 0.1), (0.1, 0.1, 0.04)
# kind, place of the joint's marker, its Euler angles, centre of mass in the world at t = 0, moments of inertia
CASES = {
    "Revolute_Case01": ("revolute", (0, 0, 0), TURN, (2, 0, 0), LONG),
    "Revolute_Case02": ("revolute", (1, 2, 3), LEAN, (3, 2, 3), LONG),
    "Spherical_Case01": ("spherical", (0, 0, 0), (0, 0, 0), (2, 0, 0), LONG),
    "Spherical_Case02": ("spherical", (1, 2, 3), LEAN, (3, 2, 3), LONG),
    "Universal_Case01": ("universal", (0, 0, 0), (0, 90, 0), (0, 2, 0), TALL),
    "Universal_Case02": ("universal", (0, 0, 0), (90, 90, -90), (-2, 0, 0), TALL),
    "Universal_Case03": ("universal", (0, 0, 0), (-45, 90, 45), (np.sqrt(2), np.sqrt(2), 0), TALL),
    "Cylindrical_Case01": ("cylindrical", (0, 0, 0), (0, 0, 0), (2, 0, 0), LONG),
    "Cylindrical_Case02": ("cylindrical", (0, 0, 0), TURN, (2, 0, 0), LONG),
    "Cylindrical_Case03": ("cylindrical", (1, 2, 3), LEAN, (3, 2, 3), LONG),
    "Prismatic_Case01": ("prismatic", (0, 0, 0), (0, 0, 0), (2, 0, 0), LONG),
    "Prismatic_Case02": ("prismatic", (1, 2, 3), LEAN, (3, 2, 3), LONG),
    "Prismatic_Case03": ("prismatic", (1, 2, 3), TURN, (3, 2, 3), LONG),
}
# Universal_Case03 at t = 2 s: angular acceleration, acceleration, angular velocity, position, quaternion w x y z,
# reaction force and torque, velocity
SAMPLE = """
4.369390e+00,-2.262460e+00,5.942430e-01,4.355030e+00,4.244860e+00,-8.210420e+00,1.124170e+00,-9.169860e-01,3.658040e-02,
-1.399940e+00,-1.360700e+00,-4.343730e-01,5.514650e-01,-6.255650e-01,8.703030e-03,-5.517970e-01,
-4.355030e+00,-4.244860e+00,-1.596230e+00,-4.188030e-02,-5.161850e-02,-6.885970e-03,4.480760e-01,4.370800e-01,
-2.813370e+00
"""


def build(case):
    """The model, and the axes R_0 of the joint's marker in the world."""
    kind, place, angles, centre, inertia = CASES[case]
    marker = gs.Displacement("marker", translation=place, rotation=Euler(euler=np.deg2rad(angles), axes="ZXZ"))
    R_0 = gs.fk(gs.assemble("marker", gs.chain("world", marker)), [])["marker.b"].R
    axes = {"spherical": {}, "universal": {"axis": "x", "second_axis": "y"}}.get(kind, {"axis": "z"})
    com = R_0.T @ (np.array(centre) - place)
    body = gs.RigidBody("body", mass=1.0, com=com, inertia=inertia, frames={"centre": com})
    links = gs.chain("world", marker, gs.Joint("joint", kind, **axes), body)
    return gs.assemble(case, links, gravity=(0, 0, -9.80665)), R_0


def matrix(wxyz):
    """Rotation matrices of quaternions (n, 4)."""
    w, x, y, z = wxyz.T / np.linalg.norm(wxyz, axis=1)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), 2, 0)


def joint_state(kind, R_0, R, history, centre):
    """q, v, a of the joint from the motion of the centre, by projection on the joint's axes."""
    spin, spin_rate = history["angular velocity"], history["angular acceleration"]
    z = R_0[:, 2]
    R_ab = R_0.T @ R  # the body's axes in those of the marker
    about = [np.arctan2(R_ab[:, 1, 0], R_ab[:, 0, 0]), spin @ z, spin_rate @ z]
    along = [(history["position"] - centre) @ z, history["velocity"] @ z, history["acceleration"] @ z]
    if kind == "revolute":
        return [x[:, None] for x in about]
    if kind == "prismatic":
        return [x[:, None] for x in along]
    if kind == "cylindrical":
        return [np.stack(pair, axis=1) for pair in zip(about, along, strict=True)]
    if kind == "universal":  # R_ab = Rx(q1) Ry(q2); the axes are perpendicular, and so is omega_1 x omega_2
        q = np.stack([np.arctan2(R_ab[:, 2, 1], R_ab[:, 1, 1]), np.arctan2(R_ab[:, 0, 2], R_ab[:, 0, 0])], axis=1)
        return [
            q,
            *(np.stack([x @ R_0[:, 0], np.einsum("ni,ni->n", x, R[:, :, 1])], axis=1) for x in (spin, spin_rate)),
        ]
    w, x, y, z = wxyz_product(R_0, history["quaternion"]).T
    return [np.stack([x, y, z, w], axis=1), *(np.einsum("nji,nj->ni", R, x) for x in (spin, spin_rate))]


def wxyz_product(R_0, wxyz):
    """Quaternions w x y z of R_0^T R; R_0 turns about x by an angle below a right one, or not at all."""
    half = np.arctan2(R_0[2, 1], R_0[1, 1]) / 2
    c, s = np.cos(half), -np.sin(half)
    np.testing.assert_allclose(R_0[:, 0], (1, 0, 0), atol=1e-15)
    w, x, y, z = wxyz.T / np.linalg.norm(wxyz, axis=1)
    return np.stack([c * w - s * x, c * x + s * w, c * y - s * z, c * z + s * y], axis=1)


COLUMNS = (
    "angular acceleration",
    "acceleration",
    "angular velocity",
    "position",
    "quaternion",
    "force",
    "torque",
    "velocity",
)


def compare(case, table):
    """``table``: rows of the file without the time."""
    kind, _, _, centre, _ = CASES[case]
    history = dict(zip(COLUMNS, np.split(table, [3, 6, 9, 12, 16, 19, 22], axis=1), strict=True))
    model, R_0 = build(case)
    R = matrix(history["quaternion"])
    q, v, a = joint_state(kind, R_0, R, history, centre)

    def assert_close(got, name, tolerance, least=0.0):
        want = history[name]
        np.testing.assert_allclose(got, want, rtol=0, atol=max(tolerance * max(1.0, np.abs(want).max()), least))

    motion = gs.fk(model, q, v, a)["body.centre"]
    velocity, acceleration = motion.velocity("aligned"), motion.acceleration("aligned")
    np.testing.assert_allclose(motion.R, R, rtol=0, atol=1e-5)
    assert_close(motion.p, "position", 1e-5)
    assert_close(velocity[:, :3], "angular velocity", 5e-5)
    assert_close(velocity[:, 3:], "velocity", 5e-5)
    assert_close(acceleration[:, :3], "angular acceleration", 2e-4)
    assert_close(acceleration[:, 3:], "acceleration", 2e-4)
    solver, lever = gs.InverseDynamics(model), 2.0 * 20.0 * 1e-4  # 2 m, 20 N, and the error of the acceleration
    np.testing.assert_allclose(solver(q, v, a), np.zeros_like(v), rtol=0, atol=lever)
    cut = solver.port_forces(q, v, a, ports=["joint.a"])["joint.a"]
    assert_close(-cut[:, 3:] @ R_0.T, "force", 2e-4)  # ADAMS tells the force on the ground
    assert_close(-cut[:, :3] @ R_0.T, "torque", 2e-4, lever)


def test_a_universal_joint_at_two_seconds():
    compare("Universal_Case03", np.array([[float(x) for x in SAMPLE.split(",")]]))


@pytest.mark.parametrize("case", CASES)
def test_motion_and_reaction_over_five_seconds(case):
    table = np.loadtxt(reference(f"adams_joints/{case}.csv"), delimiter=",", skiprows=2)
    assert table.shape == (501, 26)
    compare(case, table[::10, 1:])
