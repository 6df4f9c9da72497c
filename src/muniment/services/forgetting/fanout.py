"""The steps of a deletion inside a write transaction: each may be repeated after a kill."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from muniment.errors import NotFoundError
from muniment.ports import Deletion, NewTombstone
from muniment.rules.deletion import SURFACES, THREADS, Step, Target, Waiting
from muniment.rules.statement import statement_of
from muniment.rules.tombstones import Burial
from muniment.services.fence import event_digest
from muniment.services.forgetting.choosing import NEWEST
from muniment.services.forgetting.lying import Lying, whole
from muniment.services.threads.staleness import FORGOTTEN, Changed, make_stale, sources_of

if TYPE_CHECKING:
    from muniment.ports import OwnerState, Transaction
    from muniment.results import Candidate
    from muniment.services.gate import Gate

CHUNK = 500
"""Most records that one transaction erases; as many are gone in the transaction that hides them."""

_FIRST = (Step.REQUESTED, Step.HIDDEN)
_AT_ONCE = ("candidates", *THREADS)
_WITH_RECORDS = tuple(name for name in SURFACES if name not in _AT_ONCE)


@dataclass(frozen=True, slots=True)
class Order:
    """What one owner's part of a deletion is to take.

    Attributes:
        deletion_id: Shared by all parts.
        target: What was asked for.
        subject: Hexadecimal keyed hash of who or what that is.
        actor: Who asked.
        requested_at: When, microseconds since 1970, UTC.
        event_id: An event that nothing may rest on any more, or None.
    """

    deletion_id: str
    target: Target
    subject: str
    actor: str
    requested_at: int
    event_id: str | None = None

    @property
    def burial(self) -> Burial:
        """Why its records are buried."""
        return burial_of(self.target)


_ACTIONS = {Target.EXPIRY: "expire", Target.DISUSE: "clean_up"}
_BURIALS = {
    Target.EXPIRY: Burial.EXPIRED,
    Target.DISUSE: Burial.EXPIRED,
    Target.RETRACTION: Burial.RETRACTED,
}


def burial_of(target: Target) -> Burial:
    """Return what the tombstones of a deletion say."""
    return _BURIALS.get(target, Burial.FORGOTTEN)


class Fanout:
    """Hides, erases and reads back one owner's part. Every method runs inside a transaction."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    def begin(
        self,
        tx: Transaction,
        state: OwnerState,
        order: Order,
        *,
        seqs: Collection[int] | None,
        candidates: Collection[Candidate],
        remains: Mapping[str, int],
        lying: Lying | None = None,
    ) -> Deletion:
        """Take everything out of every read, in this transaction.

        Args:
            tx: The transaction.
            state: The owner.
            order: What is asked for.
            seqs: The records' places, or None for all that the owner has.
            candidates: The candidates that go with them.
            remains: What of the related is known to stay.
            lying: The threads and entries that go with them; with `seqs` None, all.

        Raises:
            NotFoundError: Nothing of it is there.
        """
        now, erased = self._gate.clock.now(), state.incarnation
        state = tx.bump(state)
        if seqs is None:
            state = tx.renew(state)
        deletion = Deletion(
            deletion_id=order.deletion_id,
            owner=state,
            target=order.target,
            subject=order.subject,
            whole=seqs is None,
            incarnation=erased,
            actor=order.actor,
            remains=remains,
            state=Step.HIDDEN,
            steps=((Step.REQUESTED, order.requested_at), (Step.HIDDEN, now)),
            surfaces=dict.fromkeys(SURFACES, (0, 0, 0)),
            waiting=None,
        )
        tx.open_deletion(deletion)
        hidden = tx.hide(state, order.deletion_id, None if seqs is None else sorted(seqs))
        tx.note_candidates(state, order.deletion_id, sorted(one.seq for one in candidates))
        lying = whole(tx, state) if seqs is None else lying or Lying()
        self._outdate(tx, state, order, seqs or (), lying)
        lying.note(tx, state, order.deletion_id, everything=seqs is None)
        if not hidden and not candidates and not lying:
            raise NotFoundError("There is nothing left to forget.")
        counted = tx.count_traces(state, order.deletion_id)
        self._account(tx, state, order, hidden)
        for candidate in candidates:
            self._gate.bury(tx, state, candidate.statement, candidate.candidate_id, order.burial)
        self._bury_event(tx, state, order)
        self._bury_lying(tx, state, order, lying)
        gone = tx.erase(state, order.deletion_id, _AT_ONCE, 0, NEWEST)
        surfaces = {
            name: (found, gone.get(name, 0), found - gone.get(name, 0))
            for name, found in counted.items()
        }
        deletion = replace(deletion, surfaces=surfaces)
        tx.save_deletion(deletion)
        return self.erase(tx, deletion) if hidden <= CHUNK else deletion

    def _account(self, tx: Transaction, state: OwnerState, order: Order, hidden: int) -> None:
        ids = tx.item_ids(state, order.deletion_id, hidden)
        action = _ACTIONS.get(order.target, "forget")
        size = CHUNK if action == "forget" else 1
        for start in range(0, len(ids), size):
            tx.append_audit(
                state,
                at=self._gate.clock.now(),
                actor=order.actor,
                action=action,
                memory_ids=ids[start : start + size],
                reason=f"{order.target.value} {order.deletion_id}",
            )

    def _bury_event(self, tx: Transaction, state: OwnerState, order: Order) -> None:
        if order.event_id is None:
            return
        mark = event_digest(self._gate.store.keys, state.owner, order.event_id)
        now = self._gate.clock.now()
        tx.bury(state, NewTombstone(order.deletion_id, mark, mark, order.burial.value, now))

    def _outdate(
        self,
        tx: Transaction,
        state: OwnerState,
        order: Order,
        seqs: Collection[int],
        lying: Lying,
    ) -> None:
        """Take the text out of the summaries that rest on what goes and stay themselves."""
        if not tx.summaries(state):
            return
        now = self._gate.clock.now()
        ids = sources_of(tx.records(state, sorted(seqs), now)) | {*lying.events}
        ids |= {order.event_id} if order.event_id is not None else set()
        changed = Changed(ids, lying.numbers, FORGOTTEN, order.actor)
        make_stale(tx, state, changed, now)

    def _bury_lying(self, tx: Transaction, state: OwnerState, order: Order, lying: Lying) -> None:
        """Bury threads and events, unless they only reached the end of their time."""
        now, keys = self._gate.clock.now(), self._gate.store.keys
        if lying:
            tx.append_audit(
                state,
                at=now,
                actor=order.actor,
                action="expire" if order.target is Target.EXPIRY else "forget",
                memory_ids=[name for name, _ in lying.graves(keys, state.owner)],
                reason=f"{order.target.value} {order.deletion_id}",
            )
        if order.target is Target.EXPIRY:
            return
        marks = [(order.deletion_id, event_digest(keys, state.owner, one)) for one in lying.events]
        graves = [] if lying.reusable else lying.graves(keys, state.owner)
        for name, mark in [*graves, *marks]:
            tx.bury(state, NewTombstone(name, mark, mark, order.burial.value, now))

    def erase(self, tx: Transaction, deletion: Deletion) -> Deletion:
        """Erase the next hidden records with all that was derived from them, and bury them."""
        if tx.deletion_state(deletion.owner, deletion.deletion_id) is not Step.HIDDEN:
            return deletion
        now = self._gate.clock.now()
        state = tx.owner(deletion.owner.owner)
        assert state is not None
        written = replace(state, incarnation=deletion.incarnation) if deletion.whole else state
        doomed = tx.doomed(written, deletion.deletion_id, CHUNK, now)
        surfaces = dict(deletion.surfaces)
        if doomed:
            state = tx.bump(state)
            for record in doomed:
                burial = burial_of(deletion.target)
                self._gate.bury(tx, state, statement_of(record), record.memory_id, burial)
            low, high = doomed[0].seq, doomed[-1].seq
            gone = tx.erase(state, deletion.deletion_id, _WITH_RECORDS, low, high)
            for name, count in gone.items():
                found, removed, left = surfaces[name]
                surfaces[name] = (found, removed + count, left - count)
        deletion = replace(deletion, owner=state, surfaces=surfaces)
        if len(doomed) < CHUNK:
            deletion = self._read_back(tx, deletion)
            deletion = _done(deletion, Step.DERIVED, now)
        tx.save_deletion(deletion)
        return deletion

    def move(self, tx: Transaction, deletion: Deletion, step: Step) -> Deletion:
        """Note that a step is done, unless somebody else went on meanwhile."""
        if tx.deletion_state(deletion.owner, deletion.deletion_id) is not deletion.state:
            return deletion
        deletion = _done(deletion, step, self._gate.clock.now())
        tx.save_deletion(deletion)
        return deletion

    def pass_shredding(self, tx: Transaction, deletion: Deletion, *, done: bool) -> Deletion:
        """Note that the keys are destroyed, or that there are none; compaction comes next."""
        if tx.deletion_state(deletion.owner, deletion.deletion_id) is not Step.DERIVED:
            return deletion
        if done:
            deletion = _done(deletion, Step.SHREDDED, self._gate.clock.now())
        deletion = replace(deletion, state=Step.SHREDDED, waiting=Waiting.COMPACTION)
        tx.save_deletion(deletion)
        return deletion

    def delay(self, tx: Transaction, deletion: Deletion, waiting: Waiting) -> None:
        """Note why a deletion cannot go on now."""
        if tx.deletion_state(deletion.owner, deletion.deletion_id) is deletion.state:
            tx.save_deletion(replace(deletion, waiting=waiting))

    def verify(self, tx: Transaction, deletion: Deletion) -> Deletion:
        """Read every surface back. A deletion that left something starts to erase again."""
        if tx.deletion_state(deletion.owner, deletion.deletion_id) is not Step.COMPACTED:
            return deletion
        deletion = self._read_back(tx, deletion)
        now = self._gate.clock.now()
        if any(left for _, _, left in deletion.surfaces.values()):
            steps = tuple(one for one in deletion.steps if one[0] in _FIRST)
            deletion = replace(deletion, state=Step.HIDDEN, steps=steps, waiting=Waiting.RESIDUE)
        else:
            deletion = _done(deletion, Step.VERIFIED, now)
        tx.save_deletion(deletion)
        return deletion

    def _read_back(self, tx: Transaction, deletion: Deletion) -> Deletion:
        left = tx.count_traces(deletion.owner, deletion.deletion_id)
        surfaces = {
            name: (found, removed, left[name])
            for name, (found, removed, _) in deletion.surfaces.items()
        }
        return replace(deletion, surfaces=surfaces)


def _done(deletion: Deletion, step: Step, now: int) -> Deletion:
    steps = tuple((name, at) for name, at in deletion.steps if name is not step)
    return replace(deletion, state=step, steps=(*steps, (step, now)), waiting=None)
