"""Elements on shafts against their formulas: friction, springs, dampers, backlash; shafts that are coupled; wheels."""

import numpy as np
import pytest

import gyrostat as gs
from tests.support.comparing import assert_close, central
from tests.support.pinocchio_oracle import random_state

J = 0.5
"""Moment of the disc that is driven [kg m^2]."""


def disc(*elements, **joint):
    """A disc on a vertical axis, and elements on its shaft."""
    turning = gs.Joint("axle", "revolute", axis="z", **joint)
    body = gs.RigidBody("disc", mass=1.0, inertia=(0.3, 0.3, J))
    wires = [
        gs.connect("axle.shaft", *(f"{e.name}.{'shaft' if e.ports[0].name == 'shaft' else 'a'}" for e in elements))
    ]
    return gs.assemble("disc", gs.chain("world", turning, body), *elements, *(wires if elements else ()))


def torque(model, q, v, a=0.0):
    """What the axle needs, without the inertia of the disc."""
    return float(gs.InverseDynamics(model, mode="interpret")([q], [v], [a])[0]) - J * a


def slope(model, q, v, which):
    found = gs.InverseDynamicsDerivatives(model, mode="interpret")([q], [v], [0.0])
    return float(getattr(found, f"dtau_d{which}")[0, 0])


# ------------------------------------------------------------------------------------------------ friction
FRICTION = {
    "viscous": ({"viscous": 0.4}, lambda w: 0.4 * w),
    "Coulomb": ({"coulomb": 0.7}, lambda w: 0.7 * np.sign(w)),
    "both ways": ({"coulomb": (0.7, 0.2)}, lambda w: 0.7 if w > 0 else -0.2 if w < 0 else 0.0),
    "smooth": ({"coulomb": 0.7, "smooth": 0.05}, lambda w: 0.7 * np.tanh(w / 0.05)),
    "smooth, both ways": (
        {"coulomb": (0.7, 0.2), "smooth": 0.05},
        lambda w: (0.7 if w > 0 else 0.2) * np.tanh(w / 0.05),
    ),
    "Stribeck": (
        {"coulomb": 0.5, "static": 0.9, "stribeck": 0.3},
        lambda w: (0.5 + 0.4 * np.exp(-((w / 0.3) ** 2))) * np.sign(w),
    ),
    "Stribeck, both ways, smooth, viscous": (
        {"viscous": 0.1, "coulomb": (0.5, 0.4), "static": (0.9, 0.6), "stribeck": 0.3, "smooth": 0.02},
        lambda w: (
            0.1 * w
            + ((0.5 + 0.4 * np.exp(-((w / 0.3) ** 2))) if w > 0 else (0.4 + 0.2 * np.exp(-((w / 0.3) ** 2))))
            * np.tanh(w / 0.02)
        ),
    ),
    "static alone both ways": (
        {"coulomb": 0.5, "static": (0.9, 0.6), "stribeck": 0.3},
        lambda w: (0.5 + (0.4 if w > 0 else 0.1) * np.exp(-((w / 0.3) ** 2))) * np.sign(w),
    ),
}


@pytest.mark.parametrize("law", FRICTION)
def test_friction(law):
    given, formula = FRICTION[law]
    model = disc(gs.Friction("f", **given))
    for w in (-2.0, -0.3, -0.01, 0.0, 0.01, 0.3, 2.0):
        assert_close(torque(model, 0.4, w), formula(w), 1e-14)
        if w:
            assert_close(slope(model, 0.4, w, "v"), central(formula, w, min(1e-3, abs(w) / 100)), 1e-7)
        assert float(gs.ForwardDynamics(model, mode="interpret")([0.4], [w], [0.0])[0]) == pytest.approx(
            -formula(w) / J
        )


def test_friction_is_the_same_in_compiled_code():
    for given, formula in FRICTION.values():
        model = disc(gs.Friction("f", **given))
        w = np.array([[-2.0], [-0.3], [0.0], [0.3], [2.0]])
        assert_close(gs.rnea(model, w * 0, w, w * 0)[:, 0], [formula(x) for x in w[:, 0]], 1e-14)


