"""The end of lifetimes: expired records are deleted or archived, old tombstones are retired."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from muniment.clock import new_id
from muniment.errors import NotFoundError
from muniment.ports import Deletion, EndedRow, ExpiredRow, OwnerState, Transaction
from muniment.rules.deletion import Gone, Target, goes_with
from muniment.rules.statement import statement_of
from muniment.services.forgetting.choosing import every_candidate
from muniment.services.forgetting.fanout import CHUNK, Fanout, Order
from muniment.services.forgetting.lying import in_threads
from muniment.services.forgetting.receipts import subject_of

if TYPE_CHECKING:
    from muniment.results import Candidate
    from muniment.services.forgetting.requests import Forgetting
    from muniment.services.gate import Gate

ACTOR = "maintenance"


class Sweeping:
    """Takes time and work in proportion to what has expired, and may be stopped at any moment."""

    def __init__(self, gate: Gate, forgetting: Forgetting) -> None:
        self._gate = gate
        self._store = gate.store
        self._forgetting = forgetting
        self._fanout = Fanout(gate)

    def sweep(self) -> tuple[int, int]:
        """Delete or archive every record past its expiry, as its kind's policy says.

        Returns:
            How many were deleted, and how many archived.
        """
        deleted = archived = 0
        while True:
            with self._store.snapshot() as view:
                rows = view.expired(self._gate.clock.now(), CHUNK)
            batches = defaultdict(list)
            for row in rows:
                batches[row.owner].append(row)
            before = deleted + archived
            for owner, batch in batches.items():
                gone = [row for row in batch if not self._is_archived(row)]
                kept = [row for row in batch if self._is_archived(row)]
                deleted += self._delete(owner, gone)
                archived += self._archive(owner, kept)
            if deleted + archived == before:
                return deleted, archived

    def sweep_threads(self) -> int:
        """Delete every thread, with all in it, and every item past its time; return how many."""
        ended = 0
        while True:
            with self._store.snapshot() as view:
                rows = view.ended(self._gate.clock.now(), CHUNK)
            batches = defaultdict(list)
            for row in rows:
                batches[row.owner].append(row)
            before = ended
            for owner, batch in batches.items():
                ended += self._end(owner, batch)
            if ended == before:
                return ended

    def _end(self, owner: OwnerState, rows: Sequence[EndedRow]) -> int:
        def work(tx: Transaction) -> tuple[Deletion, int]:
            now = self._gate.clock.now()
            state = tx.owner(owner.owner)
            assert state is not None
            threads = [tx.thread_at(state, row.seq) for row in rows if row.is_thread]
            entries = tx.entries_at(state, [row.seq for row in rows if not row.is_thread])
            lying = in_threads(tx, state, [one for one in threads if one is not None])
            alone = tuple(one for one in entries if one.ends_at is not None and one.ends_at <= now)
            lying = replace(lying, entries=(*lying.entries, *alone))
            part = self._fanout.begin(
                tx,
                state,
                self._order(owner, now),
                seqs=(),
                candidates=(),
                remains={},
                lying=lying,
            )
            return part, len(lying.threads) + len(alone)

        try:
            part, count = self._store.write(work)
        except NotFoundError:
            return 0
        self._forgetting.carry_on([part])
        return count

    def _order(self, owner: OwnerState, now: int) -> Order:
        names = (type(owner.owner).__name__, *owner.owner.to_dict().values())
        tenant_id = owner.owner.tenant_id
        subject = subject_of(self._store.keys, tenant_id, Target.EXPIRY, *names)
        return Order(new_id("rcp"), Target.EXPIRY, subject, ACTOR, now)

    def _is_archived(self, row: ExpiredRow) -> bool:
        rule = self._gate.policy.kinds.get(row.kind)
        return rule is not None and rule.on_expiry == "archive"

    def _delete(self, owner: OwnerState, rows: Sequence[ExpiredRow]) -> int:
        if not rows:
            return 0
        try:
            part = self._store.write(lambda tx: self._begin(tx, owner, rows))
        except NotFoundError:
            return 0
        self._forgetting.carry_on([part])
        return part.surfaces["records"][0]

    def _begin(self, tx: Transaction, owner: OwnerState, rows: Sequence[ExpiredRow]) -> Deletion:
        order = self._order(owner, self._gate.clock.now())
        state = tx.owner(owner.owner)
        assert state is not None
        seqs = [row.seq for row in rows]
        return self._fanout.begin(
            tx,
            state,
            order,
            seqs=seqs,
            candidates=self._candidates(tx, state, seqs),
            remains={},
        )

    def _candidates(
        self, tx: Transaction, state: OwnerState, seqs: Sequence[int]
    ) -> list[Candidate]:
        """Return the candidates that became one of the records or share its source."""
        records = tx.records(state, seqs, self._gate.clock.now())
        gone = Gone(
            frozenset(record.memory_id for record in records),
            frozenset(statement_of(record).source_id for record in records),
            frozenset(),
        )
        return [one for one in every_candidate(tx, state) if goes_with(one, (), gone)]

    def _archive(self, owner: OwnerState, rows: Sequence[ExpiredRow]) -> int:
        if not rows:
            return 0
        return self._store.write(lambda tx: self._archive_all(tx, owner, rows))

    def _archive_all(self, tx: Transaction, owner: OwnerState, rows: Sequence[ExpiredRow]) -> int:
        now = self._gate.clock.now()
        state = tx.owner(owner.owner)
        assert state is not None
        records = tx.records(state, [row.seq for row in rows], now)
        state = tx.bump(state)
        count = tx.archive(state, [row.seq for row in rows])
        for record in records:
            tx.append_audit(
                state,
                at=now,
                actor=ACTOR,
                action="archive",
                memory_ids=[record.memory_id],
                reason=Target.EXPIRY.value,
            )
        return count

    def retire(self) -> int:
        """Remove tombstones that were kept as long as the policy says; return how many."""
        lifetime = self._gate.policy.tombstone_lifetime
        if lifetime is None:
            return 0
        with self._store.snapshot() as view:
            owners = view.owners()
        before = self._gate.clock.now() - lifetime
        return sum(self._retire(owner, before) for owner in owners)

    def _retire(self, owner: OwnerState, before: int) -> int:
        def work(tx: Transaction) -> int:
            count = tx.retire_tombstones(owner, before)
            if count:
                tx.append_audit(
                    owner,
                    at=self._gate.clock.now(),
                    actor=ACTOR,
                    action="retire_tombstones",
                    memory_ids=[],
                    reason=f"{count}",
                )
            return count

        return self._store.write(work)
