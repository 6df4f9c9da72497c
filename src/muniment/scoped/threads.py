"""The verbs of one scope about threads: to reach one, to list them, to forget one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from muniment.results import Receipt
from muniment.rules.arguments import checks_arguments
from muniment.scoped.base import ScopedBase
from muniment.scoped.checkpoints import Checkpoints
from muniment.scoped.items import ITEMS, Items
from muniment.scoped.thread import CONVERSATION, Thread
from muniment.scoped.workflow import WORKFLOW, Workflow
from muniment.threads import Event, NewSummary, Summary, ThreadInfo


@checks_arguments
class ScopedThreads(ScopedBase):
    """Threads of one scope. The same thread_id in another scope is another thread."""

    def thread(self, thread_id: str, *, type: str = CONVERSATION) -> Thread:
        """Return a thread of this scope, whether or not it has been begun.

        Args:
            thread_id: The application's id of the conversation or workflow.
            type: What sort of thread; one id may name one of each.

        Raises:
            InvalidInputError: A part is blank, too long or no string.
        """
        from muniment.services.threads import thread_key

        return Thread(self._services, thread_key(self._scope, type, thread_id))

    def items(self, store: str = ITEMS) -> Items:
        """Return the items of this scope: JSON values by namespace and key, apart from records.

        Args:
            store: Which of the application's own stores, such as `items` or `files`.

        Raises:
            InvalidInputError: The name is blank, too long or no string.
        """
        return Items(self._services, self._services.threads.items.shelf(self._scope, store))

    def workflow(self, workflow_id: str) -> Workflow:
        """Return a workflow of this scope, begun or not; only the same scope can resume it.

        Raises:
            InvalidInputError: The id is blank, too long or no string.
        """
        from muniment.services.threads import thread_key

        return Workflow(self._services, thread_key(self._scope, WORKFLOW, workflow_id))

    def checkpoints(self) -> Checkpoints:
        """Return the checkpoints that a framework keeps of its threads in this scope."""
        return Checkpoints(self._services, self._scope)

    def threads(
        self, *, type: str | None = None, limit: int = 100, oldest_first: bool = False
    ) -> tuple[ThreadInfo, ...]:
        """Return the threads of this scope by their last change, the newest first.

        Args:
            type: What sort of threads. None for all.
            limit: Most threads to return, up to 10,000.
            oldest_first: Whether those come first that were not changed for longest.

        Raises:
            InvalidInputError: The limit is out of range.
        """
        log = self._services.threads.log
        return log.threads(self._scope, type, limit, oldest_first=oldest_first)

    def stale_summaries(self) -> tuple[Summary, ...]:
        """Return the summaries that wait to be made anew because a source of them changed."""
        return self._services.threads.summaries.stale(self._scope)

    def remake_summaries(
        self, summarise: Callable[[Summary, Sequence[Event]], NewSummary] | None = None
    ) -> tuple[int, int]:
        """Make the stale summaries anew from the events that are left; drop those with none.

        May be stopped and repeated.

        Args:
            summarise: Gets the stale summary, with the goals and open work that stay, and the
                events of its range. None for the configured language model.

        Returns:
            How many were made anew or dropped, and how many wait because the model failed.

        Raises:
            InvalidInputError: Nothing makes summaries, or what was made is malformed.
            RefusedError: Screening refused what was made.
        """
        return self._services.threads.summaries.remake(self._scope, summarise)

    def forget_thread(
        self,
        thread_id: str,
        *,
        type: str = CONVERSATION,
        cascade: bool = False,
        dry_run: bool = False,
        wait: bool = False,
    ) -> Receipt:
        """Delete a thread with everything in it, and return the evidence.

        A record or candidate was derived from a thread when its evidence names the thread or one
        of its events, or its source_id is one of those, or begins with the thread_id and `:`,
        `/` or `#`.

        Args:
            thread_id: The thread.
            type: What sort of thread.
            cascade: Whether the records and candidates that were derived from it go too; else
                the receipt's `remains` says how many stay.
            dry_run: Whether only to count what would be deleted.
            wait: Whether to rewrite the database at once, so that no byte of it is left there.

        Raises:
            NotFoundError: This scope has no such thread.
            StoreError: The database failed; nothing was deleted.
        """
        thread = self.thread(thread_id, type=type)
        return thread.forget(cascade=cascade, dry_run=dry_run, wait=wait)
