"""What a segment is built from: the rows of a scope and what happened to them."""

from __future__ import annotations

from typing import NamedTuple


class IndexRow(NamedTuple):
    """What a segment needs of one active record.

    Instants are microseconds since 1970 (UTC) or None. `words` is the packed word list,
    `vector` the little-endian float32 embedding of the asked model slot, or None; it is empty
    where the embedding lies in a block. `follows` is the seq of the record before it in its thread.
    """

    seq: int
    kind: str
    valid_from: int | None
    valid_until: int | None
    expires_at: int | None
    words: bytes
    vector: bytes | None
    follows: int | None = None


class IndexChanges(NamedTuple):
    """What happened to a scope's active records after a version.

    `rows` are the records written or changed since and active now; `gone` the seq of those that
    were active and are not any more.
    """

    rows: list[IndexRow]
    gone: list[int]
