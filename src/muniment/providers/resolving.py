"""Turns a function of the application into a resolver, and checks what it says."""

from __future__ import annotations

from collections.abc import Callable

from muniment.errors import ProviderError
from muniment.ports import Resolver
from muniment.providers.failures import provider_failure
from muniment.records import JSONValue
from muniment.rules.statement import checked_json


class CheckedResolver:
    """Asks a function, and takes only JSON for an answer.

    Args:
        ask: Returns the live value under a reference, or None; whatever it raises becomes a
            `ProviderError`.
    """

    def __init__(self, ask: Callable[[str], JSONValue]) -> None:
        self._ask = ask

    def resolve(self, reference: str) -> JSONValue:
        """Return the live value under a reference, or None when the system has none.

        Raises:
            ProviderError: It failed, or its answer is no JSON.
        """
        try:
            return checked_json("The live value", self._ask(reference))
        except ProviderError:
            raise
        except Exception as error:
            raise provider_failure(error, "The resolver") from None


def open_resolver(ask: Callable[[str], JSONValue] | None) -> Resolver | None:
    """Return the resolver of a function from a reference to a live value; None for none."""
    return None if ask is None else CheckedResolver(ask)
