"""The explanation of one recall: ids, numbers and reasons, never text; and its result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from muniment.records import Packet, PacketItem, Plain


class Reason(StrEnum):
    """Why a record that was considered did not reach the packet."""

    EXPIRED = "expired"
    SUPERSEDED = "superseded"
    NOT_YET_VALID = "not_yet_valid"
    NO_LONGER_VALID = "no_longer_valid"
    KIND = "kind"
    READER = "reader"
    FILTER = "filter"
    SCORE = "score"
    LIMIT = "limit"
    BUDGET = "budget"
    OVERRULED = "overruled"
    DUPLICATE = "duplicate"
    SOURCE_SHARE = "source_share"


class Degraded(StrEnum):
    """Why a recall could not use every channel."""

    NO_EMBEDDER = "no_embedder"
    EMBEDDER_FAILED = "embedder_failed"
    EMBEDDING_PENDING = "embedding_pending"
    QUERY_CUT = "query_cut"
    RERANKER_FAILED = "reranker_failed"
    RESOLVER_FAILED = "resolver_failed"


@dataclass(frozen=True, slots=True)
class Hit(Plain):
    """A record that the search returned, with what each channel said.

    Attributes:
        memory_id: The record.
        score: Published relevance in [0, 1].
        rank: Fused score that ordered it; comparable within this recall only.
        lexical: Share of the query's weight that the record's words matched, in [0, 1].
        semantic: Cosine similarity to the query, or None without an embedding.
        exact: Whether the query named the record's field, value or whole text.
        reranked: What the reranker said, on its own scale; None if it was not asked.
    """

    memory_id: str
    score: float
    rank: float
    lexical: float
    semantic: float | None
    exact: bool
    reranked: float | None = None


@dataclass(frozen=True, slots=True)
class Explained(Plain):
    """The verdict on one record that came near the cut, or would have.

    `rank` is the sum of the votes, and of a bonus when `exact`.

    Attributes:
        memory_id: The record.
        reason: Why it did not reach the packet; None when it did.
        score: Published relevance in [0, 1].
        rank: Fused score that ordered it, or would have.
        lexical: Share of the query's weight that the record's words matched, in [0, 1].
        semantic: Cosine similarity to the query, or None without an embedding.
        exact: Whether the query named the record's field, value or whole text.
        lexical_vote: What the words add to the rank.
        semantic_vote: What the meaning adds to the rank; below 0 for less than usual likeness.
        thread_vote: What the records beside it in its thread add to the rank.
        time_vote: What being from the time that the question names adds to the rank.
        reranked: What the reranker said, on its own scale; None if it was not asked.
    """

    memory_id: str
    reason: Reason | None
    score: float
    rank: float
    lexical: float
    semantic: float | None
    exact: bool
    lexical_vote: float
    semantic_vote: float
    thread_vote: float
    time_vote: float
    reranked: float | None = None


@dataclass(frozen=True, slots=True)
class RecallTrace(Plain):
    """What one recall considered, chose and rejected.

    Attributes:
        records: Records of the scope that were active in the database.
        considered: Records left after time, kind and filters: those that were ranked.
        hits: Records that reached the packet, best first.
        rejected: Number of records per reason.
        budget_rejected: memory_ids that were good enough but did not fit the budget.
        channels: The channels that took part: exact, lexical, semantic, listing.
        degraded: Why a channel was missing or incomplete; empty when nothing was.
        embedder: Name of the embedding model, or None.
        version: Version of the scope that was read.
        reranker: Name of the reranker that ordered the hits, or None.
        explained: With `explain`, the verdict on every record near the cut, the hits first.
    """

    records: int
    considered: int
    hits: tuple[Hit, ...]
    rejected: Mapping[Reason, int]
    budget_rejected: tuple[str, ...]
    channels: tuple[str, ...]
    degraded: tuple[Degraded, ...]
    embedder: str | None
    version: int
    reranker: str | None = None
    explained: tuple[Explained, ...] = ()


@dataclass(frozen=True, slots=True)
class Recall(Plain):
    """The result of one recall. Iterating over it gives the packet's items, best first.

    Attributes:
        packet: What a model may be shown.
        trace: Why these records and no others.
    """

    packet: Packet
    trace: RecallTrace

    def __iter__(self) -> Iterator[PacketItem]:
        """Iterate over the packet's items, best first."""
        return iter(self.packet)

    def __len__(self) -> int:
        """Return the number of items in the packet."""
        return len(self.packet)
