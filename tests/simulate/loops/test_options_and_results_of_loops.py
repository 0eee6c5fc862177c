"""What users say about loops along a run, what is refused by name, and what a result tells of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gyrostat as gs
from tests.simulate.loops.mechanisms import bricard, floating, four_bar, slider_crank

TIMES = np.linspace(0.0, 0.5, 11)
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"stabilisation": "projecton"}, "no stabilisation 'projecton'.*did you mean 'projection'"),
    ({"stabilisation": None}, "no stabilisation nothing"),
    ({"k1": 5.0}, "k1 and k2 are of stabilisation='baumgarte'"),
    ({"stabilisation": "baumgarte", "k1": -1.0}, "k1 must be a number from 0 on, got -1.0"),
    ({"stabilisation": "baumgarte", "k2": float("nan")}, "k2 must be a number from 0 on, got nan"),
    ({"stabilisation": "baumgarte", "k1": True}, "k1 must be a number from 0 on, got True"),
    ({"stabilisation": "baumgarte", "index": 3, "method": "dina", "dt": 1e-3}, "index-1 form.*index=3 contradicts"),
    ({"index": 1, "method": "dina", "dt": 1e-3}, "index must be 3 or 2, got 1"),
    ({"index": 2}, "index=2 is the form of the equations of newmark.*'dopri5' projects"),
    ({"index": 3, "method": "ida"}, "'ida' solves those of index 2"),
    ({"stabilisation": "baumgarte", "method": "ida"}, "'ida' solves the equations of index 2"),
    ({"method": "dina", "dt": 1e-3, "matrix": "diagonal"}, "matrix='diagonal' is no matrix of loops"),
    ({"method": "dina", "dt": 1e-3, "scheme": "printed"}, "scheme='printed' knows nothing of loops"),
    ({"method": "dina", "dt": 1e-3, "scheme": "simpson"}, "scheme='simpson' knows nothing of loops"),
    ({"sensitivities": ["q0"]}, "sensitivities of 'four_bar' are not known where its loops are constraints"),
]


@pytest.mark.parametrize(("options", "words"), WRONG)
def test_wrong_words_about_loops_are_refused_by_name(options: dict[str, Any], words: str) -> None:
    with pytest.raises(gs.GyrostatError, match=words):
        gs.simulate(four_bar(), t_end=0.1, **options)


@pytest.mark.parametrize("option", [{"stabilisation": "projection"}, {"index": 3}, {"k1": 1.0}])
@pytest.mark.parametrize("loops", ["minimal", "none"])
def test_words_about_loops_are_refused_where_there_are_none(option: dict[str, Any], loops: str) -> None:
    model = four_bar("minimal") if loops == "minimal" else gs.robots.two_link()
    with pytest.raises(gs.GyrostatError, match=r"about loops that are constraints, and .* has no such loops"):
        gs.simulate(model, t_end=0.1, **option)


def test_rollouts_and_exports_are_refused_by_name(tmp_path: Path) -> None:
    model = four_bar()
    with pytest.raises(gs.LoopError, match=r"rollout: .*loop\(s\) that are constraints.*Hint: loops='auto'"):
        gs.rollout(model, q0=gs.neutral(model), dt=1e-3, steps=3)
    with pytest.raises(gs.StateError, match="projected until they are closed"):
        gs.Simulator(model, dt=1e-3).export_c(tmp_path)


# ------------------------------------------------------------------ the start
def test_without_q0_a_run_begins_at_the_reference_and_is_closed() -> None:
    model = four_bar(reference={"A": -1.0, "B": 0.7, "D": -1.5})
    run = gs.simulate(model, t_end=0.1)
    assert run.q[0] == pytest.approx(gs.neutral(model), abs=1e-9)
    assert run.closure["C"].distance[0] < 1e-14


@pytest.mark.parametrize("distance", [1e-7, 1e-3, 0.3])
def test_an_open_q0_is_refused_with_loop_and_distance(distance: float) -> None:
    model = four_bar()
    q = gs.neutral(model) + np.array([distance, 0.0, 0.0])
    with pytest.raises(gs.LoopError, match=r"q0 leaves the loop 'C'.*open by .*expected 1e-08 at most.*gs.close"):
        gs.simulate(model, q0=q, t_end=0.1)
    gs.simulate(model, q0=gs.close(model, q), t_end=0.01)


def test_a_q0_that_is_closed_to_a_few_digits_less_than_rounding_is_closed_by_the_run() -> None:
    model = four_bar()
    run = gs.simulate(model, q0=gs.neutral(model) + np.array([1e-9, 0.0, 0.0]), t_end=0.1)
    assert run.closure["C"].distance.max() < 1e-14


def test_a_v0_that_opens_a_loop_is_refused_with_its_name() -> None:
    model = four_bar()
    with pytest.raises(gs.LoopError, match=r"v0 opens the loop 'C'.*Hint: gs.close\(model, q0, v0\)\[1\]"):
        gs.simulate(model, v0=[1.0, 0.0, 0.0], t_end=0.1)
    v = gs.close(model, gs.neutral(model), np.array([1.0, 0.0, 0.0]), keep=["A"])[1]
    assert gs.simulate(model, v0=v, t_end=0.01).v[0, 0] == pytest.approx(1.0)


# ------------------------------------------------------------------ results
def test_projection_keeps_the_energy_and_the_closure_of_ten_seconds() -> None:
    model = four_bar()
    run = gs.simulate(model, t_end=10.0, rtol=1e-9, atol=1e-11)
    exact = gs.simulate(four_bar("minimal"), q0=run.q[0, :1], t_eval=[10.0], method="dop853", rtol=1e-12, atol=1e-13)
    assert abs(run.q[-1, 0] - exact.q[-1, 0]) < 1e-6
    assert run.closure["C"].distance.max() < 1e-12
    assert np.abs(run.energy_residual).max() < 1e-6


def test_without_stabilisation_loops_open_and_the_result_says_how_far() -> None:
    model = four_bar()
    runs = {
        k1: gs.simulate(model, t_end=10.0, rtol=1e-6, atol=1e-8, stabilisation="baumgarte", k1=k1, k2=k1 * k1 / 4)
        for k1 in (0.0, 20.0)
    }
    drift = {k1: run.closure["C"].distance[-1] for k1, run in runs.items()}
    assert drift[0.0] > 1e-5
    assert drift[20.0] < 1e-2 * drift[0.0]


@pytest.mark.parametrize("make", [four_bar, slider_crank, floating, bricard])
def test_forces_at_all_ports_are_those_of_forward_dynamics(make: Any) -> None:
    model = make()
    torque = np.linspace(0.3, -0.2, model.nv) if model.context.base != "free" else np.zeros(model.nv)
    run = gs.simulate(model, torque, t_eval=TIMES)
    forces = run.port_forces()
    expected = gs.ForwardDynamics(model).port_forces(run.q, run.v, run.tau)
    for port, force in expected.items():
        assert forces[port] == pytest.approx(force, abs=1e-6 * (1.0 + np.abs(force).max()))


def test_forces_beside_a_stop_in_a_loop_are_not_guessed() -> None:
    model = four_bar(joints={"A": {"lower": -2.0, "upper": 0.3}})
    run = gs.simulate(model, t_end=1.0, events=gs.JointLimits())
    with pytest.raises(gs.LoopError, match="a stop, or friction that sticks, acts"):
        run.port_forces()


def test_results_keep_the_closure_in_files(tmp_path: Path) -> None:
    run = gs.simulate(four_bar(), t_eval=TIMES, stabilisation="baumgarte")
    again = gs.load_result(run.save(tmp_path / "run.npz"))
    assert (again.closure["C"].distance == run.closure["C"].distance).all()


# ------------------------------------------------------------------ other ways to run
def test_runs_side_by_side_have_the_bits_of_single_ones() -> None:
    model = four_bar()
    q = np.array([gs.close(model, gs.neutral(model) + np.array([x, 0.0, 0.0]), keep=["A"]) for x in (0.0, 0.1, 0.2)])
    runs = gs.simulate(model, q0=q, t_eval=TIMES, threads=2)
    for start, run in zip(q, runs, strict=True):
        assert (run.q == gs.simulate(model, q0=start, t_eval=TIMES).q).all()


def test_a_simulator_steps_loops_saves_and_restores_them() -> None:
    model = four_bar()
    sim = gs.Simulator(model, dt=1e-3, method="rk4")
    for _ in range(100):
        sim.step([0.1, 0.0, 0.0])
    saved = sim.save()
    first = [sim.step([0.0, 0.0, 0.0]).q for _ in range(50)]
    sim.restore(saved)
    assert all((sim.step([0.0, 0.0, 0.0]).q == q).all() for q in first)


def test_a_mass_as_a_parameter_moves_both_coordinates_alike() -> None:
    model, small = four_bar(), four_bar("minimal")
    q = gs.neutral(model)
    runs = [
        gs.simulate(x, q0=q[: x.nq], t_eval=TIMES, parameters={"coupler.mass": 2.5}, rtol=1e-9, atol=1e-11)
        for x in (model, small)
    ]
    assert np.abs(runs[0].q[:, 0] - runs[1].q[:, 0]).max() < 1e-6
    assert np.abs(runs[0].q[-1, 0] - gs.simulate(model, t_eval=TIMES).q[-1, 0]) > 1e-3


def test_whole_steps_are_machine_code() -> None:
    every: list[dict[str, Any]] = [
        {},
        {"method": "radau"},
        {"method": "generalised-alpha", "dt": 1e-3},
        {"method": "bdf"},
    ]
    for options in every:
        run = gs.simulate(four_bar(), t_end=0.2, **options)
        assert run.counters.python == {}
        assert run.counters.in_python == ""
