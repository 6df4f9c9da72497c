"""What every part of a scoped memory holds: its scope, its spaces and the use cases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from muniment.errors import ScopeError
from muniment.scope import Owner, Scope, Space, SpaceType

if TYPE_CHECKING:
    from muniment.services.answer import Answering
    from muniment.services.exchange import Exchange
    from muniment.services.forgetting import Sweeping, ThreadForgetting
    from muniment.services.judging import Judging
    from muniment.services.merging import Merging
    from muniment.services.reads import Reads
    from muniment.services.recall import Recalling
    from muniment.services.review import Reviewing
    from muniment.services.threads.shelves import ThreadServices
    from muniment.services.writes import Writes

Progress = Callable[[int, int], None]
OnError = Literal["raise", "skip"]

DEFAULT_LIMIT = 5
DEFAULT_MINIMUM_SCORE = 0.25
DEFAULT_BUDGET = 2000


@dataclass(frozen=True, slots=True)
class Services:
    """The use cases that a scoped memory calls.

    Attributes:
        writes: Writing records.
        reads: One record, lists, histories, audit.
        reviewing: Candidates and their review.
        recalling: Recall.
        answering: Answering.
        forgetting: Deletion.
        exchange: Export and import.
        threads: Threads and what lies in them.
        merging: Deduplication.
        sweeping: The end of lifetimes, and clean-up.
        judging: How useful records are.
    """

    writes: Writes
    reads: Reads
    reviewing: Reviewing
    recalling: Recalling
    answering: Answering
    forgetting: ThreadForgetting
    exchange: Exchange
    threads: ThreadServices
    merging: Merging
    sweeping: Sweeping
    judging: Judging


class ScopedBase:
    """Holds the scope that nothing a caller passes can change."""

    def __init__(self, services: Services, scope: Scope, spaces: tuple[Space, ...] = ()) -> None:
        if not all(isinstance(space, Space) for space in spaces):
            raise ScopeError("A readable space must be a Space.")
        if any(space.tenant_id != scope.tenant_id for space in spaces):
            raise ScopeError("A readable space must belong to the tenant of the scope.")
        shared = {space.space_id for space in spaces if space.type is SpaceType.USER}
        if shared - {scope.user_id}:
            raise ScopeError("The space of a user's agents is readable to that user alone.")
        self._services = services
        self._scope = scope
        self._spaces = tuple(dict.fromkeys(spaces))

    @property
    def scope(self) -> Scope:
        """Whose memory this is."""
        return self._scope

    @property
    def _reach(self) -> tuple[Owner, ...]:
        return (self._scope, *self._spaces)

    @property
    def spaces(self) -> tuple[Space, ...]:
        """The shared spaces that it may read."""
        return self._spaces
