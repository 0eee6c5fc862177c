"""Structures that change at events: grasp and release, dock, lock, wheels put on and off; what is refused."""

import importlib
import pickle

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.simulate.events.structure_change import changed

BOX = {"mass": 2.0, "inertia": (0.01, 0.02, 0.03)}


def link(name: str, mass: float = 1.0) -> gs.RigidBody:
    return gs.RigidBody(name, mass=mass, com=(0.25, 0.02, 0), inertia=(0.01, 0.02, 0.02), frames={"tip": (0.5, 0, 0)})


def arm(drives: bool = True, gravity: tuple[float, ...] = (0.0, 0.0, 0.0), **options) -> gs.Model:
    """Two links with geared rotors, and a box that floats."""
    parts = [gs.Joint("s", "revolute", axis="z"), link("u"), gs.Joint("e", "revolute", axis="y"), link("f", 0.7)]
    box = gs.chain("world", gs.Joint("box_pose", "free"), gs.RigidBody("box", **BOX))
    model = gs.assemble("arm", gs.chain("world", *parts), box, gravity=gravity, **options)
    for joint, ratio in (("s", 50.0), ("e", 30.0)) if drives else ():
        model = model.with_drive(joint, gear_ratio=ratio, rotor_inertia=2e-4)
    return model


Q = np.array([0.2, 0.4, 0.8, 0.3, -0.2, 0.1, 0.2, 0.3, np.sqrt(0.86)])
V = np.array([0.5, 0.2, 0.3, -0.4, 0.1, -0.1, 0.2, 0.3])


