"""Graph rewriting (H04 4.2.2): named rules that simplify the network, each of which leaves all results unchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from gyrostat.errors import SpecError, nearest
from gyrostat.graph.draft import Draft
from gyrostat.graph.joint_rules import align_axes, fold_into_joints, fold_into_rotors, regroup_inertia
from gyrostat.graph.rigid_rules import drop_identities, fold_displacements, merge_bodies, prune_frames

Event = tuple[str, str]
Rule = Callable[[Draft], list[str]]

RULES: dict[str, Rule] = {
    "drop-identities": drop_identities,
    "fold-displacements": fold_displacements,
    "merge-bodies": merge_bodies,
    "fold-into-joints": fold_into_joints,
    "fold-into-rotors": fold_into_rotors,
    "prune-frames": prune_frames,
    "align-axes": align_axes,
    "regroup-inertia": regroup_inertia,
}
"""Every rule, in the order in which they are tried."""

DEFAULT = tuple(name for name in RULES if name != "regroup-inertia")
"""Rules that any algorithm may use."""


def rewrite(draft: Draft, names: list[str], off: Iterable[str] = ()) -> list[Event]:
    """Apply the rules until none of them matches; return what was done."""
    for name in [*names, *off]:
        if name not in RULES:
            raise SpecError.one("network", "rewriting-rule", f"there is no rule '{name}'", nearest(name, RULES), name)
    events: list[Event] = []
    while True:
        before = len(events)
        for name, rule in RULES.items():
            if name in names:
                events += [(name, told) for told in rule(draft)]
        if len(events) == before:
            return events
