"""Which contacts of a model the lanes of a rollout take, and its programs, which stay with it."""

from __future__ import annotations

from collections.abc import Iterable

from gyrostat.configuration.limits import limits_of
from gyrostat.configuration.model_cache import cached_on
from gyrostat.errors import StateError
from gyrostat.graph.contacts import Candidate, contact_candidates
from gyrostat.graph.network import kept_network
from gyrostat.simulate.constraints.follower_stops import FollowerStops
from gyrostat.simulate.kernels.model_kernels import ModelKernels
from gyrostat.simulate.rollout.control_law import WHO
from gyrostat.simulate.rollout.moreau_programs import MoreauPrograms
from gyrostat.simulate.rollout.moreau_rows import ContactStep
from gyrostat.spec.contact_law import ContactEntity
from gyrostat.spec.model import Model

MOST = 64
"""Candidates of one robot: all of them are in every step."""
HINT = "gs.simulate(method='moreau') takes it"


def moreau_programs(model: Model, kernels: ModelKernels) -> MoreauPrograms:
    """Programs of a model, made once."""
    kept, key = cached_on(model), ("moreau", tuple(kernels.live.items()))
    if key not in kept:
        rigid = rigid_candidates(model)
        if rigid:
            _expect_no_spin(model, kernels.live)
        kept[key] = MoreauPrograms(kernels, ContactStep(model, rigid, tuple(kernels.live)))
    return kept[key]


def _expect_no_spin(model: Model, live: Iterable[str]) -> None:
    """Refuse live properties of friction that lanes do not know."""
    for path in live:
        owner, _, prop = path.rpartition(".")
        if prop in ("torsional", "rolling") and isinstance(model.wiring.entities.get(owner), ContactEntity):
            raise StateError(
                f"{WHO}: parameters['{path}']: lanes do not know torsional or rolling friction. "
                "Hint: gs.simulate(method='moreau') does"
            )


def rigid_candidates(model: Model) -> tuple[Candidate, ...]:
    """Rigid contacts, all of which must be what lanes can do."""
    rigid = tuple(c for c in contact_candidates(model) if c.law.stiffness is None)
    for c in rigid:
        if not c.closed_form:
            raise StateError(
                f"{WHO}: contact '{c.name}': a {c.a.kind} and a {c.b.kind} have no nearest points in closed form. "
                "Hint: gs.ContactPair(..., exclude=True) leaves a pair out; gs.simulate(method='moreau') takes it"
            )
        if c.law.torsional or c.law.rolling:
            raise StateError(
                f"{WHO}: contact '{c.name}' has torsional or rolling friction, which lanes do not know. "
                "Hint: torsional=0.0, rolling=0.0; or gs.simulate(method='moreau'), which does"
            )
    if len(rigid) > MOST:
        raise StateError(
            f"{WHO}: '{model.name}' has {len(rigid)} contact candidates, and lanes take {MOST}, since all are in "
            f"every step. Hint: fewer shapes that can touch (gs.ContactPair(..., exclude=True)); {HINT}"
        )
    low, high = limits_of(model, "model", WHO)
    ends = FollowerStops(model, low, high).ends
    if ends:
        raise StateError(f"{WHO}: '{ends[0].joint}' follows other joints and has limits of its own. Hint: {HINT}")
    if rigid and kept_network(model).driven:
        raise StateError(
            f"{WHO}: the base of '{model.name}' moves by itself. Hint: a joint in its place, with contacts"
        )
    return rigid


def expect_no_rigid_contact(model: Model, method: str) -> None:
    """Refuse methods that would let bodies pass through each other."""
    rigid = [c.name for c in contact_candidates(model) if c.law.stiffness is None]
    if rigid:
        raise StateError(
            f"{WHO}: method '{method}' knows no rigid contact, and '{model.name}' has {len(rigid)}, such as "
            f"'{rigid[0]}'. Hint: method='moreau'; a stiffness makes it compliant; gs.load(..., contacts=False)"
        )
