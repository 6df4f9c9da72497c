"""Threads and what lies in them: events, checkpoints, items and summaries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muniment.services.threads.log import ThreadLog
from muniment.services.threads.places import ThreadKey, thread_key

if TYPE_CHECKING:
    from muniment.services.gate import Gate

__all__ = ["ThreadKey", "ThreadServices", "thread_key"]


class ThreadServices:
    """The use cases of threads.

    Attributes:
        log: Events.
    """

    def __init__(self, gate: Gate) -> None:
        self.log = ThreadLog(gate)
