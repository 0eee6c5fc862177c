"""Resets of events, beside rigid contacts: into a surface they are refused, along it the run goes on."""

import numpy as np
import pytest

import gyrostat as gs


def ball(radius=0.0, parts=(), **law):
    body = gs.RigidBody("ball", mass=1.0, inertia=(0.004, 0.004, 0.004))
    tip = gs.ContactPoint("tip", radius=radius)
    return gs.assemble(
        "ball", gs.chain("world", gs.Joint("free", "free"), body, tip), gs.Ground("floor", **law), *parts
    )


def sledge(**law):
    joints = [gs.Joint(axis, "prismatic", axis=axis) for axis in "xz"]
    body = gs.RigidBody("body", mass=2.0)
    return gs.assemble("sledge", gs.chain("world", *joints, body, gs.ContactPoint("tip")), gs.Ground("floor", **law))


def after(reset, t=0.5):
    return gs.Event(lambda time, q, v: time - t, reset=reset, name="jump")


def test_a_reset_into_the_ground_is_refused_and_one_above_it_is_a_fall():
    start = [0, 0, 0, 0, 0, 0, 1]
    for depth, height in ((1e-3, 0.0), (1e-7, 0.0), (1e-7, 3.0), (2.0, 3.0)):
        event = after(lambda t, q, v, z=-depth: (np.r_[q[:2], z, q[3:]], v * 0.0))
        with pytest.raises(gs.SimulationError, match=r"reset of 'jump' lets contact 'tip\|floor' be .* m within each"):
            gs.simulate(ball(), q0=np.r_[0, 0, height, start[3:]], t_end=1.0, events=event)
    with pytest.raises(gs.SimulationError, match="Hint: reset to where all gaps are positive"):
        gs.simulate(ball(), q0=start, t_end=1.0, events=after(lambda t, q, v: (np.r_[q[:2], -1e-3, q[3:]], v)))
    up = gs.simulate(ball(), q0=start, t_end=1.0, events=after(lambda t, q, v: (np.r_[q[:2], 0.1, q[3:]], v)))
    assert abs(up.q[-1, 2]) < 1e-8
    assert up.q[:, 2].max() > 0.09


def test_a_model_whose_surface_is_in_the_ground_is_refused():
    with pytest.raises(gs.SimulationError, match=r"reset of 'jump' lets contact 'tip\|floor' be 0.1 m within"):
        gs.simulate(ball(), q0=[0, 0, 0, 0, 0, 0, 1], t_end=1.0, events=after(lambda t, q, v: (ball(radius=0.1), q, v)))


def test_a_structure_whose_surface_is_in_the_ground_is_refused():
    tail = gs.chain(
        "ball", gs.Joint("hinge", "revolute", axis="y"), gs.RigidBody("tail", mass=0.1, inertia=(1e-3,) * 3)
    )
    new = ball(0.1, [tail])
    with pytest.raises(gs.SimulationError, match=r"structure changes.*contact 'tip\|floor' be 0.1 m within each other"):
        gs.simulate(
            ball(),
            q0=[0, 0, 0, 0, 0, 0, 1],
            t_end=1.0,
            events=after(lambda t, q, v: (new, np.r_[q, 0.0], np.r_[v, 0.0])),
        )


def test_a_contact_that_slides_goes_on_where_the_model_changes():
    """v = 3 - 0.1 g t, then by 0.3 g."""
    event = after(lambda t, q, v: (sledge(friction=0.3), q, v))
    run = gs.simulate(sledge(friction=0.1), q0=[0, 0], v0=[3.0, 0.0], t_end=1.0, events=event)
    assert abs(run.v[-1, 0] - (3.0 - 0.2 * 9.81)) < 1e-8
    assert abs(run.q[-1, 1]) < 1e-8
