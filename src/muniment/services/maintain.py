"""Upkeep: embed what waits for a vector, rewrite the database without deleted bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from muniment.errors import InvalidInputError, ProviderError
from muniment.results import Counts, Health
from muniment.services.packing import is_due, pack
from muniment.services.vectors import CHUNK, Progress, embed_passages, in_context

if TYPE_CHECKING:
    from muniment.clock import Clock
    from muniment.ports import Embedder, EmbeddingModel, OwnerState, PendingText, Store, Transaction
    from muniment.rules.kinds import Policy
    from muniment.scope import Owner

NO_SLOT = -1


class Maintenance:
    """Steps that may be stopped and repeated at any time."""

    def __init__(
        self, store: Store, *, embedder: Embedder | None, clock: Clock, policy: Policy
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._clock = clock
        self._policy = policy

    def embed(self, progress: Progress | None) -> tuple[int, int]:
        """Give every active record a vector of the present model.

        Covers records whose embedding failed and records that only have another model's vector.
        Recall works meanwhile.

        Args:
            progress: Called with how many records were tried and how many there are.

        Returns:
            How many records were embedded, and how many still wait.

        Raises:
            InvalidInputError: No embedder is configured.
            ProviderError: The model cannot be loaded.
        """
        if self._embedder is None:
            raise InvalidInputError("No embedder is configured; open the memory with one.")
        embedder = self._embedder
        model = embedder.model
        slot = self._store.write(lambda tx: tx.ensure_slot(model))
        with self._store.snapshot() as view:
            waiting = {owner: view.count_pending(owner, slot) for owner in view.owners()}
        total, tried, done = sum(waiting.values()), 0, 0
        for owner in waiting:
            for chunk in self._chunks(owner, slot):
                done += self._embed_chunk(embedder, owner, slot, chunk)
                tried += len(chunk)
                if progress is not None:
                    progress(tried, max(tried, total))
            self._drop_replaced(owner, slot)
        return done, tried - done

    def embed_owner(self, owner: OwnerState) -> None:
        """Embed what waits in one owner; what cannot be embedded now goes on waiting."""
        embedder = self._embedder
        if embedder is None:
            return
        try:
            model = embedder.model
        except ProviderError:
            return
        slot = self._store.write(lambda tx: tx.ensure_slot(model))
        for chunk in self._chunks(owner, slot):
            self._embed_chunk(embedder, owner, slot, chunk)

    def _seen(self, owner: OwnerState, chunk: list[PendingText]) -> list[str]:
        now = self._clock.now()
        with self._store.snapshot() as view:
            followed = [
                None if one.follows is None else view.record(owner, one.follows, now)
                for one in chunk
            ]
        return [
            in_context(one.text, None if before is None else before.text)
            for one, before in zip(chunk, followed, strict=True)
        ]

    def _drop_replaced(self, owner: OwnerState, slot: int) -> None:
        self._store.write(lambda tx: tx.drop_replaced_vectors(owner, slot))

    def _chunks(self, owner: OwnerState, slot: int) -> Iterator[list[PendingText]]:
        after = 0
        while True:
            with self._store.snapshot() as view:
                chunk = view.pending(owner, slot, after, CHUNK)
            if not chunk:
                return
            yield chunk
            after = chunk[-1].seq

    def _embed_chunk(
        self, embedder: Embedder, owner: OwnerState, slot: int, chunk: list[PendingText]
    ) -> int:
        vectors = embed_passages(embedder, self._seen(owner, chunk), None)
        found = [
            (waiting.seq, vector)
            for waiting, vector in zip(chunk, vectors, strict=True)
            if vector is not None
        ]
        if found:
            self._store.write(lambda tx: _store_all(tx, owner, slot, found))
        return len(found)

    def health(self) -> Health:
        """Return facts about the store, its counts and the embedder."""
        now = self._clock.now()
        with self._store.snapshot() as view:
            owners = view.owners()
            counts = sum((view.counts(owner, now) for owner in owners), Counts())
        problems = []
        model = None
        if self._embedder is not None:
            try:
                model = self._embedder.model
            except ProviderError as error:
                problems.append(f"The embedder does not work: {error}")
        if model is not None:
            counts = replace(counts, pending=self._waiting(model))
        if counts.pending:
            problems.append(
                f"{counts.pending} records wait for an embedding; run `muniment maintain embed`."
            )
        name = None if model is None else model.name
        store = self._store.info()
        if store.integrity == "off" and store.location != ":memory:":
            problems.append(
                "integrity: off. The anchor beside the database is missing, so a return to an "
                "older state would not be seen; find out why, then write a new one."
            )
        problems += [one.problem for one in store.replicas if one.problem is not None]
        return Health(store, len(owners), counts, name, tuple(problems))

    def _waiting(self, model: EmbeddingModel) -> int:
        """Return how many active records have no vector of the model."""
        with self._store.snapshot() as view:
            slot = view.slot(model) or NO_SLOT
            return sum(view.count_pending(owner, slot) for owner in view.owners())

    def pack(self) -> int:
        """Pack the records of every owner where it pays; return how many owners that were."""
        with self._store.snapshot() as view:
            owners = view.owners()
            due = [state.owner for state in owners if is_due(view, state, is_upkeep=True)]
        return sum(self._pack(owner) for owner in due)

    def _pack(self, owner: Owner) -> bool:
        return self._store.write(lambda tx: pack(tx, owner, is_upkeep=True))

    def lapse(self) -> int:
        """End the review of candidates that waited too long; return how many."""
        now = self._clock.now()
        with self._store.snapshot() as view:
            owners = view.owners()
        return sum(self._lapse_of(owner, now) for owner in owners)

    def _lapse_of(self, owner: OwnerState, now: int) -> int:
        return self._store.write(lambda tx: self._lapse(tx, owner, now))

    def _lapse(self, tx: Transaction, owner: OwnerState, now: int) -> int:
        ended = tx.lapse(owner, now - self._policy.candidate_lifetime, now)
        if ended:
            tx.append_audit(owner, at=now, actor="maintenance", action="lapse", memory_ids=ended)
        return len(ended)


def _store_all(
    tx: Transaction, owner: OwnerState, slot: int, found: list[tuple[int, bytes]]
) -> None:
    bumped = tx.bump(owner)
    for seq, vector in found:
        tx.set_vector(bumped, seq, slot, vector)
