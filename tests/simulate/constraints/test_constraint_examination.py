"""Constraints that users define are looked at before they serve; impacts and resets know all constraints."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import gyrostat as gs


@dataclass(frozen=True)
class Ring:
    """A particle (x, z) on a circle of radius 1; ``wrong``: what is different about its rows."""

    wrong: dict[str, Any] = field(default_factory=dict)


def direction(q):
    return [q / np.hypot(*q)]


def bias(q, v):
    r = np.hypot(*q)
    return [(v @ v - (q @ v / r) ** 2) / r]


@gs.constraints.row(Ring)
def ring_rows(ring, model):
    right = {
        "names": ("ring",),
        "residual": lambda q: np.hypot(q[..., 0], q[..., 1])[..., None] - 1.0,
        "jacobian": direction,
        "side": [0],
        "bias": bias,
    }
    return gs.ConstraintRows(**(right | ring.wrong))


def particle(mass=2.0, **limits):
    joints = gs.Joint("x", "prismatic", axis="x", **limits), gs.Joint("z", "prismatic", axis="z")
    return gs.assemble("particle", gs.chain("world", *joints, gs.RigidBody("mass", mass=mass)))


def run(wrong, **options):
    return gs.simulate(particle(), q0=[1.0, 0.0], t_end=0.2, events=Ring(wrong), **options)


def test_right_rows_serve():
    assert np.hypot(*run({}).q[-1]) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"jacobian": lambda q: [-q / np.hypot(*q)]}, "jacobian of 'ring' is"),
        ({"jacobian": [[1.0, 0.0]]}, "jacobian of 'ring' is"),
        ({"bias": lambda q, v: [0.0]}, "bias of 'ring' is"),
        ({"jacobian": lambda q: [[1.0, 0.0, 0.0]]}, r"jacobian\(q\) has shape \(1, 3\), expected \(1, 2\)"),
        ({"bias": lambda q, v: [0.0, 0.0]}, r"bias\(q, v\) has shape \(2,\), expected \(1,\)"),
        ({"residual": lambda q: np.zeros(2)}, r"residual\(q\) has shape \(2,\), expected \(1,\)"),
        ({"residual": lambda q: [np.hypot(q[0], q[1]) - 1.0], "side": [1]}, "residual of two configurations"),
        ({"residual": lambda q: 1 / 0}, "residual fails, ZeroDivisionError"),
        ({"side": [2]}, "side of 'ring' is 2"),
        ({"restitution": -1.0}, "restitution must be"),
        ({"restitution": [0.5, 0.5]}, "restitution must be"),
        ({"limits": (np.array([-1.0]), np.array([1.0]))}, "limits of the force of a row with a residual"),
        ({"residual": None, "limits": (np.array([-1.0]), np.array([1.0]))}, "sliding law"),
    ],
)
def test_wrong_rows_are_refused_by_name(wrong, told):
    with pytest.raises(gs.RowError, match=f"'ring_rows' for Ring.*{told}"):
        run(wrong)


def test_a_jacobian_that_varies_needs_its_bias():
    @dataclass(frozen=True)
    class Hoop:
        pass

    @gs.constraints.row(Hoop)
    def hoop_rows(hoop, model):
        return gs.ConstraintRows(("hoop",), lambda q: np.zeros((*q.shape[:-1], 1)), direction, [0])

    with pytest.raises(gs.RowError, match=r"Hint: give bias\(q, v\)"):
        gs.simulate(particle(), q0=[1.0, 0.0], t_end=0.1, events=Hoop())


@dataclass(frozen=True)
class Lever:
    """x - 2 z = 0."""


@gs.constraints.row(Lever)
def lever_rows(lever, model):
    return gs.ConstraintRows(("lever",), lambda q: q[..., :1] - 2.0 * q[..., 1:2], [[1.0, -2.0]], [0])


@pytest.mark.parametrize(("e", "q0"), [(1.0, [0.0, 0.0]), (0.5, [0.0, 0.0]), (1.0, [0.2, 0.1])])
def test_an_impact_at_the_start_knows_the_constraints(e, q0):
    """All motion is along (2, 1): the impact at the stop of x turns it round as a whole, times e."""
    model = gs.assemble(
        "two", gs.chain("world", gs.Joint("x", "prismatic", axis="x", lower=0.0), gs.RigidBody("one", mass=1.0)),
        gs.chain("world", gs.Joint("y", "prismatic", axis="y"), gs.RigidBody("two", mass=3.0)),
        gravity=(0.0, 0.0, 0.0),
    )  # fmt: skip
    limits = gs.JointLimits(restitution=e)
    motion = gs.simulate(model, q0=q0, v0=[-2.0, -1.0], t_end=0.5, events=[limits, Lever()])
    np.testing.assert_allclose(motion.v[-1], [2.0 * e, e], rtol=1e-9)


def test_a_reset_beyond_a_constraint_is_refused():
    model = particle(upper=0.3)
    jump = gs.Event(lambda t, q, v: t - 0.1, reset=lambda t, q, v: ([0.5, 0.0], v), name="jump")
    with pytest.raises(gs.SimulationError, match=r"reset of 'jump' leads 0\.2 beyond 'x'"):
        gs.simulate(model, t_end=0.2, events=[gs.JointLimits(), jump])
    off = gs.Event(lambda t, q, v: t - 0.1, reset=lambda t, q, v: ([1.3, 0.0], v), name="off")
    with pytest.raises(gs.SimulationError, match=r"reset of 'off' leads 0\.3 beyond 'ring'"):
        gs.simulate(particle(), q0=[1.0, 0.0], t_end=0.2, events=[Ring(), off])
