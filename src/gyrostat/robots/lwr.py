"""The KUKA LWR 4+ of WM15, appendix: every number as printed there."""

from __future__ import annotations

from gyrostat.spec.assemble import Link, assemble, chain
from gyrostat.spec.displacement import Displacement
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.values import RotationMatrix

# Table 2: mass [kg] and moments of inertia [kg m^2] in the centroidal frames pi'
LINKS = (
    (3.0, (1.27e-2, 1.27e-2, 5.4e-3)),
    (3.0, (1.27e-2, 1.27e-2, 5.4e-3)),
    (3.0, (1.27e-2, 1.27e-2, 5.4e-3)),
    (2.5, (1.017e-3, 4.5e-3, 4.5e-3)),
    (2.5, (1.017e-3, 4.5e-3, 4.5e-3)),
    (1.0, (1.44e-3, 1.44e-3, 1.44e-3)),
    (0.5, (3.66e-4, 3.66e-4, 2.25e-4)),
)
# s'_ji, s'_jk: z coordinates of the joints before and after link j in its centroidal frame [m]
BEFORE = (-0.2105, -0.1, -0.1, -0.0975, -0.0975, 0.0, -0.0309)
AFTER = (0.1, 0.1, 0.1, 0.0975, 0.0975, 0.0)

ONE = RotationMatrix(matrix=((1, 0, 0), (0, 1, 0), (0, 0, 1)))
BASE = RotationMatrix(matrix=((0, 1, 0), (0, 0, 1), (1, 0, 0)))  # C_01 = Rx(-pi/2) Rz(-pi/2)
ELBOW = RotationMatrix(matrix=((0, -1, 0), (0, 0, -1), (1, 0, 0)))  # Rz(pi/2) Ry(-pi/2): C_12, C_21, C_34, ...


def kuka_lwr4() -> Model:
    """KUKA LWR 4+: seven revolute joints ``q1`` ... ``q7``, links ``link1`` ... ``link7``, gravity (0, -9.81, 0)
    (joint 1 points along +y).

    WM15 prints ``A''_67 = R_z(q_6)``; ``R_z(q_7)`` is meant. It prints no gravity; with this one the arm stands
    upright and the torques of its experiment are symmetric in time, as it says. The last link has the frame
    ``flange`` at its far end, 0.0309 m beyond its centre of mass, which is ours."""
    turned = (ONE, ELBOW, ONE, ELBOW, ONE, ELBOW, ONE)  # C_ij = C_ji at joint j, but for C_01
    links: list[Link] = []
    for j, (mass, inertia) in enumerate(LINKS):
        far = "flange" if j == 6 else "next"
        place = ((0, 0, 0.0309), ONE) if j == 6 else ((0, 0, AFTER[j]), turned[j + 1])
        frames = {"joint": ((0, 0, BEFORE[j]), turned[j]), far: place}
        body = RigidBody(f"link{j + 1}", mass=mass, inertia=inertia, frames=frames)
        links += [Joint(f"q{j + 1}", "revolute", axis="z"), ("joint", body)]  # left by its last frame
    return assemble("kuka_lwr4", chain("world", Displacement("base", rotation=BASE), *links), gravity=(0, -9.81, 0))
