"""Which of two statements about the same field stands. A table, not an opinion."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from muniment.records import Authority, JSONValue, canonical_json


class Decision(StrEnum):
    """What happens when a statement meets an active one about the same field."""

    SUPERSEDE = "supersede"
    KEEP = "keep"
    CONFLICT = "conflict"


@dataclass(frozen=True, slots=True)
class Claim:
    """What precedence looks at. No time: recency never beats authority.

    Attributes:
        authority: Rank of the source, set by the write path.
        actor: Who made the statement.
        value: What it says.
    """

    authority: Authority
    actor: str
    value: JSONValue


def decide(active: Claim, incoming: Claim) -> Decision:
    """Return what an incoming statement does to the active one about the same field.

    ==================== ============= ============= ==========
    incoming is          same value    same actor    decision
    ==================== ============= ============= ==========
    of higher authority  any           any           supersede
    of equal authority   yes           any           supersede
    of equal authority   no            yes           supersede
    of equal authority   no            no            conflict
    of lower authority   yes           any           keep
    of lower authority   no            any           conflict
    ==================== ============= ============= ==========

    Supersession follows the order of commit, never a time that a payload names.
    """
    if incoming.authority > active.authority:
        return Decision.SUPERSEDE
    same = canonical_json(incoming.value) == canonical_json(active.value)
    if incoming.authority < active.authority:
        return Decision.KEEP if same else Decision.CONFLICT
    agree = same or incoming.actor == active.actor
    return Decision.SUPERSEDE if agree else Decision.CONFLICT
