"""No kind is privileged: a gear, a rotor and an element on shafts that are not part of gyrostat do what its own do; and
what cannot be done with followers of curves is refused by name."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algorithms.recursions.aba import aba
from gyrostat.algorithms.recursions.kinematics import Spin
from gyrostat.algorithms.shafts.aba_tied_rates import elimination_plan
from gyrostat.spatial.algebra import cross, join
from tests.support.cam_models import body, outboard, tied, yoke
from tests.support.comparing import assert_close


class Strap(gs.Entity):
    """A user's gear: r1 angle1 - r2 angle2 = slip."""

    r1: float
    r2: float
    slip: float = 0.0

    @property
    def ports(self):
        return gs.Port("one", "scalar"), gs.Port("two", "scalar")

    def relations(self, value):
        return (gs.LinearRelation("one", {"one": value("r1"), "two": -value("r2")}, value("slip")),)


class SpareWheel(gs.Entity):
    """A user's rotor about z of its carrier."""

    inertia: float

    @property
    def ports(self):
        return gs.Port("housing"), gs.Port("hub", "scalar")

    @property
    def rotor_shaft(self):
        return "hub"


@gs.kinematics.row(SpareWheel)
def _(c, on, motion, q, v, a):
    return {}, Spin(v[0], a[0])


@gs.rne.row(SpareWheel)
def _(c, on, motion, memo):
    h = on.representation.force(motion.pose, np.array([0.0, 0.0, c["inertia"], 0.0, 0.0, 0.0]))
    own = h * memo.a + join(cross(motion.V[:3], h[:3]) * memo.v, np.zeros(3))
    u = np.array([h @ motion.A + c["inertia"] * memo.a])
    return lambda forces: (own, u)


class Brake(gs.Entity):
    """A user's element without inertia: torque d w |w|."""

    has_inertia = False
    d: float

    @property
    def ports(self):
        return gs.Port("one", "scalar"), gs.Port("two", "scalar")


@gs.shafts.row(Brake)
def _(c, angle, rate, acceleration):
    w = rate["one"] - rate["two"]
    return {"one": w * abs(w) * c["d"], "two": -(w * abs(w)) * c["d"]}


class Lever(gs.Entity):
    """A user's element with inertia between two shafts."""

    J: float

    @property
    def ports(self):
        return gs.Port("one", "scalar"), gs.Port("two", "scalar")


@gs.shafts.row(Lever)
def _(c, angle, rate, acceleration):
    total = (acceleration["one"] + acceleration["two"]) * c["J"]
    return {"one": total, "two": total}


def arm(*parts, **context):
    links = [
        gs.chain(
            "world",
            gs.Joint("a", "revolute", axis="z"),
            body("upper"),
            gs.Joint("b", "revolute", axis="x"),
            body("lower"),
        )
    ]
    return gs.assemble("arm", *links, *parts, **context)


def state(model, seed=2):
    rng = np.random.default_rng(seed)
    return [gs.random_configuration(model, rng), *(rng.normal(size=model.nv) for _ in range(2))]


def same(mine, theirs):
    """In inverse and forward dynamics, mass matrix, derivatives, energy and Coriolis matrix."""
    assert mine.dofs == theirs.dofs
    q, v, a = state(theirs)
    asked = {
        gs.InverseDynamics: (q, v, a), gs.ForwardDynamics: (q, v, a), gs.MassMatrix: (q,), gs.KineticEnergy: (q, v),
        gs.Bias: (q, v), gs.InverseDynamicsDerivatives: (q, v, a),
    }  # fmt: skip
    for solver, x in asked.items():
        one, two = (solver(model, mode="interpret")(*x) for model in (mine, theirs))
        for y, z in zip(one, two, strict=True) if isinstance(one, tuple) else [(one, two)]:
            assert_close(np.asarray(y), np.asarray(z), 1e-10)
    C, D = (gs.Coriolis(model, mode="interpret")(q, v) for model in (mine, theirs))
    assert_close(C @ v, D @ v, 1e-11)


