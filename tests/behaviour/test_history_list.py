"""Reading without a question: one record, a page, a history."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from muniment import InvalidInputError, NotFoundError, ScopedMemory
from muniment.errors import CursorError, FilterError, UnknownKindError
from muniment.testing import FrozenClock
from tests.behaviour.conftest import LEXICAL, House, ids, said, same_scope, texts

pytestmark = LEXICAL


def cities(me: ScopedMemory, *names: str, **parts: Any) -> list[str]:  # noqa: ANN401
    return [
        said(me, f"Lives in {name}.", field="city", value=name, **parts).memory_id for name in names
    ]


def pages(me: ScopedMemory, **options: Any) -> list[list[str]]:  # noqa: ANN401
    found = [me.list(**options)]
    while found[-1].cursor is not None:
        found.append(me.list(**options, cursor=found[-1].cursor))
    return [ids(page) for page in found]


class TestPages:
    @pytest.mark.parametrize("limit", [1, 2, 3, 6, 7, 1000])
    def test_pages_hold_every_record_once_newest_first(self, me: ScopedMemory, limit: int) -> None:
        written = [said(me, f"Statement {number}.").memory_id for number in range(7)]
        found = pages(me, limit=limit)
        assert [one for page in found for one in page] == written[::-1]
        assert all(len(page) == limit for page in found[:-1])
        assert all(found)

    def test_kinds_and_filters_fill_the_page(self, me: ScopedMemory) -> None:
        for number in range(12):
            kind = "decision" if number % 4 == 0 else "preference"
            said(me, f"Statement {number}.", kind=kind, metadata={"even": number % 2 == 0})
        for options in ({"kinds": ["decision"]}, {"filters": {"kind": "decision"}}):
            assert [len(page) for page in pages(me, limit=2, **options)] == [2, 1]
        assert sum(map(len, pages(me, limit=5, filters={"metadata.even": True}))) == 6
        assert pages(me, kinds=[]) == [[]]

    def test_superseded_records_are_listed_on_request_only(self, me: ScopedMemory) -> None:
        old, new = cities(me, "Rome", "Oslo")
        assert ids(me.list()) == [new]
        assert ids(me.list(superseded=True)) == [new, old]

    def test_a_record_written_meanwhile_does_not_move_the_pages(self, me: ScopedMemory) -> None:
        written = [said(me, f"Statement {number}.").memory_id for number in range(4)]
        first = me.list(limit=2)
        said(me, "Written meanwhile.")
        second = me.list(limit=2, cursor=first.cursor)
        assert [*ids(first), *ids(second)] == written[::-1]

    def test_a_cursor_works_in_another_process(self, house: House, me: ScopedMemory) -> None:
        for number in range(3):
            said(me, f"Statement {number}.", metadata={"n": str(number)})
        filters = {"metadata.n": {"in": {"0", "1", "2"}}}
        cursor = me.list(limit=2, filters=filters).cursor
        again = same_scope(house.open(), me)
        assert texts(again.list(limit=2, filters=filters, cursor=cursor)) == ["Statement 0."]

    @pytest.mark.parametrize("limit", [0, -1, 1001, 10**30])
    def test_a_limit_out_of_range_is_refused(self, me: ScopedMemory, limit: int) -> None:
        with pytest.raises(InvalidInputError, match="limit"):
            me.list(limit=limit)

    @pytest.mark.parametrize("limit", ["5", 2.5, True, None])
    def test_a_limit_that_is_no_whole_number_is_refused(
        self, me: ScopedMemory, limit: object
    ) -> None:
        said(me, "Likes tea.")
        with pytest.raises(InvalidInputError, match="limit"):
            me.list(limit=limit)  # type: ignore[arg-type]

    def test_an_unknown_kind_or_filter_is_refused(self, me: ScopedMemory) -> None:
        with pytest.raises(UnknownKindError):
            me.list(kinds=["rumour"])
        with pytest.raises(FilterError):
            me.list(filters={"text": "x"})


class TestCursors:
    @pytest.fixture
    def cursor(self, me: ScopedMemory) -> str:
        for number in range(3):
            said(me, f"Statement {number}.")
        cursor = me.list(limit=1).cursor
        assert cursor is not None
        return cursor

    @pytest.mark.promise("SCO-3")
    def test_a_cursor_of_another_scope_is_refused(
        self, cursor: str, other_user: ScopedMemory, other_tenant: ScopedMemory
    ) -> None:
        for stranger in (other_user, other_tenant):
            said(stranger, "Something.")
            with pytest.raises(CursorError):
                stranger.list(cursor=cursor)

    @pytest.mark.parametrize(
        "options",
        [
            {"kinds": ["preference"]},
            {"kinds": []},
            {"filters": {"kind": "preference"}},
            {"superseded": True},
        ],
    )
    def test_a_cursor_holds_for_its_own_filters_only(
        self, me: ScopedMemory, cursor: str, options: dict[str, Any]
    ) -> None:
        with pytest.raises(CursorError):
            me.list(cursor=cursor, **options)

    @pytest.mark.parametrize(
        "forged",
        ["", "x", "é", "====", "bnVsbA==", "e30=", base64.b64encode(b'{"a":1,"b":2}').decode(), 5],
    )
    def test_a_forged_cursor_is_refused(self, me: ScopedMemory, cursor: str, forged: str) -> None:
        with pytest.raises(CursorError):
            me.list(cursor=forged)

    def test_an_altered_cursor_is_refused(self, me: ScopedMemory, cursor: str) -> None:
        seq, seal = json.loads(base64.urlsafe_b64decode(cursor))
        for altered in ([seq + 1, seal], [seq, seal[:-1]], [seq, seal + "é"], [str(seq), seal]):
            text = base64.urlsafe_b64encode(json.dumps(altered).encode()).decode()
            if altered[0] != str(seq):
                with pytest.raises(CursorError):
                    me.list(cursor=text)

    @pytest.mark.parametrize("inner", ['[1e999, "x"]', "[" * 100_000])
    def test_a_cursor_that_overflows_is_refused(
        self, me: ScopedMemory, cursor: str, inner: str
    ) -> None:
        with pytest.raises(CursorError):
            me.list(cursor=base64.urlsafe_b64encode(inner.encode()).decode())


class TestOneRecord:
    @pytest.mark.parametrize("memory_id", ["", "mem_", "%", "_", "mem_' OR 1=1", "mem_\x00", "é"])
    def test_an_id_that_names_nothing_is_not_found(self, me: ScopedMemory, memory_id: str) -> None:
        said(me, "Likes tea.")
        for verb in (me.get, me.history, me.forget):
            with pytest.raises(NotFoundError):
                verb(memory_id)
        assert me.counts().active == 1

    @pytest.mark.parametrize("memory_id", [None, 3, b"mem_", ["mem_"]])
    def test_an_id_that_is_no_text_is_refused(self, me: ScopedMemory, memory_id: object) -> None:
        for verb in (me.get, me.history):
            with pytest.raises(InvalidInputError, match="memory_id"):
                verb(memory_id)  # type: ignore[arg-type]

    @pytest.mark.parametrize("memory_id", [["mem_"], {"id": 1}])
    def test_forgetting_what_is_no_text_is_refused(
        self, me: ScopedMemory, memory_id: object
    ) -> None:
        said(me, "Likes tea.")
        with pytest.raises(InvalidInputError, match="memory_id"):
            me.forget(memory_id)  # type: ignore[arg-type]

    @pytest.mark.parametrize("verb", ["get", "history", "forget"])
    def test_an_id_that_no_database_can_carry_is_not_found(
        self, me: ScopedMemory, verb: str
    ) -> None:
        said(me, "Likes tea.")
        with pytest.raises(NotFoundError):
            getattr(me, verb)("mem_\ud800")

    def test_a_superseded_record_can_still_be_read(self, me: ScopedMemory) -> None:
        old, _ = cities(me, "Rome", "Oslo")
        assert me.get(old).text == "Lives in Rome."


class TestHistories:
    @pytest.mark.promise("CON-2")
    def test_a_history_is_the_whole_chain_from_any_of_its_links(self, me: ScopedMemory) -> None:
        written = cities(me, "Rome", "Oslo", "Lima", "Kyiv")
        said(me, "Likes tea.", field="drink", value="tea")
        for memory_id in written:
            assert ids(me.history(memory_id)) == written
        statuses = [record.status.value for record in me.history(written[0])]
        assert statuses == ["superseded"] * 3 + ["active"]

    def test_a_record_that_replaced_nothing_is_its_own_history(self, me: ScopedMemory) -> None:
        kept = said(me, "Likes tea.")
        assert texts(me.history(kept.memory_id)) == ["Likes tea."]

    def test_a_forgotten_link_is_left_out(self, me: ScopedMemory) -> None:
        rome, oslo, lima = cities(me, "Rome", "Oslo", "Lima")
        me.forget(oslo)
        assert ids(me.history(lima)) == [lima]
        assert ids(me.history(rome)) == [rome]
        with pytest.raises(NotFoundError):
            me.history(oslo)

    @pytest.mark.promise("TIM-3")
    def test_what_expired_is_in_no_history(self, me: ScopedMemory, clock: FrozenClock) -> None:
        rome = cities(me, "Rome")
        oslo = cities(me, "Oslo", expires_at="2030-01-02T00:00:00Z")
        assert ids(me.history(rome[0])) == rome + oslo
        clock.set("2030-01-02T00:00:00Z")
        assert ids(me.history(rome[0])) == rome
        with pytest.raises(NotFoundError):
            me.history(oslo[0])

    def test_a_superseded_record_expires_too(self, me: ScopedMemory, clock: FrozenClock) -> None:
        (rome,) = cities(me, "Rome", expires_at="2030-01-02T00:00:00Z")
        cities(me, "Oslo")
        clock.set("2030-01-02T00:00:00Z")
        assert texts(me.list(superseded=True)) == ["Lives in Oslo."]
        with pytest.raises(NotFoundError):
            me.get(rome)
