"""Which writes a tombstone stands against. A table, not an opinion."""

from __future__ import annotations

from enum import StrEnum

from muniment.records import WritePath

_BY_A_PERSON = frozenset({WritePath.REMEMBER, WritePath.CORRECT, WritePath.OUTCOME})


class Burial(StrEnum):
    """Why a value was buried."""

    FORGOTTEN = "forgotten"
    REJECTED = "rejected"
    CORRECTED = "corrected"
    RETRACTED = "retracted"
    EXPIRED = "expired"


def admits(burial: Burial, path: WritePath, override: str | None) -> bool:
    """Return whether a value that was buried may be written again.

    ========== =========================== ==========================
    buried as  by a person, fresh source   inferred, imported, by job
    ========== =========================== ==========================
    forgotten  yes                         no
    rejected   with a stated reason        no
    corrected  with a stated reason        no
    retracted  with a stated reason        no
    expired    yes                         yes
    ========== =========================== ==========================
    """
    if burial is Burial.EXPIRED:
        return True
    if path not in _BY_A_PERSON:
        return False
    return burial is Burial.FORGOTTEN or override is not None
