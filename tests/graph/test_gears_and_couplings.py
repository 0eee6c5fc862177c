"""Joints that are coupled by gears, and models with drives, in every solver.

Couplings are compared with the uncoupled model in Pinocchio, reduced by v_full = G v; one also with Pinocchio's own
mimic joints."""

import shutil
import subprocess

import numpy as np
import pytest

import gyrostat as gs
from tests.oracles.test_family_against_pinocchio import interpreted
from tests.support.comparing import assert_close, central
from tests.support.explicit_rotors import Explicit
from tests.support.pinocchio_oracle import pin, random_state

TIP = "body5.tip"


def tree(base="free"):
    kinds = ("revolute", "prismatic", "helical")
    return gs.robots.tree(3, 6, kinds=kinds, base=base, reversed_share=0.4, branching=0.4)


def coupled(plain, *gears):
    """Gears between the shafts of joints: (gear, joints at its motor side, joints at its joint side)."""
    wires = list(plain.connections)
    for gear, motors, joints in gears:
        wires += [(f"joint{k}.shaft", f"{gear.name}.{p}") for k, p in zip(motors, gear.motors, strict=True)]
        wires += [(f"joint{k}.shaft", f"{gear.name}.{p}") for k, p in zip(joints, gear.joints, strict=True)]
    return gs.Model(plain.name, (*plain.entities, *(g for g, _, _ in gears)), tuple(wires), plain.context)


def mimic(slave, master):
    return [(gs.Gear("mimic", -1.5, offset=0.3), [slave], [master])], {f"joint{slave}": ({f"joint{master}": -1.5}, 0.3)}


CASES = {
    "outboard": mimic(4, 1),
    "inboard": mimic(1, 4),
    "another branch": mimic(5, 2),
    "from the base": mimic(0, 5),
    "chain of mimics": (
        [
            (gs.Gear("m1", 2.0, offset=0.1), [1], [0]),
            (gs.Gear("m2", -0.5, offset=0.2), [2], [1]),
            (gs.Gear("m3", 3.0), [5], [2]),
        ],
        {"joint1": ({"joint0": 2.0}, 0.1), "joint2": ({"joint0": -1.0}, 0.15), "joint5": ({"joint0": -3.0}, 0.45)},
    ),
    "two by two": (
        [(gs.Gear("d", [[1, 2], [1, -1]], offset=(0.1, 0.2)), [1, 2], [3, 4])],
        {"joint1": ({"joint3": 1.0, "joint4": 2.0}, 0.1), "joint2": ({"joint3": 1.0, "joint4": -1.0}, 0.2)},
    ),
    "one of three": (
        [(gs.Gear("s", [[0.5, 0.5, -1]], offset=0.1), [5], [0, 2, 4])],
        {"joint5": ({"joint0": 0.5, "joint2": 0.5, "joint4": -1.0}, 0.1)},
    ),
}


@pytest.fixture(params=CASES, scope="module")
def case(request):
    """Coupled model, oracle, state."""
    gears, ties = CASES[request.param]
    model = coupled(tree(), *gears)
    oracle = Explicit(model, tree(), ties)
    return model, oracle, *random_state(model, np.random.default_rng(1))


def test_a_joint_that_follows_has_no_coordinate(case):
    model, oracle, q, *_ = case
    assert set(model.dofs) == set(oracle.full.dofs) - set(oracle.ties)
    assert model.nv == len(model.dofs) == 12 - len(oracle.ties)
    assert gs.neutral(model).shape == q.shape
    assert gs.random_configuration(model, 0, (3,)).shape == (3, model.nq)
    step = np.linspace(-0.2, 0.2, model.nv)
    assert_close(gs.difference(model, q, gs.integrate(model, q, step)), step)


def test_dynamics_are_those_of_the_reduced_model(case):
    model, oracle, q, v, a = case
    wrench = {TIP: np.arange(6.0)}
    with interpreted():
        tau, M = oracle.rnea(q, v, a), oracle.crba(q)
        assert_close(gs.rnea(model, q, v, a), tau, 1e-10)
        assert_close(gs.rnea(model, q, v, a, wrench), oracle.rnea(q, v, a, wrench), 1e-10)
        assert_close(gs.aba(model, q, v, tau), a, 1e-9)
        assert_close(gs.crba(model, q), M, 1e-10)
        assert_close(gs.inverse_mass_matrix(model, q), np.linalg.inv(M), 1e-9)
        assert_close(gs.kinetic_energy(model, q, v), oracle.kinetic_energy(q, v), 1e-10)
        assert_close(gs.potential_energy(model, q), oracle.potential_energy(q), 1e-10)
        assert_close(gs.centroidal_momentum(model, q, v), oracle.centroidal_momentum(q, v), 1e-10)
        assert_close(gs.centroidal_matrix(model, q), oracle.centroidal_matrix(q), 1e-10)


