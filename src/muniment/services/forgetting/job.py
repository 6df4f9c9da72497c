"""The deletion job after its first transaction: resumed wherever it was interrupted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from muniment.clock import from_instant
from muniment.errors import InvalidInputError, NotFoundError, StoreBusyError, StoreError
from muniment.ports import Deletion, OwnerState, Transaction
from muniment.results import Receipt
from muniment.rules.deletion import Step, Target, Waiting
from muniment.rules.limits import check_limit
from muniment.services.forgetting.fanout import Fanout
from muniment.services.forgetting.receipts import LISTED, draft, holds, issue, read
from muniment.upkeep import OpenDeletion

if TYPE_CHECKING:
    from muniment.scope import Owner
    from muniment.services.gate import Gate

LONGEST_LIST = 10_000
_ORDER = {step: place for place, step in enumerate(Step)}


class DeletionJob:
    """Erases, shreds, compacts and verifies what was hidden, and keeps the receipts.

    Args:
        gate: The write gate, whose tombstones a deletion leaves.
        embed: Embeds anew the records of an owner that wait for a vector.
    """

    def __init__(self, gate: Gate, embed: Callable[[OwnerState], object]) -> None:
        self._gate = gate
        self._store = gate.store
        self._clock = gate.clock
        self._embed = embed
        self._fanout = Fanout(gate)

    def carry_on(self, parts: Sequence[Deletion]) -> Receipt | None:
        """Bring every part of one deletion to where only the compaction is missing.

        Returns:
            The receipt so far; None for what expired, or when somebody else carried it on.
        """
        derived = [self._derive(part) for part in parts]
        shredded = [self._shred(part) for part in derived]

        def work(tx: Transaction) -> Receipt | None:
            passed = [
                self._fanout.pass_shredding(tx, part, done=done)
                for part, done in zip(derived, shredded, strict=True)
            ]
            if any(part.state is not Step.SHREDDED for part in passed):
                return None
            return None if passed[0].target is Target.EXPIRY else self._issue(tx, passed)

        return self._store.write(work)

    def _derive(self, part: Deletion) -> Deletion:
        while part.state is Step.HIDDEN:
            before = part
            part = self._store.write(partial(self._fanout.erase, deletion=before))
            if part is before:
                break
        if part.surfaces["contexts"][1]:
            self._embed(part.owner)
        return part

    def _shred(self, part: Deletion) -> bool:
        if not part.whole or part.state is not Step.DERIVED:
            return False
        return self._store.shred(replace(part.owner, incarnation=part.incarnation))

    def _issue(self, tx: Transaction, parts: Sequence[Deletion]) -> Receipt:
        first = parts[0]
        alone = len(parts) == 1
        ids: list[str] = []
        if alone and first.surfaces["records"][0] <= LISTED:
            ids = tx.item_ids(first.owner, first.deletion_id, LISTED)
        receipt = draft(parts, tuple(ids), self._clock.now())
        tenant_id = first.owner.owner.tenant_id
        owner_no = first.owner.owner_no if alone else 0
        return issue(tx, self._store.keys, tenant_id, receipt, owner_no)

    def resume(self) -> int:
        """Carry on every deletion that was interrupted; return how many there were."""
        with self._store.snapshot() as view:
            jobs = _jobs(view.open_deletions())
        interrupted = [
            parts for parts in jobs if any(_ORDER[p.state] < _ORDER[Step.SHREDDED] for p in parts)
        ]
        for parts in interrupted:
            self.carry_on(parts)
        return len(interrupted)

    def finish(self) -> int:
        """Compact once for every deletion that waits for it, and verify them.

        Returns:
            How many deletions were finished. Those that a reader delays wait, visibly.
        """
        with self._store.snapshot() as view:
            parts = view.open_deletions()
        if any(part.state is Step.SHREDDED for part in parts):
            try:
                return self.compact()
            except StoreError:
                return 0
        return self._verify_all()

    def compact(self) -> int:
        """Rewrite the database without deleted bytes and verify what waited for it.

        In a sealed store the scopes concerned are sealed again under new keys first.

        Returns:
            How many deletions were finished.

        Raises:
            StoreBusyError: A reader or writer is in the way; what waits says so.
        """
        with self._store.snapshot() as view:
            ready = [part for part in view.open_deletions() if part.state is Step.SHREDDED]
        try:
            self._reseal(ready)
            self._store.compact()
        except StoreError as error:
            busy = isinstance(error, StoreBusyError)
            self._delay(ready, Waiting.READER if busy else Waiting.COMPACTION)
            raise
        for parts in _by_tenant(ready):
            self._store.write(partial(self._compacted, parts=parts))
        return self._verify_all()

    def _compacted(self, tx: Transaction, parts: Sequence[Deletion]) -> None:
        for part in parts:
            self._fanout.move(tx, part, Step.COMPACTED)

    def _reseal(self, ready: Sequence[Deletion]) -> None:
        """Give the survivors of a sealed scope a new key, so that older copies are shredded too."""
        for owner in {part.owner.owner for part in ready if not part.whole}:
            with self._store.snapshot() as view:
                state = view.owner(owner)
            if state is not None:
                self._store.reseal(state)

    def _delay(self, ready: Sequence[Deletion], waiting: Waiting) -> None:
        def work(tx: Transaction, parts: Sequence[Deletion]) -> None:
            for part in parts:
                self._fanout.delay(tx, part, waiting)

        for parts in _by_tenant(ready):
            self._store.write(partial(work, parts=parts))

    def _verify_all(self) -> int:
        with self._store.snapshot() as view:
            jobs = _jobs(view.open_deletions())
        done = (Step.COMPACTED, Step.VERIFIED)
        ready = [parts for parts in jobs if all(part.state in done for part in parts)]
        return sum(self._store.write(partial(self._verify, parts=parts)) for parts in ready)

    def _verify(self, tx: Transaction, parts: Sequence[Deletion]) -> bool:
        read_back = [self._fanout.verify(tx, part) for part in parts]
        if any(part.state is not Step.VERIFIED for part in read_back):
            return False
        self._issue(tx, read_back)
        for part in read_back:
            tx.drop_items(part.owner, part.deletion_id)
        return True

    def open(self) -> tuple[OpenDeletion, ...]:
        """Return every deletion that is not finished, oldest first."""
        with self._store.snapshot() as view:
            jobs = _jobs(view.open_deletions())
        return tuple(_opened(parts) for parts in jobs)

    def receipt(self, owner: Owner, receipt_id: str) -> Receipt:
        """Return the newest state of a receipt about one owner alone.

        Raises:
            NotFoundError: It has no such receipt.
        """
        if not isinstance(receipt_id, str):
            raise InvalidInputError("receipt_id must be a string.")
        with self._store.snapshot() as view:
            state = view.owner(owner)
            found = view.receipt(owner.tenant_id, receipt_id) if receipt_id.isascii() else None
        if state is None or found is None or found[0] != state.owner_no:
            raise NotFoundError("No receipt with this id in this scope.")
        return read(found[1])

    def receipts(self, owner: Owner, limit: int) -> tuple[Receipt, ...]:
        """Return the receipts about one owner alone, newest first."""
        check_limit(limit, LONGEST_LIST)
        with self._store.snapshot() as view:
            state = view.owner(owner)
            if state is None:
                return ()
            found = view.receipts(owner.tenant_id, state.owner_no, limit)
        return tuple(read(content) for content in found)

    def tenant_receipts(self, tenant_id: str, limit: int) -> tuple[Receipt, ...]:
        """Return every receipt of a tenant, newest first."""
        check_limit(limit, LONGEST_LIST)
        with self._store.snapshot() as view:
            return tuple(read(content) for content in view.receipts(tenant_id, None, limit))

    def verify_receipt(self, tenant_id: str, receipt: Receipt) -> bool:
        """Return whether a receipt is exactly what the store issued, in its place in the chain."""
        with self._store.snapshot() as view:
            return holds(view, self._store.keys, tenant_id, receipt)

    def _newest(self, tenant_id: str, receipt_id: str) -> Receipt | None:
        with self._store.snapshot() as view:
            found = view.receipt(tenant_id, receipt_id)
        return None if found is None else read(found[1])


def _jobs(parts: Iterable[Deletion]) -> list[list[Deletion]]:
    return [list(job) for _, job in groupby(parts, lambda part: part.deletion_id)]


def _by_tenant(parts: Iterable[Deletion]) -> list[list[Deletion]]:
    """Return deletions by tenant: tenants may live on different servers."""

    def tenant(part: Deletion) -> str:
        return part.owner.owner.tenant_id

    return [list(group) for _, group in groupby(sorted(parts, key=tenant), tenant)]


def _opened(parts: Sequence[Deletion]) -> OpenDeletion:
    first = parts[0]
    waiting = next((part.waiting for part in parts if part.waiting is not None), None)
    return OpenDeletion(
        receipt_id=first.deletion_id,
        tenant_id=first.owner.owner.tenant_id,
        target=first.target.value,
        state=min((_reached(part) for part in parts), key=lambda step: _ORDER[step]).value,
        since=from_instant(dict(first.steps)[Step.REQUESTED]),
        records=sum(part.surfaces["records"][0] for part in parts),
        waiting=None if waiting is None else waiting.value,
    )


def _reached(part: Deletion) -> Step:
    """Return the last step that was really done: a store without keys shreds nothing."""
    return part.state if part.state in dict(part.steps) else Step.DERIVED