def after_impact(mass: np.ndarray, rows: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Independent: [M -J^T; J 0] (v+; impulse) = (M v; 0)."""
    n, m = len(v), len(rows)
    K = np.block([[mass, -rows.T], [rows, np.zeros((m, m))]])
    return np.linalg.solve(K, np.concatenate([mass @ v, np.zeros(m)]))[:n]


def gripping_rows(model: gs.Model, q: np.ndarray) -> np.ndarray:
    """Twist of the box against the gripper, at the world's origin: rows (6, nv)."""
    return gs.jacobian(model, q, "box.origin", "world") - gs.jacobian(model, q, "f.tip", "world")


@pytest.mark.parametrize("drives", [False, True])
def test_a_grasp_is_the_inelastic_impact_with_the_true_masses(drives):
    free = arm(drives)
    held = gs.grasp(free, Q, "box", "f.tip")
    assert held.dofs == ("s", "e")
    q, v = changed(free, Q, V, held, (None, None), "grasp", 0.0)
    np.testing.assert_allclose(q, Q[:2], atol=1e-15)
    want = after_impact(gs.crba(free, Q), gripping_rows(free, Q), V)
    np.testing.assert_allclose(v, want[:2], atol=1e-12)
    energy = gs.kinetic_energy(free, Q, V), gs.kinetic_energy(held, q, v)
    assert energy[1] < energy[0]
    assert energy[1] == pytest.approx(gs.kinetic_energy(free, Q, want), abs=1e-13)
    momentum = gs.crba(free, Q) @ V, gs.crba(held, q) @ v
    along = np.linalg.lstsq(gripping_rows(free, Q)[:, 2:], -gripping_rows(free, Q)[:, :2], rcond=None)[0]
    np.testing.assert_allclose(momentum[1], momentum[0][:2] + along.T @ momentum[0][2:], atol=1e-12)


def test_a_release_keeps_all_velocities():
    free = arm()
    held = gs.grasp(free, Q, "box", "f.tip")
    again = gs.release(held, "box")
    assert again.dofs == free.dofs
    q, v = changed(held, Q[:2], V[:2], again, (None, None), "release", 0.0)
    np.testing.assert_allclose(q[:5], Q[:5], atol=1e-12)
    np.testing.assert_allclose(np.abs(q[5:] @ Q[5:]), 1.0, atol=1e-12)
    twists = [gs.fk(m, x, y)["box.origin"].velocity("world") for m, x, y in ((held, Q[:2], V[:2]), (again, q, v))]
    np.testing.assert_allclose(*twists, atol=1e-12)
    assert gs.kinetic_energy(again, q, v) == pytest.approx(gs.kinetic_energy(held, Q[:2], V[:2]), abs=1e-13)


@pytest.mark.parametrize(("kind", "options"), [("fixed", {}), ("revolute", {"axis": "z"}), ("spherical", {})])
def test_a_dock_by_a_constraint_is_the_same_impact(kind, options):
    """A joint closes a loop at an event: coordinates stay, rates are those of the independent computation."""
    free = arm(loops="constraints")
    docked = dock(free, Q, gs.Joint("pin", kind, **options))
    assert docked.dofs == free.dofs
    q, v = changed(free, Q, V, docked, (None, None), "dock", 0.0)
    at = gs.fk(free, Q)["box.origin"]
    rows = at_origin(gripping_rows(free, Q), at)
    axes = {"fixed": range(6), "revolute": (0, 1, 3, 4, 5), "spherical": (3, 4, 5)}[kind]
    want = after_impact(gs.crba(free, Q), rows[list(axes)], V)
    np.testing.assert_allclose(v, want, atol=1e-12)
    np.testing.assert_allclose(q, Q, atol=1e-14)
    if kind == "fixed":
        held = changed(free, Q, V, gs.grasp(free, Q, "box", "f.tip"), (None, None), "grasp", 0.0)
        np.testing.assert_allclose(v[:2], held.v, atol=1e-12)


def at_origin(rows: np.ndarray, frame) -> np.ndarray:
    """Twists about the world's origin, as those of a frame's origin along its axes."""
    w, u = rows[:3], rows[3:] + np.cross(rows[:3].T, frame.p).T
    return np.concatenate([frame.R.T @ w, frame.R.T @ u])


def dock(model: gs.Model, q: np.ndarray, joint: gs.Joint) -> gs.Model:
    at = gs.fk(model, q)
    a, b = at["f.tip"], at["box.origin"]
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = a.R.T @ b.R, a.R.T @ (b.p - a.p)
    return model.attach(joint, "f.tip", at=T, check=False).connect(f"{joint.name}.b", "box.origin")


def test_a_run_grasps_carries_and_releases():
    free = arm(gravity=(0.0, 0.0, -1.0))
    held: list[gs.Model] = []

    def grasp(t, q, v):
        held.append(gs.grasp(free, q, "box", "f.tip"))
        return held[0]

    events = [
        gs.Event(lambda t, q, v: t - 0.2, reset=grasp, name="grasp"),
        gs.Event(lambda t, q, v: t - 0.5, reset=lambda t, q, v: gs.release(held[0], "box"), name="release"),
    ]
    run = gs.simulate(free, q0=Q, v0=V, t_end=0.8, events=events, rtol=1e-10, atol=1e-12)
    first, second, third = run.parts
    assert [part.model.nq for part in run.parts] == [9, 2, 9]
    assert [(e.name, e.kind) for e in run.events] == [("grasp", "structure"), ("release", "structure")]
    assert run.status == "finished" and run.t[-1] == 0.8
    for part in run.parts:
        assert np.ptp(part.energy) < 1e-8
    assert second.energy[0] < first.energy[-1] - 1e-3
    assert third.energy[0] == pytest.approx(second.energy[-1], abs=1e-12)
    places = [part.frames()["box.origin"].p for part in run.parts]
    np.testing.assert_allclose(places[0][-1], places[1][0], atol=1e-11)
    np.testing.assert_allclose(places[1][-1], places[2][0], atol=1e-11)
    want = after_impact(gs.crba(free, first.q[-1]), gripping_rows(free, first.q[-1]), first.v[-1])
    np.testing.assert_allclose(second.v[0], want[:2], atol=1e-11)
    np.testing.assert_allclose(run["s"].q, np.concatenate([part["s"].q for part in run.parts]))
    assert len(run.t) == len(run.energy) == len(run.work) == len(run.wall)


def test_what_needs_one_set_of_coordinates_refuses_and_names_the_change(tmp_path):
    run = parted()
    message = r"its structure changes at t = 0\.1 s \(event 'grasp'\) from nq = 9.*to nq = 2.*result\.parts"
    for name in ("q", "v", "a", "tau", "closure", "rolling_forces", "contact_forces"):
        with pytest.raises(gs.StateError, match=f"no {name} of the whole run.*{message[4:]}"):
            getattr(run, name)
    for call in (
        run.frames, run.port_forces, run.plot, run.view, run.to_pandas, run.to_xarray,
        lambda: run.to_csv(tmp_path / "x"), lambda: run.to_parquet(tmp_path / "x"), lambda: run.to_mcap(tmp_path / "x"),
    ):  # fmt: skip
        with pytest.raises(gs.StateError, match=message):
            call()
    with pytest.raises(gs.StateError, match=r"has no joint 'box_pose'.*result\.parts\[k\]"):
        run["box_pose"]
    with pytest.raises(gs.StateError, match="there is no joint 'x'"):
        run["x"]
    assert "2 structures" in repr(run)


def parted() -> gs.Result:
    free = arm()
    grasp = gs.Event(lambda t, q, v: t - 0.1, reset=lambda t, q, v: gs.grasp(free, q, "box", "f.tip"), name="grasp")
    return gs.simulate(free, q0=Q, v0=V, t_end=0.2, events=[grasp])


def test_parts_are_saved_and_read(tmp_path):
    run = parted()
    again = gs.load_result(run.save(tmp_path / "run"))
    assert len(again.parts) == 2
    for one, two in zip(run.parts, again.parts, strict=True):
        assert one.model == two.model
        for name in ("t", "q", "v", "a", "tau", "work", "wall"):
            assert np.array_equal(getattr(one, name), getattr(two, name))
    assert [e.name for e in again.events] == ["grasp"]
    run.parts[1].to_csv(tmp_path / "held.csv")


COIN = gs.assemble(
    "coin",
    gs.chain("world", gs.Joint("pose", "free"), gs.RigidBody("disc", mass=2.0, inertia=(0.03, 0.06, 0.03))),
    gravity=(0.0, 0.0, 0.0),
)
ROLLS = COIN.with_rolling(gs.Rolling("contact", 0.3).on("disc"))
UPRIGHT = [0, 0, 0.3, 0, 0, 0, 1]


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("dopri5", {"rtol": 1e-9}), ("bdf", {"rtol": 1e-8}), ("radau", {"rtol": 1e-8}), ("rk4", {"dt": 1e-3}),
        ("trapezoid", {"dt": 1e-4}), ("generalised-alpha", {"dt": 1e-4}),
    ],
)  # fmt: skip
def test_a_wheel_is_put_on_while_it_spins(method, options):
    """The spin 10 rad/s becomes C / (C + m r^2) of it; where nq stays, the result is one."""
    grip = gs.Event(lambda t, q, v: t - 0.1, reset=lambda t, q, v: ROLLS, name="grip")
    run = gs.simulate(COIN, q0=UPRIGHT, v0=[0, 10, 0, 0, 0, 0], t_end=0.2, method=method, events=[grip], **options)
    assert run.parts == (run,) and run.q.shape == (len(run.t), 7)
    assert run.v[-1, 1] == pytest.approx(10.0 * 0.06 / (0.06 + 2.0 * 0.09), abs=1e-6)
    assert run.q[-1, 0] == pytest.approx(0.1 * 2.5 * 0.3, abs=1e-6)
    assert [model for _, model in run.phases] == [COIN, ROLLS]
    assert set(run.rolling_forces) == {"contact"} and not run.rolling_forces["contact"][0].any()
    assert run.energy[-1] == pytest.approx(0.25 * run.energy[0], abs=1e-5)


