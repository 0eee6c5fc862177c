"""Weight, gradient torque and energy in a field of gravity come from one potential."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.spatial.gravity import gravity
from gyrostat.spatial.inertia import SpatialInertia
from tests.support.comparing import REPRESENTATIONS, assert_close, assert_differs, central

MU, CENTRE = 40.0, np.array([0.5, -2.0, 1.5])


def pull(p):
    r = p - CENTRE
    return -MU * r / (r @ r) ** 1.5


def pull_gradient(p):
    r = p - CENTRE
    return MU * (3.0 * np.outer(r, r) / (r @ r) ** 2.5 - np.eye(3) / (r @ r) ** 1.5)


def well(p):
    return -MU / np.sqrt((p - CENTRE) @ (p - CENTRE))


def hills(p):
    """No symmetry at all."""
    return 3.0 * np.sin(p[0]) * np.cos(0.5 * p[1]) + 0.2 * p[2] ** 3 + np.exp(0.3 * p[0] * p[2]) - 9.81 * p[1]


CENTRAL = gs.CentralGravity(mu=MU, centre=tuple(CENTRE))
LAWS = {
    "central": CENTRAL,
    "the potential of a centre": gs.GravityField(potential=well),
    "a potential": gs.GravityField(potential=hills),
    "points in a potential": gs.GravityField(potential=hills, extended=False),
    "everything given": gs.GravityField(potential=well, field=pull, gradient=pull_gradient),
    "potential and field": gs.GravityField(potential=well, field=pull),
    "uniform field": gs.UniformGravity(g=(1.0, -2.0, 3.0), treat_as="field"),
    "uniform": gs.UniformGravity(g=(1.0, -2.0, 3.0)),
}
INERTIA = ((0.9, 0.1, -0.05), (0.1, 1.4, 0.2), (-0.05, 0.2, 0.8))


def satellite(law):
    """One long body, its frame away from its centre of mass."""
    body = gs.RigidBody("hull", mass=3.0, com=(0.2, -0.1, 0.3), inertia=INERTIA, momentum=(0.1, 0.4, 0.0))
    return gs.assemble("satellite", body, gs.connect("world", "hull.origin"), gravity=law, base="free")


def panels(law, base="free"):
    """A hull with a wing on a hinge, a ball joint, a slide met from its far side; a geared rotor, one with its own
    mass."""
    hull = gs.RigidBody("hull", mass=3.0, com=(0.2, -0.1, 0.3), inertia=INERTIA, frames={"side": (0.4, 0.1, 0.0)})
    wing = gs.RigidBody("wing", mass=1.0, com=(0.5, 0.0, 0.1), inertia=(0.1, 0.6, 0.5), frames={"tip": (0.9, 0, 0)})
    dish = gs.RigidBody("dish", mass=0.7, com=(0.0, 0.2, 0.1), inertia=(0.2, 0.15, 0.1))
    boom = gs.RigidBody("boom", mass=0.4, com=(0.1, 0.0, 0.3), inertia=(0.1, 0.1, 0.02))
    parts = [
        gs.Joint("hinge", "revolute", axis="y"),
        gs.Joint("ball", "spherical"),
        gs.Joint("slide", "prismatic", axis="z"),
    ]
    joined = [
        gs.connect("world", "hull.origin"), gs.connect("hull.side", "hinge.a", "slide.b"),
        gs.connect("hinge.b", "wing.origin"), gs.connect("wing.tip", "ball.a"), gs.connect("ball.b", "dish.origin"),
        gs.connect("slide.a", "boom.origin"),
    ]  # fmt: skip
    model = gs.assemble("panels", hull, wing, dish, boom, *parts, *joined, gravity=law, base=base)
    rotor = {"mass": 0.3, "transverse": 0.002, "position": (0.1, 0.0, 0.2)}
    model = model.with_drive("hinge", gear_ratio=30.0, rotor_inertia=0.003, rotor=rotor, lumped=False)
    return model.with_drive("slide", gear_ratio=10.0, rotor_inertia=0.001)


MODELS = {"satellite": satellite, "panels": panels, "arm": lambda law: panels(law, "fixed")}


def state(model, names="qva", seed=1):
    rng = np.random.default_rng(seed)
    return [gs.random_configuration(model, rng) if n == "q" else rng.uniform(-1.0, 1.0, model.nv) for n in names]


def slope(function, model, q):
    """Derivative of a function of q along the rates."""
    return np.array([central(lambda s, e=e: function(gs.integrate(model, q, e, s)), 0.0) for e in np.eye(model.nv)])


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("law", LAWS)
def test_the_weight_is_the_derivative_of_the_energy(law, kind):
    model = MODELS[kind](LAWS[law])
    (q,) = state(model, "q")
    rest = np.zeros(model.nv)
    U = gs.PotentialEnergy(model)
    expected = slope(U, model, q)
    assert_close(gs.GravityForces(model, mode="interpret")(q), expected, 1e-9)
    assert_close(gs.InverseDynamics(model, mode="interpret")(q, rest, rest), expected, 1e-9)
    assert_close(gs.PotentialEnergy(model, mode="interpret")(q), U(q), 1e-13)
    if kind == "satellite":
        assert_close(gs.rnea(model, q, rest, rest), expected, 1e-9)


@pytest.mark.parametrize(("law", "rep"), [*(("central", rep) for rep in REPRESENTATIONS), ("a potential", "inertial")])
def test_every_algorithm_and_representation_agrees(law, rep):
    model = panels(LAWS[law])
    q, v, a = state(model)
    tau = gs.InverseDynamics(model, mode="interpret")(q, v, a)
    assert_close(gs.InverseDynamics(model, rep, mode="interpret")(q, v, a), tau, 1e-11)
    assert_close(gs.operators(model, q, v, representation=rep).rnea(a), tau, 1e-11)
    assert_close(gs.InverseDynamics(model, rep, "newton-euler", mode="interpret")(q, v, a), tau, 1e-11)
    for algorithm in gs.ForwardDynamics.algorithms:
        assert_close(gs.ForwardDynamics(model, algorithm, rep, mode="interpret")(q, v, tau), a, 1e-9)
    terms = gs.EquationsOfMotion(model, rep, mode="interpret")(q, v)
    assert_close(terms.D @ a + terms.C @ v + terms.G + terms.Q, tau, 1e-11)


def test_a_potential_of_the_user_equals_the_built_in_one():
    models = [panels(LAWS[law]) for law in ("central", "the potential of a centre", "everything given")]
    q, v, a = state(models[0])
    for model in models[1:]:
        assert_close(gs.rnea(model, q, v, a), gs.rnea(models[0], q, v, a), 1e-12)
        assert_close(gs.potential_energy(model, q), gs.potential_energy(models[0], q), 1e-12)
        fields = gs.GravityField(field=pull, gradient=pull_gradient), gs.GravityField(field=pull, extended=True)
    for law in fields:
        assert_close(gs.rnea(panels(law), q, v, a), gs.rnea(models[0], q, v, a), 1e-12)


def test_the_second_order_energy_is_that_of_maccullagh():
    """U = -mu m/r - mu (tr J - 3 n.J n) / (2 r^3)."""
    model = satellite(CENTRAL)
    (q,) = state(model, "q")
    R, p = (getattr(gs.fk(model, q)["hull"], x) for x in "Rp")
    r = p + R @ np.array([0.2, -0.1, 0.3]) - CENTRE
    n, J = r / np.linalg.norm(r), R @ np.array(INERTIA) @ R.T
    point = -MU * 3.0 / np.linalg.norm(r)
    U = point - MU * (np.trace(J) - 3.0 * n @ J @ n) / (2.0 * np.linalg.norm(r) ** 3)
    assert_close(gs.potential_energy(model, q), U, 1e-13)
    assert_differs(U, point)


@pytest.mark.parametrize("law", LAWS)
def test_the_energy_follows_from_the_inertia_about_the_origin_too(law):
    pose = gs.spatial.representation.Pose(gs.fk(satellite(CENTRAL), [0, 0, 0, 0.6, 0, 0, 0.8])["hull"].R, np.ones(3))
    body, field = (2.0, np.array([0.3, -0.2, 0.1]), np.array(INERTIA)), gravity(LAWS[law])
    assert_close(field.energy_of(pose, SpatialInertia.at_centre(*body)), field.energy(pose, *body), 1e-13)
    assert field.energy_of(pose, SpatialInertia(0.0, np.zeros(3), np.zeros((3, 3)))) == 0.0


def momentum_about_the_centre(model, q, v):
    h, (p, c_rate) = gs.centroidal_momentum(model, q, v), gs.center_of_mass(model, q, v)
    m = gs.total_inertia(model, q).m
    return h[..., :3] + np.cross(p - CENTRE, np.asarray(m)[..., None] * c_rate)


@pytest.mark.parametrize("rep", REPRESENTATIONS)
@pytest.mark.parametrize("algorithm", gs.ForwardDynamics.algorithms)
def test_every_free_motion_keeps_energy_and_angular_momentum(algorithm, rep):
    """Their rates along the accelerations of each algorithm: no integration, no error of steps."""
    model = panels(CENTRAL)
    q, v = state(model, "qv")
    a = gs.ForwardDynamics(model, algorithm, rep, mode="interpret")(q, v, np.zeros(model.nv))

    def along(function):
        def at(s):
            """Second order in s is enough for a rate."""
            return function(gs.integrate(model, q, v + 0.5 * s * a, s), v + s * a)

        return central(at, 0.0, 1e-3)

    assert_close(along(lambda x, y: gs.kinetic_energy(model, x, y) + gs.potential_energy(model, x)), 0.0, 1e-8)
    assert_close(along(lambda x, y: momentum_about_the_centre(model, x, y)), np.zeros(3), 1e-8)


@pytest.mark.parametrize("build", [satellite, panels])
def test_a_simulated_satellite_keeps_energy_and_angular_momentum(build):
    model = build(gs.CentralGravity(mu=MU, centre=tuple(CENTRE)))
    q = gs.neutral(model)
    q[:3] = CENTRE + np.array([4.0, 0.0, 0.0])
    v = np.r_[0.3, 0.2, -0.4, 0.0, 3.0, 0.5, np.full(model.nv - 6, 0.1)]
    run = gs.simulate(model, None, q, v, 4.0, rtol=1e-10, atol=1e-12, t_eval=np.linspace(0.0, 4.0, 41))
    energy = gs.kinetic_energy(model, run.q, run.v) + gs.potential_energy(model, run.q)
    spin = momentum_about_the_centre(model, run.q, run.v)
    assert np.ptp(energy) < 1e-8 * np.abs(energy).max()
    assert np.ptp(spin, axis=0).max() < 1e-8 * np.abs(spin).max()
    points = build(gs.GravityField(potential=well, extended=False))
    assert_differs(gs.aba(points, q, v, 0.0 * v), gs.aba(model, q, v, 0.0 * v))


def test_a_cloud_of_points_feels_what_a_body_feels_to_third_order():
    """The potential is neglected from the third order of the size on, and so are its derivatives."""
    rng = np.random.default_rng(4)
    points, masses = rng.normal(size=(6, 3)), rng.uniform(0.3, 1.0, 6)
    points -= masses @ points / masses.sum()
    sizes, errors = np.array([0.04, 0.02, 0.01]), []
    for law in (LAWS["central"], LAWS["a potential"]):
        field, c = gravity(law), np.array([0.4, 0.2, -0.3])
        pose = gs.spatial.representation.Pose(np.eye(3), c)
        for size in sizes:
            r = points * size
            J = sum(m * ((x @ x) * np.eye(3) - np.outer(x, x)) for m, x in zip(masses, r, strict=True))
            wrench = field.weight(pose, masses.sum(), np.zeros(3), J)
            f = [m * field.field(c + x) for m, x in zip(masses, r, strict=True)]
            exact = np.r_[sum(np.cross(x, y) for x, y in zip(r, f, strict=True)), sum(f)]
            energy = sum(m * field.potential(c + x) for m, x in zip(masses, r, strict=True))
            off = field.energy(pose, masses.sum(), np.zeros(3), J) - energy
            errors.append([np.abs(wrench - exact)[:3].max(), np.abs(wrench - exact)[3:].max(), abs(off)])
    for found in np.array(errors).reshape(2, 3, 3):
        orders = [np.polyfit(np.log(sizes), np.log(column), 1)[0] for column in found.T]
        assert np.allclose(orders, 3.0, atol=0.25), orders


# ------------------------------------------------------------------------------------------------ derivatives, rates
def test_derivatives_in_a_field_are_exact():
    model = panels(LAWS["a potential"], "fixed")
    q, v, a = state(model)
    found = gs.rnea_derivatives(model, q, v, a)
    assert_close(found.dtau_dq, slope(lambda x: gs.rnea(model, x, v, a), model, q).T, 1e-8)


def test_elastic_joints_in_a_field_of_the_user():
    def arm(law):
        body = gs.RigidBody("rod", mass=2.0, com=(0.3, 0.0, 0.1), inertia=INERTIA)
        model = gs.assemble("arm", gs.chain("world", gs.Joint("hinge", "revolute", axis="y"), body), gravity=law)
        return model.with_drive("hinge", gear_ratio=10.0, rotor_inertia=0.01, stiffness=200.0)

    one, two = (gs.ElasticInverseDynamics(arm(LAWS[law])) for law in ("central", "the potential of a centre"))
    derivatives = np.random.default_rng(0).normal(size=(one.order + 1, 1))
    assert_close(two(derivatives).tau_motor, one(derivatives).tau_motor, 1e-11)


def test_a_live_body_in_a_field_of_the_user():
    model = panels(LAWS["a potential"])
    changed = model.replace({"wing.mass": 2.5, "wing.com": (0.4, 0.1, 0.0)})
    solver = gs.InverseDynamics(model, live=["wing.mass", "wing.com"])
    solver.refresh(changed)
    q, v, a = state(model)
    assert_close(solver(q, v, a), gs.rnea(changed, q, v, a), 1e-12)


# ------------------------------------------------------------------------------------------------ what is refused
def test_an_acceleration_alone_acts_at_centres_of_mass_and_has_no_energy():
    model = panels(gs.GravityField(field=pull))
    (q,) = state(model, "q")
    points = panels(gs.GravityField(potential=well, extended=False))
    assert_close(gs.gravity(model, q), gs.gravity(points, q), 1e-12)
    with pytest.raises(gs.StateError, match=r"acceleration only, without a potential.*GravityField\(potential="):
        gs.potential_energy(model, q)


def test_functions_that_contradict_each_other_are_refused():
    for law, what in (
        (gs.GravityField(potential=well, field=lambda p: -pull(p)), r"'gravity.field' differs from minus the"),
        (gs.GravityField(field=pull, gradient=lambda p: -pull_gradient(p)), r"'gravity.gradient' differs from the"),
        (gs.GravityField(field=lambda p: np.array([-p[1], p[0], 0.0]), extended=True), r"turns has no potential"),
    ):  # fmt: skip
        model = satellite(law)
        with pytest.raises(gs.SpecError, match=what):
            gs.rnea(model, *state(model))


def test_a_field_without_functions_is_refused():
    for law in (gs.GravityField(), gs.GravityField(gradient=pull_gradient)):
        with pytest.raises(gs.SpecError, match="neither a field nor a potential"):
            gs.rnea(model := satellite(law), *state(model))
    with pytest.raises(gs.SpecError, match="extended=False"):
        gs.check(satellite(gs.GravityField(field=pull, gradient=pull_gradient, extended=False)))


def test_a_potential_that_cannot_be_differentiated_is_refused():
    import math

    model = satellite(gs.GravityField(potential=lambda p: math.exp(float(p[0]))))
    with pytest.raises(gs.StateError, match=r"potential\(p\) cannot be differentiated.*plain NumPy.*extended=False"):
        gs.rnea(model, *state(model))


def test_what_functions_return_is_examined():
    for law, what in (
        (gs.GravityField(potential=lambda p: p), r"potential\(p\) has shape \(3,\), expected \(\)"),
        (gs.GravityField(field=lambda p: p[:2]), r"field\(p\) has shape \(2,\), expected \(3,\)"),
        (gs.GravityField(field=pull, gradient=lambda p: p), r"gradient\(p\) has shape \(3,\), expected \(3, 3\)"),
    ):
        model = satellite(law)
        with pytest.raises(gs.ShapeError, match=what):
            gs.rnea(model, *state(model))
