"""Gradients through steps with contact: finite differences away from kinks."""

import numpy as np
import pytest

import gyrostat as gs
from tests.simulate.rollout.test_contact_rollout import ball, cheetahs, slider


def differences(total, given, g, names, size=1e-5, seed=0):
    """Relative errors of the derivatives along random directions, per robot."""
    rng = np.random.default_rng(seed)
    errors = {}
    for name in names:
        d = rng.normal(size=given[name].shape)
        ends = [total(**(given | {name: given[name] + s * size * d})) for s in (1.0, -1.0)]
        slope = (ends[0] - ends[1]) / (2.0 * size)
        exact = (g[name] * d).reshape(len(slope), -1).sum(axis=1)
        errors[name] = np.abs(slope - exact) / (1.0 + np.abs(slope))
    return errors


def test_gradients_of_a_body_that_slides_across_its_own_direction():
    model, n = slider(), 5
    rng = np.random.default_rng(1)
    given = {"q0": np.zeros((n, 3)), "v0": np.array([1.5, 0.4, 0.0]) + 0.1 * rng.normal(size=(n, 3)) * [1, 1, 0]}
    given |= {"tau": rng.normal(size=(n, 3)) * [1, 1, 3], "body.mass": np.full(n, 2.0)}
    w = rng.normal(size=(2, 1, n, 3))

    def run(q0, v0, tau, **mass):
        return gs.rollout(model, tau, q0=q0, v0=v0, dt=2e-3, steps=50, method="moreau", every=None, parameters=mass)

    def total(**x):
        r = run(**x)
        return (w[0] * r.q + w[1] * r.v).sum(axis=(0, 2))

    g = run(**given).vjp((w[0], w[1]))
    for name, error in differences(total, given, g, ["tau", "body.mass"]).items():
        assert error.max() < 1e-6, name
    slide = given | {"v0": given["v0"]}
    rng = np.random.default_rng(2)
    d = rng.normal(size=(n, 3)) * [1, 1, 0]  # along the ground: no kink
    ends = [total(**(slide | {"v0": slide["v0"] + s * 1e-5 * d})) for s in (1.0, -1.0)]
    assert np.abs((ends[0] - ends[1]) / 2e-5 - (g["v0"] * d).sum(axis=1)).max() < 1e-6


def test_gradients_of_a_ball_that_rolls_on_a_manifold():
    model, n = ball(), 6
    rng = np.random.default_rng(4)
    q = np.repeat(gs.neutral(model)[None], n, axis=0)
    q[:, 2] = 0.13
    v = rng.normal(size=(n, 6)) * 0.5
    w_q, w_v = rng.normal(size=(1, n, 7)), rng.normal(size=(1, n, 6))

    def total(d, v0):
        start = gs.integrate(model, q, d)
        r = gs.rollout(model, q0=start, v0=v0, dt=2e-3, steps=80, method="moreau", every=None)
        return (w_q * r.q).sum(axis=(0, 2)) + (w_v * r.v).sum(axis=(0, 2))

    run = gs.rollout(model, q0=q, v0=v, dt=2e-3, steps=80, method="moreau", every=None)
    assert all((f[..., 0] > 0.0).any() for f in run.contact_forces.values())
    g = run.vjp((w_q, w_v))
    given = {"d": np.zeros((n, 6)), "v0": v}
    for name, error in differences(total, given, {"d": g["q0"], "v0": g["v0"]}, given).items():
        assert np.sort(error)[-2] < 1e-4, (name, error)  # one of six may meet a kink between the two ends


def test_gradients_of_half_cheetahs_on_their_feet():
    model, q, v, tau = cheetahs(8)
    given = {"q0": q, "v0": v, "tau": tau}
    rng = np.random.default_rng(6)
    w = rng.normal(size=(2, 1, 8, 9))

    def total(**x):
        r = gs.rollout(model, x["tau"], q0=x["q0"], v0=x["v0"], dt=5e-3, steps=40, method="moreau", every=None)
        return (w[0] * r.q + w[1] * r.v).sum(axis=(0, 2))

    g = gs.rollout(model, tau, q0=q, v0=v, dt=5e-3, steps=40, method="moreau", every=None).vjp((w[0], w[1]))
    for name, error in differences(total, given, g, given).items():
        assert np.median(error) < 1e-4, name  # the ends are known to 1e-8


def test_gradients_through_compliant_contact_are_those_of_smooth_steps():
    model = slider(friction=0.4, stiffness=2e4, damping=50.0)
    q0, v0 = np.array([[0.0, 0.0, 0.05], [0.0, 0.0, 0.02]]), np.array([[0.5, 0.2, -0.3], [0.1, 0.0, 0.0]])
    w = np.random.default_rng(0).normal(size=(1, 2, 3))

    def total(q0, v0):
        return (w * gs.rollout(model, q0=q0, v0=v0, dt=1e-3, steps=200, every=None).q).sum(axis=(0, 2))

    g = gs.rollout(model, q0=q0, v0=v0, dt=1e-3, steps=200, every=None).vjp((w, None))
    for name, error in differences(total, {"q0": q0, "v0": v0}, g, ["q0", "v0"], size=1e-7).items():
        assert error.max() < 1e-4, (name, error)


@pytest.mark.parametrize("robots", [1, 3])
def test_checkpoints_change_no_bit(monkeypatch, robots):
    from gyrostat.simulate.rollout import gradient

    model, q, v, tau = cheetahs(robots)
    w = np.ones((1, robots, 9))
    kept = gs.rollout(model, tau, q0=q, v0=v, dt=5e-3, steps=20, method="moreau", every=None).vjp((w, w))
    monkeypatch.setattr(gradient, "LARGEST", 200_000)
    again = gs.rollout(model, tau, q0=q, v0=v, dt=5e-3, steps=20, method="moreau", every=None).vjp((w, w))
    assert all(np.array_equal(kept[name], again[name]) for name in kept)
