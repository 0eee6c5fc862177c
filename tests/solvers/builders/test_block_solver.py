"""Functions of users behind the interface of solvers: closed forms that are checked, called, compiled and simulated."""

import pickle

import casadi as ca
import numpy as np
import pytest

import gyrostat as gs
from gyrostat.simulate.methods import METHODS
from gyrostat.simulate.plant.user_dynamics import BY_RESIDUAL
from tests.support.comparing import assert_close

L1, L2, M1, M2, J1, J2, G = 0.5, 0.4, 2.0, 1.5, 0.03, 0.02, 9.81


def arm(**changes) -> gs.Model:
    """Two links in the plane of x and z that turn about y; centres of mass in their middle."""
    links = [
        gs.RigidBody(f"link{k}", mass=m, com=(length / 2, 0, 0), inertia=(0.01, J, J), frames={"tip": (length, 0, 0)})
        for k, (m, length, J) in enumerate(((M1, L1, J1), (M2, L2, J2)), 1)
    ]
    joints = [gs.Joint(name, "revolute", axis=(0, -1, 0), lower=-3.0, upper=3.0) for name in ("shoulder", "elbow")]
    return gs.assemble("arm", gs.chain("world", joints[0], links[0], "tip", joints[1], links[1]), **changes)


ARM = arm()
TIP = "link2.tip"


def inertia(q):
    c = L1 * L2 / 2 * M2 * np.cos(q[1])
    d = J2 + M2 * L2**2 / 4
    return J1 + M1 * L1**2 / 4 + M2 * L1**2 + d + 2 * c, c + d, d


def bias(q, v):
    h = L1 * L2 / 2 * M2 * np.sin(q[1])
    g2 = M2 * L2 / 2 * G * np.cos(q[0] + q[1])
    g1 = (M1 * L1 / 2 + M2 * L1) * G * np.cos(q[0]) + g2
    return -h * (2 * v[0] * v[1] + v[1] ** 2) + g1, h * v[0] ** 2 + g2


def by_hand(q, v, a):
    """Inverse dynamics in closed form."""
    a11, a12, a22 = inertia(q)
    b1, b2 = bias(q, v)
    return np.array([a11 * a[0] + a12 * a[1] + b1, a12 * a[0] + a22 * a[1] + b2])


def forward_by_hand(q, v, tau):
    a11, a12, a22 = inertia(q)
    b1, b2 = bias(q, v)
    r1, r2, D = tau[0] - b1, tau[1] - b2, a11 * a22 - a12 * a12
    return np.array([(a22 * r1 - a12 * r2) / D, (a11 * r2 - a12 * r1) / D])


def only_floats(q, v, a):
    """The same for numbers alone, as compiled code has it."""
    return by_hand([float(x) for x in q], [float(x) for x in v], [float(x) for x in a])


def in_batches(q, v, a):
    assert q.ndim == v.ndim == a.ndim == 2
    return by_hand(q.T, v.T, a.T).T


def reach(p):
    """All branches of the inverse kinematics of the tip, NaN out of reach."""
    x, z = p[0], p[2]
    with np.errstate(invalid="ignore"):
        q2 = np.arccos((x * x + z * z - L1**2 - L2**2) / (2 * L1 * L2)) * np.array([1.0, -1.0])
    q1 = np.arctan2(z, x) - np.arctan2(L2 * np.sin(q2), L1 + L2 * np.cos(q2))
    return np.stack([(q1 + np.pi) % (2 * np.pi) - np.pi, q2], axis=1)


STATE = tuple(np.random.default_rng(0).normal(size=(3, 2)))
BATCH = tuple(np.random.default_rng(1).normal(size=(3, 4, 3, 2)))
FORMS = {"recorded": (by_hand, {}), "floats": (only_floats, {}), "batches": (in_batches, {"batched": True})}


