"""What a flexible beam must do: conserve energy and momentum, buckle, stiffen when it turns, tend to a rigid link."""

import numpy as np

import gyrostat as gs
from tests.support.flexible_models import ALUMINIUM, bent_state, boom_arm, cantilever

SOFT = ALUMINIUM | {"E": 2e8, "G": 1e8}


def free_beam(**beam):
    boom = gs.FlexibleBeam("boom", **(SOFT | {"length": 1.0} | beam))
    hub = gs.RigidBody("hub", mass=0.5, inertia=(2e-3, 3e-3, 4e-3))
    load = gs.RigidBody("load", mass=0.3, com=(0.02, 0.01, 0.0), inertia=(1e-3, 1e-3, 2e-3))
    wires = gs.connect("world", "hub"), gs.connect("hub", "boom.a"), gs.connect("boom.b", "load")
    return gs.assemble("free", hub, boom, load, *wires, base="free", gravity=(0, 0, 0))


def test_a_free_beam_keeps_energy_and_momentum():
    model = free_beam(modes=2, modes_x=(1, 0))
    q, v = gs.neutral(model), np.zeros(model.nv)
    q[7:9], v[:6] = (0.1, 0.02), (0.5, 1.0, -2.0, 0.3, 0.1, 0.2)
    run = gs.simulate(model, None, q, v, 2.0, method="dopri5", rtol=1e-11, atol=1e-12, progress=False)
    energy = gs.kinetic_energy(model, run.q, run.v) + gs.potential_energy(model, run.q)
    assert np.abs(energy / energy[0] - 1.0).max() < 1e-9
    assert np.abs(run.q[:, 7:]).max() > 0.1  # a tenth of its length
    momentum = gs.centroidal_momentum(model, run.q, run.v)
    assert np.abs(momentum - momentum[0]).max() < 1e-8 * np.abs(momentum[0]).max()


def test_a_stiff_beam_tends_to_the_rigid_link():
    errors = []
    rng = np.random.default_rng(1)
    q, v, a = rng.normal(size=(3, 2))
    body = {"mass": 1.296, "com": (0.6, 0, 0)}
    line, J = 2700.0 * 1.2, np.array([3.4e-8, 0.0, 0.0])
    rigid = gs.RigidBody(
        "boom", **body, inertia=line * J + 1.296 * 1.44 / 12 * np.array([0, 1, 1]), frames={"b": (1.2, 0, 0)}
    )
    hinges = gs.Joint("pan", "revolute", axis="z"), gs.Joint("tilt", "revolute", axis="y")
    load = gs.RigidBody("load", mass=0.7, com=(0.05, 0.02, -0.03), inertia=(1e-3, 2e-3, 1.5e-3))
    expected = gs.rnea(
        gs.assemble("rigid", gs.chain("world", *hinges, rigid), load, gs.connect("boom.b", "load")), q, v, a
    )
    for E in (2e12, 2e14):
        boom = gs.FlexibleBeam("boom", **(ALUMINIUM | {"length": 1.2, "E": E, "G": E, "modes": 3}))
        wires = ("world", "pan.a"), ("pan.b", "tilt.a"), ("tilt.b", "boom.a"), ("boom.b", "load")
        model = gs.assemble("m", *hinges, boom, load, *(gs.connect(*w) for w in wires))
        x, n, tau = np.zeros(model.nv), model.nv - 2, np.zeros(0)
        for _ in range(3):  # the shape that stays still in the beam
            x[:2] = q
            tau = gs.rnea(model, x, np.r_[v, np.zeros(n)], np.r_[a, np.zeros(n)])
            K = gs.rnea_derivatives(model, x, np.r_[v, np.zeros(n)], np.r_[a, np.zeros(n)]).dtau_dq[2:, 2:]
            x[2:] -= np.linalg.solve(K, tau[2:])
        errors.append(np.abs(tau[:2] / expected - 1.0).max())
    assert errors[0] < 1e-3
    assert 50.0 < errors[0] / errors[1] < 200.0  # as the deflection


def test_the_critical_load_is_eulers():
    """A dead force F at the tip, along -x: K - F int f' f' / L is singular at pi^2 E I / (4 L^2)."""
    model = cantilever((6, 0), length=2.0)
    EI = ALUMINIUM["E"] * ALUMINIUM["I_z"]

    def least(F):
        push = gs.ForceElement("push", wrench=(0, 0, 0, -F, 0, 0), expressed_in="aligned")
        loaded = gs.assemble(
            "column",
            model["boom"],
            push,
            gs.connect("world", "boom.a"),
            gs.connect("boom.b", "push"),
            gravity=(0, 0, 0),
        )
        rest = np.zeros(6)
        return np.linalg.eigvalsh(gs.rnea_derivatives(loaded, rest, rest, rest).dtau_dq)[0]

    low, high = 0.9 * np.pi**2 * EI / 16, 1.1 * np.pi**2 * EI / 16
    for _ in range(3):
        low, high = high, high - least(high) * (high - low) / (least(high) - least(low))
    assert abs(high / (np.pi**2 * EI / 16) - 1.0) < 1e-8


