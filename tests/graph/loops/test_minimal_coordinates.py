"""Closed loops in minimal coordinates: against the open tree, projected onto the motions that are left."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gyrostat as gs
from tests.support import loop_models
from tests.support.comparing import assert_close
from tests.support.examples import few
from tests.support.loop_models import LOOPS, four_bar, hinge, parallelogram, rod, rod_loop, two_rods
from tests.support.opened_loops import accelerations, in_tree, tree_equations


def expect_right(model, q, v, tau, tolerance=1e-9):
    """Closed, consistent, and with the accelerations of the projected tree."""
    a = gs.aba(model, q, v, tau)
    state = in_tree(model, q, v, a)
    M, h, J, b, g = tree_equations(model, state.q, state.v)
    assert_close(g, np.zeros_like(g), 1e-10)
    assert_close(J @ state.v, np.zeros(len(J)), tolerance)
    assert_close(J @ state.a + b, np.zeros(len(J)), tolerance * max(1.0, np.abs(b).max(initial=0.0)))
    on_tree = np.linalg.lstsq(state.T.T, tau, rcond=None)[0]
    expected = accelerations(model, state.q, state.v, on_tree)
    assert_close(state.a, expected, tolerance * max(1.0, np.abs(expected).max()))
    assert_close(gs.crba(model, q), state.T.T @ M @ state.T, 1e-10 * max(1.0, np.abs(M).max()))
    torques = state.T.T @ (M @ state.a + h)
    assert_close(gs.rnea(model, q, v, a), torques, tolerance * max(1.0, np.abs(torques).max()))
    return a


@pytest.mark.by_default(6)
@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("name", LOOPS)
def test_a_mechanism_moves_as_its_tree_with_closed_loops_does(name, base):
    model = LOOPS[name](loops="minimal")
    if base == "free":
        context = model.context.model_copy(update={"base": "free"})
        model = gs.Model(model.name, (*model.entities, gs.RigidBody("hull", mass=20.0, inertia=(3.0, 4.0, 5.0))),
                         (*model.connections, ("world", "hull")), context)  # fmt: skip
    rng = np.random.default_rng(5)
    for _ in range(3):
        q = gs.integrate(model, gs.neutral(model), 0.1 * rng.normal(size=model.nv))
        expect_right(model, q, rng.normal(size=model.nv), rng.normal(size=model.nv))


@pytest.mark.by_default(5)
@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("representation", ["inertial", "absolute"])
def test_the_representations_agree(name, representation):
    model = LOOPS[name](loops="minimal")
    rng = np.random.default_rng(6)
    q, v, a = gs.neutral(model), rng.normal(size=model.nv), rng.normal(size=model.nv)
    assert_close(gs.rnea(model, q, v, a, representation=representation), gs.rnea(model, q, v, a), 1e-11)


@pytest.mark.parametrize("joint", ["A", "B", "C", "D"])
@pytest.mark.parametrize("drive", [{}, {"viscous": 0.3}, {"stiffness": 300.0}], ids=["stiff", "viscous", "elastic"])
def test_drives_may_be_on_any_joint_of_a_loop(joint, drive):
    """A rotor on a dependent joint is in the equations of the independent one; on the cut joint, another is cut."""
    model = four_bar(loops="minimal").with_drive(joint, rotor_inertia=1e-3, gear_ratio=30.0, **drive)
    rng = np.random.default_rng(7)
    q = gs.neutral(model)
    expect_right(model, q, rng.normal(size=model.nv), rng.normal(size=model.nv))


def test_a_spring_between_dependent_joints_acts_by_their_slopes():
    model = four_bar(loops="minimal")
    wires = ("s.a", "B.shaft"), ("s.b", "D.shaft")
    sprung = gs.Model(model.name, (*model.entities, gs.Spring("s", stiffness=5.0, rest=0.2)),
                      (*model.connections, *wires), model.context)  # fmt: skip
    for q in (gs.neutral(model), gs.neutral(model) + 0.4):
        state, names = in_tree(model, q, np.zeros(1), np.zeros(1)), list(model.layout.plan.tree.dofs)
        B, D = names.index("B"), names.index("D")
        torque = 5.0 * (state.q[B] - state.q[D] - 0.2) * (state.T[B] - state.T[D])
        assert_close(gs.bias(sprung, q, [0.0]) - gs.bias(model, q, [0.0]), torque, 1e-9)
        slope = gs.rnea_derivatives(sprung, q, [0.7], [0.3]).dtau_dq
        ends = [gs.rnea(sprung, q + e, [0.7], [0.3]) for e in (1e-6, -1e-6)]
        assert_close(slope, (ends[0] - ends[1])[:, None] / 2e-6, 1e-6)


# ------------------------------------------------------------------------------------------------ what is found
def test_a_parallelogram_is_a_constant_tie_also_through_its_flat_positions():
    model = parallelogram(loops="minimal")
    (report,) = gs.loops(model)
    assert (report.treatment, report.unknowns) == ("constant tie", ("B", "D"))
    for angle in (0.0, np.pi, 7.0):  # flat, where the equations are singular, and more than a turn
        q = np.array([angle])
        assert np.isfinite(gs.aba(model, q, np.ones(1), np.zeros(1))).all()
        assert_close(gs.fk(model, q)["coupler.tip"].p, gs.fk(model, q)["rocker.tip"].p, 1e-12)


def test_coupled_loops_are_solved_in_sequence():
    first, second = gs.loops(two_rods())
    assert (first.closer, first.unknowns, first.order) == ("rod1", ("R6",), 1)
    assert (second.closer, second.unknowns, second.order) == ("rod2", ("R4",), 2)
    assert "step 2" in str(gs.loops(two_rods()))


def test_the_reference_chooses_the_branch():
    one, two = four_bar(), four_bar(reference={"A": -1.0, "B": 2.5, "D": 2.0})
    tips = [gs.fk(m, [-1.0])["coupler.tip"].p for m in (one, two)]
    assert tips[0][2] > 0.1 > -0.1 > tips[1][2] or tips[1][2] > 0.1 > -0.1 > tips[0][2]


def test_a_rough_reference_is_solved_for():
    rough, exact = four_bar(reference={"A": -1.0, "B": 0.5, "D": -1.4}), four_bar()
    assert_close(gs.neutral(rough), np.array([-1.0]), 1e-4)
    q = gs.neutral(exact)
    assert_close(gs.fk(rough, q)["coupler.tip"].p, gs.fk(exact, q)["coupler.tip"].p, 1e-12)


def test_the_order_of_the_file_changes_nothing():
    model = four_bar()
    other = gs.Model(model.name, tuple(reversed(model.entities)), tuple(reversed(model.connections)), model.context)
    q = np.array([-0.8])
    assert other.dofs == model.dofs
    assert_close(gs.rnea(other, q, [0.3], [0.1]), gs.rnea(model, q, [0.3], [0.1]), 1e-13)


def test_random_configurations_are_closed():
    model = two_rods(loops="minimal")
    for q in gs.random_configuration(model, 3, 5):
        g = tree_equations(model, in_tree(model, q, np.zeros(3), np.zeros(3)).q, np.zeros(5)).g
        assert_close(g, np.zeros_like(g), 1e-10)


# ------------------------------------------------------------------------------------------------ what is refused
def test_leaving_the_workspace_is_told_with_loop_unknown_and_distance():
    model = four_bar(0.9, 0.5, 0.5, 1.0, reference={"A": -0.3, "B": 0.9, "D": -1.5})
    pattern = r"^rnea: the loop world - A - .* cannot be closed: 'B', 'D' have no solution, 0\.803 m are missing"
    for call in (gs.rnea, gs.InverseDynamics(model, mode="interpret")):
        arguments = ([2.5], [0.0], [0.0])
        with pytest.raises(gs.LoopError, match=pattern):
            call(model, *arguments) if call is gs.rnea else call(*arguments)
    with pytest.raises(gs.LoopError, match="cannot be closed"):
        gs.fk(model, [[-0.3], [2.5]])
    reach = np.sqrt(1.0 + 0.81 - 2 * 0.9 * np.cos(2.5))  # from the crank's tip to the rocker's pin
    assert reach - 1.0 == pytest.approx(0.803, abs=1e-3)


def test_a_dead_point_is_told():
    model = four_bar(0.9, 0.5, 0.5, 1.0, reference={"A": -0.3, "B": 0.9, "D": -1.5})
    q = np.array([-np.arccos((0.81 + 1.0 - 1.0) / 1.8)])  # coupler and rocker in one line
    for ask in (gs.fk, gs.crba):
        with pytest.raises(gs.LoopError, match=r"dead point: 'B', 'D' can go either way|cannot be closed"):
            ask(model, q)
    with pytest.raises(gs.LoopError, match=r"dead point|cannot be closed"):
        gs.aba(model, q, [1.0], [0.0])
    assert np.isfinite(gs.aba(model, 0.99999 * q, [1.0], [0.0])).all()


def test_what_cannot_be_assembled_is_told_by_name():
    model = four_bar(3.0, 0.1, 0.1, 1.0)
    with pytest.raises(gs.LoopError, match=r"cannot be assembled: the loop world - A - .* stays open by 1\.\d+"):
        gs.rnea(model, np.zeros(model.nq), np.zeros(model.nv), np.zeros(model.nv))


def test_too_many_and_too_few_independent_coordinates_are_told():
    for names, words in ((["A", "D"], "cannot all be kept: the loops leave 1 degree"), (["A1"], "is too few")):
        make = four_bar if len(names) == 2 else loop_models.five_bar
        with pytest.raises(gs.LoopError, match=words):
            gs.loops(make(independent=names))


def test_minimal_coordinates_are_refused_where_there_is_no_closed_form():
    """A Stewart platform by the lengths of its legs."""
    model = loop_models.stewart(independent=[f"leg{k}" for k in range(6)], loops="minimal")
    with pytest.raises(gs.LoopError, match=r"loops='minimal', but 6 loop\(s\) have no closed form"):
        gs.loops(model)
    kinds = {r.treatment for r in gs.loops(loop_models.stewart(independent=[f"leg{k}" for k in range(6)]))}
    assert kinds == {"constraints"}


# ------------------------------------------------------------------------------------------------ hostile loops
def random_loop(rng, planar):
    """A chain of up to five links on joints of any kind with coordinates, and a joint or rod that joins two frames of
    it, wherever these are."""
    kinds = ["revolute", "prismatic"] if planar else ["revolute", "prismatic", "universal", "cylindrical", "spherical"]
    count, parts = int(rng.integers(2, 6)), []
    before = "world"
    for k in range(count):
        kind = kinds[rng.integers(len(kinds))] if k else "revolute"
        axis = {} if kind == "spherical" else {"axis": "y" if planar and kind == "revolute" else _axis(rng, planar)}
        if kind == "universal":
            axis = {"axis": "x", "second_axis": "y"}
        length = float(rng.choice([0.2, 0.5, 1.0, rng.uniform(0.05, 2.0)]))
        parts.append(gs.chain(before, gs.Joint(f"j{k}", kind, **axis), rod(f"b{k}", length)))
        before = f"b{k}.tip"
    far = tuple(float(x) for x in rng.choice([0.0, 0.5, 1.0, 3.0], size=3) * (1, 0 if planar else 1, 1))
    parts.append(gs.chain("world", gs.Displacement("anchor", translation=far)))
    closer = ["revolute", "spherical", "rod", "universal", "prismatic", "fixed", "cylindrical", "planar"]
    kind = closer[rng.integers(3 if planar else len(closer))]
    if kind == "rod":
        last = gs.ConnectingRod("last", float(rng.choice([1e-9, 0.3, 1.0, 2.0])))
    else:
        axis = {} if kind in ("spherical", "fixed") else {"axis": "y" if planar else _axis(rng, False)}
        last = gs.Joint("last", kind, **({"axis": "x", "second_axis": "y"} if kind == "universal" else axis))
    ends = gs.connect(before, "last.a"), gs.connect("anchor.b", "last.b")
    reference = {f"j{k}": float(rng.uniform(-2, 2)) for k in range(count) if rng.random() < 0.3 and k == 0}
    return gs.assemble("hostile", *parts, last, *ends, reference=reference, loops=str(rng.choice(["auto", "minimal"])))


def _axis(rng, planar):
    if planar:
        return ("x", "z")[rng.integers(2)]
    u = rng.normal(size=3)
    return tuple(u / np.linalg.norm(u)) if rng.random() < 0.5 else "xyz"[rng.integers(3)]


def expect_right_or_told(seed):
    """An error that names the loop, or a right answer."""
    rng = np.random.default_rng(seed)
    try:
        model = random_loop(rng, planar=bool(rng.random() < 0.6))
        q = gs.neutral(model)
        if gs.network(model).closures:
            return "constraints"
        q = gs.integrate(model, q, 0.05 * rng.normal(size=model.nv))
        v, tau = rng.normal(size=model.nv), rng.normal(size=model.nv)
        a = gs.aba(model, q, v, tau)
    except gs.LoopError as error:
        assert error.loops, str(error)
        assert "last" in str(error)
        return "told"
    except gs.SpecError:
        return "told"
    except gs.NonFiniteError:
        return "told"
    if not model.nv:
        return "rigid"
    M = gs.crba(model, q)
    if np.linalg.cond(M) > 1e8 or np.abs(a).max() > 1e5:
        return "near a singular position"
    expect_right(model, q, v, tau, 1e-7)
    return "right"


@settings(max_examples=few(15), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 2**32 - 1))
def test_hostile_loops_are_right_or_told(seed):
    expect_right_or_told(seed)


@pytest.mark.slow
def test_a_thousand_hostile_loops_are_right_or_told():
    outcomes = [expect_right_or_told(seed) for seed in range(1000)]
    assert outcomes.count("right") > 100


def test_a_rod_turns_about_any_axis():
    for axis in ("x", "y", (0.6, 0.0, 0.8), (0.0, -0.6, 0.8)):
        model = gs.assemble(
            "rod", gs.chain("world", hinge("a", "z"), rod("first", 0.5, "x", ball=(0.5, 0.1, 0.2))),
            gs.chain("world", gs.Displacement("d", translation=(0.8, 0.3, 0.1)), hinge("f", axis),
                     rod("second", 0.6, "z", ball=(0.15, 0.25, 0.6))),
            gs.ConnectingRod("link", 0.9), gs.connect("first.ball", "link.a"), gs.connect("second.ball", "link.b"),
            independent=["a"], loops="minimal")  # fmt: skip
        rng = np.random.default_rng(3)
        expect_right(model, gs.neutral(model), rng.normal(size=1), rng.normal(size=1))


@pytest.mark.parametrize("kinds", [("spherical", "spherical"), ("universal", "spherical"), ("spherical", "universal")])
def test_a_massless_link_between_two_passive_joints_is_a_rod(kinds):
    """Two ball joints and a displacement (H04 3.2.3.1): the same as a connecting rod of its length."""
    plain = rod_loop(loops="minimal")
    kept = tuple(e for e in plain.entities if e.name != "link")
    links = tuple(c for c in plain.connections if not any(p.startswith("link.") for p in c))
    axes = {"axis": "x", "second_axis": "y"}
    one, two = (gs.Joint(f"ball{k}", kind, **(axes if kind == "universal" else {})) for k, kind in enumerate(kinds))
    link = gs.Displacement("link", translation=(0.48, 0.0, 0.64))
    wires = ("first.ball", "ball0.a"), ("ball0.b", "link.a"), ("link.b", "ball1.a"), ("second.ball", "ball1.b")
    model = gs.Model("linked", (*kept, one, two, link), (*links, *wires), plain.context)
    assert model.dofs == plain.dofs == ("driver",)
    q, v, a = gs.neutral(plain), np.array([0.3]), np.array([0.1])
    assert_close(gs.rnea(model, q, v, a), gs.rnea(plain, q, v, a), 1e-12)
    slope = gs.InverseDynamics(model, live=["link.translation"]).jacobian("tau", "link.translation")(q, v, a)
    by_length = gs.InverseDynamics(plain, live=["link.length"]).jacobian("tau", "link.length")(q, v, a)
    assert_close(slope @ np.array([0.6, 0.0, 0.8]), by_length, 1e-10)


@pytest.mark.parametrize("joint", ["revolute", "prismatic"])
def test_a_length_can_be_live(joint):
    model = rod_loop(joint)
    q, v, a = gs.neutral(model), np.array([0.3]), np.array([0.1])
    slope = gs.InverseDynamics(model, live=["link.length"]).jacobian("tau", "link.length")(q, v, a)
    e = 1e-6
    ends = [gs.rnea(model.replace({"link.length": 0.8 + s * e}), q, v, a) for s in (1, -1)]
    assert_close(slope, (ends[0] - ends[1]) / (2 * e), 1e-7)


def test_a_live_length_undoes_a_constant_tie():
    model = parallelogram()
    q, v, a = gs.neutral(model), np.array([0.3]), np.array([0.1])
    solver = gs.InverseDynamics(model, live=["coupler.tip.translation"])
    assert_close(solver(q, v, a), gs.rnea(model, q, v, a), 1e-11)
    e = 1e-6
    longer = [model.replace({"coupler.tip.translation": (1 + s * e, 0, 0)}) for s in (1, -1)]
    ends = [gs.rnea(m, q, v, a) for m in longer]
    slope = solver.jacobian("tau", "coupler.tip.translation")(q, v, a)
    assert_close(np.ravel(slope)[0], np.ravel(ends[0] - ends[1])[0] / (2 * e), 1e-6)


# ------------------------------------------------------------------------------------------------ forces inside loops
@pytest.mark.by_default(4)
@pytest.mark.parametrize("name", [*[*LOOPS][:-2], "two rods"])
def test_cut_forces_balance_every_body(name):
    """Newton and Euler for each body: forces at its ports, its weight, and its motion; passive joints transmit none."""
    model = LOOPS[name](loops="minimal")
    rng = np.random.default_rng(8)
    q, v, a = gs.neutral(model), rng.normal(size=model.nv), rng.normal(size=model.nv)
    forces = gs.InverseDynamics(model).port_forces(q, v, a)
    motion = gs.ForwardKinematics(model)(q, v, a)
    joints = {e.name: e for e in model.entities if isinstance(e, gs.Joint | gs.ConnectingRod)}
    inport = model.layout.plan.tree.wiring.tree.inport
    for body in (e for e in model.entities if isinstance(e, gs.RigidBody)):
        total = np.zeros(6)  # about the origin of the world
        for joint in joints.values():
            for port, sign in (("a", -1.0), ("b", 1.0)):
                sign = -sign if inport.get(joint.name) == "b" else sign  # what the side of the base exerts
                mates = model.wiring.connection(joint.name, port)
                owner = next((n for n, _ in mates if n == body.name), None)
                if owner is None:
                    continue
                frame, F = motion[f"{body.name}.{dict(mates)[body.name]}"], forces[f"{joint.name}.{port}"]
                f = frame.R @ F[3:]
                total += sign * np.concatenate([frame.R @ F[:3] + np.cross(frame.p, f), f])
        origin = motion[f"{body.name}.origin"]
        c = origin.R @ np.asarray(body.com)
        J = origin.R @ np.asarray(body.inertia).reshape(3, 3) @ origin.R.T
        w, dw = origin.R @ origin.V[:3], origin.R @ origin.acceleration("local")[:3]
        dv = origin.R @ origin.acceleration("local")[3:] + np.cross(dw, c) + np.cross(w, np.cross(w, c))
        f = body.mass * (dv - np.array([0.0, 0.0, -9.81]))
        needed = np.concatenate([J @ dw + np.cross(w, J @ w) + np.cross(origin.p + c, f), f])
        assert_close(total, needed, 1e-9 * max(1.0, np.abs(needed).max()))
    for joint in joints.values():
        if isinstance(joint, gs.Joint) and joint.kind == "revolute" and joint.name not in model.dofs:
            assert abs(forces[f"{joint.name}.b"][:3] @ np.asarray(joint.axis, dtype=float)) < 1e-9


def test_a_rod_carries_force_along_itself_alone():
    model = rod_loop(loops="minimal")
    q, v, a = gs.neutral(model), np.array([0.7]), np.array([-0.4])
    F, frames = gs.InverseDynamics(model).port_forces(q, v, a), gs.fk(model, q)
    along = frames["second.ball"].p - frames["first.ball"].p
    f = frames["first.ball"].R @ F["link.a"][3:]
    assert_close(np.cross(along, f), np.zeros(3), 1e-10)
    assert_close(F["link.a"][:3], np.zeros(3), 1e-10)


# ------------------------------------------------------------------------------------------------ what is beside loops
def test_a_live_length_of_one_loop_undoes_constant_ties_of_all():
    """Two parallelograms in sequence: the second one's ratios hold while the first one is a parallelogram."""
    model = gs.robots.palletizer(drives=False)
    longer = model.replace({"rod1.length": model["rod1.length"] * 1.01})
    q = gs.neutral(model) + 0.1
    solver = gs.ForwardKinematics(model, live=["rod1.length"])
    solver(q)
    solver.refresh(longer)
    frames = solver(q)
    assert np.linalg.norm(frames["rod2.a"].p - frames["rod2.b"].p) == pytest.approx(model["rod2.length"], abs=1e-12)


