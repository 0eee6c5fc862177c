"""Loops put into a network as its plan says: closed forms as ties, the others as closures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gyrostat.graph.data_flow import Network
from gyrostat.graph.loops.closed_forms import candidates
from gyrostat.graph.loops.plan_data import LoopPlan
from gyrostat.graph.loops.ties import LoopStep, LoopTies
from gyrostat.graph.loops.ways import closures


def with_loops(network: Network, plan: LoopPlan | None, live: Mapping[str, Any]) -> Network:
    """The network whose loops are treated; without a plan, all of them are constraints."""
    every = closures(network, live)
    if plan is None:
        return replace(network, closures=every)
    moved = network.transmission
    steps: list[LoopStep] = []
    for solved in plan.solved:
        if solved.loop in moved.constant_loops:
            continue
        slots = tuple(moved.slices[name][0].start + k for name, k in solved.unknowns)
        numbers = tuple(moved.slices[name][1].start + k for name, k in solved.unknowns)
        form = candidates(every[solved.loop], slots)[solved.form]
        steps.append(LoopStep(every[solved.loop], form, solved.signs, solved.rows, slots, numbers))
    near = {at.start + i: x for name, (at, _) in moved.slices.items() for i, x in enumerate(plan.near.get(name, ()))}
    blocks = tuple((b.q, b.v, b.quaternion_at) for b in network.model.layout)
    size = network.model.nq, moved.n
    ties = LoopTies(tuple(steps), *size, moved.followers, moved.place, near, blocks) if steps else None
    left = tuple(every[i] for i in plan.constrained)
    return replace(network, closures=left, transmission=replace(moved, loops=ties))
