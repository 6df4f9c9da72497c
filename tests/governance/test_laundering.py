"""Nothing brings back a value that was rejected or corrected, in any disguise; neighbours pass."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import muniment
from muniment import Memory, ScopedMemory, Statement
from muniment.records import JSONValue
from muniment.rules.fingerprints import fingerprints
from muniment.rules.lookalikes import _TWINS
from muniment.scoped import ReviewDesk
from muniment.testing import FakeEmbedder, FrozenClock
from tests.behaviour.conftest import LEXICAL, House, said, same_scope, texts
from tests.governance.conftest import DANA, approved, code_of, proposed

OUT = {"tombstoned", "refused"}
YEAR = 366 * 86_400
DISGUISES = {
    "as it is": ("Pays by cheque", "Pays by cheque"),
    "case": ("Pays by cheque", "PAYS BY Cheque"),
    "white space": ("Pays by cheque", " Pays\u00a0by \u2003 cheque\n"),
    "Cyrillic letters": ("Pays by cheque", "Рауs by сhеquе"),
    "Cyrillic capitals": ("Pays by cheque", "РАYЅ ВY СНЕQUЕ"),
    "Greek letters": ("Pays by cheque", "Ραys by cheque"),
    "Greek capitals": ("Pays by cheque", "ΡΑΥS ΒΥ CΗΕQUΕ"),
    "full width": ("Pays by cheque", "Ｐａｙｓ ｂｙ ｃｈｅｑｕｅ"),
    "mathematical letters": ("Pays by cheque", "𝐏𝐚𝐲𝐬 𝒃𝒚 𝓬𝓱𝓮𝓺𝓾𝓮"),
    "small capitals": ("Pays by cheque", "Pᴀʏs ʙʏ ᴄʜᴇqᴜᴇ"),
    "accents": ("Pays by cheque", "Páys bÿ chèque"),
    "invisible characters": ("Pays by cheque", "Pa\u200bys b\u2060y che\u00adque"),
    "tag characters": ("Pays by cheque", "Pays by cheque\U000e0041"),
    "joiners": ("Pays by cheque", "Pa\u200cys by che\u200dque"),
    "variation selectors": ("Pays by cheque", "Pays by che\ufe00que"),
    "a blank letter": ("Pays by cheque", "Pays\u3164by cheque"),
    "Latin letters in Cyrillic": ("Живёт в Москве", "Живёт в Mocквe"),
    "Cyrillic in capitals": ("Живёт в Вене", "ЖИВЁТ В ВЕНЕ"),
    "Arabic letters": ("کتاب می\u200cخواهد", "كتاب مي\u200cخواهد"),
    "other Persian letters": ("کتاب می\u200cخواهد", "ڪتاب مې\u200cخواهد"),
    "a space for a joiner": ("کتاب می\u200cخواهد", "کتاب می خواهد"),
    "no joiner": ("کتاب می\u200cخواهد", "کتاب میخواهد"),
    "tatweel and vowel marks": ("کتاب می\u200cخواهد", "کـتـاب مِی\u200cخواهَد"),
    "Arabic digits": ("اتاق ۱۲", "اتاق ١٢"),
    "Latin digits": ("اتاق ۱۲", "اتاق 12"),
    "presentation forms": ("سلام", "ﺳﻼﻡ"),
}
NEIGHBOURS = [
    ("Uses C", "Uses C++"),
    ("Uses C++", "Uses C#"),
    ("Uses C#", "Uses C"),
    ("Version 1.10", "Version 1.1"),
    ("Version 1.1", "Version 11"),
    ("Cash is allowed", "Cash is not allowed"),
    ("Called Anna", "Called Hanna"),
    ("Called Dan", "Called Don"),
    ("Called مریم", "Called مریما"),
    ("Зовут Анна", "Зовут Алла"),
    ("Takes 5 mg", "Takes 5 µg"),
    ("Owes -5", "Owes 5"),
    ("Room 10", "Room l0"),
    ("می\u200cخواهد", "نمی\u200cخواهد"),
]


def bury_by_rejection(me: ScopedMemory, text: str) -> None:
    me.reject(proposed(me, text, field="habit", value=text).candidate_id, reason="not true")


def bury_by_correction(me: ScopedMemory, text: str) -> None:
    kept = said(me, text, field="habit", value=text)
    me.correct(kept.memory_id, text="Something else", value="something else")


def bury_by_forgetting(me: ScopedMemory, text: str) -> None:
    me.forget(said(me, text, field="habit", value=text).memory_id)


BURIALS = [bury_by_rejection, bury_by_correction, bury_by_forgetting]


def inferred(me: ScopedMemory, desk: ReviewDesk, text: str, tag: str) -> dict[str, str]:
    """Try every way by which a value comes in that nobody states; return how each failed."""
    fresh: dict[str, Any] = {"kind": "preference", "field": "habit", "value": text}
    waiting = proposed(me, f"Harmless {tag}.", kind="insight")
    return {
        "propose": code_of(lambda: proposed(me, text)),
        "propose the value": code_of(
            lambda: proposed(me, f"So it is {tag}.", kind="fact", field="Habit", value=text)
        ),
        "propose again": code_of(lambda: proposed(me, text, source_id="again", proposer="job")),
        "import": code_of(lambda: me.import_many([Statement("preference", text, f"i-{tag}")])),
        "import the value": code_of(
            lambda: me.import_many([Statement(text=f"And {tag}.", source_id=f"v-{tag}", **fresh)])
        ),
        "revise": code_of(lambda: desk.revise(me.scope, waiting.candidate_id, text=text)),
    }


def stated(me: ScopedMemory, text: str, tag: str) -> dict[str, str]:
    """Try every way by which somebody states a value, without saying why it may come back."""
    kept = said(me, f"Harmless too {tag}.", kind="insight")
    return {
        "remember": code_of(lambda: said(me, text)),
        "remember the value": code_of(
            lambda: said(me, f"Thus {tag}.", field="habit", value=text, kind="fact")
        ),
        "correct": code_of(lambda: me.correct(kept.memory_id, text=text)),
        "outcome": code_of(
            lambda: me.record_outcome(text, source_id=f"o-{tag}", succeeded=True, actions=["x"])
        ),
    }


def shows(me: ScopedMemory, text: str) -> bool:
    """Whether a value, which only its own spelling carries, is on a way to a model or reviewer."""
    found = [*texts(me.recall(text, minimum_score=-1, limit=1000)), *texts(me.list(limit=1000))]
    found += [one.statement.text for one in me.candidates(limit=1000)]
    return text.strip() in found


class TestLaundering:
    @LEXICAL
    @pytest.mark.promise("CON-5")
    @pytest.mark.parametrize("bury", BURIALS)
    @pytest.mark.parametrize("disguise", DISGUISES)
    def test_no_disguise_brings_a_buried_value_back(
        self, me: ScopedMemory, desk: ReviewDesk, disguise: str, bury: Callable[..., None]
    ) -> None:
        text, other = DISGUISES[disguise]
        bury(me, text)
        assert set(inferred(me, desk, other, "a").values()) <= OUT
        if bury is not bury_by_forgetting:
            assert set(stated(me, other, "a").values()) <= OUT
        assert not shows(me, text)
        assert not shows(me, other)

    @pytest.mark.promise("CON-5", "FOR-3")
    @pytest.mark.parametrize("bury", BURIALS)
    @pytest.mark.parametrize("disguise", ["as it is", "Cyrillic letters", "no joiner"])
    def test_neither_time_nor_upkeep_nor_a_new_model_brings_it_back(
        self,
        house: House,
        me: ScopedMemory,
        clock: FrozenClock,
        tmp_path: Path,
        disguise: str,
        bury: Callable[..., None],
    ) -> None:
        text, other = DISGUISES[disguise]
        with muniment.open(
            tmp_path / "other.db", embedder="none", clock=FrozenClock()
        ) as elsewhere:
            said(same_scope(elsewhere, me), text, kind="insight")
            same_scope(elsewhere, me).export(tmp_path / "before.jsonl")
        bury(me, text)
        for number, restated in enumerate(("Something else", "Once more", "And again")):
            said(me, restated, field="habit", value=restated, source_id=f"restated-{number}")
        memory: Memory = house.opened[0]
        for tag, years in (("fresh", 0), ("aged", 5)):
            clock.advance(seconds=years * YEAR)
            memory.maintain()
            memory.close()
            memory = house.open(embedder=FakeEmbedder(name=f"model {tag}"))
            memory.embed()
            again = same_scope(memory, me)
            assert set(inferred(again, memory.reviewing(DANA), other, tag).values()) <= OUT
            if bury is not bury_by_forgetting:
                assert set(stated(again, other, tag).values()) <= OUT
            for trust in ("reviewed", "operator"):
                again.import_export(tmp_path / "before.jsonl", mode="skip", trust=trust)
            assert not shows(again, text)
            assert not shows(again, other)

    @LEXICAL
    @pytest.mark.promise("CON-5")
    def test_another_candidate_with_the_value_is_not_approved_after_its_rejection(
        self, me: ScopedMemory, desk: ReviewDesk
    ) -> None:
        first, second = proposed(me, "Pays by cheque"), proposed(me, "Рays by cheque")
        me.reject(first.candidate_id, reason="not true")
        assert code_of(lambda: approved(me, second)) == "tombstoned"
        assert len(me.list()) == 0
        written = approved(me, second, override_tombstone="She said so on the phone.")
        assert me.get(written.memory_id).text == "Рays by cheque"

    @LEXICAL
    @pytest.mark.promise("CON-5", "AUD-1")
    def test_a_person_brings_it_back_with_a_reason_that_is_audited(self, me: ScopedMemory) -> None:
        bury_by_rejection(me, "Pays by cheque")
        assert code_of(lambda: said(me, "Pays by cheque")) == "tombstoned"
        said(me, "Pays by cheque", override_tombstone="asked twice")
        assert texts(me.list()) == ["Pays by cheque"]
        *_, refused, written = me.audit()
        assert (refused.action, refused.reason) == ("refused", "remember: tombstoned")
        assert (written.action, written.reason) == ("remember", "asked twice")

    @LEXICAL
    @pytest.mark.promise("CON-5", "CON-6")
    @pytest.mark.parametrize("bury", BURIALS)
    @pytest.mark.parametrize(
        ("text", "neighbour"), [*NEIGHBOURS, *((other, one) for one, other in NEIGHBOURS)]
    )
    def test_a_neighbour_passes(
        self, me: ScopedMemory, text: str, neighbour: str, bury: Callable[..., None]
    ) -> None:
        bury(me, text)
        me.import_many([Statement("feedback", neighbour, "n", field="habit", value=neighbour)])
        assert neighbour in texts(me.list())
        assert proposed(me, f" {neighbour}").status == "pending"

    @LEXICAL
    def test_what_a_rejection_and_the_record_share_may_still_be_said(
        self, me: ScopedMemory
    ) -> None:
        said(me, "Lives in Rome.", field="city", value="Rome")
        double = proposed(me, "Has a flat in Rome.", field="city", value="Rome")
        me.reject(double.candidate_id, reason="known already")
        said(me, "Lives in Oslo.", field="city", value="Oslo")
        said(me, "Lives in Rome again.", field="city", value="Rome")
        assert texts(me.list()) == ["Lives in Rome again."]

    @LEXICAL
    def test_a_correction_of_the_words_does_not_bury_the_value(self, me: ScopedMemory) -> None:
        kept = said(me, "Lives in Roma.", field="city", value="Rome")
        me.correct(kept.memory_id, text="Lives in Rome.")
        said(me, "Lives in Rome, Italy.", field="city", value="Rome")
        assert texts(me.list()) == ["Lives in Rome, Italy."]
        assert code_of(lambda: said(me, "Lives in Roma.")) == "tombstoned"


TWINS: dict[str, list[str]] = {}
for _alike, _plain in _TWINS.items():
    for _twin, _letter in zip(_alike, _plain, strict=True):
        TWINS.setdefault(_letter, []).append(_twin)

ASCII = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=12)
RUSSIAN = "абвгджзиклмнопрстуфхцчшщъыьэюя"
GREEK = "αβγδεζηθικλμνξοπρστυφχψω"
PERSIAN = "ابپتثجچحخدذرزژسشصضطظعغفقکگلمنوهی"


def prints(text: str, value: JSONValue = None) -> set[tuple[str, ...]]:
    return set(fingerprints("field" if value is not None else None, value, text))


@st.composite
def disguised(draw: Any) -> tuple[str, str]:  # noqa: ANN401 - hypothesis' own
    """Give a text and the same text with some letters replaced by look-alikes."""
    text = draw(st.text(st.sampled_from("".join(TWINS) + " 017.-"), min_size=1, max_size=12))
    drawn = [draw(st.sampled_from([letter, *TWINS.get(letter, [])])) for letter in text]
    return text, "".join(drawn)


@pytest.mark.promise("CON-5")
@given(disguised())
def test_look_alike_letters_leave_a_print_in_common(pair: tuple[str, str]) -> None:
    text, disguise = pair
    if text.strip():
        assert prints(text) & prints(disguise)
        assert prints("x", text) & prints("y", disguise)


@pytest.mark.promise("CON-5", "CON-6")
@given(ASCII, ASCII)
def test_plain_texts_share_a_print_only_if_they_are_the_same(one: str, other: str) -> None:
    assert bool(prints(one) & prints(other)) is (one.casefold() == other.casefold())


@pytest.mark.promise("CON-6")
@given(st.data(), st.sampled_from([RUSSIAN, GREEK, PERSIAN]))
def test_words_of_one_script_never_share_a_print(data: Any, letters: str) -> None:  # noqa: ANN401
    words = st.text(st.sampled_from(letters + letters.upper()), min_size=1, max_size=8)
    one, other = data.draw(words), data.draw(words)
    assert bool(prints(one) & prints(other)) is (one.casefold() == other.casefold())


RETYPED: list[tuple[JSONValue, JSONValue]] = [
    (3, 3.0), (3.0, "3"), ("3", 3), (True, 1), (1, True), (False, 0.0), ([1, True], [1.0, "1"]),
    ({"a b": 1}, {"aB": "1"}),
]  # fmt: skip
OTHERWISE: list[tuple[JSONValue, JSONValue]] = [
    (3, 4), (3, 3.5), ("3.1", "3.10"), (True, False), (True, 0), ([1, 2], [2, 1]),
]  # fmt: skip


@LEXICAL
@pytest.mark.promise("CON-5", "CON-6")
@pytest.mark.parametrize("burial", ["reject", "retract", "correct"])
@pytest.mark.parametrize(
    ("value", "again", "passes"),
    [*((*pair, False) for pair in RETYPED), *((*pair, True) for pair in OTHERWISE)],
)
def test_a_value_of_another_type_or_a_field_spelled_otherwise_does_not_come_back(
    me: ScopedMemory, burial: str, value: JSONValue, again: JSONValue, passes: bool
) -> None:
    if burial == "reject":
        seen = proposed(me, "So it was.", field="seat.preference", value=value)
        me.reject(seen.candidate_id, reason="not true")
    else:
        kept = said(me, "So it was.", field="seat.preference", value=value).memory_id
        if burial == "retract":
            me.retract(kept)
        else:
            me.correct(kept, text="So it is now.", value="something else")
    for number, field in enumerate(("seatPreference", "seat/preference", "seat_preference")):
        code = code_of(partial(proposed, me, f"Thus {number}.", field=field, value=again))
        assert code == ("" if passes else "tombstoned"), field
    assert code_of(lambda: proposed(me, "No.", field="seat.preferences", value=value)) == ""
