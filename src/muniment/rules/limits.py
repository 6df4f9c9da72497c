"""How much a caller may ask for at once."""

from __future__ import annotations

from collections.abc import Collection

from muniment.errors import InvalidInputError


def check_limit(limit: object, most: int) -> None:
    """Refuse a limit that is no whole number from 1 to `most`.

    Raises:
        InvalidInputError: It is none.
    """
    if type(limit) is not int or not 1 <= limit <= most:
        raise InvalidInputError(f"limit must be between 1 and {most}.")


def check_choice(name: str, value: object, allowed: Collection[str]) -> str:
    """Return a word that is one of the allowed ones.

    Raises:
        InvalidInputError: It is not.
    """
    if not isinstance(value, str) or value not in allowed:
        raise InvalidInputError(f"{name} must be one of: {', '.join(allowed)}.")
    return value
