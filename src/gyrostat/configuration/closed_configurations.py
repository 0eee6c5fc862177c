"""Configurations in which loops are closed: the reference, and random ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gyrostat.configuration.limits import limits_of
from gyrostat.errors import StateError
from gyrostat.graph.loops.numbers import LoopNumbers, close
from gyrostat.graph.loops.plan import loop_plan
from gyrostat.graph.network import kept_network
from gyrostat.spec.model import Model

Array = np.ndarray
ROUNDS = 400
"""How often a configuration is drawn again, for the sake of loops that do not close."""


def reference_configuration(model: Model) -> Array:
    """q (nq,) of the context's reference, zero where it says nothing, with closed loops."""
    q = np.zeros(model.nq)
    q[model.layout.quaternions[:, 3]] = 1.0
    near = {name: tuple(x) for name, x in model.context.reference.items()}
    if model.wiring.tree.loops:
        plan = loop_plan(model)
        if plan.error is not None:
            raise plan.error
        near = dict(plan.near)
    for block in model.layout:
        given, names = near.get(block.entity, ()), model.wiring.entities[block.entity].coordinates
        if len(given) == block.nq:
            q[block.q] = given
        elif given and len(given) == len(names):  # a joint of which some coordinates follow
            q[block.q] = [given[names.index(part)] for part in block.coordinates]
        if block.turns:
            q[block.quaternion] /= np.linalg.norm(q[block.quaternion])
    return q


def closed_example(model: Model, rng: np.random.Generator) -> Array:
    """q (nq,) around the reference, with closed loops: one of those that the plan was made on."""
    plan = loop_plan(model)
    if plan.error is not None:
        raise plan.error
    if not plan.samples:
        return reference_configuration(model)
    return of_tree(model, plan.tree, plan.samples[int(rng.integers(len(plan.samples)))])


def of_tree(model: Model, tree: Model, whole: Array) -> Array:
    """q (nq,) of a model from that of its tree."""
    number = {name: k for k, name in enumerate(_names(tree))}
    return np.array([whole[number[name]] for name in _names(model)])


def _names(model: Model) -> list[tuple[str, str]]:
    return [(block.entity, part) for block in model.layout for part in block.coordinates]


def closed_samples(
    model: Model, draw: Callable[[tuple[int, ...]], Array], lead: tuple[int, ...], within: bool
) -> Array:
    """q (*lead, nq), drawn again until the loops close."""
    net = kept_network(model)
    numbers, ties = LoopNumbers(net, net.closures), net.transmission.loops
    low, high = limits_of(model, "model" if within else None, "random_configuration")
    count = int(np.prod(lead, dtype=int))
    rows = np.zeros((count, model.nq))
    for i in range(count):
        for _ in range(ROUNDS):
            q = draw((1,))[0]
            if net.closures:
                q, gap = close(numbers, q, np.ones(model.nv))
                if gap > 1e-10 * numbers.size(q) or (q < low).any() or (q > high).any():
                    continue
            if ties is None or all(m[0] > 1e-6 for _, _, margins in net.transmission.loop_margins(q) for m in margins):
                rows[i] = q
                break
        else:
            raise StateError(
                f"random_configuration: none of {ROUNDS} random configurations of '{model.name}' has closed loops "
                "within the limits. Hint: narrow the limits of its joints to the workspace, or write "
                "within_limits=False"
            )
    return rows.reshape(*lead, model.nq)
