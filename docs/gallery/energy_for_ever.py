"""Long runs: methods that keep energy and momentum

A hundred seconds of a double pendulum that swings over, with coarse steps of one length: explicit Runge-Kutta loses
energy, the variational integrator does not. See [simulation](../reference/simulate.md#methods).
"""

import matplotlib.pyplot as plt
import numpy as np

import gyrostat as gs

arm = gs.robots.two_link()
t = np.linspace(0, 100, 2001)
figure, axes = plt.subplots()
drift = {}
for method in ("rk4", "variational"):
    run = gs.simulate(arm, q0=[2.0, 0.5], method=method, dt=0.01, t_eval=t, progress=False)
    energy = gs.kinetic_energy(arm, run.q, run.v) + gs.potential_energy(arm, run.q)
    axes.plot(t, energy - energy[0], label=method, linewidth=1)
    drift[method] = abs(np.mean(energy[-200:]) - np.mean(energy[:200]))
print(drift["variational"] < 0.01 < drift["rk4"])  # True
axes.set(xlabel="t [s]", ylabel="energy minus its start [J]", xlim=(0, 100))
axes.legend(ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
