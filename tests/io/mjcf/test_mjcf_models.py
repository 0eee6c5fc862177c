"""All MJCF files in the wheels of brax, dm_control and gymnasium against MuJoCo (``mjcf_models``: where they are).

Torques, mass matrix, accelerations and placements at random states, 1e-9 relative. What a file holds beyond a tree of
bodies is an error with a reason; such files are accepted, and compared without it.
"""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

import gyrostat as gs
from gyrostat.io.mjcf.load import read_mjcf
from tests.support.mjcf_models import ABSENT, compiled, disagreement, files, pair, uncoupled, without_what_is_not_taken

mujoco = pytest.importorskip("mujoco", reason="MJCF files are read through MuJoCo, extra 'oracles'")

FILES = {name: (path, folder) for name, path, folder in files()}
LARGE = ("fruitfly", "drosophila", "dog", "humanoid_CMU", "rodent")
"""Those with more than 50 degrees of freedom."""

ROUNDED = {"brax/test_data/convex_convex.xml": 1e-7}
"""MuJoCo takes the centre of mass of a free body, 2.4e-9 m from its origin, for the origin."""

REASONS = {
    "fluid": "forces of a fluid", "tendon": "forces of tendons", "joint-forces": "armature on free joints",
    "root-tag": "is no MJCF", "include": "includes a file that is not there", "mesh-missing": "lacks meshes",
    "moving-massless": "moves without mass", "mujoco": "MuJoCo refuses it",
}  # fmt: skip


def cases():
    for name in FILES:
        yield pytest.param(name, marks=[pytest.mark.slow] if any(part in name for part in LARGE) else [], id=name)
    if not FILES:
        yield pytest.param("", marks=pytest.mark.skip(reason=ABSENT), id="absent")


@cache
def audit_of(name):
    path, folder = FILES[name]
    return gs.audit(path, roots=[folder])


def theirs(path):
    try:
        return compiled(mujoco, path), ""
    except ValueError as error:
        return None, str(error)


@pytest.mark.by_default(24)
@pytest.mark.parametrize("name", list(cases()))
def test_a_model_agrees_with_mujoco(name):
    path, folder = FILES[name]
    audit = audit_of(name)
    policy = "strict" if audit.ok else "accept"
    model, _ = read_mjcf(path.read_text("utf-8"), str(path), None, policy, [folder])
    other, why = theirs(path)
    if model is None:
        print(f"{name}: {audit.errors[0]}")
        assert other is None, "MuJoCo loads what is refused here"
        return
    if other is None:
        assert "Error opening file" in why, "loads what MuJoCo refuses, and not because of a mesh that is not needed"
        return
    without_what_is_not_taken(mujoco, other)
    if model.nv == 0:
        assert other.nv == 0
        return
    state = pair(model, other)
    found = disagreement(mujoco, state)
    if model.nv < other.nv:
        found["couplings"] = uncoupled(mujoco, state)
    assert max(found.values()) < ROUNDED.get(name, 1e-9), found


@pytest.mark.skipif(len({name.partition("/")[0] for name in FILES}) < 3, reason=ABSENT)
def test_most_files_load_and_the_others_say_why(capsys):
    counts, reasons = Counter(), Counter()
    for name in FILES:
        audit = audit_of(name)
        fatal = any(f.fatal for f in audit.errors)
        counts["strict" if audit.ok else "refused" if fatal else "accept"] += 1
        reasons.update({f.rule for f in audit.errors})
        if not audit.ok:
            print(f"{name}: {'; '.join(sorted({REASONS[f.rule] for f in audit.errors}))}")
    print(dict(counts), {REASONS[rule]: n for rule, n in reasons.items()})
    with capsys.disabled():
        shown = ", ".join(f"{n} {what}" for what, n in counts.items())
        print(f"\n{len(FILES)} MJCF files: {shown} ({', '.join(f'{REASONS[r]}: {n}' for r, n in reasons.items())})")
    assert counts["strict"] >= 90
    assert counts["refused"] <= 12
