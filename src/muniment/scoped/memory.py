"""The facade of one scope."""

from __future__ import annotations

from muniment.scoped.exchanging import ScopedExchanging
from muniment.scoped.forgetting import ScopedForgetting
from muniment.scoped.proposing import ScopedProposing
from muniment.scoped.reading import ScopedReading
from muniment.scoped.writing import ScopedWriting


class ScopedMemory(
    ScopedWriting, ScopedForgetting, ScopedReading, ScopedProposing, ScopedExchanging
):
    """The memory of one scope. Nothing it does can reach another scope."""
