"""Arms with flexible links in rollouts, sensitivities, CasADi functions and edits of the model."""

import numpy as np
import pytest

import gyrostat as gs
from tests.support.comparing import assert_close
from tests.support.flexible_product import BODIES, KINDS, arm, state

CASES = [k if k in ("segments", BODIES[1]) else pytest.param(k, marks=pytest.mark.slow) for k in KINDS]
DT, STEPS = 1e-4, 50


def started(model):
    q, v, a = state(model)
    return 0.3 * q, 0.1 * v, a


@pytest.mark.parametrize("kind", CASES)
def test_a_rollout_is_the_simulation(kind):
    model = arm(kind)
    q, v, _ = started(model)
    for method in ("rk4", "semi-implicit-euler"):
        t = DT * np.arange(STEPS + 1)
        run = gs.simulate(model, None, q, v, t[-1], method=method, dt=DT, t_eval=t, progress=False)
        rolled = gs.rollout(model, None, q[None], v[None], dt=DT, steps=STEPS, method=method)
        assert_close(np.squeeze(rolled.q)[-1], run.q[-1], 1e-12)


@pytest.mark.parametrize("kind", CASES)
def test_sensitivities_are_differences(kind):
    model = arm(kind)
    q, v, _ = started(model)
    paths = {"hand.mass": 0.4}
    if kind not in BODIES and model.wiring.entities["boom"].why_not_live("E") is None:
        paths["boom.E"] = 7e6
    options = {"method": "rk4", "dt": DT, "t_eval": [0.0, 0.005], "progress": False}
    run = gs.simulate(model, None, q, v, 0.005, sensitivities=list(paths), **options)
    for path, x in paths.items():
        ends = [
            gs.simulate(model, None, q, v, 0.005, parameters={path: x * (1 + s * 1e-5)}, **options) for s in (1, -1)
        ]
        difference = (ends[0].q[-1] - ends[1].q[-1]) / (2e-5 * x)
        assert_close(np.ravel(run.sensitivities[path].q[-1]) * x, difference * x, 1e-6)


@pytest.mark.parametrize("kind", CASES)
def test_casadi_and_edits_keep_the_equations(kind, tmp_path):
    model = arm(kind)
    q, v, a = started(model)
    acceleration = gs.aba(model, q, v, a)
    assert_close(np.array(gs.ForwardDynamics(model).casadi()(q, v, a)).ravel(), acceleration, 1e-11)
    gs.save(model, tmp_path / "model.yaml")
    assert gs.load(tmp_path / "model.yaml") == model
    assert_close(gs.aba(model.rename("boom", "mast"), q, v, a), acceleration, 1e-11)
    rest = np.zeros(model.nv)
    held, whole = model.lock("wrist", q[-1]), gs.rnea(model, q, rest, rest)
    assert_close(gs.rnea(held, q[:-1], rest[:-1], rest[:-1]), whole[:-1], 1e-11)
    driven = model.with_drive("wrist", rotor_inertia=1e-4, gear_ratio=50.0)
    more = gs.crba(driven, q) - gs.crba(model, q)
    assert more[-1, -1] == pytest.approx(1e-4 * 50.0**2, rel=0.05)
    assert model.detach("wrist").dofs == model.dofs[:-1]
