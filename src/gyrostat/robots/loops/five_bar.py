"""A planar robot with two drives on the ground."""

from __future__ import annotations

from gyrostat.robots.loops.links import GREY, ORANGE, bar
from gyrostat.spec.assemble import assemble, chain, connect
from gyrostat.spec.closed_loops import LoopTreatment
from gyrostat.spec.displacement import Displacement
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model

LIMITS = {"left": {"lower": 1.2, "upper": 3.0}, "right": {"lower": 0.14, "upper": 1.94}}  # [rad]
BASE, ARM, FOREARM = 0.2, 0.25, 0.33  # [m]


def five_bar(drives: bool = True, loops: LoopTreatment = "auto") -> Model:
    """Two driven arms on the ground, two forearms that meet at the tip, in the vertical plane x, z; all figures ours::

                  tip
                   o                    left, right   driven, on the ground, 0.2 m apart
                 /   \\                  left_elbow, right_elbow, tip   passive
               /       \\   forearms
         elbow o       o elbow          bars of 0.25 m, 0.8 kg and 0.33 m, 0.5 kg
                \\     /  arms
            left o   o right            gravity (0, 0, -9.81)

    All hinges turn about -y: bars lie along x where their angles are zero, and positive angles lift. The independent
    coordinates are ``left`` and ``right``; the loop is solved for the elbows. ``left_forearm.tip`` is the tool. Unless
    ``drives`` is False, rotors of 4e-5 kg m^2 turn 50 times as fast as the arms, with friction."""

    def hinge(name: str) -> Joint:
        return Joint(name, "revolute", axis=(0.0, -1.0, 0.0), **LIMITS.get(name, {}))

    def side(name: str) -> tuple[Joint, object, Joint, object]:
        arm = bar(f"{name}_arm", 0.8, (ARM, 0.0, 0.0), 0.03, color=ORANGE)
        return (
            hinge(name),
            arm,
            hinge(f"{name}_elbow"),
            bar(f"{name}_forearm", 0.5, (FOREARM, 0.0, 0.0), 0.02, color=GREY),
        )

    model = assemble(
        "five_bar",
        chain("world", Displacement("left_foot", translation=(-BASE / 2, 0.0, 0.0)), *side("left"), hinge("tip")),  # type: ignore[arg-type]
        chain("world", Displacement("right_foot", translation=(BASE / 2, 0.0, 0.0)), *side("right")),  # type: ignore[arg-type]
        connect("tip.b", "right_forearm.tip"),
        reference={"left": 2.2, "left_elbow": -1.476, "right": 0.942, "right_elbow": 1.476},
        independent=["left", "right"],
        loops=loops,
    )
    for name in ("left", "right") if drives else ():
        model = model.with_drive(name, rotor_inertia=4e-5, gear_ratio=50.0, viscous=0.1, coulomb=0.15)
    return model
