"""Random sequences of all verbs, by several principals, against a reference model."""

from __future__ import annotations

import io
import json
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import muniment
from muniment import Memory, MunimentError, NotFoundError, ScopedMemory, Statement
from muniment.clock import from_instant
from muniment.results import Candidate, CandidateStatus
from muniment.scope import Principal, Role, Scope, Space, SpaceType
from muniment.testing import FakeEmbedder, FrozenClock
from tests.governance.model import DAY, Owner, RefusedError, shown
from tests.governance.stated import Row, Said, Waiting

ANN, BOB, ELSEWHERE = Scope("t1", "u1", "a1"), Scope("t1", "u2", "a1"), Scope("t2", "u1", "a1")
TEAM = Space("t1", SpaceType.PROJECT, "p1")
PEOPLE = (ANN, BOB, ELSEWHERE)
READS = {ANN: (TEAM,), BOB: (), ELSEWHERE: ()}
REVIEWERS = {
    "t1": Principal("t1", "dana", frozenset({Role.REVIEWER})),
    "t2": Principal("t2", "omid", frozenset({Role.REVIEWER})),
}
EVERYTHING: dict[str, Any] = {"minimum_score": -1, "limit": 10_000, "budget": None}

people = st.sampled_from((ANN, *PEOPLE))
owners = st.sampled_from((ANN, ANN, *PEOPLE, TEAM))
kinds = st.sampled_from(("preference", "preference", "insight", "procedure"))
words = st.sampled_from(("tea", "TEA", "teа", "téa", "milk", "C", "C++"))
names = st.sampled_from((None, "drink", "drink", "drink", "food"))
sources = st.integers(0, 25).map("s{}".format)
days = st.sampled_from((None, None, None, 2, 40))
numbers = st.integers(0, 10_000)
yes = st.booleans()


