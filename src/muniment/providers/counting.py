"""Turns a function of the application into a token counter, and checks what it says."""

from __future__ import annotations

from collections.abc import Callable
from operator import index

from muniment.errors import ProviderError
from muniment.providers.failures import provider_failure
from muniment.rules.packet import TokenCounter, count_tokens


def open_counter(count: Callable[[str], int] | None) -> TokenCounter:
    """Return a counter of a text's tokens that asks a function; a cautious estimate for None.

    Whatever the function raises, and whatever it answers but a whole number of 0 or more, becomes a
    `ProviderError`: without a count no budget can be kept.
    """
    if count is None:
        return count_tokens

    def counted(text: str) -> int:
        try:
            tokens = index(count(text))
        except ProviderError:
            raise
        except Exception as error:
            raise provider_failure(error, "The token counter") from None
        if tokens < 0:
            raise ProviderError("The token counter answered with less than 0 tokens.")
        return tokens

    return counted
