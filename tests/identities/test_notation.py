"""The numbers of NOTATION.md: one for every convention."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs

GRAVITY = (0, 0, -9.81)


def one_joint(kind: str, body: gs.RigidBody | None = None, gravity=GRAVITY, **properties) -> gs.Model:
    body = body or gs.RigidBody("body", mass=2.0, inertia=(0.1, 0.2, 0.25))
    return gs.assemble("one", gs.chain("world", gs.Joint("joint", kind, **properties), body), gravity=gravity)


def test_a_held_pendulum_needs_half_its_weight():
    assert gs.rnea(gs.robots.pendulum(), [np.pi / 2], [0], [0]) == pytest.approx([9.81 / 2], rel=1e-14)


def test_a_free_box_at_rest_needs_its_weight_as_a_force():
    tau = gs.rnea(one_joint("free"), [0, 0, 0, 0, 0, 0, 1], np.zeros(6), np.zeros(6))
    assert tau == pytest.approx([0, 0, 0, 0, 0, 19.62], abs=1e-14)


def test_a_free_base_has_position_then_quaternion_and_angular_then_linear_rates():
    box = gs.assemble("box", gs.chain("world", gs.RigidBody("body", mass=2.0, inertia=(0.1, 0.2, 0.25))), base="free")
    assert (box.nq, box.nv) == (7, 6)
    half = np.sqrt(0.5)
    frame = gs.fk(box, [1, 2, 3, 0, 0, half, half], [0, 0, 1, 5, 0, 0], np.zeros(6))["body"]
    assert frame.p == pytest.approx([1, 2, 3])
    assert frame.R[:, 0] == pytest.approx([0, 1, 0], abs=1e-15)  # turned by 90 degrees about z
    assert frame.velocity("aligned") == pytest.approx([0, 0, 1, 0, 5, 0], abs=1e-15)
    assert frame.acceleration("local") == pytest.approx([0, 0, 0, 0, 5, 0], abs=1e-15)  # w x v
    assert frame.spatial_acceleration() == pytest.approx(np.zeros(6), abs=1e-15)


def test_internal_momentum_resists_turning():
    wheel = gs.RigidBody("body", mass=1.0, inertia=(1.0, 1.0, 1.0), momentum=(0, 0, 2))
    tau = gs.rnea(one_joint("spherical", wheel, gravity=(0, 0, 0)), [0, 0, 0, 1], [3, 0, 0], [0, 0, 0])
    assert tau == pytest.approx([0, -6, 0], abs=1e-14)


def test_a_screw_moves_by_its_pitch_per_radian():
    assert gs.fk(one_joint("helical", axis="z", pitch=0.002), [2.0])["body"].p == pytest.approx([0, 0, 0.004])


def test_a_planar_joint_shifts_along_x_then_y_then_turns():
    frame = gs.fk(one_joint("planar", axis="z"), [1.0, 2.0, np.pi / 2])["body"]
    assert frame.p == pytest.approx([1, 2, 0])
    assert frame.R[:, 0] == pytest.approx([0, 1, 0], abs=1e-15)


def test_a_universal_joint_turns_about_its_first_axis_in_a_and_its_second_in_b():
    joint = one_joint("universal", axis="x", second_axis="y")
    R = gs.fk(joint, [0.3, 0.4])["body"].R
    c, s = np.cos, np.sin
    Rx = np.array([[1, 0, 0], [0, c(0.3), -s(0.3)], [0, s(0.3), c(0.3)]])
    Ry = np.array([[c(0.4), 0, s(0.4)], [0, 1, 0], [-s(0.4), 0, c(0.4)]])
    assert pytest.approx(Rx @ Ry) == R


def test_a_reversed_joint_is_a_forward_one_about_the_opposite_axis():
    body = gs.RigidBody("body", mass=1.0, com=(0.3, 0, 0), inertia=(0.1, 0.1, 0.1))
    joint = gs.Joint("joint", "revolute", axis="z")
    back = gs.assemble("back", joint, body, gs.connect("world", "joint.b"), gs.connect("joint.a", "body"))
    forth = one_joint("revolute", body, axis="-z")
    assert pytest.approx(gs.fk(forth, [0.4])["body"].R, abs=1e-15) == gs.fk(back, [0.4])["body"].R


def test_roll_pitch_yaw_turn_about_fixed_axes():
    pose = gs.assemble("pose", gs.chain("world", gs.Displacement("shift", rotation=gs.rpy(np.pi / 2, 0, np.pi / 2))))
    R = gs.fk(pose, [])["shift.b"].R
    assert pytest.approx([0, 0, 1], abs=1e-15) == R @ [0, 1, 0]  # roll first: y becomes z, which yaw leaves alone


def test_a_wrench_that_carries_the_weight_leaves_nothing_to_do():
    model = one_joint("prismatic", axis="z")
    lift = gs.Wrench([0, 0, 0, 0, 0, 19.62], "aligned")
    assert gs.rnea(model, [0.0], [0.0], [0.0], {"body": lift}) == pytest.approx([0.0], abs=1e-14)
    forces = gs.InverseDynamics(model).port_forces([0.0], [0.0], [0.0])
    assert forces["body.origin"] == pytest.approx([0, 0, 0, 0, 0, 19.62])


@pytest.mark.parametrize("convention, p", [("standard", (0.0, 1.0, 2.0)), ("modified", (1.0, -2.0, 0.0))])
def test_denavit_hartenberg_parameters_follow_their_convention(convention, p):
    shift = gs.DHDisplacement("dh", a=1.0, d=2.0, alpha=np.pi / 2, theta=np.pi / 2, convention=convention)
    assert gs.fk(gs.assemble("dh", gs.chain("world", shift)), [])["dh.b"].p == pytest.approx(p, abs=1e-15)


def test_a_hinged_rod_has_a_third_of_its_mass_as_inertia_and_half_its_weight_as_stiffness():
    rod = gs.robots.pendulum()
    assert gs.crba(rod, [0.3]) == pytest.approx(np.array([[1.0 / 3.0]]), rel=1e-12)
    found = gs.rnea_derivatives(rod, [0.0], [0.0], [0.0])
    assert found.dtau_dq == pytest.approx(np.array([[9.81 / 2]]), rel=1e-12)
    assert gs.bias(rod, [0.3], [2.0]) == pytest.approx(gs.gravity(rod, [0.3]), rel=1e-12)
    assert gs.kinetic_energy(rod, [0.3], [2.0]) == pytest.approx(2.0 / 3.0, rel=1e-12)


def test_jacobians_are_angular_part_first_and_say_whose_point_they_mean():
    body = gs.RigidBody("body", mass=1.0, inertia=(1.0, 1.0, 1.0), frames={"tip": (1, 0, 0)})
    arm = one_joint("revolute", body, axis="z")
    aligned, world = (gs.jacobian(arm, [0.0], "body.tip", expressed_in=e) for e in ("aligned", "world"))
    assert aligned[:, 0] == pytest.approx([0, 0, 1, 0, 1, 0]) and world[:, 0] == pytest.approx([0, 0, 1, 0, 0, 0])
    turned = gs.jacobian(arm, [np.pi / 2], "body.tip", expressed_in="local")
    assert turned[:, 0] == pytest.approx([0, 0, 1, 0, 1, 0])
    rate = gs.jacobian_rate(arm, [0.0], [2.0], "body.tip", expressed_in="aligned")
    assert rate[:, 0] == pytest.approx([0, 0, 0, -2, 0, 0])


def test_displacements_of_quaternions_are_turns_in_the_moving_frame():
    box = one_joint("spherical", gs.RigidBody("body", mass=2.0, com=(0, 0, 1), inertia=(0.1, 0.1, 0.1)))
    half = np.sqrt(0.5)
    q = [0, 0, half, half]  # turned by 90 degrees about z: x of the body is y of the world
    found = gs.integrate(box, q, [np.pi / 2, 0, 0])
    frame = gs.fk(box, found)["body"]
    assert frame.R[:, 2] == pytest.approx([1, 0, 0], abs=1e-15)
    d = gs.rnea_derivatives(box, q, np.zeros(3), np.zeros(3)).dtau_dq
    assert d == pytest.approx(np.diag([-19.62, -19.62, 0]), abs=1e-12)  # the mass stands above the joint


def test_a_locked_joint_is_a_displacement_of_b_in_a():
    slide = gs.Joint("slide", "prismatic", axis="x")
    model = gs.assemble("m", gs.chain("world", slide, gs.RigidBody("cart", mass=1.0)))
    assert model.lock("slide", 0.2)["slide.translation"] == (0.2, 0.0, 0.0)
    place = model.attach(gs.RigidBody("load", mass=1.0), to="cart", at=((1, 0, 0), gs.axis_angle("z", 0.5)))
    assert np.allclose(gs.fk(place, [0.2])["load.origin"].p, (1.2, 0, 0))


def test_momentum_is_about_the_centre_of_mass_and_energy_from_the_origin():
    box = gs.assemble("box", gs.chain("world", gs.RigidBody("body", mass=2.0, inertia=(0.1, 0.2, 0.3))), base="free")
    q, v = [5.0, 0, 3.0, 0, 0, 0, 1], [0, 0, 4.0, 1.0, 0, 0]
    assert gs.centroidal_momentum(box, q, v) == pytest.approx([0, 0, 1.2, 2, 0, 0])
    assert gs.potential_energy(box, q) == pytest.approx(2 * 9.81 * 3)
    assert gs.center_of_mass(box, q, v).v == pytest.approx([1, 0, 0])
    names = gs.Regressor(box).columns
    assert names[:5] == ("body.m", "body.mx", "body.my", "body.mz", "body.Jxx")


def test_the_energy_of_a_dumbbell_in_a_field_has_a_part_of_its_extent():
    body = gs.RigidBody("body", mass=2.0, inertia=(0, 2, 2))  # 1 kg at x = 1 m and x = -1 m
    dumbbell = gs.assemble("d", gs.chain("world", body), base="free", gravity=gs.CentralGravity(mu=1000.0))
    assert gs.potential_energy(dumbbell, [10.0, 0, 0, 0, 0, 0, 1]) == pytest.approx(-202.0)


def disc(**drive) -> gs.Model:
    """A disc of 0.5 kg m^2 on a vertical axle, with a drive."""
    body = gs.RigidBody("body", mass=1.0, inertia=(0.3, 0.3, 0.5))
    return one_joint("revolute", body, axis="z").with_drive("joint", **drive)


def test_a_rotor_is_felt_by_the_square_of_its_gear_ratio():
    assert gs.crba(disc(rotor_inertia=0.001, gear_ratio=50), [0.0]) == pytest.approx(np.array([[3.0]]))


def test_friction_on_the_motors_shaft_is_felt_by_the_square_too():
    assert gs.rnea(disc(viscous=0.01, gear_ratio=-20, friction_at="motor"), [0], [1], [0]) == pytest.approx([4.0])


def test_an_elastic_drive_pulls_its_joint_towards_the_rotor():
    soft = disc(rotor_inertia=0.001, gear_ratio=100, stiffness=500.0)
    assert soft.dofs == ("joint", "joint_drive.rotor")
    assert gs.rnea(soft, [0.5, 51.0], [0, 0], [0, 0]) == pytest.approx([-5.0, 0.05])  # what holds it
    assert gs.aba(soft, [0.5, 51.0], [0, 0], [0, 0]) == pytest.approx([5.0 / 0.5, -0.05 / 0.001])


def test_a_rotor_turns_as_the_body_behind_its_joint_does():
    """About one axis, the momentum of a rotor with N > 0 adds to that of the body, whichever way the joint is
    mounted."""
    for near, far in (("a", "b"), ("b", "a")):
        joint = gs.Joint("joint", "revolute", axis="z")
        body = gs.RigidBody("body", mass=1.0, inertia=(0.3, 0.3, 0.5))
        wires = gs.connect("world", f"joint.{near}"), gs.connect(f"joint.{far}", "body")
        model = gs.assemble("one", joint, body, *wires).with_drive("joint", rotor_inertia=0.001, gear_ratio=50)
        alone = gs.assemble("one", joint, body, *wires)
        both, one = (gs.centroidal_momentum(m, [0.0], [2.0])[2] for m in (model, alone))
        assert both / one == pytest.approx(1.0 + 50 * 0.001 / 0.5)


def test_a_spinning_rotor_resists_turning():
    body = gs.RigidBody("body", mass=1.0, inertia=(1.0, 1.0, 1.0))
    plain = one_joint("spherical", body, gravity=(0, 0, 0))
    wheel = gs.RotorInertia("wheel", inertia=0.02, axis="z")
    wires = (*plain.connections, ("body", "wheel.carrier"))
    model = gs.Model("wheel", (*plain.entities, wheel), wires, plain.context)
    tau = gs.rnea(model, [0, 0, 0, 1, 0], [3, 0, 0, 100], np.zeros(4))
    assert tau == pytest.approx([0, -6, 0, 0], abs=1e-14)


def test_friction_has_a_magnitude_for_each_direction():
    model = disc(coulomb=(0.7, 0.2))
    assert gs.rnea(model, [[0], [0]], [[1], [-1]], [[0], [0]])[:, 0] == pytest.approx([0.7, -0.2])


def test_the_motor_of_a_held_pendulum_gives_a_hundredth_of_its_torque():
    driven = gs.robots.pendulum().with_drive("hinge", rotor_inertia=1e-4, gear_ratio=100)
    u = gs.ActuatorDynamics(driven).torques([np.pi / 2], [0], [0])
    assert u == pytest.approx([9.81 / 200], rel=1e-13)


def test_a_small_deviation_of_a_tip_is_in_the_world_axes():
    tube = {"area": 1e-4, "I_y": 1e-8, "I_z": 1e-8, "J": 2e-8, "E": 1e10, "G": 4e9, "density": 1500.0}
    beam = gs.FlexibleBeam("beam", length=2.0, modes=(0, 3), modes_x=0, **tube)
    turned = gs.Displacement("turned", rotation=gs.rpy(0, 0, np.pi / 2))
    hinge = gs.Joint("hinge", "revolute", axis="z")
    model = gs.assemble(
        "cantilever", gs.chain("world", turned, hinge), beam, gs.connect("hinge.b", "beam.a"), gravity=(0, 0, 0)
    )
    still = gs.simulate(gs.flexible.rigid(model), None, t_eval=np.linspace(0.0, 1e-3, 3), progress=False)
    run = gs.flexible.superposed(model, still, start="static", wrenches={"beam.b": [0, 0, 0, 0, 0, 3.0]})
    assert run.deviation("beam.b")[0, 2] == pytest.approx(0.08, rel=1e-9) and abs(run.deviation("beam.b")[0, 0]) < 1e-9