def test_friction_on_the_motor_side_is_felt_through_the_gear():
    """Viscous d becomes N^2 d, Coulomb c becomes |N| c, with the signs of the motor's direction."""
    plain, given = disc(), {"viscous": 0.01, "coulomb": (0.3, 0.2), "gear_ratio": -20.0, "friction_at": "motor"}
    model = plain.with_drive("axle", **given)
    assert_close(
        torque(model, 0.0, 0.5), 400 * 0.01 * 0.5 + 20 * 0.2
    )  # the motor turns backwards: the second magnitude
    assert_close(torque(model, 0.0, -0.5), -400 * 0.01 * 0.5 - 20 * 0.3)
    at_joint = plain.with_drive("axle", **(given | {"friction_at": "joint"}))
    assert_close(torque(at_joint, 0.0, 0.5), 0.01 * 0.5 + 0.3)


# ------------------------------------------------------------------------------------------------ springs
CURVE = ((-0.2, -3.0), (0.0, 0.0), (0.1, 1.0), (0.3, 6.0))


def by_curve(d):
    x, y = np.array(CURVE).T
    if d < x[0]:
        return y[0] + (d - x[0]) * (y[1] - y[0]) / (x[1] - x[0])
    if d > x[-1]:
        return y[-1] + (d - x[-1]) * (y[-1] - y[-2]) / (x[-1] - x[-2])
    return np.interp(d, x, y)


SPRINGS = {
    "linear": ({"stiffness": 40.0}, lambda d: 40 * d),
    "with a rest angle": ({"stiffness": 40.0, "rest": 0.2}, lambda d: 40 * (d - 0.2)),
    "progressive": ({"stiffness": 40.0, "cubic": 7.0}, lambda d: 40 * d + 7 * d**3),
    "curve": ({"curve": CURVE}, by_curve),
    "curve with a rest angle": ({"curve": CURVE, "rest": -0.1}, lambda d: by_curve(d + 0.1)),
}
ANGLES = (-0.5, -0.21, -0.13, 0.03, 0.17, 0.31, 0.9)


@pytest.mark.parametrize("law", SPRINGS)
def test_springs_to_the_housing(law):
    """Torque, slope and energy; the energy is zero where the deflection is."""
    given, formula = SPRINGS[law]
    model = disc(gs.Spring("s", ground=True, **given))
    rest = given.get("rest", 0.0)
    energy = gs.PotentialEnergy(model, mode="interpret")
    assert_close(energy([rest]), 0.0)
    for q in ANGLES:
        assert_close(torque(model, q, 0.3), formula(q), 1e-13)
        assert_close(slope(model, q, 0.3, "q"), central(formula, q, 1e-4), 1e-8)
        assert_close(central(lambda x: energy([x]), q, 1e-4), formula(q), 1e-8)


def test_a_spring_between_two_shafts_pulls_both():
    """a gives k d, b gets it: d = angle(a) - angle(b)."""
    model = gs.assemble(
        "two discs",
        *(gs.chain("world", gs.Joint(f"axle{k}", "revolute", axis="z"), body(f"disc{k}")) for k in (0, 1)),
        gs.Spring("s", stiffness=40.0, rest=0.1),
        gs.Damper("d", damping=2.0),
        gs.connect("axle0.shaft", "s.a", "d.a"),
        gs.connect("axle1.shaft", "s.b", "d.b"),
    )
    tau = gs.InverseDynamics(model, mode="interpret")([0.5, 0.2], [1.0, -2.0], [0.0, 0.0])
    assert_close(tau, np.array([1, -1]) * (40 * 0.2 + 2 * 3.0))
    assert model.dofs == ("axle0", "axle1")


def body(name):
    return gs.RigidBody(name, mass=1.0, inertia=(0.3, 0.3, J))


def test_a_damper_to_the_housing():
    model = disc(gs.Damper("d", damping=3.0, ground=True))
    assert_close(torque(model, 0.2, -0.7), 3.0 * -0.7)
    assert_close(slope(model, 0.2, -0.7, "v"), 3.0)


