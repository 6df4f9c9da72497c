"""Which active records a new text resembles: a hint for the reviewer, never a decision."""

from __future__ import annotations

import numpy as np

from muniment.ports import Embedder, Store
from muniment.scope import Owner
from muniment.segment.search import Query
from muniment.services.segments import Segments
from muniment.services.words import WordKeys

NEAR = 0.95
_MOST = 5


class Likeness:
    """Compares texts with the active records of one owner."""

    def __init__(
        self, store: Store, *, embedder: Embedder | None, words: WordKeys, segments: Segments
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._words = words
        self._segments = segments

    def near(self, owner: Owner, text: str, vector: bytes | None, now: int) -> tuple[str, ...]:
        """Return up to five records with the same text or a cosine of at least .95, newest first.

        Args:
            owner: Whose records to look at.
            text: The new text.
            vector: Its stored embedding, or None.
            now: The present instant, microseconds since 1970, UTC.
        """
        with self._store.snapshot() as view:
            state = view.owner(owner)
            if state is None:
                return ()
            model = None if vector is None or self._embedder is None else self._embedder.model
            slot = None if model is None else view.slot(model)
            unit = None if slot is None or vector is None else np.frombuffer(vector, dtype="<f4")
            dimensions = 0 if unit is None else len(unit)
            segment = self._segments.current(view, state, slot, dimensions)
            query = Query((), self._words.of(owner).exact(text), unit)
            found = segment.search(query, now, lambda seen: seen.live)
            alike = found.chosen & (found.exact | (found.cosine >= NEAR))
            seqs = sorted(found.seqs[alike].tolist(), reverse=True)[:_MOST]
            return tuple(record.memory_id for record in view.records(state, seqs, now))