def test_going_back_and_forth_compiles_nothing_new(monkeypatch):
    def run() -> gs.Result:
        count = [0]

        def toggle(t, q, v):
            count[0] += 1
            return COIN if count[0] % 2 else ROLLS

        events = [gs.Event(lambda t, q, v: np.sin(20 * np.pi * t + 0.5), reset=toggle, name="toggle")]
        return gs.simulate(ROLLS, q0=UPRIGHT, v0=[0, 10, 0, 3, 0, 0], t_end=0.5, events=events, rtol=1e-10)

    first = run()
    compile_module = importlib.import_module("gyrostat.engine.llvm.compile")
    monkeypatch.setattr(compile_module, "_object", None)  # nobody may ask for machine code
    again = run()
    assert len(again.phases) == 11 and np.array_equal(first.q, again.q)
    np.testing.assert_allclose(again.q[-1, :3], [1.5, 0.0, 0.3], atol=1e-8)
    assert np.ptp(again.energy) < 1e-8


def test_a_joint_is_clamped_and_let_go():
    """Lock at an event: the momentum along what still moves is kept, geared rotors included."""
    free = arm().detach("box_pose")
    M = gs.crba(free, [0.1, 0.3])
    clamped = changed(free, np.array([0.1, 0.3]), np.array([0.5, 2.0]), free.lock("e", 0.3), (None, None), "clamp", 0.0)
    np.testing.assert_allclose(clamped.v, [(M @ [0.5, 2.0])[0] / M[0, 0]], atol=1e-12)
    loose = changed(free.lock("e", 0.3), clamped.q, clamped.v, free, (None, None), "loosen", 0.0)
    np.testing.assert_allclose(loose.q, [0.1, 0.3], atol=1e-10)
    np.testing.assert_allclose(loose.v, [clamped.v[0], 0.0], atol=1e-12)


