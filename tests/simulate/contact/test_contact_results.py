"""What results tell of contacts, and what is refused."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import gyrostat as gs
from tests.simulate.contact.scenes import at, ball, block, slope, sphere


def test_phases_follow_each_other_and_forces_belong_to_them():
    run = gs.simulate(sphere(0.3, 0.5), q0=at(0, 0, 0.2), v0=[0, 0, 0, 5.0, 0, 0], t_end=2.0)
    spans = run.contact_phases
    assert spans[0].t_start == 0.0 and spans[-1].t_end == run.t[-1]
    assert all(a.t_end == b.t_start and a.phase != b.phase for a, b in pairwise(spans))
    assert {x.phase for x in spans} == {"open", "slide", "stick"}
    f = run.contact_forces["tip|floor"][:, 0]
    ends = [x.t_end for x in spans if x.phase == "open"]
    assert not f[run.t < ends[0] - 1e-5].any() and np.all(f[run.t > ends[-1]] > 0.0)
    assert [x.t for x in run.impulses] == [e.t for e in run.events if e.kind == "impact"]


def test_a_file_and_tables_hold_what_contacts_did(tmp_path):
    run = gs.simulate(ball(0.5), q0=[0.2], t_end=1.0)
    again = gs.load_result(run.save(tmp_path / "ball"))
    np.testing.assert_array_equal(again.contact_forces["tip|floor"], run.contact_forces["tip|floor"])
    assert again.contact_phases == run.contact_phases
    assert [(x.t, x.name, *x.impulse) for x in again.impulses] == [(x.t, x.name, *x.impulse) for x in run.impulses]
    head = run.to_csv(tmp_path / "ball.csv").read_text().splitlines()[0]
    assert "contact.tip|floor.n" in head


def test_samples_at_given_instants_have_forces_too():
    run = gs.simulate(block(0.5, angle=0.3), q0=at(0, 0, 0.1), t_eval=[0.0, 0.3, 0.7])
    total = sum(run.contact_forces.values())
    np.testing.assert_allclose(total, np.tile([2.0 * -slope(0.3)[2], *total[0, 1:]], (3, 1)), atol=1e-9)


def test_a_batch_runs_as_each_of_its_runs():
    model, heights = ball(0.5), [[0.1], [0.2]]
    runs = gs.simulate(model, q0=heights, t_end=0.7)
    for run, q0 in zip(runs, heights, strict=True):
        alone = gs.simulate(model, q0=q0, t_end=0.7)
        np.testing.assert_array_equal(run.q, alone.q)
        assert run.contact_phases == alone.contact_phases


def test_efforts_lift_a_body_off_and_put_it_down():
    run = gs.simulate(ball(0.0), lambda t, q, v: np.array([14.0 * np.sin(2.0 * t)]), q0=[0.0], t_end=2.5)
    lift = next(e for e in run.events if e.kind == "lift-off")
    assert lift.t == pytest.approx(0.5 * np.arcsin(9.81 / 14.0), abs=1e-9)
    assert [x.phase for x in run.contact_phases][:3] == ["slide", "open", "slide"]


def test_a_reset_onto_the_ground_is_an_impact():
    stop = gs.Event(lambda t, q, v: t - 0.1, reset=lambda t, q, v: (np.zeros(1), np.array([-2.0])))
    run = gs.simulate(ball(0.5), q0=[1.0], t_end=0.2, events=[stop])
    assert run.impulses[0].impulse[0] == pytest.approx(3.0)


# ---------------------------------------------------------------------------------------------- refusals
def rod(friction: float) -> gs.Model:
    """A rod of 1 m whose end slides, Painlevé's example."""
    body = gs.RigidBody("rod", mass=1.0, inertia=(1e-3, 1.0 / 12.0, 1.0 / 12.0), frames={"tip": (-0.5, 0.0, 0.0)})
    joints = (
        gs.Joint("x", "prismatic", axis="x"),
        gs.Joint("z", "prismatic", axis="z"),
        gs.Joint("turn", "revolute", axis="y"),
    )
    return gs.assemble(
        "rod",
        gs.chain("world", *joints, body),
        gs.chain("rod.tip", gs.ContactPoint("tip")),
        gs.Ground("floor", friction=friction),
    )


def start(turn: float) -> list[float]:
    return [0.0, -0.5 * np.sin(turn) if turn < 0 else 0.5 * np.sin(turn), turn]


def test_painleves_rod_is_told_by_name():
    turn = -1.0  # the tip is below and behind, and slides ahead
    slow = gs.simulate(rod(0.5), q0=start(turn), v0=[1.0, 0.0, 0.0], t_end=0.01)
    assert slow.status == "finished"
    found = []
    for speed in (1.0, -1.0):  # one of the two draws the tip into the ground
        try:
            gs.simulate(rod(3.0), q0=start(turn), v0=[speed, 0.0, 0.0], t_end=0.01)
        except gs.GyrostatError as error:
            found.append(str(error))
    assert len(found) == 1 and "tip|floor" in found[0] and "Painlevé" in found[0]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: gs.simulate(ball(), q0=[-0.1], t_end=1.0), r"q0 lets contact 'tip\|floor' be 0.1 m within"),
        (lambda: gs.simulate(ball(), q0=[1.0], t_end=1.0, impact="moreau"), r"no impact law 'moreau'. Hint: "),
        (lambda: gs.simulate(gs.robots.pendulum(), t_end=1.0, impact="newton"), r"'pendulum' has none"),
        (lambda: gs.simulate(ball(), t_end=1.0, method="variational"), r"'variational' does not serve 'ball'"),
        (lambda: gs.simulate(ball(), t_end=1.0, method="newmark", dt=0.01), r"'newmark' does not serve 'ball'"),
        (lambda: gs.simulate(ball(), q0=[1.0], t_end=1.0, sensitivities=["q0"]), r"'tip\|floor' changes the motion"),
    ],
)  # fmt: skip
def test_what_contact_by_events_cannot_do_is_told(call, words):
    with pytest.raises(gs.GyrostatError, match=words):
        call()


