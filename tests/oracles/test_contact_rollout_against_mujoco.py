"""Rollouts with contact next to ``mujoco.rollout``."""

import pytest

from benchmarks.harness import FULL, QUICK, ratio

pytest.importorskip("mujoco")
pytest.importorskip("gymnasium")


def test_the_benchmark_checks_contacts_and_runs():
    from benchmarks.bench_contact_rollout import measure

    assert {row.stage for row in measure(QUICK)} == {"build", "run", "gradient"}


@pytest.mark.slow
def test_steps_with_contact_are_six_times_as_fast_as_those_of_mujoco():
    from benchmarks.bench_contact_rollout import measure

    best = 0.0
    for _ in range(3):  # other processes may disturb one program and not the other
        rows = measure(FULL)
        best = max(best, *(ratio(row, rows) or 0.0 for row in rows if row.stage == "run" and not row.peer))
        if best >= 6.0:
            return
    pytest.fail(f"faster by {best:.2f}, expected 6")
