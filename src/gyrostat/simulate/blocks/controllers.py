"""Controllers of joints, ready to run: blocks whose output "tau" is (nv,), from q, v and a reference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gyrostat.errors import nearest
from gyrostat.simulate.blocks.block import Block
from gyrostat.simulate.blocks.compose import Diagram, Renamed
from gyrostat.simulate.blocks.digital import Delay
from gyrostat.simulate.blocks.given import refuse
from gyrostat.simulate.blocks.model_based import ComputedTorque, InverseDynamicsFeedforward, expect_plain
from gyrostat.simulate.blocks.pid import PID
from gyrostat.simulate.blocks.reference import Reference
from gyrostat.simulate.blocks.shaping import Saturation, Sum, difference
from gyrostat.spec.model import Model


def p(kp: Any, reference: Any = None, **options: Any) -> Diagram:
    """tau = kp (q_ref - q); options as in :func:`pid`."""
    return pid(kp, 0.0, 0.0, reference, **options)


def pi(kp: Any, ki: Any, reference: Any = None, **options: Any) -> Diagram:
    """tau = kp e + ki int e dt, e = q_ref - q; options as in :func:`pid`."""
    return pid(kp, ki, 0.0, reference, **options)


def pd(kp: Any, kd: Any, reference: Any = None, **options: Any) -> Diagram:
    """tau = kp (q_ref - q) + kd (v_ref - v); options as in :func:`pid`."""
    return pid(kp, 0.0, kd, reference, **options)


def pid(
    kp: Any,
    ki: Any = 0.0,
    kd: Any = 0.0,
    reference: Any = None,
    *,
    limit: Any = None,
    anti_windup: str = "back-calculation",
    tracking_time: Any = None,
    feedforward: Any = (),
    model: Model | None = None,
    size: int | None = None,
    sample_time: float | None = None,
    delay: int = 0,
    position: str = "q",
    velocity: str = "v",
    name: str = "",
) -> Diagram:
    """tau = kp e + ki int e dt + kd e' + feedforward, within ``limit``; e = q_ref - q, e' = v_ref - v.

    Gains [N m/rad, N m/(rad s), N m s/rad]: one number for all joints, one for each, or a dict by joint name with the
    ``model``. ``reference``: a trajectory, numbers (n,), or None: then q_ref (and v_ref) come from outside.
    ``feedforward``: a block or blocks with one output each, added before the limit. ``sample_time`` [s] makes it
    digital: sampled, computed, held, and given out ``delay`` samples later. ``position`` and ``velocity``: measured
    signals. ``anti_windup`` and ``tracking_time``: see :class:`PID`."""
    who = f"PID '{name}'" if name else "PID"
    if model is not None:
        expect_plain(model, who)
    gains = {key: by_joint(value, model, who, key) for key, value in (("kp", kp), ("ki", ki), ("kd", kd))}
    parts: list[Block] = [difference("q_ref", position, "e")]
    ahead = [feedforward] if isinstance(feedforward, Block) else list(feedforward)
    for block in ahead:
        if not isinstance(block, Block) or len(block.outputs) != 1:
            message = f"{getattr(block, 'who', block)!r} is not a block with one output"
            raise refuse(who, "feedforward", message, "GravityCompensation(model), for example", block)
    needs = {signal for block in ahead for signal in block.inputs}
    order = 2 if "a_ref" in needs else 1
    size = size if size is not None or model is None else model.nv
    if reference is not None:
        order = order if "v_ref" in needs or "a_ref" in needs or _any(gains["kd"]) else 0
        source = _reference(reference, order, model, who)
        size = source.motion.n if size is None else size
        parts.append(source)
    law = PID(
        **gains,
        limit=by_joint(limit, model, who, "limit"),
        anti_windup=anti_windup,
        tracking_time=tracking_time,
        size=size,
        sample_time=sample_time,
        feedforward="feedforward" if ahead else "",
        target="tau" if not delay else "tau_now",
        name=name,
    )
    if law.rate in law.inputs:
        parts.append(difference("v_ref", velocity, law.rate))
    targets = tuple(f"feedforward_{k}" for k in range(len(ahead)))
    parts += [Renamed(b, (), ((b.outputs[0], s),)) for b, s in zip(ahead, targets, strict=True)]
    parts += [Sum(targets, (), "feedforward")] if ahead else []
    later = _delayed(sample_time, delay, law.size, who) if delay else ()
    return Diagram((*parts, law, *later), ("tau",), name)


def computed_torque(
    model: Model,
    kp: Any,
    kd: Any,
    reference: Any = None,
    *,
    limit: Any = None,
    sample_time: float | None = None,
    delay: int = 0,
    position: str = "q",
    velocity: str = "v",
    name: str = "",
) -> Diagram:
    """Inverse dynamics in the loop, see :class:`ComputedTorque`; the other arguments as in :func:`pid`."""
    who = f"computed torque '{name}'" if name else "computed torque"
    gains = by_joint(kp, model, who, "kp"), by_joint(kd, model, who, "kd")
    law = ComputedTorque(model, *gains, position, velocity, "tau_wanted", name)
    return _finished(law, reference, by_joint(limit, model, who, "limit"), sample_time, delay, model, name, who)


def feedforward(model: Model, reference: Any, *, limit: Any = None, name: str = "") -> Diagram:
    """Inverse dynamics of the reference alone, without feedback. With feedback: ``pd(..., feedforward=
    InverseDynamicsFeedforward(model))``."""
    who = f"feedforward '{name}'" if name else "feedforward"
    law = InverseDynamicsFeedforward(model, "tau_wanted", name)
    return _finished(law, reference, by_joint(limit, model, who, "limit"), None, 0, model, name, who)


def _finished(
    law: Block, reference: Any, limit: Any, sample_time: Any, delay: Any, model: Model, name: str, who: str
) -> Diagram:
    """A law without states, with its reference, limits and sampling; the signal goes tau_wanted, tau_now, tau."""
    digital = sample_time is not None or bool(delay)
    end = Saturation(limit, source="tau_wanted", target="tau_now" if digital else "tau")
    parts = [law, end] if reference is None else [_reference(reference, 2, model, who), law, end]
    held = _delayed(sample_time, delay, model.nv, who) if digital else ()
    return Diagram((*parts, *held), ("tau",), name)


def _delayed(sample_time: Any, delay: Any, size: int | None, who: str) -> tuple[Block, ...]:
    """tau_now, sampled and given out later as tau."""
    if sample_time is None:
        message = f"delay = {delay!r} counts samples, but there is no sample_time"
        raise refuse(who, "delay", message, "give sample_time [s]", delay)
    return (Delay(sample_time, delay, size=size, source="tau_now", target="tau"),)


def _reference(motion: Any, order: int, model: Model | None, who: str) -> Reference:
    """The reference of a controller, whose coordinates must be those of the model."""
    reference = Reference(by_joint(motion, model, who, "reference"), order)
    names, n = reference.motion.names, reference.motion.n
    if model is not None and (n != model.nv or (names is not None and names != model.dofs)):
        told = f"{n} coordinates" if names is None else f"coordinates {', '.join(names)}"
        message = f"reference has {told}, but '{model.name}' moves {', '.join(model.dofs[:12])} ({model.nv})"
        raise refuse(who, "reference", message, "give one coordinate for each of model.dofs, in that order", names)
    return reference


def _any(gain: Any) -> bool:
    return bool(np.any(np.asarray(gain)))


def by_joint(value: Any, model: Model | None, who: str, what: str) -> Any:
    """A dict by joint name as a list in the order of ``model.dofs``; anything else as it is."""
    if not isinstance(value, Mapping):
        return value
    if model is None:
        raise refuse(who, what, f"{what} names joints, but there is no model", "give model=...", list(value))
    for joint in value:
        if joint not in model.dofs:
            message = f"'{model.name}' has no rate '{joint}'"
            raise refuse(who, what, message, nearest(str(joint), model.dofs), joint)
    missing = [joint for joint in model.dofs if joint not in value]
    if missing:
        message = f"{what} lacks {', '.join(missing[:6])}"
        raise refuse(who, what, message, "give a value for every joint, zero where nothing acts", missing)
    return [value[joint] for joint in model.dofs]
