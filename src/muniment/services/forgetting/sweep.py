"""The end of lifetimes: expired records are deleted or archived, old tombstones are retired."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from muniment.clock import new_id, to_instant
from muniment.errors import NotFoundError
from muniment.ports import Deletion, EndedRow, ExpiredRow, OwnerState, Transaction, Usage
from muniment.records import Record, Status
from muniment.rules.deletion import Gone, Target, goes_with
from muniment.rules.statement import statement_of
from muniment.services.forgetting.choosing import every_candidate, every_record
from muniment.services.forgetting.fanout import CHUNK, Fanout, Order
from muniment.services.forgetting.lying import in_threads
from muniment.services.forgetting.receipts import subject_of
from muniment.upkeep import CleanUp

if TYPE_CHECKING:
    from muniment.results import Candidate
    from muniment.rules.kinds import CleanUpRule
    from muniment.services.forgetting.requests import Forgetting
    from muniment.services.gate import Gate
    from muniment.services.usage import UsageNotes

ACTOR = "maintenance"


class Sweeping:
    """Takes time and work in proportion to what has expired, and may be stopped at any moment."""

    def __init__(self, gate: Gate, forgetting: Forgetting, usage: UsageNotes) -> None:
        self._gate = gate
        self._store = gate.store
        self._forgetting = forgetting
        self._fanout = Fanout(gate)
        self._usage = usage

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
                self._order(owner, now, Target.EXPIRY),
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

    def _order(self, owner: OwnerState, now: int, target: Target) -> Order:
        names = (type(owner.owner).__name__, *owner.owner.to_dict().values())
        tenant_id = owner.owner.tenant_id
        subject = subject_of(self._store.keys, tenant_id, target, *names)
        return Order(new_id("rcp"), target, subject, ACTOR, now)

    def _is_archived(self, row: ExpiredRow) -> bool:
        rule = self._gate.policy.kinds.get(row.kind)
        return rule is not None and rule.on_expiry == "archive"

    def _delete(self, owner: OwnerState, rows: Sequence[ExpiredRow]) -> int:
        if not rows:
            return 0
        return self._take(owner, [row.seq for row in rows], Target.EXPIRY)

    def _take(self, owner: OwnerState, seqs: Sequence[int], target: Target) -> int:
        try:
            part = self._store.write(lambda tx: self._begin(tx, owner, seqs, target))
        except NotFoundError:
            return 0
        self._forgetting.carry_on([part])
        return part.surfaces["records"][0]

    def _begin(
        self, tx: Transaction, owner: OwnerState, seqs: Sequence[int], target: Target
    ) -> Deletion:
        order = self._order(owner, self._gate.clock.now(), target)
        state = tx.owner(owner.owner)
        assert state is not None
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

    def clean_up(self, *, rehearse: bool) -> CleanUp:
        """Delete old, unused records, as their kinds' policy says; with `rehearse` only name them.

        Raises:
            StoreError: The database failed; what was done stays done.
        """
        rules = {
            rule.name: rule.clean_up
            for rule in self._gate.policy.kinds.values()
            if rule.clean_up is not None
        }
        if not rules:
            return CleanUp(0, (), 0)
        self._usage.flush()
        with self._store.snapshot() as view:
            owners = view.owners()
        examined, unused, deleted = 0, list[str](), 0
        for owner in owners:
            count, found = self._unused(owner, rules)
            examined += count
            unused += [record.memory_id for record in found]
            for start in range(0, 0 if rehearse else len(found), CHUNK):
                seqs = [record.seq for record in found[start : start + CHUNK]]
                deleted += self._take(owner, seqs, Target.DISUSE)
        return CleanUp(examined, tuple(unused), deleted)

    def _unused(
        self, owner: OwnerState, rules: Mapping[str, CleanUpRule]
    ) -> tuple[int, list[Record]]:
        """Return how many active records have a rule, and those that are old and unused."""
        now = self._gate.clock.now()
        with self._store.snapshot() as view:
            usage = view.usage(owner)
            every = [one for one in every_record(view, owner, now) if one.kind in rules]
        active = [one for one in every if one.status is Status.ACTIVE]
        found = []
        for record in active:
            used = usage.get(record.seq, Usage())
            made = to_instant("created_at", record.created_at)
            shown_at = used.shown_at if used.shown else None
            if rules[record.kind].takes(now, made, used.shown, shown_at):
                found.append(record)
        return len(active), found

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
