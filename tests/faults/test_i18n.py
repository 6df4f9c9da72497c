"""Failures of language: text that could not be found because of its script or its encoding."""

from __future__ import annotations

import unicodedata

import pytest

from muniment import ScopedMemory
from muniment.trace import Degraded
from tests.behaviour.conftest import LEXICAL, ids, said

pytestmark = LEXICAL


@pytest.fixture
def place() -> str:
    return ":memory:"


TEXTS = {
    "japanese": "私はPythonでADKを使っています",
    "russian": "Меня зовут Алексей",
    "arabic": "أفضل القهوة بدون سكر",
    "korean": "제 이름은 민수입니다",
    "chinese": "你好，我是小王，喜欢美式咖啡",
    "persian": "کتاب‌های تاریخ را نمی‌خواهم",
    "french": "café à Zürich",
    "emoji": "👩\u200d👩\u200d👧 emoji 🇮🇷 text",
    "thai": "ฉันชอบกาแฟเย็น",
    "hindi": "मुझे चाय पसंद है",
    "greek": "Μένω στην Αθήνα",
    "hebrew": "אני אוהב תה ירוק",
    "turkish": "İstanbul'da yaşıyorum",
    "german": "Die Straße ist groß",
    "numbers": "شمارهٔ میز ۱۲۳۴ است",
    "mixed": "سرور staging روی eu-west است",
}
QUERIES = [
    ("Python", "japanese"),
    ("使って", "japanese"),
    ("adk", "japanese"),
    ("Алексей", "russian"),
    ("АЛЕКСЕЙ", "russian"),
    ("القهوة", "arabic"),
    ("القهوه", "arabic"),
    ("القَهْوَة", "arabic"),
    ("افضل", "arabic"),
    ("민수", "korean"),
    ("美式咖啡", "chinese"),
    ("美式", "chinese"),
    ("咖啡", "chinese"),
    ("نمی\u200cخواهم", "persian"),
    ("نمیخواهم", "persian"),
    ("نمي\u200cخواهم", "persian"),
    ("كتاب", "persian"),
    ("کتابهای", "persian"),
    ("cafe\u0301", "french"),
    ("cafe", "french"),
    ("ZÜRICH", "french"),
    ("emoji", "emoji"),
    ("กาแฟ", "thai"),
    ("चाय", "hindi"),
    ("ΑΘΗΝΑ", "greek"),
    ("אוהב", "hebrew"),
    ("istanbul", "turkish"),
    ("strasse", "german"),
    ("1234", "numbers"),
    ("١٢٣٤", "numbers"),
    ("Ｓｔａｇｉｎｇ", "mixed"),
    ("EU-West", "mixed"),
]


@pytest.mark.promise("REC-7")
@pytest.mark.parametrize(("query", "language"), QUERIES)
def test_a_word_of_any_script_finds_its_record_without_an_embedder(
    me: ScopedMemory, query: str, language: str
) -> None:
    """adk#5501, openclaw#150968"""
    kept = {name: said(me, text).memory_id for name, text in TEXTS.items()}
    found = me.recall(query, minimum_score=0.15)
    assert ids(found)[:1] == [kept[language]]
    assert found.trace.degraded == (Degraded.NO_EMBEDDER,)


@pytest.mark.promise("REC-7")
@pytest.mark.parametrize("language", TEXTS)
def test_text_comes_back_byte_for_byte(me: ScopedMemory, language: str) -> None:
    """openclaw#150968"""
    for form in ("NFC", "NFD"):
        text = unicodedata.normalize(form, TEXTS[language])
        kept = said(me, text, field=text, value=text)
        record = me.get(kept.memory_id)
        assert (record.text, record.value) == (text, text)
        assert text.encode() == record.text.encode()


@pytest.mark.promise("REC-7")
@pytest.mark.parametrize("language", TEXTS)
def test_composed_and_decomposed_text_find_each_other(me: ScopedMemory, language: str) -> None:
    """openclaw#150968"""
    composed, decomposed = (unicodedata.normalize(f, TEXTS[language]) for f in ("NFC", "NFD"))
    kept = said(me, composed)
    said(me, "Something else.")
    found = me.recall(decomposed, minimum_score=0.5)
    assert ids(found) == [kept.memory_id]
    assert next(iter(found)).score == 1.0


@pytest.mark.promise("WRI-9")
@pytest.mark.parametrize(
    ("one", "other"),
    [("قهوه", "قهوة"), ("کتاب", "كتاب"), ("café", "cafe\u0301"), ("Ｃity", "city")],
)
def test_a_field_is_the_same_in_every_encoding(me: ScopedMemory, one: str, other: str) -> None:
    said(me, "First.", field=one, value=1)
    second = said(me, "Second.", field=other, value=2)
    assert ids(me.list()) == [second.memory_id]
    assert next(iter(me.recall(one))).record.value == 2
