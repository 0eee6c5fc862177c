"""A flexible body in every public solver: two representations and batches agree; refusals by name."""

import inspect

import numpy as np
import pytest

import gyrostat as gs
from tests.algorithms.flexible.test_flexible_body import arm, state
from tests.support.solver_zoo import solver_classes

TIP = "load.origin"
POINT = {"contacts": {TIP: "point"}}
OPTIONS = {
    "Jacobian": {"frame": TIP, "expressed_in": "local"},
    "JacobianRate": {"frame": TIP, "expressed_in": "aligned"},
    "ParameterJacobian": {"frame": TIP, "parameters": ["load.com"]},
    "ParameterDerivatives": {"parameters": ["load.mass"]},
    **dict.fromkeys(("InverseOperationalInertia", "ContactDynamics", "ContactDynamicsDerivatives"), POINT),
    "Impact": POINT | {"restitution": 0.5},
    "ContactVelocities": {"contacts": {TIP: [[1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1]]}},
    "FrictionMargins": {"contacts": {TIP: {"kind": "point", "friction": 0.7}}},
    "StabilityMargin": {"points": [TIP, "arm.left", "beside.origin"]},
    "CapturePoint": {"height": -50.0},
}
REFUSED = {"Regressor": "'arm' of kind FlexibleBody has an inertia of its own: regressor knows rigid bodies only"}
CLASSES = {name: kind for name, kind in solver_classes().items() if name != "ElasticInverseDynamics"}
QUICK = ("ForwardDynamics", "Jacobian", "CenterOfMass", "KineticEnergy", "Regressor")
NAMES = [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in sorted(CLASSES)]


def numbers(answer):
    """All arrays of a result, in a fixed order."""
    if isinstance(answer, dict):
        answer = [answer[key] for key in sorted(answer)]
    elif hasattr(answer, "__dataclass_fields__"):
        answer = [getattr(answer, key) for key in answer.__dataclass_fields__]
    if isinstance(answer, tuple | list):
        return [x for part in answer for x in numbers(part)]
    return [np.asarray(answer, dtype=float)] if isinstance(answer, np.ndarray | float) else []


@pytest.mark.parametrize("name", NAMES)
def test_every_solver_takes_a_flexible_body(name):
    model, kind, given = arm("middle", "right", "left"), CLASSES[name], OPTIONS.get(name, {})
    if name in REFUSED:
        with pytest.raises(gs.GyrostatError, match=REFUSED[name]):
            kind(model, **given)
        return
    q, v, a = state(model)
    known = "representation" in inspect.signature(kind.__init__).parameters
    answers = []
    for form in ({"representation": "body"}, {"representation": "absolute"}) if known else ({},):
        solver = kind(model, **form, **given)
        args = [{"q": q, "v": v}.get(key, a) for key in solver.state]
        answers.append(numbers(solver(*args)))
        answers.append([x[1] for x in numbers(solver(*(np.stack([x, x]) for x in args)))])
    assert len(answers[0]) > 0
    for other in answers[1:]:
        for x, y in zip(answers[0], other, strict=True):
            assert np.allclose(x, y, rtol=1e-7, atol=1e-8 * max(1.0, np.abs(x).max(initial=0.0)), equal_nan=True)
