"""The facade of one scope."""

from __future__ import annotations

from muniment.scoped.proposing import ScopedProposing
from muniment.scoped.reading import ScopedReading
from muniment.scoped.writing import ScopedWriting


class ScopedMemory(ScopedWriting, ScopedReading, ScopedProposing):
    """The memory of one scope. Nothing it does can reach another scope."""
