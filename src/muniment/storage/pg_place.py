"""Where a PostgreSQL database is, how to connect to it, and where its store's own files lie."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from muniment.errors import InvalidInputError

SCHEMES = ("postgresql://", "postgres://")


@dataclass(frozen=True, slots=True)
class Postgres:
    """A PostgreSQL database as the location of a store.

    Args:
        url: `postgresql://user@host/database`, with any option that libpq knows.
        files: Path to which `.key`, `.keys` and `.anchor` are added; None for one named after
            server and database in the user's data folder.
        connections: Most connections of this process.
        patience: Seconds to wait for a connection, and for a row that another transaction holds.
        statement_timeout: Most seconds for one statement; 0 without limit.
        replicas: URLs of streaming replicas of this server, for the same role. What is large is
            read from one of them whenever it shows the very state that this server has.

    Raises:
        InvalidInputError: A URL is not one, or a number is out of range.
    """

    url: str
    files: str | Path | None = None
    connections: int = 8
    patience: float = 30.0
    statement_timeout: float = 60.0
    replicas: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if type(self.replicas) not in (tuple, list):
            raise InvalidInputError("replicas must be a list of URLs.")
        object.__setattr__(self, "replicas", tuple(self.replicas))
        for url in (self.url, *self.replicas):
            if not str(url).startswith(SCHEMES):
                raise InvalidInputError("The location must start with postgresql://.")
        if type(self.connections) is not int or self.connections < 1:
            raise InvalidInputError("connections must be a whole number, 1 or more.")
        if self.patience <= 0 or self.statement_timeout < 0:
            raise InvalidInputError("patience must be above 0 and statement_timeout not below it.")

    def parts(self) -> dict[str, Any]:
        """Return what the URL says, by libpq's names.

        Raises:
            InvalidInputError: libpq cannot read it.
        """
        import psycopg
        from psycopg.conninfo import conninfo_to_dict

        try:
            return conninfo_to_dict(self.url)
        except psycopg.Error:
            raise InvalidInputError(
                "The location is not a URL that PostgreSQL can read: "
                "postgresql://user@host:port/database."
            ) from None

    def copies(self) -> tuple[Postgres, ...]:
        """Return its replicas, each as a place of its own."""
        return tuple(replace(self, url=url, replicas=()) for url in self.replicas)

    @property
    def name(self) -> str:
        """What an error calls the database: no user and no password."""
        parts = self.parts()
        host = parts.get("host") or parts.get("hostaddr") or "localhost"
        return f"postgresql://{host}:{parts.get('port') or 5432}/{parts.get('dbname') or ''}"

    @property
    def options(self) -> str:
        """The settings of every session."""
        given = self.parts().get("options") or ""
        wait, most = int(self.patience * 1000), int(self.statement_timeout * 1000)
        return f"{given} -c lock_timeout={wait} -c statement_timeout={most}".strip()

    @property
    def base(self) -> str:
        """The path to which the suffixes of the store's own files are added."""
        if self.files is not None:
            return str(Path(self.files).absolute())
        folder = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
        name = quote(self.name.partition("://")[2], safe="")
        return str(Path(folder) / "muniment" / name)
