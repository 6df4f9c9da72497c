"""The verbs of one scope that tell how useful its records are."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from muniment.rules.arguments import checks_arguments
from muniment.scoped.base import ScopedBase
from muniment.usefulness import UsefulnessPage


@checks_arguments
class ScopedJudging(ScopedBase):
    """Say which records helped, and see how each was used."""

    def cite(self, *memory_ids: str) -> None:
        """Say that one answer rested on these records; `answer` notes those that it names itself.

        Args:
            memory_ids: Records of this scope or its readable spaces. All are counted, or none.

        Raises:
            InvalidInputError: There is no id.
            NotFoundError: One of them is not within reach.
            StoreError: The database failed; nothing was counted.
        """
        self._services.judging.cite(self._reach, memory_ids, "agent")

    def rate(self, memory_id: str, *, helpful: bool) -> None:
        """Say that a record was helpful or not, in the name of the person concerned.

        It changes neither what the record says nor how it ranks.

        Args:
            memory_id: A record of this scope or its readable spaces.
            helpful: Whether it was.

        Raises:
            NotFoundError: It is not within reach, or its kind is not shown to the person concerned.
            StoreError: The database failed; nothing was counted.
        """
        self._services.judging.rate(self._reach, memory_id, "subject", helpful=helpful)

    def usefulness(
        self,
        *,
        limit: int = 50,
        cursor: str | None = None,
        kinds: Collection[str] | None = None,
        filters: Mapping[str, Any] | None = None,
        superseded: bool = True,
    ) -> UsefulnessPage:
        """Return one page of how records were used, newest first, without their text.

        Args:
            limit: Most records on the page, 1 to 1,000.
            cursor: The cursor of the page before, with the same filters. None for the first page.
            kinds: Kinds to look at. None for all.
            filters: Conditions on fields and metadata.
            superseded: Whether to tell of superseded records too, as what was corrected is.

        Raises:
            InvalidInputError: An argument is out of range, or a kind or filter is wrong.
            CursorError: The cursor is not of this scope and these filters.
        """
        return self._services.judging.report(
            self._scope,
            limit=limit,
            cursor=cursor,
            kinds=kinds,
            filters=filters,
            superseded=superseded,
        )
