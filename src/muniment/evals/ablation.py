"""Each idea of the ranking on and off, over the same questions and the same vectors.

Whatever stays on is the code that recall runs: its segment, its search, its fusion and its order.
An idea is taken away from outside, by what is put in or by which of the answers is used, so recall
itself has no switch for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from muniment.evals.metrics import measure
from muniment.rules import words
from muniment.rules.ranking import Floats, Mask, arrange, fuse, overheard
from muniment.rules.text import content_free, normalise, tokenise
from muniment.segment.rows import IndexChanges, IndexRow
from muniment.segment.search import Channels, Sought, search
from muniment.segment.segment import Segment
from muniment.segment.view import View
from muniment.segment.words import WordHasher
from muniment.services.vectors import embed_passages, in_context

if TYPE_CHECKING:
    from muniment.ports import Embedder

Tokens = Callable[[str], list[str]]

_DEPTH = 100
_RANK_OFFSET = 60
_WORD = re.compile(r"\w+")
_DATE = re.compile(r"([0-9]{4})([-/.])([0-9]{1,2})\2([0-9]{1,2})")
_STOPS = frozenset(normalise(words.ENGLISH + words.PERSIAN).split())


def _with_stops(text: str) -> list[str]:
    """Return the tokens and the function words that they leave out."""
    return [*tokenise(text), *(word for word in _WORD.findall(normalise(text)) if word in _STOPS)]


def _plain_words(text: str) -> list[str]:
    """Return the words as they are written, without function words."""
    return [word for word in _WORD.findall(normalise(text)) if word not in _STOPS]


def _no_dates(text: str) -> list[str]:
    """Return the tokens where a date is three numbers."""
    return tokenise(_DATE.sub(r"\1 \3 \4", text))


@dataclass(frozen=True, slots=True)
class Without:
    """What is different when an idea is off.

    Attributes:
        tokens: How texts become words.
        context: Whether a short record is embedded with the end of the one before it.
        damped: Whether a word counts less in a long record.
        centred: Whether cosines are taken around the scope's centre.
        words: Whether words have a vote.
        meaning: Whether meaning has a vote.
        thread: Whether neighbours in a thread speak for each other.
        fading: Whether the vector of a long record counts less.
        standard: Whether the votes are added as standard scores, not as reciprocal ranks.
    """

    tokens: Tokens = tokenise
    context: bool = True
    damped: bool = True
    centred: bool = True
    fading: bool = True
    words: bool = True
    meaning: bool = True
    thread: bool = True
    standard: bool = True


IDEAS: dict[str, Without] = {
    "the words' vote": Without(words=False),
    "weight by length of record": Without(damped=False),
    "stop words left out": Without(tokens=_with_stops),
    "stems, compounds and dates": Without(tokens=_plain_words),
    "dates by the name of their month": Without(tokens=_no_dates),
    "the neighbours in the thread": Without(thread=False),
    "the vote of meaning": Without(meaning=False),
    "the scope's own centre": Without(centred=False),
    "a long record's vector counts less": Without(fading=False),
    "the record before in the embedding": Without(context=False),
    "standard scores, not ranks": Without(standard=False),
}
"""The ideas that can be taken away, by what they are called in the report."""

_WORDS_ALONE = ("weight by length", "stop words", "stems", "dates", "the neighbours")


def ideas(embedder: Embedder | None) -> dict[str, Without]:
    """Return the ideas that play a part with an embedder, or without one."""
    if embedder is not None:
        return IDEAS
    return {name: idea for name, idea in IDEAS.items() if name.startswith(_WORDS_ALONE)}


class Bench:
    """Ranks the records of one haystack with and without an idea.

    Args:
        haystack: One line of the file.
        embedder: The model, or None.
    """

    def __init__(self, haystack: dict[str, Any], embedder: Embedder | None) -> None:
        self._records = [one for one in haystack["records"] if one["text"].strip()]
        self._queries = haystack["queries"]
        self._embedder = embedder
        self._hasher = WordHasher(b"evaluation")
        self._whole = self._view(Without())

    def ask(self, idea: Without) -> list[dict[str, float]]:
        """Return the measures of each question when an idea is off."""
        plain = Without()
        changed = (idea.tokens, idea.context, idea.damped)
        same = changed == (plain.tokens, plain.context, plain.damped)
        view = self._whole if same else self._view(idea)
        return [
            measure(self._ranked(view, query["query"], query.get("before"), idea), query["gold"])
            for query in self._queries
        ]

    def _view(self, idea: Without) -> View:
        texts = [one["text"].strip() for one in self._records]
        vectors: Sequence[bytes | None] = [None] * len(texts)
        if self._embedder is not None:
            seen = [None, *texts[:-1]] if idea.context else [None] * len(texts)
            given = [in_context(*pair) for pair in zip(texts, seen, strict=True)]
            vectors = embed_passages(self._embedder, given, None)
        rows = [
            IndexRow(
                n,
                "",
                valid_from=None,
                valid_until=None,
                expires_at=None,
                words=self._hasher.pack(idea.tokens(text), [text]),
                vector=vector,
                follows=n - 1 if n > 1 else None,
            )
            for n, (text, vector) in enumerate(zip(texts, vectors, strict=True), start=1)
        ]
        dimensions = 0 if self._embedder is None else self._embedder.model.dimensions
        view = Segment.of(IndexChanges(rows, []), 1, dimensions).view(0)
        if idea.damped:
            return view
        parts = [
            replace(part, lengths=np.full_like(part.lengths, part.lengths.mean()))
            for part in view.parts
        ]
        return replace(view, parts=parts)

    def _ranked(self, view: View, query: str, before: int | None, idea: Without) -> list[str]:
        hashes = tuple(map(self._hasher.hash, dict.fromkeys(idea.tokens(query))))
        folded = normalise(query)
        asked = Sought(view, hashes, self._hasher.named(folded))
        vector = None
        if idea.meaning and self._embedder is not None and not content_free(folded):
            vector = self._embedder.embed_query(query)
        channels = search([asked], vector, lambda seen, _: seen.live & self._earlier(before))
        score = np.ones(len(channels.seqs), dtype=np.float32)
        voice = self._whole.voice if idea.fading else None
        fused = score if content_free(folded) else _fused(channels, voice, idea)
        order = arrange(channels.chosen, fused, score, channels.seqs, -1, _DEPTH).order
        return [self._records[place]["id"] for place in order.tolist()]

    def _earlier(self, before: int | None) -> Mask:
        if before is None:
            return np.ones(len(self._records), dtype=np.bool_)
        times = [one.get("time") for one in self._records]
        return np.array([isinstance(at, int) and at < before for at in times])


def _fused(channels: Channels, voice: Floats | None, idea: Without) -> Floats:
    lexical = channels.lexical if idea.words else np.zeros_like(channels.lexical)
    close = channels.centred if idea.centred else channels.cosine
    if idea.standard:
        fused = fuse(lexical, close, voice, channels.pool, np.flatnonzero(channels.exact))
        if idea.thread:
            fused += overheard(lexical, channels.chosen, *channels.beside)
        return fused
    ranks = [np.argsort(np.argsort(-vote, kind="stable")) for vote in (lexical, close)]
    return sum(1 / (_RANK_OFFSET + rank) for rank in ranks).astype(np.float32)  # type: ignore[union-attr]
