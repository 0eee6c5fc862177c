"""Models with dry friction for the tests of stick and slip."""

import numpy as np

import gyrostat as gs

G = 9.81
ACCURATE = {"rtol": 1e-11, "atol": 1e-13}


def block(mass=1.0, axis="x", spring=None, name="rub", joint=None, **friction):
    """A block on a rail, with friction, and a spring to the housing."""
    on = [gs.Friction(name, **friction)]
    on += [] if spring is None else [gs.Spring("spring", stiffness=spring, ground=True)]
    slide = gs.chain("world", gs.Joint("x", "prismatic", axis=axis, **(joint or {})), gs.RigidBody("block", mass=mass))
    ports = ["x.shaft", name, *([] if spring is None else ["spring.a"])]
    return gs.assemble("cart", slide, *on, gs.connect(*ports))


def told(run):
    return [(e.kind, e.name) for e in run.events]


def times(run, kind):
    return np.array([e.t for e in run.events if e.kind == kind])


def arm(shoulder=2.0, elbow=0.5, **more):
    model = gs.robots.two_link()
    for name, size in zip(model.dofs, (shoulder, elbow), strict=True):
        model = model.with_drive(name, coulomb=size, friction=more, motor=False)
    return model
