"""Embedding outside the transaction: a failure leaves a record pending, never unwritten."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from hashlib import blake2b
from threading import Lock
from typing import TYPE_CHECKING

from muniment.errors import ProviderError

if TYPE_CHECKING:
    from muniment.ports import Embedder, EmbeddingModel
    from muniment.segment.part import Floats

Progress = Callable[[int, int], None]
CHUNK = 64
_QUESTIONS = 256
SHORT = 400
TAIL = 300


def in_context(text: str, before: str | None) -> str:
    """Return what the embedder sees of a statement.

    A short one is seen with the end of the one before it in its thread, cut at a word; a long one
    speaks for itself.

    Args:
        text: The statement.
        before: The statement before it, or None.
    """
    if before is None or len(text) > SHORT:
        return text
    end = before if len(before) <= TAIL else before[-TAIL:].partition(" ")[2]
    return f"{end} {text}" if end else text


def embed_passages(
    embedder: Embedder, texts: Sequence[str], progress: Progress | None
) -> list[bytes | None]:
    """Return the stored form of each text's vector: little-endian float32, or None.

    Args:
        embedder: The model.
        texts: What to embed.
        progress: Called with how many are done and how many there are.
    """
    vectors: list[bytes | None] = []
    for start in range(0, len(texts), CHUNK):
        chunk = texts[start : start + CHUNK]
        try:
            rows = embedder.embed_passages(chunk)
        except ProviderError:
            vectors += [None] * len(chunk)
        else:
            vectors += [row.astype("<f4", copy=False).tobytes() for row in rows]
        if progress is not None:
            progress(len(vectors), len(texts))
    return vectors


class QueryVectors:
    """The vectors of the questions asked last, by hash. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: OrderedDict[bytes, tuple[EmbeddingModel, Floats]] = OrderedDict()

    def embed(self, embedder: Embedder, text: str) -> Floats:
        """Return a question's unit vector; the same question is embedded once.

        Raises:
            ProviderError: The model failed.
        """
        model, key = embedder.model, blake2b(text.encode("utf-8", "surrogatepass")).digest()
        with self._lock:
            known = self._known.get(key)
            if known is not None and known[0] == model:
                self._known.move_to_end(key)
                return known[1]
        vector = embedder.embed_query(text)
        with self._lock:
            self._known[key] = model, vector
            if len(self._known) > _QUESTIONS:
                self._known.popitem(last=False)
        return vector
