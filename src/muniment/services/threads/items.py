"""Items: JSON values that the application keeps by namespace and key, apart from records."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

from muniment.clock import from_instant
from muniment.errors import InvalidInputError
from muniment.keys import digest
from muniment.ports import EntryRow, NewTombstone, OwnerState, Snapshot, ThreadRow, Transaction
from muniment.rules.tombstones import Burial
from muniment.services.admission import texts_of
from muniment.services.threads.nearness import Vectors, cosines
from muniment.services.threads.places import (
    ACTOR,
    Places,
    ThreadKey,
    checked_expiry,
    checked_id,
    end_of,
    packed,
    thread_key,
    unpacked_object,
)
from muniment.services.writes import APPLICATION
from muniment.threads import Item, NewItem

if TYPE_CHECKING:
    from muniment.scope import Scope
    from muniment.services.forgetting import ThreadForgetting
    from muniment.services.gate import Gate

ITEM = "item"
STORE = "store"
MOST_LABELS = 64
Where: TypeAlias = Callable[[Item], bool]
Address: TypeAlias = tuple[tuple[str, ...], str]
Change: TypeAlias = NewItem | tuple[Sequence[str], str]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a search of items asks for.

    Attributes:
        prefix: The first labels of their namespaces.
        where: What else must hold, or None.
        vector: An embedding to be near to, or None.
        model: The model that made it.
        limit: Most items, or None for all.
        offset: How many to leave out first.
        refresh: Whether those that are returned count as used.
    """

    prefix: tuple[str, ...]
    where: Where | None
    vector: Sequence[float] | None
    model: str
    limit: int | None
    offset: int
    refresh: bool


