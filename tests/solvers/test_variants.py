"""Variants of a model share machine code, and answer with their own numbers."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.solvers.machinery.variants import variant

CASES = {
    "chain": (lambda: gs.robots.chain(3), {"link2.mass": 2.5, "joint1.axis": (0.0, 1.0, 0.0)}),
    "drives": (gs.robots.arm6, {"link3.mass": 11.0, "q2_drive.gear.ratio": 90.0}),
    "elastic": (gs.robots.elastic_arm, None),
    "loop": (gs.robots.palletizer, None),
    "flexible": (gs.robots.flexible_arm, {"upper.E": 5e10, "upper.density": 2000.0}),
    "humanoid": (gs.robots.humanoid, None),
}
FUNCTIONS = {
    "rnea": lambda m, q, v, a: gs.rnea(m, q, v, a),
    "aba": lambda m, q, v, a: gs.aba(m, q, v, a),
    "crba": lambda m, q, v, a: gs.crba(m, q),
    "gravity": lambda m, q, v, a: gs.gravity(m, q),
    "energy": lambda m, q, v, a: np.array(gs.kinetic_energy(m, q, v)),
}


def first_masses(model, count=2):
    bodies = [name for name, e in model.wiring.entities.items() if getattr(e, "mass", 0.0) and "." not in name]
    return {
        f"{name}.mass": model[f"{name}.mass"] * 1.3
        for name in bodies[:count]
        if isinstance(model[f"{name}.mass"], float)
    }


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("case", CASES)
def test_variants_answer_as_models_of_their_own(case, function):
    make, changes = CASES[case]
    model = make()
    changes = changes or first_masses(model)
    rng = np.random.default_rng(3)
    q, v, a = gs.random_configuration(model, rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
    call = FUNCTIONS[function]
    other = {path: 1.1 * np.array(x) if isinstance(x, float) else x for path, x in changes.items()}
    one, two = variant(model, changes), variant(model, other)
    plain = [call(m, q, v, a) for m in (model, model.replace(changes), model.replace(other))]
    for _ in range(2):  # in turns: none disturbs another
        for m, expected in zip((model, one, two), plain, strict=True):
            np.testing.assert_allclose(call(m, q, v, a), expected, rtol=1e-9, atol=1e-9)


def test_variants_compile_once():
    model = gs.robots.chain(3)
    solvers = []
    for mass in (1.0, 2.0, 3.0):
        m = variant(model, {"link2.mass": mass})
        gs.rnea(m, np.zeros(3), np.zeros(3), np.ones(3))
        solvers += [s for key, s in m.__dict__["_solvers"].items() if isinstance(key, tuple)]
    kernels = {id(s._kernels) for s in solvers if isinstance(s, gs.InverseDynamics)}
    assert len(kernels) == 1