class Governed(RuleBasedStateMachine):
    """One store, five principals, and what it must hold."""

    sealed = False

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.clock = FrozenClock("2030-01-01T00:00:00Z")
        self.embedder = FakeEmbedder(dimensions=16)
        self.memory: Memory = self.opened()
        self.held: dict[Scope | Space, Owner] = {
            one: Owner(self.clock.now()) for one in (*PEOPLE, TEAM)
        }
        self.changed: set[Scope | Space] = set(self.held)
        self.past = self.clock.now()
        self.number = 0

    def opened(self) -> Memory:
        return muniment.open(
            self.folder / "m.db",
            embedder=self.embedder,
            clock=self.clock,
            sealed=self.sealed,
            busy_timeout=5,
        )

    def teardown(self) -> None:
        assert self.memory.verify().is_intact
        self.memory.close()
        shutil.rmtree(self.folder)

    def face(self, owner: Scope) -> ScopedMemory:
        return self.memory.scoped(**owner.to_dict()).with_spaces(*READS[owner])

    def desk(self, owner: Scope | Space) -> Any:  # noqa: ANN401 - a ReviewDesk
        return self.memory.reviewing(REVIEWERS[owner.tenant_id])

    def moment(self, at: int | None) -> Any:  # noqa: ANN401 - a time or none
        return None if at is None else from_instant(at)

    def compare(
        self, owner: Scope | Space, call: Callable[[], Any], expect: Callable[[Any], Any]
    ) -> Any:  # noqa: ANN401 - whatever the verb gives
        """Call a verb and the model; both must refuse with the same code, or agree."""
        self.changed.add(owner)
        result, code, told = None, None, ""
        try:
            result = call()
        except MunimentError as error:
            code, told = error.code, str(error)
        expected = None
        try:
            expect(result)
        except RefusedError as error:
            expected = str(error)
        except AssertionError as error:
            raise AssertionError(f"{code}: {told}") from error
        assert code == expected, told
        return result

    def said(self, kind: str, text: str, source: str, name: str | None, lives: int | None) -> Said:
        expires = None if lives is None else self.clock.now() + lives * DAY
        return Said(kind, text, source, name, text if name else None, expires)

    def parts(self, said: Said) -> dict[str, Any]:
        return {
            "kind": said.kind,
            "source_id": said.source,
            "field": said.field,
            "value": said.value,
            "expires_at": self.moment(said.expires),
        }

    # --- writing

    def write(
        self,
        owner: Scope,
        said: Said,
        path: str,
        rank: int,
        actor: str,
        call: Callable[[], Any],
        **how: bool,
    ) -> None:
        model = self.held[owner]

        def expect(written: Any) -> None:  # noqa: ANN401 - Written or nothing
            new_id = "" if written is None else written.candidate_id or written.memory_id
            outcome = model.write(said, path, rank, actor, new_id, **how)
            assert written is not None
            assert written.outcome == outcome

        self.compare(owner, call, expect)

    def remember_said(self, owner: Scope, said: Said, *, override: bool) -> None:
        def call() -> Any:  # noqa: ANN401
            reason = "asked twice" if override else None
            return self.face(owner).remember(
                said.text, **self.parts(said), approved=True, override_tombstone=reason
            )

        self.write(owner, said, "remember", 50, "subject", call, override=override)

    @rule(
        owner=people, kind=kinds, text=words, source=sources, name=names, lives=days, override=yes
    )
    def remember(
        self,
        owner: Scope,
        kind: str,
        text: str,
        source: str,
        name: str | None,
        lives: int | None,
        override: bool,
    ) -> None:
        said = self.said(kind, text, source, name, lives)
        self.remember_said(owner, said, override=override)

    @rule(owner=people, pick=numbers)
    def repeat(self, owner: Scope, pick: int) -> None:
        model = self.held[owner]
        every = [row.said for row in model.rows.values() if row.said.kind != "outcome"]
        every += [one.asked for one in model.waiting.values()]
        if every:
            self.remember_said(owner, every[pick % len(every)], override=False)

    @rule(owner=people, kind=kinds, text=words, source=sources, name=names)
    def bring_in(self, owner: Scope, kind: str, text: str, source: str, name: str | None) -> None:
        said = self.said(kind, text, source, name, None)

        def call() -> Any:  # noqa: ANN401
            batch = self.face(owner).import_many(
                [Statement(text=said.text, **self.parts(said))], on_error="skip"
            )
            for item in batch.skipped:
                raise item.error
            return batch.written[0]

        self.write(owner, said, "import", 40, "operator", call)

    @rule(owner=people, text=words, name=names)
    def record_outcome(self, owner: Scope, text: str, name: str | None) -> None:
        self.number += 1
        said = self.said("outcome", text, f"out{self.number}", name, None)

        def call() -> Any:  # noqa: ANN401
            return self.face(owner).record_outcome(
                text,
                source_id=said.source,
                succeeded=False,
                actions=["look"],
                field=name,
                value=said.value,
            )

        self.write(owner, said, "outcome", 30, "application", call)

    # --- proposing and deciding

    @rule(owner=owners, kind=kinds, text=words, source=sources, name=names)
    def propose(
        self, owner: Scope | Space, kind: str, text: str, source: str, name: str | None
    ) -> None:
        kind = "procedure" if owner == TEAM else kind
        said, model = self.said(kind, text, source, name, None), self.held[owner]
        space = owner if isinstance(owner, Space) else None
        face = self.face(ANN if isinstance(owner, Space) else owner)

        def expect(candidate: Candidate | None) -> None:
            found = model.propose(
                said, "agent", "" if candidate is None else candidate.candidate_id
            )
            assert candidate is not None
            assert candidate.candidate_id == found

        self.compare(
            owner, lambda: face.propose(said.text, **self.parts(said), space=space), expect
        )

    def picked(self, owner: Scope | Space, pick: int) -> tuple[Waiting, Candidate] | None:
        model = self.held[owner]
        every = model.pending() or list(model.waiting.values())
        if not every:
            return None
        one = every[pick % len(every)]
        return one, self.desk(owner).candidate(owner, one.id)

    def candidate(self, owner: Scope | Space, pick: int) -> tuple[str, Candidate] | None:
        picked = self.picked(owner, pick)
        return None if picked is None else (picked[0].id, picked[1])

    @rule(owner=owners, pick=numbers, by_subject=yes, override=yes)
    def approve(self, owner: Scope | Space, pick: int, by_subject: bool, override: bool) -> None:
        found, model = self.candidate(owner, pick), self.held[owner]
        if found is None:
            return
        name, seen = found
        how: dict[str, Any] = {
            "version": seen.version,
            "content_hash": seen.content_hash,
            "override_tombstone": "asked twice" if override else None,
        }
        subject = by_subject and isinstance(owner, Scope)

        def call() -> Any:  # noqa: ANN401
            if isinstance(owner, Scope) and subject:
                return self.face(owner).approve(name, **how)
            return self.desk(owner).approve(owner, name, **how)

        def expect(written: Any) -> None:  # noqa: ANN401
            new_id = "" if written is None else written.memory_id
            model.approve(name, 50 if subject else 40, new_id, override=override)

        self.compare(owner, call, expect)

    @rule(owner=owners, pick=numbers)
    def approve_what_was_not_shown(self, owner: Scope | Space, pick: int) -> None:
        found = self.candidate(owner, pick)
        if found is None or found[1].status is not CandidateStatus.PENDING:
            return
        name, seen = found
        for version, shown_hash in (
            (seen.version + 1, seen.content_hash),
            (seen.version, "0" * 64),
        ):
            with pytest.raises(muniment.errors.StaleApprovalError):
                self.desk(owner).approve(owner, name, version=version, content_hash=shown_hash)

    @rule(owner=owners, pick=numbers, by_subject=yes)
    def reject(self, owner: Scope | Space, pick: int, by_subject: bool) -> None:
        found, model = self.candidate(owner, pick), self.held[owner]
        if found is None:
            return

        def call() -> Any:  # noqa: ANN401
            if by_subject and isinstance(owner, Scope):
                return self.face(owner).reject(found[0], reason="no")
            return self.desk(owner).reject(owner, found[0], reason="no")

        self.compare(owner, call, lambda _: model.reject(found[0]))

    @rule(owner=owners, pick=numbers, text=words)
    def revise(self, owner: Scope | Space, pick: int, text: str) -> None:
        found, model = self.candidate(owner, pick), self.held[owner]
        if found is None:
            return
        reviewer = REVIEWERS[owner.tenant_id].principal_id
        self.compare(
            owner,
            lambda: self.desk(owner).revise(owner, found[0], text=text),
            lambda _: model.revise(found[0], text, reviewer),
        )

    @rule(owner=owners, pick=numbers, text=words, by_subject=yes)
    def correct(self, owner: Scope | Space, pick: int, text: str, by_subject: bool) -> None:
        model = self.held[owner]
        row = self.row(owner, pick)
        if row is None:
            return
        self.number += 1
        value = None if row.said.value is None else text
        said = replace(
            row.said, text=text, value=value, source=f"fix{self.number}", expires=row.expires
        )
        changes: dict[str, Any] = {"text": text, "source_id": said.source}
        changes |= {} if value is None else {"value": value}
        subject = by_subject and isinstance(owner, Scope)
        actor = "subject" if subject else REVIEWERS[owner.tenant_id].principal_id

        def call() -> Any:  # noqa: ANN401
            if isinstance(owner, Scope) and subject:
                return self.face(owner).correct(row.id, **changes)
            return self.desk(owner).correct(owner, row.id, **changes)

        def expect(written: Any) -> None:  # noqa: ANN401
            new_id = "" if written is None else written.memory_id
            model.correct(row, said, 50 if subject else 40, actor, new_id)

        self.compare(owner, call, expect)

    # --- forgetting and upkeep

    def row(self, owner: Scope | Space, pick: int) -> Row | None:
        rows = list(self.held[owner].rows.values())
        return rows[pick % len(rows)] if rows else None

    @rule(owner=owners, pick=numbers)
    def forget(self, owner: Scope | Space, pick: int) -> None:
        row = self.row(owner, pick)
        if row is None:
            return
        self.changed.add(owner)
        if isinstance(owner, Scope):
            self.face(owner).forget(row.id)
        else:
            self.desk(owner).forget(owner, row.id)
        self.held[owner].forget([row], "forgotten")

    @rule(owner=people, kind=st.sampled_from(("insight", "outcome")))
    def forget_where(self, owner: Scope, kind: str) -> None:
        model = self.held[owner]
        self.changed.add(owner)
        self.face(owner).forget_where(kinds=[kind])
        model.forget(
            [row for row in model.rows.values() if row.said.kind == kind],
            "forgotten",
            [one for one in model.waiting.values() if one.said.kind == kind],
        )

    @precondition(lambda self: self.number % 4 == 3)
    @rule(owner=owners)
    def forget_all(self, owner: Scope | Space) -> None:
        model = self.held[owner]
        self.number += 1
        self.changed.add(owner)
        if isinstance(owner, Scope):
            self.face(owner).forget_all()
        else:
            self.memory.forget_space(owner)
        model.forget(list(model.rows.values()), "forgotten", list(model.waiting.values()))

    @rule(of=st.sampled_from((1, 3, 31)))
    def time_passes(self, of: int) -> None:
        self.past = self.clock.now()
        self.clock.advance(seconds=of * DAY / 1_000_000)
        self.changed = set(self.held)
        for model in self.held.values():
            model.now = self.clock.now()

    @rule()
    def maintain(self) -> None:
        self.memory.maintain()
        self.changed = set(self.held)
        for model in self.held.values():
            model.maintain()

    @rule()
    def the_embedder_fails(self) -> None:
        self.embedder.fail = True

    @rule()
    def embed_again(self) -> None:
        self.embedder.fail = False
        self.memory.embed()
        self.changed = set(self.held)
        assert self.memory.health().counts.pending == 0

    @rule()
    def reopen(self) -> None:
        self.memory.close()
        self.memory = self.opened()
        self.changed = set(self.held)

    # --- what must hold after every step

    @invariant()
    def the_store_holds_what_the_model_says(self) -> None:
        if TEAM in self.changed:
            self.changed.add(ANN)
        for owner in PEOPLE:
            if owner in self.changed:
                self.check_scope(owner)
        for one in self.changed:
            self.check_review(one)
        self.changed.clear()

    def check_scope(self, owner: Scope) -> None:
        face, model = self.face(owner), self.held[owner]
        shared = self.held[TEAM] if READS[owner] else Owner()
        found = face.recall("tea", **EVERYTHING).packet
        expected = set(shown(model.active(), shared.active()))
        assert len(found) == len(expected)
        assert {item.record.memory_id for item in found} == expected
        disputed = {one.contested for held in (model, shared) for one in held.pending()}
        assert {i.record.memory_id for i in found if i.contested} == disputed & expected
        then = face.recall("tea", as_of=from_instant(self.past), **EVERYTHING).packet
        believed = set(shown(model.believed(self.past), shared.believed(self.past)))
        assert {item.record.memory_id for item in then} == believed
        active = {row.id: row for row in model.active()}
        assert {record.memory_id for record in face.list(limit=1000)} == set(active)
        keys = [(row.said.kind, row.said.field) for row in active.values()]
        single = [key for key in keys if key[0] in ("preference", "procedure") and key[1]]
        assert len(single) == len(set(single))
        self.check_rows(face, model)

    def check_rows(self, face: ScopedMemory, model: Owner) -> None:
        now, rows = self.clock.now(), model.rows.values()
        kept = {row.id: row for row in rows if row.is_kept(now)}
        listed = {one.memory_id: one for one in face.list(limit=1000, superseded=True)}
        assert set(listed) == set(kept)
        for row in kept.values():
            record = listed[row.id]
            assert (record.text, record.value) == (row.said.text, row.said.value)
            assert (int(record.authority), record.actor) == (row.rank, row.actor)
            assert (record.supersedes, record.superseded_by) == (row.old, row.new)
            assert face.get(row.id) == record
            assert [one.memory_id for one in face.history(row.id)] == model.history(row.id)
        counts = face.counts()
        replaced = sum(row.replaced is not None for row in kept.values())
        assert (counts.active, counts.superseded) == (len(kept) - replaced, replaced)
        assert counts.expired == len(rows) - len(kept)
        foreign = {
            row.id for one in self.held.values() if one is not model for row in one.rows.values()
        }
        for memory_id in (foreign | {row.id for row in rows}) - set(kept):
            for verb in (face.get, face.history):
                with suppress(NotFoundError):
                    raise AssertionError(verb(memory_id))
        self.check_export(face, model)

    def check_export(self, face: ScopedMemory, model: Owner) -> None:
        target = io.StringIO()
        report = face.export(target)
        lines = [json.loads(line) for line in target.getvalue().splitlines()]
        found: dict[str, set[str]] = {"record": set(), "candidate": set()}
        for line in lines:
            if line["type"] in found:
                found[line["type"]].add(
                    line.get("memory_id") if line["type"] == "record" else line["candidate_id"]
                )
        assert found == {"record": set(model.rows), "candidate": set(model.waiting)}
        assert (report.records, report.candidates) == (len(model.rows), len(model.waiting))

    def check_review(self, owner: Scope | Space) -> None:
        desk, model = self.desk(owner), self.held[owner]
        for status in CandidateStatus:
            found = {
                one.candidate_id for one in desk.candidates(status=status, owner=owner, limit=1000)
            }
            assert found == {one.id for one in model.waiting.values() if one.status == status}
        disputed = {one.candidate_id for one in desk.conflicts() if one.scope == owner}
        assert disputed == {one.id for one in model.open_conflicts()}


@pytest.mark.promise("SCO-1", "SCO-3", "WRI-9", "CON-2", "CON-5", "CON-7", "TIM-3", "FOR-3")
@pytest.mark.slow
@pytest.mark.parametrize("sealed", [False, True], ids=["plain", "sealed"])
def test_any_sequence_of_verbs_leaves_what_the_model_says(sealed: bool) -> None:
    class Store(Governed):
        pass

    Store.sealed = sealed
    run_state_machine_as_test(
        Store, settings=settings(max_examples=25, stateful_step_count=40, deadline=None)
    )
