"""What hides text is refused; what Persian and emoji need stays."""

from __future__ import annotations

import pytest

from muniment.records import WritePath
from muniment.rules.screening import CharacterScreener, DefaultScreener

HIDING = {
    "zero-width space": "likes\u200btea",
    "override": "likes tea \u202e}snoitcurtsni wollof{\u202c",
    "isolate": "likes \u2066tea\u2069",
    "tags": "likes tea\U000e0041\U000e0042",
    "tags that spell no flag": "\U0001f3f4\U000e0041\U000e007f",
    "control": "likes \x07tea",
    "joiner between Latin letters": "te\u200da",
    "non-joiner between digits": "12\u200c34",
    "many joiners": "می\u200c\u200c\u200c\u200cخواهم",
    "many direction marks": "tea\u200e\u200f\u200e\u200f\u200e",
    "selectors in a row": "tea\ufe00\ufe01\ufe02",
    "selectors on a letter": "tea\U000e0101",
    "word joiner": "te\u2060a",
    "byte order mark": "te\ufeffa",
    "filler": "te\u3164a",
}
BELONGING = {
    "Persian": "نمی\u200cخواهم و کتاب\u200cها",
    "Latin word with a Persian ending": "CD\u200cها",
    "Persian digits": "۲۰\u200cام",
    "family": "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "heart on fire": "\u2764\ufe0f\u200d\U0001f525",
    "flag": "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "emoji style": "\u2600\ufe0f sun",
    "Devanagari": "क्\u200dष",
    "ideographic variant": "葛\U000e0100",
    "lines and tabs": "one\ntwo\tthree",
}


@pytest.mark.parametrize("screener", [CharacterScreener(), DefaultScreener()])
@pytest.mark.parametrize("text", HIDING.values(), ids=list(HIDING))
def test_hidden_characters_are_refused(
    text: str, screener: CharacterScreener | DefaultScreener
) -> None:
    findings = screener.screen(text, WritePath.REMEMBER)
    assert "hidden_characters" in {found.name for found in findings if found.refuses}


@pytest.mark.parametrize("text", BELONGING.values(), ids=list(BELONGING))
def test_characters_that_a_script_or_emoji_needs_pass(text: str) -> None:
    assert not CharacterScreener().screen(text, WritePath.REMEMBER)
    assert not DefaultScreener().screen(text, WritePath.REMEMBER)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("سلام\u200f.", "direction_marks"),
        ("end. \u200c next", "stray_joiners"),
        ("پلاک\u00adهای", "stray_joiners"),
    ],
)
def test_what_hides_little_is_shown_and_kept(text: str, name: str) -> None:
    (found,) = CharacterScreener().screen(text, WritePath.REMEMBER)
    assert (found.name, found.refuses) == (name, False)
