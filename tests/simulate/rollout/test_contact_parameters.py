"""Numbers of contact laws as parameters: every run is that of model.replace, or is refused by name."""

import numpy as np
import pytest

import gyrostat as gs
from tests.simulate.rollout.test_contact_gradients import differences
from tests.simulate.rollout.test_contact_rollout import slider

SOFT = {"stiffness": 2e4, "damping": 0.4, "exponent": 1.5, "slip_speed": 0.02}
START = {"q0": [0.0, 0.0, 0.02], "v0": [1.0, 0.4, -0.5]}


def with_everything(**law):
    """A point that slides; floor, point and pair say something of its contact."""
    joints = [gs.Joint(axis, "prismatic", axis=axis) for axis in "xyz"]
    body, tip = (
        gs.RigidBody("body", mass=2.0, inertia=(1.0, 1.0, 1.0)),
        gs.ContactPoint("tip", friction=0.05, radius=0.01),
    )
    pair = gs.ContactPair("tip", "floor", **law)
    parts = gs.chain("world", *joints, body), tip, gs.connect("body", "tip"), gs.Ground("floor", friction=0.1), pair
    return gs.assemble("slider", *parts)


LIVE = {
    "floor.friction": (slider(), [0.0, 0.2, 0.6]),
    "floor.friction of two": (slider(friction=(0.4, 0.3)), [[0.3, 0.3], [0.6, 0.2], [0.0, 0.0]]),
    "floor.restitution": (slider(restitution=0.5), [0.0, 0.3, 0.9]),
    "tip.friction": (with_everything(), [0.0, 0.2, 0.6]),
    "tip_floor.friction": (with_everything(friction=0.0), [0.0, 0.2, 0.6]),
    "tip_floor.restitution": (with_everything(restitution=0.0), [0.0, 0.3, 0.9]),
}


def alone(model, path, value):
    return model.replace({path: tuple(value) if np.ndim(value) else value})


OFTEN = ("floor.friction", "tip_floor.restitution")
NAMES = [name if name in OFTEN else pytest.param(name, marks=pytest.mark.slow) for name in LIVE]


@pytest.mark.by_default(1)
@pytest.mark.parametrize("name", NAMES)
def test_lanes_of_steps_with_rigid_contact_are_those_of_replaced_models(name):
    (model, values), path = LIVE[name], name.split()[0]
    settings = {**START, "dt": 2e-3, "steps": 60, "method": "moreau", "every": None}
    lanes = gs.rollout(model, parameters={path: np.array(values)}, **settings)
    for k, value in enumerate(values):
        one = gs.rollout(alone(model, path, value), **settings)
        assert np.abs(lanes.q[-1, k] - one.q[-1]).max() < 1e-9
        assert np.abs(lanes.v[-1, k] - one.v[-1]).max() < 1e-8
    assert np.ptp(lanes.q[-1], axis=0).max() > 1e-3


@pytest.mark.by_default(2)
@pytest.mark.parametrize("method", ["moreau", "dopri5"])
@pytest.mark.parametrize("name", NAMES)
def test_runs_with_rigid_contact_are_those_of_replaced_models(name, method):
    (model, values), path = LIVE[name], name.split()[0]
    settings = {**START, "t_end": 0.1, "method": method, "t_eval": [0.1]} | ({"dt": 1e-3} if method == "moreau" else {})
    batch = gs.simulate(model, parameters={path: np.array(values)}, runs=len(values), **settings)
    for k, value in enumerate(values):
        one = gs.simulate(alone(model, path, value), **settings)
        assert np.array_equal(batch[k].q[-1], one.q[-1])
        assert np.array_equal(gs.simulate(model, parameters={path: value}, **settings).q[-1], one.q[-1])


@pytest.mark.parametrize(
    "path", ["stiffness", "friction", *(pytest.param(x, marks=pytest.mark.slow) for x in ("damping", "slip_speed"))]
)
def test_runs_and_lanes_with_compliant_contact_are_those_of_replaced_models(path):
    model, values = slider(friction=0.4, **SOFT), np.array([0.5, 0.8])
    path = f"floor.{path}"
    values = values * model[path]
    lanes = gs.rollout(model, parameters={path: values}, dt=1e-4, steps=500, every=None, **START)
    for k, value in enumerate(values):
        new = model.replace({path: float(value)})
        one = gs.rollout(new, dt=1e-4, steps=500, every=None, **START)
        assert np.abs(lanes.q[-1, k] - one.q[-1]).max() < 1e-12
        settings = {**START, "t_end": 0.05, "t_eval": [0.05]}
        run = gs.simulate(model, parameters={path: value}, **settings)
        assert np.abs(run.q[-1] - gs.simulate(new, **settings).q[-1]).max() < 1e-12


def test_gradients_by_friction_are_those_of_finite_differences():
    model, n = slider(), 3
    rng = np.random.default_rng(5)
    given = {"floor.friction": np.array([0.1, 0.3, 0.25])}
    w = rng.normal(size=(2, 1, n, 3))
    v0 = np.array([1.5, 0.4, 0.0]) + 0.1 * rng.normal(size=(n, 3)) * [1, 1, 0]

    def run(**x):
        settings = {"dt": 2e-3, "steps": 50, "method": "moreau", "every": None}
        return gs.rollout(model, q0=np.zeros((n, 3)), v0=v0, parameters=x, **settings)

    def total(**x):
        r = run(**x)
        return (w[0] * r.q + w[1] * r.v).sum(axis=(0, 2))

    g = run(**given).vjp((w[0], w[1]))
    assert np.abs(g["floor.friction"]).min() > 1e-2
    assert differences(total, given, g, given)["floor.friction"].max() < 1e-6


def test_gradients_across_live_restitution_are_refused():
    run = gs.rollout(
        slider(restitution=0.0), parameters={"floor.restitution": [0.0, 0.1]}, method="moreau", steps=2, **START
    )
    with pytest.raises(gs.StateError, match=r"contact 'tip\|floor' has a restitution"):
        run.vjp((np.zeros_like(run.q), np.zeros_like(run.v)))


@pytest.mark.parametrize("call", [gs.simulate, gs.rollout])
@pytest.mark.parametrize("path", ["tip.radius", "floor.exponent", "floor.layers", "tip.touches"])
def test_what_decides_about_equations_is_refused_by_name(path, call):
    span = {"t_end": 0.1} if call is gs.simulate else {"steps": 2}
    for law in ({}, SOFT):
        model = slider(**law)
        if model[path] is not None:
            with pytest.raises(gs.SpecError, match=rf"{path.split('.')[1]}' cannot be live[\s\S]*model.replace"):
                call(model, parameters={path: 1.0}, method="moreau" if not law else "rk4", dt=1e-3, **START, **span)


@pytest.mark.parametrize("call", [gs.simulate, gs.rollout])
def test_what_a_model_does_not_say_of_a_contact_cannot_be_live(call):
    span = {"t_end": 0.1} if call is gs.simulate else {"steps": 2}
    with pytest.raises(gs.SpecError, match=r"'stiffness' is not given, so it cannot be live"):
        call(slider(), parameters={"floor.stiffness": 1e4}, method="moreau", dt=1e-3, **START, **span)


def test_lanes_refuse_live_friction_that_they_do_not_know():
    with pytest.raises(gs.StateError, match=r"parameters\['floor.torsional'\]: lanes do not know torsional"):
        gs.rollout(slider(torsional=0.0), parameters={"floor.torsional": [0.1]}, method="moreau", steps=2, **START)
