"""The threads under one async memory."""

from __future__ import annotations

from asyncio import get_running_loop, to_thread
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import ParamSpec, TypeVar

from muniment.errors import StoreClosedError

P = ParamSpec("P")
T = TypeVar("T")

STORAGE_THREADS = 8
MODEL_THREADS = 8


class Workers:
    """A pool of threads for storage and one for models, so that neither holds up the other."""

    def __init__(self) -> None:
        self._storage = ThreadPoolExecutor(STORAGE_THREADS, "muniment-storage")
        self._models = ThreadPoolExecutor(MODEL_THREADS, "muniment-models")
        self._closed = False

    async def store(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a call that waits for the store.

        Raises:
            StoreClosedError: The memory is closed.
        """
        return await self._run(self._storage, partial(call, *args, **kwargs))

    async def model(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a call that waits for a model.

        Raises:
            StoreClosedError: The memory is closed.
        """
        return await self._run(self._models, partial(call, *args, **kwargs))

    async def _run(self, pool: ThreadPoolExecutor, call: Callable[[], T]) -> T:
        if self._closed:
            raise StoreClosedError("The memory is closed; open it again.")
        return await get_running_loop().run_in_executor(pool, copy_context().run, call)

    async def close(self, last: Callable[[], None]) -> None:
        """Let the calls that run finish, make the last one, and end the threads."""
        self._closed = True
        await to_thread(self._end, last)

    def _end(self, last: Callable[[], None]) -> None:
        self._models.shutdown()
        self._storage.shutdown()
        last()
