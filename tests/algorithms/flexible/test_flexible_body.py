"""A flexible body as a component: all mountings, algorithms and representations; energy, momentum, limits, files."""

import numpy as np
import pytest

import gyrostat as gs
from tests.support.flexible_product import flexible_body
from tests.support.flexible_solids import STEEL, bar, bar_mesh, face

MOUNTINGS = (("left", "right", "middle"), ("right", "left", "middle"), ("middle", "right", "left"))
"""Entry, and where a load and something beside hang."""
FEW = (("aba", "absolute"), ("crba", "inertial"), ("mrnea", "body"))


def arm(entry="left", leave="right", beside="middle", base="fixed", body=None, gravity=(0, 0, -9.81)):
    """Two hinges, a bar, bodies at its other interfaces."""
    hinges = gs.Joint("pan", "revolute", axis="z"), gs.Joint("tilt", "revolute", axis="y")
    load = gs.RigidBody("load", mass=0.7, com=(0.05, 0.02, -0.03), inertia=(1e-3, 2e-3, 1.5e-3))
    other = gs.RigidBody("beside", mass=0.3, com=(0.0, 0.02, 0.01), inertia=(1e-3, 2e-3, 1.5e-3))
    wires = [("world", "pan.a"), ("pan.b", "tilt.a"), ("tilt.b", f"arm.{entry}"), (f"arm.{leave}", "load")]
    wires.append((f"arm.{beside}", "beside"))
    parts = (*hinges, body or soft(), load, other)
    return gs.assemble("arm", *parts, *(gs.connect(*w) for w in wires), base=base, gravity=gravity)


def soft(**options):
    return bar(modes=0, highest=20.0, **options)


@pytest.fixture(scope="module", params=MOUNTINGS, ids=lambda m: m[0])
def mounted(request):
    return arm(*request.param)


def state(model, seed=0):
    rng = np.random.default_rng(seed)
    small = np.array(["arm." in name for name in model.dofs])
    q, v, a = (rng.normal(size=model.nv) for _ in range(3))
    return np.where(small, 0.03 * q, q), np.where(small, 0.3 * v, v), a


def test_forward_dynamics_undo_inverse_dynamics_in_every_way(mounted):
    q, v, a = state(mounted)
    tau = gs.rnea(mounted, q, v, a)
    for method, name in FEW:
        again = gs.ForwardDynamics(mounted, method, representation=name)(q, v, tau)
        assert np.abs(again - a).max() < 1e-8, (method, name)
    M = gs.crba(mounted, q)
    assert np.linalg.eigvalsh(M)[0] > 0.0
    assert np.allclose(gs.MassMatrix(mounted, "mrnea")(q), M, rtol=0.0, atol=1e-12 * np.abs(M).max())


@pytest.mark.slow
def test_all_algorithms_in_all_representations(mounted):
    q, v, a = state(mounted)
    tau = gs.rnea(mounted, q, v, a)
    for method in ("aba", "crba", "mrnea"):
        for name in ("body", "inertial", "absolute"):
            again = gs.ForwardDynamics(mounted, method, representation=name)(q, v, tau)
            assert np.abs(again - a).max() < 1e-8, (method, name)


def test_power_is_the_rate_of_energy(mounted):
    q, v, a = state(mounted)
    h = 1e-4

    def energy(t):
        moved = q + t * v + t * t / 2 * a
        return gs.kinetic_energy(mounted, moved, v + t * a) + gs.potential_energy(mounted, moved)

    rate = (8 * (energy(h) - energy(-h)) - energy(2 * h) + energy(-2 * h)) / (12 * h)
    assert abs(v @ gs.rnea(mounted, q, v, a) - rate) < 1e-8 * abs(rate)


