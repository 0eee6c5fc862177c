"""Nearest points of surfaces at given states, in closed form where there is one, otherwise by coal (GJK and EPA), which
is the extra ``collision``: gaps to 1e-10 m apart, to 1e-6 m inside.

Only pairs whose bounding spheres come within ``within`` [m] are handed to coal; of the others the distance of the
spheres is a lower bound, and is told as such by ``near`` being False."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.contact.contact_kinematics import place_of
from gyrostat.algorithms.contact.contact_normals import Extent, apart, extent_of, touching_normal
from gyrostat.algorithms.matrices.body_jacobians import weightless
from gyrostat.algorithms.recursions.kinematics import sweep_motion
from gyrostat.configuration.model_cache import cached_on
from gyrostat.engine.kernel import Kernel
from gyrostat.engine.tracing.record import record
from gyrostat.errors import GyrostatError
from gyrostat.graph.contact_meshes import mesh_of
from gyrostat.graph.contacts import Candidate, Surface, contact_candidates
from gyrostat.graph.network import kept_network
from gyrostat.spatial.algebra import Array
from gyrostat.spatial.contact_geometry import touch
from gyrostat.spatial.gravity import Gravity
from gyrostat.spatial.representation import Pose, representation
from gyrostat.spec.model import Model

INERTIAL = representation("inertial")
ROBUST, SHARP = 1e-6, 1e-12
"""What coal is asked for [m]: the second one for shapes that are apart. Of shapes that cut into each other it finds too
large a depth now and then with anything sharper than the first (8 of 1000 with 1e-12)."""
APART = 1e-3
"""Beyond this gap [m] the difference of nearest points is a good normal."""
OTHERS = 1e-8, 1e-10, 1e-12
"""What coal is asked for where nearest points and normal do not fit each other, as of round bodies on edges."""


@dataclass(frozen=True)
class NearestPoints:
    """Of k candidates: ``gaps`` (..., k) [m], ``normals`` (..., k, 3) from b to a, ``on_a``, ``on_b`` (..., k, 3)
    [m] in the world; ``near`` (..., k): False where only a lower bound of the gap was needed (normals and points are
    those of the bounding spheres)."""

    gaps: Array
    normals: Array
    on_a: Array
    on_b: Array
    near: Array


def nearest_points(
    model: Model, q: Any, candidates: Sequence[Candidate] | None = None, within: float = np.inf, t: float = 0.0
) -> NearestPoints:
    """Nearest points at q (nq,) or a batch (..., nq)."""
    chosen = contact_candidates(model) if candidates is None else tuple(candidates)
    states = np.asarray(q, float)
    poses = surface_poses(model, chosen, t)
    solids = [None if c.closed_form else solids_of(model, c) for c in chosen]
    extents = [None if s is None else extents_of_pair(c, s) for c, s in zip(chosen, solids, strict=True)]
    pairs = list(zip(chosen, solids, extents, strict=True))
    rows = [
        [fitting_points(c, s, e, a, b, within) for (c, s, e), (a, b) in zip(pairs, poses(x), strict=True)]
        for x in states.reshape(-1, states.shape[-1])
    ]
    lead, k = states.shape[:-1], len(chosen)
    gaps, normals, on_a, on_b, near = (np.array([[one[i] for one in row] for row in rows]) for i in range(5))
    vectors = (*lead, k, 3)
    return NearestPoints(
        gaps.reshape(*lead, k),
        normals.reshape(vectors),
        on_a.reshape(vectors),
        on_b.reshape(vectors),
        near.reshape(*lead, k).astype(bool),
    )


def surface_poses(model: Model, candidates: Sequence[Candidate], t: float = 0.0) -> Any:
    """A function of q (nq,): the poses of both surfaces of each candidate, in machine code."""
    network = kept_network(model)
    if network.driven:
        message = f"nearest points: the base of '{model.name}' moves with time"
        raise GyrostatError(f"{message}. Hint: use a fixed or a free base")
    places = [place_of(network, s) for c in candidates for s in (c.a, c.b)]
    on, rest = weightless(Setting(INERTIAL, Gravity(np.zeros(3)), t), INERTIAL), np.zeros(model.nv)

    def placed(q: Array) -> dict[str, Array]:
        motions = sweep_motion(network, on, q, rest, rest)
        found = [Pose(R, p) if port is None else motions[port].pose.then(R, p) for port, R, p in places]
        return {"R": np.array([x.R for x in found]), "p": np.array([x.p for x in found])}

    kept, key = cached_on(model), ("surface poses", tuple(c.name for c in candidates))
    if key not in kept:
        kept[key] = Kernel(record(placed, {"q": (model.nq,)}, "surface poses"), "surface poses")

    def poses(q: Array) -> list[tuple[Pose, Pose]]:
        out = kept[key].call(q)
        each = [Pose(R, p) for R, p in zip(out["R"], out["p"], strict=True)]
        return list(zip(each[::2], each[1::2], strict=True))

    return poses if candidates else lambda q: []


# ------------------------------------------------------------------------------------------------ one pair
def extents_of_pair(c: Candidate, solids: Solids) -> tuple[Extent, Extent] | None:
    """How far both surfaces reach; None beside a plane, which has no end."""
    if "plane" in (c.a.kind, c.b.kind):
        return None
    one, two = (extent_of(s.kind, s.size, solid) for s, (solid, _) in zip((c.a, c.b), solids, strict=True))
    return one, two


def fitting_points(
    c: Candidate, solids: Solids | None, extents: tuple[Extent, Extent] | None, a: Pose, b: Pose, within: float
) -> tuple[float, Array, Array, Array, bool]:
    """As :func:`nearest_of_pair`, with a normal along which the shapes are as far apart as their gap."""
    found = nearest_of_pair(c, solids, a, b, within)
    if extents is None or not found[4] or found[0] > APART:
        return found

    def along(n: Array) -> float:
        return float(apart(extents[0], a, extents[1], b, n[None])[0])

    n = touching_normal(extents[0], a, extents[1], b, found[1], found[0])
    best, size = (found[0], n, found[2], found[3]), along(n)
    if solids is None or size >= found[0] - ROBUST:
        return (*best, True)
    for tolerance in OTHERS:
        other = by_coal(solids[0][0], solids[1][0], a, b, tolerance)
        if not _holds(other, a, b, solids[0][1], solids[1][1]):
            continue
        n = touching_normal(extents[0], a, extents[1], b, other[1], other[0])
        if along(n) > size:
            best, size = (other[0], n, other[2], other[3]), along(n)
        if size >= best[0] - ROBUST:
            break
    return (*best, True)


Solids = tuple[tuple[Any, float], tuple[Any, float]]
"""Of both surfaces: coal's shape, and the radius of a sphere about its frame that holds it."""