@pytest.mark.slow
def test_instants_samples_and_states_go_on_across_the_change():
    free = arm()
    times = np.linspace(0.0, 0.2, 9)
    grasp = gs.Event(lambda t, q, v: t - 0.11, reset=lambda t, q, v: gs.grasp(free, q, "box", "f.tip"), name="grasp")

    def law(t, q, v):
        return {"s": -3.0 * q[0] - v[0]}

    run = gs.simulate(free, law, q0=Q, v0=V, t_eval=times, events=[grasp])
    np.testing.assert_array_equal(run.t, times)
    assert [len(part.t) for part in run.parts] == [5, 4]
    assert abs(run.energy_residual[4]) < 1e-6
    np.testing.assert_allclose(np.diff(run.energy_residual[5:]), 0.0, atol=1e-6)


def test_a_batch_changes_each_run_by_itself():
    free = arm()
    grasp = gs.Event(lambda t, q, v: t - 0.1, reset=lambda t, q, v: gs.grasp(free, q, "box", "f.tip"), name="grasp")
    many = gs.simulate(free, q0=np.stack([Q, Q]), v0=np.stack([V, 0.5 * V]), t_end=0.2, events=[grasp])
    alone = parted()
    assert np.array_equal(many[0].parts[1].q, alone.parts[1].q) and len(many[1].parts) == 2
    with pytest.raises(gs.StateError, match=r"structure changes|same samples"):
        _ = many.q


# ------------------------------------------------------------------------------------------------ what is refused
def reset_to(model, start=None):
    start = arm() if start is None else start
    event = gs.Event(lambda t, q, v: t - 0.1, reset=lambda t, q, v: model, name="change")
    return gs.simulate(start, q0=Q, v0=V, t_end=0.2, events=[event])


