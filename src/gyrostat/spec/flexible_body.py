"""Flexible bodies of any form: integrals over shapes as data, from finite elements or from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import BeforeValidator, PlainSerializer, PlainValidator, PrivateAttr, WithJsonSchema

from gyrostat.errors import Problem, StateError
from gyrostat.finite_elements.body_data import Recovery, body_data
from gyrostat.finite_elements.elasticity import Material, solid_model
from gyrostat.finite_elements.matrix_file import model_from_matrices, read_matrices
from gyrostat.finite_elements.solid_mesh import solid_mesh
from gyrostat.spec.describe import RefusedError
from gyrostat.spec.entity import Entity, Port
from gyrostat.spec.rules import finite, not_finite, rotation_problems, shown
from gyrostat.spec.values import IDENTITY, Inertia, Number, RotationValue, Value, Vector

MOST = 200
"""Shapes of a body at most."""


def to_table(value: Any) -> Any:
    """Nested lists of numbers, or an array, as nested tuples."""
    try:
        table = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise RefusedError("must be an array of numbers", value, "write rows of equal length") from None
    if table.ndim not in (2, 3, 4) or max(table.shape, default=0) > MOST:
        raise RefusedError(f"must be an array of at most {MOST} shapes", value, "see the shapes in its description")
    return _tuples(table.tolist())


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value


Table = Annotated[Any, BeforeValidator(to_table), WithJsonSchema({"type": "array", "items": {"type": "array"}})]


class Interface(Value):
    """A frame of the body: its place while q = 0 in the floating frame, and what moves it: ``displacement`` (3, n) and
    ``turn`` (3, n), displacements [m] and rotations [rad] for unit coordinates."""

    name: str
    translation: Vector = (0.0, 0.0, 0.0)
    rotation: RotationValue = IDENTITY
    displacement: Table
    turn: Table


def to_interfaces(value: Any) -> tuple[Interface, ...]:
    """Mapping of names to {translation, rotation, displacement, turn}."""
    if isinstance(value, tuple | list) and value and all(isinstance(item, Interface) for item in value):
        return tuple(value)
    if not isinstance(value, Mapping) or not value:
        raise RefusedError("must map names to frames", value, "write {base: {displacement: ..., turn: ...}}")
    return tuple(Interface(name=name, **_plain(dict(place))) for name, place in value.items())


def _plain(place: dict[str, Any]) -> dict[str, Any]:
    rotation = place.get("rotation")
    return place | ({"rotation": rotation.tolist()} if isinstance(rotation, np.ndarray) else {})


Interfaces = Annotated[
    tuple[Interface, ...],
    PlainValidator(to_interfaces),
    PlainSerializer(lambda value: {i.name: i.model_dump(exclude_defaults=True, exclude={"name"}) for i in value}),
    WithJsonSchema({"type": "object", "additionalProperties": {"type": "object"}}),
]


class FlexibleBody(Entity):
    """A body that moves in n shapes against its floating frame, the first of its ``interfaces``.

    A point of mass at r is displaced to r + phi(r) q. Properties are integrals over the mass, in the axes of the
    floating frame: ``mass`` [kg], ``first_moment`` (3,) int r, ``second_moment`` (3, 3) int r r^T, ``C1`` (3, n) int
    phi, ``C2`` (3, 3, n) int r_a phi_b, ``S`` (3, 3, n, n) int phi_a phi_b^T; and ``stiffness``, ``damping`` (n, n).
    All of the kinetic energy of these displacements is kept; strains are small ones.

    One port for each interface; any may be the one that the body is held by. Rotations of interfaces are taken as
    angles about z, y, x in this order, and are exact in their rates. Coordinates ``e1``... are amplitudes of the
    shapes: metres of the largest displacement, if the body was made by :meth:`from_mesh` or :meth:`from_matrices`."""

    since: ClassVar[int] = 5
    deforms: ClassVar[bool] = True
    tells_mass: ClassVar[bool] = True
    not_live: ClassVar[Mapping[str, str]] = {
        name: "it belongs to the others; make another body, and a solver for it"
        for name in ("mass", "first_moment", "second_moment", "C1", "C2", "S", "interfaces")
    }

    mass: Number
    first_moment: Vector
    second_moment: Inertia
    C1: Table
    C2: Table
    S: Table
    stiffness: Table
    damping: Table | None = None
    interfaces: Interfaces
    _recovery: Recovery | None = PrivateAttr(default=None)

    def __init__(self, name: str, **properties: Any):  # said here, because values may be written in several forms
        super().__init__(name, **properties)

    @classmethod
    def from_mesh(
        cls,
        path: Any,
        material: Any,
        interfaces: Mapping[str, Any],
        modes: int = 8,
        *,
        name: str = "body",
        order: int = 2,
        scale: float = 1.0,
        coupling: str = "rigid",
        basis: str = "craig-bampton",
        highest: float | None = None,
        damping: Any = None,
    ) -> FlexibleBody:
        """A solid from a mesh of tetrahedra or hexahedra, by scikit-fem (extra ``flexible``).

        ``path``: a file of gmsh, Abaqus, Nastran, VTK or Medit, or a mesh of meshio. ``material``: ``{"E": [Pa], "nu":
        ..., "density": [kg/m^3]}``. ``interfaces``: names of ports -> a group of the file, node indices, or a box; the
        first is the floating frame. ``modes`` with fixed interfaces beside the static shapes of these. ``order`` of the
        elements; ``scale``: metres in the file's unit; ``coupling``: interfaces ``"rigid"`` or ``"average"``;
        ``basis``, ``highest`` [Hz]: see the page on flexible bodies; ``damping``: ``{"kelvin_voigt": [s]}``,
        ``{"rayleigh": (alpha, beta)}`` or ``{"ratio": zeta}``."""
        model = solid_model(solid_mesh(path, scale), Material.of(material), order)
        return cls._made(name, body_data(model, interfaces, modes, coupling, basis, highest, damping))

    @classmethod
    def from_matrices(
        cls,
        M: Any,
        K: Any,
        nodes: Any,
        interfaces: Mapping[str, Any],
        modes: int = 8,
        *,
        name: str = "body",
        node: Any = None,
        component: Any = None,
        coupling: str = "rigid",
        basis: str = "craig-bampton",
        highest: float | None = None,
        damping: Any = None,
    ) -> FlexibleBody:
        """From mass and stiffness matrices (n, n) of any finite-element program.

        ``nodes`` (k, 3) [m]; ``node``, ``component`` (n,): to which node a coordinate belongs, and which of its six
        components it is (0, 1, 2: displacements, 3, 4, 5: rotations); by default three displacements for each node.
        Masses must be at displacements. The rest is as in :meth:`from_mesh`."""
        model = model_from_matrices(M, K, nodes, node, component)
        return cls._made(name, body_data(model, interfaces, modes, coupling, basis, highest, damping))

    @classmethod
    def from_npz(cls, path: Any, interfaces: Mapping[str, Any], modes: int = 8, *, name: str = "body", **options: Any):
        """From matrices in an .npz file: arrays ``nodes``, ``node``, ``component``, and ``M_rows``, ``M_columns``,
        ``M_values`` (or ``M``), the same for K. The rest is as in :meth:`from_matrices`."""
        return cls._made(name, body_data(read_matrices(path), interfaces, modes, **options))

    @classmethod
    def _made(cls, name: str, made: tuple[dict[str, Any], Recovery]) -> FlexibleBody:
        properties, recovery = made
        body = cls(name, **properties)
        body._recovery = recovery
        return body

    @property
    def ports(self) -> tuple[Port, ...]:
        return tuple(Port(interface.name) for interface in self.interfaces)

    @property
    def coordinates(self) -> tuple[str, ...]:
        return tuple(f"e{i + 1}" for i in range(len(self.stiffness)))

    @property
    def rates(self) -> tuple[str, ...]:
        return self.coordinates

    def is_length(self, coordinate: str) -> bool:
        return True

    @property
    def frequencies(self) -> np.ndarray:
        """Natural frequencies (n,) [Hz] of the body that is held at its first interface, with nothing at the others."""
        M = np.asarray(self.S)[range(3), range(3)].sum(axis=0)
        L = np.linalg.inv(np.linalg.cholesky(M))
        values = np.linalg.eigvalsh(L @ np.asarray(self.stiffness) @ L.T)
        return np.sqrt(np.maximum(values, 0.0)) / (2.0 * np.pi)

    def displacement(self, q: Any) -> np.ndarray:
        """Displacements (nodes, 3) [m] of the finite-element nodes for coordinates q (n,), in the mesh's axes."""
        recovery, u = self._nodal(q, "displacement")
        model = recovery.model
        table = np.zeros((len(model.nodes), 3))
        moved = model.component < 3
        table[model.node[moved], model.component[moved]] = u[moved]
        return table

    def stress(self, q: Any, at: str = "nodes") -> np.ndarray:
        """Stress (k, 3, 3) [Pa] for coordinates q (n,), in the mesh's axes: at the ``"nodes"``, means over the elements
        around each, or means over each of the ``"elements"``, which tell little of bending if they are thick."""
        recovery, u = self._nodal(q, "stress")
        solid = recovery.model.solid
        if solid is None:
            raise StateError(f"{self.label}: stress needs elements, it was made from matrices. Hint: use from_mesh")
        if at not in ("nodes", "elements"):
            raise StateError(f"{self.label}: stress at {at!r}. Hint: at='nodes' or at='elements'")
        return solid.element_stress(u) if at == "elements" else solid.nodal_stress(u)

    def von_mises(self, q: Any, at: str = "nodes") -> np.ndarray:
        """Von Mises stress (k,) [Pa] of :meth:`stress`."""
        sigma = self.stress(q, at)
        deviator = sigma - np.trace(sigma, axis1=1, axis2=2)[:, None, None] * np.eye(3) / 3.0
        return np.sqrt(1.5 * np.einsum("kij,kij->k", deviator, deviator))

    @property
    def nodes(self) -> np.ndarray:
        """Positions (nodes, 3) [m] of the finite-element nodes in the mesh's axes."""
        return self._recovered("nodes").model.nodes

    def _recovered(self, what: str) -> Recovery:
        if self._recovery is None:
            raise StateError(
                f"{self.label}: {what} needs the finite elements, which are not stored with a model. "
                "Hint: keep the body that from_mesh or from_matrices made"
            )
        return self._recovery

    def _nodal(self, q: Any, what: str) -> tuple[Recovery, np.ndarray]:
        recovery, q = self._recovered(what), np.asarray(q, dtype=float)
        if q.shape != (len(self.stiffness),):
            raise StateError(
                f"{self.label}: q has shape {q.shape}, expected ({len(self.stiffness)},). Hint: e1, e2, ..."
            )
        return recovery, recovery.Phi @ q

    def problems(self) -> list[Problem]:
        problems = not_finite(self)
        n = len(self.stiffness)
        expected = {"C1": (3, n), "C2": (3, 3, n), "S": (3, 3, n, n), "stiffness": (n, n), "damping": (n, n)}
        for key, shape in expected.items():
            value = getattr(self, key)
            if value is not None and np.shape(value) != shape:
                message = f"'{key}' has shape {np.shape(value)}, expected {shape}"
                problems.append(self.problem("shapes", message, "one entry for each shape", (key,)))
        for interface in self.interfaces:
            problems += rotation_problems(self, f"interfaces.{interface.name}.rotation", interface.rotation)
            for key in ("displacement", "turn"):
                if np.shape(getattr(interface, key)) != (3, n):
                    shape = np.shape(getattr(interface, key))
                    message = f"'{key}' of interface '{interface.name}' has shape {shape}, expected (3, {n})"
                    problems.append(self.problem("shapes", message, "one column for each shape", ("interfaces",)))
        return problems or self._physical_problems()

    def _physical_problems(self) -> list[Problem]:
        problems: list[Problem] = []
        first, S = self.interfaces[0], np.asarray(self.S)
        moves = (first.displacement, first.turn, first.translation)
        if any(np.any(x) for x in moves) or first.rotation != IDENTITY:
            message = f"interface '{first.name}' is the first, and is not, or does not stay, at the origin"
            problems.append(self.problem("floating-frame", message, "the floating frame is the first interface"))
        if finite(self.mass) and self.mass <= 0.0:
            message = f"'mass' must be positive, got {shown(self.mass)} kg"
            problems.append(self.problem("mass", message, "give it in kg", ("mass",)))
        if not np.allclose(S, S.transpose(1, 0, 3, 2), rtol=0.0, atol=1e-9 * np.abs(S).max(initial=0.0)):
            problems.append(self.problem("shapes", "'S' is not symmetric", "S_ab is S_ba transposed", ("S",)))
        M = S[range(3), range(3)].sum(axis=0)
        for key, A, least in (("S", M, 0.0), ("stiffness", self.stiffness, -1e-9), ("damping", self.damping, -1e-9)):
            if A is None:
                continue
            A = np.asarray(A)
            if not np.allclose(A, A.T, rtol=0.0, atol=1e-9 * np.abs(A).max(initial=0.0)):
                problems.append(self.problem("shapes", f"'{key}' is not symmetric", "give all entries", (key,)))
            elif not np.linalg.eigvalsh(A).min(initial=1.0) >= least * np.abs(A).max(initial=0.0):
                message = f"'{key}' has the eigenvalue {np.linalg.eigvalsh(A)[0]:.3g}, expected none below zero"
                problems.append(self.problem("shapes", message, "check its signs", (key,)))
        return problems
