"""Structures by finite elements, assembled from the element matrices of textbooks: M, K, and what is known of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.polynomial import Legendre


@dataclass(frozen=True)
class FeStructure:
    """``rigid`` (n, r): rigid-body displacements of a free structure."""

    name: str
    M: Any
    K: Any
    rigid: np.ndarray
    keep: int
    candidates: np.ndarray | None = field(default=None)


def assembled(n: int, places: list[np.ndarray], blocks: list[np.ndarray]) -> Any:
    """Sum of element matrices at their coordinates."""
    rows = np.concatenate([np.repeat(p, len(p)) for p in places])
    columns = np.concatenate([np.tile(p, len(p)) for p in places])
    return sp.csc_matrix((np.concatenate([b.ravel() for b in blocks]), (rows, columns)), shape=(n, n))


def hermite(h: float, stiffness: float = 1.0, line: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Consistent mass and stiffness (4, 4) of a beam element over (w, slope) at its ends."""
    lever = np.array([1.0, h, 1.0, h])
    M = np.array([[156, 22, 54, -13], [22, 4, 13, -3], [54, 13, 156, -22], [-13, -3, -22, 4]])
    K = np.array([[12, 6, -12, 6], [6, 4, -6, 2], [-12, -6, 12, -6], [6, 2, -6, 4]])
    by = np.outer(lever, lever)
    return M * by * line * h / 420, K * by * stiffness / h**3


def beam(elements: int, free: bool = False, stations: Any = None) -> FeStructure:
    """A unit beam, E I = 1, clamped at 0 or free; a stepped one with (E I, mass per length) by element."""
    h, n = 1.0 / elements, 2 * (elements + 1)
    steps = stations or [(1.0, 1.0)] * elements
    blocks = [hermite(h, *step) for step in steps]
    places = [np.arange(2 * e, 2 * e + 4) for e in range(elements)]
    M, K = (assembled(n, places, [b[k] for b in blocks]) for k in range(2))
    x = np.arange(elements + 1) * h
    rigid = np.zeros((n, 2))
    rigid[::2, 0], rigid[::2, 1], rigid[1::2, 1] = 1.0, x, 1.0
    if free:
        return FeStructure("free beam", M, K, rigid, 6)
    return FeStructure("cantilever", M[2:, 2:].tocsc(), K[2:, 2:].tocsc(), np.zeros((n - 2, 0)), 6)


def stepped_shaft(elements: int = 60) -> FeStructure:
    """A free shaft whose diameter doubles in the middle third: E I x 16, mass x 4."""
    steps = [(16.0, 4.0) if elements / 3 <= e < 2 * elements / 3 else (1.0, 1.0) for e in range(elements)]
    found = beam(elements, True, steps)
    return FeStructure("stepped shaft", found.M, found.K, found.rigid, 6)


def plate(n: int = 27, free: bool = False) -> FeStructure:
    """A plate 1 x 0.7 of n x n Bogner-Fox-Schmit elements, D = 1, nu = 0.3, rho h = 1, clamped at x = 0 or free."""
    held = 0 if free else 2
    (Mx, Kx, Sx, Cx), (My, Ky, Sy, Cy) = (A[held:, held:] for A in _lines(n, 1.0)), _lines(n, 0.7)
    M = sp.kron(Mx, My).tocsc()
    K = sp.kron(Kx, My) + sp.kron(Mx, Ky) + 0.3 * (sp.kron(Cx, Cy.T) + sp.kron(Cx.T, Cy)) + 1.4 * sp.kron(Sx, Sy)
    x, y = (np.linspace(0, length, n + 1) for length in (1.0, 0.7))
    one, line = np.tile([1.0, 0.0], n + 1), [np.stack([z, np.ones(n + 1)], 1).ravel() for z in (x, y)]
    rigid = np.stack([np.kron(one, one), np.kron(line[0], one), np.kron(one, line[1])], 1)
    seen = np.add.outer(np.arange(0, Mx.shape[0], 2) * My.shape[0], np.arange(0, My.shape[0], 2)).ravel()
    return FeStructure(
        "free plate" if free else "clamped plate", M, K.tocsc(), rigid if free else np.zeros((M.shape[0], 0)), 12, seen
    )