def test_turning_stiffens():
    """First flap frequency of a turning cantilever without hub: w^2 = w_0^2 + s Omega^2, s = 1.193 (Southwell)."""
    hinge, line = gs.Joint("hinge", "revolute", axis="z"), ALUMINIUM["density"] * ALUMINIUM["area"]
    boom = gs.FlexibleBeam("boom", **(ALUMINIUM | {"length": 1.0}), modes=(0, 8), modes_x=0)
    model = gs.assemble(
        "rotor", hinge, boom, gs.connect("world", "hinge.a"), gs.connect("hinge.b", "boom.a"), gravity=(0, 0, 0)
    )
    rest, M = np.zeros(model.nv), gs.crba(model, np.zeros(model.nv))[1:, 1:]
    w0 = 1.875104068711961**2 * np.sqrt(ALUMINIUM["E"] * ALUMINIUM["I_y"] / line)

    def squared(Omega):
        v = np.r_[Omega * w0, np.zeros(8)]
        K = gs.rnea_derivatives(model, rest, v, rest).dtau_dq[1:, 1:]
        return np.linalg.eigvals(np.linalg.solve(M, K)).real.min() / w0**2

    # Wright, Smith, Thresher and Wang (1982): flapping of a uniform beam, eta = Omega L^2 sqrt(line / EI) = 12
    eta = 12.0
    assert np.isclose(np.sqrt(squared(eta / 1.875104068711961**2)) * 1.875104068711961**2, 13.1702, atol=2e-4)


def test_derivatives_are_those_of_the_torques():
    model = boom_arm(modes=(2, 1))
    q, v, a = bent_state(model)
    found = gs.rnea_derivatives(model, q, v, a)
    for k, unit in enumerate(np.eye(model.nv)):
        for slope, at, h in (
            (found.dtau_dq, lambda x: gs.rnea(model, q + x, v, a), 1e-4),
            (found.dtau_dv, lambda x: gs.rnea(model, q, v + x, a), 0.1),
        ):
            e = h * unit
            expected = (8 * (at(e) - at(-e)) - at(2 * e) + at(-2 * e)) / (12 * h)
            assert np.allclose(slope[:, k], expected, rtol=1e-8, atol=1e-9 * np.abs(slope).max())
    slopes = gs.aba_derivatives(model, q, v, gs.rnea(model, q, v, a))
    assert np.allclose(gs.crba(model, q) @ slopes.da_dq, -found.dtau_dq, atol=1e-8 * np.abs(found.dtau_dq).max())


def test_batches_and_live_properties():
    model = boom_arm(modes=(2, 1))
    states = [bent_state(model, seed) for seed in range(5)]
    q, v, a = (np.stack(x) for x in zip(*states, strict=True))
    single = np.stack([gs.rnea(model, *state) for state in states])
    assert np.allclose(gs.rnea(model, q, v, a), single, rtol=1e-12, atol=1e-12)
    paths = ["boom.E", "boom.density", "boom.length", "boom.I_z", "boom.G", "boom.J", "boom.area", "boom.I_y"]
    solver = gs.InverseDynamics(model, live=paths)
    for path in ("boom.E", "boom.density", "boom.I_z", "boom.area"):
        h = 1e-4 * model[path]
        up, down = (gs.rnea(model.replace({path: model[path] + k * h}), *states[0]) for k in (1, -1))
        slope = solver.jacobian("tau", path)(*states[0])
        assert np.allclose(slope, (up - down) / (2 * h), rtol=1e-6, atol=1e-6 * np.abs(slope).max()), path


def test_the_spin_up_of_kanes_beam_does_not_diverge():
    """Simo and Vu-Quoc's data (10 m, E A = 2.8e7, E I = 1.4e4, 1.2 kg/m, 6 rad/s after 15 s), turned by a great hub.
    Without stiffening the beam would fly away; geometrically exact beams lag by 0.573 m at most."""
    big = 1e9
    hub, hinge = gs.RigidBody("hub", mass=1.0, inertia=(big, big, big)), gs.Joint("hinge", "revolute", axis="z")
    section = {"length": 10.0, "area": 1.0, "I_y": 1.0, "I_z": 5e-4, "J": 1.0, "E": 2.8e7, "G": 1.0, "density": 1.2}
    wires = gs.connect("world", "hinge.a"), gs.connect("hinge.b", "hub"), gs.connect("hub", "boom.a")
    boom = gs.FlexibleBeam("boom", **section, modes=(4, 0), modes_x=0)
    model = gs.assemble("spin_up", hinge, hub, boom, *wires, gravity=(0, 0, 0))

    def torque(t, q, v):
        return np.array([big * 0.4 * (1 - np.cos(2 * np.pi * np.minimum(t, 15.0) / 15)), 0.0, 0.0, 0.0, 0.0])

    run = gs.simulate(model, torque, None, None, 20.0, method="dina", dt=5e-3, every=10, progress=False)
    p = gs.ForwardKinematics(model)(run.q)["boom.b"].p
    lag = np.cos(run.q[:, 0]) * p[:, 1] - np.sin(run.q[:, 0]) * p[:, 0]
    assert abs(run.v[-1, 0] - 6.0) < 1e-3
    assert -0.578 < lag.min() < -0.572
    assert np.abs(lag[run.t > 16.0]).max() < 5e-3