def test_a_curve_beside_a_loop_moves_on_its_own():
    model = four_bar()
    arm = (hinge("V", "x"), rod("v", 0.5), hinge("W", "x"), rod("w", 0.4))
    curve = gs.PolynomialCoupling("curve", coefficients=(0.0, 0.1, 0.2))
    wires = ("world", "V.a"), ("V.b", "v"), ("v.tip", "W.a"), ("W.b", "w"), ("V.shaft", "curve.driver")
    both = gs.Model("both", (*model.entities, *arm, curve), (*model.connections, *wires, ("W.shaft", "curve.follower")),
                    model.context)  # fmt: skip
    q = gs.neutral(both)
    expect_right(both, q, np.array([0.7, -0.4]), np.array([0.1, 0.2]))
    assert_close(gs.aba(both, q, [1.0, 0.5], [0.0, 0.0])[:1], gs.aba(model, q[:1], [1.0], [0.0]), 1e-10)


def test_a_curve_driven_by_a_dependent_joint_is_refused_by_name():
    model = four_bar()
    curve = gs.PolynomialCoupling("curve", coefficients=(0.0, 0.1, 0.2))
    wires = ("rocker.tip", "W.a"), ("W.b", "w"), ("D.shaft", "curve.driver"), ("W.shaft", "curve.follower")
    driven = gs.Model("driven", (*model.entities, hinge("W"), rod("w", 0.4), curve), (*model.connections, *wires),
                      model.context)  # fmt: skip
    with pytest.raises(gs.LoopError, match="'curve' is driven by a joint that follows from a closed loop"):
        gs.rnea(driven, [-1.0], [0.0], [0.0])


