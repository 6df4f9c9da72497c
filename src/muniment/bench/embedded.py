"""How much of an embedder's own speed is left when what it embeds is also remembered?"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

from muniment import memory as facade
from muniment.bench.sample import statements
from muniment.bench.stores import scope_of
from muniment.ports import Embedder
from muniment.records import Plain
from muniment.services.vectors import embed_passages

ROUNDS = 3


@dataclass(frozen=True, slots=True)
class EmbeddedWrite(Plain):
    """`remember_many` with an embedder beside the embedder alone, in turn.

    Attributes:
        model: The embedder's model.
        records: Records of a round.
        alone: Texts a second of the embedder, by the clock; the median of the rounds.
        remembered: Records a second of `remember_many`.
        share: The latter over the former.
    """

    model: str
    records: int
    alone: float
    remembered: float
    share: float


def embedded(path: Path, embedder: Embedder, records: int) -> EmbeddedWrite:
    """Measure writing with an embedder.

    Args:
        path: Where to make the store.
        embedder: The model; it is loaded before anything is timed.
        records: Records of a round. No text is embedded twice.
    """
    alone, remembered = [], []
    with facade.open(path, embedder=embedder) as memory:
        me = scope_of(memory, 1)
        embedder.embed_passages(["A text that loads the model."])
        for number in range(ROUNDS):
            plain, stored = (statements(2 * number + side, records) for side in (0, 1))
            texts = [one.text for one in plain]
            alone.append(records / _seconds(partial(embed_passages, embedder, texts, None)))
            write = partial(me.remember_many, stored, approved=True)
            remembered.append(records / _seconds(write))
    return EmbeddedWrite(
        model=embedder.model.name,
        records=records,
        alone=round(median(alone), 1),
        remembered=round(median(remembered), 1),
        share=round(median(remembered) / median(alone), 3),
    )


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