def test_backlash_pushes_and_never_pulls():
    """Nothing within the gap; beyond it the stiffness, and the damping as long as the flanks press."""
    model = disc(gs.Backlash("b", gap=0.2, stiffness=100.0, damping=5.0, ground=True))
    assert_close(torque(model, 0.05, 3.0), 0.0)
    assert_close(torque(model, -0.099, -3.0), 0.0)
    assert_close(torque(model, 0.15, 0.4), 100 * 0.05 + 5 * 0.4)
    assert_close(torque(model, -0.15, -0.4), -100 * 0.05 - 5 * 0.4)
    assert_close(torque(model, 0.15, -0.4), 100 * 0.05 - 5 * 0.4)
    assert_close(torque(model, 0.15, -3.0), 0.0)  # the flank would have to pull
    energy = gs.PotentialEnergy(model, mode="interpret")
    assert_close([energy([q]) for q in (0.05, 0.15, -0.2)], [0.0, 100 * 0.05**2 / 2, 100 * 0.1**2 / 2])


def test_energy_goes_into_friction_and_dampers_alone():
    """d(T + U)/dt = -(their power), along forward dynamics."""
    plain = gs.robots.tree(2, 3, kinds=("revolute",), base="free")
    model = plain.with_drive("joint0", rotor_inertia=1e-3, gear_ratio=40.0, stiffness=80.0, damping=0.7)
    model = model.with_drive("joint1", rotor_inertia=1e-3, gear_ratio=-30.0, viscous=0.4, coulomb=0.3)
    model = model.with_drive("joint2", rotor_inertia=1e-3, gear_ratio=9.0, viscous=0.02, friction_at="motor")
    q, v, _ = random_state(model, np.random.default_rng(0))
    a = gs.ForwardDynamics(model, mode="interpret")(q, v, np.zeros(model.nv))
    kinetic, potential = gs.KineticEnergy(model, mode="interpret"), gs.PotentialEnergy(model, mode="interpret")

    def energy(t):
        now = gs.integrate(model, q, v * t)
        return kinetic(now, v + a * t) + potential(now)

    w = dict(zip(model.dofs, v, strict=True))
    lost = 0.7 * (w["joint0_drive.rotor"] / 40 - w["joint0"]) ** 2
    lost += 0.4 * w["joint1"] ** 2 + 0.3 * abs(w["joint1"]) + 0.02 * (9 * w["joint2"]) ** 2
    assert_close(central(energy, 0.0), -lost, 1e-8)


# ------------------------------------------------------------------------------------------------ rotors
def test_a_rotor_behind_a_gear_is_felt_n_squared_times():
    """On a fixed carrier nothing else is left: N^2 I_r, with and without a carrier."""
    for only in (False, True):
        model = disc().with_drive("axle", rotor_inertia=1e-3, gear_ratio=-50.0, reflected_inertia_only=only)
        assert_close(gs.MassMatrix(model, mode="interpret")([0.3]), [[J + 2500 * 1e-3]])
        assert model.nv == 1


def test_a_rotor_on_a_moving_carrier_feels_it():
    """Two joints about one axis, the rotor of the second on the first body: M = (J_1 + J_2 + ..., N I_r beside it)."""
    axle = [gs.Joint(f"axle{k}", "revolute", axis="z") for k in (0, 1)]
    plain = gs.assemble("m", gs.chain("world", axle[0], body("disc0"), axle[1], body("disc1")))
    N, I = 50.0, 1e-3
    solve = {"mode": "interpret"}
    full = gs.MassMatrix(plain.with_drive("axle1", rotor_inertia=I, gear_ratio=N), **solve)([0.3, 0.4])
    assert_close(full, [[2 * J, J + N * I], [J + N * I, J + N * N * I]])  # lumped: disc0 contains the rotor
    own = {"rotor_inertia": I, "gear_ratio": N, "lumped": False, "rotor": {"mass": 0.1, "transverse": I}}
    full = gs.MassMatrix(plain.with_drive("axle1", **own), **solve)([0.3, 0.4])
    assert_close(full, [[2 * J + I, J + N * I], [J + N * I, J + N * N * I]])
    other = {"rotor_inertia": I, "gear_ratio": N, "reflected_inertia_only": True}
    full = gs.MassMatrix(plain.with_drive("axle1", **other), **solve)([0.3, 0.4])
    assert_close(full, [[2 * J, J], [J, J + N * N * I]])  # what others compute


