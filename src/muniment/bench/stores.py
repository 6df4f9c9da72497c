"""Stores filled with made-up records, for measuring."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from muniment import memory as facade
from muniment.bench.sample import RandomEmbedder, statements
from muniment.memory import Memory
from muniment.scoped import Progress, ScopedMemory

BATCH = 1000
FIRST_OTHER = 1000


def scope_of(memory: Memory, number: int) -> ScopedMemory:
    """Return the memory of one numbered scope; ten tenants share them."""
    return memory.scoped(tenant_id=f"tenant {number % 10}", user_id=f"{number}", agent_id="bench")


def fill(path: Path, own: Mapping[int, int], others: int, progress: Progress | None = None) -> None:
    """Make a store and write scopes into it, a batch of each in turn, among those of others.

    Args:
        path: The file.
        own: Records to write by number of the scope; its statements have that seed.
        others: Records of others, 1,000 to a scope.
        progress: Called with how many records are written and how many there are.
    """
    total = sum(own.values()) + others
    waiting = {number: statements(number, count) for number, count in own.items()}
    left = others
    with facade.open(path, embedder=RandomEmbedder()) as memory:
        number = FIRST_OTHER
        while left or any(waiting.values()):
            for scope, rest in waiting.items():
                if rest:
                    scope_of(memory, scope).remember_many(rest[:BATCH], approved=True)
                    del rest[:BATCH]
            rounds = max([1, *(-(-len(rest) // BATCH) + 1 for rest in waiting.values())])
            share = left if not any(waiting.values()) else -(-left // rounds)
            while share > 0:
                count = min(BATCH, share)
                scope_of(memory, number).remember_many(statements(number, count), approved=True)
                number, share, left = number + 1, share - count, left - count
            if progress is not None:
                progress(total - left - sum(map(len, waiting.values())), total)
        memory.maintain()
