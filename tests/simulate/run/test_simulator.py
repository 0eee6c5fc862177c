"""A model step by step: the steps of ``gs.simulate``, efforts held from outside, saved runs, and a step as C."""

import ctypes
import importlib
import shutil
import subprocess

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.errors import LoadError, NonFiniteError, ShapeError, StateError
from gyrostat.simulate.methods import METHODS
from tests.support.stick_slip_models import block

ARM = gs.robots.two_link()
START = [0.3, -0.4]
COMPILED = sorted(name for name, method in METHODS.items() if method.compiled)
needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc here")


def law(t, q, v, k):
    return -k * v + np.sin(3.0 * t)


def free_body():
    link = gs.RigidBody("body", mass=2.0, inertia=(1, 2, 3))
    return gs.assemble("body", gs.chain("world", gs.Joint("free", "free"), link))


def stopped():
    link = gs.RigidBody("link", mass=1.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.1))
    hinge = gs.Joint("hinge", "revolute", axis="y", lower=-1.0, upper=0.3)
    return gs.assemble("stopped", gs.chain("world", hinge, link))


def rubbing():
    """A block that sticks up to 1.5 N, and slips."""
    return block(coulomb=1.0, static=1.5, stribeck=0.1)


def digital():
    return gs.blocks.pid(20, 4, 2, [0.3, 0.1], sample_time=0.005)


