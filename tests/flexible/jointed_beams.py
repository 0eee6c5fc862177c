"""Arms of beams that are cut into rigid pieces with springs between them [AS Fig. 1], of joints and bodies."""

from __future__ import annotations

import numpy as np

import gyrostat as gs

CUT = 0.5 - 1.0 / np.sqrt(12.0)


def beam(name: str, length: float, mass: float, EI: float, elements: int = 1, axes: str = "z", damping: float = 0.0):
    """Entities and wires of a beam along x, its first and last frame, and the names of its cuts."""
    l, a = length / elements, CUT * length / elements
    lengths = [a] + [l - 2 * a, 2 * a] * (elements - 1) + [l - 2 * a, a]
    parts, wires, cuts = [], [], []
    for k, d in enumerate(lengths):
        m = mass * d / length
        J = m * d * d / 12.0
        parts.append(
            gs.RigidBody(
                f"{name}_{k}", mass=m, com=(d / 2, 0, 0), inertia=(0.02 * J + 1e-6, J, J), frames={"end": (d, 0, 0)}
            )
        )
        if k == 0:
            continue
        last = f"{name}_{k - 1}.end"
        for axis in axes:
            cut = f"{name}_{axis}{k}"
            parts += [
                gs.Joint(cut, "revolute", axis=axis),
                gs.Spring(f"{cut}_spring", stiffness=2.0 * EI / l, ground=True),
            ]
            wires += [gs.connect(last, f"{cut}.a"), gs.connect(f"{cut}.shaft", f"{cut}_spring.a")]
            if damping:
                parts.append(gs.Damper(f"{cut}_damper", damping=damping * 2.0 * EI / l, ground=True))
                wires.append(gs.connect(f"{cut}.shaft", f"{cut}_damper.a"))
            cuts.append(cut)
            last = f"{cut}.b"
        wires.append(gs.connect(last, f"{name}_{k}.origin"))
    return parts, wires, (f"{name}_0.origin", f"{name}_{len(lengths) - 1}.end"), cuts


def two_booms(EI: float = 2e3, elements: int = 2, axes: str = "z", gravity=(0, 0, 0), damping=0.0, base="fixed"):
    """Two beams of 2 m and 3 kg with a hinge each and a load of 2 kg; the flexible model, and the rigid one."""
    parts, wires, last, cuts = [], [], "world", []
    if base == "free":
        parts.append(gs.RigidBody("craft", mass=40.0, inertia=(12.0, 14.0, 15.0), frames={"mount": (0.4, 0.1, 0.0)}))
        wires.append(gs.connect("world", "craft"))
        last = "craft.mount"
    for number, axis in ((1, "z"), (2, "z")):
        pieces, inside, (first, end), own = beam(f"boom{number}", 2.0, 3.0, EI, elements, axes, damping)
        parts += [gs.Joint(f"hinge{number}", "revolute", axis=axis), *pieces]
        wires += [gs.connect(last, f"hinge{number}.a"), gs.connect(f"hinge{number}.b", first), *inside]
        last, cuts = end, cuts + own
    parts.append(
        gs.RigidBody("load", mass=2.0, com=(0.1, 0.0, 0.0), inertia=(0.01, 0.02, 0.02), frames={"tip": (0.2, 0, 0)})
    )
    wires.append(gs.connect(last, "load"))
    flexible = gs.assemble("booms", *parts, *wires, gravity=gravity, base=base)
    return flexible, flexible.lock(dict.fromkeys(cuts, 0.0))
