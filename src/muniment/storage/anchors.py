"""The anchor: the last known state of every owner, kept outside the database."""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path

from muniment.errors import StoreError
from muniment.keys import Keys
from muniment.ports.integrity import Anchored, Head
from muniment.storage.guard import element, mask, row_mac, unmask
from muniment.storage.sidefile import SideFile

_TABLE = "heads"


class Anchors:
    """Heads of owners in a file. Only the store's key can write one that is believed.

    Args:
        location: The file.
        keys: The store's keys.
    """

    def __init__(self, location: str, keys: Keys) -> None:
        self._file = SideFile(location, "anchor")
        self._key = keys.anchors()

    def make(self) -> None:
        """Make an anchor without heads, unless there is one."""
        self._file.make()
        self._file.run("insert_content")
        self._file.close()

    def exists(self) -> bool:
        """Return whether the file is there."""
        return self._file.exists()

    def note(self, heads: Iterable[Head]) -> None:
        """Note the present state of owners; a later state that is noted already stays."""
        try:
            with self._file.changing():
                total = unmask(self._key, self._file.run("content")[0][0])
                for head in heads:
                    row = asdict(head)
                    held = self._file.run("head", row)
                    row["mac"] = row_mac(self._key, _TABLE, row)
                    self._file.run("replace_head", row)
                    now = self._file.run("head", row)
                    total ^= element(self._key, held[0][-1] if held else None)
                    total ^= element(self._key, now[0][-1])
                self._file.run("replace_content", {"content": mask(self._key, total)})
        finally:
            self._file.close()

    def read(self) -> Anchored:
        """Return every head, and whether the anchor is as it was written."""
        if not self.exists():
            return Anchored(is_there=False, is_genuine=False, heads=())
        try:
            stored = self._file.run("content")
            rows = self._file.run("heads")
        except StoreError:
            return Anchored(is_there=True, is_genuine=False, heads=())
        finally:
            self._file.close()
        heads = [Head(*row[:-1]) for row in rows]
        total, genuine = 0, bool(stored)
        for head, row in zip(heads, rows, strict=True):
            genuine &= self._is_own(asdict(head), row[-1])
            total ^= element(self._key, row[-1])
        genuine = genuine and total == unmask(self._key, stored[0][0])
        return Anchored(is_there=True, is_genuine=genuine, heads=tuple(heads))

    def _is_own(self, row: Mapping[str, object], mac: bytes | None) -> bool:
        return hmac.compare_digest(row_mac(self._key, _TABLE, row), mac or b"")


def anchor_at(path: str | Path, keys: Keys) -> Anchors:
    """Return the anchor in a file, for reading one that was kept elsewhere."""
    return Anchors(str(Path(path).absolute()), keys)
