"""After a load test: everything acknowledged is there, everything forgotten is gone, no more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from muniment import memory as facade
from muniment.bench.load_client import Settings, location, scope
from muniment.bench.sample import RandomEmbedder
from muniment.records import Plain
from muniment.scoped import ScopedMemory

_PAGE = 500


@dataclass(frozen=True, slots=True)
class Checked(Plain):
    """What the whole store was checked for.

    Attributes:
        written: Writes that were acknowledged and not taken back.
        forgotten: Deletions that were acknowledged.
        lost: Acknowledged writes that are not there.
        resurrected: Acknowledged deletions whose record is there, or was recalled later.
        foreign: Records in another scope than their own, or that nobody wrote.
        twice: Records that are there more than once.
        entries: Links of audit chains that were checked.
        flaws: What a verification of every row and chain found wrong.
    """

    written: int
    forgotten: int
    lost: int
    resurrected: int
    foreign: int
    twice: int
    entries: int
    flaws: int

    @property
    def is_sound(self) -> bool:
        """Whether nothing is wrong."""
        return not (self.lost or self.resurrected or self.foreign or self.twice or self.flaws)


def check(settings: Settings, lines: Sequence[dict[str, Any]]) -> Checked:
    """Compare a store with what its clients wrote down.

    Args:
        settings: Where the store is, and how many scopes it has.
        lines: Every line of every client.
    """
    wanted = {line["mark"] for line in lines if line["op"] == "wants"}
    unwanted = {line["mark"] for line in lines if line["op"] == "unwants"}
    written = _acknowledged("remember", lines) - unwanted
    forgotten = _acknowledged("forget", lines)
    wrong = sum(line["op"] == "wrong" for line in lines)
    with facade.open(location(settings), embedder=RandomEmbedder(), create=False) as memory:
        there: Counter[str] = Counter()
        foreign = 0
        for number in range(settings.scopes):
            marks = _marks(scope(memory, number))
            foreign += sum(not mark.startswith(f"s{number} ") for mark in marks)
            there.update(marks)
        verified = memory.verify()
    return Checked(
        written=len(written),
        forgotten=len(forgotten),
        lost=len(written - there.keys()),
        resurrected=len(forgotten & there.keys()) + wrong,
        foreign=foreign + len(there.keys() - wanted),
        twice=sum(count > 1 for count in there.values()),
        entries=verified.entries,
        flaws=len(verified.flaws),
    )


def _acknowledged(op: str, lines: Sequence[dict[str, Any]]) -> set[str]:
    return {line["mark"] for line in lines if line["op"] == op and not line["error"]}


def _marks(me: ScopedMemory) -> list[str]:
    """Return the marks with which the texts of a scope begin."""
    found: list[str] = []
    cursor: str | None = None
    while True:
        page = me.list(limit=_PAGE, cursor=cursor)
        found += [" ".join(record.text.split(" ", 3)[:3]) for record in page.records]
        cursor = page.cursor
        if cursor is None:
            return found
