"""Packed records read from a SQLite file without a copy on the way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import apsw

from muniment.ports.blocks import Room
from muniment.storage.blocks_view import BlockSnapshot
from muniment.storage.ledger import Row


class BlobReader(BlockSnapshot):
    """Reads blocks through SQLite's interface for large values.

    A statement gives a row of a megabyte after it was put together elsewhere, which takes eight
    times as long.
    """

    _file: apsw.Connection

    def _segment_rows(self, values: Mapping[str, Any], room: Room | None) -> Iterable[Row]:
        for number, size, is_vectors, *rest in self._all("segment_blocks", values):
            into = room(size) if room is not None and is_vectors else None
            yield (*rest, self._content(number, into))

    def _content(self, number: int, into: memoryview | None) -> bytes | memoryview:
        blob = self._file.blob_open("main", "blocks", "content", number, False)
        try:
            if into is None:
                return blob.read()
            blob.read_into(into)
            return into
        finally:
            blob.close()
