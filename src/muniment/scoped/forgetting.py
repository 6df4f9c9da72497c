"""The verbs that forget: within one scope, and of a whole user, agent or tenant."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from muniment.results import Receipt
from muniment.rules.arguments import checks_arguments
from muniment.scope import Scope, Space, checked_part
from muniment.scoped.base import ScopedBase

if TYPE_CHECKING:
    from muniment.scope import Owner
    from muniment.scoped.base import Services
    from muniment.upkeep import OpenDeletion, Upkeep

_SUBJECT = "subject"
_OPERATOR = "operator"


@checks_arguments
class ScopedForgetting(ScopedBase):
    """Forget within one scope, and read the receipts."""

    def forget(self, memory_id: str, *, wait: bool = False) -> Receipt:
        """Delete a record with everything derived from it, and return the evidence.

        A tombstone without content keeps late work from bringing it back.

        Args:
            memory_id: The record, whatever its status.
            wait: Whether to rewrite the database at once, so that no byte of it is left there.
                Otherwise the next maintenance does it.

        Raises:
            NotFoundError: This scope has no such record.
            StoreError: The database failed; the record is still there.
        """
        return self._services.forgetting.forget(
            self._scope, memory_id, actor=_SUBJECT, compact=wait
        )

    def retract(self, memory_id: str, *, wait: bool = False) -> Receipt:
        """Delete a record that was never true; its value stays out from now on.

        It comes back only through `remember` with `override_tombstone`.

        Args:
            memory_id: The record, whatever its status.
            wait: Whether to rewrite the database at once, so that no byte of it is left there.

        Raises:
            NotFoundError: This scope has no such record.
            StoreError: The database failed; the record is still there.
        """
        from muniment.rules.deletion import Target

        return self._services.forgetting.forget(
            self._scope, memory_id, actor=_SUBJECT, compact=wait, target=Target.RETRACTION
        )

    def forget_where(
        self,
        *,
        kinds: Collection[str] | None = None,
        filters: Mapping[str, Any] | None = None,
        source_id: str | None = None,
        source_prefix: str | None = None,
        event_id: str | None = None,
        dry_run: bool = False,
        wait: bool = False,
    ) -> Receipt:
        """Delete every record and candidate of this scope that meets all conditions.

        Records of any status are deleted, and the candidates that carry the same. What matches
        nothing deletes nothing and returns a receipt without an id.

        Args:
            kinds: Kinds to forget; an empty list is none of them.
            filters: Conditions on fields and metadata, as in `recall`.
            source_id: The exact source_id.
            source_prefix: What the source_id starts with, such as the id of a thread.
            event_id: An event or record among the evidence. Nothing may rest on it from now on.
            dry_run: Whether only to count what would be deleted.
            wait: Whether to rewrite the database at once.

        Raises:
            InvalidInputError: No condition was given, or one is blank or malformed.
            StoreError: The database failed; nothing was deleted.
        """
        selection = self._services.forgetting.select(
            kinds=kinds,
            filters=filters,
            source_id=source_id,
            source_prefix=source_prefix,
            event_id=event_id,
        )
        return self._services.forgetting.forget_where(
            self._scope, selection, actor=_SUBJECT, compact=wait, rehearse=dry_run
        )

    def forget_all(self, *, dry_run: bool = False, wait: bool = False) -> Receipt:
        """Delete everything of this scope; its tombstones, audit trail and receipts stay.

        Args:
            dry_run: Whether only to count what would be deleted.
            wait: Whether to rewrite the database at once.

        Raises:
            StoreError: The database failed; nothing was deleted.
        """
        return self._services.forgetting.forget_scope(
            self._scope, actor=_SUBJECT, compact=wait, rehearse=dry_run
        )

    def receipt(self, receipt_id: str) -> Receipt:
        """Return a receipt as it stands now: a deletion goes on after `forget` returned.

        Raises:
            NotFoundError: There is no such receipt about this scope alone.
        """
        return self._services.forgetting.receipt(self._scope, receipt_id)

    def receipts(self, *, limit: int = 100) -> tuple[Receipt, ...]:
        """Return the receipts of what was deleted of this scope alone, newest first."""
        return self._services.forgetting.receipts(self._scope, limit)

    def verify_receipt(self, receipt: Receipt) -> bool:
        """Return whether a receipt is exactly what this store issued, in its place in the chain."""
        return self._services.forgetting.verify_receipt(self._scope.tenant_id, receipt)


@checks_arguments
class StoreForgetting:
    """What an operator forgets, each part of the scope named: a user, an agent, a tenant."""

    _services: Services
    _keep_up: Callable[[], Upkeep]

    def forget_user(
        self, *, tenant_id: str, user_id: str, dry_run: bool = False, wait: bool = False
    ) -> Receipt:
        """Delete everything of one user: every agent's scope and the user's own space.

        Args:
            tenant_id: The customer or organisation.
            user_id: The person.
            dry_run: Whether only to count what would be deleted.
            wait: Whether to rewrite the database at once, so that no byte of it is left there.

        Raises:
            ScopeError: A part is missing, blank, `*` or not a string.
            StoreError: The database failed; nothing was deleted.
        """
        own = Space.of_user(tenant_id, checked_part("user_id", user_id))

        def belongs(owner: Owner) -> bool:
            return owner == own or (isinstance(owner, Scope) and owner.user_id == user_id)

        return self._forget("user", tenant_id, user_id, belongs, dry_run=dry_run, wait=wait)

    def forget_agent(
        self, *, tenant_id: str, agent_id: str, dry_run: bool = False, wait: bool = False
    ) -> Receipt:
        """Delete everything that one agent remembers, of every user.

        Args:
            tenant_id: The customer or organisation.
            agent_id: The agent.
            dry_run: Whether only to count what would be deleted.
            wait: Whether to rewrite the database at once.

        Raises:
            ScopeError: A part is missing, blank, `*` or not a string.
            StoreError: The database failed; nothing was deleted.
        """
        checked_part("agent_id", agent_id)

        def belongs(owner: Owner) -> bool:
            return isinstance(owner, Scope) and owner.agent_id == agent_id

        return self._forget("agent", tenant_id, agent_id, belongs, dry_run=dry_run, wait=wait)

    def forget_tenant(
        self, *, tenant_id: str, dry_run: bool = False, wait: bool = False
    ) -> Receipt:
        """Delete everything of one tenant: every scope and every space.

        Args:
            tenant_id: The customer or organisation.
            dry_run: Whether only to count what would be deleted.
            wait: Whether to rewrite the database at once.

        Raises:
            ScopeError: The tenant_id is missing, blank, `*` or not a string.
            StoreError: The database failed; nothing was deleted.
        """
        return self._forget(
            "tenant", tenant_id, tenant_id, lambda _: True, dry_run=dry_run, wait=wait
        )

    def forget_space(self, space: Space, *, dry_run: bool = False, wait: bool = False) -> Receipt:
        """Delete everything of one shared space.

        Args:
            space: The space.
            dry_run: Whether only to count what would be deleted.
            wait: Whether to rewrite the database at once.

        Raises:
            StoreError: The database failed; nothing was deleted.
        """
        return self._services.forgetting.forget_scope(
            space, actor=_OPERATOR, compact=wait, rehearse=dry_run
        )

    def _forget(
        self,
        target: str,
        tenant_id: str,
        name: str,
        belongs: Callable[[Owner], bool],
        *,
        dry_run: bool,
        wait: bool,
    ) -> Receipt:
        from muniment.rules.deletion import Target

        return self._services.forgetting.forget_owners(
            Target(target),
            checked_part("tenant_id", tenant_id),
            (name,),
            belongs,
            actor=_OPERATOR,
            compact=wait,
            rehearse=dry_run,
        )

    def receipts(self, *, tenant_id: str, limit: int = 100) -> tuple[Receipt, ...]:
        """Return every receipt of a tenant as it stands now, newest first.

        Raises:
            ScopeError: The tenant_id is missing, blank, `*` or not a string.
        """
        checked_part("tenant_id", tenant_id)
        return self._services.forgetting.tenant_receipts(tenant_id, limit)

    def verify_receipt(self, receipt: Receipt, *, tenant_id: str) -> bool:
        """Return whether a receipt is exactly what this store issued, in its place in the chain.

        Raises:
            ScopeError: The tenant_id is missing, blank, `*` or not a string.
        """
        checked_part("tenant_id", tenant_id)
        return self._services.forgetting.verify_receipt(tenant_id, receipt)

    def deletions(self) -> tuple[OpenDeletion, ...]:
        """Return the deletions that are not finished, oldest first, and what they wait for."""
        return self._services.forgetting.open()

    def maintain(self) -> Upkeep:
        """Do what is due: carry on deletions, end lifetimes, compact once for all, and verify.

        May be stopped and repeated at any time. A reader that keeps the old state of the file open
        delays the compaction; `deletions` says so, and the next round tries again.

        Raises:
            StoreError: The database failed; what was done stays done.
        """
        return self._keep_up()

    def compact(self) -> None:
        """Rewrite the database without deleted bytes, and verify the deletions that waited for it.

        Raises:
            StoreBusyError: A reader or writer is in the way; try again later.
        """
        self._services.forgetting.compact()
