"""A store beside the reference model: calls both, and compares everything that can be read."""

from __future__ import annotations

import io
import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import muniment
from muniment import Memory, MunimentError, NotFoundError, ScopedMemory
from muniment.clock import from_instant
from muniment.results import CandidateStatus
from muniment.scope import Principal, Role, Scope, Space, SpaceType
from muniment.testing import FakeEmbedder, FrozenClock
from tests.governance.model import BINDING, DAY, Owner, RefusedError
from tests.governance.stated import Row, Said
from tests.postgres.server import Fresh, Server

ANN, BOB, ELSEWHERE = Scope("t1", "u1", "a1"), Scope("t1", "u2", "a1"), Scope("t2", "u1", "a1")
TEAM = Space("t1", SpaceType.PROJECT, "p1")
PEOPLE = (ANN, BOB, ELSEWHERE)
READS = {ANN: (TEAM,), BOB: (), ELSEWHERE: ()}
REVIEWERS = {
    "t1": Principal("t1", "dana", frozenset({Role.REVIEWER})),
    "t2": Principal("t2", "omid", frozenset({Role.REVIEWER})),
}
EVERYTHING: dict[str, Any] = {"minimum_score": -1, "limit": 10_000, "budget": None}


def shown(own: Iterable[Row], shared: Iterable[Row]) -> Iterator[str]:
    """Give what a recall may return: a rule of the space overrules one's own."""
    others = list(shared)
    rules = {(row.said.kind, row.said.field) for row in others if row.said.kind in BINDING}
    for row in own:
        if row.said.field is None or (row.said.kind, row.said.field) not in rules:
            yield row.id
    yield from (row.id for row in others)


class Store:
    """A store with its five principals, and the model of each of its owners."""

    sealed = False
    server: Server | None = None

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.ending = ExitStack()
        self.database: Fresh | None = None
        if self.server is not None:
            self.database = self.ending.enter_context(self.server.fresh(self.folder))
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
        settings: dict[str, Any] = {"sealed": self.sealed, "busy_timeout": 5}
        place = self.folder / "m.db" if self.database is None else self.database.ready(settings)
        return muniment.open(place, embedder=self.embedder, clock=self.clock, **settings)

    def close(self) -> None:
        assert self.memory.verify().is_intact
        self.memory.close()
        self.ending.close()
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
