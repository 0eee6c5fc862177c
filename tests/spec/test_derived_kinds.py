"""Kinds derived from built-in ones that redefine a row, in and as carriers of rotors: nothing of them is left out."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algorithms.forward_dynamics import FORWARD, MASS_MATRIX
from gyrostat.algorithms.recursions.kinematics import moving, rigid
from gyrostat.algorithms.recursions.rne import inboard
from gyrostat.geometry.rotation import about_axis
from gyrostat.spatial.algebra import cross, join
from gyrostat.spatial.joints import JointMotion
from gyrostat.spec.values import Number
from tests.support.comparing import assert_close
from tests.support.foreign_kinds import NONE, TwoEnded, _between, _hand, arm, needed
from tests.support.random_models import random_state

J = np.diag([0.003, 0.004, 0.005])
X, Y, Z = np.eye(3)


class HeavyLink(gs.DHDisplacement):
    """A displacement by Denavit-Hartenberg parameters with a mass at its inport."""

    mass: Number


class LoadedRotor(gs.LockedRotor):
    """A locked rotor that is heavier than it says."""

    more: Number


class LightRotor(gs.RotorInertia):
    """A rotor of which a share turns."""

    share: Number


class FlatSlab(gs.Entity):
    """A body with the frames ``a`` and ``b`` = a, rigid."""

    mass: Number

    @property
    def ports(self):
        return gs.Port("a"), gs.Port("b")


class DoubleHinge(TwoEnded):
    """Two hinges, about x and y, and a link between them."""

    mass: Number
    length: Number

    @property
    def coordinates(self):
        return "one", "two"

    @property
    def rates(self):
        return "one", "two"


@gs.rne.row(HeavyLink)
def _(c, on, motion, memo):
    own = needed(on, motion, c["mass"], np.zeros(3), J)
    return lambda forces: (inboard(forces, memo, own), NONE)


@gs.rne.row(LoadedRotor)
def _(c, on, motion, memo):
    own = needed(on, motion, c["mass"] + c["more"], c["com"], c["inertia"])
    return lambda forces: (own, NONE)


@gs.rne.row(LightRotor)
def _(c, on, motion, memo):
    I = c["inertia"] * c["share"]
    h = on.representation.force(motion.pose, join(c["axis"] * I, np.zeros(3)))
    own = h * memo.a + join(cross(motion.V[:3], h[:3]) * memo.v, np.zeros(3))
    u = np.array([h @ motion.A + I * memo.a])
    return lambda forces: (own, u)


@gs.kinematics.row(FlatSlab)
def _(c, on, motion, q, v, a):
    (name,) = c.outports
    out, shift = rigid(on, motion, np.eye(3), np.zeros(3))
    return {name: out}, {name: shift}


@gs.rne.row(FlatSlab)
def _(c, on, motion, memo):
    own = needed(on, motion, c["mass"], np.zeros(3), J)
    return lambda forces: (inboard(forces, memo, own), NONE)


@gs.kinematics.row(DoubleHinge)
def _(c, on, motion, q, v, a):
    one, two = (
        JointMotion(about_axis(u, q[k]), np.zeros(3), join(u, np.zeros(3))[:, None], np.zeros(6))
        for k, u in enumerate((X, Y))
    )
    middle, before = moving(on, motion, one, v[:1], a[:1])
    end, behind = moving(on, middle, two.after(np.eye(3), Z * c["length"]), v[1:], a[1:])
    return {"b": end}, (middle, before, behind)


@gs.rne.row(DoubleHinge)
def _(c, on, motion, memo):
    middle, before, behind = memo
    own = needed(on, middle, c["mass"], Z * (c["length"] * 0.5), J)

    def action(forces):
        f = behind.shift.force(forces["b"]) + own
        return before.shift.force(f), np.concatenate([before.S.T @ f, behind.S.T @ forces["b"]])

    return action


def equal(mine: gs.Model, theirs: gs.Model) -> None:
    """By every algorithm of forward dynamics and the mass matrix; energies and operators."""
    q, v, a = random_state(theirs, np.random.default_rng(3))
    assert_close(gs.rnea(mine, q, v, a), gs.rnea(theirs, q, v, a), 1e-10)
    for name in FORWARD:
        answers = [gs.ForwardDynamics(m, name, mode="interpret")(q, v, a) for m in (mine, theirs)]
        assert_close(*answers, 1e-9)
    for name in MASS_MATRIX:
        answers = [gs.MassMatrix(m, name, mode="interpret")(q) for m in (mine, theirs)]
        assert_close(*answers, 1e-9)
    assert_close(gs.kinetic_energy(mine, q, v), gs.kinetic_energy(theirs, q, v), 1e-10)
    assert_close(gs.potential_energy(mine, q), gs.potential_energy(theirs, q), 1e-10)
    found, expected = gs.operators(mine, q, v), gs.operators(theirs, q, v)
    assert_close(found.mass_matrix(), expected.mass_matrix(), 1e-10)
    assert_close(found.rnea(a), expected.rnea(a), 1e-10)
    assert_close(found.aba(a), expected.aba(a), 1e-8)


@pytest.mark.parametrize("base", ["fixed", "free"])
def test_a_kind_derived_from_dh_keeps_its_mass(base):
    place = {"a": 0.1, "alpha": 0.3, "d": 0.2, "theta": 0.4}
    body = gs.RigidBody("x_body", mass=5.0, inertia=(0.003, 0.004, 0.005))
    mine = _between(HeavyLink("x", **place, mass=5.0))(False)
    theirs = (*_between(gs.DHDisplacement("x", **place))(False), body, gs.connect("x.a", "x_body"))
    equal(arm(mine, base=base), arm(theirs, base=base))


def test_a_kind_derived_from_a_locked_rotor_keeps_its_mass():
    given = {"inertia": 0.002, "transverse": 0.001, "axis": (0, 0.6, 0.8), "position": (0.01, 0.02, 0.0)}

    def model(rotor):
        return arm((_hand(), rotor, gs.connect("link.end", "hand"), gs.connect("hand.tip", "x.carrier")))

    mine, theirs = LoadedRotor("x", **given, mass=1.0, more=2.0), gs.LockedRotor("x", **given, mass=3.0)
    equal(model(mine), model(theirs))


def test_a_kind_derived_from_a_rotor_is_computed_with():
    def model(rotor):
        links = gs.connect("tilt.shaft", "g.joint"), gs.connect("g.motor", "r.shaft"), gs.connect("trunk", "r.carrier")
        return arm((_hand(), rotor, gs.Gear("g", ratio=20.0), gs.connect("link.end", "hand"), *links), base="free")

    mine = LightRotor("r", inertia=0.02, share=0.5, axis=(0, 1, 0))
    equal(model(mine), model(gs.RotorInertia("r", inertia=0.01, axis=(0, 1, 0))))


@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("at", ["a", "b"])
def test_a_component_from_elsewhere_carries_a_rotor(base, at):
    def model(*parts, port):
        joint = gs.Joint("elbow", "revolute", axis=(0.6, 0.0, 0.8))
        links = gs.connect(port, "elbow.a"), gs.connect("elbow.b", "hand")
        return arm((*parts, joint, _hand(), *links), base=base).with_drive("elbow", rotor_inertia=1e-4, gear_ratio=80.0)

    met = {"a": "b", "b": "a"}[at]
    mine = model(FlatSlab("x", mass=2.0), gs.connect("link.end", f"x.{met}"), port=f"x.{at}")
    body = gs.RigidBody("x", mass=2.0, inertia=(0.003, 0.004, 0.005))
    equal(mine, model(body, gs.connect("link.end", "x"), port="x.origin"))


def test_a_component_with_more_rates_than_inertia_of_its_own_has_operators():
    """Its second hinge moves only what is behind it."""
    one, two = gs.Joint("x_one", "revolute", axis="x"), gs.Joint("x_two", "revolute", axis="y")
    link = gs.RigidBody("x_link", mass=0.7, com=(0, 0, 0.2), inertia=(0.003, 0.004, 0.005), frames={"end": (0, 0, 0.4)})
    links = ("link.end", "x_one.a"), ("x_one.b", "x_link"), ("x_link.end", "x_two.a"), ("x_two.b", "hand")
    theirs = arm((one, two, link, _hand(), *(gs.connect(*x) for x in links)))
    equal(arm(_between(DoubleHinge("x", mass=0.7, length=0.4))(False)), theirs)


WRONG_STATES = [
    (5, 4, 1, 0, r"5 coordinates, a quaternion at 1, and 4 rates"),
    (5, 4, 0, 0, r"5 coordinates, a quaternion at 0, and 4 rates"),
    (4, 4, 0, 0, r"4 coordinates, a quaternion at 0, and 4 rates"),
    (2, 1, None, 0, r"2 coordinates and 1 rate\b"),
    (0, 1, None, 0, r"0 coordinates and 1 rate\b"),
    (4, 3, 0, 1, r"1 shaft.*quaternion"),
    (1, 1, None, 2, r"2 shafts.*1 rate"),
]


@pytest.mark.parametrize(("nq", "nv", "at", "shafts", "message"), WRONG_STATES)
def test_coordinates_that_are_no_integrals_of_the_rates_are_refused(nq, nv, at, shafts, message):
    class Strange(gs.Entity):
        @property
        def ports(self):
            return gs.Port("a"), gs.Port("b"), *(gs.Port(f"s{k}", "scalar") for k in range(shafts))

        coordinates = property(lambda self: tuple(f"q{k}" for k in range(nq)))
        rates = property(lambda self: tuple(f"v{k}" for k in range(nv)))
        quaternion_at = property(lambda self: at)

    try:
        model = arm(_between(Strange("x"))(False))
        with pytest.raises(gs.SpecError, match=f"strange 'x'.*{message}"):
            gs.check(model)
    finally:
        del gs.Entity.registry["strange"]


@pytest.mark.parametrize("ask", [gs.rnea, gs.aba])
@pytest.mark.parametrize("gravity", [(0.0, 0.0, -9.81), gs.CentralGravity(mu=50.0, centre=(3.0, 1.0, -2.0))])
def test_a_rotor_that_its_carrier_cannot_contain_is_refused_by_every_solver(ask, gravity):
    """Between the two hinges is no body."""
    parts = _hand(), gs.connect("link.end", "hand")
    model = arm(parts, gravity=gravity).with_drive("tilt", rotor_inertia=1e-4, gear_ratio=50.0)
    with pytest.raises(gs.SpecError, match=r"'tilt_drive.rotor'.*more than the 0 kg m\^2"):
        ask(model, np.zeros(2), np.zeros(2), np.zeros(2))


class TrackedHinge(gs.Joint):
    """A joint whose forces are its own."""


class CartOfTwo(DoubleHinge):
    """Its ``mass`` is that of two parts, as it likes."""

    mass: tuple[float, float]  # type: ignore[assignment]


@gs.rne.row(TrackedHinge)
def _(c, on, motion, memo):
    def action(forces):
        (f,) = forces.values()
        return memo.shift.force(f), memo.S.T @ f

    return action


@pytest.mark.parametrize(
    "parts",
    [
        _between(DoubleHinge("x", mass=0.7, length=0.4)),
        _between(TrackedHinge("x", "revolute", axis="z")),
        _between(HeavyLink("x", a=0.1, alpha=0.3, d=0.2, theta=0.4, mass=5.0)),
    ],
)
def test_what_urdf_does_not_know_is_refused_by_name(parts, tmp_path):
    with pytest.raises(gs.SaveError, match=r"'x'.*unknown to URDF"):
        gs.save(arm(parts(False)), tmp_path / "x.urdf")
    assert not (tmp_path / "x.urdf").exists()


@pytest.mark.parametrize("part", [DoubleHinge("x", mass=0.7, length=0.4), CartOfTwo("x", mass=(0.7, 0.1), length=0.4)])
def test_a_mass_that_is_not_known_is_not_added_up(part):
    shown = repr(arm(_between(part)(False)))
    assert "mass 4.8 kg without 'x'" in shown


def test_a_mass_below_zero_is_refused_in_components_from_elsewhere():
    body = FlatSlab("x", mass=-2.0)
    model = arm((body, _hand(), gs.connect("link.end", "x.a"), gs.connect("x.b", "hand")))
    with pytest.raises(gs.RowError, match=r"'x'.*eigenvalue -.*below zero"):
        gs.crba(model, np.zeros(2))


def test_the_reference_frame_is_not_offered_for_detaching():
    model = arm((_hand(), gs.connect("link.end", "hand")), base="free")
    with pytest.raises(gs.SpecError, match=r"nothing in the model has mass. Hint: pass check=False"):
        model.detach("trunk")