class ItemShelf(Places):
    """Puts, gets, searches and removes items. Every text is screened as a record's would be."""

    def __init__(self, gate: Gate, forgetting: ThreadForgetting) -> None:
        super().__init__(gate)
        self._forgetting = forgetting

    def shelf(self, owner: Scope, store: str) -> ThreadKey:
        """Return the thread in which a store's items lie."""
        return thread_key(owner, STORE, store)

    def change(self, key: ThreadKey, changes: Sequence[Change]) -> list[bool]:  # type: ignore[override]
        """Put and remove items in order, in one transaction.

        Returns:
            Of each change whether an item was there before.

        Raises:
            InvalidInputError: Something is malformed.
            RefusedError: Screening refused a text; nothing was written.
        """
        prepared = [self._prepared(key, change) for change in changes]
        if not prepared:
            return []

        def work(
            tx: Transaction, owner: OwnerState, row: ThreadRow
        ) -> tuple[list[bool], ThreadRow]:
            owner = tx.bump(owner)
            were = [self._apply(tx, owner, row, one) for one in prepared]
            self._account(tx, owner, key, prepared)
            return were, row

        return super().change(key, work)

    def _prepared(self, key: ThreadKey, change: Change) -> EntryRow | Address:
        if not isinstance(change, NewItem):
            return _addressed(change)
        namespace, name = address(change.namespace, change.key)
        if not isinstance(change.value, Mapping):
            raise InvalidInputError("value must be a JSON object.")
        content = packed("value", dict(change.value))
        texts = [*namespace, name, *texts_of(unpacked_object(content))]
        self._gate.check_texts(key.owner, texts, APPLICATION)
        now, idle = self._clock.now(), _idle(change.idle)
        expires_at = _expiry(change.expires_at, now)
        vectors = Vectors.of(change.vectors, change.model)
        return EntryRow(
            seq=0,
            thread=0,
            sort=ITEM,
            number=0,
            name=_name(namespace, name),
            folder=_name(namespace),
            label=vectors.packed(),
            content=content,
            created_at=now,
            changed_at=now,
            idle=idle,
            expires_at=expires_at,
            ends_at=end_of(now, idle, expires_at),
        )

    def _apply(
        self, tx: Transaction, owner: OwnerState, row: ThreadRow, change: EntryRow | Address
    ) -> bool:
        now = self._clock.now()
        name = change.name if isinstance(change, EntryRow) else _name(*change)
        known = tx.entry(owner, row.seq, ITEM, name)
        alive = known is not None and not _is_over(known, now)
        if isinstance(change, EntryRow):
            made = known.created_at if alive and known is not None else now
            seq = 0 if known is None else known.seq
            tx.put_entry(owner, replace(change, seq=seq, thread=row.seq, created_at=made))
        elif known is not None:
            tx.drop_entries(owner, [known.seq])
            mark = self._mark(owner, row.name, name)
            tx.bury(owner, NewTombstone(_id(mark), mark, mark, Burial.FORGOTTEN.value, now))
        return alive

    def _mark(self, owner: OwnerState, store: str, name: str) -> bytes:
        return digest(self._store.keys.tombstone(owner.owner), ITEM, store, name)

    def _account(
        self,
        tx: Transaction,
        owner: OwnerState,
        key: ThreadKey,
        changes: Sequence[EntryRow | Address],
    ) -> None:
        for action, is_put in (("put_item", True), ("forget_item", False)):
            names = [
                one.name if isinstance(one, EntryRow) else _name(*one)
                for one in changes
                if isinstance(one, EntryRow) is is_put
            ]
            ids = [_id(self._mark(owner, key.thread_id, name)) for name in dict.fromkeys(names)]
            if ids:
                tx.append_audit(
                    owner,
                    at=self._clock.now(),
                    actor=ACTOR,
                    action=action,
                    memory_ids=ids,
                )

    def get(
        self, key: ThreadKey, addresses: Sequence[tuple[Sequence[str], str]], *, refresh: bool
    ) -> tuple[Item | None, ...]:
        """Return items, None where there is none; with `refresh` they count as used."""
        names = [_name(*_addressed(one)) for one in addresses]
        with self._store.snapshot() as view:
            found = self.found(view, key)
            if found is None:
                return (None,) * len(names)
            owner, row = found
            rows = [view.entry(owner, row.seq, ITEM, name) for name in names]
        now = self._clock.now()
        alive = [None if one is None or _is_over(one, now) else one for one in rows]
        if refresh:
            self._use(key, [one for one in alive if one is not None])
        return tuple(None if one is None else item_of(one) for one in alive)

    def _use(self, key: ThreadKey, rows: Sequence[EntryRow]) -> None:
        """Let items live on from now; that is no change of theirs, so no version moves."""
        now = self._clock.now()
        later = [
            (row.seq, ends)
            for row in rows
            if row.idle is not None and (ends := end_of(now, row.idle, row.expires_at)) is not None
            if ends != row.ends_at
        ]

        def work(tx: Transaction) -> None:
            owner = tx.owner(key.owner)
            for seq, ends in later if owner is not None else ():
                tx.touch_entry(owner, seq, ends)  # type: ignore[arg-type]

        if later:
            self._store.write(work)

    def search(self, key: ThreadKey, wanted: Wanted) -> tuple[Item, ...]:
        """Return the items that meet a search, best first, or else the last put first."""
        if wanted.offset < 0 or (wanted.limit is not None and wanted.limit < 0):
            raise InvalidInputError("limit and offset must not be negative.")
        rows = self._alive(key, wanted.prefix)
        items = [(row, item_of(row)) for row in rows]
        if wanted.where is not None:
            items = [one for one in items if wanted.where(one[1])]
        if wanted.vector is not None:
            items = _ranked(items, wanted.vector, wanted.model)
        end = None if wanted.limit is None else wanted.offset + wanted.limit
        chosen = items[wanted.offset : end]
        if wanted.refresh:
            self._use(key, [row for row, _ in chosen])
        return tuple(item for _, item in chosen)

    def _alive(self, key: ThreadKey, prefix: Sequence[str]) -> list[EntryRow]:
        """Return the items under a namespace, the last put first."""
        wanted, now = checked_namespace(prefix, empty=True), self._clock.now()
        with self._store.snapshot() as view:
            found = self.found(view, key)
            rows = [] if found is None else view.entries(found[0], found[1].seq, ITEM)
        alive = [
            row for row in rows if not _is_over(row, now) and _labels(row)[: len(wanted)] == wanted
        ]
        return sorted(alive, key=lambda row: (row.changed_at, row.seq), reverse=True)

    def namespaces(self, key: ThreadKey) -> list[tuple[str, ...]]:
        """Return the namespaces that hold an item, in order."""
        return sorted({_labels(row) for row in self._alive(key, ())})

    def sweep(self, key: ThreadKey) -> int:
        """Delete the items whose time is over; return how many."""

        def ended(view: Snapshot, owner: OwnerState, row: ThreadRow) -> list[EntryRow]:
            now = self._clock.now()
            return [one for one in view.entries(owner, row.seq, ITEM) if _is_over(one, now)]

        return self._forgetting.forget_entries([key], ended)[1]


