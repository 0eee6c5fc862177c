"""Ten thousand Pandas under a PD controller, with other masses, friction and delays: the study of test_large_study.py.

As a program, ``python -m tests.studies.sweeps.panda_study FOLDER``, it runs the study into a store and tells how far
it is."""

import sys

import gyrostat as gs

JOINTS = ("1", "2", "4")
Q0 = [0.0, -0.8, 0.0, -2.4, 0.0, 1.6, 0.8]


def panda_study(count: int = 10_000, steps: int = 500) -> gs.studies.Study:
    arm = gs.load("panda").lock("panda_finger_joint1", 0.0)
    law = {
        "kind": "pd",
        "kp": [200, 200, 100, 100, 20, 20, 5],
        "kd": [20, 20, 10, 10, 2, 2, 0.5],
        "reference": {"kind": "quintic", "start": Q0, "end": [x + 0.4 for x in Q0], "duration": 0.4},
        "feedforward": "gravity",
        "sample_time": 1e-3,
        "delay": 0,
    }
    job = gs.Job(
        arm,
        "rollout",
        inputs={"torque": law, "q0": Q0, "steps": steps, "dt": 1e-3},
        outputs={"peak": "max-abs tau.panda_joint2", "error": "rms error", "end": "final z(panda_hand.origin)"},
        name="panda",
    )
    over = {"panda_hand.mass": (0.5, 3.0), "inputs.torque.delay": {"integer": [0, 4]}}
    over |= {f"panda_joint{k}_drive.friction.viscous": (0.0, 10.0) for k in JOINTS}
    return gs.studies.Study(job, lhs=over, count=count, seed=7)


if __name__ == "__main__":
    with gs.store(sys.argv[1]) as kept:
        panda_study(int(sys.argv[2])).run(kept, progress=lambda done, total, text: print(done, flush=True))
