"""Machine code of tangents, found again by what it is made of: a second run with other numbers records nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from gyrostat.algorithms.constrained.constraint_set import ConstraintSet
from gyrostat.configuration.model_cache import cached_on
from gyrostat.engine.drivers.kernel_code import KernelCode
from gyrostat.engine.drivers.shared_kernel_code import SharedKernelCode
from gyrostat.engine.tracing.lifted_constants import lifted_constants
from gyrostat.engine.tracing.program import Program
from gyrostat.graph.network import kept_network
from gyrostat.simulate.kernels.law_kernels import shared_code
from gyrostat.simulate.kernels.model_kernels import ModelKernels
from gyrostat.simulate.plant.plant import Plant
from gyrostat.simulate.sensitivity.tangent_programs import (
    SHARED,
    place_tangents,
    stage_tangents,
    update_tangents,
)

MOST = 64
"""Kernels of one model that are kept."""


class TangentKernels(NamedTuple):
    """Of a plant; ``place`` is None where q and v are alike, ``update`` where nothing is sampled."""

    stage: SharedKernelCode
    place: SharedKernelCode | None
    update: SharedKernelCode | None
    sampling: KernelCode | None
    """The update of the memory itself."""

    @property
    def work(self) -> int:
        """Doubles of work space."""
        return max(code.work for code in self if code is not None)


def tangent_kernels(plant: Plant, live: Mapping[str, Any], wrt: tuple[str, ...], retracted: bool) -> TangentKernels:
    """``live``: properties that are inputs; ``wrt``: which of "parameters" and "live" change; ``retracted``: steps end
    at a displacement, not at local coordinates."""
    model, law = plant.base, plant.recording.kernels
    shapes = {path: np.shape(x) for path, x in live.items()}
    key = tuple(shapes.items()), plant.forward
    net = kept_network(model)

    def kernels() -> ModelKernels:
        return ModelKernels(model, net, ConstraintSet((), model.nv), shapes, plant.forward)

    def stage() -> Program:
        return stage_tangents(_kept(plant, ("dynamics", *key), kernels), law.program, wrt)

    place = update = sampling = None
    if not plant.plain:
        place = _code(plant, ("place", retracted), lambda: place_tangents(model, retracted))
    if plant.source.sample_times and plant.recording.update is not None:
        lifted = lifted_constants(plant.recording.update).program
        update = _code(plant, ("update", lifted.digest, wrt), lambda: update_tangents(model, lifted, wrt))
        sampling = shared_code(lifted)
    return TangentKernels(_code(plant, ("stage", *key, law.program.digest, wrt), stage), place, update, sampling)


def _code(plant: Plant, key: tuple[Any, ...], program: Callable[[], Program]) -> SharedKernelCode:
    def made() -> SharedKernelCode:
        tangents = program()
        return SharedKernelCode(tangents, [slot.name for slot in tangents.inputs if slot.name in SHARED])

    return _kept(plant, key, made)


def _kept(plant: Plant, key: tuple[Any, ...], made: Callable[[], Any]) -> Any:
    kept = cached_on(plant.base).setdefault("tangents", {})
    if key not in kept:
        while len(kept) >= MOST:
            kept.pop(next(iter(kept)))
        kept[key] = made()
    return kept[key]
