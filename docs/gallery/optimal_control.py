"""Optimal control: swing up a cart-pole with the least torque

Motion, force and derivatives in one programme, solved by Ipopt. First and second derivatives are exact, from the
machine code of the robot. The cost is that of the literature to five digits. See [optimal
control](../reference/optimal_control.md).
"""

import matplotlib.pyplot as plt
import numpy as np

import gyrostat as gs

block = gs.Shape(kind="box", size=(0.24, 0.14, 0.12), color=(0.35, 0.55, 0.75, 1))
bar = gs.Shape(kind="capsule", size=(0.02, 0.25), translation=(0, 0, -0.25), color=(0.85, 0.45, 0.2, 1))
cart = gs.assemble(
    "cartpole",
    gs.chain(
        "world",
        gs.Joint("cart", "prismatic", axis="x"),
        gs.RigidBody("trolley", mass=2.0, shapes=[block]),
        gs.Joint("pole", "revolute", axis="y", passive=True),
        gs.RigidBody("bob", mass=0.5, com=(0, 0, -0.5), shapes=[bar]),
    ),
)
rest, up = {"q": [0, 0], "v": 0}, {"q": [0.8, -np.pi], "v": 0}
swing = gs.studies.Phase(cart, duration=2.0, nodes=61, cost="torque", limits={"u": 100.0}, start=rest, end=up)
motion = gs.studies.optimal_control([swing])
print(motion.converged, f"{motion.cost:.1f}")  # True 225.6

phase = motion.phases[0]
figure, (above, below) = plt.subplots(2, 1, sharex=True)
above.plot(motion.t, motion.q, label=["cart [m]", "pole [rad]"])
above.legend()
below.plot(motion.t, phase.u, color="C2")
below.set(xlabel="t [s]", ylabel="force [N]", xlim=(0, 2))
# picture: cart, motion.q[-1], ghosts=motion.q[:-6:8], turn=-10, tilt=10
