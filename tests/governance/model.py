"""What one scope or space must hold after any sequence of calls, as simply as Python can say it."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from tests.governance.stated import Row, Said, Waiting

SINGLE, BINDING = ("preference", "procedure"), ("procedure",)
DAY = 86_400_000_000
LIFETIME, PATIENCE = {"insight": 365 * DAY, "outcome": 365 * DAY}, 30 * DAY


class RefusedError(Exception):
    """A call that must fail, with the code of its error."""


@dataclass
class Owner:
    """The records, the candidates and what is buried."""

    now: int = 0
    rows: dict[str, Row] = field(default_factory=dict)
    waiting: dict[str, Waiting] = field(default_factory=dict)
    buried: dict[tuple[str, ...], set[str]] = field(default_factory=dict)
    sources: set[str] = field(default_factory=set)

    def active(self) -> list[Row]:
        return [row for row in self.rows.values() if row.is_active(self.now)]

    def believed(self, at: int) -> list[Row]:
        held = (row for row in self.rows.values() if row.is_kept(at) and row.is_kept(self.now))
        return [
            one for one in held if one.made <= at and (one.replaced is None or one.replaced > at)
        ]

    def pending(self) -> list[Waiting]:
        return [one for one in self.waiting.values() if one.status == "pending"]

    def open_conflicts(self) -> list[Waiting]:
        active = {row.id for row in self.active()}
        return [one for one in self.pending() if one.contested in active]

    def holder(self, said: Said) -> Row | None:
        """Return the record that holds the field, expired or not."""
        if said.field is None or said.kind not in SINGLE:
            return None
        held = (row for row in self.rows.values() if row.replaced is None)
        key = (said.kind, said.field)
        return next((row for row in held if (row.said.kind, row.said.field) == key), None)

    def rival(self, said: Said) -> Row | None:
        row = self.holder(said)
        return row if row is not None and row.is_active(self.now) else None

    def check_new(self, said: Said) -> None:
        taken = {row.said.source for row in self.rows.values()}
        if said.source in taken | {one.said.source for one in self.waiting.values()}:
            raise RefusedError("conflict")

    def check_buried(self, said: Said, *, person: bool, override: bool = False) -> None:
        reasons = set().union(*(self.buried.get(one, set()) for one in said.prints))
        admitted = {"expired"} | ({"forgotten"} if person else set())
        if said.source in self.sources or not (reasons <= admitted or (person and override)):
            raise RefusedError("tombstoned")

    def bury(
        self, said: Said, reason: str, sparing: AbstractSet[tuple[str, ...]] = frozenset()
    ) -> None:
        self.sources.add(said.source)
        for one in said.prints - sparing:
            self.buried.setdefault(one, set()).add(reason)

    def store(self, said: Said, rank: int, actor: str, new_id: str, old: Row | None) -> None:
        lifetime = LIFETIME.get(said.kind)
        expires = self.now + lifetime if said.expires is None and lifetime else said.expires
        row = self.rows[new_id] = Row(new_id, said, rank, actor, self.now, expires)
        if old is None:
            return
        row.old, old.new, old.replaced = old.id, new_id, self.now
        for one in self.pending():
            if one.contested == old.id:
                agrees = one.said.claim == said.claim
                one.contested, one.same = (None, new_id) if agrees else (new_id, one.same)

    def write(
        self, said: Said, path: str, rank: int, actor: str, new_id: str, *, override: bool = False
    ) -> str:
        """Say what a write gives; `new_id` names the record or candidate it makes."""
        if any(row.said == said for row in self.rows.values()):
            return "repeated"
        for one in self.waiting.values():
            if one.asked == said and one.path != "propose":
                return "repeated" if one.became in self.rows else "contested"
        self.check_new(said)
        self.check_buried(said, person=path != "import", override=override)
        rival = self.rival(said)
        if rival is not None and rank <= rival.rank:
            agrees = said.claim == rival.said.claim
            if rank < rival.rank and agrees:
                return "repeated"
            if not agrees and (rank < rival.rank or actor != rival.actor):
                new = Waiting(new_id, said, said, path, rank, actor, self.now, rival.id)
                self.waiting[new_id] = new
                return "contested"
        self.store(said, rank, actor, new_id, self.holder(said))
        return "created"

    def propose(self, said: Said, actor: str, new_id: str) -> str:
        for one in self.waiting.values():
            if one.asked == said:
                return one.id
        self.check_new(said)
        self.check_buried(said, person=False)
        one = Waiting(new_id, said, said, "propose", 20, actor, self.now)
        self.compare(one)
        self.waiting[new_id] = one
        return new_id

    def compare(self, one: Waiting) -> None:
        rival = self.rival(one.said)
        agrees = rival is not None and rival.said.claim == one.said.claim
        one.same = rival.id if rival and agrees else None
        one.contested = rival.id if rival and not agrees else None

    def undecided(self, candidate_id: str) -> Waiting:
        one = self.waiting[candidate_id]
        if one.status != "pending":
            raise RefusedError("conflict")
        return one

    def approve(self, candidate_id: str, rank: int, new_id: str, *, override: bool) -> None:
        one, rival = self.undecided(candidate_id), self.rival(self.waiting[candidate_id].said)
        if (one.contested or one.same) != (rival.id if rival else None):
            self.compare(one)
            raise RefusedError("stale_approval")
        person = override or one.path not in ("propose", "import")
        self.check_buried(one.said, person=person, override=override)
        self.store(one.said, max(rank, one.rank), one.actor, new_id, self.holder(one.said))
        one.status, one.became = "approved", new_id

    def reject(self, candidate_id: str) -> None:
        one, rival = self.undecided(candidate_id), self.rival(self.waiting[candidate_id].said)
        one.status = "rejected"
        self.bury(one.said, "rejected", rival.said.prints if rival else set())

    def revise(self, candidate_id: str, text: str, actor: str) -> None:
        one = self.undecided(candidate_id)
        said = replace(one.said, text=text)
        self.check_buried(said, person=False)
        one.said, one.actor, one.rank = said, actor, min(one.rank, 40)
        self.compare(one)

    def correct(self, old: Row, said: Said, rank: int, actor: str, new_id: str) -> None:
        if not old.is_active(self.now):
            raise RefusedError("not_found")
        if (old.said.text, old.said.value) == (said.text, said.value):
            raise RefusedError("invalid_input")
        self.check_new(said)
        self.check_buried(said, person=True)
        self.store(said, rank, actor, new_id, old)
        self.bury(old.said, "corrected", said.prints)

    def forget(self, gone: Iterable[Row], reason: str, also: Iterable[Waiting] = ()) -> None:
        """Remove records with the candidates that carry the same."""
        rows = {row.id: row for row in gone}
        sources = {row.said.source for row in rows.values()}
        prints = set().union(*(row.said.prints for row in rows.values()))
        carried = {one.id: one for one in also}
        for one in self.waiting.values():
            same = reason == "forgotten" and one.said.prints & prints
            if one.became in rows or one.said.source in sources or same:
                carried[one.id] = one
        gone_said = [row.said for row in rows.values()]
        for said in (*gone_said, *(one.said for one in carried.values())):
            self.bury(said, reason)
        self.rows = {key: row for key, row in self.rows.items() if key not in rows}
        self.waiting = {key: one for key, one in self.waiting.items() if key not in carried}
        for one in self.pending():
            one.contested = None if one.contested in rows else one.contested

    def versions(self, row: Row) -> list[Row]:
        """Return a record and its older versions that said the same."""
        found = [row]
        while row.old in self.rows and self.rows[row.old].said.prints == row.said.prints:
            row = self.rows[row.old]
            found.append(row)
        return found

    def maintain(self) -> None:
        self.forget([row for row in self.rows.values() if not row.is_kept(self.now)], "expired")
        for one in self.pending():
            one.status = "lapsed" if one.made < self.now - PATIENCE else one.status

    def history(self, memory_id: str) -> list[str]:
        chain = [memory_id]
        while (old := self.rows[chain[0]].old) in self.rows:
            chain.insert(0, str(old))
        while (new := self.rows[chain[-1]].new) in self.rows:
            chain.append(str(new))
        return [one for one in chain if self.rows[one].is_kept(self.now)]