@pytest.mark.parametrize("form", FORMS)
def test_a_block_is_called_like_the_solver_that_it_stands_for(form):
    function, options = FORMS[form]
    block, general = gs.BlockSolver(ARM, function, like=gs.InverseDynamics, **options), gs.InverseDynamics(ARM)
    assert isinstance(block, gs.BlockSolver) and block.mode == ("compile" if form == "recorded" else "interpret")
    for _ in range(2):
        assert_close(block(*STATE), general(*STATE), 1e-12)
    assert_close(block(*BATCH, threads=2), general(*BATCH), 1e-12)
    assert_close(block(STATE[0], *BATCH[1:]), general(STATE[0], *BATCH[1:]), 1e-12)
    q, v, a = STATE
    by_name = {"shoulder": q[0], "elbow": q[1]}
    assert_close(block(by_name, a=list(a), v=v), general(*STATE), 1e-12)
    out = np.empty((4, 3, 2))
    assert block(*BATCH, out=out) is out
    assert_close(out, general(*BATCH), 1e-12)
    assert block(np.empty((0, 2)), np.empty((0, 2)), np.empty((0, 2))).shape == (0, 2)
    swapped = block.in_order(["elbow", "shoulder"])
    assert_close(swapped(*(x[..., ::-1] for x in BATCH)), general(*BATCH)[..., ::-1], 1e-12)
    one = block.in_order(["elbow"])
    assert_close(one([0.3], [0.2], [0.1]), gs.InverseDynamics(ARM).in_order(["elbow"])([0.3], [0.2], [0.1]), 1e-12)
    assert one.check(3).difference < 1e-12


@pytest.mark.parametrize("form", FORMS)
def test_mistakes_are_told_as_by_the_general_solver(form):
    function, options = FORMS[form]
    block = gs.BlockSolver(ARM, function, like=gs.InverseDynamics, **options)
    q, v, a = STATE
    with pytest.raises(gs.ShapeError, match=r"rnea: v has shape \(3,\), expected \(..., 2\)"):
        block(q, np.zeros(3), a)
    with pytest.raises(gs.ShapeError, match=r"rnea: got 2 arguments, expected 3: q, v, a"):
        block(q, v)
    with pytest.raises(gs.NonFiniteError, match=r"rnea: a of 'elbow' is inf"):
        block(q, v, [0.0, np.inf])
    assert np.isnan(block(q, v, [0.0, np.nan], nonfinite="return")).any()
    with pytest.raises(gs.StateError, match=r"q names 'elbo', which is no joint"):
        block({"elbo": 1.0}, v, a)
    with pytest.raises(gs.ShapeError, match=r"out"):
        block(q, v, a, out=np.empty(3))
    with pytest.raises(gs.ShapeError, match=r"takes no wrenches"):
        block(q, v, a, wrenches={TIP: np.zeros(6)})
    with pytest.raises(gs.ShapeError, match=r"rnea: is no function of 'tau'"):
        block(q, v, tau=a)
    with pytest.raises(gs.GyrostatError, match=r"BlockSolver has no specification"):
        _ = block.spec


def test_a_recorded_block_has_derivatives_casadi_and_c(tmp_path):
    block, general = gs.BlockSolver(ARM, by_hand, like=gs.InverseDynamics), gs.InverseDynamics(ARM)
    assert_close(block.jacobian("tau", "q")(*STATE), general.jacobian("tau", "q")(*STATE), 1e-12)
    assert_close(np.array(block.casadi()(*map(ca.DM, STATE))).ravel(), general(*STATE), 1e-12)
    assert {f.suffix for f in block.export_c(tmp_path, "mine")} == {".c", ".h"}
    again = pickle.loads(pickle.dumps(block))
    assert np.array_equal(again(*STATE), block(*STATE))
    floats = gs.BlockSolver(ARM, only_floats, like=gs.InverseDynamics)
    with pytest.raises(gs.RecordError, match=r"'only_floats' cannot be recorded"):
        floats.jacobian("tau", "q")
    assert "interpreted: 'only_floats' cannot be recorded" in floats.explain()
    with pytest.raises(gs.RecordError, match=r"'only_floats' cannot be recorded"):
        gs.BlockSolver(ARM, only_floats, like=gs.InverseDynamics, mode="compile")


