"""What may be asked to be forgotten: a record, a selection, whole owners; or only counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from muniment.clock import new_id
from muniment.errors import NotFoundError
from muniment.ports import Deletion, OwnerState, Snapshot, Transaction
from muniment.results import Receipt
from muniment.rules.deletion import Selection, Target, parse_selection
from muniment.services.forgetting.choosing import NEWEST, Choosing, Chosen, every_candidate
from muniment.services.forgetting.fanout import Order
from muniment.services.forgetting.job import DeletionJob
from muniment.services.forgetting.lying import whole
from muniment.services.forgetting.receipts import counted, subject_of

if TYPE_CHECKING:
    from muniment.scope import Owner
    from muniment.services.gate import Gate


class Forgetting(DeletionJob):
    """Deletes records, candidates and whole owners, with evidence."""

    def __init__(self, gate: Gate, embed: Callable[[OwnerState], object]) -> None:
        super().__init__(gate, embed)
        self._choosing = Choosing(gate)

    def forget(
        self,
        owner: Owner,
        memory_id: str,
        *,
        actor: str,
        compact: bool,
        target: Target = Target.RECORD,
    ) -> Receipt:
        """Forget one record and return the evidence.

        Args:
            owner: Whose it is.
            memory_id: The record, whatever its status.
            actor: Who asks.
            compact: Whether to rewrite the database at once, so that no byte of it is left.
            target: `RETRACTION` when it was never true and its value is to stay out.

        Raises:
            NotFoundError: The owner has no such record.
            StoreError: The database failed; the record is still there.
        """
        selection = Selection(memory_id=memory_id)
        receipt = self._select(owner, selection, target, actor=actor, compact=compact)
        if receipt is None:
            raise NotFoundError("No record with this memory_id in this scope.")
        return receipt

    def forget_where(
        self, owner: Owner, selection: Selection, *, actor: str, compact: bool, rehearse: bool
    ) -> Receipt:
        """Forget what a selection takes of one owner; with `rehearse` only count it.

        Raises:
            StoreError: The database failed; nothing was forgotten.
        """
        if rehearse:
            return self._rehearse_selection(owner, selection)
        receipt = self._select(owner, selection, Target.SELECTION, actor=actor, compact=compact)
        return receipt or rehearsed(Target.SELECTION)

    def _select(
        self, owner: Owner, selection: Selection, target: Target, *, actor: str, compact: bool
    ) -> Receipt | None:
        tenant_id = owner.tenant_id
        order = self._order(target, tenant_id, actor, *owner_parts(owner), event=selection.event_id)
        chosen = Chosen()
        with self._store.snapshot() as view:
            state = view.owner(owner)
            if state is None:
                return None
            self._choosing.choose(view, state, selection, chosen)
            remains = self._choosing.remains(view, state, chosen)
        if not chosen:
            return None

        def work(tx: Transaction) -> Deletion:
            state = tx.owner(owner)
            assert state is not None
            self._choosing.choose(tx, state, selection, chosen)
            return self._fanout.begin(
                tx,
                state,
                order,
                seqs=chosen.records,
                candidates=list(chosen.candidates.values()),
                remains=remains,
            )

        try:
            part = self._store.write(work)
        except NotFoundError:
            return None
        return self._run([part], compact=compact)

    def select(self, **conditions: Any) -> Selection:  # noqa: ANN401 - as `parse_selection`
        """Return a selection by kinds, filters, source_id, source_prefix and event_id.

        Raises:
            InvalidInputError: No condition was given, or one is blank or malformed.
        """
        return parse_selection(self._gate.policy, **conditions)

    def forget_scope(self, owner: Owner, *, actor: str, compact: bool, rehearse: bool) -> Receipt:
        """Forget everything of one owner; with `rehearse` only count it.

        Raises:
            StoreError: The database failed; nothing was forgotten.
        """
        return self.forget_owners(
            Target.SCOPE,
            owner.tenant_id,
            owner_parts(owner),
            lambda other: other == owner,
            actor=actor,
            compact=compact,
            rehearse=rehearse,
        )

    def forget_owners(
        self,
        target: Target,
        tenant_id: str,
        names: Sequence[str],
        belongs: Callable[[Owner], bool],
        *,
        actor: str,
        compact: bool,
        rehearse: bool,
    ) -> Receipt:
        """Forget everything of each owner of a tenant that belongs to somebody.

        Args:
            target: What was asked for.
            tenant_id: Whose.
            names: What names the target inside the tenant.
            belongs: Tells which owners are meant.
            actor: Who asks.
            compact: Whether to rewrite the database at once.
            rehearse: Whether only to count.

        Raises:
            StoreError: The database failed; nothing was forgotten.
        """
        order = self._order(target, tenant_id, actor, *names)

        def meant(view: Snapshot) -> list[OwnerState]:
            states = view.owners()
            return [
                state
                for state in states
                if state.owner.tenant_id == tenant_id and belongs(state.owner)
            ]

        if rehearse:
            return self._rehearse_owners(target, meant)
        parts = self._store.write(lambda tx: self._erase_all(tx, meant(tx), order))
        return self._run(parts, compact=compact) if parts else rehearsed(target)

    def _erase_all(
        self, tx: Transaction, states: Iterable[OwnerState], order: Order
    ) -> list[Deletion]:
        parts = []
        for state in states:
            candidates = every_candidate(tx, state)
            has_records = tx.page(state, NEWEST, 1, self._clock.now())
            if candidates or has_records or tx.archived_threads(state, 0, 1):
                part = self._fanout.begin(
                    tx, state, order, seqs=None, candidates=candidates, remains={}
                )
                parts.append(part)
        return parts

    def _order(
        self, target: Target, tenant_id: str, actor: str, *names: str, event: str | None = None
    ) -> Order:
        subject = subject_of(self._store.keys, tenant_id, target, *names)
        return Order(new_id("rcp"), target, subject, actor, self._clock.now(), event)

    def _rehearse_selection(self, owner: Owner, selection: Selection) -> Receipt:
        chosen = Chosen()
        found: dict[str, int] = {}
        with self._store.snapshot() as view:
            state = view.owner(owner)
            if state is not None:
                self._choosing.choose(view, state, selection, chosen)
                found = count_traces(view, state, chosen.records, len(chosen.candidates))
        return rehearsed(Target.SELECTION, found)

    def _rehearse_owners(
        self, target: Target, meant: Callable[[Snapshot], list[OwnerState]]
    ) -> Receipt:
        total: dict[str, int] = {}
        with self._store.snapshot() as view:
            for state in meant(view):
                chosen = Chosen()
                self._choosing.choose(view, state, Selection(), chosen)
                counts = count_traces(view, state, chosen.records, len(chosen.candidates))
                counts |= whole(view, state).counts
                total = {name: total.get(name, 0) + n for name, n in counts.items()}
        return rehearsed(target, total)

    def _run(self, parts: list[Deletion], *, compact: bool) -> Receipt:
        receipt = self.carry_on(parts)
        assert receipt is not None
        if compact:
            self.finish()
            return self._newest(parts[0].owner.owner.tenant_id, receipt.receipt_id) or receipt
        return receipt


def owner_parts(owner: Owner) -> tuple[str, ...]:
    """Return what names an owner inside its tenant."""
    return type(owner).__name__, *owner.to_dict().values()


def count_traces(
    view: Snapshot, state: OwnerState, seqs: Iterable[int], candidates: int
) -> dict[str, int]:
    """Return how many rows of records and candidates there are, by surface."""
    total = {"records": 0, "words": 0, "vectors": 0, "candidates": candidates}
    for seq in seqs:
        for name, count in view.traces(state, seq)._asdict().items():
            total[name] += count
    return total


def rehearsed(
    target: Target, found: dict[str, int] | None = None, remains: tuple[str, ...] = ()
) -> Receipt:
    """Return the receipt of a rehearsal, or of a deletion that found nothing to do."""
    return Receipt(
        receipt_id="",
        memory_ids=(),
        states=(),
        surfaces=counted(found or {}),
        remains=remains,
        target=target.value,
    )
