"""How much a caller may ask for at once."""

from __future__ import annotations

from muniment.errors import InvalidInputError


def check_limit(limit: object, most: int) -> None:
    """Refuse a limit that is no whole number from 1 to `most`.

    Raises:
        InvalidInputError: It is none.
    """
    if type(limit) is not int or not 1 <= limit <= most:
        raise InvalidInputError(f"limit must be between 1 and {most}.")
