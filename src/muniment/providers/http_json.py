"""One JSON request over HTTP: bounded in time, size and repeats, and never redirected."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from email.message import Message
from typing import TYPE_CHECKING
from urllib.error import HTTPError, URLError
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    UnknownHandler,
)

from muniment.errors import InvalidInputError, ProviderError

if TYPE_CHECKING:
    from muniment.records import JSONValue

_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
_LARGEST = 16 * 1024 * 1024
_LONGEST_WAIT = 5.0
_FIRST_WAIT = 0.25


_HANDLERS = (
    ProxyHandler,
    HTTPHandler,
    HTTPSHandler,
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    UnknownHandler,
)
"""All of the standard library's but the one that follows redirects: the key and the texts are for
the endpoint that was named."""


class JSONEndpoint:
    """An address that takes JSON and answers with JSON. Threads may share it.

    Args:
        name: Whose it is, for errors.
        url: The address.
        key: Sent as a bearer token; None for none.
        timeout: Seconds without an answer, after which a request has failed.
        max_retries: How often a request that failed in a passing way is repeated.

    Raises:
        InvalidInputError: The address is not of HTTP, or a number is out of range.
    """

    def __init__(
        self, name: str, url: str, *, key: str | None, timeout: float, max_retries: int
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise InvalidInputError(
                "The address of an endpoint must begin with http:// or https://."
            )
        if not timeout > 0 or max_retries < 0:
            raise InvalidInputError("timeout must be above 0, and max_retries 0 or more.")
        self._name = name
        self._url = url
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"
        self._timeout = timeout
        self._retries = max_retries
        self._opener = OpenerDirector()
        for handler in _HANDLERS:
            self._opener.add_handler(handler())

    def post(self, body: Mapping[str, JSONValue]) -> JSONValue:
        """Return the answer to a body.

        Raises:
            ProviderError: The endpoint cannot be reached, refused, or answered with no JSON.
        """
        sent = json.dumps(body).encode()
        for attempt in range(self._retries + 1):
            try:
                return self._answer(sent)
            except HTTPError as error:
                error.close()
                if error.code not in _PASSING or attempt == self._retries:
                    raise ProviderError(
                        f"{self._name} answered with HTTP status {error.code}.", status=error.code
                    ) from None
                wait = _asked_wait(error.headers)
            except (URLError, OSError) as error:
                if attempt == self._retries:
                    reason = getattr(error, "reason", None) or error
                    raise ProviderError(
                        f"{self._name} cannot be reached: {type(reason).__name__}.",
                        cause=type(reason).__name__,
                    ) from None
                wait = None
            time.sleep(min(_FIRST_WAIT * 2**attempt if wait is None else wait, _LONGEST_WAIT))
        raise AssertionError("the last attempt returns or raises")

    def _answer(self, sent: bytes) -> JSONValue:
        request = Request(self._url, data=sent, headers=self._headers, method="POST")  # noqa: S310 - checked above
        with self._opener.open(request, timeout=self._timeout) as response:
            received = response.read(_LARGEST + 1)
        if len(received) > _LARGEST:
            raise ProviderError(f"{self._name} answered with more than 16 MiB.")
        try:
            answer: JSONValue = json.loads(received)
        except ValueError:
            raise ProviderError(f"{self._name} answered with no JSON.") from None
        return answer


def _asked_wait(headers: Message) -> float | None:
    """Return for how many seconds an endpoint asks to wait, if it says so in numbers."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        given = headers.get(name, "")
        if given.isdecimal():
            return int(given) * unit
    return None
