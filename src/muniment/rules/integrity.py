"""Whether a store stands where its anchor saw it, or behind that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from muniment.results import Flaw

_ANCHOR = "anchor"


class Standing(Protocol):
    """An owner's state as far as it is compared."""

    @property
    def tenant_id(self) -> str:
        """The tenant."""

    @property
    def owner_no(self) -> int:
        """Its number inside the tenant."""

    @property
    def incarnation(self) -> bytes:
        """Changes when the owner is erased or restored."""

    @property
    def version(self) -> int:
        """Grows with each committed change of its records."""

    @property
    def last_seq(self) -> int:
        """Grows with each record and candidate."""

    @property
    def audit_number(self) -> int:
        """How many audit entries it has."""


class Noted(Protocol):
    """What an anchor says."""

    @property
    def is_there(self) -> bool:
        """Whether there is an anchor."""

    @property
    def is_genuine(self) -> bool:
        """Whether it is as it was written with the store's key."""

    @property
    def heads(self) -> tuple[Standing, ...]:
        """The owners' states that it notes."""


def compare(present: Mapping[tuple[str, int], Standing], noted: Noted | None) -> Iterator[Flaw]:
    """Yield what an anchor gives away about the present states.

    Args:
        present: The owners' states now, by tenant and number.
        noted: The anchor, or None when the store never had one.
    """
    if noted is None:
        return
    if not noted.is_there:
        yield Flaw("anchor_missing", None, None, _ANCHOR)
        return
    if not noted.is_genuine:
        yield Flaw("anchor_edited", None, None, _ANCHOR)
    for was in noted.heads:
        now = present.get((was.tenant_id, was.owner_no))
        if now is None:
            yield Flaw("owner_missing", was.tenant_id, was.owner_no, "owners")
        elif is_behind(now, was):
            yield Flaw("rolled_back", was.tenant_id, was.owner_no, "owners")


def is_behind(now: Standing, was: Standing) -> bool:
    """Return whether a state is older than one that was noted.

    The audit chain, the version and the order of writing only ever grow, the latter two also when
    an owner is erased.
    """
    return (
        now.audit_number < was.audit_number
        or now.version < was.version
        or now.last_seq < was.last_seq
    )
