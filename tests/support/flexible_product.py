"""An arm of two hinges with a flexible link between them and a load, for each kind of link and both ways in."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import gyrostat as gs

SOFT = {"area": 6e-3, "I_y": 2e-5, "I_z": 5e-5, "J": 6e-5, "E": 7e6, "G": 2.6e6, "density": 2700.0, "damping": 2e-3}
"""A thick and soft beam."""
BEAMS: dict[str, dict[str, Any]] = {
    "modal": {"modes": (2, 1)},
    "modal, by b": {"modes": (2, 1)},
    "modal, by mid": {"modes": (2, 1)},
    "shear": {"modes": (1, 1), "modes_x": 0, "shear": True},
    "in-cut": {"method": "in-cut", "elements": 1},
    "in-cut, by b": {"method": "in-cut", "elements": 1},
    "segments": {"modes": (1, 1), "modes_x": 0, "segments": 2},
    "fe": {"method": "fe", "elements": 2, "modes": None, "modes_x": (1, 0)},
    "fe, by b": {"method": "fe", "elements": 3, "modes": (1, 1)},
}
BODIES = ("body", "body, by its other interface")
KINDS = (*BEAMS, *BODIES)


@cache
def flexible_body(name: str = "boom") -> gs.FlexibleBody:
    """Any numbers that are integrals over a body: of particles that move in three shapes."""
    rng = np.random.default_rng(4)
    r = rng.normal(size=(9, 3)) * (0.3, 0.1, 0.1) + (0.4, 0.0, 0.0)
    m, phi = rng.uniform(0.2, 0.6, 9), rng.normal(size=(9, 3, 3)) * r[:, :1, None]
    K = np.diag([300.0, 700.0, 2000.0])
    far = {"translation": (0.8, 0.02, 0.01), "displacement": rng.normal(size=(3, 3)), "turn": rng.normal(size=(3, 3))}
    still = {"displacement": np.zeros((3, 3)), "turn": np.zeros((3, 3))}
    return gs.FlexibleBody(
        name,
        mass=m.sum(),
        first_moment=tuple(m @ r),
        second_moment=np.einsum("p,pa,pb->ab", m, r, r),
        C1=np.einsum("p,pan->an", m, phi),
        C2=np.einsum("p,pa,pbn->abn", m, r, phi),
        S=np.einsum("p,pan,pbk->abnk", m, phi, phi),
        stiffness=K,
        damping=1e-3 * K,
        interfaces={"a": still, "b": far},
    )


def link(kind: str) -> Any:
    """The flexible link ``boom`` of a kind."""
    if kind in BODIES:
        return flexible_body()
    return gs.FlexibleBeam("boom", **(SOFT | {"length": 0.8, "frames": {"mid": 0.3}} | BEAMS[kind]))


def ways(kind: str) -> tuple[str, str]:
    """Ports by which the link is entered and left."""
    if "mid" in kind:
        return "mid", "b"
    return ("b", "a") if ", by" in kind else ("a", "b")


@cache
def arm(kind: str, base: str = "fixed", g: tuple[float, float, float] = (0.0, 0.0, -9.81), **values: float) -> gs.Model:
    """A shoulder, the link, a wrist and a hand."""
    near, far = ways(kind)
    boom = link(kind)
    model = gs.assemble(
        "arm",
        gs.RigidBody("plinth", mass=2.0, com=(0.0, 0.01, 0.1), inertia=(0.02, 0.03, 0.04)),
        gs.Joint("shoulder", "revolute", axis="y"),
        boom,
        gs.Joint("wrist", "revolute", axis=(0.6, 0.0, 0.8)),
        gs.RigidBody(
            "hand", mass=0.4, com=(0.05, 0.02, 0.01), inertia=(0.001, 0.002, 0.0025), frames={"tip": (0.1, 0.0, 0.02)}
        ),
        gs.connect("world", "plinth.origin", "shoulder.a"),
        gs.connect("shoulder.b", f"boom.{near}"),
        gs.connect(f"boom.{far}", "wrist.a"),
        gs.connect("wrist.b", "hand.origin"),
        base=base,
        gravity=g,
    )
    return model.replace(dict(values)) if values else model


def state(model: gs.Model, seed: int = 3) -> tuple[Any, Any, Any]:
    """q, v, a with links that are bent visibly."""
    rng = np.random.default_rng(seed)
    bent = np.array([name.startswith("boom.") for name in model.dofs])
    q, v, a = (rng.normal(size=model.nv) for _ in range(3))
    return np.where(bent, 0.05 * q, q), np.where(bent, 0.3 * v, v), a