def test_a_gear_of_the_user_ties_joints_and_rotors():
    couple = gs.connect("a.shaft", "x.one"), gs.connect("b.shaft", "x.two")
    theirs = arm(gs.Gear("x", 1.5, offset=0.1), gs.connect("a.shaft", "x.motor"), gs.connect("b.shaft", "x.joint"))
    same(arm(Strap("x", r1=0.2, r2=0.3, slip=0.02), *couple), theirs)
    rotor = gs.RotorInertia("r", inertia=0.01), gs.connect("r", "x.one"), gs.connect("a.shaft", "x.two")
    mine = arm(Strap("x", r1=0.1, r2=0.7), *rotor)
    drive = gs.RotorInertia("r", inertia=0.01), gs.connect("r", "x.motor"), gs.connect("a.shaft", "x.joint")
    same(mine, arm(gs.Gear("x", 7.0), *drive))
    q, v, a = state(mine)
    slope = gs.ParameterDerivatives(mine, ["x.r1"], mode="interpret")(q, v, a)[:, 0]
    ends = [gs.rnea(mine.replace({"x.r1": 0.1 + h}), q, v, a) for h in (1e-6, -1e-6)]
    assert_close(slope, (ends[0] - ends[1]) / 2e-6, 1e-6)


def test_gears_of_the_user_may_contradict_each_other():
    both = gs.connect("a.shaft", "x.one", "y.one"), gs.connect("b.shaft", "x.two", "y.two")
    wrong = arm(Strap("x", r1=1.0, r2=2.0), Strap("y", r1=1.0, r2=2.0, slip=0.1), *both)
    with pytest.raises(gs.SpecError, match="strap 'y': contradicts other gears"):
        gs.check(wrong)


@pytest.mark.parametrize("tie", ["free", "geared", "to the joint"])
def test_a_rotor_of_the_user_spins_in_its_carrier(tie):
    def robot(rotor, shaft, carrier):
        parts = [rotor, gs.connect("lower", f"w.{carrier}")]
        if tie == "geared":
            parts += [gs.Gear("g", 9.0), gs.connect(f"w.{shaft}", "g.motor"), gs.connect("b.shaft", "g.joint")]
        elif tie == "to the joint":
            parts += [gs.connect(f"w.{shaft}", "b.shaft")]
        return arm(*parts)

    mine = robot(SpareWheel("w", inertia=0.004), "hub", "housing")
    theirs = robot(gs.RotorInertia("w", inertia=0.004, axis="z"), "shaft", "carrier")
    assert mine.dofs == (("a", "b", "w") if tie == "free" else ("a", "b"))
    same(mine, theirs)


def test_a_rotor_of_the_user_needs_a_carrier():
    with pytest.raises(gs.SpecError, match=r"spare wheel 'w'.*'housing' is connected to no frame"):
        gs.check(arm(SpareWheel("w", inertia=0.004), gs.connect("w.hub", "a.shaft")))


def test_elements_of_the_user_say_whether_they_have_inertia():
    links = gs.connect("a.shaft", "x.one"), gs.connect("b.shaft", "x.two")
    brake, lever = arm(Brake("x", d=0.3), *links), arm(Lever("x", J=0.05), *links)
    assert elimination_plan(gs.network(brake), aba.serves).plain == {0, 1}  # nothing is tied
    assert elimination_plan(gs.network(lever), aba.serves).plain == set()
    for model in (brake, lever):
        q, v, a = state(model)
        assert_close(gs.aba(model, q, v, gs.rnea(model, q, v, a)), a, 1e-10)
    q, v, a = state(brake)
    w = v[0] - v[1]
    assert_close(gs.rnea(brake, q, v, a) - gs.rnea(arm(), q, v, a), 0.3 * w * abs(w) * np.array([1.0, -1.0]), 1e-12)
    assert_close(gs.crba(lever, q) - gs.crba(arm(), q), np.full((2, 2), 0.05), 1e-12)