def test_derivatives_are_those_of_the_reduced_model(case):
    model, oracle, q, v, a = case
    with interpreted():
        tau = oracle.rnea(q, v, a)
        for got, expected in zip(gs.rnea_derivatives(model, q, v, a), oracle.rnea_derivatives(q, v, a), strict=True):
            assert_close(got, expected, 1e-9)
        for got, expected in zip(gs.aba_derivatives(model, q, v, tau), oracle.aba_derivatives(q, v, tau), strict=True):
            assert_close(got, expected, 1e-8)
        C = gs.coriolis(model, q, v)
        assert_close(C + C.T, oracle.mass_rate(q, v), 1e-9)
        assert_close(C @ v + gs.gravity(model, q), gs.bias(model, q, v), 1e-9)


def test_kinematics_are_those_of_the_reduced_model(case):
    model, oracle, q, v, _ = case
    with interpreted():
        moved = gs.fk(model, q, v)[TIP]
        R, p = oracle.oracle.move(oracle.q(q), oracle.G @ v, oracle.G @ v).placement(TIP)
        assert_close(moved.R, R, 1e-12)
        assert_close(moved.p, p, 1e-12)
        for expressed_in in ("local", "aligned", "world"):
            J = gs.jacobian(model, q, TIP, expressed_in)
            assert_close(J, oracle.jacobian(q, TIP, expressed_in), 1e-11)
            assert_close(J @ v, moved.velocity(expressed_in), 1e-11)
        rate = oracle.oracle.jacobian_rate(oracle.q(q), oracle.G @ v, TIP) @ oracle.G
        assert_close(gs.jacobian_rate(model, q, v, TIP), rate, 1e-11)


def test_the_other_solvers_know_couplings(case):
    model, oracle, q, v, a = case
    with interpreted():
        tau, M = oracle.rnea(q, v, a), oracle.crba(q)
        Y, tau_0 = gs.Regressor(model)(q, v, a)
        assert_close(Y @ gs.inertial_parameters(model) + tau_0, tau, 1e-10)
        factors = gs.Innovations(model)(q)
        assert_close(factors.L.T @ np.diag(factors.D) @ factors.L, M, 1e-10)
        terms = gs.EquationsOfMotion(model)(q, v)
        assert_close(terms.D @ a + terms.C @ v + terms.G + terms.Q, tau, 1e-10)
        assert_close(gs.rnea_reference(model, q, v, v, a), tau, 1e-10)
        J = np.vstack([gs.jacobian(model, q, frame, "local")[3:] for frame in (TIP, "body3.tip")])
        found = gs.InverseOperationalInertia(model, {TIP: "point", "body3.tip": "point"})(q)
        assert_close(found, J @ np.linalg.inv(M) @ J.T, 1e-9)
        small = np.random.default_rng(2).normal(size=(3, model.nv))
        change = sum(d @ x for d, x in zip(gs.aba_derivatives(model, q, v, tau), small, strict=True))
        assert_close(gs.DeltaAcceleration(model)(q, v, tau, *small), change, 1e-9)
        op = gs.operators(model, q, v)
        assert_close(op.rnea(a), tau, 1e-10)
        left = np.eye(model.nv) + op.K @ op.Phi @ op.H
        assert_close(left.T @ op.D @ left, M, 1e-9)


MIMIC = """<robot name="arm"><link name="base"/>
{links}
<joint name="j1" type="revolute"><parent link="base"/><child link="l1"/><axis xyz="0 1 0"/>{limit}</joint>
<joint name="j2" type="revolute"><parent link="l1"/><child link="l2"/><origin xyz="0.3 0 0"/><axis xyz="0 0.6 0.8"/>
  {limit}<mimic joint="j1" multiplier="-0.7" offset="0.2"/></joint>
<joint name="j3" type="revolute"><parent link="l2"/><child link="l3"/><origin xyz="0.3 0 0"/><axis xyz="1 0 0"/>
  {limit}</joint></robot>"""
LINK = """<link name="l{k}"><inertial><origin xyz="0.1 0 0.02"/><mass value="{k}"/>
<inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>"""