def test_kinetic_energy_is_that_of_the_finite_elements():
    """A sum over nodes with the FE mass matrix, of velocities in space: rotation, deformation and what is between."""
    body = soft()
    model = gs.assemble("free", body, gs.connect("world", "arm.left"), base="free", gravity=(0, 0, 0))
    rng = np.random.default_rng(1)
    n = len(body.stiffness)
    q = np.concatenate([gs.random_configuration(model, rng)[:7], rng.normal(size=n) * 0.05])
    v = np.concatenate([rng.normal(size=6), rng.normal(size=n)])
    fe = body._recovery.model
    r = body.nodes - np.array([0.0, 0.03, 0.02]) + body.displacement(q[7:])
    velocity = v[3:6] + np.cross(v[:3], r) + body.displacement(v[6:])
    assert gs.kinetic_energy(model, q, v) == pytest.approx(
        0.5 * velocity.ravel() @ (fe.M @ velocity.ravel()), rel=1e-12
    )
    assert gs.potential_energy(model, q) == pytest.approx(
        0.5 * (u := body.displacement(q[7:]).ravel()) @ (fe.K @ u), rel=1e-7
    )


def test_free_flight_keeps_energy_and_momentum():
    model = gs.assemble(
        "flight", soft(), gs.RigidBody("load", mass=0.7, com=(0.05, 0.02, 0), inertia=(1e-3, 2e-3, 1.5e-3)),
        gs.connect("world", "arm.left"), gs.connect("arm.right", "load"), base="free", gravity=(0, 0, 0),
    )  # fmt: skip
    n = model.nv - 6
    q = np.concatenate([[0, 0, 0, 0, 0, 0, 1.0], np.linspace(0.03, -0.01, n)])
    v = np.concatenate([[0.5, 2.0, 3.0, 0.1, 0.2, 0.3], np.linspace(0.5, -0.5, n)])
    run = gs.simulate(
        model, None, q, v, 0.3, method="dopri5", rtol=1e-11, atol=1e-12, t_eval=[0.0, 0.3], progress=False
    )
    energy = [gs.kinetic_energy(model, *x) + gs.potential_energy(model, x[0]) for x in zip(run.q, run.v, strict=True)]
    momentum = [gs.centroidal_momentum(model, *x) for x in zip(run.q, run.v, strict=True)]
    assert energy[1] == pytest.approx(energy[0], rel=1e-8)
    assert np.allclose(momentum[1], momentum[0], rtol=0, atol=1e-8 * np.abs(momentum[0]).max())
    assert np.abs(run.q[1, 7:] - run.q[0, 7:]).max() > 1e-3


def test_a_stiff_body_tends_to_the_rigid_one():
    mesh, interfaces = bar_mesh(cells=(4, 1, 1)), {"left": face(0.0), "middle": face(0.5), "right": face(1.0)}
    rigid = gs.RigidBody(
        "arm", mass=2.88, com=(0.5, 0, 0), frames={"left": (0, 0, 0), "middle": (0.5, 0, 0), "right": (1.0, 0, 0)},
        inertia=2.88 / 12 * np.array([0.06**2 + 0.04**2, 1 + 0.04**2, 1 + 0.06**2]),
    )  # fmt: skip
    errors = []
    x, dx, ddx = np.array([0.3, -0.4]), np.array([1.0, 2.0]), np.array([0.5, -0.7])
    expected = gs.rnea(arm(body=rigid), x, dx, ddx)
    for E in (2e9, 2e11, 2e13):
        body = gs.FlexibleBody.from_mesh(mesh, {"E": E, "nu": 0.3, "density": 1200.0}, interfaces, 0, name="arm")
        model = arm(body=body)
        n = model.nv - 2
        q, none = np.concatenate([x, np.zeros(n)]), np.zeros(n)
        for _ in range(3):  # the deformation that follows the motion without vibration
            u = gs.rnea(model, q, np.concatenate([dx, none]), np.concatenate([ddx, none]))
            q[2:] -= np.linalg.solve(np.asarray(body.stiffness), u[2:])
        tau = gs.rnea(model, q, np.concatenate([dx, none]), np.concatenate([ddx, none]))
        errors.append(np.abs(tau[:2] / expected - 1).max())
    assert errors[1] < errors[0] / 50 and errors[2] < errors[1] / 50 and errors[2] < 2e-6


