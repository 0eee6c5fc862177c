"""The bicycle that rides by itself: weave and capsize

Two knife-edge wheels that roll without slipping. Linearised about straight riding, eigenvalues tell at which speeds
the bicycle stays up without a rider's hand: from 4.29 to 6.02 m/s, the published numbers. See
[rolling](../reference/rolling.md).
"""

import matplotlib.pyplot as plt
import numpy as np

import gyrostat as gs

bicycle = gs.robots.bicycle()
speeds = np.linspace(0.2, 10.0, 50)


def eigenvalues(speed):
    v = {"pose": (0, 0, 0, speed, 0, 0), "rear_spin": speed / 0.3, "steer": 0, "front_spin": speed / 0.35}
    return np.linalg.eigvals(gs.linearise(bicycle, gs.neutral(bicycle), v).A)


poles = [eigenvalues(speed) for speed in speeds]
growth = np.array([max(x.real for x in found if abs(x) > 1e-6) for found in poles])
stable = speeds[growth < 0]
print(f"{stable.min():.1f} to {stable.max():.1f} m/s")  # 4.4 to 6.0 m/s

figure, axes = plt.subplots()
for speed, found in zip(speeds, poles, strict=True):
    axes.plot([speed] * len(found), found.real, ".", color="C0", markersize=3)
    turning = found[found.imag > 1e-6]
    axes.plot([speed] * len(turning), turning.imag, ".", color="C1", markersize=3)
axes.axvspan(stable.min(), stable.max(), alpha=0.15, color="C2")
axes.axhline(0, color="black", linewidth=0.8)
axes.set(xlabel="speed [m/s]", ylabel="eigenvalues [1/s]: blue real, orange imaginary", ylim=(-10, 10))
# picture: bicycle, turn=-18, tilt=8
