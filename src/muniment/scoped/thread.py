"""The facade of one thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from muniment.records import JSONValue
from muniment.results import Receipt
from muniment.rules.arguments import checks_arguments
from muniment.threads import Event, NewEvent, NewSummary, Summary, ThreadInfo

if TYPE_CHECKING:
    from muniment.scoped.base import Services
    from muniment.services.threads import ThreadKey

CONVERSATION = "conversation"


@checks_arguments
class Thread:
    """An ordered, append-only log of one scope. Use `ScopedMemory.thread` to reach one."""

    def __init__(self, services: Services, key: ThreadKey) -> None:
        self._services = services
        self._key = key
        self._log = services.threads.log

    @property
    def thread_id(self) -> str:
        """The application's id of it."""
        return self._key.thread_id

    @property
    def type(self) -> str:
        """What sort of thread it is."""
        return self._key.type

    def create(
        self,
        *,
        state: Mapping[str, JSONValue] | None = None,
        expires_at: datetime | str | None = None,
        anew: bool = False,
    ) -> ThreadInfo:
        """Begin the thread unless it was begun before, and return it as it stands.

        Args:
            state: Its first state.
            expires_at: When to stop keeping it with everything in it; an aware `datetime` or
                ISO-8601 text with an offset. None for never.
            anew: Whether a thread that was forgotten may be begun anew under its id. A late job
                does not ask for that, so nothing of the old one returns.

        Raises:
            InvalidInputError: The state or time is malformed.
            TombstonedError: The thread was forgotten and `anew` is false.
            StoreError: The database failed; nothing was written.
        """
        return self._log.create(self._key, state, expires_at, anew=anew)

    def info(self) -> ThreadInfo | None:
        """Return the thread as it stands; None when it was never begun or its time is over."""
        return self._log.info(self._key)

    def append(
        self,
        content: JSONValue,
        *,
        event_id: str | None = None,
        expected_version: int | None = None,
    ) -> Event:
        """Append one event, and begin the thread with it if need be.

        Args:
            content: What happened; any JSON value of at most 16 MiB. It is kept as it is.
            event_id: The application's stable id: the same id with the same content is the same
                event. None for a new one.
            expected_version: The version of the thread that the writer saw, 0 for none; another
                one is an error. None to append whatever happened meanwhile.

        Raises:
            InvalidInputError: The content is not JSON or too large.
            ConflictError: The event_id identifies another event.
            VersionConflictError: The thread has another version.
            TombstonedError: The thread or the event was forgotten.
            StoreError: The database failed; nothing was written.
        """
        events = [NewEvent(content, event_id)]
        return self._log.append(self._key, events, expected_version)[0]

    def append_many(
        self, events: Sequence[NewEvent], *, expected_version: int | None = None
    ) -> tuple[Event, ...]:
        """Append several events in order, all or none; arguments and errors as in `append`."""
        return self._log.append(self._key, events, expected_version)

    def events(self, *, after: int = 0, limit: int = 100) -> tuple[Event, ...]:
        """Return events in order.

        Args:
            after: Only those numbered above it; the number of the last one seen gives the next.
            limit: Most events to return, up to 10,000.

        Raises:
            InvalidInputError: The limit is out of range.
        """
        return self._log.events(self._key, after, limit)

    def latest(self, limit: int | None = 100, *, before: int | None = None) -> tuple[Event, ...]:
        """Return the last events, in order.

        Args:
            limit: Most events to return, up to 10,000; None for all.
            before: Only those numbered below it; the number of the first one seen gives the
                page before it.

        Raises:
            InvalidInputError: The limit is out of range.
        """
        return self._log.latest(self._key, limit, before)

    def event(self, event_id: str) -> Event:
        """Return one event by its id.

        Raises:
            NotFoundError: The thread has no such event.
        """
        return self._log.event(self._key, event_id)

    def pop(self) -> Event | None:
        """Withdraw the last event for good and return it; None when there is none.

        Its number is not used again, and the audit trail says that it was withdrawn.
        """
        return self._log.pop(self._key)

    def set_state(
        self, state: Mapping[str, JSONValue], *, expected_version: int | None = None
    ) -> ThreadInfo:
        """Give the thread another state.

        Raises:
            InvalidInputError: It is no JSON object.
            VersionConflictError: The thread has another version.
            TombstonedError: The thread was forgotten.
        """
        return self._log.set_state(self._key, state, expected_version)

    def keep_until(self, expires_at: datetime | str | None) -> ThreadInfo | None:
        """Set when to stop keeping the thread with everything in it; None for never.

        Raises:
            InvalidInputError: The time has no offset.
            TombstonedError: The thread was forgotten.
        """
        return self._log.keep_until(self._key, expires_at)

    def save_summary(self, summary: NewSummary) -> Summary:
        """Keep a summary of a range of the thread's events. It is a lossy index, and no record.

        Goals and open work of the summary before it stay, unless the new one says them again or
        lists them as resolved. When a source is corrected, withdrawn or forgotten the text goes
        and the summary waits to be made anew.

        Args:
            summary: What it covers and says.

        Raises:
            InvalidInputError: It is malformed, or the thread has no such events.
            RefusedError: Screening refused a text in it.
            TombstonedError: The thread was forgotten.
        """
        return self._services.threads.summaries.save(self._key, summary)

    def summaries(self) -> tuple[Summary, ...]:
        """Return the thread's summaries as they were made, stale ones included."""
        return self._services.threads.summaries.summaries(self._key)

    def clear(self, *, wait: bool = False) -> Receipt:
        """Delete everything in the thread; its id may go on to be used.

        Args:
            wait: Whether to rewrite the database at once.

        Raises:
            StoreError: The database failed; nothing was deleted.
        """
        return self._services.forgetting.clear_thread(self._key, compact=wait)

    def forget(
        self, *, cascade: bool = False, dry_run: bool = False, wait: bool = False
    ) -> Receipt:
        """Delete the thread with everything in it; see `ScopedMemory.forget_thread`.

        Args:
            cascade: Whether the records and candidates that were derived from it go too.
            dry_run: Whether only to count what would be deleted.
            wait: Whether to rewrite the database at once.

        Raises:
            NotFoundError: There is no such thread.
            StoreError: The database failed; nothing was deleted.
        """
        return self._services.forgetting.forget_thread(
            self._key, cascade=cascade, rehearse=dry_run, compact=wait
        )