def test_an_open_shaft_of_a_gear_of_the_user_is_told():
    with pytest.raises(gs.SpecError, match="strap 'x': its shaft 'two' is connected to nothing"):
        gs.check(arm(Strap("x", r1=0.2, r2=0.3), gs.connect("a.shaft", "x.one")))


FILES = (
    *("graph/shafts.py", "graph/transmission.py", "graph/tied_shafts.py", "graph/shaft_problems.py"),
    *(
        "algorithms/shafts/aba_tied_rates.py",
        "algorithms/shafts/aba_tied_elimination.py",
        "algorithms/matrices/ltdl.py",
    ),
    "spec/with_drive.py",
)


@pytest.mark.parametrize("file", FILES)
def test_no_file_of_the_transmission_asks_for_a_kind(file):
    kinds = {
        "Joint",
        "Gear",
        "RotorInertia",
        "TwoShafts",
        "Friction",
        "Motor",
        "Cam",
        "ScotchYoke",
        "PolynomialCoupling",
    }
    tree = ast.parse((Path(gs.__file__).parent / file).read_text("utf-8"))
    asked = [
        {name.id for name in ast.walk(call.args[1]) if isinstance(name, ast.Name)}
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") in ("isinstance", "issubclass")
    ]
    assert not kinds & set().union(*asked)


# ---------------------------------------------------------------------------------------------- refused by name
def follower_with(*parts):
    model = yoke()
    entities = [part for part in parts if isinstance(part, gs.Entity)]
    links = [part for part in parts if not isinstance(part, gs.Entity)]
    return gs.Model("yoke", (*model.entities, *entities), (*model.connections, *links), model.context)


def test_dry_friction_on_a_follower_is_refused_and_smooth_friction_is_not():
    dry = follower_with(gs.Friction("rub", coulomb=0.4), ("lift.shaft", "rub.shaft"))
    with pytest.raises(gs.StateError, match=r"dry friction 'rub'.*smooth"):
        gs.simulate(dry, q0=[0.3], v0=[1.0], t_end=0.1)
    run = gs.simulate(dry.replace({"rub.smooth": 0.1}), q0=[0.3], v0=[1.0], t_end=0.1)
    assert np.isfinite(run.q).all()


def test_a_motor_on_a_follower_is_refused_where_its_ratio_must_be_constant():
    model = follower_with(gs.Motor("m", torque_limit=3.0), ("lift.shaft", "m.shaft"))
    with pytest.raises(gs.StateError, match="the motor 'm' drives its joint through a curve"):
        gs.ActuatorDynamics(model)
    with pytest.raises(gs.SpecError, match=r"motor 'm'.*through a curve"):
        gs.ElasticInverseDynamics(model)
    with pytest.raises(gs.StateError, match="the motor 'm' drives its joint through a curve"):
        gs.AchievableMotion(model, 0.01)


def test_limits_of_a_follower_are_refused_in_achievable_motion():
    with pytest.raises(gs.StateError, match="'lift' has limits, and follows by a curve"):
        gs.AchievableMotion(yoke().replace({"lift.upper": 0.1}), 0.01)(np.zeros((3, 1)))


def test_achievable_motion_moves_followers():
    model = follower_with(gs.Motor("m", torque_limit=100.0), ("crank.shaft", "m.shaft"))
    programme = 0.3 + 0.02 * np.linspace(0.0, 1.0, 30)[:, None] ** 2
    assert_close(gs.AchievableMotion(model, 0.01)(programme).q, programme, 1e-9)


def test_an_elastic_drive_of_a_follower_is_refused_where_it_must_be_inverted():
    soft = {"rotor_inertia": 1e-3, "gear_ratio": 10.0, "stiffness": 500.0}
    model = yoke().with_drive("lift", **soft)
    with pytest.raises(gs.SpecError, match="follows by a curve: its ratio may be zero"):
        gs.ElasticInverseDynamics(model)
    q, v, a = state(model)
    assert_close(gs.aba(model, q, v, gs.rnea(model, q, v, a)), a, 1e-9)
    driver = yoke().with_drive("crank", **soft)
    moved = tuple((*c[:-1], "yoke.driver") if c == ("crank.shaft", "yoke.driver") else c for c in driver.connections)
    assert gs.ElasticInverseDynamics(gs.Model("yoke", driver.entities, moved, driver.context)).elastic == ("crank",)


