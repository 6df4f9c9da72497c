"""Other memory systems behind one small face, so that one run measures all alike.

Each is optional. They are measured as their documentation says to use them, with the same embedder,
and asked by meaning alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from muniment.bench.sample import RandomEmbedder

Owner = tuple[str, str, str]


class Peer(Protocol):
    """A memory system that keeps texts of several owners."""

    def add(self, owner: Owner, ids: Sequence[str], texts: Sequence[str]) -> None:
        """Keep texts, in bulk where the system can."""
        ...

    def recall(self, owner: Owner, query: str, limit: int) -> list[str]:
        """Return the ids of the owner's nearest texts, best first."""
        ...

    def close(self) -> None:
        """Let go of every file."""
        ...


@dataclass(frozen=True, slots=True)
class Kind:
    """A memory system that can be measured.

    Attributes:
        package: What must be installed, or None.
        module: Module of this package that opens it.
        opener: Name of the function there.
        most: How many records to load at most, because it loads slowly or holds them in memory.
        extends: Whether it needs an SQLite that loads extensions.
    """

    package: str | None
    module: str
    opener: str
    most: int
    extends: bool = False

    @property
    def installed(self) -> str | None:
        """The installed version, or None when it is absent or cannot run here."""
        if self.package is None:
            return ""
        if self.extends and not _loads_extensions():
            return None
        try:
            return version(self.package)
        except ModuleNotFoundError:
            return None

    def open(self, folder: Path, embedder: RandomEmbedder) -> Peer:
        """Open it on an empty folder."""
        folder.mkdir(parents=True)
        found: Callable[[Path, RandomEmbedder], Peer]
        found = getattr(import_module(self.module), self.opener)
        return found(folder, embedder)


def _loads_extensions() -> bool:
    built_in = hasattr(import_module("sqlite3").Connection, "enable_load_extension")
    return built_in or find_spec("pysqlite3") is not None


def owner_of(number: int) -> Owner:
    """Return the owner of a numbered scope, as peers are told."""
    return ("tenant", str(number), "bench")


def packages(names: Sequence[str]) -> list[str]:
    """Return the packages of the named peers, in the order of all."""
    return [kind.package for name, kind in KINDS.items() if name in names and kind.package]


_HERE = "muniment.bench.peers"
KINDS = {
    "json and python": Kind(None, f"{_HERE}.json_rows", "open_rows", 20_000),
    "langgraph memory": Kind("langgraph", f"{_HERE}.langgraph", "open_memory", 20_000),
    "langgraph sqlite": Kind(
        "langgraph-checkpoint-sqlite", f"{_HERE}.langgraph", "open_sqlite", 100_000, extends=True
    ),
    "mem0": Kind("mem0ai", f"{_HERE}.mem0", "open_mem0", 10_000),
    "chroma": Kind("chromadb", f"{_HERE}.chroma", "open_chroma", 100_000),
    "lancedb": Kind("lancedb", f"{_HERE}.lance", "open_lance", 1_000_000),
    "qdrant local": Kind("qdrant-client", f"{_HERE}.qdrant", "open_qdrant", 20_000),
}