def test_a_mimic_joint_is_that_of_pinocchio(tmp_path):
    links = "\n".join(LINK.format(k=k) for k in (1, 2, 3))
    text = MIMIC.format(links=links, limit='<limit lower="-3" upper="3" effort="9" velocity="9"/>')
    (tmp_path / "arm.urdf").write_text(text, "utf-8")
    model = gs.load(tmp_path / "arm.urdf")
    assert model.dofs == ("j1", "j3")
    theirs = pin.buildModelFromXML(text, mimic=True)
    data = theirs.createData()
    q, v, a = np.random.default_rng(0).normal(size=(3, 2))
    with interpreted():
        assert_close(gs.rnea(model, q, v, a), pin.rnea(theirs, data, q, v, a), 1e-12)
        M = pin.crba(theirs, data, q)
        assert_close(np.triu(gs.crba(model, q)), np.triu(M), 1e-12)


# ------------------------------------------------------------------------------------------------ drives in all solvers
def driven_arm():
    """A stiff drive with friction, an elastic one, and one of which only the inertia counts."""
    upper = gs.RigidBody("upper", mass=2.0, com=(0, 0, 0.25), inertia=(0.05, 0.05, 0.002), frames={"end": (0, 0, 0.5)})
    lower = gs.RigidBody("lower", mass=1.0, com=(0, 0, 0.2), inertia=(0.02, 0.02, 0.001), frames={"end": (0, 0, 0.4)})
    hand = gs.RigidBody("hand", mass=0.5, com=(0, 0.1, 0.1), inertia=(0.002, 0.002, 0.001), frames={"tip": (0, 0.2, 0)})
    shoulder, elbow, wrist = (
        gs.Joint(name, "revolute", axis=axis) for name, axis in (("shoulder", "y"), ("elbow", "x"), ("wrist", "z"))
    )
    arm = gs.assemble("arm", gs.chain("world", shoulder, upper, "end", elbow, lower, "end", wrist, hand))
    rubbing = {"static": (0.4, 0.5), "stribeck": 0.2, "smooth": 0.1}
    arm = arm.with_drive("shoulder", rotor_inertia=1e-4, gear_ratio=100.0, viscous=0.3, coulomb=(0.2, 0.3),
                         friction=rubbing)  # fmt: skip
    arm = arm.with_drive("elbow", rotor_inertia=2e-4, gear_ratio=-50.0, stiffness=200.0, damping=0.5, torque_limit=3.0)
    return arm.with_drive("wrist", rotor_inertia=2e-4, gear_ratio=30.0, reflected_inertia_only=True)


LIVE = (
    "elbow.gear.ratio",
    "elbow.rotor.inertia",
    "elbow.rotor.axis",
    "elbow.spring.stiffness",
    "elbow.damper.damping",
    "shoulder.gear.ratio",
    "shoulder.friction.coulomb",
    "shoulder.friction.viscous",
    "wrist.rotor.inertia",
)
OTHER = (70.0, 3e-4, (0.0, 0.6, 0.8), 300.0, 1.0, 120.0, (0.1, 0.4), 0.5, 1e-3)


@pytest.fixture(scope="module")
def driven():
    model = driven_arm()
    return model, *random_state(model, np.random.default_rng(0))


def test_properties_of_drives_can_be_live(driven):
    model, q, v, a = driven
    inverse, forward = gs.InverseDynamics(model, live=LIVE), gs.ForwardDynamics(model, live=LIVE)
    changed = model.replace(dict(zip(LIVE, OTHER, strict=True)))
    for now in (model, changed):
        inverse.refresh(now)
        forward.refresh(now)
        tau = gs.InverseDynamics(now, mode="interpret")(q, v, a)
        assert_close(inverse(q, v, a), tau)
        assert_close(forward(q, v, tau), a, 1e-9)
    assert inverse.live[0] == "elbow_drive.gear.ratio"
    with pytest.raises(gs.SpecError, match=r"there is no 'ratoi'. Hint: did you mean 'ratio'"):
        gs.InverseDynamics(model, live=["elbow.gear.ratoi"])
    with pytest.raises(gs.SpecError, match="ratio must not be zero"):
        inverse.refresh(model.replace({"elbow.gear.ratio": 0.0}))


def test_live_ratios_of_couplings():
    plain = tree("fixed")
    model = coupled(plain, *CASES["two by two"][0])
    q, v, a = random_state(model, np.random.default_rng(3))
    solver = gs.InverseDynamics(model, live=["d.ratio", "d.offset"])
    other = model.replace({"d.ratio": [[0.5, 1], [2, -1]], "d.offset": (0.3, -0.1)})
    solver.refresh(other)
    assert_close(solver(q, v, a), gs.InverseDynamics(other, mode="interpret")(q, v, a))


