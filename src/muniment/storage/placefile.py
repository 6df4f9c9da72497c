"""What a TOML file says of a store: its server and replicas, or several servers and their map."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from muniment.errors import InvalidInputError
from muniment.storage.pg_place import Postgres
from muniment.storage.shards import Shards

SUFFIX = ".toml"
_SETTINGS = {"connections", "patience", "statement_timeout"}
_SHAPE = (
    'server = "postgresql://…", or map = "NAME" and a table [servers] of NAME = "postgresql://…"'
)


def read_place(path: Path) -> Postgres | Shards:
    """Read a TOML file that says where a store is.

    Either `server = "postgresql://…"`, with `replicas = ["postgresql://…"]` if it has any, or
    `map = "NAME"` and a table `[servers]` of `NAME = "postgresql://…"`, with a table `[replicas]`
    of `NAME = ["postgresql://…"]`. `connections`, `patience` and `statement_timeout` may be set for
    both. `files` says where the store's own files lie, from the file's folder; several servers
    have them beside the file and named after it, one has them where its URL alone would.

    Raises:
        InvalidInputError: It cannot be read, or says something else. Names no URL.
    """
    try:
        said: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidInputError(
            f"{path} cannot be read as TOML ({type(error).__name__}); it must say {_SHAPE}."
        ) from None
    names = {"server"} if "server" in said else {"servers", "map"}
    unknown = sorted(set(said) - names - _SETTINGS - {"replicas", "files"})
    if unknown or not names <= set(said):
        more = f", and has {', '.join(unknown)}" if unknown else ""
        raise InvalidInputError(f"{path} must have {_SHAPE}{more}.")
    return _one(said, path) if "server" in said else _several(said, path)


def read_shards(path: Path) -> Shards:
    """Read a TOML file that names several servers; see `read_place`.

    Raises:
        InvalidInputError: It cannot be read, says something else, or names one server only.
    """
    place = read_place(path)
    if not isinstance(place, Shards):
        raise InvalidInputError(f"{path} names one server and has no map of tenants.")
    return place


def _settings(said: dict[str, Any]) -> dict[str, Any]:
    return {name: said[name] for name in _SETTINGS & set(said)}


def _one(said: dict[str, Any], path: Path) -> Postgres:
    files = said.get("files")
    return Postgres(
        str(said["server"]),
        files=None if files is None else path.absolute().parent / str(files),
        replicas=_urls(said.get("replicas", [])),
        **_settings(said),
    )


def _several(said: dict[str, Any], path: Path) -> Shards:
    servers, replicas = said["servers"], said.get("replicas", {})
    are_tables = isinstance(servers, dict) and isinstance(replicas, dict)
    if not are_tables or not isinstance(said["map"], str):
        raise InvalidInputError(f"{path} must have {_SHAPE}.")
    if not set(replicas) <= set(servers):
        raise InvalidInputError(f"{path} has replicas of servers that it does not name.")
    places = {
        name: Postgres(str(url), replicas=_urls(replicas.get(name, [])), **_settings(said))
        for name, url in servers.items()
    }
    folder = path.absolute().parent
    return Shards(places, said["map"], folder / str(said.get("files", path.stem)))


def _urls(said: object) -> tuple[str, ...]:
    if not isinstance(said, list):
        raise InvalidInputError("replicas must be a list of URLs.")
    return tuple(map(str, said))
