"""What the core needs from the outside, as protocols. Each method is documented here, once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from muniment.keys import Keys
from muniment.records import (
    AuditEntry,
    Authority,
    EmbeddingState,
    JSONValue,
    Record,
    Status,
    WritePath,
)
from muniment.results import Counts, Finding, StoreInfo
from muniment.rules.filters import Facts
from muniment.scope import Scope
from muniment.segment.rows import IndexChanges

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """Which model made a vector. Vectors of two models are never compared.

    Attributes:
        name: The model's name.
        version: Its revision, weights hash or whatever else changes its vectors.
        dimensions: Length of a vector.
    """

    name: str
    version: str
    dimensions: int


@dataclass(frozen=True, slots=True)
class Calibration:
    """How a model's cosine becomes a published score.

    Attributes:
        low: Cosine of unrelated texts; it and everything below becomes 0.
        high: Cosine of a question and the text that answers it word for word; becomes 1.
    """

    low: float
    high: float


class Embedder(Protocol):
    """Turns texts into unit vectors of one model.

    Implementations may be called from several threads at once. A failure of any sort is a
    `ProviderError`; no vector is ever invented.
    """

    @property
    def model(self) -> EmbeddingModel:
        """The model. May load or ask for it on first use; raises `ProviderError`."""
        ...

    @property
    def calibration(self) -> Calibration:
        """How this model's cosines are published as scores."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector a text, shape (len(texts), dimensions), for texts to be found.

        Texts are not blank. Text beyond the model's window is embedded in parts, not cut.

        Raises:
            ProviderError: The model failed, or gave vectors of the wrong number, length or value.
        """
        ...

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the unit vector, shape (dimensions,), of a question.

        Raises:
            ProviderError: The model failed.
        """
        ...


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What a language model said.

    Attributes:
        text: Its answer.
        model: The model that answered, as the endpoint named it.
    """

    text: str
    model: str


class LanguageModel(Protocol):
    """Answers one prompt. Nothing is stored at the provider."""

    def respond(self, *, instructions: str, prompt: str) -> ModelReply:
        """Return the model's answer.

        Args:
            instructions: Rules of the application.
            prompt: The user's turn: quoted records and the question.

        Raises:
            ProviderError: The endpoint failed or answered with nothing.
        """
        ...


class Screener(Protocol):
    """Looks at a text before it is stored."""

    def screen(self, text: str, path: WritePath) -> Sequence[Finding]:
        """Return what was seen, in order of position; an empty sequence when all is well.

        Args:
            text: The text as it would be stored.
            path: The door it comes through.
        """
        ...


@dataclass(frozen=True, slots=True)
class OwnerState:
    """A scope as the database knows it.

    Attributes:
        scope: Whose it is.
        owner_no: Its number inside the tenant.
        version: Grows by one with each committed change of its records.
        incarnation: Random; changes when the scope is erased or restored.
    """

    scope: Scope
    owner_no: int
    version: int
    incarnation: bytes


@dataclass(frozen=True, slots=True)
class NewRecord:
    """A record as the write gate hands it to the store.

    Instants are microseconds since 1970, UTC. `field_key` is `field` when the kind allows one
    active record a field, else None. `payload_digest` covers the caller's inputs. `vector` is a
    model's slot and the little-endian float32 numbers.
    """

    memory_id: str
    kind: str
    text: str
    field: str | None
    field_key: str | None
    value: JSONValue
    source_id: str
    path: WritePath
    payload_digest: bytes
    authority: Authority
    actor: str
    created_at: int
    valid_from: int | None
    valid_until: int | None
    expires_at: int | None
    metadata: Mapping[str, JSONValue]
    supersedes: str | None
    words: bytes
    vector: tuple[int, bytes] | None
    embedding: EmbeddingState


class Filed(NamedTuple):
    """What the store knows about a source_id: the record's id, state and payload digest."""

    memory_id: str
    status: Status
    payload_digest: bytes
    embedding: EmbeddingState


class Traces(NamedTuple):
    """Rows that belong to one record, by what they hold."""

    records: int
    words: int
    vectors: int


@dataclass(frozen=True, slots=True)
class NewTombstone:
    """A content-free mark against re-creation. Digests are keyed; they reveal no text."""

    memory_id: str
    source_digest: bytes
    value_digest: bytes
    reason: str
    created_at: int


class PendingText(NamedTuple):
    """A record that waits for a vector of the asked model."""

    seq: int
    memory_id: str
    text: str


