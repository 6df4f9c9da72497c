"""What an agent may do in the name of the person whose scope it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from muniment.errors import ForbiddenError, InvalidInputError
from muniment.records import JSONValue, Packet, PacketItem, Page, Statement
from muniment.results import Candidate, Receipt, Written
from muniment.rules.arguments import checks_arguments
from muniment.scope import Owner, Scope, Space

if TYPE_CHECKING:
    from muniment.scoped.base import Services

Writes = Literal["propose", "explicit"]


@checks_arguments
class Delegate:
    """The hand of an agent in one scope, as far as the application lets it reach.

    With `writes="propose"` what the agent says waits for review. With `writes="explicit"` it is a
    record at once, written by the agent for the person: a statement that the person made outranks
    it, and it cannot bring back what was forgotten.
    """

    def __init__(
        self, services: Services, scope: Scope, spaces: tuple[Space, ...], writes: Writes
    ) -> None:
        if writes not in ("propose", "explicit"):
            raise InvalidInputError("writes must be 'propose' or 'explicit'.")
        self._services = services
        self._scope = scope
        self._spaces = spaces
        self._writes = writes

    @property
    def scope(self) -> Scope:
        """Whose memory this is."""
        return self._scope

    @property
    def writes(self) -> Writes:
        """What becomes of the agent's statements."""
        return self._writes

    def remember(
        self,
        text: str,
        *,
        kind: str,
        source_id: str,
        field: str | None = None,
        value: JSONValue = None,
    ) -> Written | Candidate:
        """Store or propose one statement, as the application granted.

        Args:
            text: The statement.
            kind: A kind of the policy.
            source_id: The application's stable id of the source: the idempotency key in the scope.
            field: Name of the structured part.
            value: The structured part; any JSON value.

        Raises:
            InvalidInputError: Something is missing, malformed or too long.
            RefusedError: Screening or the kind's policy refused it.
            ConflictError: The source_id already identifies a different statement.
            TombstonedError: The statement was forgotten, or its value rejected or corrected.
            StoreError: The database failed; nothing was written.
        """
        from muniment.services.writes import DELEGATE

        statement = Statement(kind=kind, text=text, source_id=source_id, field=field, value=value)
        if self._writes == "explicit":
            return self._services.writes.remember(self._scope, statement, DELEGATE)
        return self._services.reviewing.propose(self._scope, statement, DELEGATE.actor, ())

    def forget(self, memory_id: str) -> Receipt:
        """Delete a record with everything derived from it, in the name of the person.

        Raises:
            ForbiddenError: The application lets the agent only propose.
            NotFoundError: This scope has no such record.
            StoreError: The database failed; the record is still there.
        """
        from muniment.services.writes import DELEGATE

        if self._writes != "explicit":
            self.refuse("may_only_propose")
            raise ForbiddenError(
                "The application lets this agent only propose, so it deletes nothing; the person "
                "can delete the record."
            )
        return self._services.forgetting.forget(
            self._scope, memory_id, actor=DELEGATE.actor, compact=False
        )

    def list(self, *, limit: int = 50, cursor: str | None = None) -> Page:
        """Return one page of the records that the policy shows an agent, newest first.

        Args:
            limit: Most records on the page, 1 to 1,000.
            cursor: The cursor of the page before. None for the first page.

        Raises:
            InvalidInputError: The limit is out of range.
            CursorError: The cursor is not of this scope.
        """
        from muniment.rules.kinds import Reader

        return self._services.reads.page(
            self._scope,
            limit=limit,
            cursor=cursor,
            kinds=None,
            filters=None,
            superseded=False,
            reader=Reader.AGENT,
        )

    def note_used(self, packet: Packet) -> None:
        """Write down in the audit trail that a model was shown a packet's records, if any.

        An adapter that puts a packet before a model calls it. No text is written.

        Args:
            packet: What the model was shown.

        Raises:
            StoreError: The database failed; nothing was written.
        """
        from muniment.services.writes import DELEGATE

        self._services.answering.note_used(
            self._scope, packet, actor=DELEGATE.actor, reason="injection"
        )

    def named(self, field: str) -> tuple[PacketItem, ...]:
        """Return the records that hold a field now, as far as the policy shows them to an agent.

        Args:
            field: Its name, in any spelling.

        Raises:
            InvalidInputError: The name is blank or too long.
        """
        from muniment.rules.kinds import Reader

        owners: list[Owner] = [self._scope, *self._spaces]
        return self._services.reads.named(owners, field, Reader.AGENT)

    def refuse(self, reason: str) -> None:
        """Write down in the audit trail that a request of the agent was refused.

        Args:
            reason: A code of up to 100 letters, digits and `_`; never what somebody said.

        Raises:
            InvalidInputError: The reason is no code.
        """
        from muniment.services.writes import DELEGATE

        if not (reason.replace("_", "a").isalnum() and reason.isascii() and len(reason) <= 100):
            raise InvalidInputError("reason must be a code of letters, digits and _.")
        self._services.writes.refuse(self._scope, DELEGATE, reason)
