"""Packed records read from a SQLite file without a copy on the way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import apsw

from muniment.storage.blocks_view import BlockSnapshot
from muniment.storage.ledger import Row


class BlobReader(BlockSnapshot):
    """Reads blocks through SQLite's interface for large values.

    A statement gives a row of a megabyte after it was put together elsewhere, which takes eight
    times as long.
    """

    _file: apsw.Connection

    def _segment_rows(self, values: Mapping[str, Any]) -> Iterable[Row]:
        rows = self._all("segment_blocks", values)
        return ((*rest, self._content(number)) for number, *rest in rows)

    def _content(self, number: int) -> bytes:
        blob = self._file.blob_open("main", "blocks", "content", number, False)
        try:
            return blob.read()
        finally:
            blob.close()