def test_urdf_refuses_a_follower(tmp_path):
    with pytest.raises(gs.SaveError, match="'lift'"):
        gs.save(yoke(), tmp_path / "yoke.urdf")


def test_ties_are_no_numbers_without_a_state():
    moved = gs.network(yoke()).transmission
    with pytest.raises(gs.StateError, match=r"'yoke' moves its follower by a curve.*depends on the state"):
        moved.rates(np.ones(1))
    with pytest.raises(gs.StateError, match=r"transmission\.at\(q, v\)"):
        moved.followers[0].angle(np.zeros(1), moved.place)
    at = moved.at(np.array([0.4]), np.array([2.0]))
    assert_close(at.rates(np.array([2.0])), [2.0, -0.4 * np.sin(0.7)], 1e-15)
    assert_close(at.accelerations(np.array([3.0])), [3.0, -0.6 * np.sin(0.7) - 0.8 * np.cos(0.7)], 1e-15)
    assert_close(at.gathered(np.array([1.0, 5.0])), [1.0 - np.sin(0.7)], 1e-15)


def test_constant_ties_are_themselves_at_every_state():
    model = arm(gs.Gear("g", 2.0), gs.connect("a.shaft", "g.motor"), gs.connect("b.shaft", "g.joint"))
    net = gs.network(model)
    assert net.at(np.zeros(1), np.ones(1)) is net
    assert net.transmission.at(np.zeros(1)) is net.transmission


# ---------------------------------------------------------------------------------------------- edits, files, pictures
def test_locking_the_driver_locks_its_follower():
    model = outboard().lock("a", 0.6)
    assert model.dofs == ("b", "d")
    q, v, a = state(model)
    free = outboard()
    x = lambda y, first: np.array([first, *y])  # noqa: E731
    assert_close(gs.rnea(model, q, v, a), gs.rnea(free, x(q, 0.6), x(v, 0.0), x(a, 0.0))[1:], 1e-12)
    with pytest.raises(gs.SpecError, match="'c': has no coordinate of its own: it follows 'a'"):
        free.lock("c", 0.1)


def test_random_configurations_respect_the_limits_of_followers():
    model = yoke().replace({"lift.lower": 0.05, "lift.upper": 0.15})
    q = gs.random_configuration(model, np.random.default_rng(0), (300,))
    lift = 0.2 * np.cos(q[:, 0] + 0.3)
    assert lift.min() >= 0.05 and lift.max() <= 0.15
    assert np.ptp(lift) > 0.08


def test_summary_and_diagram_show_cams():
    model = outboard()
    assert "cam" in repr(model) and "cam" in gs.diagram(model)


def test_lifts_of_a_cam_may_be_live():
    model = tied(
        gs.assemble(
            "c",
            gs.chain(
                "world", gs.Joint("a", "revolute", axis="y"), body("u"), gs.Joint("b", "prismatic", axis="x"), body("l")
            ),
        ),
        (gs.Cam("cam", [-1.0, 0.0, 1.0, 2.0], [0.1, 0.3, 0.2, 0.4]), "a.shaft", "b.shaft"),
    )
    derivative = gs.ParameterDerivatives(model, ["cam.lifts"], mode="interpret")([0.4], [1.1], [0.7])
    for k in range(4):
        ends = []
        for s in (1e-6, -1e-6):
            lifts = [0.1, 0.3, 0.2, 0.4]
            lifts[k] += s
            ends.append(gs.rnea(model.replace({"cam.lifts": lifts}), [0.4], [1.1], [0.7]))
        assert_close(derivative[:, k], (ends[0] - ends[1]) / 2e-6, 1e-7)