def test_frequencies_of_a_held_body_are_its_own():
    body = bar(soft=False)
    model = gs.assemble("held", body, gs.connect("world", "arm.left"), gravity=(0, 0, 0))
    f = gs.eigenfrequencies(model, np.zeros(model.nv)).undamped
    assert np.allclose(f, body.frequencies, rtol=1e-7)


def test_a_body_has_weight_in_a_field_of_gravity():
    field = gs.UniformGravity(g=(0, 0, -9.81), treat_as="field")
    one, two = arm(), arm(gravity=field)
    q, v, a = state(one)
    assert np.allclose(gs.rnea(one, q, v, a), gs.rnea(two, q, v, a), rtol=1e-11, atol=1e-9)


def test_a_model_with_a_body_goes_to_a_file_and_back(tmp_path):
    model = arm()
    gs.save(model, tmp_path / "arm.yaml")
    again = gs.load(tmp_path / "arm.yaml")
    q, v, a = state(model)
    assert np.array_equal(gs.rnea(again, q, v, a), gs.rnea(model, q, v, a))
    entity = again.wiring.entities["arm"]
    with pytest.raises(gs.StateError, match="stress needs the finite elements, which are not stored with a model"):
        entity.stress(np.zeros(len(entity.stiffness)))


def test_stiffness_can_be_live():
    model = arm()
    q, v, a = state(model)
    solver = gs.InverseDynamics(model, live=["arm.stiffness"])
    K = np.asarray(soft().stiffness)
    once = solver(q, v, a)
    assert np.allclose(once, gs.rnea(model, q, v, a))
    solver.refresh(arm(body=soft().model_copy(update={"stiffness": tuple(map(tuple, 2.0 * K))})))
    assert np.allclose(solver(q, v, a)[2:] - once[2:], K @ q[2:])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mass": -1.0}, "'mass' must be positive, got -1 kg"),
        ({"C1": np.zeros((3, 2))}, r"'C1' has shape \(3, 2\), expected \(3, "),
        ({"stiffness": -np.asarray(bar(modes=0, highest=20.0).stiffness)}, "'stiffness' has the eigenvalue -"),
        ({"damping": np.zeros((2, 2))}, r"'damping' has shape \(2, 2\)"),
        ({"C2": "much"}, "'C2' must be an array of numbers"),
    ],
)
def test_mistakes_are_told(change, message):
    body = soft()
    fields = {key: getattr(body, key) for key in type(body).model_fields if key != "name"}
    with pytest.raises(gs.SpecError, match=message):
        gs.check(arm(body=gs.FlexibleBody("arm", **(fields | change))))


def test_a_first_interface_that_moves_is_refused():
    body = soft()
    fields = {key: getattr(body, key) for key in type(body).model_fields if key != "name"}
    fields["interfaces"] = body.interfaces[::-1]
    with pytest.raises(
        gs.SpecError, match="interface 'right' is the first, and is not, or does not stay, at the origin"
    ):
        gs.check(arm(body=gs.FlexibleBody("arm", **fields)))


def test_a_tilted_first_interface_changes_the_axes_only():
    R = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    interfaces = {"left": {"group": "left", "R": R}, "right": {"group": "right", "at": (1.0, 0.03, 0.02)}}
    plain = gs.FlexibleBody.from_mesh(bar_mesh(cells=(4, 1, 1)), STEEL, {"left": "left", "right": "right"}, 2)
    turned = gs.FlexibleBody.from_mesh(bar_mesh(cells=(4, 1, 1)), STEEL, interfaces, 2)
    assert np.allclose(turned.first_moment, R.T @ np.array(plain.first_moment))
    assert np.allclose(turned.interfaces[1].translation, R.T @ np.array(plain.interfaces[1].translation))
    assert np.allclose(turned.frequencies, plain.frequencies, rtol=1e-9)