def test_a_spinning_rotor_resists_its_carrier_by_a_gyroscopic_torque():
    """A wheel that spins with w about z on an arm that turns with p about x needs the torque I p w about y."""
    arm = gs.RigidBody("arm", mass=1.0, inertia=(0.1, 0.2, 0.3))
    wheel = gs.RotorInertia("wheel", inertia=0.02, axis="z")
    parts = gs.chain("world", gs.Joint("turn", "spherical"), arm), wheel, gs.connect("arm", "wheel.carrier")
    model = gs.assemble("m", *parts, gravity=(0, 0, 0))
    assert model.dofs == ("turn.wx", "turn.wy", "turn.wz", "wheel")
    p, w = 3.0, 100.0
    tau = gs.InverseDynamics(model, mode="interpret")([0, 0, 0, 1, 0], [p, 0, 0, w], np.zeros(4))
    assert_close(tau, [0, -0.02 * p * w, 0, 0])  # p x (I w z)


def test_reaction_wheels_turn_a_satellite_and_keep_its_momentum():
    hull = gs.RigidBody("hull", mass=10.0, inertia=(1.0, 1.2, 1.5))
    wheels = [gs.RotorInertia(f"wheel{k}", inertia=0.05, axis=u) for k, u in enumerate("xyz")]
    seats = [gs.connect("hull", *(f"{w.name}.carrier" for w in wheels)), gs.connect("world", "hull")]
    model = gs.assemble("satellite", hull, *wheels, *seats, base="free", gravity=(0, 0, 0))
    assert model.dofs[6:] == ("wheel0", "wheel1", "wheel2")
    q, v, _ = random_state(model, np.random.default_rng(1))
    v[6:] *= 50
    tau = np.array([0] * 6 + [0.3, -0.2, 0.1])
    a = gs.ForwardDynamics(model, mode="interpret")(q, v, tau)
    momentum = gs.CentroidalMomentum(model, mode="interpret")
    rate = central(lambda t: momentum(gs.integrate(model, q, v * t), v + a * t), 0.0)
    assert_close(rate, np.zeros(6), 1e-9)
    assert np.abs(a[:3]).min() > 1e-3
    kinetic = gs.KineticEnergy(model, mode="interpret")
    power = central(lambda t: kinetic(gs.integrate(model, q, v * t), v + a * t), 0.0)
    assert_close(power, tau @ v, 1e-9)


# ------------------------------------------------------------------------------------------------ what turns with what
def test_connected_shafts_are_one():
    """Two joints on one shaft: the first one keeps the coordinate."""
    axles = [gs.chain("world", gs.Joint(f"axle{k}", "revolute", axis="z"), body(f"disc{k}")) for k in (0, 1)]
    model = gs.assemble("m", *axles, gs.connect("axle0.shaft", "axle1.shaft"))
    assert model.dofs == ("axle0",)
    assert_close(gs.MassMatrix(model, mode="interpret")([0.1]), [[2 * J]])


def test_the_joint_at_the_motor_side_follows():
    axles = [gs.chain("world", gs.Joint(f"axle{k}", "revolute", axis="z"), body(f"disc{k}")) for k in (0, 1)]
    gear = gs.Gear("g", 3.0, offset=0.5)
    one = gs.assemble("m", *axles, gear, gs.connect("axle0.shaft", "g.motor"), gs.connect("axle1.shaft", "g.joint"))
    assert one.dofs == ("axle1",)
    assert_close(gs.MassMatrix(one, mode="interpret")([0.1]), [[J + 9 * J]])
    moved = gs.ForwardKinematics(one, mode="interpret")([0.1], [2.0])
    angle = np.arctan2(moved["disc0"].R[1, 0], moved["disc0"].R[0, 0])
    assert_close(angle, 3 * 0.1 + 0.5)
    assert_close(moved["disc0"].velocity()[2], 6.0)
    other = gs.assemble("m", *axles, gear, gs.connect("axle1.shaft", "g.motor"), gs.connect("axle0.shaft", "g.joint"))
    assert other.dofs == ("axle0",)