def test_what_does_not_fit_is_refused_by_name():
    free = arm()
    wrong = gs.grasp(free, gs.neutral(free), "box", "f.tip")
    with pytest.raises(gs.SimulationError, match=r"reset of 'change' at t = 0\.1 s: 'box' would jump by .*gs\.grasp"):
        reset_to(wrong)
    held = gs.grasp(free, Q, "box", "f.tip")
    payload = gs.RigidBody("tool", mass=1.0, inertia=(0.1, 0.1, 0.1))
    tool = free.detach("box_pose").attach(gs.Joint("twist", "revolute", axis="x"), "f.tip", check=False)
    with pytest.raises(gs.SimulationError, match=r"nothing of 'arm' tells how fast 'twist'.*\(model, q, v\)"):
        reset_to(tool.attach(payload, "twist.b"))
    docked = dock(arm(loops="constraints"), Q, gs.Joint("pin", "fixed"))
    with pytest.raises(gs.SimulationError, match=r"'pin' of 'arm' cannot be put on, it is open by|would jump|open"):
        reset_to(docked, arm(loops="constraints"))
    with pytest.raises(gs.SimulationError, match=r"returned 3 in the place of a model"):
        reset_to((3, Q, V))
    explicit = reset_to((held, Q[:2], V[:2]))
    np.testing.assert_array_equal(explicit.parts[1].q[0], Q[:2])


def test_the_part_before_a_failure_is_kept():
    free, events = arm(), []
    events += [gs.Event(lambda t, q, v: t - 0.1, reset=lambda t, q, v: gs.grasp(free, q, "box", "f.tip"), name="grasp")]

    run = gs.simulate(free, lambda t, q, v: {"s": 1.0}, q0=Q, v0=V, t_end=0.2, events=events)
    assert len(run.parts) == 2
    with pytest.raises(
        gs.SimulationError, match=r"stopped at t = 0\.1 s of 0\.2 s, where the structure changes"
    ) as error:
        gs.simulate(free, np.zeros(8), q0=Q, v0=V, t_end=0.2, events=events)
    assert error.value.result.t[-1] == pytest.approx(0.1) and error.value.t == pytest.approx(0.1)


def test_mistakes_of_grasp_and_release_are_told():
    free = arm()
    with pytest.raises(gs.StateError, match=r"grasp 'bx': 'arm' has no body 'bx'.*'box'"):
        gs.grasp(free, Q, "bx", "f.tip")
    with pytest.raises(gs.StateError, match=r"grasp 'u': 'f\.tip' is carried by it"):
        gs.grasp(free, Q, "u", "f.tip")
    with pytest.raises(gs.StateError, match=r"release 'box': it is on 'box_pose', expected a displacement"):
        gs.release(free, "box")
    with pytest.raises(gs.FrameError, match=r"f\.tpi"):
        gs.grasp(free, Q, "box", "f.tpi")


# ------------------------------------------------------------------------------------------------ bases and controllers
@pytest.mark.slow
def test_a_free_flyer_keeps_its_momentum_when_a_joint_locks():
    trunk = gs.RigidBody("trunk", mass=3.0, inertia=(0.1, 0.1, 0.1), frames={"hip": (0.1, 0, 0)})
    leg = gs.chain("trunk.hip", gs.Joint("hip", "revolute", axis="y"), link("leg"))
    free = gs.assemble("flyer", gs.connect("world", "trunk.origin"), trunk, leg, base="free", gravity=(0, 0, 0))
    q, v = gs.neutral(free), np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 1.0])
    q[-1] = 0.3
    stiff = free.lock("hip", 0.3)
    q_after, v_after = changed(free, q, v, stiff, (None, None), "lock", 0.0)
    momenta = gs.centroidal_momentum(free, q, v), gs.centroidal_momentum(stiff, q_after, v_after)
    np.testing.assert_allclose(*momenta, atol=1e-13)
    assert gs.kinetic_energy(stiff, q_after, v_after) < gs.kinetic_energy(free, q, v)


