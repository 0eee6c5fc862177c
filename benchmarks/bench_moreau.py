"""Time stepping with contacts, next to MuJoCo's own steps in the same process: robots that fall, settle and lie."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

import gyrostat as gs
from benchmarks.harness import Effort, Row
from gyrostat.graph.contacts import contact_candidates
from tests.support.mjcf_models import compiled, files

NOTES = (
    "humanoid and quadruped of dm_control's suite, dt = 5 ms, joint limits on, no controls. Both programs start from "
    "the same state and go their own way; 'settling': 400 steps from there, 'lying': 200 steps after 1,000.",
    "Candidates: all geoms with the ground (and walls) as the file has them, and all pairs of capsules and spheres of "
    "two bodies that MuJoCo tests (no parent and child, no excludes, masks kept); the quadruped's torso is an "
    "ellipsoid with cylinders, and touches the ground only. MuJoCo tests the same pairs, and those of the torso.",
    "MuJoCo: as the file says, Newton's method with pyramidal cones, soft contacts. gyrostat: rigid contacts, exact "
    "cones, restitution 0.1 everywhere, no rolling friction of the quadruped's ball; residual of the cone problem "
    "printed with each case.",
)
DT = 5e-3
START = {"humanoid": 1.3, "quadruped": 0.6}
SETTLING, BETWEEN, LYING = 400, 600, 200
LIMITS = gs.JointLimits()


def measure(effort: Effort) -> list[Row]:
    import mujoco

    rows: list[Row] = []
    rounds = 1 if effort.number is not None else 12
    for name, height in START.items():
        path = next((f for n, f, _ in files() if n.endswith(f"suite/{name}.xml")), None)
        if path is None:
            raise RuntimeError("bench_moreau: models of dm_control are not there. Hint: ./run bench fetches them")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            peer, model = compiled(mujoco, path), gs.load(str(path))
        model = with_self_contacts(model, peer)
        rows += compared(name, height, model, peer, mujoco, rounds)
    return rows


def with_self_contacts(model: gs.Model, peer: Any, restitution: float = 0.1) -> gs.Model:
    """Contacts of its bodies with each other, where MuJoCo looks for them and they are capsules and spheres."""
    round_ones = {
        name
        for name, x in model.wiring.entities.items()
        if isinstance(x, gs.RigidBody) and x.shapes and all(s.kind in ("capsule", "sphere") for s in x.shapes)
    }
    names = [(peer.body(a).name, peer.body(b).name) for a, b in body_pairs(peer)]
    pairs = [gs.ContactPair(a, b, friction=1.0, restitution=restitution) for a, b in names if {a, b} <= round_ones]
    entities = tuple(_lawful(x, restitution) for x in model.entities)
    return replace(model, entities=(*entities, *pairs))


def _lawful(x: Any, restitution: float) -> Any:
    """An entity with a ground that bounces, and shapes without torsional and rolling friction."""
    if isinstance(x, gs.Ground):
        return x.model_copy(update={"restitution": restitution})
    if isinstance(x, gs.RigidBody) and x.shapes:
        none = {"torsional": 0.0, "rolling": 0.0}
        laws = [s.contact and s.contact.model_copy(update=none) for s in x.shapes]
        shapes = tuple(s.model_copy(update={"contact": law}) for s, law in zip(x.shapes, laws, strict=True))
        return x.model_copy(update={"shapes": shapes})
    return x


def body_pairs(peer: Any) -> list[tuple[int, int]]:
    """Bodies whose geoms MuJoCo may let touch: not welded together, not parent and child, not excluded, masks meet."""
    excluded = {int(x) for x in peer.exclude_signature}
    weld, parent = peer.body_weldid, peer.body_parentid
    found = []
    for a in range(1, peer.nbody):
        for b in range(a + 1, peer.nbody):
            one, two = weld[a], weld[b]
            if one == two or weld[parent[two]] == one or weld[parent[one]] == two:
                continue
            if (a << 16) + b in excluded or (b << 16) + a in excluded:
                continue
            geoms = [[g for g in range(peer.ngeom) if peer.geom_bodyid[g] == x] for x in (a, b)]
            kinds, met = peer.geom_contype, peer.geom_conaffinity
            if any((kinds[i] & met[j]) or (kinds[j] & met[i]) for i in geoms[0] for j in geoms[1]):
                found.append((a, b))
    return found


def compared(name: str, height: float, model: gs.Model, peer: Any, mujoco: Any, rounds: int) -> list[Row]:
    """Both programs in turn, the best of some rounds."""
    q = np.array(gs.neutral(model))
    q[next(k for k, x in enumerate(model.coordinates) if x.endswith(".z"))] = height
    data = mujoco.MjData(peer)

    def begin() -> None:
        mujoco.mj_resetData(peer, data)
        data.qpos[2] = height

    def stepped(count: int) -> float:
        start = time.perf_counter()
        mujoco.mj_step(peer, data, count)
        return (time.perf_counter() - start) / count

    began = time.perf_counter()
    _run(model, q, np.zeros(model.nv), 1)
    rows = [Row("build", name, "gyrostat, to the first step", time.perf_counter() - began)]
    settled = _run(model, q, np.zeros(model.nv), SETTLING + BETWEEN)
    begin()
    mujoco.mj_step(peer, data, SETTLING + BETWEEN)
    lying = data.qpos.copy(), data.qvel.copy()
    times: dict[tuple[str, str], float] = {}
    statistics = {}
    for _ in range(rounds):
        ours = _run(model, q, np.zeros(model.nv), SETTLING)
        rest = _run(model, settled.q[-1], settled.v[-1], LYING)
        begin()
        theirs = stepped(SETTLING)
        data.qpos[:], data.qvel[:] = lying
        found = {
            ("settling", "gyrostat"): _of(ours), ("lying", "gyrostat"): _of(rest),
            ("settling", "mujoco"): theirs, ("lying", "mujoco"): stepped(LYING),
        }  # fmt: skip
        times = {key: min(x, times.get(key, np.inf)) for key, x in found.items()}
        statistics = {"settling": ours.counters.statistics, "lying": rest.counters.statistics}
    for (stage, program), seconds in times.items():
        s = statistics[stage]
        steps = max(1, s["contact_steps"])
        told = f"{name}, {stage}, {len(contact_candidates(model))} candidates, {s['contact_rows'] / steps:.0f} rows"
        told += f", residual {s['largest_residual']:.0e} m/s, {1 - s['unsolved_steps'] / steps:.1%} below 1e-8"
        rows.append(Row("run", told, program, seconds, peer=program == "mujoco"))
    return rows


def _run(model: gs.Model, q: Any, v: Any, steps: int) -> gs.Result:
    end = steps * DT
    return gs.simulate(
        model, q0=q, v0=v, t_end=end, method="moreau", dt=DT, t_eval=[end], events=LIMITS, progress=False
    )


def _of(result: gs.Result) -> float:
    return result.counters.wall_time / result.counters.steps