def test_what_is_connected_with_a_dependent_joint_is_refused_at_half_a_turn():
    """Beyond it, the number of turns of a joint that is known by cosine and sine is not known."""
    drag = four_bar(0.9, 0.8, 1.0, 0.3, reference={"A": -1.0, "B": 1.2, "D": -1.5})
    wires = ("s.a", "A.shaft"), ("s.b", "D.shaft")
    sprung = gs.Model(
        "sprung", (*drag.entities, gs.Spring("s", stiffness=5.0)), (*drag.connections, *wires), drag.context
    )
    assert np.isfinite(gs.rnea(sprung, [0.5], [0.0], [0.0])).all()
    with pytest.raises(gs.LoopError, match=r"'s' is connected \(by 'b'\).* about half a turn from its reference"):
        gs.rnea(sprung, [1.62], [0.0], [0.0])
    with pytest.raises(gs.SimulationError):
        gs.simulate(sprung, [0.0], v0=[12.0], t_end=3.0)
    assert np.isfinite(gs.rnea(drag, [1.62], [0.0], [0.0])).all()


def test_attaching_a_robot_with_loops_keeps_what_it_says_about_them():
    arm = gs.assemble("arm", gs.chain("world", hinge("j1"), rod("l1", 1.0), hinge("j2"), rod("l2", 0.5)))
    both = arm.attach(four_bar(), "l2.tip")
    assert both.dofs == ("j1", "j2", "A")
    assert_close(gs.neutral(both), np.array([0.0, 0.0, -1.0]), 1e-12)
    twice = four_bar().attach(four_bar(), "coupler.tip", prefix="x_")
    assert set(twice.dofs) == {"A", "x_A"}
    assert_close(gs.neutral(twice), np.array([-1.0, -1.0]), 1e-12)


def test_limits_of_dependent_joints_hold_for_random_configurations():
    model = four_bar()
    limited = gs.Model(model.name, tuple(e.model_copy(update={"lower": -1.75, "upper": -1.6}) if e.name == "D" else e
                                         for e in model.entities), model.connections, model.context)  # fmt: skip
    names = list(limited.layout.plan.tree.dofs)
    for q in gs.random_configuration(limited, 0, 10):
        assert -1.75 <= in_tree(limited, q, np.zeros(1), np.zeros(1)).q[names.index("D")] <= -1.6
