"""LQR: balance a pole on a cart

Linearised about the upright rest, exactly, and regulated with the least cost. The feedback is a block for
simulations, with the limit of the motor. See [regulators](../reference/lqr_ddp.md).
"""

import matplotlib.pyplot as plt
import numpy as np

import gyrostat as gs

block = gs.Shape(kind="box", size=(0.3, 0.2, 0.1), color=(0.35, 0.55, 0.75, 1))
bar = gs.Shape(kind="capsule", size=(0.02, 0.5), translation=(0, 0, 0.5), color=(0.85, 0.45, 0.2, 1))
cart = gs.RigidBody("cart", mass=1.0, inertia=(0.1, 0.1, 0.1), shapes=[block])
rod = gs.RigidBody("rod", mass=0.3, com=(0, 0, 0.5), inertia=(1e-3, 1e-3, 0.0), shapes=[bar])
slide, pole = gs.Joint("slide", "prismatic", axis="x"), gs.Joint("pole", "revolute", axis="y", passive=True)
model = gs.assemble("cart_pole", gs.chain("world", slide, cart, pole, rod))

regulator = gs.studies.lqr(model, [0.0, 0.0], Q=[1.0, 10.0, 0.1, 0.1], R=0.1)
print(regulator.K[0].round(3))
# [[ -3.162 -43.196  -4.542  -8.902]]
t = np.linspace(0, 6, 601)
run = gs.simulate(model, regulator.block(limit=30.0), q0=[0.3, 0.3], t_eval=t, progress=False)
print(np.abs(run.q[-1]).max() < 0.01)  # True

figure, (above, below) = plt.subplots(2, 1, sharex=True)
above.plot(t, run.q, label=["cart [m]", "pole [rad]"])
above.legend()
below.plot(t, run.tau[:, 0], color="C2")
below.set(xlabel="t [s]", ylabel="force [N]", xlim=(0, 6))
# picture: model, run.q[0], turn=-20, tilt=10, ghosts=run.q[20:60:20]
