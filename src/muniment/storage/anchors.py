"""The anchor: the last known state of every owner, kept outside the database."""

from __future__ import annotations

import hmac
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TypeAlias

from muniment.errors import StoreError
from muniment.keys import Keys
from muniment.ports.integrity import Anchored, Head
from muniment.storage.guard import element, mask, row_mac, unmask
from muniment.storage.sidefile import SideFile

_TABLE = "heads"
COMMITS_PER_NOTE = 256

HeadOf: TypeAlias = Callable[[str, int], Head | None]
"""Reads the committed state of an owner."""


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


class Anchoring:
    """Notes the owners that moved, every so many commits and when the store is closed.

    Args:
        location: The database.
        keys: The store's keys.
        is_on: Whether the database says that it has an anchor.
    """

    def __init__(self, location: str, keys: Keys, *, is_on: bool) -> None:
        self._location = location
        self._keys = keys
        self._is_on = is_on
        self._pid = os.getpid()
        self._waiting: set[tuple[str, int]] = set()
        self._commits = 0

    def _anchors(self) -> Anchors:
        return Anchors(f"{self._location}.anchor", self._keys)

    def has_committed(self, moved: set[tuple[str, int]], head: HeadOf) -> None:
        """Count a commit; note what moved when it is time.

        Args:
            moved: Tenants and numbers of the owners that it changed.
            head: Reads an owner's committed state.
        """
        if self._pid != os.getpid():
            self._pid, self._waiting, self._commits = os.getpid(), set(), 0
        self._waiting |= moved
        self._commits += 1
        if self._commits % COMMITS_PER_NOTE == 0:
            self.note(head)

    def note(self, head: HeadOf) -> None:
        """Note the owners that moved; what cannot be noted now is noted with the next ones."""
        if self._is_on and self._waiting and self._pid == os.getpid():
            heads = {}
            for place in sorted(self._waiting):
                with suppress(StoreError):
                    heads[place] = head(*place)
            with suppress(StoreError):
                self._anchors().note(one for one in heads.values() if one is not None)
                self._waiting -= set(heads)

    def write(self, heads: Iterable[Head], *, renew: bool) -> None:
        """Note every owner, in a new anchor if asked or if there never was one."""
        if renew or not self._is_on:
            Path(f"{self._location}.anchor").unlink(missing_ok=True)
            self._anchors().make()
            self._is_on = True
        self._anchors().note(heads)
        self._waiting.clear()

    def read(self, path: Path | None) -> Anchored | None:
        """Return what the anchor, or a copy of it, says; None when there never was one."""
        if path is not None:
            return Anchors(str(path.absolute()), self._keys).read()
        return self._anchors().read() if self._is_on else None

    @property
    def integrity(self) -> str:
        """`on` when there is an anchor, else `off`."""
        return "on" if self._is_on and self._anchors().exists() else "off"