def test_a_block_that_is_wrong_is_refused_when_it_is_built():
    def wrong(q, v, a):
        return by_hand(q, v, a) + 1e-3 * np.array([0.0, 1.0]) * v[0]

    with pytest.raises(gs.DisagreementError) as caught:
        gs.BlockSolver(ARM, wrong, like=gs.InverseDynamics)
    told = str(caught.value)
    assert told.startswith("rnea by 'wrong': 'tau' differs from that of InverseDynamics by 0.00")
    assert "in one of 8 random states of 'arm', tolerance 1e-08" in told
    q, v, a = caught.value.state
    off = np.abs(wrong(q, v, a) - gs.rnea(ARM, q, v, a)).max()
    size = max(1.0, np.abs(gs.rnea(ARM, q, v, a)).max())
    assert_close(caught.value.difference, off / size, 1e-9)
    block = gs.BlockSolver(ARM, wrong, like=gs.InverseDynamics, check=False)
    with pytest.raises(gs.DisagreementError, match=r"in one of 64 random states"):
        block.check()
    assert block.check(20, tolerance=1e-2).difference > 1e-6
    right = gs.BlockSolver(ARM, by_hand, like=gs.InverseDynamics)
    agreement = right.check(samples=100, rng=3)
    assert agreement.samples == 100 and agreement.difference < 1e-13 and agreement.output == "tau"
    with pytest.raises(gs.DisagreementError):
        right.reconfigure(ARM.replace({"link2.mass": 1.6}))
    assert_close(right(*STATE), gs.rnea(ARM, *STATE), 1e-12)


def test_a_function_that_is_not_the_same_every_time_is_noticed():
    calls = []

    def drifting(q, v, a):
        calls.append(1)
        return by_hand(q, v, a) + (0.0 if len(calls) < 2 else 1e-3)

    with pytest.raises(gs.DisagreementError, match="rnea by 'drifting'"):
        gs.BlockSolver(ARM, drifting, like=gs.InverseDynamics)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda q, v, a: np.zeros(3), r"tau that '<lambda>' returned has shape \(3,\), expected \(2,\)"),
        (lambda q, v, a: "torque", r"rnea: tau that '<lambda>' returned"),
        (lambda q, v, a: {"a": by_hand(q, v, a)}, r"'<lambda>' returned a, expected tau"),
        (lambda q, v, a: None, r"rnea: tau that '<lambda>' returned"),
    ],
)
def test_what_a_function_must_not_return(function, words):
    for mode in ("auto", "interpret"):
        with pytest.raises(gs.ShapeError, match=words):
            gs.BlockSolver(ARM, function, like=gs.InverseDynamics, mode=mode)


def test_other_solvers_with_options_and_several_results():
    def jacobian(q):
        x, z = L1 * np.cos(q[0]), L1 * np.sin(q[0])
        dx, dz = L2 * np.cos(q[0] + q[1]), L2 * np.sin(q[0] + q[1])
        J = np.zeros((6, 2), dtype=object)
        J[1], J[3], J[5] = -1.0, [-z - dz, -dz], [x + dx, dx]
        return J

    block = gs.BlockSolver(ARM, jacobian, like=gs.Jacobian, frame=TIP, expressed_in="aligned")
    assert block.mode == "compile" and block(STATE[0]).shape == (6, 2)
    made = gs.Jacobian(ARM, TIP, "aligned")
    assert_close(gs.BlockSolver(ARM, jacobian, like=made)(STATE[0]), made(STATE[0]), 1e-12)
    assert_close(gs.BlockSolver(ARM, jacobian, like=made.spec)(STATE[0]), made(STATE[0]), 1e-12)

    def centre(q, v):
        m = M1 + M2
        J = (M1 * gs.jacobian(ARM, q, "link1", "aligned")[3:] + M2 * gs.jacobian(ARM, q, "link2", "aligned")[3:]) / m
        return {"v": gs.center_of_mass(ARM, q, v).v + 0.0 * J @ v, "p": gs.center_of_mass(ARM, q)}

    com = gs.BlockSolver(ARM, centre, like=gs.CenterOfMass)
    assert com.mode == "interpret" and type(com(*STATE[:2])).__name__ == "Centre"
    assert_close(com(*BATCH[:2]).v, gs.center_of_mass(ARM, *BATCH[:2]).v, 1e-12)
    into = np.empty(3)
    assert com(*STATE[:2], out=(into, None)).p is into

    def tip(q):
        a = q[0] + q[1]
        c, s = np.cos(a), np.sin(a)
        p = np.array([[L1 * np.cos(q[0]) + L2 * c, 0.0, L1 * np.sin(q[0]) + L2 * s]])
        return {"R": np.array([[[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]]]), "p": p}

    fk = gs.BlockSolver(ARM, tip, like=gs.ForwardKinematics, frames=[TIP])
    assert_close(fk(STATE[0])[TIP].matrix, gs.fk(ARM, STATE[0])[TIP].matrix, 1e-12)


