"""LangGraph's operations on the items of one scope."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from langgraph.store.base import (
    GetOp,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    validate_op_namespace,
)
from langgraph.store.base import Item as GraphItem

from muniment.adapters.langgraph.filters import matcher
from muniment.adapters.langgraph.indexing import Index, Vectors
from muniment.errors import InvalidInputError
from muniment.threads import Item, NewItem

if TYPE_CHECKING:
    from muniment.scoped.memory import ScopedMemory

Name = tuple[tuple[str, ...], str]


class Operations:
    """Runs batches: reads see the items as they were before the writes of the same batch."""

    def __init__(
        self, memory: ScopedMemory, index: Index | None, longest: timedelta | None
    ) -> None:
        self._items = memory.items("langgraph")
        self._index = index
        self._longest = longest

    def prepare(self, ops: Iterable[Op]) -> list[Op]:
        """Return the operations of a batch, all of them checked before one of them is run.

        Raises:
            ValueError: An operation is unknown, or a namespace or filter is malformed.
        """
        prepared = list(ops)
        for op in prepared:
            if not isinstance(op, GetOp | SearchOp | PutOp | ListNamespacesOp):
                raise InvalidInputError(f"There is no operation {type(op).__name__}.")
            validate_op_namespace(op)
            if isinstance(op, SearchOp):
                matcher(op.filter)
        return prepared

    def embed(self, ops: Sequence[Op]) -> Vectors:
        """Return the vectors that a batch needs; none without an index."""
        return self._index.embed(ops) if self._index else Vectors()

    async def aembed(self, ops: Sequence[Op]) -> Vectors:
        """Return the vectors that a batch needs; none without an index."""
        return await self._index.aembed(ops) if self._index else Vectors()

    def run(self, ops: Sequence[Op], vectors: Vectors) -> list[Result]:
        """Run a prepared batch; the results stand in the order of the operations.

        Of several writes of one item the last one counts. The writes are one transaction.
        """
        results = [self._read(op, vectors) for op in ops]
        last: dict[Name, PutOp] = {}
        for op in ops:
            if isinstance(op, PutOp):
                last[op.namespace, op.key] = op
        if last:
            self._items.put_many([self._change(op, vectors) for op in last.values()])
        return results

    def sweep(self) -> int:
        """Delete the items whose time is over; return how many there were."""
        return self._items.sweep()

    def _read(self, op: Op, vectors: Vectors) -> Result:
        if isinstance(op, GetOp):
            item = self._items.get(op.namespace, op.key, refresh=op.refresh_ttl)
            return None if item is None else _to_item(item)
        if isinstance(op, SearchOp):
            return self._search(op, vectors)
        if isinstance(op, ListNamespacesOp):
            return self._namespaces(op)
        return None

    def _search(self, op: SearchOp, vectors: Vectors) -> list[SearchItem]:
        passes = matcher(op.filter)
        found = self._items.search(
            op.namespace_prefix,
            where=lambda item: passes(item.value),
            vector=vectors.queries.get(op.query or ""),
            model=self._index.model if self._index else "",
            limit=op.limit,
            offset=op.offset,
            refresh=op.refresh_ttl,
        )
        return [_to_search_item(item) for item in found]

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        conditions = op.match_conditions or ()
        found = {
            namespace[: op.max_depth]
            for namespace in self._items.namespaces()
            if all(_matches(condition, namespace) for condition in conditions)
        }
        return sorted(found)[op.offset : op.offset + op.limit]

    def _change(self, op: PutOp, vectors: Vectors) -> NewItem | Name:
        if op.value is None:
            return op.namespace, op.key
        return NewItem(
            namespace=op.namespace,
            key=op.key,
            value=dict(op.value),
            idle=None if op.ttl is None else timedelta(minutes=op.ttl),
            expires_at=self._longest,
            vectors=self._index.of_item(op, vectors) if self._index else {},
            model=self._index.model if self._index else "",
        )


def _matches(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    path = condition.path
    if len(path) > len(namespace):
        return False
    labels = namespace[-len(path) :] if condition.match_type == "suffix" else namespace
    return all(wanted in ("*", label) for wanted, label in zip(path, labels, strict=False))


def _to_item(item: Item) -> GraphItem:
    return GraphItem(
        value=dict(item.value),
        key=item.key,
        namespace=item.namespace,
        created_at=item.created_at,
        updated_at=item.updated_at,
    )


def _to_search_item(item: Item) -> SearchItem:
    return SearchItem(
        item.namespace,
        item.key,
        dict(item.value),
        item.created_at,
        item.updated_at,
        item.score,
    )
