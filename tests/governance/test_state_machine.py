"""Random sequences of all verbs, by several principals, against a reference model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
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

from muniment import Statement
from muniment.errors import StaleApprovalError
from muniment.results import Candidate, CandidateStatus
from muniment.scope import Scope, Space
from tests.governance.checking import ANN, PEOPLE, REVIEWERS, TEAM, Store
from tests.governance.model import DAY, SINGLE
from tests.governance.stated import Row, Said, Waiting

people = st.sampled_from((ANN, ANN, ANN, *PEOPLE))
owners = st.sampled_from((ANN, ANN, ANN, *PEOPLE, TEAM))
kinds = st.sampled_from(("preference", "preference", "preference", "insight", "procedure"))
words = st.sampled_from(("tea", "milk", "TEA", "teа", "téa", "C", "C++"))
names = st.sampled_from(("drink", "drink", "drink", None, "food"))
sources = st.integers(0, 40).map("s{}".format)
days = st.sampled_from((None, None, None, 2, 40))
numbers = st.integers(0, 10_000)
yes = st.booleans()


class Governed(Store, RuleBasedStateMachine):
    """Every verb as a rule; the store and the model must agree after each."""

    def __init__(self) -> None:
        Store.__init__(self)
        RuleBasedStateMachine.__init__(self)

    def teardown(self) -> None:
        self.close()

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
        self.bring_in_said(owner, self.said(kind, text, source, name, None))

    def bring_in_said(self, owner: Scope, said: Said) -> None:
        def call() -> Any:  # noqa: ANN401
            batch = self.face(owner).import_many(
                [Statement(text=said.text, **self.parts(said))], on_error="skip"
            )
            for item in batch.skipped:
                raise item.error
            return batch.written[0]

        self.write(owner, said, "import", 40, "operator", call)

    @rule(owner=people, pick=numbers, text=words, source=sources, path=st.sampled_from("RIIPPP"))
    def speak_of_the_same(self, owner: Scope, pick: int, text: str, source: str, path: str) -> None:
        rows = [row.said for row in self.held[owner].active() if row.said.kind in SINGLE]
        if rows:
            about = rows[pick % len(rows)]
            if path == "R":
                said = self.said(about.kind, text, source, about.field, None)
                self.remember_said(owner, said, override=False)
            else:
                do = self.bring_in_said if path == "I" else self.propose_said
                do(owner, self.said(about.kind, text, source, about.field, None))

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
        self.propose_said(owner, self.said(kind, text, source, name, None))

    def propose_said(self, owner: Scope | Space, said: Said) -> None:
        model = self.held[owner]
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

    @rule(text=words, source=sources, name=names)
    def publish(self, text: str, source: str, name: str | None) -> None:
        self.propose_said(TEAM, self.said("procedure", text, source, name, None))
        waiting = [one.id for one in self.held[TEAM].pending()]
        if waiting:
            self.approve_by(TEAM, waiting[-1], subject=False, override=False)

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
        found = self.candidate(owner, pick)
        if found is not None:
            subject = by_subject and isinstance(owner, Scope)
            self.approve_by(owner, found[0], subject=subject, override=override)

    def approve_by(self, owner: Scope | Space, name: str, *, subject: bool, override: bool) -> None:
        seen, model = self.desk(owner).candidate(owner, name), self.held[owner]
        how: dict[str, Any] = {
            "version": seen.version,
            "content_hash": seen.content_hash,
            "override_tombstone": "asked twice" if override else None,
        }

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
            with pytest.raises(StaleApprovalError):
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
        self.held[owner].forget(self.held[owner].versions(row), "forgotten")

    @precondition(lambda self: self.number % 3 == 2)
    @rule(owner=people, kind=st.sampled_from(("insight", "outcome")))
    def forget_where(self, owner: Scope, kind: str) -> None:
        model = self.held[owner]
        self.number += 1
        self.changed.add(owner)
        self.face(owner).forget_where(kinds=[kind])
        model.forget(
            [row for row in model.rows.values() if row.said.kind == kind],
            "forgotten",
            [one for one in model.waiting.values() if one.said.kind == kind],
        )

    @precondition(lambda self: self.number % 5 == 4)
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

    @rule(step=st.sampled_from(("time", "time", "maintain", "fail", "embed", "reopen")), of=days)
    def go_on(self, step: str, of: int | None) -> None:
        self.changed = set(self.held)
        if step == "time":
            self.past = self.clock.now()
            self.clock.advance(seconds=(of or 1) * DAY / 1_000_000)
        elif step == "maintain":
            self.memory.maintain()
        elif step == "reopen":
            self.memory.close()
            self.memory = self.opened()
        else:
            self.embedder.fail = step == "fail"
        if step == "embed":
            self.memory.embed()
            assert self.memory.health().counts.pending == 0
        for model in self.held.values():
            model.now = self.clock.now()
            if step == "maintain":
                model.maintain()

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


@pytest.mark.promise("SCO-1", "SCO-3", "WRI-9", "CON-2", "CON-5", "CON-7", "TIM-3", "FOR-3")
@pytest.mark.slow
@pytest.mark.parametrize("sealed", [False, True], ids=["plain", "sealed"])
@pytest.mark.parametrize("backend", ["sqlite", "postgres"])
def test_any_sequence_of_verbs_leaves_what_the_model_says(
    request: pytest.FixtureRequest, backend: str, sealed: bool
) -> None:
    class Store(Governed):
        pass

    Store.sealed = sealed
    if backend == "postgres":
        Store.server = request.getfixturevalue("server")
    run_state_machine_as_test(
        Store,
        settings=settings(
            max_examples=40 if backend == "sqlite" else 6, stateful_step_count=50, deadline=None
        ),
    )
