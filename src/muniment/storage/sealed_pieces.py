"""The ciphertexts of stored rows, one by one: to check them and to seal them again."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence

from muniment.errors import KeyMissingError, TamperedError
from muniment.ports import Block, Head, SealedRow, Snapshot
from muniment.records import canonical_json
from muniment.storage.sealed_names import DECIDED, SEALED, sealed_part
from muniment.storage.sealing import Sealer, Unreadable, decoded

TABLES = ("records", "words", "vectors", "candidates", "blocks", "threads", "entries")
RANGE = 256
_COLUMNS = {
    "threads": ("thread",),
    "entries": ("entry:label", "entry:content"),
}


def all_sealed(view: Snapshot, head: Head) -> Iterator[SealedRow]:
    """Yield the sealed columns of every row of an owner."""
    for table in TABLES:
        for low in range(1, head.last_seq + 1, RANGE):
            high = low + RANGE - 1
            yield from view.sealed_rows(head.tenant_id, head.owner_no, table, low, high)


def pieces(row: SealedRow) -> list[tuple[str, bytes]]:
    """Return the ciphertexts of a row, each with the column that it is bound to.

    Raises:
        TamperedError: One is not a ciphertext any more.
    """
    if row.table == "records":
        labels = sealed_part(_parsed(row.parts[1]))
        return [("text", decoded(str(row.parts[0]))), ("labels", decoded(labels))]
    if row.table == "candidates":
        statement, reason = _parsed(row.parts[0]), str(row.parts[1])
        found = [("candidate", decoded(str(statement.get("text"))))]
        if reason.startswith(DECIDED):
            found.append(("decision", decoded(reason.removeprefix(DECIDED))))
        return found
    if row.table in _COLUMNS:
        blobs = [part if isinstance(part, bytes) else b"" for part in row.parts]
        return list(zip(_COLUMNS[row.table], blobs, strict=True))
    column = {"words": "words", "blocks": f"block:{row.slot}"}.get(row.table, f"vector:{row.slot}")
    return [(column, bytes(row.parts[0] or b""))]  # type: ignore[arg-type]


def block_column(block: Block) -> str:
    """Return the column that a block's ciphertext is bound to."""
    return f"block:{block.slot}"


def _parsed(text: str | bytes | None) -> dict[str, object]:
    try:
        said = json.loads(text or "")
    except ValueError:
        said = None
    if not isinstance(said, dict):
        raise TamperedError("A sealed row is not one any more; restore it from a backup.")
    return said


def _with_pieces(row: SealedRow, blobs: Sequence[bytes]) -> SealedRow:
    texts = [base64.b64encode(blob).decode("ascii") for blob in blobs]
    if row.table == "records":
        return row._replace(parts=(texts[0], canonical_json({SEALED: texts[1]})))
    if row.table == "candidates":
        statement = canonical_json({**json.loads(str(row.parts[0])), "text": texts[0]})
        reason = DECIDED + texts[1] if len(texts) > 1 else row.parts[1]
        return row._replace(parts=(statement, reason))
    return row._replace(parts=tuple(blobs))


def can_open(row: SealedRow, sealer: Sealer) -> bool:
    """Return whether every ciphertext of a row is as it was sealed, or its key was destroyed."""
    try:
        for column, blob in pieces(row):
            sealer.open(column, row.seq, blob)
    except Unreadable:
        return True
    except (TamperedError, KeyMissingError):
        return False
    return True


def sealed_again(row: SealedRow, sealer: Sealer) -> SealedRow | None:
    """Return a row under the newest key; None when it is already, or can never be read.

    Raises:
        TamperedError: It was altered.
    """
    held = pieces(row)
    if all(sealer.is_current(blob) for _, blob in held):
        return None
    try:
        opened = [(column, sealer.open(column, row.seq, blob)) for column, blob in held]
    except Unreadable:
        return None
    return _with_pieces(row, [sealer.seal(column, row.seq, said) for column, said in opened])
