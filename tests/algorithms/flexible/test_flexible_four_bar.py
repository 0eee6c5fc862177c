"""Four-bars with a flexible coupler or rocker: minimal coordinates against constraints, beams against elements with
cuts, and stiff ones against the rigid mechanism."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import gyrostat as gs
from tests.support.comparing import assert_close

SECTION = {"area": 4e-4, "I_y": 1.3e-8, "I_z": 1.3e-8, "J": 2.2e-8, "G": 2.7e9, "density": 2700.0, "damping": 1e-3}
LENGTHS = {"crank": 0.3, "coupler": 0.9, "rocker": 0.7}
BEAMS = {
    "modal": {"modes": (0, 2), "modes_x": (0, 1)},
    "fe": {"method": "fe", "elements": 3, "modes": (0, 2), "modes_x": 0},
    "in-cut": {"method": "in-cut", "elements": 2, "modes": (0, 1), "modes_x": 0},
    "segments": {"segments": 2, "modes": (0, 1), "modes_x": 0},
}


@cache
def four_bar(loops="minimal", which="coupler", kind="modal", E=7e8, **beam):
    """Bars that turn about y; ``which`` of them is a beam, none if it is not named; entered by a, the rocker too."""
    links, ends = [], {}
    for name, l in LENGTHS.items():
        m = SECTION["density"] * SECTION["area"] * l
        if name == which:
            link = gs.FlexibleBeam(name, length=l, E=E, **(SECTION | BEAMS[kind] | beam))
            links, ends[name] = [*links, link], (f"{name}.a", f"{name}.b")
        else:
            inertia = (m * 1e-4, m * l * l / 12, m * l * l / 12)
            link = gs.RigidBody(name, mass=m, com=(l / 2, 0, 0), inertia=inertia, frames={"end": (l, 0, 0)})
            links, ends[name] = [*links, link], (name, f"{name}.end")
    joints = [gs.Joint(f"j{k}", "revolute", axis="y") for k in (1, 2, 3, 4)]
    post = gs.Displacement("post", translation=(0.8, 0, 0))
    (crank, pin), (near, far), (foot, head) = (ends[name] for name in LENGTHS)
    wires = [
        ("world", "j1.a"), ("j1.b", crank), (pin, "j2.a"), ("j2.b", near), (far, "j3.a"), ("j3.b", head),
        ("world", "post.a"), ("post.b", "j4.a"), ("j4.b", foot),
    ]  # fmt: skip
    reference = {"j1": -1.0, "j2": 0.6, "j4": -1.4}
    return gs.assemble(
        "four_bar", *joints, *links, post, *(gs.connect(*w) for w in wires), loops=loops, reference=reference
    )


def swing(model, method="dopri5", t_end=0.1, **options):
    fixed = "dt" in options
    options |= {} if fixed else {"rtol": 1e-10, "atol": 1e-12}
    run = gs.simulate(
        model, {"j1": 0.5}, gs.neutral(model), None, t_end, t_eval=[0, t_end], method=method, progress=False, **options
    )
    return run.q[-1]


CASES = [
    pytest.param(which, kind, marks=[] if (which, kind) == ("coupler", "modal") else [pytest.mark.slow])
    for which in ("coupler", "rocker")
    for kind in BEAMS
]


@pytest.mark.parametrize(("which", "kind"), CASES)
def test_minimal_coordinates_and_constraints_agree(which, kind):
    minimal, tree = (four_bar(loops, which, kind) for loops in ("minimal", "constraints"))
    assert set(minimal.dofs) == {"j1", *(name for name in tree.dofs if name.startswith(which))}
    assert_close(gs.neutral(minimal), [gs.neutral(tree)[tree.coordinates.index(x)] for x in minimal.coordinates], 1e-9)
    q, full = swing(minimal), swing(tree)
    assert_close(q, full[[tree.coordinates.index(name) for name in minimal.coordinates]], 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("which", "kind"), [case.values for case in CASES])
@pytest.mark.parametrize("loops", ["minimal", "constraints"])
def test_every_method_swings_it(loops, which, kind):
    model = four_bar(loops, which, kind)
    q = swing(model)
    assert_close(swing(model, "radau"), q, 1e-8)
    for method in ("generalised-alpha", "dina"):
        steps = [np.abs(swing(model, method, dt=dt) - q).max() for dt in (4e-4, 2e-4)]
        assert steps[1] < 2e-6 and 3.0 < steps[0] / steps[1] < 5.0  # of second order


@pytest.mark.parametrize("which", ["coupler", pytest.param("rocker", marks=pytest.mark.slow)])
def test_a_stiff_beam_is_the_rigid_bar(which):
    """Gaps fall with 1 / E: links bend by loads over stiffness."""
    angle = swing(four_bar(which="none"), t_end=0.05)[0]
    gaps = [swing(four_bar(which=which, E=E, kind="segments"), "radau", 0.05)[0] - angle for E in (7e10, 7e11)]
    assert abs(gaps[1]) < 2e-5
    assert abs(gaps[0] / gaps[1]) > 5.0


@pytest.mark.slow
def test_elements_with_cuts_have_weight_and_inertia_of_the_beam():
    """Torque that holds the crank, and its inertia with the bars straight; no stretch in both."""

    def crank(**beam):
        model = four_bar(E=7e9, modes_x=0, **beam)
        q, rest = gs.neutral(model), np.zeros(model.nv)
        return float(gs.rnea(model, q, rest, rest)[0]), float(gs.crba(model, q)[0, 0])

    torque, inertia = crank(kind="modal", modes=(0, 4))
    for n in (2, 4):
        assert_close(crank(kind="in-cut", elements=n)[0], torque, 1e-9)
        assert_close(crank(kind="in-cut", elements=n)[1], inertia, 1e-3)
