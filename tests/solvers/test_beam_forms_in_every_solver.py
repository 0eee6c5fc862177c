"""A flexible beam in every public solver: both mountings, three representations, batches; refusals by name."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import gyrostat as gs
from tests.support.flexible_models import bent_state, boom_arm
from tests.support.solver_zoo import solver_classes

TIP = "load.origin"
OPTIONS = {
    "Jacobian": {"frame": TIP, "expressed_in": "local"},
    "JacobianRate": {"frame": TIP, "expressed_in": "aligned"},
    "ParameterJacobian": {"frame": TIP, "parameters": ["boom.E", "boom.length"]},
    "ParameterDerivatives": {"parameters": ["boom.density", "boom.I_z"]},
    "InverseOperationalInertia": {"contacts": {TIP: "point"}},
    "ContactDynamics": {"contacts": {TIP: "point"}},
    "ContactDynamicsDerivatives": {"contacts": {TIP: "point"}},
    "Impact": {"contacts": {TIP: "point"}, "restitution": 0.5},
    "ContactVelocities": {"contacts": {TIP: [[1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1]]}},
    "FrictionMargins": {"contacts": {TIP: {"kind": "point", "friction": 0.7}}},
    "StabilityMargin": {"points": [TIP, "boom.a", "beside.origin"]},
    "CapturePoint": {"height": -50.0},
}
REFUSED = {
    "Regressor": "'boom' of kind FlexibleBeam has an inertia of its own: regressor knows rigid bodies only",
}
CLASSES = {name: kind for name, kind in solver_classes().items() if name != "ElasticInverseDynamics"}
QUICK = ("InverseDynamics", "ForwardDynamics", "MassMatrix", "CenterOfMass", "PotentialEnergy", "Regressor")
NAMES = [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in sorted(CLASSES)]


def numbers(answer):
    """All arrays of a result."""
    if isinstance(answer, dict):
        return [x for key in sorted(answer) for x in numbers(answer[key])]
    if isinstance(answer, tuple | list):
        return [x for part in answer for x in numbers(part)]
    if hasattr(answer, "__dataclass_fields__"):
        return [x for key in answer.__dataclass_fields__ for x in numbers(getattr(answer, key))]
    return [np.asarray(answer, dtype=float)] if isinstance(answer, np.ndarray | float) else []


def forms(kind):
    """Representations that a solver may be asked for."""
    known = "representation" in inspect.signature(kind.__init__).parameters
    return [{"representation": name} for name in ("body", "absolute")] if known else [{}]


@pytest.mark.parametrize("entry", ["a", "b"])
@pytest.mark.parametrize("name", NAMES)
def test_every_solver_takes_a_beam(name, entry):
    model = boom_arm(entry, "b" if entry == "a" else "a", modes=(1, 1), modes_x=(1, 0))
    kind, given = CLASSES[name], OPTIONS.get(name, {})
    if name in REFUSED:
        with pytest.raises(gs.GyrostatError, match=REFUSED[name]):
            kind(model, **given)
        return
    states = [dict(zip("qva", bent_state(model, seed), strict=True)) for seed in (0, 1)]
    answers = []
    for form in forms(kind):
        solver = kind(model, **form, **given)
        args = [[state.get(key, state["a"]) for key in solver.state] for state in states]
        answers.append([numbers(solver(*one)) for one in args])
        batch = numbers(solver(*(np.stack(x) for x in zip(*args, strict=True))))
        assert len(answers[-1][0]) > 0
        answers.append([[x[k] for x in batch] for k in range(2)])
    for other in answers[1:]:
        for one, two in zip(answers[0], other, strict=True):
            for x, y in zip(one, two, strict=True):
                assert np.allclose(x, y, rtol=1e-7, atol=1e-8 * max(1.0, np.abs(x).max(initial=0.0)), equal_nan=True)