def test_a_train_of_gears_multiplies():
    """Two stages between rotor and joint, with a rotor on the shaft between them."""
    model = gs.assemble(
        "train",
        gs.chain("world", gs.Joint("axle", "revolute", axis="z"), body("disc")),
        gs.Gear("slow", 4.0),
        gs.Gear("fast", -5.0),
        gs.RotorInertia("between", inertia=1e-2),
        gs.RotorInertia("last", inertia=1e-3),
        gs.connect("axle.shaft", "slow.joint"),
        gs.connect("slow.motor", "fast.joint", "between.shaft"),
        gs.connect("fast.motor", "last.shaft"),
    )
    assert model.dofs == ("axle",)
    assert_close(gs.MassMatrix(model, mode="interpret")([0.0]), [[J + 16 * 1e-2 + 400 * 1e-3]])


def test_a_differential_shares_its_rotors():
    """Motors 1, 2 turn as q1 + q2 and q1 - q2: M gets B^T diag(I_1, I_2) B."""
    axles = [gs.chain("world", gs.Joint(f"axle{k}", "revolute", axis="z"), body(f"disc{k}")) for k in (1, 2)]
    B = np.array([[20.0, 20.0], [20.0, -20.0]])
    model = gs.assemble(
        "differential",
        *axles,
        gs.Gear("g", B),
        gs.RotorInertia("r1", inertia=1e-3),
        gs.RotorInertia("r2", inertia=2e-3),
        *(gs.connect(f"axle{k}.shaft", f"g.joint{k}") for k in (1, 2)),
        *(gs.connect(f"r{k}.shaft", f"g.motor{k}") for k in (1, 2)),
    )
    assert model.dofs == ("axle1", "axle2")
    expected = J * np.eye(2) + B.T @ np.diag([1e-3, 2e-3]) @ B
    assert_close(gs.MassMatrix(model, mode="interpret")([0.1, 0.2]), expected)


def test_redundant_gears_are_fine():
    axles = [gs.chain("world", gs.Joint(f"axle{k}", "revolute", axis="z"), body(f"disc{k}")) for k in (0, 1, 2)]
    loop = gs.Gear("ab", 3.0), gs.Gear("bc", 0.1), gs.Gear("ac", 0.3)
    wires = (
        gs.connect("axle0.shaft", "ab.motor", "ac.motor"),
        gs.connect("axle1.shaft", "ab.joint", "bc.motor"),
        gs.connect("axle2.shaft", "bc.joint", "ac.joint"),
    )
    model = gs.assemble("loop", *axles, *loop, *wires)
    gs.check(model)
    assert model.dofs == ("axle2",)
    assert_close(gs.MassMatrix(model, mode="interpret")([0.1]), [[J * (1 + 0.01 + 0.09)]])


def test_rates_of_universal_and_cylindrical_joints_can_be_driven_one_by_one():
    joint = gs.Joint("wrist", "universal", axis="x", second_axis="y")
    plain = gs.assemble("m", gs.chain("world", joint, gs.RigidBody("hand", mass=1.0, inertia=(0.1, 0.2, 0.3))))
    parts = [gs.RotorInertia("r", inertia=1e-3), gs.Gear("g", 30.0), gs.Friction("f", viscous=0.3)]
    wires = [("r.shaft", "g.motor"), ("g.joint", "wrist.shaft2"), ("wrist.shaft1", "f.shaft")]
    model = gs.Model("m", (*plain.entities, *parts), (*plain.connections, *wires), plain.context)
    q, v, a = np.array([0.3, 0.4]), np.array([1.0, 2.0]), np.array([3.0, 4.0])
    extra = gs.InverseDynamics(model, mode="interpret")(q, v, a) - gs.InverseDynamics(plain, mode="interpret")(q, v, a)
    assert_close(extra, [0.3 * 1.0, 900 * 1e-3 * 4.0])
    tau = gs.InverseDynamics(model, mode="interpret")(q, v, a)
    assert_close(gs.ForwardDynamics(model, mode="interpret")(q, v, tau), a)
    follow = gs.Gear("mimic", 2.0)
    wires = (*plain.connections, ("wrist.shaft2", "mimic.motor"), ("wrist.shaft1", "mimic.joint"))
    coupled = gs.Model("m", (*plain.entities, follow), wires, plain.context)
    assert coupled.dofs == ("wrist",) or coupled.dofs == ("wrist.angle1",)
    G = np.array([[1.0], [2.0]])
    M = gs.MassMatrix(plain, mode="interpret")([0.3, 0.6])
    assert_close(gs.MassMatrix(coupled, mode="interpret")([0.3]), G.T @ M @ G)
