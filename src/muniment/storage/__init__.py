"""Durable rows behind the `Store` port."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from muniment.errors import InvalidInputError
from muniment.rules.statement import refuse_unstorable

if TYPE_CHECKING:
    from muniment.ports import MasterKey, Store

_SQLITE = "sqlite:///"


def open_store(
    location: str | Path,
    *,
    busy_timeout: float = 30.0,
    create: bool = True,
    sealed: bool | None = None,
    master: MasterKey | None = None,
    file_key: str | None = None,
) -> Store:
    """Open the store at a location.

    Args:
        location: A file path, `sqlite:///path`, or `:memory:` for a store that ends with the
            process.
        busy_timeout: Seconds to wait for another process's write to finish.
        create: Whether to make the file when it does not exist.
        sealed: Whether everything is sealed before the database sees it; None for what the store
            says, and not for a new one.
        master: What guards the store; None for the key file beside the database.
        file_key: Passphrase of a file that SQLite encrypts as a whole, or None.

    Raises:
        InvalidInputError: The location names a database that is not supported.
        KeyMissingError: The store's key is not where it should be.
        WrongKeyError: The key is another one.
        StoreError: The file cannot be opened, is foreign, damaged or too new.
    """
    from muniment.storage.sidefile import MEMORY
    from muniment.storage.sqlite import SqliteStore
    from muniment.storage.unlock import Unlocker

    if not isinstance(location, str | Path):
        raise InvalidInputError("The location must be a path or a string.")
    name = str(location)
    refuse_unstorable("location", name)
    if name.startswith(_SQLITE):
        name = name.removeprefix(_SQLITE)
    elif "://" in name:
        raise InvalidInputError(
            "The location must be a file path, sqlite:///path or :memory:; "
            f"{name.partition('://')[0]}:// is not supported."
        )
    if not name.strip():
        raise InvalidInputError("The location of the store must not be empty.")
    absolute = name if name == MEMORY else str(Path(name).absolute())
    unlocker = Unlocker(absolute, sealed=sealed, master=master)
    store = SqliteStore(
        name, busy_timeout=busy_timeout, create=create, unlocker=unlocker, file_key=file_key
    )
    if unlocker.vault is None:
        return store
    from muniment.storage.sealed import SealedStore

    return SealedStore(store, unlocker)
