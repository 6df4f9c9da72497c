"""Several PostgreSQL servers as one store: which there are, and which of them keeps the map."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from muniment.errors import InvalidInputError
from muniment.storage.pg_place import Postgres


@dataclass(frozen=True, slots=True)
class Shards:
    """Several PostgreSQL servers as the location of one store; a tenant lives on one of them.

    Args:
        servers: Each server by its name, which never changes.
        map: The name of the one that keeps the map from tenants to servers.
        files: Path to which `.key`, `.keys` and `.anchor` of the store are added.

    Raises:
        InvalidInputError: There is no server, or the map's is none of them.
    """

    servers: Mapping[str, Postgres]
    map: str
    files: str | Path

    def __post_init__(self) -> None:
        if self.map not in self.servers:
            raise InvalidInputError("`map` must name one of the servers.")
        same = {name: replace(one, files=self.files) for name, one in self.servers.items()}
        object.__setattr__(self, "servers", same)

    @property
    def home(self) -> Postgres:
        """The server that keeps the map."""
        return self.servers[self.map]

    @property
    def base(self) -> str:
        """The path to which the suffixes of the store's own files are added."""
        return self.home.base
