"""Stores filled with made-up records, for measuring."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from muniment import memory as facade
from muniment.bench.crowd import BATCH, FIRST_OTHER, join_in, scope_at
from muniment.bench.sample import RandomEmbedder, statements
from muniment.memory import Memory
from muniment.scope import Scope
from muniment.scoped import Progress, ScopedMemory
from muniment.storage import open_store

LIMIT = 10


def scope_of(memory: Memory, number: int) -> ScopedMemory:
    """Return the memory of one numbered scope."""
    scope = scope_at(number)
    return memory.scoped(tenant_id=scope.tenant_id, user_id=scope.user_id, agent_id=scope.agent_id)


def ask(me: ScopedMemory, query: str) -> list[str]:
    """Return the source ids of the best ten."""
    found = me.recall(query, limit=LIMIT, minimum_score=-1.0)
    return [item.record.source.source_id for item in found]


@contextmanager
def folder_at(keep: Path | None) -> Iterator[Path]:
    """Give a folder that is kept, or one that is removed afterwards."""
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        yield keep
        return
    with TemporaryDirectory() as name:
        yield Path(name)


def fill(path: Path, own: Mapping[int, int], others: int, progress: Progress | None = None) -> None:
    """Make a store and write scopes into it, a batch of each in turn, among those of others.

    What is there already is not written again, so that a kept store can grow in several runs. It is
    maintained afterwards.

    Args:
        path: The file.
        own: Records to write by number of the scope; its statements have that seed.
        others: Records of others, 1,000 to a scope.
        progress: Called with how many records are written and how many there are.
    """
    scopes = -(-others // BATCH)
    total = sum(own.values()) + others
    with (
        facade.open(path, embedder=RandomEmbedder()) as memory,
        closing(open_store(path)) as store,
    ):
        with store.snapshot() as view:
            present = {
                int(state.owner.user_id)
                for state in view.owners()
                if isinstance(state.owner, Scope)
            }
        waiting = {n: statements(n, count) for n, count in own.items() if n not in present}
        numbers = range(FIRST_OTHER + len(present - set(own)), FIRST_OTHER + scopes)
        rounds = max([1, *(-(-len(rest) // BATCH) + 1 for rest in waiting.values())])
        share = -(-len(numbers) // rounds)
        for turn in range(rounds):
            for scope, rest in waiting.items():
                if rest:
                    scope_of(memory, scope).remember_many(rest[:BATCH], approved=True)
                    del rest[:BATCH]
            for number in numbers[turn * share : (turn + 1) * share]:
                join_in(store, number)
                if progress is not None:
                    left = (FIRST_OTHER + scopes - number - 1) * BATCH
                    progress(max(0, total - left - sum(map(len, waiting.values()))), total)
        memory.maintain()
