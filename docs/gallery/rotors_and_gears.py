"""What rotors and gears change in the mass matrix

A rotor behind a gear adds the square of the ratio times its inertia at its joint, and, once for the ratio, couples
with the link that carries it. Drives are a part of the model, in every algorithm. See
[drives](../reference/drives.md).
"""

import matplotlib.pyplot as plt
import numpy as np

import gyrostat as gs

q = [0.0, 0.4, 0.6, 0.2, 0.5, 0.0]
plain, driven = gs.robots.arm6(drives=False), gs.robots.arm6(drives=True)
without, with_rotors = gs.crba(plain, q), gs.crba(driven, q)
added = np.diag(with_rotors - without)
expected = [driven[f"{joint}_drive.rotor.inertia"] * driven[f"{joint}_drive.gear.ratio"] ** 2 for joint in driven.dofs]
print(np.all(added >= np.array(expected) * (1 - 1e-9)))  # True

figure, axes = plt.subplots()
place = np.arange(6)
axes.bar(place, np.diag(without), label="links")
axes.bar(place, added, bottom=np.diag(without), label="rotors")
axes.set(xticks=place, xticklabels=driven.dofs, ylabel="diagonal of the mass matrix [kg m²]", yscale="log")
axes.legend()
# picture: driven, q
