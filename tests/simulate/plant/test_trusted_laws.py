"""Laws that were looked at before start at once, and are never taken for others."""

import importlib
import os

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.simulate.plant.trusted_laws import made_of, numbers_of

ARM = gs.robots.two_link()
RUN = {"q0": [0.3, -0.2], "v0": [0.1, 0.2], "t_end": 0.2, "rtol": 1e-9}
GAIN = 3.0


def pd(kp, kd):
    return lambda t, q, v: -kp * q - kd * v


def end(torque, **more):
    return gs.simulate(ARM, torque, **{**RUN, **more}).q[-1]


def test_other_gains_of_the_same_code_give_their_own_motion():
    for kp in (5.0, 7.0, 5.0, 1.0, 0.0, -1.0):
        law = pd(kp, 0.5)
        assert end(law) == pytest.approx(end(law, compiled=False), abs=1e-9)


def test_the_same_law_with_and_without_a_wrench_is_two_laws():
    law, wrench = pd(5.0, 0.5), {"lower.tip": np.array([0.0, 0.0, 0.0, 2.0, 0.0, 1.0])}
    for _ in range(4):
        alone, pushed = end(law), end(law, wrenches=wrench)
        assert np.abs(alone - pushed).max() > 1e-3
        assert pushed == pytest.approx(end(law, wrenches=wrench, compiled=False), abs=1e-9)
        other = {"lower.tip": 2.0 * wrench["lower.tip"]}
        assert end(law, wrenches=other) == pytest.approx(end(law, wrenches=other, compiled=False), abs=1e-9)


def test_a_number_that_has_changed_is_felt():
    gains = np.array([4.0, 3.0])

    def law(t, q, v):
        return -gains * q - 0.1 * v

    first = end(law)
    gains[0] = 40.0
    second = end(law)
    assert np.abs(first - second).max() > 1e-3 and second == pytest.approx(end(law, compiled=False), abs=1e-9)


def test_a_global_that_has_changed_is_felt(monkeypatch):
    def law(t, q, v):
        return -GAIN * q

    first = end(law)
    monkeypatch.setitem(globals(), "GAIN", 30.0)
    assert np.abs(end(law) - first).max() > 1e-3 and end(law) == pytest.approx(end(law, compiled=False), abs=1e-9)


def test_blocks_of_a_model_with_other_numbers_are_others():
    law = gs.blocks.diagram(
        *(gs.blocks.Constant([0.1, 0.1], target=name) for name in ("q_ref", "v_ref", "a_ref")),
        gs.blocks.ComputedTorque(ARM, 20.0, 5.0),
        gives="tau",
    )
    for mass in (1.0, 2.0, 1.0):
        run = {"parameters": {"lower.mass": mass}}
        assert end(law, **run) == pytest.approx(
            gs.simulate(ARM.replace({"lower.mass": mass}), law, **RUN).q[-1], abs=1e-9
        )


def test_a_second_run_compiles_nothing(monkeypatch):
    compile_module = importlib.import_module("gyrostat.engine.llvm.compile")
    end(pd(2.0, 0.3)), end(pd(3.0, 0.4))
    monkeypatch.setattr(compile_module, "_object", None)  # nobody may ask for machine code
    for module in ("gyrostat.engine.drivers.kernel_code", "gyrostat.engine.drivers.driver"):
        monkeypatch.setattr(importlib.import_module(module), "load", None)
    assert np.isfinite(end(pd(9.0, 0.7))).all() and np.isfinite(end(pd(9.0, 0.7), q0=[1.0, 1.0])).all()


@pytest.mark.parametrize(
    "law",
    [
        lambda t, q, v, kept=[]: -q,
        np.vectorize(lambda x: x),
        type("Law", (), {"__call__": lambda self, t, q, v: -q})(),
    ],
)
def test_what_may_remember_is_looked_at_every_time(law):
    assert made_of(law) is None


def test_numbers_of_laws_tell_minus_zero_from_zero():
    assert numbers_of(pd(0.0, 1.0)) != numbers_of(pd(-0.0, 1.0)) and numbers_of(pd(1.0, 2.0)) == numbers_of(
        pd(1.0, 2.0)
    )


# ------------------------------------------------------------------------------------------------ never trusted
def ends_after(law, change):
    """Motions before and after a change of what a law reads, each asked for often enough to be known."""
    first = [end(law) for _ in range(3)][-1]
    change()
    return first, end(law), end(law, compiled=False)


def test_the_environment_of_the_process_is_felt(monkeypatch):
    monkeypatch.setenv("GYROSTAT_TEST_GAIN", "1.0")
    law = lambda t, q, v: -float(os.environ["GYROSTAT_TEST_GAIN"]) * v  # noqa: E731
    first, second, want = ends_after(law, lambda: monkeypatch.setenv("GYROSTAT_TEST_GAIN", "20.0"))
    assert np.abs(first - second).max() > 1e-3 and second == pytest.approx(want, abs=1e-9)


def test_a_file_that_has_changed_is_felt(tmp_path):
    path = str(tmp_path / "gain.npy")
    np.save(path, np.array([1.0, 1.0]))
    law = lambda t, q, v: -np.load(path) * v  # noqa: E731
    first, second, want = ends_after(law, lambda: np.save(path, np.array([20.0, 20.0])))
    assert np.abs(first - second).max() > 1e-3 and second == pytest.approx(want, abs=1e-9)


@pytest.mark.parametrize("where", ["module of a library", "globals()", "eval"])
def test_a_number_that_is_read_in_a_roundabout_way_is_felt(where, monkeypatch):
    monkeypatch.setattr(np, "gyrostat_gain", 1.0, raising=False)
    monkeypatch.setitem(globals(), "GAIN", 1.0)
    laws = {
        "module of a library": lambda t, q, v: -np.gyrostat_gain * v,
        "globals()": lambda t, q, v: -globals()["GAIN"] * v,
        "eval": lambda t, q, v: -eval("GAIN") * v,
    }

    def change():
        monkeypatch.setattr(np, "gyrostat_gain", 20.0)
        monkeypatch.setitem(globals(), "GAIN", 20.0)

    first, second, want = ends_after(laws[where], change)
    assert np.abs(first - second).max() > 1e-3 and second == pytest.approx(want, abs=1e-9)


NOISY = False


def test_dice_behind_a_switch_are_refused_when_it_is_turned(monkeypatch):
    def law(t, q, v):
        return -v + (np.random.rand(2) if NOISY else np.array([0.5, 0.5]))

    for _ in range(3):
        end(law)
    monkeypatch.setitem(globals(), "NOISY", True)
    with pytest.raises(gs.RecordError, match="random numbers"):
        end(law)


def test_a_function_of_dice_among_the_globals_does_no_harm(monkeypatch):
    monkeypatch.setitem(globals(), "rand", np.random.rand)
    law = lambda t, q, v: -v + (rand(2) if NOISY else 0.0)  # noqa: E731, F821
    assert end(law) == pytest.approx(end(law, compiled=False), abs=1e-9)
