"""Names of users and documents as labels of a LangGraph namespace."""

from __future__ import annotations

import re

from muniment.errors import InvalidInputError

_TAKEN = re.compile(r"[%.\x00]")


def encode_label(text: str) -> str:
    """Return any text, such as an e-mail address, as one label of a namespace.

    LangGraph allows neither `.` nor NUL in a label. Both, and `%`, are written as `%` and two
    hexadecimal digits; every other text stays as it is. Two texts never share a label.

    Raises:
        InvalidInputError: The text is empty.
    """
    if not text:
        raise InvalidInputError("A label must not be empty.")
    return _TAKEN.sub(lambda match: f"%{ord(match[0]):02X}", text)


def decode_label(label: str) -> str:
    """Return the text that `encode_label` made a label of."""
    return re.sub(r"%(25|2E|00)", lambda match: chr(int(match[1], 16)), label)