def test_derivatives_by_properties_of_drives(driven):
    model, q, v, a = driven
    paths = [path for path in LIVE if not path.endswith("axis")]
    solver = gs.ParameterDerivatives(model, paths)
    found = solver(q, v, a)
    for k, column in enumerate(solver.columns):
        path, _, index = column.partition("[")
        value = np.atleast_1d(np.array(model[path]))
        size = np.abs(value).max()

        def torque(t, path=path, value=value, index=index):
            moved = value.copy()
            moved[int(index.rstrip("]") or 0)] += t
            other = model.replace({path: moved if len(moved) > 1 else float(moved[0])})
            return gs.InverseDynamics(other, mode="interpret")(q, v, a)

        assert_close(found[:, k], central(torque, 0.0, 1e-2 * size), 1e-7)


def test_drives_in_casadi_and_in_another_order(driven):
    model, q, v, a = driven
    tau = gs.rnea(model, q, v, a)
    assert_close(np.array(gs.InverseDynamics(model).casadi()(q=q, v=v, a=a)["tau"]).ravel(), tau)
    names = ["wrist", "elbow_drive.rotor", "shoulder", "elbow"]
    order = [model.dofs.index(name) for name in names]
    other = gs.InverseDynamics(model, mode="interpret").in_order(names)
    assert_close(other(q[order], v[order], a[order]), tau[order])
    assert "elbow_drive.rotor" in gs.InverseDynamics(model, mode="interpret").explain()


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_drives_in_exported_c(driven, tmp_path):
    files = gs.ForwardDynamics(driven[0]).export_c(tmp_path)
    sources = [str(path) for path in files if path.suffix == ".c"]
    subprocess.run(["cc", "-std=c99", "-o", str(tmp_path / "check"), *sources, "-lm"], check=True, cwd=tmp_path)
    subprocess.run([str(tmp_path / "check")], check=True, capture_output=True)


def test_second_derivatives_with_drives(driven):
    model, q, v, a = driven
    second = gs.InverseDynamicsSecondDerivatives(model)(q, v, a)
    first = gs.InverseDynamicsDerivatives(model, mode="interpret")
    for k, e in enumerate(np.eye(model.nv)):
        by_q = central(lambda t, e=e: first(q + e * t, v, a).dtau_dq, 0.0)
        by_v = central(lambda t, e=e: first(q, v + e * t, a).dtau_dv, 0.0, 1e-4)
        assert_close(second.d2tau_dqdq[:, :, k], by_q, 1e-8)
        assert_close(second.d2tau_dvdv[:, :, k], by_v, 1e-6)


def test_other_solvers_with_drives(driven):
    model, q, v, a = driven
    with interpreted():
        tau, M = gs.rnea(model, q, v, a), gs.crba(model, q)
        Y, tau_0 = gs.Regressor(model)(q, v, a)
        assert_close(Y @ gs.inertial_parameters(model) + tau_0, tau)
        J = gs.jacobian(model, q, "hand.tip", "local")
        found = gs.InverseOperationalInertia(model, ["hand.tip"])(q)
        assert_close(found, J @ np.linalg.inv(M) @ J.T, 1e-9)
        assert_close(J[:, model.dofs.index("elbow_drive.rotor")], np.zeros(6))  # rotors move no frame
        small = np.random.default_rng(2).normal(size=(3, model.nv))
        change = sum(d @ x for d, x in zip(gs.aba_derivatives(model, q, v, tau), small, strict=True))
        assert_close(gs.DeltaAcceleration(model)(q, v, tau, *small), change, 1e-9)
        op = gs.operators(model, q, v)
        assert_close(op.rnea(a), tau, 1e-10)
        assert_close(op.inverse_mass_matrix() @ M, np.eye(model.nv), 1e-8)


def test_batches_and_names_work_with_drives(driven):
    model, q, v, a = driven
    tau = gs.rnea(model, q, v, a)
    many = gs.rnea(model, np.tile(q, (7, 1)), v, a)
    assert np.array_equal(many, np.tile(tau, (7, 1)))
    named = {name: value for name, value in zip(model.dofs, q, strict=True)}
    assert_close(gs.rnea(model, named, v, a), tau)


@pytest.mark.parametrize("robot", ["arm6", "elastic_arm", "differential_wrist"])
def test_changes_of_accelerations_of_moving_rotors_equal_differences(robot):
    """What the carrier's motion asks of a rotor belongs to the motion alone, not to its change."""
    model, rng, h = getattr(gs.robots, robot)(), np.random.default_rng(0), 1e-6
    q, (v, tau, dq, dv, dtau) = rng.normal(size=model.nq), rng.normal(size=(5, model.nv))
    ahead, behind = (gs.aba(model, q + s * h * dq, v + s * h * dv, tau + s * h * dtau) for s in (1.0, -1.0))
    change = (ahead - behind) / (2.0 * h)
    assert_close(gs.DeltaAcceleration(model)(q, v, tau, dq, dv, dtau), change, 1e-8 * np.abs(change).max())
