"""Criteria of balance and reduced dynamics outside of Python: C by a compiler, CasADi, batches, live properties."""

from __future__ import annotations

import subprocess
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import gyrostat as gs
from gyrostat.robots.leg_kinematics import leg_solvers
from tests.support.comparing import assert_close
from tests.support.legged import PAWS, bent
from tests.support.solver_zoo import OPTIONS, branched, state_of

CRITERIA = (
    "CapturePoint", "CentroidalMomentumRate", "ContactVelocities", "FrictionMargins", "StabilityMargin",
    "ZeroMomentPoint",
)  # fmt: skip
MODELS = {base: branched(base) for base in ("fixed", "free")}


def compiled_error(files: list[Path], folder: Path) -> float:
    """The greatest deviation that the exported ``main`` finds from its vectors."""
    program = str(folder / "check")
    sources = [str(f) for f in files if f.suffix == ".c"]
    subprocess.run(["cc", "-std=c99", "-o", program, *sources, "-lm"], check=True)
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    return float(done.stdout.split()[-1])


@pytest.mark.parametrize("base", MODELS)
@pytest.mark.parametrize("name", CRITERIA)
def test_a_compiler_makes_the_same_numbers_of_every_criterion(name, base, tmp_path):
    solver = getattr(gs, name)(MODELS[base], **OPTIONS.get(name, {}))
    assert compiled_error(solver.export_c(tmp_path, "criterion"), tmp_path) <= 1e-9


@pytest.mark.by_default(3)
@pytest.mark.parametrize("name", CRITERIA)
def test_batches_threads_and_live_properties_of_every_criterion(name):
    """Many states are one at a time; a mass that is live is the mass of the model; its derivative is a difference."""
    model, options = MODELS["free"], OPTIONS.get(name, {})
    solver = getattr(gs, name)(model, live=["arm.mass", "arm.com"], **options)
    rng = np.random.default_rng(6)
    states = [state_of(solver, rng) for _ in range(11)]
    batch = solver(*map(np.stack, zip(*states, strict=True)))
    for threads in (1, 2):
        assert_close(solver(*map(np.stack, zip(*states, strict=True)), threads=threads), batch, 0.0)
    assert_close(batch, np.stack([solver(*x) for x in states]), 1e-12)
    heavier = [model.replace({"arm.mass": 1.2 + s}) for s in (1e-5, -1e-5)]
    slope = solver.jacobian(solver.result, "arm.mass")(*states[0])
    ends = [getattr(gs, name)(m, **options)(*states[0]) for m in heavier]
    assert_close(np.reshape(slope, np.shape(ends[0])), (ends[0] - ends[1]) / 2e-5, 1e-6)
    solver.refresh(heavier[0])
    assert_close(solver(*states[0]), ends[0], 1e-11)


@pytest.mark.parametrize("explicit", [True, False], ids=["closed forms", "closure"])
def test_reduced_dynamics_is_exported(explicit, tmp_path):
    """The dog that trots: where legs have closed forms, they and the places of the feet are in it."""
    dog = gs.robots.aibo()
    contacts = {PAWS[0]: "point", PAWS[3]: "point"}
    reduced = gs.ReducedDynamics(dog, contacts, legs=leg_solvers(dog) if explicit else None, q0=bent(dog))
    solver = reduced.solver
    rng = np.random.default_rng(7)
    q, v, tau = reduced.reduced(bent(dog)), rng.normal(size=len(reduced.parts.independent)), rng.normal(size=dog.nv)
    found = reduced(q, v, tau)
    function = solver.casadi()
    inputs = [q if explicit else reduced.close(q), v, tau, *solver._live.values()]
    columns = [ca.DM(np.reshape(x, (-1, np.shape(x)[-1])) if np.ndim(x) > 1 else x) for x in inputs]
    values = dict(zip(function.name_out(), function.call(columns), strict=True))
    assert_close(np.array(values["a"]).ravel(), found.a, 1e-9)
    assert compiled_error(solver.export_c(tmp_path, "dog"), tmp_path) <= 1e-9
