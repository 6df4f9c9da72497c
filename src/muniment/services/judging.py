"""What is known of how useful each record was, and the citations and ratings that say it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from muniment.clock import from_instant
from muniment.errors import InvalidInputError
from muniment.ports import Transaction, Usage
from muniment.records import Record
from muniment.rules.kinds import Reader
from muniment.services.reads import find_among
from muniment.usefulness import Usefulness, UsefulnessPage

if TYPE_CHECKING:
    from muniment.scope import Owner, Scope
    from muniment.services.gate import Gate
    from muniment.services.reads import Reads
    from muniment.services.usage import UsageNotes

RATED = {True: ("helpful", Usage(helpful=1)), False: ("unhelpful", Usage(unhelpful=1))}


@dataclass(frozen=True, slots=True)
class _Judged:
    """What was said of which records, by whom, and to whom they had to be shown for it."""

    action: str
    reason: str | None
    used: Usage
    actor: str
    reader: Reader


class Judging:
    """Reports how records were used, and takes down what is said of them."""

    def __init__(self, gate: Gate, reads: Reads, usage: UsageNotes) -> None:
        self._store = gate.store
        self._policy = gate.policy
        self._clock = gate.clock
        self._reads = reads
        self._usage = usage

    def report(
        self,
        scope: Scope,
        *,
        limit: int,
        cursor: str | None,
        kinds: Collection[str] | None,
        filters: Mapping[str, Any] | None,
        superseded: bool,
    ) -> UsefulnessPage:
        """Return one page of what is known of the scope's records, newest first.

        Raises:
            InvalidInputError: `limit` is out of range, or a kind or filter is wrong.
            CursorError: The cursor is not of this scope and these filters.
        """
        page = self._reads.page(
            scope, limit=limit, cursor=cursor, kinds=kinds, filters=filters, superseded=superseded
        )
        self._usage.try_flush()
        with self._store.snapshot((scope,)) as view:
            owner = view.owner(scope)
            used = {} if owner is None else view.usage(owner)
        items = (_useful(record, used.get(record.seq, Usage())) for record in page)
        return UsefulnessPage(tuple(items), page.cursor)

    def cite(self, owners: Sequence[Owner], memory_ids: Collection[str], actor: str) -> None:
        """Count records as cited by one answer, all or none.

        Args:
            owners: The scope, and the spaces that it may read.
            memory_ids: The records.
            actor: Who says so.

        Raises:
            InvalidInputError: There is no id.
            NotFoundError: One of them is not within reach.
        """
        names = tuple(dict.fromkeys(memory_ids))
        if not names:
            raise InvalidInputError("memory_ids must name at least one record.")
        self._judge(owners, names, _Judged("cited", None, Usage(cited=1), actor, Reader.AGENT))

    def rate(self, owners: Sequence[Owner], memory_id: str, actor: str, *, helpful: bool) -> None:
        """Count a record as helpful or unhelpful once more.

        Args:
            owners: The scope, and the spaces that it may read.
            memory_id: The record.
            actor: Who says so.
            helpful: Whether it was.

        Raises:
            NotFoundError: It is not within reach.
        """
        reason, used = RATED[helpful]
        judged = _Judged("rated", reason, used, actor, Reader.SUBJECT)
        self._judge(owners, (memory_id,), judged)

    def _judge(self, owners: Sequence[Owner], memory_ids: tuple[str, ...], judged: _Judged) -> None:
        now, withheld = self._clock.now(), self._policy.withheld(judged.reader)

        def work(tx: Transaction) -> None:
            states = [tx.owner(owner) for owner in owners]
            for memory_id in memory_ids:
                state, record = find_among(tx, states, memory_id, withheld, now)
                tx.add_usage(state, record.seq, judged.used)
            tx.append_audit(
                tx.ensure_owner(owners[0], now),
                at=now,
                actor=judged.actor,
                action=judged.action,
                memory_ids=memory_ids,
                reason=judged.reason,
            )

        self._store.write(work)


def _useful(record: Record, used: Usage) -> Usefulness:
    return Usefulness(
        memory_id=record.memory_id,
        kind=record.kind,
        status=record.status,
        considered=used.considered,
        shown=used.shown,
        shown_at=from_instant(used.shown_at) if used.shown else None,
        cited=used.cited,
        corrected=used.corrected,
        helpful=used.helpful,
        unhelpful=used.unhelpful,
    )
