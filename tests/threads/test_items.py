"""Items are the application's own values: apart from records, inside the scope, screened."""

from __future__ import annotations

import sqlite3
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from muniment import Memory, ScopedMemory
from muniment.errors import InvalidInputError, RefusedError
from muniment.scoped import Items
from muniment.testing import FrozenClock
from muniment.threads import NewItem
from tests.threads.conftest import surfaces


@pytest.fixture
def items(me: ScopedMemory) -> Items:
    return me.items()


def keys(items: Items, *prefix: str, **more: Any) -> list[str]:  # noqa: ANN401 - as `search`
    return [item.key for item in items.search(prefix, **more)]


def test_an_item_comes_back_until_it_is_deleted(items: Items, clock: FrozenClock) -> None:
    items.put(("a", "ب"), "k", {"said": "سلام", "n": [1, None]})
    clock.advance(seconds=1)
    items.put(("a", "ب"), "k", {"said": "again"})
    item = items.get(("a", "ب"), "k")
    assert item is not None
    assert (item.namespace, item.key, item.value) == (("a", "ب"), "k", {"said": "again"})
    assert item.updated_at - item.created_at == timedelta(seconds=1)
    assert items.get(("a",), "k") is items.get(("a", "ب"), "K") is None
    assert items.delete(("a", "ب"), "k")
    assert not items.delete(("a", "ب"), "k")
    assert items.get(("a", "ب"), "k") is None
    items.put(("a", "ب"), "k", {})
    assert items.get_many([(("a", "ب"), "k"), (("x",), "k")])[1] is None


@pytest.mark.promise("SCO-1")
def test_items_of_another_user_and_store_are_others(me: ScopedMemory, other: ScopedMemory) -> None:
    me.items().put(("a",), "k", {"mine": 1})
    for items in (other.items(), me.items("files")):
        assert items.get(("a",), "k") is None
        assert (items.search(), items.namespaces(), items.delete(("a",), "k")) == ((), (), False)


@pytest.mark.promise("THR-1")
def test_an_item_is_no_record(me: ScopedMemory) -> None:
    me.items().put(("a",), "k", {"text": "Likes rye."})
    assert me.recall("What does he like? rye", minimum_score=-1).packet.items == ()
    assert me.list().records == ()


@pytest.mark.promise("WRI-4")
@pytest.mark.parametrize("place", ["key", "namespace", "value", "name"])
def test_a_secret_is_refused_wherever_it_stands(me: ScopedMemory, place: str) -> None:
    secret = "4111 1111 1111 1111"
    item = NewItem(
        (secret if place == "namespace" else "a",),
        secret if place == "key" else "k",
        {secret if place == "name" else "n": [secret if place == "value" else ""]},
    )
    with pytest.raises(RefusedError):
        me.items().put_many([NewItem(("a",), "first", {}), item])
    assert me.items().search() == ()
    assert [entry.action for entry in me.audit()] == ["refused"]


def test_changes_are_made_in_order_all_or_none(items: Items) -> None:
    items.put_many([NewItem(("a",), "k", {"n": 1}), (("a",), "k"), NewItem(("a",), "l", {})])
    assert keys(items) == ["l"]
    with pytest.raises(InvalidInputError):
        items.put_many([(("a",), "l"), NewItem((), "k", {})])
    assert keys(items) == ["l"]


@pytest.mark.parametrize(
    ("namespace", "key", "value"),
    [
        ((), "k", {}),
        ("a", "", {}),
        (("a", ""), "k", {}),
        (("a",), "k", [1]),
        (("a",), "k", {"n": {1}}),
    ],
)
def test_what_is_malformed_is_refused(items: Items, namespace: Any, key: Any, value: Any) -> None:  # noqa: ANN401
    with pytest.raises(InvalidInputError):
        items.put(namespace, key, value)


def test_a_search_goes_by_whole_labels_conditions_and_pages(
    items: Items, clock: FrozenClock
) -> None:
    for name in (("a", "b"), ("a", "bc"), ("a",), ("A", "b")):
        items.put(name, "/".join(name), {"n": len(name)})
        clock.advance(seconds=1)
    assert keys(items, "a") == ["a", "a/bc", "a/b"]
    assert keys(items, "a", "b") == ["a/b"]
    assert keys(items, where=lambda item: item.value["n"] == 1) == ["a"]
    assert keys(items, limit=2, offset=1) == ["a", "a/bc"]
    assert items.namespaces() == (("A", "b"), ("a",), ("a", "b"), ("a", "bc"))
    with pytest.raises(InvalidInputError):
        items.search(limit=-1)


def test_the_best_of_an_items_vectors_counts_and_models_are_not_mixed(items: Items) -> None:
    items.put(("a",), "near", {}, vectors={"x": [0, 1], "y": [3, 0]}, model="m")
    items.put(("a",), "far", {}, vectors={"x": [0.1, 1]}, model="m")
    items.put(("a",), "other", {}, vectors={"x": [1, 0]}, model="another")
    items.put(("a",), "none", {})
    found = items.search(vector=[2, 0], model="m")
    assert [item.key for item in found][:2] == ["near", "far"]
    assert [item.score for item in found][2:] == [None, None]
    assert found[0].score == pytest.approx(1.0)
    with pytest.raises(InvalidInputError):
        items.search(vector=[float("nan")])


def test_use_prolongs_an_item_but_never_beyond_its_expiry(
    memory: Memory, me: ScopedMemory, items: Items, clock: FrozenClock
) -> None:
    minute = timedelta(minutes=1)
    items.put(("a",), "used", {}, idle=minute, expires_at="2030-01-01T00:01:30Z")
    items.put(("a",), "seen", {}, idle=minute)
    items.put(("a",), "unused", {}, idle=minute)
    clock.advance(seconds=40)
    assert items.get(("a",), "used") is not None
    assert items.search(where=lambda item: item.key == "seen")
    assert items.get(("a",), "unused", refresh=False) is not None
    clock.advance(seconds=40)
    assert set(keys(items)) == {"used", "seen"}
    clock.advance(seconds=10)
    assert set(keys(items, refresh=False)) == {"seen"}
    assert items.get(("a",), "used") is None
    assert me.counts().entries == 3
    assert items.sweep() == 2
    clock.advance(seconds=60)
    assert memory.maintain().ended == 1
    assert (me.counts().entries, me.counts().tombstones) == (0, 0)
    assert memory.verify().is_intact


@pytest.mark.promise("FOR-1")
def test_a_deleted_item_leaves_the_mark_of_its_id_and_no_word(
    memory: Memory, me: ScopedMemory, tmp_path: Path
) -> None:
    me.items().put(("people",), "key-of-a-person", {"text": "peculiar"})
    me.items().delete(("people",), "key-of-a-person")
    memory.compact()
    assert (me.counts().entries, me.counts().tombstones) == (0, 1)
    assert [entry.action for entry in me.audit()] == ["put_item", "forget_item"]
    memory.close()
    with sqlite3.connect(tmp_path / "memory.db") as raw:
        dump = "".join(map(repr, raw.execute("SELECT * FROM tombstones"))) + "".join(
            map(repr, raw.execute("SELECT * FROM audit"))
        )
    files = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert "key-of" not in dump
    assert b"peculiar" not in files
    assert b"key-of" not in files


@pytest.mark.promise("FOR-1")
def test_items_go_with_the_scope(me: ScopedMemory) -> None:
    me.items().put(("a",), "k", {})
    assert surfaces(me.forget_all())["items"] == (1, 1, 0)
    assert me.items().search() == ()
