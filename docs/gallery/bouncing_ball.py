"""Contact by events: a ball bounces, slides and rolls

Impacts, stick and slip are events whose instants are found; infinitely many bounces end in rest at the right instant.
Phases of the contact and its forces are part of the result. See [contact in time](../reference/contact_simulate.md).
"""

import matplotlib.pyplot as plt
import numpy as np

import gyrostat as gs

body = gs.RigidBody("ball", mass=1.0, inertia=(0.004, 0.004, 0.004), shapes=[gs.Shape(kind="sphere", size=(0.1,))])
ball = gs.assemble(
    "ball",
    gs.chain("world", gs.Joint("free", "free"), body, gs.ContactPoint("tip", radius=0.1)),
    gs.Ground("floor", friction=(0.4, 0.3), restitution=0.7),
)
t = np.linspace(0, 3, 1501)
run = gs.simulate(ball, q0=[0, 0, 1.1, 0, 0, 0, 1], v0=[0, 0, 0, 2.0, 0, 0], t_eval=t, progress=False)
rolling = run.contact_phases[-1]
spin, speed = (np.linalg.norm(run.v[:, part], axis=1) for part in (slice(0, 3), slice(3, 6)))
print(rolling.phase, f"{speed[-1] / spin[-1]:.6f}")  # stick 0.100000

figure, (above, below) = plt.subplots(2, 1, sharex=True)
above.plot(t, run.q[:, 2] - 0.1)
above.set_ylabel("height [m]")
above.axvline(rolling.t_start, color="black", linestyle=":", linewidth=1)
below.plot(t, 0.1 * spin, label="radius x spin")
below.plot(t, speed, label="speed")
below.set(xlabel="t [s]; dotted: it rolls", ylabel="[m/s]", xlim=(0, 3))
below.legend()