@pytest.mark.slow
def test_a_base_that_moves_takes_no_part_in_the_impact():
    free = arm()
    model = free.replace({"context.base": gs.HarmonicMotion(amplitude=(0.1, 0, 0), frequency=2.0)})
    grasp = gs.Event(
        lambda t, q, v: t - 0.1, reset=lambda t, q, v: gs.grasp(model, q, "box", "f.tip", t=t), name="grasp"
    )
    before, after = gs.simulate(model, q0=Q, v0=V, t_end=0.2, events=[grasp]).parts
    q, v = before.q[-1], before.v[-1]
    np.testing.assert_allclose(before.frames()["box.origin"].p[-1], after.frames()["box.origin"].p[0], atol=1e-14)
    want = after_impact(gs.crba(free, q), gripping_rows(free, q), v)
    np.testing.assert_allclose(after.v[0], want[:2], atol=1e-12)


def test_digital_parts_keep_their_instants_and_what_they_hold():
    """Sampled at multiples of 0.03 s, not at the change; the value that is held goes on."""
    calls: list[float] = []

    def law(t, q, v):
        calls.append(round(t, 9))
        return np.array([0.0, 0.1 + t, 0.0, 0.0, 0.0, 0.0])

    grip = gs.Event(lambda t, q, v: t - 0.1, reset=lambda t, q, v: ROLLS, name="grip")
    torque = gs.blocks.Sampled(law, 0.03)
    run = gs.simulate(COIN, torque, q0=UPRIGHT, v0=[0, 10, 0, 0, 0, 0], t_end=0.2, events=[grip])
    assert calls == [0.0, 0.03, 0.06, 0.09, 0.12, 0.15, 0.18]
    at = (run.t > 0.0901) & (run.t < 0.1199)
    assert at.sum() >= 2 and np.all(run.tau[at, 1] == 0.1 + 0.09)


def test_what_a_controller_holds_for_each_joint_is_not_handed_on():
    free = arm()
    grasp = gs.Event(lambda t, q, v: t - 0.1, reset=lambda t, q, v: gs.grasp(free, q, "box", "f.tip"), name="grasp")
    torque = gs.blocks.Sampled(lambda t, q, v: {"s": -q[0]}, 0.03)
    with pytest.raises(gs.SimulationError, match=r"8 held values before, 0 and 2 after it.*Hint: blocks whose states"):
        gs.simulate(free, torque, q0=Q, v0=V, t_end=0.2, events=[grasp])


@pytest.mark.slow
def test_a_stop_takes_its_share_of_the_impact():
    """A joint about at its stop when the box is caught: one impact after the other is both at once."""
    free = arm().replace({"s.lower": -1.0, "s.upper": 0.22})
    grasp = gs.Event(lambda t, q, v: t - 0.1, reset=lambda t, q, v: gs.grasp(free, q, "box", "f.tip"), name="grasp")
    run = gs.simulate(free, q0=Q, v0=V, t_end=0.2, events=[grasp, gs.JointLimits()], rtol=1e-9)
    first, second = run.parts
    assert [e.name for e in first.events] == ["s", "grasp"]
    q, v = first.q[-1], first.v[-1]
    rows = gripping_rows(free, q)
    want = after_impact(gs.crba(free, q), rows, v)
    if want[0] > 0.0:  # into the stop
        want = after_impact(gs.crba(free, q), np.concatenate([rows, np.eye(8)[:1]]), v)
    assert second.events[0].name == "s" and second.events[0].t < 0.1 + 1e-4  # it is just about there
    np.testing.assert_allclose(second.events[0].v_after, want[:2], atol=1e-5)
    assert run["s"].q.max() < 0.22 + 1e-9


def test_results_of_parts_are_pickled():
    run = parted()
    again = pickle.loads(pickle.dumps(run))
    assert np.array_equal(again.parts[1].q, run.parts[1].q) and len(again.events) == 1
