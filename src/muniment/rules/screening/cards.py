"""Payment cards: a number of an issuer's range that passes the Luhn check."""

from __future__ import annotations

import re
from functools import cache

from muniment.rules.screening.checksums import luhn, repeated

LENGTHS = range(13, 20)

_ISSUERS = (
    r"4\d{12}(?:\d{3}|\d{6})?"
    r"|(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}"
    r"|3[47]\d{13}|3(?:0[0-5]|[689]\d)\d{11}(?:\d\d)?|35(?:2[89]|[3-8]\d)\d{12,15}"
    r"|(?:6011|64[4-9]\d|65\d\d|62\d\d|81\d\d|220[0-5]|9792|508\d|60\d\d|82\d\d)\d{12,15}"
    r"|(?:5018|5020|5038|5893|6304|6759|676[1-3]|0604)\d{9,15}"
    r"|(?:50\d\d|58\d\d|606\d|61\d\d|62\d\d|63\d\d|991\d)\d{12}"
)
_RARE = re.compile(r"4\d{12}|4\d{18}|3\d{13}|(?:5018|5020|5038|5893|6304|6759|676|0604)\d{9,11}")


@cache
def _issuers() -> re.Pattern[str]:
    return re.compile(f"(?:{_ISSUERS})")


def issued(digits: str) -> bool:
    """Tell whether 13 to 19 digits are a card's number.

    Ranges of the international schemes, of Iran's banks (Shetab, 16 digits), UnionPay, Mir, RuPay,
    Troy and Verve. Source of the form and the check: ISO/IEC 7812-1.
    """
    return luhn(digits) and _issuers().fullmatch(digits) is not None and not repeated(digits)


def needs_context(digits: str) -> bool:
    """Tell whether numbers of this range and length are mostly something else than cards."""
    return _RARE.fullmatch(digits) is not None
