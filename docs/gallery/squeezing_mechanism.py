"""Closed loops: the squeezing mechanism of Andrews

Seven bodies, three loops, one degree of freedom: a classic test for differential-algebraic equations. Its loops are
recognised and solved in closed form, so that it is a robot with a single coordinate. See [closed
loops](../reference/loops.md).
"""

import matplotlib.pyplot as plt
import numpy as np

import gyrostat as gs

mechanism = gs.robots.andrews_squeezer()
print(mechanism.dofs, [loop.treatment for loop in gs.loops(mechanism)])
# ('beta',) ['closed form', 'closed form', 'closed form']
t = np.linspace(0, 0.03, 1201)
run = gs.simulate(mechanism, [0.033], t_eval=t, rtol=1e-12, atol=1e-12, progress=False)
print(f"{run.q[-1, 0]:.9f}")  # 15.810771195

figure, (above, below) = plt.subplots(2, 1, sharex=True)
above.plot(1e3 * t, run.q)
above.set_ylabel("crank [rad]")
below.plot(1e3 * t, run.v, color="C1")
below.set(xlabel="t [ms]", ylabel="its speed [rad/s]", xlim=(0, 30))
# picture: mechanism, run.q[-1], turn=-89, tilt=25
