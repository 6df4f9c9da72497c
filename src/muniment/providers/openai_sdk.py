"""Opens clients of the `openai` package, the same way for embeddings and for answers."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from muniment.errors import InvalidInputError, MissingExtraError
from muniment.providers.environment import environment
from muniment.providers.per_process import PerProcess

if TYPE_CHECKING:
    from openai import OpenAI

APIKey: TypeAlias = str | Callable[[], str]
"""A key, or a function that returns a fresh one for each request."""

_NO_KEY = "not-needed"


def openai_client(
    purpose: str,
    *,
    base_url: str | None,
    api_key: APIKey | None,
    timeout: float,
    max_retries: int,
) -> PerProcess[OpenAI]:
    """Return the client of an OpenAI-compatible endpoint, opened on first use.

    Args:
        purpose: `EMBEDDING` or `MODEL`; names the variables `MUNIMENT_<purpose>_BASE_URL` and
            `MUNIMENT_<purpose>_API_KEY`, which come before `OPENAI_BASE_URL` and `OPENAI_API_KEY`.
        base_url: Overrides the environment.
        api_key: Overrides the environment. An endpoint other than OpenAI's may need none.
        timeout: Seconds a request may take.
        max_retries: How often the SDK repeats a request that failed in a passing way.

    Raises:
        MissingExtraError: The package `openai` is not installed.
        InvalidInputError: Neither a key nor an endpoint is configured.
    """
    _require_sdk()
    url = base_url or environment(f"MUNIMENT_{purpose}_BASE_URL", "OPENAI_BASE_URL")
    key = api_key or environment(f"MUNIMENT_{purpose}_API_KEY", "OPENAI_API_KEY")
    if key is None and url is None:
        raise InvalidInputError(
            f"No endpoint is configured. Set MUNIMENT_{purpose}_API_KEY or OPENAI_API_KEY for "
            f"OpenAI, or MUNIMENT_{purpose}_BASE_URL for a compatible endpoint."
        )

    def opened() -> OpenAI:
        from openai import OpenAI

        return OpenAI(
            base_url=url, api_key=key or _NO_KEY, timeout=timeout, max_retries=max_retries
        )

    return PerProcess(opened)


def azure_client(
    deployment: str,
    *,
    endpoint: str | None,
    api_key: APIKey | None,
    api_version: str | None,
    timeout: float,
    max_retries: int,
) -> PerProcess[OpenAI]:
    """Return the client of an Azure OpenAI deployment, opened on first use.

    Args:
        deployment: Name of the deployment.
        endpoint: `https://….openai.azure.com`; otherwise `AZURE_OPENAI_ENDPOINT`.
        api_key: A key, or a function that returns a Microsoft Entra token; otherwise
            `AZURE_OPENAI_API_KEY`.
        api_version: Version of the interface; otherwise `OPENAI_API_VERSION`.
        timeout: Seconds a request may take.
        max_retries: How often the SDK repeats a request that failed in a passing way.

    Raises:
        MissingExtraError: The package `openai` is not installed.
        InvalidInputError: The endpoint, the key or the version is missing.
    """
    _require_sdk()
    url = endpoint or environment("AZURE_OPENAI_ENDPOINT")
    key = api_key or environment("AZURE_OPENAI_API_KEY")
    version = api_version or environment("OPENAI_API_VERSION")
    if url is None or key is None or version is None:
        raise InvalidInputError(
            "Azure needs AZURE_OPENAI_ENDPOINT, AZURE_OPENAI_API_KEY and OPENAI_API_VERSION, "
            "or the arguments endpoint, api_key and api_version."
        )

    def opened() -> OpenAI:
        from openai import AzureOpenAI

        return AzureOpenAI(
            azure_endpoint=url,
            azure_deployment=deployment,
            api_version=version,
            api_key=key if isinstance(key, str) else None,
            azure_ad_token_provider=None if isinstance(key, str) else key,
            timeout=timeout,
            max_retries=max_retries,
        )

    return PerProcess(opened)


def _require_sdk() -> None:
    if importlib.util.find_spec("openai") is None:
        raise MissingExtraError(
            "OpenAI-compatible endpoints need the package openai. "
            'Install it with: pip install "muniment[openai]"'
        )