def address(namespace: object, key: object) -> Address:
    """Return a checked namespace and key.

    Raises:
        InvalidInputError: One is malformed.
    """
    return checked_namespace(namespace), checked_id("key", key)


def _addressed(pair: object) -> Address:
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise InvalidInputError("An address must be a namespace and a key, as a tuple of the two.")
    return address(*pair)


def checked_namespace(namespace: object, *, empty: bool = False) -> tuple[str, ...]:
    """Return a namespace: labels that are compared character by character.

    Raises:
        InvalidInputError: It is no sequence of labels, or has none or too many.
    """
    if isinstance(namespace, str) or not isinstance(namespace, Sequence):
        raise InvalidInputError("namespace must be a tuple of labels.")
    labels = tuple(checked_id("namespace", label) for label in namespace)
    if not (labels or empty) or len(labels) > MOST_LABELS:
        raise InvalidInputError(f"namespace needs 1 to {MOST_LABELS} labels.")
    return labels


def _name(namespace: tuple[str, ...], key: str | None = None) -> str:
    said: list[Any] = list(namespace) if key is None else [list(namespace), key]
    return json.dumps(said, ensure_ascii=False, separators=(",", ":"))


def _labels(row: EntryRow) -> tuple[str, ...]:
    return tuple(json.loads(row.folder))


def _id(mark: bytes) -> str:
    return f"itm_{mark.hex()}"


def _idle(idle: object) -> int | None:
    if idle is None:
        return None
    if not isinstance(idle, timedelta) or idle <= timedelta(0):
        raise InvalidInputError("idle must be a timedelta above zero.")
    return idle // timedelta(microseconds=1)


def _expiry(expires_at: object, now: int) -> int | None:
    if isinstance(expires_at, timedelta):
        return now + expires_at // timedelta(microseconds=1)
    return checked_expiry(expires_at)


def _is_over(row: EntryRow, now: int) -> bool:
    return row.ends_at is not None and row.ends_at <= now


def item_of(row: EntryRow) -> Item:
    """Return what a caller sees of an item."""
    namespace, key = json.loads(row.name)
    moments = (row.expires_at, None if row.idle is None else row.ends_at)
    expires_at, idle_until = (None if at is None else from_instant(at) for at in moments)
    return Item(
        namespace=tuple(namespace),
        key=key,
        value=unpacked_object(row.content),
        created_at=from_instant(row.created_at),
        updated_at=from_instant(row.changed_at),
        expires_at=expires_at,
        idle_until=idle_until,
    )


def _ranked(
    items: Sequence[tuple[EntryRow, Item]], vector: Sequence[float], model: str
) -> list[tuple[EntryRow, Item]]:
    """Return items by their best cosine; those without a vector of the model follow."""
    scores = cosines(vector, model, [row.label for row, _ in items])
    placed = [
        (row, replace(item, score=score)) for (row, item), score in zip(items, scores, strict=True)
    ]
    near = [one for one in placed if one[1].score is not None]
    near.sort(key=lambda one: -(one[1].score or 0.0))
    return [*near, *(one for one in placed if one[1].score is None)]