def test_a_forward_dynamics_in_some_order_must_have_all_joints():
    block = gs.BlockSolver(ARM, forward_by_hand, like=gs.ForwardDynamics)
    swapped = block.in_order(["elbow", "shoulder"])
    assert_close(swapped(*(x[::-1] for x in STATE)), gs.aba(ARM, *STATE)[::-1], 1e-11)
    with pytest.raises(gs.GyrostatError, match=r"'forward_by_hand' does not know that the other joints are held"):
        block.in_order(["elbow"])


def test_time_is_given_where_the_base_is_driven():
    lifted = arm(base=gs.HarmonicMotion(amplitude=(0, 0, 0.2), frequency=0.5))

    def on_a_lift(q, v, a, t):
        up = -0.2 * np.pi**2 * np.sin(np.pi * t)
        extra = by_hand(q, 0 * v, 0 * a) * (up / G)
        return by_hand(q, v, a) + extra

    block = gs.BlockSolver(lifted, on_a_lift, like=gs.InverseDynamics)
    assert block.mode == "compile"
    assert_close(block(*BATCH, t=0.3), gs.rnea(lifted, *BATCH, t=0.3), 1e-11)


def test_what_is_no_block_is_refused():
    for arguments, options, words in (
        ((3,), {"like": gs.InverseDynamics}, r"BlockSolver: expected a function, got int"),
        ((by_hand,), {"like": gs.rnea}, r"BlockSolver: like must be a solver of a state, got rnea"),
        ((by_hand,), {"like": gs.ElasticInverseDynamics}, r"."),
        ((by_hand,), {"like": gs.InverseDynamics, "live": ["link1.mass"]}, r"knows no live properties"),
        ((by_hand,), {"like": gs.InverseDynamics(arm(gravity=(0, 0, 0)))}, r"it is of another model"),
        ((by_hand,), {"like": gs.InverseDynamics(ARM), "only": ["elbow"]}, r"'only' is an option of its class"),
        ((by_hand,), {"like": gs.InverseDynamics, "check": -1}, r"check must be a number of states, got -1"),
        ((by_hand,), {"like": gs.InverseDynamics, "tolerance": 0}, r"tolerance must be a number above zero, got 0"),
    ):
        with pytest.raises(gs.GyrostatError, match=words):
            gs.BlockSolver(ARM, *arguments, **options)


# ------------------------------------------------------------------------------------------------ simulation
@pytest.mark.parametrize("method", ["dopri5", "rk4", "radau"])
def test_a_simulation_takes_a_forward_dynamics_of_yours(method):
    block = gs.BlockSolver(ARM, forward_by_hand, like=gs.ForwardDynamics)
    step = {"dt": 0.01} if method == "rk4" else {"rtol": 1e-8, "atol": 1e-10}
    given = {"q0": [0.3, -0.4], "t_end": 0.5, "method": method, "t_eval": np.linspace(0, 0.5, 6), **step}
    given["wrenches"] = {TIP: gs.Wrench([0, 0, 0, 0.5, 0, 1.0], "aligned")}
    mine, general = gs.simulate(ARM, [1.0, 0.2], forward_dynamics=block, **given), gs.simulate(ARM, [1.0, 0.2], **given)
    assert_close(mine.q, general.q, 1e-7 if method == "radau" else 1e-10)
    assert mine.counters.compiled and mine.counters.residual_evaluations == 0
    if method != "radau":  # which solves the inverse dynamics otherwise
        assert mine.counters.rhs_evaluations == general.counters.rhs_evaluations

    if method != "rk4":
        return
    seen = []

    def called(q, v, tau):
        seen.append(1)
        return np.array([float(x) for x in forward_by_hand(q, v, tau)])

    slow = gs.BlockSolver(ARM, called, like=gs.ForwardDynamics)
    seen.clear()
    third = gs.simulate(ARM, [1.0, 0.2], forward_dynamics=slow, **given)
    assert not third.counters.compiled and len(seen) >= third.counters.rhs_evaluations
    assert_close(third.q, general.q, 1e-7)


