"""Reduced dynamics (H04 5.4.1): equal to the equations with contacts, with exact sensitivities, phase by phase."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.robots.leg_kinematics import leg_solvers
from tests.support.legged import PAWS, SOLES, bent, dense_solution, held_rows

MODELS = {
    "humanoid": gs.robots.humanoid(),
    "driven": gs.robots.humanoid(drives=True),
    "aibo": gs.robots.aibo(),
    "headed": gs.robots.aibo(head=True),
}
LEGS = {name: leg_solvers(model) for name, model in MODELS.items()}
PHASES = {
    "both feet": ("humanoid", dict.fromkeys(SOLES, "fixed")),
    "right foot": ("humanoid", {SOLES[1]: "fixed"}),
    "both feet with drives": ("driven", dict.fromkeys(SOLES, "fixed")),
    "four paws": ("aibo", dict.fromkeys(PAWS, "point")),
    "trot": ("headed", {PAWS[0]: "point", PAWS[3]: "point"}),
    "flight": ("aibo", {}),
}


def made(phase: str, explicit: bool) -> tuple[gs.Model, dict[str, str], gs.ReducedDynamics]:
    name, contacts = PHASES[phase]
    model = MODELS[name]
    reduced = gs.ReducedDynamics(model, contacts, legs=LEGS[name] if explicit else None, q0=bent(model))
    return model, contacts, reduced


def near(reduced: gs.ReducedDynamics, rng: np.random.Generator, count: int) -> np.ndarray:
    """Configurations of the independent joints around the first one."""
    model = reduced.model
    step = np.zeros((count, model.nv))
    step[:, list(reduced.parts.independent)] = rng.uniform(-0.01, 0.01, (count, len(reduced.parts.independent)))
    return reduced.reduced(gs.integrate(model, bent(model), step))


OFTEN = ("right foot", "trot", "flight")


@pytest.mark.by_default(3)
@pytest.mark.parametrize("phase", [x if x in OFTEN else pytest.param(x, marks=pytest.mark.slow) for x in PHASES])
@pytest.mark.parametrize("explicit", [True, False], ids=["closed forms", "closure"])
def test_reduced_dynamics_is_the_solution_with_contacts(phase, explicit):
    model, contacts, reduced = made(phase, explicit)
    rng = np.random.default_rng(5)
    own = list(reduced.parts.independent)
    assert len(own) == model.nv - sum(6 if k == "fixed" else 3 for k in contacts.values())
    q_I, v_I = near(reduced, rng, 3), rng.normal(size=(3, len(own)))
    tau = rng.normal(size=(3, model.nv))
    found = reduced(q_I, v_I, tau)
    feet = gs.fk(model, bent(model))
    for k in range(3):
        q, v = found.q[k], found.v[k]
        np.testing.assert_allclose(reduced.reduced(q), q_I[k], atol=1e-15)
        place = gs.fk(model, q)
        for frame, kind in contacts.items():
            np.testing.assert_allclose(place[frame].p, feet[frame].p, atol=1e-11)
            if kind == "fixed":
                np.testing.assert_allclose(place[frame].R, feet[frame].R, atol=1e-11)
        np.testing.assert_array_equal(v[own], v_I[k])
        if contacts:
            np.testing.assert_allclose(held_rows(model, q, contacts) @ v, 0.0, atol=1e-10)
            a, f = dense_solution(model, contacts, q, v, tau[k])
            np.testing.assert_allclose(found.forces[k], f, rtol=1e-9, atol=1e-9 * max(1.0, np.abs(f).max()))
        else:
            a = gs.aba(model, q, v, tau[k])
        np.testing.assert_allclose(found.a[k], a[own], rtol=1e-9, atol=1e-9 * max(1.0, np.abs(a).max()))
        single = reduced(q_I[k], v_I[k], tau[k])
        np.testing.assert_allclose(single.a, found.a[k], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("phase", "explicit"),
    [
        ("trot", False),
        *(pytest.param(x, True, marks=pytest.mark.slow) for x in ("right foot", "both feet with drives")),
    ],
)
def test_sensitivities_are_those_of_finite_differences(phase, explicit):
    model, _, reduced = made(phase, explicit)
    rng = np.random.default_rng(7)
    own, h = list(reduced.parts.independent), 1e-6
    v_I, tau = rng.normal(size=len(own)), rng.normal(size=model.nv)
    q = reduced(reduced.reduced(bent(model)), v_I, tau).q
    exact = reduced.sensitivities(reduced.reduced(q), v_I, tau)
    step = np.zeros((2 * len(own), model.nv))
    step[: len(own), own], step[len(own) :, own] = h * np.eye(len(own)), -h * np.eye(len(own))
    moved = reduced(reduced.reduced(gs.integrate(model, q, step)), v_I, tau)
    pushed = reduced(reduced.reduced(q), v_I + step[:, own], tau)
    units = h * np.concatenate([np.eye(model.nv), -np.eye(model.nv)])
    forced = reduced(reduced.reduced(q), v_I, tau + units)
    for by, runs in (("q", moved), ("v", pushed), ("tau", forced)):
        for what, exactly in (("a", getattr(exact, f"da_d{by}")), ("forces", getattr(exact, f"df_d{by}"))):
            array = getattr(runs, what)
            half = len(array) // 2
            slope = np.moveaxis((array[:half] - array[half:]) / (2 * h), 0, -1)
            np.testing.assert_allclose(exactly, slope, atol=3e-7 * max(1.0, np.abs(slope).max()))
    assert exact.a == pytest.approx(reduced(reduced.reduced(q), v_I, tau).a, rel=1e-10)


def test_an_arm_that_touches_with_a_point_is_reduced_too():
    arm = gs.robots.kuka_lwr4()
    frame = next(f"{e.name}.origin" for e in reversed(arm.wiring.entities.values()) if isinstance(e, gs.RigidBody))
    q0 = np.array([0.3, 0.5, -0.2, 1.2, 0.4, -0.6, 0.1])
    reduced = gs.ReducedDynamics(arm, {frame: "point"}, independent=(*arm.dofs[:1], *arm.dofs[4:]), q0=q0)
    assert reduced.dependent == arm.dofs[1:4]
    rng = np.random.default_rng(2)
    q_I, v_I, tau = reduced.reduced(q0), rng.normal(size=4), rng.normal(size=7)
    found = reduced(q_I, v_I, tau)
    a, f = dense_solution(arm, {frame: "point"}, found.q, found.v, tau)
    np.testing.assert_allclose(found.a, a[list(reduced.parts.independent)], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.forces, f, rtol=1e-9, atol=1e-8)


def test_phases_are_kept_and_feet_move_without_compiling():
    model, contacts, both = made("both feet", True)
    left = both.phase([SOLES[0]])
    assert left is not both and left.phase(contacts) is both and both.phase([SOLES[0]]) is left
    assert both.phase([]).joints == model.layout.entities
    q_I, v, tau = both.reduced(bent(model)), np.zeros(6), np.zeros(18)
    before = both(q_I, v, tau)
    kernel = both.solver.main_kernel()
    moved = bent(model)
    moved[0] += 0.4
    assert both.phase(contacts, q=moved) is both and both.solver.main_kernel() is kernel
    shifted = q_I.copy()
    shifted[0] += 0.4
    after = both(shifted, v, tau)
    np.testing.assert_allclose(after.a, before.a, atol=1e-9)
    assert after.q[7:] == pytest.approx(before.q[7:], abs=1e-12)


def test_interpreted_states_are_those_of_machine_code():
    model, _, reduced = made("trot", True)
    slow = gs.ReducedDynamics(model, PHASES["trot"][1], legs=LEGS["headed"], q0=bent(model), mode="interpret")
    rng = np.random.default_rng(4)
    q, v, tau = near(reduced, rng, 2), rng.normal(size=(2, 15)), rng.normal(size=(2, 21))
    for one, two in zip(reduced(q, v, tau), slow(q, v, tau), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-10, atol=1e-10)


@pytest.mark.slow
def test_the_programs_derivative_agrees_with_the_closed_form_of_sensitivities():
    _, _, reduced = made("trot", True)
    rng = np.random.default_rng(8)
    q, v, tau = near(reduced, rng, 1)[0], rng.normal(size=15), rng.normal(size=21)
    np.testing.assert_allclose(
        reduced.solver.jacobian("a", "v")(q, v, tau), reduced.sensitivities(q, v, tau).da_dv, rtol=1e-8, atol=1e-8
    )


def test_legs_that_cannot_stand_are_named():
    model, _, reduced = made("both feet", True)
    far = bent(model)
    far[2] += 0.5
    v, tau = np.zeros(6), np.zeros(18)
    with pytest.raises(gs.StateError, match=r"'left_foot.sole' cannot stand where it does, 'left_leg' has no solution"):
        reduced(reduced.reduced(far), v, tau)
    _, _, closing = made("both feet", False)
    with pytest.raises(gs.StateError, match=r"'.*_foot.sole' cannot be brought to where it stands in state 0"):
        closing(closing.reduced(far), v, tau)
    straight = gs.ReducedDynamics(model, [SOLES[0]], q0=gs.neutral(model))
    with pytest.raises(gs.StateError, match=r"left_knee.* are in a singular position.*bend the knee"):
        straight(straight.reduced(gs.neutral(model)), np.zeros(12), tau)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"contacts": {SOLES[0]: "normal"}}, r"'left_foot.sole' is 'normal', expected fixed or point"),
        ({"contacts": {SOLES[0]: np.eye(6)[2:]}}, r"'left_foot.sole' is .*, expected fixed or point"),
        ({"contacts": {"torso": "fixed"}}, r"'torso' holds 6 components, but joints that move it alone have 0 rates"),
        ({"contacts": [SOLES[0]], "independent": ["world"]}, r"6 components are held .* 12 rates are to follow"),
        ({"contacts": [SOLES[0]], "legs": {SOLES[1]: None}}, r"no closed form for 'left_foot.sole'"),
        ({"contacts": [SOLES[0]], "legs": {SOLES[0]: 3}}, r"leg of 'left_foot.sole' is no block of this model"),
        ({"contacts": [SOLES[0]], "legs": 3}, r"legs must map frames to blocks, got 3"),
        ({"contacts": [SOLES[0]], "legs": LEGS["humanoid"], "live": ["torso.mass"]}, r"know no live properties"),
        (
            {"contacts": [SOLES[0]], "legs": LEGS["humanoid"], "independent": ["world", "left_knee"]},
            r"'left_knee' is independent, but a leg in closed form",
        ),
        ({"contacts": {SOLES[0]: "point"}, "legs": LEGS["humanoid"]}, r"is point, but its leg solves rx, ry"),
        (
            {"contacts": [SOLES[0]], "independent": ["world", *(f"left_{x}" for x in
             ("hip_yaw", "hip_roll", "hip_pitch", "knee", "ankle_pitch", "ankle_roll"))]},
            r"left_foot.sole hold 6 components, which no joint cannot follow",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_reduced_is_refused(options, message):
    with pytest.raises(gs.GyrostatError, match=message):
        gs.ReducedDynamics(MODELS["humanoid"], **options)


def test_a_base_that_moves_by_itself_is_refused():
    moving = gs.robots.two_link().replace({"context.base": gs.MovingBase(motion=lambda t: [0.0] * 6)})
    with pytest.raises(gs.GyrostatError, match=r"the base of 'two_link' moves by itself"):
        gs.ReducedDynamics(moving, [])


@pytest.mark.parametrize("explicit", [True, False], ids=["closed forms", "closure"])
def test_another_order_of_joints_is_refused(explicit):
    _, _, reduced = made("trot", explicit)
    for solver in (reduced.solver, reduced.sensitivity_solver):
        with pytest.raises(gs.GyrostatError, match=r"reduced_dynamics.in_order: the independent joints world, .* are"):
            solver.in_order(list(reversed(reduced.joints)))


def test_a_phase_with_one_independent_joint_is_kept_by_its_name():
    model, contacts = MODELS["humanoid"], dict.fromkeys(SOLES, "fixed")
    reduced = gs.ReducedDynamics(model, contacts, "world", q0=bent(model))
    assert reduced.joints == ("world",)
    assert reduced.phase(contacts, independent=["world"]) is reduced


@pytest.mark.parametrize("floating", ["base", "joint"])
def test_what_floats_never_follows_a_contact(floating):
    knee = gs.Joint("knee", "revolute", axis="y")
    hip, shank = (gs.RigidBody(n, mass=1.0, inertia=(0.1, 0.1, 0.1), frames={"end": (0, 0, -0.4)}) for n in "ab")
    carrier = [] if floating == "base" else [gs.Joint("float", "free")]
    base = "free" if floating == "base" else "fixed"
    model = gs.assemble("leg", gs.chain("world", *carrier, hip, knee, shank), base=base)
    for frame, rates in (("b.end", 1), ("a.end", 0)):
        with pytest.raises(gs.GyrostatError, match=f"joints that move it alone have {rates} rates"):
            gs.ReducedDynamics(model, {frame: "fixed"})
