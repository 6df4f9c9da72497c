"""What may be asked to be forgotten of threads: one of them, all in it, some of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from muniment.errors import NotFoundError
from muniment.ports import Deletion, EntryRow, OwnerState, Snapshot, ThreadRow, Transaction
from muniment.results import Receipt
from muniment.rules.deletion import Origin, Selection, Target
from muniment.services.forgetting.choosing import Chosen
from muniment.services.forgetting.fanout import Order
from muniment.services.forgetting.lying import Lying, in_threads
from muniment.services.forgetting.receipts import LISTED, derived
from muniment.services.forgetting.requests import (
    Forgetting,
    count_traces,
    owner_parts,
    rehearsed,
)

if TYPE_CHECKING:
    from muniment.services.threads import ThreadKey

SUBJECT = "subject"
Pick = Callable[[Snapshot, OwnerState, ThreadRow], Sequence[EntryRow]]


class ThreadForgetting(Forgetting):
    """Deletes threads, with or without what was derived from them."""

    def forget_thread(
        self, key: ThreadKey, *, cascade: bool, rehearse: bool, compact: bool
    ) -> Receipt:
        """Forget a thread with everything in it; with `rehearse` only count it.

        Args:
            key: The thread.
            cascade: Whether the records and candidates derived from it go too.
            rehearse: Whether only to count.
            compact: Whether to rewrite the database at once.

        Raises:
            NotFoundError: There is no such thread.
            StoreError: The database failed; nothing was forgotten.
        """
        if rehearse:
            with self._store.snapshot() as view:
                state, lying, chosen = self._derived(view, key)
                records = chosen.records if cascade else ()
                found = count_traces(view, state, records, len(chosen.candidates) if cascade else 0)
            stays = () if cascade else tuple(filter(None, [derived([_listed(chosen)])]))
            return rehearsed(Target.THREAD, {**found, **lying.counts}, stays)

        def work(tx: Transaction) -> Deletion:
            state, lying, chosen = self._derived(tx, key)
            remains = {} if cascade else _listed(chosen)
            return self._fanout.begin(
                tx,
                state,
                self._order_of(key),
                seqs=chosen.records if cascade else (),
                candidates=list(chosen.candidates.values()) if cascade else (),
                remains=remains,
                lying=lying,
            )

        return self._run([self._store.write(work)], compact=compact)

    def _derived(self, view: Snapshot, key: ThreadKey) -> tuple[OwnerState, Lying, Chosen]:
        """Return a thread with all in it, and all that was derived from it at any remove."""
        state = view.owner(key.owner)
        row = None if state is None else view.thread(state, key.type, key.thread_id)
        if state is None or row is None:
            raise NotFoundError("No thread with this thread_id in this scope.")
        lying, chosen = in_threads(view, state, [row]), Chosen()
        origin, known = Origin(key.thread_id, frozenset(lying.events)), -1
        while len(chosen.records) > known:
            known = len(chosen.records)
            origin = replace(origin, ids=origin.ids | chosen.gone.memory_ids)
            chosen.seen = 0
            self._choosing.choose(view, state, Selection(origin=origin), chosen)
        return state, lying, chosen

    def clear_thread(self, key: ThreadKey, *, compact: bool, ends: bool = False) -> Receipt:
        """Forget everything in a thread, whose id may go on to be used.

        Args:
            key: The thread.
            compact: Whether to rewrite the database at once.
            ends: Whether the thread itself goes too.

        Raises:
            StoreError: The database failed; nothing was forgotten.
        """

        def everything(view: Snapshot, state: OwnerState, row: ThreadRow) -> Sequence[EntryRow]:
            return in_threads(view, state, [row]).entries

        return self.forget_entries([key], everything, compact=compact, ends=ends)[0]

    def forget_entries(
        self,
        keys: Sequence[ThreadKey],
        pick: Pick,
        *,
        compact: bool = False,
        ends: bool = False,
    ) -> tuple[Receipt, int]:
        """Forget some of what lies in threads of one scope.

        Args:
            keys: The threads.
            pick: Returns the entries to forget of one.
            compact: Whether to rewrite the database at once.
            ends: Whether the threads themselves go too; their ids may be used again.

        Returns:
            The receipt, and how many entries there were.

        Raises:
            StoreError: The database failed; nothing was forgotten.
        """

        def work(tx: Transaction) -> tuple[Deletion, int] | None:
            state = None if not keys else tx.owner(keys[0].owner)
            if state is None:
                return None
            asked = [tx.thread(state, key.type, key.thread_id) for key in keys]
            rows = [row for row in asked if row is not None]
            found = [one for row in rows for one in pick(tx, state, row)]
            gone = Lying(tuple(rows) if ends else (), tuple(found), reusable=True)
            if not gone:
                return None
            part = self._fanout.begin(
                tx,
                state,
                self._order_of(*keys),
                seqs=(),
                candidates=(),
                remains={},
                lying=gone,
            )
            return part, len(found)

        begun = self._store.write(work)
        if begun is None:
            return rehearsed(Target.THREAD), 0
        return self._run([begun[0]], compact=compact), begun[1]

    def _order_of(self, *keys: ThreadKey) -> Order:
        owner = keys[0].owner
        names = [name for key in keys for name in (key.type, key.thread_id)]
        return self._order(Target.THREAD, owner.tenant_id, SUBJECT, *owner_parts(owner), *names)


def _listed(chosen: Chosen) -> dict[str, int]:
    """Return how much stays that was derived, and which."""
    ids = [*chosen.records.values(), *(one.candidate_id for one in chosen.candidates.values())]
    return {"derived": len(ids), **dict.fromkeys(sorted(ids)[:LISTED], 1)} if ids else {}