def test_a_simulation_uses_what_it_is_given_and_refuses_what_it_cannot_use():
    def damped(q, v, tau):
        return forward_by_hand(q, v, tau - 2.0 * v)

    block = gs.BlockSolver(ARM, damped, like=gs.ForwardDynamics, check=False)
    mine = gs.simulate(ARM, q0=[0.3, 0.0], t_end=0.5, forward_dynamics=block)
    other = gs.simulate(ARM, lambda t, q, v: -2.0 * v, q0=[0.3, 0.0], t_end=0.5)
    assert_close(mine.q[-1], other.q[-1], 1e-5)
    for method in METHODS:
        dt = {} if METHODS[method].adaptive else {"dt": 0.01}
        plain = gs.simulate(ARM, q0=[0.3, 0.0], t_end=0.02, method=method, **dt)
        assert (plain.counters.residual_evaluations > 0) == (method in (*BY_RESIDUAL, "bdf", "radau")), method
        if method in ("bdf", "radau"):
            mine = gs.simulate(ARM, q0=[0.3, 0.0], t_end=0.5, method=method, forward_dynamics=block)
            assert mine.counters.residual_evaluations == 0
            assert_close(mine.q[-1], other.q[-1], 1e-5)
        if method in BY_RESIDUAL:
            with pytest.raises(gs.GyrostatError, match=f"method '{method}' solves the inverse dynamics and would not"):
                gs.simulate(ARM, q0=[0.3, 0.0], t_end=0.02, method=method, forward_dynamics=block, **dt)
    with pytest.raises(gs.GyrostatError, match=r"forward_dynamics is .* Hint: gs.BlockSolver\(model, f, like=gs.Forw"):
        gs.simulate(ARM, t_end=0.1, forward_dynamics=forward_by_hand)
    with pytest.raises(gs.GyrostatError, match=r"Hint: gs.BlockSolver"):
        gs.simulate(ARM, t_end=0.1, forward_dynamics=gs.BlockSolver(ARM, by_hand, like=gs.InverseDynamics))
    with pytest.raises(gs.GyrostatError, match="the block is of 'arm' with other data"):
        gs.simulate(ARM.replace({"link1.mass": 3.0}), t_end=0.1, forward_dynamics=block)
    rough = ARM.with_drive("elbow", coulomb=0.1)
    sticky = gs.BlockSolver(rough, forward_by_hand, like=gs.ForwardDynamics, check=False)
    with pytest.raises(gs.StateError, match="dry friction of 'arm' sticks and slips, which the block"):
        gs.simulate(rough, t_end=0.1, forward_dynamics=sticky)


# ------------------------------------------------------------------------------------------------ inverse kinematics
def closed_form(function=reach, **options):
    given = {"frame": TIP, "axes": ("x", "z")} | options
    return gs.BlockSolver(ARM, function, like=gs.inverse_kinematics, **given)


def test_a_closed_form_of_inverse_kinematics_needs_no_iterations():
    block = closed_form()
    assert block.check(32) < 1e-12
    q = np.random.default_rng(3).uniform(-2.5, 2.5, (5, 4, 2))
    target = gs.fk(ARM, q)[TIP].p
    for found in (
        block(target, q),
        gs.inverse_kinematics(ARM, TIP, target, q, axes=("x", "z"), solver=block),
    ):
        assert found.converged.all() and not found.iterations.any() and (found.reason == "converged").all()
        assert_close(found.q, q, 1e-7)  # the branch nearest to q0, singular ones lose half the digits
    general = gs.inverse_kinematics(ARM, TIP, target, q, axes=("x", "z"))
    assert general.converged.all()


def test_where_a_closed_form_has_no_solution_the_search_goes_on():
    block = closed_form()
    far = block([2.0, 0.0, 0.0])
    assert not far.converged and far.reason == "nearest"
    assert_close(far.q, gs.inverse_kinematics(ARM, TIP, [2.0, 0.0, 0.0], axes=("x", "z")).q, 1e-5)

    def rough(p):
        return reach(p) + 1e-3

    nearly = closed_form(rough, check=False)
    target = gs.fk(ARM, [0.4, 0.9])[TIP].p
    found = nearly(target, [0.4, 0.9])
    assert found.converged and 0 < found.iterations < 5
    assert_close(found.q, [0.4, 0.9], 1e-9)
    with pytest.raises(gs.DisagreementError, match=r"BlockSolver: 'rough' for 'link2.tip' where .* misses it by 0.00"):
        nearly.check()
    with pytest.raises(gs.DisagreementError, match="has no solution"):
        closed_form(lambda p: None)


