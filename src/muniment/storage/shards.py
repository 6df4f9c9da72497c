"""Several PostgreSQL servers as one store: which there are, and which of them keeps the map."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from muniment.errors import InvalidInputError
from muniment.storage.pg_place import Postgres

SUFFIX = ".toml"
_SETTINGS = {"connections", "patience", "statement_timeout"}


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


def read_shards(path: Path) -> Shards:
    """Read a TOML file with `map = "NAME"` and a table `[servers]` of `NAME = "postgresql://…"`.

    `connections`, `patience` and `statement_timeout` may be set as for one server. The store's own
    files are named after the file, beside it, or after `files`.

    Raises:
        InvalidInputError: It cannot be read, or says something else. Names no URL.
    """
    try:
        said: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidInputError(
            f"{path} cannot be read as TOML ({type(error).__name__}); it must name the servers."
        ) from None
    unknown = sorted(set(said) - _SETTINGS - {"map", "servers", "files"})
    servers = said.get("servers")
    if unknown or not isinstance(servers, dict) or not isinstance(said.get("map"), str):
        raise InvalidInputError(
            f'{path} must have map = "NAME" and a table [servers] of NAME = "postgresql://…"'
            + (f", and has {', '.join(unknown)}." if unknown else ".")
        )
    settings: dict[str, Any] = {name: said[name] for name in _SETTINGS & set(said)}
    places = {name: Postgres(str(url), **settings) for name, url in servers.items()}
    folder = path.absolute().parent
    return Shards(places, said["map"], folder / str(said.get("files", path.stem)))