def _lines(n: int, length: float) -> list[Any]:
    """Integrals over cubic Hermite functions: f f, f'' f'', f' f', f'' f."""
    h, x = length / n, Legendre([0.5, 0.5])(np.polynomial.legendre.leggauss(4)[0])
    f = [np.array([1 - 3 * x**2 + 2 * x**3, h * (x - 2 * x**2 + x**3), 3 * x**2 - 2 * x**3, h * (x**3 - x**2)])]
    f += [np.array([6 * x**2 - 6 * x, h * (1 - 4 * x + 3 * x**2), 6 * x - 6 * x**2, h * (3 * x**2 - 2 * x)]) / h]
    f += [np.array([12 * x - 6, h * (6 * x - 4), 6 - 12 * x, h * (6 * x - 2)]) / h**2]
    w = np.polynomial.legendre.leggauss(4)[1] * h / 2
    places = [np.arange(2 * e, 2 * e + 4) for e in range(n)]
    pairs = ((0, 0), (2, 2), (1, 1), (2, 0))
    return [assembled(2 * n + 2, places, [(f[i] * w) @ f[j].T] * n).T.tocsr() for i, j in pairs]


def truss(bays: int = 16) -> FeStructure:
    """A free space truss of square bays 0.5 m, every face braced; bars E A = 1e6 N, 1 kg/m, consistent mass."""
    nodes = np.array([(0.5 * i, y, z) for i in range(bays + 1) for y, z in ((0, 0), (0.5, 0), (0.5, 0.5), (0, 0.5))])
    bars: list[tuple[int, int]] = []
    for i in range(bays + 1):
        a = [4 * i + k for k in range(4)]
        bars += [(a[k], a[(k + 1) % 4]) for k in range(4)] + [(a[0], a[2])]
        if i < bays:
            b = [x + 4 for x in a]
            bars += [(a[k], b[k]) for k in range(4)] + [(a[k], b[(k + 1) % 4]) for k in range(4)]
    places, masses, stiffnesses = [], [], []
    for i, j in bars:
        d = nodes[j] - nodes[i]
        length = np.linalg.norm(d)
        u = np.concatenate([-d, d]) / length
        places.append(np.r_[3 * i : 3 * i + 3, 3 * j : 3 * j + 3])
        masses.append(np.kron([[2, 1], [1, 2]], np.eye(3)) * length / 6)
        stiffnesses.append(np.outer(u, u) * 1e6 / length)
    n = 3 * len(nodes)
    M, K = assembled(n, places, masses), assembled(n, places, stiffnesses)
    return FeStructure("free truss", M, K, rigid_motions(nodes), 12)


def bracket(fine: int = 2) -> FeStructure:
    """A free L-bracket, legs 0.2 x 0.08 x 0.04 m of steel, trilinear hexahedra of 0.04 m / fine."""
    h = 0.04 / fine
    cells = [(i, j, k) for i in range(5 * fine) for j in range(5 * fine) for k in range(2 * fine) if min(i, j) < fine]
    corners = np.array([(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)])
    grid = np.array(cells)[:, None, :] + corners
    nodes, at = np.unique(grid.reshape(-1, 3), axis=0, return_inverse=True)
    at = at.reshape(len(cells), 8)
    Me, Ke = hexahedron(h, 2.1e11, 0.3, 7850.0)
    places = [(3 * a[:, None] + np.arange(3)).ravel() for a in at]
    n = 3 * len(nodes)
    M, K = assembled(n, places, [Me] * len(cells)), assembled(n, places, [Ke] * len(cells))
    return FeStructure("L-bracket, solid", M, K, rigid_motions(nodes * h), 12)


def hexahedron(h: float, E: float, nu: float, density: float) -> tuple[np.ndarray, np.ndarray]:
    """Mass and stiffness (24, 24) of a trilinear cube of edge h."""
    lam, mu = E * nu / (1 + nu) / (1 - 2 * nu), E / 2 / (1 + nu)
    C = np.diag([2 * mu] * 3 + [mu] * 3)
    C[:3, :3] += lam
    M, K = np.zeros((24, 24)), np.zeros((24, 24))
    signs = np.array([(i, j, k) for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])
    for x in signs / np.sqrt(3):
        terms = 1 + signs * x
        N = terms.prod(axis=1) / 8
        D = np.stack([signs[:, i] * np.delete(terms, i, 1).prod(axis=1) / 8 for i in range(3)], 1) * 2 / h
        B = np.zeros((6, 24))
        for i, (j, k) in enumerate(((1, 2), (2, 0), (0, 1))):
            B[i, i::3] = D[:, i]
            B[3 + i, j::3], B[3 + i, k::3] = D[:, k], D[:, j]
        M += np.kron(np.outer(N, N), np.eye(3)) * density * h**3 / 8
        K += B.T @ C @ B * h**3 / 8
    return M, K


def rigid_motions(nodes: np.ndarray) -> np.ndarray:
    """Displacements (3 n, 6) of nodes (n, 3): along the axes, about the axes."""
    moves = [np.tile(e, (len(nodes), 1)).ravel() for e in np.eye(3)]
    return np.stack(moves + [np.cross(e, nodes).ravel() for e in np.eye(3)], 1)
