"""The facade of one store of items."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from muniment.records import JSONValue
from muniment.rules.arguments import checks_arguments
from muniment.threads import Item, NewItem

if TYPE_CHECKING:
    from muniment.scoped.base import Services
    from muniment.services.threads import ThreadKey

ITEMS = "items"


@checks_arguments
class Items:
    """JSON values that the application keeps in a scope. Use `ScopedMemory.items` to reach them.

    They are written by the application alone, screened as every write is, and never recalled.
    """

    def __init__(self, services: Services, key: ThreadKey) -> None:
        self._services = services
        self._key = key
        self._items = services.threads.items

    @property
    def store(self) -> str:
        """Which of the application's stores it is."""
        return self._key.thread_id

    def put(
        self,
        namespace: Sequence[str],
        key: str,
        value: Mapping[str, JSONValue],
        *,
        idle: timedelta | None = None,
        expires_at: datetime | str | timedelta | None = None,
        vectors: Mapping[str, Sequence[float]] | None = None,
        model: str = "",
    ) -> None:
        """Keep a value under a namespace and a key, in the place of one that was there.

        Args:
            namespace: Labels inside the scope, compared character by character.
            key: Its key.
            value: A JSON object.
            idle: How long it lives after its last use. None for ever.
            expires_at: When to stop keeping it whatever its use, or how long from now. None for
                never.
            vectors: Embeddings by path of what they embed.
            model: The embedder's name and version.

        Raises:
            InvalidInputError: Something is malformed or too large.
            RefusedError: Screening refused a text in it.
            StoreError: The database failed; nothing was written.
        """
        labels = tuple(namespace) if not isinstance(namespace, str) else (namespace,)
        item = NewItem(labels, key, value, idle, expires_at, vectors or {}, model)
        self._items.change(self._key, [item])

    def put_many(self, changes: Sequence[NewItem | tuple[Sequence[str], str]]) -> None:
        """Put and delete in order, in one transaction.

        Args:
            changes: Items to put, and namespace and key of items to delete.

        Raises:
            InvalidInputError: Something is malformed or too large; nothing was written.
            RefusedError: Screening refused a text; nothing was written.
            StoreError: The database failed; nothing was written.
        """
        self._items.change(self._key, changes)

    def get(self, namespace: Sequence[str], key: str, *, refresh: bool = True) -> Item | None:
        """Return an item, or None when there is none or its time is over.

        Args:
            namespace: Its labels.
            key: Its key.
            refresh: Whether that counts as a use of it.

        Raises:
            InvalidInputError: The namespace or key is malformed.
        """
        return self._items.get(self._key, [(namespace, key)], refresh=refresh)[0]

    def get_many(
        self, addresses: Sequence[tuple[Sequence[str], str]], *, refresh: bool = True
    ) -> tuple[Item | None, ...]:
        """Return several items by namespace and key, in order; None where there is none.

        Raises:
            InvalidInputError: A namespace or key is malformed.
        """
        return self._items.get(self._key, addresses, refresh=refresh)

    def delete(self, namespace: Sequence[str], key: str) -> bool:
        """Delete an item; return whether there was one. A tombstone of its id is left.

        Raises:
            InvalidInputError: The namespace or key is malformed.
            StoreError: The database failed; nothing was deleted.
        """
        return self._items.change(self._key, [(namespace, key)])[0]

    def search(
        self,
        prefix: Sequence[str] = (),
        *,
        where: Callable[[Item], bool] | None = None,
        vector: Sequence[float] | None = None,
        model: str = "",
        limit: int | None = 10,
        offset: int = 0,
        refresh: bool = True,
    ) -> tuple[Item, ...]:
        """Return items under a namespace: those put last first, or those nearest to a vector.

        Args:
            prefix: The first labels of their namespaces.
            where: What else must hold of them.
            vector: An embedding; items without one of its model follow with no score.
            model: The embedder's name and version.
            limit: Most items; None for all.
            offset: How many to leave out first.
            refresh: Whether that counts as a use of those that are returned.

        Raises:
            InvalidInputError: An argument is malformed.
        """
        from muniment.services.threads.items import Wanted

        wanted = Wanted(tuple(prefix), where, vector, model, limit, offset, refresh)
        return self._items.search(self._key, wanted)

    def namespaces(self) -> tuple[tuple[str, ...], ...]:
        """Return every namespace that holds an item, in order."""
        return tuple(self._items.namespaces(self._key))

    def sweep(self) -> int:
        """Delete the items whose time is over; return how many. Maintenance does it too."""
        return self._items.sweep(self._key)
