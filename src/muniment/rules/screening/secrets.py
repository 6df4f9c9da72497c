"""Keys, tokens and other secrets that a machine made: by their form, or by name and entropy."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from math import log2

from muniment.results import Finding
from muniment.rules.screening.folding import Folded
from muniment.rules.screening.seen import has_any, seen
from muniment.rules.screening.vocabulary import vocabulary

_SHORTEST_CHUNK = 12
_CHUNK = re.compile(rf"[^\s\"'`<>(),;«»]{{{_SHORTEST_CHUNK},}}")
_OPAQUE = re.compile(r"[A-Za-z0-9+/](?:[\w+/~.\-]|=(?=[=\s]|$)){11,}", re.ASCII)
_VENDORS = (
    r"(?:sk|rk)[-_](?:[A-Za-z0-9]+[-_])*+[A-Za-z0-9]{16,}|sk-[\w-]{20,}",
    r"(?:pk|sk|rk)_(?:live|test)_\w{16,}|whsec_[A-Za-z0-9+/=]{24,}",
    r"(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA|AGPA|ANPA)[A-Z0-9]{16}(?![A-Za-z0-9])",
    r"gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{22,}|gl(?:pat|dt|rt|ptt|soat)-[\w-]{20,}",
    r"xox[abeoprs]-[\w-]{10,}|xapp-[\w-]{10,}|hooks\.slack\.com/services/[\w/]{20,}",
    r"AIza[\w-]{30,}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{20,}|1//0[\w-]{30,}",
    r"\d{8,10}:AA[\w-]{32,}",
    r"SG\.[\w-]{16,}\.[\w-]{16,}|(?:AC|SK)[0-9a-f]{32}(?![A-Za-z0-9])",
    r"key-[0-9a-f]{32}|[0-9a-f]{32}-us\d{1,2}(?!\d)",
    r"npm_[A-Za-z0-9]{30,}|pypi-[\w-]{32,}|hf_[A-Za-z0-9]{30,}|do[opr]_v1_[0-9a-f]{60,}",
    r"dapi[0-9a-f]{32}|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}|sq0(?:atp|csp|idp)-[\w-]{22,}",
    r"[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}",
    r"hv[sbr]\.[\w-]{24,}|dp\.(?:pt|st|ct)\.[A-Za-z0-9]{40,}|gls?a_\w{30,}|glc_[\w+/=]{30,}",
    r"lin_api_\w{30,}|ntn_\w{30,}|gsk_\w{30,}|r8_\w{30,}|pplx-\w{30,}|xai-\w{40,}",
    r"nvapi-[\w-]{40,}",
    r"sbp_\w{36,}|pscale_\w+_[\w-]{30,}|figd_[\w-]{30,}|ATATT[\w=-]{40,}|PMAK-[\w-]{40,}",
    r"NRAK-\w{24,}|AGE-SECRET-KEY-1\w{40,}|EAA[A-Za-z0-9]{60,}|rubygems_[0-9a-f]{40,}",
)
_JWT = r"(?<![\w-])eyJ[\w-]{8,}+\.[\w-]{3,}+(?:\.[\w-]*+)?"
_BEARER = re.compile(
    r"bearer[\s:]{1,3}([\w.~+/=-]{12,})|authorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?"
    r"(?:basic|token|apikey|digest)\s{1,3}([\w.~+/=-]{12,})",
    re.ASCII,
)
_PEM = re.compile(r"-{2,}\s?BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY|PuTTY-User-Key-File", re.IGNORECASE)
_PEM_END = re.compile(r"-{2,}\s?END [A-Z0-9 ]{0,30}PRIVATE KEY[A-Z ]{0,8}-{0,5}", re.IGNORECASE)
_URL_LOGIN = re.compile(r"://([^\s:/@]{0,64}+):([^\s/@]{1,128}+)@[\w\[.-]", re.ASCII)
_ACCOUNT_KEY = re.compile(r"(?:AccountKey|SharedAccessKey|sig)=([\w+/=%-]{30,})", re.ASCII)
_HOLDER = re.compile(
    r"\A[<{\[(*$%]|(?i:your|my[-_]?pass|example|placeholder|changeme|change_me|redacted|dummy"
    r"|sample|insert|replace|todo|xxx)"
)
_TEMPLATE = re.compile(r"[<{\[($*]|%\(|%s\Z|%[A-Z_]+%|(?i:your|my[-_]?pass|example|x{3})")
_PLAIN_LOGIN = frozenset({"password", "pass", "pwd", "passwd", "user", "username", "secret", "pw"})
_NAMES = (
    "api key*|apikey*|secret*|access key*|access token*|auth token*|token*|private key*"
    "|credential*"
    "|encryption key*|signing key*|client secret*|app key*|consumer key*|auth key*|account key*"
    "|service key*|license key*|master key*|shared key*|key|webhook*|password*|passphrase*"
    "|کلید*|توکن*|رمز*|سکرت*|کد دسترسی*|پسورد*"
)
_NAME_STEMS = (
    *("key", "token", "secret", "credential", "pass", "webhook"),
    *("کلید", "توکن", "رمز", "سکرت", "دسترسی", "پسورد"),
)
_STEMS = ("private key", "putty-user", "bearer", "authorization", "://")
_DIGIT = re.compile(r"\d")
_SHORTEST_KEY = 16
_BEFORE = 48
_AFTER = 24
LOWEST_ENTROPY = 3.0


def may_occur(folded: Folded) -> bool:
    """Tell whether a text may hold one: a long run without a gap, or a word about a key."""
    longest = max(map(len, folded.cased.split()), default=0)
    return longest >= _SHORTEST_CHUNK or has_any(folded.text, _STEMS)


def secrets(folded: Folded) -> Iterator[Finding]:
    """Yield the machine-made secrets of a text."""
    text = folded.text
    if "private key" in text or "putty-user" in text:
        yield from _private_keys(folded)
    if "bearer" in text or "authorization" in text:
        yield from _bearers(folded)
    if "://" in text:
        yield from _url_logins(folded)
    chunks = [found.span() for found in _CHUNK.finditer(folded.cased)]
    if chunks:
        named = has_any(text, _NAME_STEMS)
        for start, end in chunks:
            yield from _vendor_tokens(folded, start, end)
            if named:
                yield from _named_tokens(folded, start, end)


def _private_keys(folded: Folded) -> Iterator[Finding]:
    done = 0
    for begin in _PEM.finditer(folded.cased):
        if begin.start() >= done:
            end = _PEM_END.search(folded.cased, begin.end())
            done = end.end() if end else len(folded.cased)
            yield seen(folded, "private_key", begin.start(), done)


def _bearers(folded: Folded) -> Iterator[Finding]:
    for found in _BEARER.finditer(folded.text):
        place = found.lastindex or 1
        if _mixed(found[place]) and not _HOLDER.search(found[place]):
            yield seen(folded, "access_token", *found.span(place))


def _url_logins(folded: Folded) -> Iterator[Finding]:
    for found in _URL_LOGIN.finditer(folded.cased):
        password = found[2]
        if password.lower() not in _PLAIN_LOGIN and not _TEMPLATE.match(password):
            yield seen(folded, "connection_string", *found.span(2))


@cache
def _vendor_forms() -> tuple[re.Pattern[str], re.Pattern[str]]:
    tokens = re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(_VENDORS)})", re.ASCII)
    return tokens, re.compile(_JWT, re.ASCII)


def _vendor_tokens(folded: Folded, start: int, end: int) -> Iterator[Finding]:
    cased = folded.cased
    if end - start < _SHORTEST_KEY or not _DIGIT.search(cased, start, end):
        return
    tokens, signed = _vendor_forms()
    for found in signed.finditer(cased, start, end):
        yield seen(folded, "access_token", *found.span())
    for found in tokens.finditer(cased, start, end):
        if _mixed(found[0]) and not _HOLDER.search(found[0]):
            yield seen(folded, "api_key", *found.span())
    for found in _ACCOUNT_KEY.finditer(cased, start, end):
        yield seen(folded, "api_key", *found.span(1))


def _named_tokens(folded: Folded, first: int, last: int) -> Iterator[Finding]:
    """Yield opaque tokens beside a word such as `key` or `token`."""
    cased, names = folded.cased, vocabulary(_NAMES)
    for found in _OPAQUE.finditer(cased, first, last):
        start, end = found.span()
        if cased[end : end + 1] == "(" or not _opaque(found[0]):
            continue
        line = cased.rfind("\n", 0, start) + 1
        after = cased.find("\n", end, end + _AFTER)
        if names.within(folded.text, max(line, start - _BEFORE), start) or names.within(
            folded.text, end, after if after >= 0 else end + _AFTER
        ):
            yield seen(folded, "high_entropy_secret", start, end)


def _mixed(token: str) -> bool:
    return any(c.isdigit() for c in token) and any(c.isalpha() for c in token)


_RESOURCE = re.compile(r"(?:sg|subnet|vpc|ami|i|vol|eni|rtb|igw|snap|arn|sha256|sha1|md5)[-:]")
_WORDY = re.compile(r"[A-Za-z]{1,32}+(?:[-_./][A-Za-z]{0,32}+)*+[-_.]?[vV]?\d{0,4}", re.ASCII)
_ADDRESS = re.compile(r"(?:https?:|www\.|[\w-]+\.(?:com|org|net|io|py|js|json|html?|md)\b)|/.*/")


def _opaque(token: str) -> bool:
    """Tell whether a token looks drawn at random: mixed, of high entropy, not words or a path."""
    head = token[:256]
    if len(head) < 12 or not _mixed(head) or _HOLDER.search(head):
        return False
    if _WORDY.fullmatch(head) or _ADDRESS.match(head) or _RESOURCE.match(head):
        return False
    return entropy(head) >= LOWEST_ENTROPY and _switches(head) >= 3


def _switches(token: str) -> int:
    """Return how often a token changes between letters and digits, or the case of letters."""
    kinds = [2 if c.isdigit() else c.isupper() for c in token if c.isalnum()]
    return sum(a != b for a, b in pairwise(kinds))


def entropy(token: str) -> float:
    """Return the Shannon entropy of a token, in bits a character."""
    size = len(token)
    return -sum(n / size * log2(n / size) for n in Counter(token).values())