class Snapshot(Protocol):
    """A consistent, read-only view of the store at one moment."""

    def owner(self, scope: Scope) -> OwnerState | None:
        """Return the scope's state, or None when nothing was ever written to it."""
        ...

    def index_changes(self, owner: OwnerState, since: int, slot: int | None) -> IndexChanges:
        """Return what changed after version `since`; everything active when it is 0.

        Args:
            owner: The scope.
            since: A version returned earlier for the same incarnation, or 0.
            slot: The model whose vectors are wanted, or None for none.
        """
        ...

    def records(self, owner: OwnerState, seqs: Sequence[int], now: int) -> list[Record]:
        """Return the records with these seq, in the order given; missing ones are left out."""
        ...

    def record(self, owner: OwnerState, memory_id: str, now: int) -> Record | None:
        """Return one record of the scope, whatever its status, or None."""
        ...

    def filed(self, owner: OwnerState, source_id: str) -> Filed | None:
        """Return what was written under a source_id, or None."""
        ...

    def active_field(self, owner: OwnerState, kind: str, field_key: str, now: int) -> Record | None:
        """Return the active record of a single-valued field, or None."""
        ...

    def page(self, owner: OwnerState, before: int, limit: int, now: int) -> list[Record]:
        """Return up to `limit` records with a seq below `before`, newest first, any status."""
        ...

    def tombstoned(
        self, owner: OwnerState, source_digest: bytes, value_digest: bytes
    ) -> str | None:
        """Return `source` or `value` for the tombstone that matches first, or None."""
        ...

    def traces(self, owner: OwnerState, seq: int) -> Traces:
        """Return how many rows belong to the record with this seq."""
        ...

    def facts(self, owner: OwnerState) -> list[tuple[int, Facts]]:
        """Return seq and filterable facts of every active record, ordered by seq."""
        ...

    def counts(self, owner: OwnerState, now: int) -> Counts:
        """Return how many rows the scope has."""
        ...

    def pending(self, owner: OwnerState, slot: int, after: int, limit: int) -> list[PendingText]:
        """Return active records without a vector of the slot and a seq above `after`, in order."""
        ...

    def count_pending(self, owner: OwnerState, slot: int) -> int:
        """Return how many active records have no vector of the slot."""
        ...

    def audit(self, owner: OwnerState, after: int, limit: int) -> list[AuditEntry]:
        """Return up to `limit` audit entries numbered above `after`, oldest first."""
        ...

    def scopes(self) -> list[OwnerState]:
        """Return every scope in the store. For maintenance and `doctor`; never for a caller."""
        ...

    def slot(self, model: EmbeddingModel) -> int | None:
        """Return the number of a model, or None when no vector of it was ever stored."""
        ...


class Transaction(Snapshot, Protocol):
    """A view that can also write. Everything in it commits together or not at all."""

    def ensure_owner(self, scope: Scope, now: int) -> OwnerState:
        """Return the scope's state, creating it when it is new."""
        ...

    def ensure_slot(self, model: EmbeddingModel) -> int:
        """Return the number of a model, creating it when it is new."""
        ...

    def bump(self, owner: OwnerState) -> OwnerState:
        """Add one to the scope's version and return the new state."""
        ...

    def insert(self, owner: OwnerState, record: NewRecord) -> int:
        """Store a record, its words and its vector under the owner's version; return its seq."""
        ...

    def supersede(self, owner: OwnerState, old_id: str, new_id: str) -> None:
        """Mark a record as replaced by one that is inserted next, in the same transaction."""
        ...

    def set_vector(self, owner: OwnerState, seq: int, slot: int, vector: bytes) -> None:
        """Store a vector for an existing record, unless the record is gone."""
        ...

    def drop_replaced_vectors(self, owner: OwnerState, slot: int) -> None:
        """Delete other models' vectors of every record that has one of the slot."""
        ...

    def remove(self, owner: OwnerState, record: Record) -> Traces:
        """Delete a record, its words and its vectors, and log its seq."""
        ...

    def bury(self, owner: OwnerState, tombstone: NewTombstone) -> None:
        """Store a tombstone."""
        ...

    def append_audit(
        self,
        owner: OwnerState,
        *,
        at: int,
        actor: str,
        action: str,
        memory_ids: Sequence[str],
        reason: str | None = None,
    ) -> None:
        """Add an entry to the scope's audit chain."""
        ...


class Store(Protocol):
    """Durable rows. Safe to use from many threads; several processes may share one database."""

    @property
    def keys(self) -> Keys:
        """The keys derived from the store's own random bytes."""
        ...

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """Open a consistent view. Never waits for a writer.

        Raises:
            StoreError: The database cannot be read.
        """
        ...

    def write(self, work: Callable[[Transaction], T]) -> T:
        """Run `work` in a write transaction and return its result once it is durable.

        Several callers may share one commit. If `work` raises, all it did is undone, its
        neighbours are not, and the error is raised here. `work` may run on another caller's
        thread.

        Raises:
            StoreBusyError: The write lock could not be had in time.
            StoreError: The transaction failed; nothing of it was kept.
        """
        ...

    def compact(self) -> None:
        """Rewrite the database so that no deleted byte is left in it.

        Raises:
            StoreBusyError: A reader or writer is in the way.
        """
        ...

    def info(self) -> StoreInfo:
        """Return facts about the store."""
        ...

    def close(self) -> None:
        """Release every file and connection. Closing twice is allowed."""
        ...
