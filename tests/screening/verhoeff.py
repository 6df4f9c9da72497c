"""The Verhoeff check digit, for the generators."""

from __future__ import annotations

_PRODUCT = [
    "0123456789",
    "1234067895",
    "2340178956",
    "3401289567",
    "4012395678",
    "5987604321",
    "6598710432",
    "7659821043",
    "8765932104",
    "9876543210",
]
_ORDER = [
    "0123456789",
    "1576283094",
    "5803796142",
    "8916043527",
    "9453126870",
    "4286573901",
    "2793806415",
    "7046913258",
]
_INVERSE = "0432156789"


def verhoeff_digit(number: str) -> str:
    """Return the digit that completes a number."""
    state = 0
    for place, digit in enumerate(reversed(number), start=1):
        state = int(_PRODUCT[state][int(_ORDER[place % 8][int(digit)])])
    return _INVERSE[state]
