"""Secrets that a person says: passwords, PINs, recovery codes and seed phrases."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from muniment.results import Finding
from muniment.rules.screening.folding import Folded
from muniment.rules.screening.seen import has_any, seen

_WORD = (
    r"(?:pass(?:word|code|phrase|wd|wort|(?<=wifi\spass|i-fi\spass)(?=\s?[:=]))|pw(?=\s?[:=])|pwd"
    r"|contrasena|mot de passe|senha)"
)
_ENDED = r"(?![a-rt-z0-9]|s\b)"
_COPULA = (
    r"(?:'s(?=\s)|(?:\bis|\bwas|\bes|\bist|\best)(?:\s+(?:now|still|just|set\s+to|currently))?\b"
    r"|:=|[:=]+>?"
    r"|(?<=\s)(?P<weak>to|as|with)(?=\s))"
)
_OPEN = r"[\s\"'`*«(\[]{0,4}"
_VALUE = r"(?P<value>[^\s\"`»<>،؛]{3,128})"
_ENGLISH = rf"{_WORD}{_ENDED}(?P<gap>[^\n;!?]{{0,48}}?){_COPULA}{_OPEN}{_VALUE}"
_BARE = rf"{_WORD}{_ENDED}\s{{1,3}}[\"'`«(]?(?P<value>[^\s\"'`»<>]{{6,128}})"
_NUMBERS = (
    r"(?:pin(?<![a-z]pin)(?:\s?-?(?:code|number|no))?|cvv2?|cvc2?|security code|card code"
    r"|passcode)s?"
    r"(?![a-z])[^\n\d;!?]{0,40}?(?<![0-9a-z$€£])(?P<value>\d(?:[\s\-]?\d){2,7})(?![0-9a-z]|[.,:]\d|%)"
)
_PERSIAN_WORD = (
    r"(?:رمز\s?(?:عبور|کارت|دوم|پویا|ورود|اول|وای|گوشی|ایمیل|حساب|عابر|مودم|اینترنت|موبایل)?"
    r"|گذرواژه|گذر\s?واژه|پسورد|کلمه\s?ی?\s?عبور|پین|پین\s?کد|cvv2?|کد\s?cvv2?)"
)
_PERSIAN = (
    rf"{_PERSIAN_WORD}(?=[آ-ی\s,«\"'():=\-]{{0,64}}+[^آ-ی\s,«\"'():=\-])(?P<gap>[^\n\d!؟؛.]{{0,48}}?)(?<![0-9a-z])"
    r"(?P<value>[^\sآ-ی،؛«»\"'():.]{3,128})"
)
_PERSIAN_NOT = re.compile(
    r"(?<![آ-ی])(?:باید|نباید|سال|حدود|حداقل|حداکثر|بیش|شامل|دست\s?کم|تا|هر|ساعت|تاریخ"
    r"|قرن|طول|نوع"
    r"|الگوریتم|مانند|مثل|استاندارد|پروتکل|نسخه|نام|ارز|ارزهای|ارزها|نگاری\S*|گشایی\S*"
    r"|گذاری\S*)(?![آ-ی])"
)
_DESCRIBING = (
    "the a an not too very only always never also just still being been then this that these "
    "those required weak strong correct incorrect wrong right invalid valid same different "
    "secure unsafe safe long short simple complex unique easy hard important essential "
    "necessary optional hidden null none true false undefined string text password passwords "
    "str int varchar number input hash case key value field data there here what why how when "
    "where which who something somewhere nothing anything stored set reset out back part one "
    "two on in at for from by of to with and or but as if so because it its my your his her "
    "our their you they he she we all any no yes about up down off over under again more most "
    "less better best good bad great fine okay needed written known forgotten lost empty "
    "blank missing stuck unknown public private default old new plain secret temporary "
    "permanent sensitive insensitive numeric alphanumeric random use using enter type choose "
    "make create please must should can may will would could is are was be has have had do "
    "does did access protect login log sign manage ensure avoid keep update hack change check "
    "verify get see help prevent allow open unlock use connect continue gone visible like "
    "enough first last next really quite pretty probably usually often example obscure "
    "crucial vital critical key central simply basically actually typically generally both "
    "either neither based at least between within without after before during while via "
    "through"
)
_DESCRIPTIONS = frozenset(_DESCRIBING.split())
_ENDINGS = re.compile(
    r"(?:ed|ing|able|ible|ive|ful|less|ly|ary|ory|ant|ent|ous|ted|tic|ical|ised|ized"
    r"|ation|ity|ment)$"
)
_CODE = re.compile(
    r"[<{\[(*$%@\\]|.*[(\[{}\\]|(?:os|process|self|req|request|config|user|this|env|settings|form|data|"
    r"args|params|body|credentials|hashlib|getpass|input|event|e)\.|https?:|\$?pbkdf2"
    r"|sha-?\d|bcrypt|argon2|scrypt",
    re.IGNORECASE,
)
_HOLDER = re.compile(
    r"your|example|placeholder|change_?me|redacted|password|passwd|x{3,}|dummy|sample|insert"
    r"|\.{3}|…|\*{3}|#{3}|_here",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[\s\"'`*»)\]]{0,3}(?:$|[.,;!?\n،؛]|(?:and|for|but|on|at|in|now)\b)")
_PASSPHRASE = re.compile(r"[^\W\d_]{2,}(?:[-_.+][^\W\d_]{2,}){2,}")
_RECOVERY = (
    r"(?:(?:recovery|backup|back-up|scratch|rescue|emergency|2fa|two-factor|mfa|unlock)"
    r"[\s-]{0,2}(?:access\s|verification\s|login\s)?(?:codes?|keys?|tokens?)(?![a-z])|(?<![a-z])puk(?:\scode)?(?![a-z])"
    r"|(?:کد|کلید)\s?(?:های|ها|ی)?\s?(?:بازیابی|پشتیبان|اضطراری))"
)
_RECOVERY_CODE = re.compile(
    r"(?<![0-9a-z\-.$])(?=[a-z\-]{0,24}\d)[0-9a-z]{3,32}(?:-[0-9a-z]{3,12}){0,7}(?![0-9a-z.]\S|-)"
)
_DAY = re.compile(r"(?:19|20)\d\d(?:-?\d\d){0,2}|\d\d?(?:st|nd|rd|th)")
_REACH = 110
_NEXT = 48
_POSTAL = re.compile(r"\b(?:area|city|town|village|address|post\w*|district|place|zip)\b")
_SEED = re.compile(
    r"(?:(?:seed|recovery|mnemonic|backup|wallet|secret)\s(?:phrase|words?|seed)|mnemonic|seed(?=\s?:)|\d\d\s(?:seed\s)?words|"
    r"عبارت\s?(?:بازیابی|امنیتی|یادآور)|کلمات\s?(?:بازیابی|کیف\s?پول)|سید\s?(?:فریز|فراز|کیف))"
)
_SEED_WORDS = re.compile(
    r"(?<![a-z])[a-z]{3,8}(?![a-z'])(?:[\s,;]{1,3}(?:\d{1,2}[.)]?\s?)?[a-z]{3,8}(?![a-z'])){11,23}"
)
_COMMON = (
    "the and for with are was were not has had from his her its but our out who did she him "
    "your been their them would could being into than only some such please"
)
_PROSE = frozenset(_COMMON.split())


@cache
def _forms() -> dict[str, re.Pattern[str]]:
    sources = {
        "english": _ENGLISH,
        "bare": _BARE,
        "numbers": _NUMBERS,
        "persian": _PERSIAN,
        "recovery": _RECOVERY,
    }
    return {name: re.compile(source) for name, source in sources.items()}


_STEMS = {
    "english": ("pass", "pw", "contrasena", "senha", "mot de"),
    "numbers": ("pin", "cvv", "cvc", "passcode", "security code", "card code"),
    "persian": ("رمز", "گذر", "پسورد", "عبور", "پین", "cvv"),
    "recovery": ("recovery", "backup", "back-up", "بازیابی", "پشتیبان", "اضطراری", "scratch"),
    "seeds": ("phrase", "mnemonic", "words", "seed", "عبارت", "کلمات", "سید"),
}
"""Words of which one must occur for each part to look."""

_ALL_STEMS = tuple(dict.fromkeys(stem for stems in _STEMS.values() for stem in stems))
_LATIN_STEMS = tuple(stem for stem in _ALL_STEMS if stem.isascii())


def may_occur(folded: Folded) -> bool:
    """Tell whether a text has one of the words beside which these secrets stand."""
    return has_any(folded.text, _LATIN_STEMS if folded.text.isascii() else _ALL_STEMS)


def passwords(folded: Folded) -> Iterator[Finding]:
    """Yield the passwords, PINs, recovery codes and seed phrases that a text gives away."""
    text = folded.text
    if has_any(text, _STEMS["english"]):
        yield from _english(folded)
    if has_any(text, _STEMS["numbers"]):
        for found in _forms()["numbers"].finditer(text):
            if not (len(found["value"]) == 6 and _POSTAL.search(text, found.start(), found.end())):
                yield seen(folded, "pin", *found.span("value"))
    if has_any(text, _STEMS["persian"]):
        yield from _persian(folded)
    if has_any(text, _STEMS["recovery"]):
        yield from _recovery(folded)
    if has_any(text, _STEMS["seeds"]):
        yield from _seeds(folded)


def _english(folded: Folded) -> Iterator[Finding]:
    forms = _forms()
    for found in forms["english"].finditer(folded.text):
        if _told(folded, found, weak=found["weak"] is not None):
            yield seen(folded, "password", *_value_span(found))
    for found in forms["bare"].finditer(folded.text):
        if _mixed_value(folded.cased[slice(*found.span("value"))]):
            yield seen(folded, "password", *_value_span(found))


def _value_span(found: re.Match[str]) -> tuple[int, int]:
    start = found.start("value")
    return start, start + max(1, len(found["value"].rstrip(".,;:!?'*)]")))


def _told(folded: Folded, found: re.Match[str], *, weak: bool) -> bool:
    """Tell whether what follows `password is` is a password and not a description."""
    start, end = _value_span(found)
    value = folded.cased[start:end]
    if len(value) < 3 or _CODE.match(value) or _HOLDER.search(value):
        return False
    if _mixed_value(value):
        return True
    if weak:
        return False
    if value.isdigit():
        return len(value) >= 4
    return _passes_as_word(value.lower()) and bool(_CLAUSE_END.match(folded.text, end))


def _mixed_value(value: str) -> bool:
    """Tell whether a value is no word: letters with digits or signs, or case that changes."""
    value = value.rstrip(".,;:!?'*)]")
    if len(value) < 4 or _CODE.match(value) or _HOLDER.search(value):
        return False
    letters = any(c.isalpha() for c in value)
    if letters and any(c.isdigit() for c in value):
        return True
    signs = any(c in "!@#$%^&*+=~?" for c in value)
    inner_case = value[1:] != value[1:].lower() and not value.isupper()
    return letters and (signs or inner_case or _PASSPHRASE.fullmatch(value) is not None)


def _passes_as_word(word: str) -> bool:
    return word.isalpha() and word not in _DESCRIPTIONS and not _ENDINGS.search(word)


def _persian(folded: Folded) -> Iterator[Finding]:
    for found in _forms()["persian"].finditer(folded.text):
        start, end = _value_span(found)
        value = folded.cased[start:end]
        if "آ" <= folded.text[found.start() - 1 : found.start()] <= "ی":
            continue
        if _PERSIAN_NOT.search(found["gap"]) or _CODE.match(value) or _HOLDER.search(value):
            continue
        digits = value.replace("-", "").isdigit()
        if digits and end - start >= 3:
            yield seen(folded, "pin" if end - start <= 8 else "password", start, end)
        elif _mixed_value(value) or (value.isascii() and value.isalpha() and ":" in found["gap"]):
            yield seen(folded, "password", start, end)


def _recovery(folded: Folded) -> Iterator[Finding]:
    """Yield each code that follows `recovery codes`, while they last."""
    done = 0
    for named in _forms()["recovery"].finditer(folded.text):
        start, reach = max(done, named.end()), _REACH
        while code := _RECOVERY_CODE.search(folded.text, start, start + reach):
            start = done = code.end()
            if len(code[0]) >= 6 and not _DAY.fullmatch(code[0]):
                yield seen(folded, "recovery_code", *code.span())
                reach = _NEXT


def _seeds(folded: Folded) -> Iterator[Finding]:
    for named in _SEED.finditer(folded.text):
        found = _SEED_WORDS.search(folded.text, named.end(), named.end() + 400)
        if found is None or found.start() > named.end() + 60:
            continue
        if not _PROSE.intersection(re.findall("[a-z]+", found[0])):
            yield seen(folded, "seed_phrase", *found.span())
