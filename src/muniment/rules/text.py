"""Search text: one normal form and one token stream for every script.

Records and queries pass through the same two functions, so what is written the same way
is found. The tokens of a record are stored (as keyed hashes): changing what `tokenise`
returns means raising `VERSION` and rebuilding the postings.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache
from itertools import pairwise

from muniment.rules import words

VERSION = 1
"""Version of the token stream; stored beside what was built from it."""

ZWNJ = "\u200c"
LONGEST_WORD = 64

_MARKS = (
    *range(0x0300, 0x0370),
    *range(0x0591, 0x05BE),
    0x05BF,
    *range(0x05C1, 0x05C8),
    *range(0x0610, 0x061B),
    *range(0x064B, 0x0660),
    0x0670,
    *range(0x06D6, 0x06EE),
    *range(0xFE00, 0xFE10),
)
_INVISIBLE = (
    *(0x00AD, 0x034F, 0x061C, 0x0640, 0x180E, 0x200B, 0x200D, 0x200E, 0x200F, 0xFEFF),
    *range(0x202A, 0x202F),
    *range(0x2060, 0x2070),
    *range(0xFFF9, 0xFFFC),
    *range(0xE0000, 0xE0080),
)
_ZEROS = (0x0660, 0x06F0, 0x07C0, 0x0966, 0x09E6, 0x0A66, 0x0AE6, 0x0BE6, 0x0C66, 0x0CE6)
_ZEROS_EAST = (0x0D66, 0x0E50, 0x0ED0, 0x0F20, 0x1040, 0x17E0, 0x1810)
_LETTERS = {
    **dict.fromkeys(map(ord, "يىېے"), "ی"),
    **dict.fromkeys(map(ord, "كڪ"), "ک"),
    **dict.fromkeys(map(ord, "ةہھە"), "ه"),
    **dict.fromkeys(map(ord, "\u2018\u2019\u201b\u02bc\u02b9"), "'"),
    **dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2212"), "-"),
    **{ord(variant): letter for variant, letter in zip("ٱıłø٫٬", "اilo.,", strict=True)},
    ord("ء"): None,
}
_FOLD: dict[int, str | None] = {
    **dict.fromkeys((*_MARKS, *_INVISIBLE)),
    **{zero + i: str(i) for zero in (*_ZEROS, *_ZEROS_EAST) for i in range(10)},
    **_LETTERS,
}
_ACCENTS = dict.fromkeys(_MARKS)

_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]+")
_MARK_RUN = re.compile(r"[^\w\s\x00-\x7f]{33,}")
_LONE_ZWNJ = re.compile("\u200c+(?![\u0600-\u06ff])|(?<![\u0600-\u06ff\u200c])\u200c+|\u200c{2,}")
_THOUSANDS = re.compile(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))")

_INDIC = "\u0780-\u07bf\u0900-\u0963\u0970-\u0dff"
_LETTER = rf"(?:[^\W_]|[{_INDIC}])"
_IDENTIFIER = re.compile(
    rf"{_LETTER}+(?:['._@/:&+\u200c-]{_LETTER}+|_+{_LETTER}+)*(?:(?:\+\+|#)(?!{_LETTER}))?"
)
_PART = re.compile(rf"{_LETTER}+")
_UNSPACED = (
    "[\u2e80-\u2fdf\u3005\u3007\u3021-\u3029\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+",
    "[\u3041-\u309f]+",
    "[\u30a0-\u30ff\u31f0-\u31ff]+",
    "[\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff]+",
    "[\u0e00-\u0e4f\u0e5a-\u0eff]+",
    "[\u1000-\u103f\u104a-\u109f\uaa60-\uaa7f]+",
    "[\u1780-\u17df]+",
)
_RUN = re.compile("|".join(f"({run})" for run in _UNSPACED))
_CLUSTER = re.compile(r"\w\W*|\W+")
_ARABIC_SCRIPT = re.compile("[\u0620-\u06ff]+")
_PERSIAN_ENDING = re.compile("(?<=..[\u0620-\u06ff])(?:های(?:ی|م|ت|ش|مان|تان|شان)?|ها|ی)$")
_DATE = re.compile(
    r"((?:13|14|19|20)[0-9]{2})([-/.])(0?[1-9]|1[0-2])\2(0?[1-9]|[12][0-9]|3[01])(?![0-9])"
)
_ORDINAL = re.compile(r"([0-9]{1,2})(?:st|nd|rd|th)")
_CONTRACTION = re.compile(r"([a-z]+)'(?:s|m|re|ve|ll|d)")


def normalise(text: str) -> str:
    """Return the search form of `text`: same for every way of writing the same words.

    Compatibility forms (NFKC), case, accents, vowel marks, tatweel, Arabic and Persian
    letter variants, native digits, apostrophes and dashes are unified; bidirectional,
    zero-width and control characters are dropped, except a ZERO WIDTH NON-JOINER between
    two Arabic-script letters, which separates the parts of a Persian word. White space
    becomes single spaces. The function is idempotent and takes any string.

    Source: Unicode Standard Annex 15 (normalisation forms) and section 3.13 (case folding).
    """
    text = text.lower() if text.isascii() else _fold(text)
    if text.isprintable():
        return " ".join(text.split())
    return " ".join(_CONTROL.sub(" ", text).split())


def _fold(text: str) -> str:
    """Normalise non-ASCII text, in linear time for any run of combining marks."""
    text = _MARK_RUN.sub(_without_marks, text.translate(_ACCENTS))
    text = unicodedata.normalize("NFKD", text).translate(_FOLD)
    folded = text.casefold()
    if folded != text:
        folded = unicodedata.normalize("NFKD", folded).translate(_FOLD).casefold()
    text = unicodedata.normalize("NFKC", folded)
    return _LONE_ZWNJ.sub(_single_joiner, text) if ZWNJ in text else text


def _without_marks(run: re.Match[str]) -> str:
    return "".join(c for c in run[0] if unicodedata.category(c)[0] != "M")


def _single_joiner(run: re.Match[str]) -> str:
    inner = run.start() and run.end() < len(run.string)
    sides = run.string[run.start() - 1] + run.string[run.end()] if inner else ""
    return ZWNJ if len(sides) == 2 and _ARABIC_SCRIPT.fullmatch(sides) else ""


def tokenise(text: str) -> list[str]:
    """Return the content tokens of `text`, in order and with repeats.

    English words are stemmed (Snowball), English and Persian function words are dropped.
    A compound such as `pol-358`, `user@x.com` or a Persian word joined by ZWNJ gives
    itself and its parts; `c++` and `c#` stay whole. A date such as `2025-12-08` also gives
    the name of its month; `8th` gives `8` and `dec` what `december` gives. Chinese,
    Japanese, Korean, Thai, Lao, Burmese and Khmer runs give character bigrams, a run of
    one character gives itself. Words of other scripts are taken as they are. Words over 64
    characters are cut.

    Source: M. F. Porter, Snowball (English stemmer); bigrams after the CJK analysis of
    Apache Lucene.
    """
    tokens: list[str] = []
    for chunk in text.split():
        tokens += _known_tokens(chunk) if len(chunk) <= LONGEST_WORD else _raw_tokens(chunk)
    return tokens


def content_free(asked: str) -> bool:
    """Whether a text in its search form asks for whatever is remembered, without saying about what.

    True when it has words and all are function words or generic asking words ("What do
    you know about me?"); False for text without any word.
    """
    has_spoken = False
    for chunk in asked.split():
        if chunk.isascii() and chunk.isalpha():
            if chunk not in _generic_words():
                return False
            has_spoken = True
            continue
        for word in _IDENTIFIER.findall(chunk):
            if not _is_generic(word):
                return False
            has_spoken = True
    return has_spoken


def _is_generic(word: str) -> bool:
    if word in _generic_words():
        return True
    parts = _PART.findall(word)
    return "".join(parts) in _generic_words() or _generic_words().issuperset(parts)


@cache
def _stop_words() -> frozenset[str]:
    return _vocabulary(words.ENGLISH + words.PERSIAN)


@cache
def _generic_words() -> frozenset[str]:
    return _stop_words() | _vocabulary(words.ASKING)


def _vocabulary(listing: str) -> frozenset[str]:
    entries = normalise(listing).split()
    return frozenset(form for entry in entries for form in (entry, entry.replace(ZWNJ, "")))


def _raw_tokens(chunk: str) -> tuple[str, ...]:
    """Tokens of text between two white spaces, as it was written."""
    pieces = _THOUSANDS.sub("", normalise(chunk)).split()
    return tuple(token for piece in pieces for token in _split_chunk(piece))


_known_tokens = lru_cache(maxsize=1 << 15)(_raw_tokens)


def _split_chunk(chunk: str) -> tuple[str, ...]:
    if chunk.isascii() and chunk.isalpha():
        return _word_tokens(chunk)
    if not chunk.isascii() and _RUN.search(chunk):
        return _mixed_tokens(chunk)
    return tuple(token for found in _IDENTIFIER.finditer(chunk) for token in _compound(found[0]))


def _mixed_tokens(chunk: str) -> tuple[str, ...]:
    """Tokens of a chunk that holds a script written without spaces."""
    tokens: list[str] = []
    done = 0
    for run in _RUN.finditer(chunk):
        for found in _IDENTIFIER.finditer(chunk, done, run.start()):
            tokens += _compound(found[0])
        tokens += _bigrams(_CLUSTER.findall(run[0]))
        done = run.end()
    for found in _IDENTIFIER.finditer(chunk, done):
        tokens += _compound(found[0])
    return tuple(tokens)


def _bigrams(clusters: list[str]) -> list[str]:
    clusters = [cluster[:LONGEST_WORD] for cluster in clusters]
    if len(clusters) == 1:
        return clusters
    return [first + second for first, second in pairwise(clusters)]


def _compound(word: str) -> tuple[str, ...]:
    """Tokens of a word that may hold inner punctuation: itself, then its parts."""
    contraction = _CONTRACTION.fullmatch(word)
    if contraction:
        return _word_tokens(contraction[1])
    parts = _PART.findall(word)
    if parts == [word]:
        return _word_tokens(word)
    date = _DATE.match(word)
    if date:
        return (word[:LONGEST_WORD], *_date_tokens(date), *_part_tokens(word[date.end() :]))
    whole = word.replace(ZWNJ, "").replace("'", "")
    if whole in _stop_words():
        return ()
    tokens = _word_tokens(whole) if whole.isalpha() else (whole,)
    if len(whole) > LONGEST_WORD:
        tokens = ()
    if len(parts) == 1 or word.endswith("n't"):
        return tokens
    return tuple(dict.fromkeys((*tokens, *_part_tokens(word))))


def _part_tokens(word: str) -> tuple[str, ...]:
    return tuple(token for part in _PART.findall(word) for token in _word_tokens(part))


def _date_tokens(date: re.Match[str]) -> tuple[str, ...]:
    """Year, month by name and day of a numeric date, Gregorian or Persian."""
    year, _, month, day = date.groups()
    names = words.MONTHS if year >= "1900" else words.PERSIAN_MONTHS
    return (year, *_word_tokens(normalise(names[int(month) - 1])), day.lstrip("0"))


def _word_tokens(word: str) -> tuple[str, ...]:
    """The token of one plain word, or none when it carries no content."""
    word = word[:LONGEST_WORD]
    if word in _stop_words():
        return ()
    if word.isascii():
        ordinal = _ORDINAL.fullmatch(word)
        return (ordinal[1] if ordinal else _stemmer()(words.SHORT_MONTHS.get(word, word)),)
    if _ARABIC_SCRIPT.fullmatch(word):
        return (_PERSIAN_ENDING.sub("", word),)
    return (word,)


@cache
def _stemmer() -> Callable[[str], str]:
    import Stemmer

    stem: Callable[[str], str] = Stemmer.Stemmer("english", 0).stemWord
    return stem