# ---------------------------------------------------------------------------------------------- steps
@pytest.mark.parametrize("method", ["rk4", "semi-implicit-euler", "newmark", "generalised-alpha"])
def test_steps_are_those_of_a_run(method):
    run = gs.simulate(ARM, law, START, method=method, dt=1e-3, t_end=0.05, parameters={"k": 0.3})
    sim = gs.Simulator(ARM, law, START, method=method, dt=1e-3, parameters={"k": 0.3})
    states = [sim.state, *(sim.step() for _ in range(50))]
    assert np.array_equal([s.t for s in states], run.t)
    np.testing.assert_allclose([s.q for s in states], run.q, rtol=0, atol=1e-12)
    np.testing.assert_allclose([s.v for s in states], run.v, rtol=0, atol=1e-11)
    np.testing.assert_allclose(sim.a, run.a[-1], rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(sim.tau, run.tau[-1], rtol=0, atol=1e-11)


def test_explicit_steps_have_the_bits_of_a_run():
    run = gs.simulate(ARM, law, START, method="rk4", dt=1e-3, t_end=0.05, parameters={"k": 0.3})
    sim = gs.Simulator(ARM, law, START, parameters={"k": 0.3})
    assert np.array_equal([sim.step().q for _ in range(50)], run.q[1:])
    sim.reset()
    assert np.array_equal(sim.step(steps=50).v, run.v[-1])


def test_adaptive_methods_take_steps_of_their_own_within_a_duration():
    run = gs.simulate(ARM, law, START, t_end=0.2, parameters={"k": 0.3}, rtol=1e-9, atol=1e-11)
    sim = gs.Simulator(ARM, law, START, method="dopri5", parameters={"k": 0.3}, rtol=1e-9, atol=1e-11)
    for _ in range(10):
        state = sim.step(duration=0.02)
    assert state.t == pytest.approx(0.2, abs=1e-15)
    np.testing.assert_allclose(state.q, run.q[-1], rtol=0, atol=1e-8)


def test_efforts_are_held_during_a_step_beside_those_of_the_torque():
    tau = np.array([0.7, -0.2])
    sim = gs.Simulator(ARM, law, START, parameters={"k": 0.3})
    state = sim.step(tau, 20)
    run = gs.simulate(ARM, lambda t, q, v: law(t, q, v, 0.3) + tau, START, method="rk4", dt=1e-3, t_end=0.02)
    np.testing.assert_allclose(state.q, run.q[-1], rtol=0, atol=1e-15)
    np.testing.assert_allclose(sim.tau, run.tau[-1], rtol=0, atol=1e-14)
    alone = gs.Simulator(ARM, q0=START).step({"elbow": -0.2, "shoulder": 0.7}, 20)
    run = gs.simulate(ARM, tau, START, method="rk4", dt=1e-3, t_end=0.02)
    np.testing.assert_allclose(alone.q, run.q[-1], rtol=0, atol=1e-15)


def test_efforts_are_given_up_after_the_step():
    sim, free = gs.Simulator(ARM, q0=START), gs.Simulator(ARM, q0=START)
    state = sim.step([1.0, 2.0])
    free.reset(state.q, state.v, state.t)
    np.testing.assert_allclose(sim.step().q, free.step().q, rtol=0, atol=1e-15)
    assert np.array_equal(sim.tau, np.zeros(2))


def test_a_law_in_python_is_stepped_too():
    def called(t, q, v):
        return -0.3 * v + (1.0 if float(q[0]) > 0.0 else -1.0)

    sim = gs.Simulator(ARM, called, START, compiled=False)
    run = gs.simulate(ARM, called, START, method="rk4", dt=1e-3, t_end=0.02, compiled=False)
    assert np.array_equal(sim.step(steps=20).q, run.q[-1])
    assert (
        np.abs(sim.step([1.0, 0.0], 20).q - gs.Simulator(ARM, called, START, compiled=False).step(steps=40).q).max() > 0
    )


@pytest.mark.parametrize("dt", [1e-3, 2.5e-3, 2e-2])
def test_digital_blocks_are_sampled_at_their_instants(dt):
    sim = gs.Simulator(ARM, digital(), START, dt=dt)
    run = gs.simulate(ARM, digital(), START, method="rk4", dt=dt, t_end=0.1)
    while sim.t < 0.1 - 1e-9:
        state = sim.step()
    np.testing.assert_allclose(state.q, run.q[-1], rtol=0, atol=1e-13)


def test_stops_hold_a_joint_that_is_pushed_against_them():
    sim = gs.Simulator(stopped(), constraints=gs.JointLimits(), method="dopri5", dt=0.01)
    for _ in range(200):
        sim.step([20.0])
    assert sim.q[0] == pytest.approx(0.3, abs=1e-9) and abs(sim.v[0]) < 1e-9


def test_dry_friction_sticks_until_it_is_pushed_hard_enough():
    sim = gs.Simulator(rubbing(), method="dopri5", dt=0.01)
    assert np.array_equal(sim.step([1.2], 10).q, [0.0])
    assert sim.step([2.0], 10).q[0] > 1e-3


def test_wrenches_act_in_every_step():
    pushed = {"lower.tip": [0.0, 0.0, 0.0, 3.0, 0.0, 0.0]}
    sim = gs.Simulator(ARM, q0=START, wrenches=pushed)
    run = gs.simulate(ARM, q0=START, wrenches=pushed, method="rk4", dt=1e-3, t_end=0.02)
    assert np.array_equal(sim.step(steps=20).q, run.q[-1]) and np.array_equal(sim.tau, [0.0, 0.0])


# ---------------------------------------------------------------------------------------------- parameters, reset
def test_parameters_change_between_steps_without_recording():
    sim = gs.Simulator(ARM, law, START, parameters={"k": 0.3, "lower.mass": 1.0})
    sim.step(steps=10)
    sim.parameters["k"], sim.parameters["lower.mass"] = 2.0, 1.7
    state = sim.state
    other = gs.Simulator(ARM, law, state.q, state.v, t=state.t, parameters={"k": 2.0, "lower.mass": 1.7})
    np.testing.assert_allclose(sim.step(steps=10).q, other.step(steps=10).q, rtol=0, atol=1e-15)
    assert dict(sim.parameters) == {"k": 2.0, "lower.mass": 1.7} and sim.model["lower.mass"] == 1.7


def test_reset_begins_anew_to_the_same_bits():
    sim = gs.Simulator(ARM, law, START, method="dopri5", dt=0.01, parameters={"k": 0.3})
    first = [sim.step([0.1 * j, 0.0]).q for j in range(5)]
    assert sim.reset().t == 0.0
    assert np.array_equal([sim.step([0.1 * j, 0.0]).q for j in range(5)], first)
    state = sim.reset([0.1, 0.2], t=3.0, parameters={"k": 1.0})
    assert state.t == 3.0 and state.q.tolist() == [0.1, 0.2] and sim.parameters["k"] == 1.0
    fresh = gs.Simulator(ARM, law, [0.1, 0.2], method="dopri5", dt=0.01, t=3.0, parameters={"k": 1.0})
    assert np.array_equal(sim.step().q, fresh.step().q)


def test_the_state_belongs_to_the_simulator():
    sim = gs.Simulator(ARM, q0=START)
    with pytest.raises(ValueError, match="read-only"):
        sim.step().q[0] = 1.0
    sim.q[0] = 7.0
    assert sim.q[0] != 7.0
    assert repr(sim) == f"<Simulator of '{ARM.name}': rk4, steps of 0.001 s, at t = 0.001 s>"


# ---------------------------------------------------------------------------------------------- saved in the middle
TAUS = np.random.default_rng(0).normal(size=(40, 2))
TAUS[::3] = TAUS[1::3] = 0.0


def halves(make, first, second):
    """The second half of the steps, uninterrupted, by a restored simulator, and by the same one restored."""
    sim, other = make(), make()
    for tau in first:
        sim.step(tau)
    data = sim.save()
    straight = [sim.step(tau) for tau in second]
    for tau in second[:3]:
        other.step(tau)
    other.restore(data)
    again = [other.step(tau) for tau in second]
    sim.restore(data)
    return straight, again, [sim.step(tau) for tau in second]


def expect_same(one, other):
    for a, b in zip(one, other, strict=True):
        assert a.t == b.t and all(np.array_equal(x, y) for x, y in zip(a[1:], b[1:], strict=True))


@pytest.mark.parametrize("method", COMPILED)
def test_a_saved_run_goes_on_to_the_same_bits(method, tmp_path):
    dt = 0.01 if METHODS[method].adaptive else 1e-3
    for torque, parameters in ((law, {"k": 0.3}), (gs.blocks.pid(20, 4, 2, [0.3, 0.1]), None)):
        given = {"method": method, "dt": dt, "parameters": parameters}
        straight, *others = halves(lambda t=torque, g=given: gs.Simulator(ARM, t, START, **g), TAUS[:17], TAUS[17:])
        for other in others:
            expect_same(straight, other)


@pytest.mark.parametrize("method", COMPILED)
def test_a_saved_run_of_a_free_body_goes_on_to_the_same_bits(method):
    v0, dt = [1.0, 0.2, -0.3, 0.1, 0.0, 0.4], 0.05 if METHODS[method].adaptive else 5e-3
    taus = np.zeros((12, 6))
    straight, *others = halves(lambda: gs.Simulator(free_body(), v0=v0, method=method, dt=dt), taus[:5], taus[5:])
    for other in others:
        expect_same(straight, other)


@pytest.mark.parametrize("cut", [3, 5, 10])
def test_digital_blocks_go_on_from_their_memory(cut):
    straight, *others = halves(lambda: gs.Simulator(ARM, digital(), START), TAUS[:cut], TAUS[cut:])
    for other in others:
        expect_same(straight, other)


@pytest.mark.parametrize("cut", [2, 30, 60, 100])
def test_stops_and_friction_go_on_as_they_were(cut):
    taus = np.concatenate([np.full((50, 1), 6.0), np.full((50, 1), -3.0), np.zeros((20, 1))])
    for make in (
        lambda: gs.Simulator(stopped(), constraints=gs.JointLimits(restitution=0.4), method="dopri5", dt=0.01),
        lambda: gs.Simulator(rubbing(), method="dopri5", dt=0.01),
    ):
        straight, *others = halves(make, taus[:cut], taus[cut:])
        for other in others:
            expect_same(straight, other)


def test_a_file_makes_a_simulator_that_stands_there(tmp_path):
    sim = gs.Simulator(ARM, law, START, method="dopri5", dt=0.01, rtol=1e-8, parameters={"k": 0.3})
    sim.step([0.3, 0.1], 5)
    path = sim.save(tmp_path / "run")
    assert path == tmp_path / "run.npz"
    other = gs.Simulator.load(path, ARM, law)
    assert other.method == "dopri5" and other.dt == 0.01 and other.parameters["k"] == 0.3
    expect_same([sim.state, sim.step(), sim.step([1.0, 0.0])], [other.state, other.step(), other.step([1.0, 0.0])])


def test_files_that_do_not_fit_are_refused(tmp_path):
    sim = gs.Simulator(ARM, law, START, parameters={"k": 0.3})
    path = sim.save(tmp_path / "run")
    with pytest.raises(LoadError, match="is of method 'rk4', this simulator's is 'ode23'"):
        gs.Simulator(ARM, law, START, method="ode23", parameters={"k": 0.3}).restore(path)
    with pytest.raises(LoadError, match=r"parameters \['k'\], this simulator \[\]"):
        gs.Simulator(ARM, None, START).restore(path)
    with pytest.raises(LoadError, match="array 'q' is float64"):
        gs.Simulator(gs.robots.chain(3), lambda t, q, v, k: -k * v, parameters={"k": 0.3}).restore(path)
    with pytest.raises(LoadError, match="does not exist"):
        sim.restore(tmp_path / "nothing.npz")
    with pytest.raises(LoadError, match="is no simulator"):
        sim.restore(b"PK" + bytes(100))
    with np.load(path) as file:
        arrays = dict(file)
    arrays["q"] = arrays["q"] + 1e-3
    np.savez(path, **arrays)
    with pytest.raises(LoadError, match="is damaged"):
        sim.restore(path)


def test_methods_that_remember_in_python_are_not_saved():
    slow = [name for name, method in METHODS.items() if not method.compiled and name not in ("cvode", "ida")]
    for name in slow[:1]:
        with pytest.raises(StateError, match=f"'{name}' keeps its memory in Python.*Hint: .*rk4"):
            gs.Simulator(ARM, q0=START, method=name).save()


# ---------------------------------------------------------------------------------------------- what is told
@pytest.mark.parametrize(
    ("tau", "error", "words"),
    [
        ([1.0], ShapeError, r"tau has shape \(1,\)"),
        ([1.0, 2.0, 3.0], ShapeError, r"tau has shape \(3,\)"),
        ([0.0, np.nan], NonFiniteError, "tau of 'elbow' is nan"),
        (np.array([np.inf, 0.0]), NonFiniteError, "tau of 'shoulder' is inf"),
        ({"elbo": 1.0}, gs.GyrostatError, "elbow"),
    ],
)
def test_efforts_that_are_none_are_told_by_joint(tau, error, words):
    sim = gs.Simulator(ARM, q0=START)
    with pytest.raises(error, match=words):
        sim.step(tau)
    assert sim.t == 0.0 and sim.step([0.1, 0.2]).t == 1e-3


def test_what_does_not_fit_is_told():
    with pytest.raises(StateError, match=r"event 'passed' is watched by gs.simulate only"):
        gs.Simulator(ARM, constraints=gs.Event(lambda t, q, v: q[0], name="passed"))
    with pytest.raises(ShapeError, match=r"expected one state.*gs.rollout"):
        gs.Simulator(ARM, q0=np.zeros((3, 2)))
    with pytest.raises(gs.GyrostatError, match=r"no method 'rk5'.*rk4"):
        gs.Simulator(ARM, method="rk5")
    sim = gs.Simulator(ARM, law, START, parameters={"k": 0.3})
    with pytest.raises(StateError, match="steps must be a whole number"):
        sim.step(steps=0)
    with pytest.raises(gs.GyrostatError, match="duration must be a number above 0"):
        sim.step(duration=-1.0)
    with pytest.raises(StateError, match="no parameter 'kp'"):
        sim.parameters["kp"] = 1.0
    with pytest.raises(ShapeError, match=r"parameters\['k'\] has shape \(2,\)"):
        sim.parameters["k"] = [1.0, 2.0]
    with pytest.raises(NonFiniteError, match="not finite"):
        sim.parameters["k"] = np.nan
    with pytest.raises(StateError, match="parameters stay"):
        del sim.parameters["k"]


def test_a_step_that_cannot_be_done_is_told_and_the_last_state_stays():
    sim = gs.Simulator(ARM, lambda t, q, v: 20.0 * v, START, v0=[1.0, 0.0], dt=0.01)
    with pytest.raises(gs.SimulationError, match=r"joint '.*stands at the last state") as error:
        sim.step(steps=1000)
    assert 0.0 < sim.t < 10.0 and np.isfinite(sim.q).all() and error.value.t == sim.t


# ---------------------------------------------------------------------------------------------- as C
def compiled(files):
    """The shared library of exported files, whose own test has passed."""
    _, source, test = files
    flags = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1", "-ffp-contract=off"]
    for target, sources in ((source.with_suffix(".bin"), [source, test]), (source.with_suffix(".so"), [source])):
        shared = ["-shared", "-fPIC"] if target.suffix == ".so" else []
        made = subprocess.run(
            ["gcc", *flags, *shared, "-o", str(target), *map(str, sources), "-lm"], capture_output=True, text=True
        )
        assert made.returncode == 0, made.stderr
    told = subprocess.run([str(source.with_suffix(".bin"))], capture_output=True, text=True)
    assert told.returncode == 0, told.stdout
    return ctypes.CDLL(str(source.with_suffix(".so")))[source.stem]


def called(function, inputs, outputs):
    arrays = [np.ascontiguousarray(x, dtype=float) for x in inputs] + [np.zeros(max(1, n)) for n in outputs]
    function.restype = None
    function(*(x.ctypes.data_as(ctypes.c_void_p) for x in arrays))
    return [x[:n] for x, n in zip(arrays[len(inputs) :], outputs, strict=True)]


@needs_gcc
@pytest.mark.parametrize("method", ["rk4", "semi-implicit-euler"])
def test_an_exported_step_is_the_step(method, tmp_path):
    sim = gs.Simulator(ARM, law, START, method=method, parameters={"k": 0.3, "lower.mass": 1.4})
    function = compiled(sim.export_c(tmp_path, vectors=4))
    q, v, t = np.array(START), np.zeros(2), 0.0
    for tau in TAUS[:10]:
        inputs = [t], q, v, tau, [0.3, 1.4], [1e-3]
        q, v, _, efforts = called(function, inputs, (2, 2, 2, 2))
        np.testing.assert_allclose(efforts, law(t, *inputs[1:3], 0.3) + tau, rtol=0, atol=1e-14)
        state, t = sim.step(tau), t + 1e-3
        np.testing.assert_allclose(q, state.q, rtol=0, atol=1e-12)
        np.testing.assert_allclose(v, state.v, rtol=0, atol=1e-12)


@needs_gcc
def test_an_exported_step_samples_digital_blocks_when_it_is_told_to(tmp_path):
    sim = gs.Simulator(ARM, digital(), START)
    function = compiled(sim.export_c(tmp_path, "sampled", vectors=4))
    q, v, m = np.array(START), np.zeros(2), sim._run.plant.source.m0
    for k in range(12):
        inputs = [k * 1e-3], q, v, m, np.zeros(2), [1e-3], [float(k % 5 == 0)]
        q, v, *_, m = called(function, inputs, (2, 2, 2, 2, len(m)))
        np.testing.assert_allclose(q, sim.step().q, rtol=0, atol=1e-12)


@needs_gcc
def test_an_exported_step_turns_quaternions(tmp_path):
    v0 = np.array([1.0, 0.2, -0.3, 0.1, 0.0, 0.4])
    sim = gs.Simulator(free_body(), v0=v0)
    function = compiled(sim.export_c(tmp_path, vectors=4))
    q, v = sim.q, v0
    for k in range(5):
        q, v, *_ = called(function, ([k * 1e-3], q, v, np.zeros(6), [1e-3]), (7, 6, 6, 6))
        np.testing.assert_allclose(q, sim.step().q, rtol=0, atol=1e-12)


def test_steps_that_cannot_be_exported_are_refused_with_a_remedy(tmp_path):
    with pytest.raises(StateError, match=r"'dopri5' have no fixed number.*Hint: method='rk4'"):
        gs.Simulator(ARM, method="dopri5").export_c(tmp_path)
    with pytest.raises(StateError, match=r"runs in Python.*Hint"):
        gs.Simulator(ARM, lambda t, q, v: -v, compiled=False).export_c(tmp_path)
    with pytest.raises(StateError, match="acts and leaves by events"):
        gs.Simulator(rubbing()).export_c(tmp_path)


def test_the_step_of_a_simulator_does_not_change_on_the_way():
    sim = gs.Simulator(gs.robots.two_link(), q0=[0.1, 0.2], dt=1e-3)
    with pytest.raises(AttributeError):
        sim.dt = 1e-2
    with pytest.raises(gs.StateError, match="steps or a duration"):
        sim.step(steps=5, duration=0.1)
    assert sim.dt == 1e-3 and sim.step(duration=0.1).t == 0.1


def test_further_arguments_of_a_law_are_asked_for():
    with pytest.raises(gs.GyrostatError, match=r"parameters=\{'kp': 2.0\} gives its further arguments"):
        gs.simulate(gs.robots.two_link(), lambda t, q, v, kp: -kp * q, t_end=0.1)


def test_a_file_of_another_process_needs_trust(tmp_path, monkeypatch):
    memory = importlib.import_module("gyrostat.simulate.run.simulator_memory")
    sim = gs.Simulator(ARM, None, START, method="bdf", dt=1e-2)
    sim.step(steps=3)
    path = sim.save(tmp_path / "sim.npz")
    monkeypatch.setattr(memory, "KEY", bytes(32))
    with pytest.raises(gs.LoadError, match=r"another process.*trust=True"):
        sim.restore(path)
    with pytest.raises(gs.LoadError, match="another process"):
        gs.Simulator.load(path, ARM)
    other = gs.Simulator.load(path, ARM, trust=True)
    assert np.array_equal(other.step(steps=5).q, sim.step(steps=5).q)