def test_velocity_forces_are_those_of_lagrange(mounted):
    """tau - M a at rest of gravity and strain is C(q, v) v with Christoffel's symbols of M(q), by differences of M."""
    q, v, a = state(mounted)
    M = gs.MassMatrix(mounted)
    h = 1e-3
    dM = []
    for k in range(mounted.nv):
        e = h * np.eye(mounted.nv)[k]
        dM.append((8 * (M(q + e) - M(q - e)) - M(q + 2 * e) + M(q - 2 * e)) / (12 * h))
    D = np.array(dM)  # dM_ij / dq_k at [k, i, j]
    expected = np.einsum("kij,j,k->i", D, v, v) - 0.5 * np.einsum("kij,i,j->k", D, v, v)
    found = gs.rnea(mounted, q, v, a) - gs.rnea(mounted, q, 0 * v, 0 * a) - M(q) @ a
    assert np.abs(found - expected).max() < 1e-8 * np.abs(expected).max()


def test_derivatives_are_those_by_differences(mounted):
    q, v, a = state(mounted)
    found, h = gs.rnea_derivatives(mounted, q, v, a), 1e-4
    for name, at in (("dtau_dq", 0), ("dtau_dv", 1), ("dtau_da", 2)):
        columns = []
        for e in h * np.eye(mounted.nv):
            moved = [[x + s * e * (k == at) for k, x in enumerate((q, v, a))] for s in (1, -1, 2, -2)]
            one, two, three, four = (gs.rnea(mounted, *x) for x in moved)
            columns.append((8 * (one - two) - three + four) / (12 * h))
        expected = np.stack(columns, axis=1)
        given = gs.crba(mounted, q) if name == "dtau_da" else getattr(found, name)
        assert np.abs(given - expected).max() < 1e-7 * max(1.0, np.abs(expected).max()), name


def test_every_particle_of_a_body_feels_a_field_that_varies():
    """A potential that is quadratic is its own expansion: forces on the shapes are those on the particles."""
    rng = np.random.default_rng(4)  # the particles of flexible_body
    r = rng.normal(size=(9, 3)) * (0.3, 0.1, 0.1) + (0.4, 0.0, 0.0)
    m, phi = rng.uniform(0.2, 0.6, 9), rng.normal(size=(9, 3, 3)) * r[:, :1, None]
    A = np.array([[2.0, 0.3, -0.4], [0.3, 1.0, 0.5], [-0.4, 0.5, -1.5]])
    b = np.array([0.5, -1.0, 9.81])
    field = gs.GravityField(potential=lambda p: 0.5 * (p @ (A @ p)) + b @ p)
    body = flexible_body()
    wires = gs.connect("world", "hinge.a"), gs.connect("hinge.b", "boom.a")
    model = gs.assemble("held", gs.Joint("hinge", "revolute", axis="z"), body, *wires, gravity=field)
    q = np.array([0.7, 0.02, -0.03, 0.01])
    R = np.array([[np.cos(0.7), -np.sin(0.7), 0.0], [np.sin(0.7), np.cos(0.7), 0.0], [0.0, 0.0, 1.0]])
    there = (r + phi @ q[1:]) @ R.T
    g = -(there @ A + b) * m[:, None]
    shapes = np.einsum("pan,pa->n", phi, g @ R)
    expected = np.concatenate([[-np.cross(there, g).sum(axis=0)[2]], np.asarray(body.stiffness) @ q[1:] - shapes])
    tau = gs.rnea(model, q, np.zeros(4), np.zeros(4))
    assert np.abs(tau - expected).max() < 1e-12 * np.abs(expected).max()
