"""The facade of one scope."""

from __future__ import annotations

from muniment.rules.arguments import checks_arguments
from muniment.scope import Space
from muniment.scoped.delegate import Delegate, Writes
from muniment.scoped.exchanging import ScopedExchanging
from muniment.scoped.forgetting import ScopedForgetting
from muniment.scoped.judging import ScopedJudging
from muniment.scoped.merging import ScopedMerging
from muniment.scoped.proposing import ScopedProposing
from muniment.scoped.reading import ScopedReading
from muniment.scoped.threads import ScopedThreads
from muniment.scoped.writing import ScopedWriting


@checks_arguments
class ScopedMemory(
    ScopedWriting,
    ScopedForgetting,
    ScopedReading,
    ScopedProposing,
    ScopedExchanging,
    ScopedThreads,
    ScopedMerging,
    ScopedJudging,
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

    def delegate(self, *, writes: Writes = "propose") -> Delegate:
        """Return what an agent may do in the name of the person; the tools are built on it.

        Args:
            writes: `"propose"`: what the agent says waits for review. `"explicit"`: the
                application lets it write and delete; a statement of the person still outranks it.

        Raises:
            InvalidInputError: `writes` is neither.
        """
        return Delegate(self._services, self._scope, self._spaces, writes)
