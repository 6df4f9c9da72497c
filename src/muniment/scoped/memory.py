"""The facade of one scope."""

from __future__ import annotations

from muniment.scope import Space
from muniment.scoped.exchanging import ScopedExchanging
from muniment.scoped.forgetting import ScopedForgetting
from muniment.scoped.proposing import ScopedProposing
from muniment.scoped.reading import ScopedReading
from muniment.scoped.writing import ScopedWriting


class ScopedMemory(
    ScopedWriting, ScopedForgetting, ScopedReading, ScopedProposing, ScopedExchanging
):
    """The memory of one scope. Nothing it does can reach another scope."""

    def with_spaces(self, *spaces: Space) -> ScopedMemory:
        """Return the memory of the same scope that may also read shared spaces.

        Args:
            spaces: The spaces, from verified claims.

        Raises:
            ScopeError: A space belongs to another tenant, or is shared by another user's agents.
        """
        return ScopedMemory(self._services, self._scope, spaces)
