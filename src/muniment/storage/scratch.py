"""Memory that ciphertexts are read into only to be opened, kept for the next ones."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from muniment.ports.blocks import Room

_MOST = 4 * 1024 * 1024
_spare: deque[bytearray] = deque(maxlen=2)


@contextmanager
def scratch() -> Iterator[Room]:
    """Give memory in which each content takes the place of the one before.

    Fresh memory costs several times what is done in it. At most two pieces of 4 MB are kept.
    """
    try:
        memory = _spare.pop()
    except IndexError:
        memory = bytearray()

    def room(size: int) -> memoryview:
        nonlocal memory
        if len(memory) < size:
            memory = bytearray(size)
        return memoryview(memory)[:size]

    try:
        yield room
    finally:
        if len(memory) <= _MOST:
            _spare.append(memory)
