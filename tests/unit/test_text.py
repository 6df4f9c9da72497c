"""Behaviour of the search text rules."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from muniment.rules.text import content_free, normalise, tokenise

ANY_TEXT = st.text(st.characters(), max_size=80)
LETTERS = st.text(
    st.sampled_from(
        "aéÉüñçßİıøŁ ي ی ك ک ة ه أ إ آ ؤ ئ ۀ ٱ ۱٢3 \u200c\u200d\u0640\u064e\u0301\u0323"
        "がハﾊﾞ한각กำ्हिÅΆйЁ.'-_@#+,\u2019\u2011\n\x00"
    ),
    max_size=40,
)


def matches(query: str, text: str) -> bool:
    return bool(query and set(tokenise(query)) & set(tokenise(text)))


@given(ANY_TEXT | LETTERS)
@example("\ud800 lone \udfff")
@example("\u0345\u0390\ufb03")
def test_any_string_is_accepted(text: str) -> None:
    assert all(token.encode() and not token.isspace() for token in tokenise(text))
    assert isinstance(content_free(normalise(text)), bool)


@given(ANY_TEXT | LETTERS)
@example("\u1e9e\u01c5\u0345\u03d4\u0344")
def test_normalise_is_idempotent(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once


@given(ANY_TEXT | LETTERS)
def test_composed_and_decomposed_text_are_the_same(text: str) -> None:
    composed = unicodedata.normalize("NFC", text)
    decomposed = unicodedata.normalize("NFD", text)
    assert normalise(composed) == normalise(decomposed)
    assert tokenise(composed) == tokenise(decomposed)


@given(ANY_TEXT | LETTERS)
def test_normalising_first_changes_no_token(text: str) -> None:
    assert tokenise(normalise(text)) == tokenise(text)


@given(LETTERS, LETTERS)
def test_tokens_of_two_texts_are_the_tokens_of_both(one: str, two: str) -> None:
    assert tokenise(f"{one}\n{two}") == tokenise(one) + tokenise(two)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Café", "cafe"),
        ("cafe\u0301", "CAFÉ"),
        ("ﬁle", "file"),
        ("Straße", "STRASSE"),
        ("İstanbul", "istanbul"),
        ("ＡＢＣ１２", "abc12"),
        ("ﾊﾞｲｸ", "バイク"),
        ("علي", "علی"),
        ("كتاب", "کتاب"),
        ("مدرسة", "مدرسه"),
        ("أحمد", "احمد"),
        ("آب", "اب"),
        ("مؤمن", "مومن"),
        ("مسئله", "مسیله"),
        ("۱۲۳", "123"),
        ("٤٥٦", "456"),
        ("مُحَمَّد", "محمد"),
        ("سـلام", "سلام"),
        ("a\u200bb\u202e", "ab"),
        ("don\u2019t", "don't"),
        ("non\u2011stop", "non-stop"),
        ("  a \t b\x00 ", "a b"),
        ("\u200cab\u200c", "ab"),
        ("۳٫۵", "3.5"),
    ],
)
def test_spellings_with_one_normal_form(one: str, two: str) -> None:
    assert normalise(one) == normalise(two)


def test_normalise_keeps_what_distinguishes_words() -> None:
    assert normalise("हिन्दी") == "हिन्दी"
    assert normalise("한국어") == "한국어"
    assert normalise("がく") != normalise("かく")
    assert normalise("کتاب\u200cها") == "کتاب\u200cها"


def test_english_words_are_stemmed_and_function_words_dropped() -> None:
    assert tokenise("The dogs were running to the painters") == ["dog", "run", "painter"]
    assert tokenise("What would you do about it?") == []
    assert tokenise("dog dog, DOG!") == ["dog"] * 3
    assert tokenise("Caroline's") == tokenise("Caroline")


@pytest.mark.parametrize(
    "identifier",
    ["POL-358", "20.04", "eu-west", "C++", "C#", "don't", "foo_bar", "user@x.com", "node.js"],
)
def test_identifiers_are_found(identifier: str) -> None:
    (whole, *_) = tokenise(identifier)
    assert whole in tokenise(f"see ({identifier.upper()}), please.")
    assert whole == tokenise(f'"{identifier.lower()}"')[0]


def test_identifiers_are_found_by_their_parts() -> None:
    assert tokenise("POL-358") == ["pol-358", "pol", "358"]
    assert tokenise("user@x.com") == ["user@x.com", "user", "x", "com"]
    assert tokenise("foo_bar") == ["foo_bar", "foo", "bar"]
    assert tokenise("1,234,567") == ["1234567"]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("December 8th, 2025", "2025-12-08 15:00"),
        ("8 Dec 2025", "2025/12/8"),
        ("december 8 2025", "on 2025-12-08T15:00:00Z."),
        ("۸ آذر ۱۴۰۳", "۱۴۰۳/۰۹/۰۸"),
    ],
)
def test_dates_are_found_by_the_name_of_the_month(query: str, text: str) -> None:
    assert set(tokenise(query)) <= set(tokenise(text))


def test_a_number_that_is_no_date_names_no_month() -> None:
    assert tokenise("2025-13-08") == ["2025-13-08", "2025", "13", "08"]
    assert tokenise("1.2.3") == ["1.2.3", "1", "2", "3"]


def test_programming_languages_differ() -> None:
    assert tokenise("C++") == ["c++"]
    assert tokenise("C#") == ["c#"]
    assert tokenise("C") == ["c"]


def test_persian_compounds_are_found_joined_split_and_spaced() -> None:
    assert set(tokenise("خانه‌دار")) == {"خانهدار", "خانه", "دار"}
    assert matches("کتاب", "کتاب‌های قدیمی")
    assert matches("کتابها", "کتاب‌ها")
    assert matches("کتاب ها", "کتابهای")
    assert matches("ایران", "مهمان ایرانی")
    assert tokenise("این برای تو است و از ما") == []


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("東京", "私は東京都に住んでいます"),
        ("猫", "猫が好き"),
        ("コーヒー", "毎朝コーヒーを飲む"),
        ("北京", "我住在北京市"),
        ("한국", "한국어를 공부해요"),
        ("กาแฟ", "ฉันชอบดื่มกาแฟทุกเช้า"),
        ("កាហ្វេ", "ខ្ញុំចូលចិត្តកាហ្វេ"),
        ("Docker", "我们用Docker部署"),
        ("ёлка", "Красивая ЕЛКА"),
        ("हिन्दी", "मुझे हिन्दी आती है"),
        ("القهوة", "أحب القهوه"),
        ("καφές", "Ο ΚΑΦΕΣ"),
    ],
)
def test_other_scripts_are_found(query: str, text: str) -> None:
    assert matches(query, text)


def test_unspaced_runs_give_bigrams() -> None:
    assert tokenise("東京都") == ["東京", "京都"]
    assert tokenise("猫") == ["猫"]


@pytest.mark.parametrize(
    "text",
    [
        "What do you know about me?",
        "tell me everything you remember about me",
        "What have you stored about me so far?",
        "Show me all the facts you've saved, please",
        "درباره من چه می‌دانی؟",
        "درباره‌ی من چی میدونی",
        "چه چیزهایی از من یادت هست؟",
        "هر چیزی که از من یادته بگو",
        "what",
    ],
)
def test_questions_about_nothing_in_particular(text: str) -> None:
    assert content_free(normalise(text))


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "?!…",
        "🙂",
        "What is my dog's name?",
        "Which seat do I prefer?",
        "What do you know about me and Rust?",
        "what do you know about 358",
        "درباره سگ من چه می‌دانی؟",
        "猫",
    ],
)
def test_questions_about_something_or_no_question(text: str) -> None:
    assert not content_free(normalise(text))


@pytest.mark.parametrize(
    "unit",
    ["a", "a-", "a---", "\u0301\u0323", "\u1dc0\u20d0", "\u0f73", "猫", "ب\u200c", "\ud800", "c+"],
)
def test_time_is_linear(unit: str) -> None:
    def seconds(length: int) -> float:
        text = (unit * length)[:length]
        start = time.process_time()
        tokenise(text)
        return time.process_time() - start

    assert seconds(400_000) < 4.0


def test_long_words_are_cut() -> None:
    assert tokenise("x" * 1_000_000) == ["x" * 64]
