"""Gait patterns: walk, trot, pace, gallop

A foot stands for a share of the stride, its duty factor, and touches down at its relative phase. From these follow
the phases of a gait: who stands, lands and lifts. `gs.studies.optimal_gait` finds the motion of least cost with them.
See [gaits](../reference/gaits.md).
"""

import matplotlib.pyplot as plt

import gyrostat as gs

names = ["walk", "trot", "pace", "canter", "transverse gallop", "rotary gallop"]
print([len(phase.feet) for phase in gs.studies.gait_phases("walk", duty=0.85)])
# [4, 3, 4, 3, 4, 3, 4, 3]

figure, panels = plt.subplots(2, 3, sharex=True, figsize=(6.4, 4.0))
for axes, name in zip(panels.ravel(), names, strict=True):
    phases = gs.studies.gait_phases(name)
    feet = sorted({foot for phase in phases for foot in phase.feet})
    for phase in phases:
        for foot in phase.feet:
            width = phase.end - phase.start
            axes.barh(feet.index(foot), width, left=phase.start, height=0.7, color=f"C{feet.index(foot)}")
    axes.set(title=name, yticks=range(len(feet)), yticklabels=feet, xlim=(0, 1))
for axes in panels[1]:
    axes.set_xlabel("part of the stride")
# picture: gs.robots.aibo(), turn=-30, tilt=14