def nearest_of_pair(
    c: Candidate, solids: Solids | None, a: Pose, b: Pose, within: float
) -> tuple[float, Array, Array, Array, bool]:
    """Gap, normal, points on a and b of surfaces at poses; whether they are nearest points, or a bound."""
    if solids is None:
        found = touch(c.a.kind, c.a.size, a, c.b.kind, c.b.size, b)
        n = found.axes[0]
        return found.gap, n, found.x, found.x - n * found.gap, True
    (one, reach_a), (two, reach_b) = solids
    d = a.p - b.p
    length = float(np.sqrt(d @ d))
    apart = length - reach_a - reach_b
    if apart > within and np.isfinite(apart):
        n = d / length
        return apart, n, a.p - n * reach_a, b.p + n * reach_b, False
    found = by_coal(one, two, a, b, ROBUST)
    if not _holds(found, a, b, reach_a, reach_b):
        raise GyrostatError(
            f"contact '{c.name}': coal finds no nearest points of a {c.a.kind} and a {c.b.kind} at a distance of their "
            f"frames of {length:.3g} m. Hint: are the shapes far inside each other, or much longer than thick?"
        )
    if found[0] > 100 * ROBUST:
        sharp = by_coal(one, two, a, b, SHARP)
        if _holds(sharp, a, b, reach_a, reach_b) and abs(sharp[0] - found[0]) < 10 * ROBUST:
            found = sharp
    return (*found, True)