def test_torsional_friction_and_a_moving_base_are_refused_by_name():
    body = gs.RigidBody("ball", mass=1.0, inertia=(0.01,) * 3)
    chain = gs.chain("world", gs.Joint("z", "prismatic", axis="z"), body, gs.ContactPoint("tip", radius=0.1))
    rough = gs.assemble("rough", chain, gs.Ground("floor", friction=0.3, torsional=0.01))
    with pytest.raises(
        gs.GyrostatError, match=r"'tip\|floor' has torsional friction 0.01 m.*Hint: use method='moreau'"
    ):
        gs.simulate(rough, q0=[1.0], t_end=1.0)
    shaken = gs.assemble(
        "shaken", chain, gs.Ground("floor"), base=gs.HarmonicMotion(amplitude=(0, 0, 0.1), frequency=1.0)
    )
    with pytest.raises(gs.GyrostatError, match=r"'shaken' has rigid contacts, and its base moves by itself"):
        gs.simulate(shaken, q0=[1.0], t_end=1.0)


def test_a_short_push_on_a_body_at_rest_is_seen():
    shape = gs.Shape(kind="box", size=(0.2, 0.2, 0.2), role="collision")
    box = gs.RigidBody("box", mass=2.0, inertia=(0.1, 0.1, 0.1), shapes=[shape])
    model = gs.assemble("box", gs.chain("world", gs.Joint("pose", "free"), box), gs.Ground("floor", friction=0.5))
    q = gs.neutral(model).copy()
    q[2] = 0.1

    def push(t, q, v):
        return np.array([0, 0, 0, np.where((t > 5.0) & (t < 5.06), 100.0, 0.0), 0, 0])

    run = gs.simulate(model, push, q0=q, t_end=10.0)
    speed = (100.0 - 0.5 * 2.0 * 9.81) / 2.0 * 0.06  # then it slides on, and stops
    slid = 0.5 * speed * 0.06 + speed**2 / (2 * 0.5 * 9.81)
    assert run.q[-1, 0] == pytest.approx(slid, rel=0.05)


def test_a_batch_has_the_contacts_of_each_run():
    body = gs.RigidBody("ball", mass=1.0, inertia=(0.004, 0.004, 0.004))
    tree = gs.chain("world", gs.Joint("free", "free"), body, gs.ContactPoint("tip", radius=0.1))
    model = gs.assemble("ball", tree, gs.Ground("floor", friction=0.4))
    q0 = [[0, 0, z, 0, 0, 0, 1] for z in (0.1, 0.2, 0.3)]
    batch = gs.simulate(model, q0=q0, t_end=0.5)
    assert [len(x) for x in batch.impulses] == [0, 1, 1]
    for k, run in enumerate(batch):
        assert batch.contact_forces[k] is run.contact_forces
        assert batch.contact_phases[k] is run.contact_phases
        assert batch.impulses[k] is run.impulses


def test_a_simulator_says_what_it_has_in_the_place_of_live():
    with pytest.raises(gs.GyrostatError, match=r"there is no argument 'live'.*Hint: parameters="):
        gs.Simulator(gs.robots.pendulum(), live=["upper.mass"])


@pytest.mark.parametrize(("radius", "speed", "aside"), [(0.05, 10.0, 0.0), (0.01, 100.0, 0.0), (0.001, 100.0, 0.001)])
@pytest.mark.parametrize("method", ["dopri5", "radau"])
def test_fast_spheres_do_not_pass_through_each_other(method, radius, speed, aside):
    shapes = [gs.Shape(kind="sphere", size=[radius], role="collision")]

    def flying(name):
        body = gs.RigidBody(name, mass=1.0, inertia=(1e-3, 1e-3, 1e-3), shapes=shapes)
        return gs.chain("world", gs.Joint(f"pose_{name}", "free"), body)

    pair = gs.ContactPair("a", "b", restitution=1.0)
    model = gs.assemble("two", flying("a"), flying("b"), pair, gravity=(0, 0, 0))
    q0, v0 = [0, 0, 0, 0, 0, 0, 1, 5.0, aside, 0, 0, 0, 0, 1], [0, 0, 0, speed, 0, 0, *[0.0] * 6]
    run = gs.simulate(model, q0=q0, v0=v0, t_end=1.0, method=method)
    along = 1.0 - (aside / (2.0 * radius)) ** 2  # square of the normal's part along the flight
    assert run.v[-1, [3, 9]] == pytest.approx([speed * (1.0 - along), speed * along], rel=1e-5, abs=1e-5 * speed)