def test_a_line_is_followed_by_a_closed_form():
    calls = []

    def counted(p):
        calls.append(1)
        return reach(p)

    block = closed_form(counted, axes="position")
    q0 = [0.4, 0.9]
    end = gs.fk(ARM, q0)[TIP].p + np.array([0.1, 0.0, -0.2])
    line = gs.trajectories.cartesian_line(ARM, TIP, q0, end, duration=1.0, solver=block)
    other = gs.trajectories.cartesian_line(ARM, TIP, q0, end, duration=1.0)
    t = np.linspace(0, 1, 7)
    calls.clear()
    assert_close(line(t), other(t), 1e-9)
    assert len(calls) == 7


def test_one_leg_of_a_robot_that_floats():
    """Shoulder and elbow on a body that is free: the target is seen from the body, the rest keeps its q0."""
    body = gs.RigidBody("trunk", mass=5.0, inertia=(0.1, 0.1, 0.1), frames={"side": (0.0, 0.3, 0.0)})
    leg = [e for e in ARM.entities if e.name in ("shoulder", "link1", "elbow", "link2")]
    parts = {e.name: e for e in leg}
    tail = [gs.Joint("tail", "revolute", axis="z"), gs.RigidBody("rod", mass=0.1, com=(0.1, 0, 0), inertia=(1e-3,) * 3)]
    model = gs.assemble(
        "dog",
        gs.chain("world", body),
        gs.chain("trunk.side", parts["shoulder"], parts["link1"], "tip", parts["elbow"], parts["link2"]),
        gs.chain("trunk", *tail),
        base="free",
    )
    block = gs.BlockSolver(
        model,
        reach,
        like=gs.inverse_kinematics,
        frame=TIP,
        axes=("x", "z"),
        joints=["shoulder", "elbow"],
        reference="trunk.side",
        check=False,
    )
    q0 = gs.neutral(model)
    q0[:3], q0[-1] = (0.4, 0.2, 0.1), 0.7
    want = q0.copy()
    want[7:9] = 0.5, 0.8
    target = gs.fk(model, want)[TIP].p
    found = block(target, q0)
    assert found.converged and found.iterations == 0
    assert_close(found.q, want, 1e-9)
    with pytest.raises(
        gs.StateError, match=r"joints: 'elbwo' is no joint with coordinates. Hint: did you mean 'elbow'"
    ):
        gs.BlockSolver(model, reach, like=gs.inverse_kinematics, frame=TIP, joints=["elbwo"])


def test_what_a_closed_form_does_not_solve_is_refused():
    block = closed_form()
    with pytest.raises(gs.GyrostatError, match=r"the block 'reach' solves x, z of 'link2.tip', asked for x, y, z of"):
        gs.inverse_kinematics(ARM, TIP, [0.5, 0.0, 0.2], solver=block)
    with pytest.raises(gs.GyrostatError, match=r"asked for x, z of 'link1.tip'"):
        gs.inverse_kinematics(ARM, "link1.tip", [0.5, 0.0, 0.2], axes=("x", "z"), solver=block)
    with pytest.raises(gs.GyrostatError, match=r"solver is .* which is no closed form"):
        gs.inverse_kinematics(ARM, TIP, [0.5, 0.0, 0.2], solver=reach)
    with pytest.raises(gs.GyrostatError, match=r"cartesian_line: solver is .* which is no closed form"):
        gs.trajectories.cartesian_line(ARM, TIP, [0.4, 0.9], [0.5, 0.0, 0.2], duration=1.0, solver=reach)
    with pytest.raises(gs.GyrostatError, match=r"the block is of 'arm' with other data"):
        gs.inverse_kinematics(ARM.replace({"link1.mass": 3.0}), TIP, [0.5, 0.0, 0.2], axes=("x", "z"), solver=block)
    with pytest.raises(gs.ShapeError, match=r"'<lambda>' returned shape \(3,\), expected \(2,\) or \(k, 2\)"):
        closed_form(lambda p: np.zeros(3))