def _holds(found: tuple[float, Array, Array, Array], a: Pose, b: Pose, reach_a: float, reach_b: float) -> bool:
    """Whether points are on their shapes, and belong to the gap; NaN is not, either."""
    gap, n, on_a, on_b = found
    there = np.abs(on_a - a.p).max() <= reach_a + 1e-6 and np.abs(on_b - b.p).max() <= reach_b + 1e-6
    return bool(there and abs(n @ n - 1.0) < 1e-6 and abs(n @ (on_a - on_b) - gap) < 1e-6)


def by_coal(one: Any, two: Any, a: Pose, b: Pose, tolerance: float) -> tuple[float, Array, Array, Array]:
    coal = coal_package()
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.gjk_tolerance = request.epa_tolerance = tolerance
    request.gjk_max_iterations = request.epa_max_iterations = 512
    gap = coal.distance(one, coal.Transform3s(a.R, a.p), two, coal.Transform3s(b.R, b.p), request, result)
    return gap, -np.array(result.normal), np.array(result.getNearestPoint1()), np.array(result.getNearestPoint2())


def solids_of(model: Model, c: Candidate) -> Solids:
    """Both surfaces of a candidate."""
    return solid_of(model, c, 0), solid_of(model, c, 1)


def reach_of(kind: str, size: Sequence[float]) -> float:
    """Radius of a sphere about the frame of a point, sphere or capsule."""
    return sum((0.5 if k else 1.0) * x for k, x in enumerate(size))


def solid_of(model: Model, c: Candidate, side: int) -> tuple[Any, float]:
    """coal's shape of a surface, and its bounding radius."""
    coal, surface = coal_package(), (c.a, c.b)[side]
    size = surface.size
    if surface.kind == "height-field":
        raise GyrostatError(
            f"contact '{c.name}': nearest points on a height field are not known at any distance. "
            "Hint: gs.simulate(method='moreau') finds its contacts"
        )
    makers: dict[str, Any] = {
        "point": lambda: (coal.Sphere(0.0), 0.0),
        "sphere": lambda: (coal.Sphere(size[0]), size[0]),
        "capsule": lambda: (coal.Capsule(size[0], size[1]), size[0] + size[1] / 2),
        "cylinder": lambda: (coal.Cylinder(size[0], size[1]), float(np.hypot(size[0], size[1] / 2))),
        "box": lambda: (coal.Box(*size), float(np.linalg.norm(size)) / 2),
        "ellipsoid": lambda: (coal.Ellipsoid(*size), max(size)),
        "plane": lambda: (coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0), np.inf),
        "mesh": lambda: _hull(model, c, surface, side),
    }
    return makers[surface.kind]()


def _hull(model: Model, c: Candidate, surface: Surface, side: int) -> tuple[Any, float]:
    """The convex hull of a mesh."""
    shape = c.surfaces[side].shape
    parts = None if shape is None else mesh_of(model, shape)
    if parts is None:
        raise GyrostatError(
            f"contact '{c.name}': the mesh of '{surface.name}' cannot be read. "
            "Hint: gs.audit(path) tells which files are missing; or exclude it with a ContactPair"
        )
    coal = coal_package()
    points = coal.StdVec_Vec3s()
    vertices = np.concatenate([part[0] for part in parts])
    for x in vertices:
        points.append(x)
    return coal.Convex.convexHull(points, True, "Qt"), float(np.sqrt((vertices**2).sum(axis=1).max()))


def coal_package() -> Any:
    """coal, which is an extra."""
    try:
        import coal
    except ImportError:
        raise GyrostatError(
            "contacts of these shapes need the package coal. Hint: pip install 'gyrostat[collision]'"
        ) from None
    return coal
