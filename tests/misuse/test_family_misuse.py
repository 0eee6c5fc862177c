"""What users do with the solvers of the family that they should not, and what could go wrong behind their backs."""

from __future__ import annotations

import gc
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import gyrostat as gs

LWR = gs.robots.kuka_lwr4()
Q, V, T = np.random.default_rng(0).uniform(-1, 1, (3, 7))


@pytest.mark.slow
def test_many_threads_may_ask_for_one_model_first_and_for_several_in_turn():
    script = textwrap.dedent(
        """
        import gc, sys, threading
        import numpy as np, gyrostat as gs
        sys.setswitchinterval(1e-6)
        def pendulum(m):
            body = gs.RigidBody("b", mass=m, com=(1, 0, 0), inertia=(1, 1, 1))
            return gs.assemble("p", gs.chain("world", gs.Joint("j", "revolute", axis="z"), body))
        wrong = []
        for k in range(40):
            models = [pendulum(1.0 + n) for n in range(3)]
            barrier = threading.Barrier(6)
            def work(n):
                barrier.wait()
                for i in range(30):
                    m = (n + i) % 3
                    if abs(gs.crba(models[m], np.zeros(1))[0, 0] - (2.0 + m)) > 1e-12:
                        wrong.append((k, n, i))
            threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
            [t.start() for t in threads]
            [t.join() for t in threads]
            del models
            gc.collect()
        print(len(wrong))
        """
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0 and done.stdout.strip() == "0", done.stderr


def test_the_right_model_answers_after_others_have_gone():
    for k in range(6):
        model = gs.robots.pendulum(mass=1.0 + k)
        assert gs.crba(model, [0.2]) == pytest.approx((1.0 + k) / 3.0)
        del model
        gc.collect()


def test_a_header_names_the_entries_in_the_order_of_the_solver(tmp_path):
    gs.ForwardDynamics(LWR).in_order(LWR.dofs[::-1]).export_c(tmp_path, "fd")
    header = (tmp_path / "fd.h").read_text("utf-8")
    assert "q: q7, q6, q5, q4, q3, q2, q1" in header and "tau: q7, q6" in header


@pytest.mark.parametrize("algorithm", gs.ForwardDynamics.algorithms)
@pytest.mark.parametrize("mode", ["compile", "interpret"])
def test_a_joint_that_moves_nothing_of_its_own_is_named(algorithm, mode):
    body = gs.RigidBody("b", mass=1.0, com=(0.1, 0.2, 0.3), inertia=(0.1, 0.2, 0.15))
    tilt = gs.Joint("tilt", "revolute", axis=(0.6, 0, 0.8))
    model = gs.assemble("floating", gs.chain("world", tilt, body), base="free")
    q = gs.random_configuration(model, 1)
    with pytest.raises(gs.StateError, match=r"mass matrix of 'floating' is singular: .*world"):
        gs.ForwardDynamics(model, algorithm, mode=mode)(q, np.ones(7), np.ones(7))
    assert np.all(np.isfinite(gs.rnea(model, q, np.ones(7), np.ones(7))))  # which needs no inverse


@pytest.mark.parametrize("solver", [gs.InverseMassMatrix, gs.Innovations])
def test_nothing_inverts_a_singular_mass_matrix(solver):
    parallel = [gs.Joint(name, "revolute", axis="z") for name in ("one", "two")]
    body = gs.RigidBody("b", mass=1.0, com=(0.1, 0, 0), inertia=(0.1, 0.2, 0.15))
    model = gs.assemble("doubled", gs.chain("world", *parallel, body))
    with pytest.raises(gs.StateError, match="'one'"):
        solver(model)([0.1, 0.2])
    with pytest.raises(gs.StateError, match="singular"):
        gs.aba_derivatives(model, [0.1, 0.2], [0, 0], [0, 0])


def test_free_trees_have_regular_mass_matrices():
    for seed in range(6):
        model = gs.robots.tree(seed, 4, ("spherical", "universal", "revolute"), base="free", reversed_share=0.6)
        M = gs.crba(model, gs.random_configuration(model, seed))
        assert np.linalg.cond(M) < 1e8


@pytest.mark.parametrize("mode", ["compile", "interpret"])
def test_results_that_share_memory_are_refused(mode):
    solver = gs.ForwardDynamicsDerivatives(LWR, mode=mode)
    one = np.zeros((7, 7))
    with pytest.raises(gs.ShapeError, match="share memory"):
        solver(Q, V, T, out=(one, one, np.zeros((7, 7))))
    room = np.zeros((3, 7, 7))
    found = solver(Q, V, T, out=tuple(room))
    assert np.array_equal(room[1], solver(Q, V, T).da_dv) and np.shares_memory(found.da_dq, room)
    assert np.array_equal(solver(Q, V, T, out=(None, one, None)).da_dv, one)


def test_functions_for_casadi_have_names_that_differ():
    function = gs.CenterOfMass(LWR).casadi()
    assert function.name_in() == ["q", "v"] and function.name_out() == ["p", "v_out"]


def test_raw_errors_are_sentences():
    with pytest.raises(gs.FrameError, match="named by texts"):
        gs.jacobian(LWR, Q, ["link7"])
    for options in ({"tolerance": "x"}, {"rng": "x"}):
        with pytest.raises(gs.StateError, match="base_parameters"):
            gs.base_parameters(LWR, **options)
    with pytest.raises(TypeError, match="ForwardDynamics"):
        gs.ForwardDynamics(LWR)(Q, V)
    for wrong in (None, 3, ["link7", "link7"]):
        with pytest.raises(gs.GyrostatError):
            gs.operational_inertia(LWR, Q, wrong)
    with pytest.raises(gs.ShapeError, match="no wrenches"):
        gs.Regressor(LWR)(Q, V, T, {"link7": np.zeros(6)})
