"""Durable rows behind the `Store` port."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from muniment.errors import InvalidInputError, MissingExtraError
from muniment.rules.statement import refuse_unstorable
from muniment.storage.pg_place import SCHEMES, Postgres
from muniment.storage.placefile import SUFFIX, read_place, read_shards
from muniment.storage.shards import Shards

if TYPE_CHECKING:
    from muniment.ports import MasterKey, Store
    from muniment.storage.pg_map import TenantMap
    from muniment.storage.pg_move import TenantMove
    from muniment.storage.unlock import Unlocker

__all__ = [
    "Postgres",
    "Shards",
    "move_tenant",
    "open_store",
    "open_twin",
    "placements",
    "prepare_postgres",
    "prepare_shards",
    "read_place",
    "read_shards",
]

_SQLITE = "sqlite:///"


def open_store(
    location: str | Path | Postgres | Shards,
    *,
    busy_timeout: float = 30.0,
    create: bool = True,
    sealed: bool | None = None,
    master: MasterKey | None = None,
    file_key: str | None = None,
) -> Store:
    """Open the store at a location.

    Args:
        location: A file path, `sqlite:///path`, `:memory:` for a store that ends with the process,
            `postgresql://user@host/database`, or a `Postgres` that says more; a file `….toml` that
            names a server and its replicas or several servers, or `Shards`.
        busy_timeout: Seconds to wait for another process's write to finish. A `Postgres` says its
            own.
        create: Whether to make the file when it does not exist. A store in PostgreSQL is made by
            `prepare_postgres`, with another role.
        sealed: Whether everything is sealed before the database sees it; None for what the store
            says, and not for a new one.
        master: What guards the store; None for the key file beside the database.
        file_key: Passphrase of a file that SQLite encrypts as a whole, or None.

    Raises:
        InvalidInputError: The location names a database that is not supported.
        KeyMissingError: The store's key is not where it should be.
        WrongKeyError: The key is another one.
        MissingExtraError: PostgreSQL's driver is not installed. Names the extra.
        StoreUnavailableError: The server cannot be reached.
        UnsafeRoleError: Row-level security would not hold for the role that connects.
        StoreError: The file cannot be opened, is foreign, damaged or too new.
    """
    if not isinstance(location, str | Path | Postgres | Shards):
        raise InvalidInputError("The location must be a path or a string.")
    if isinstance(location, Postgres | Shards):
        return _open_postgres(location, sealed, master, file_key)
    name = str(location)
    refuse_unstorable("location", name)
    if name.startswith(SCHEMES):
        return _open_postgres(Postgres(name, patience=busy_timeout), sealed, master, file_key)
    if name.endswith(SUFFIX):
        return _open_postgres(read_place(Path(name)), sealed, master, file_key)
    return _open_sqlite(name, busy_timeout, sealed, master, file_key, create=create)


def _open_sqlite(
    name: str,
    busy_timeout: float,
    sealed: bool | None,  # noqa: FBT001 - passed on as it was given
    master: MasterKey | None,
    file_key: str | None,
    *,
    create: bool,
) -> Store:
    from muniment.storage.sidefile import MEMORY
    from muniment.storage.sqlite import SqliteStore
    from muniment.storage.unlock import Unlocker

    if name.startswith(_SQLITE):
        name = name.removeprefix(_SQLITE)
    elif "://" in name:
        raise InvalidInputError(
            "The location must be a file path, sqlite:///path, :memory: or postgresql://…; "
            f"{name.partition('://')[0]}:// is not supported."
        )
    if not name.strip():
        raise InvalidInputError("The location of the store must not be empty.")
    if file_key is not None:
        refuse_unstorable("file_key", file_key)
    absolute = name if name == MEMORY else str(Path(name).absolute())
    unlocker = Unlocker(absolute, sealed=sealed, master=master)
    store = SqliteStore(
        name, busy_timeout=busy_timeout, create=create, unlocker=unlocker, file_key=file_key
    )
    return _sealing(store, unlocker)


def _open_postgres(
    place: Postgres | Shards,
    sealed: bool | None,  # noqa: FBT001 - passed on as it was given
    master: MasterKey | None,
    file_key: str | None,
) -> Store:
    _need_driver()
    from muniment.storage.pg_routed import RoutedStore
    from muniment.storage.postgres import PostgresStore
    from muniment.storage.unlock import Unlocker

    if file_key is not None:
        raise InvalidInputError("file_key encrypts a SQLite file; use sealed=True on PostgreSQL.")
    unlocker = Unlocker(place.base, sealed=sealed, master=master)
    if isinstance(place, Shards):
        return _sealing(RoutedStore(place, unlocker), unlocker)
    return _sealing(PostgresStore(place, unlocker), unlocker)


def _need_driver() -> None:
    try:
        import psycopg  # noqa: F401 - only to see that it is there
        import psycopg_pool  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(
            "PostgreSQL needs the extra `postgres`: pip install 'muniment[postgres]'."
        ) from error


def _sealing(store: Store, unlocker: Unlocker) -> Store:
    """Return a store behind its seal, if it has one."""
    if unlocker.vault is None:
        return store
    from muniment.storage.sealed import SealedStore

    return SealedStore(store, unlocker)


def prepare_postgres(
    place: Postgres, *, sealed: bool | None = None, master: MasterKey | None = None
) -> int:
    """Make a store in PostgreSQL, or bring one to the present schema; return the schema's number.

    Args:
        place: The database, with the URL of the role that owns it. Applications never use that.
        sealed: Whether everything in a new store is sealed.
        master: What guards a new store; None for a key file.

    Raises:
        MissingExtraError: PostgreSQL's driver is not installed. Names the extra.
        InvalidInputError: The role `muniment_app` does not exist.
        StoreUnavailableError: The server cannot be reached.
        ForeignFileError: The database belongs to something else. It was not touched.
        StoreVersionError: The store is from a newer muniment. It was not touched.
        StoreError: The migration failed; nothing of it was kept.
    """
    _need_driver()
    from muniment.storage.pg_schema import prepare
    from muniment.storage.unlock import Unlocker

    return prepare(place, Unlocker(place.base, sealed=sealed, master=master))


def open_twin(
    original: Store,
    location: str | Path | Postgres,
    *,
    master: MasterKey | None = None,
    owner: str | None = None,
) -> Store:
    """Open, or make, the unsealed inside of a store's copy.

    Args:
        original: The store that it is a copy of.
        location: Where the copy is, as for `open_store`.
        master: What guards both; None for key files, which are copied.
        owner: URL of the role that owns a PostgreSQL copy, to make a store there.

    Raises:
        InvalidInputError: The location is wrong, or has another store's key.
        WrongKeyError: Another store is there.
        StoreError: It cannot be opened or made.
    """
    from muniment.storage.sqlite import SqliteStore
    from muniment.storage.twin import twin_of

    name = str(location)
    if isinstance(location, Postgres) or name.startswith(SCHEMES):
        place = location if isinstance(location, Postgres) else Postgres(name)
        _need_driver()
        from muniment.storage.pg_schema import prepare
        from muniment.storage.postgres import PostgresStore

        twin = twin_of(original, place.base, master)
        if owner is not None:
            prepare(replace(place, url=owner, files=place.base), twin)
        return PostgresStore(place, twin)
    path = str(Path(name.removeprefix(_SQLITE)).absolute())
    return SqliteStore(
        path, busy_timeout=30.0, create=True, unlocker=twin_of(original, path, master)
    )


def prepare_shards(
    shards: Shards, *, sealed: bool | None = None, master: MasterKey | None = None
) -> int:
    """Make a store on several servers, or add servers to one; return the schema's number.

    What a server holds already stays where it is and is put on the map.

    Args:
        shards: The servers, with the URLs of the role that owns each database.
        sealed: Whether everything in a new store is sealed.
        master: What guards a new store; None for a key file.

    Raises:
        InvalidInputError: A server is another one than the map says, or two have the same tenant.
        WrongKeyError: A server holds another store.
        StoreError: As for `prepare_postgres`.
    """
    _need_driver()
    from muniment.storage.pg_found import found
    from muniment.storage.unlock import Unlocker

    return found(shards, Unlocker(shards.base, sealed=sealed, master=master))


def placements(shards: Shards) -> list[tuple[str, str, str | None]]:
    """Return every tenant with its server, and with the one that it is being moved to or None.

    Args:
        shards: The servers, with the application role's URLs.

    Raises:
        MissingExtraError: PostgreSQL's driver is not installed. Names the extra.
        StoreUnavailableError: The map's server cannot be reached.
    """
    with _tenant_map(shards) as tenants:
        return tenants.placements()


def move_tenant(shards: Shards, tenant_id: str, target: str) -> TenantMove:
    """Move a tenant to another server while it is used, or carry on an interrupted move.

    Reading goes on all the time; writes wait while the last differences are copied.

    Args:
        shards: The servers, with the application role's URLs.
        tenant_id: The tenant.
        target: Name of the server to move it to; its present one takes back an unfinished move.

    Raises:
        InvalidInputError: There is no such server, or the tenant is on its way to another.
        NotFoundError: No such tenant is on the map.
        StoreUnavailableError: A server cannot be reached; run it again.
        StoreBusyError: Another run has taken over, or a writer does not end; run it again.
        StoreError: What arrived is not what was sent; the tenant stays where it was.
    """
    with _tenant_map(shards) as tenants:
        from muniment.storage.pg_move import Mover

        return Mover(tenants).move(tenant_id, target)


@contextmanager
def _tenant_map(shards: Shards) -> Iterator[TenantMap]:
    _need_driver()
    from muniment.storage.pg_map import TenantMap

    tenants = TenantMap(shards)
    try:
        tenants.pool(shards.map)
        yield tenants
    finally:
        tenants.close()
