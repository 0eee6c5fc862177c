"""The table of docs/theory/reduction.md: seven methods on five structures, at equal size. Printed by ``python -m``."""

import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sl

import gyrostat as gs
from tests.support.fe_structures import beam, bracket, plate, stepped_shaft, truss

PAGE = Path(__file__).parents[2] / "docs" / "theory" / "reduction.md"
METHODS = ("riccati", "modes", "guyan", "craig-bampton", "hurty", "rubin", "balanced")
STRUCTURES = {s.name: s for s in (beam(40), plate(12), truss(), bracket(), stepped_shaft())}
EXACT = 1e-8


def reduced(s, method):
    """To about s.keep coordinates: methods with modal ones get half of them so, or what rigid bodies leave."""
    if method not in ("craig-bampton", "hurty", "rubin"):
        return gs.reduce_fe(s.M, s.K, s.keep, method=method, candidates=s.candidates)
    physical = max(s.keep // 2, s.rigid.shape[1])
    keep = gs.reduce_fe(s.M, s.K, physical, method="guyan", candidates=s.candidates).keep
    more = s.keep - physical - (s.rigid.shape[1] if method == "rubin" else 0)  # rigid-body motions come in addition
    return gs.reduce_fe(s.M, s.K, keep, method=method, modes=max(more, 0))


def errors(s, method):
    """Size; relative errors of the first elastic, the middle and the last frequency, of statics and rigid inertia."""
    r = reduced(s, method)
    count, rigid = len(r.K_bar), s.rigid.shape[1]
    f = np.sqrt(gs.reduce_fe(s.M, s.K, count, method="modes").modes.values) / (2 * np.pi)
    off = np.abs(r.frequencies[rigid:] / f[rigid:] - 1)
    B, MB = s.rigid, s.M @ s.rigid
    R = np.random.default_rng(0).normal(size=s.M.shape[0])
    R = R - MB @ np.linalg.solve(B.T @ MB, B.T @ R) if rigid else R
    held = sp.bmat([[s.K, MB], [MB.T, None]]).tocsc() if rigid else s.K
    u = sl.spsolve(held, np.r_[R, np.zeros(rigid)])[: len(R)][r.keep]
    load = R[r.keep] + r.Gamma @ R[r.omit] if method in ("riccati", "modes") else r.T.T @ R
    z = np.linalg.lstsq(r.K_bar, load, rcond=1e-11)[0]
    at = (r.T @ z)[r.keep]
    at = at + B[r.keep] @ np.linalg.lstsq(B[r.keep], u - at, rcond=None)[0] if rigid else at
    inertia = None
    if rigid:
        z = B[r.keep] if r.T.shape[1] == len(r.keep) and r.physical else np.linalg.lstsq(r.T, B, rcond=None)[0]
        inertia = np.abs(z.T @ r.M_symmetric @ z - B.T @ MB).max() / np.abs(B.T @ MB).max()
    return count, off[0], off[len(off) // 2], off[-1], np.abs(at - u).max() / np.abs(u).max(), inertia


def shown(x):
    return "-" if x is None else "exact" if x < EXACT else f"{x:.0e}"


def rows(name):
    s = STRUCTURES[name]
    for method in METHODS:
        size, *values = errors(s, method)
        yield f"| {name}, {s.M.shape[0]} | {method} | {size} | {' | '.join(shown(x) for x in values)} |"


LARGE = ("L-bracket, solid", "clamped plate", "free truss")


@pytest.mark.parametrize("name", [pytest.param(x, marks=[pytest.mark.slow] if x in LARGE else []) for x in STRUCTURES])
def test_the_table_says_what_is_computed(name):
    page = PAGE.read_text("utf-8")
    number = re.compile(r"\d\.?\d*e[-+]\d+")
    for row in rows(name):
        start = " | ".join(row.split(" | ")[:3])
        told = next((line for line in page.splitlines() if line.startswith(start)), None)
        assert told is not None, f"no row {start}"
        assert number.sub("#", told) == number.sub("#", row)
        got, want = ([float(x) for x in number.findall(line)] for line in (row, told))
        assert np.allclose(got, want, rtol=0.5), row


if __name__ == "__main__":
    for name in STRUCTURES:
        print(*rows(name), sep="\n")
