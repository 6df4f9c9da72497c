"""Embedders behind an OpenAI-compatible `/embeddings` endpoint or an Azure OpenAI deployment."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Unpack

from muniment.errors import ProviderError
from muniment.providers.checked_embedder import Answered, CheckedEmbedder, EmbedderOptions
from muniment.providers.openai_sdk import APIKey, azure_client, openai_client

if TYPE_CHECKING:
    from openai import OpenAI

    from muniment.providers.per_process import PerProcess

_MAX_CHARACTERS = 8000


class _SDKEmbedder(CheckedEmbedder):
    """Asks through a client of the `openai` package."""

    def __init__(self, name: str, client: PerProcess[OpenAI], options: EmbedderOptions) -> None:
        super().__init__(name, self._ask, {"max_characters": _MAX_CHARACTERS, **options})
        self._client = client
        prefix = options.get("passage_prefix", "")
        self._mark = f"+{hashlib.sha256(prefix.encode()).hexdigest()[:8]}" if prefix else ""

    def _ask(self, texts: list[str]) -> Answered:
        given: dict[str, Any] = {}
        if self._dimensions is not None:
            given["dimensions"] = self._dimensions
        answer = self._client.get().embeddings.create(
            input=texts, model=self._name, encoding_format="float", **given
        )
        rows = {item.index: item.embedding for item in answer.data}
        if len(answer.data) != len(texts) or set(rows) != set(range(len(texts))):
            raise ProviderError(
                f"The embedder {self._name} answered {len(texts)} texts with {len(answer.data)} "
                "vectors, or numbered them wrongly.",
                texts=len(texts),
                vectors=len(answer.data),
            )
        named = getattr(answer, "model", None)
        version = named if isinstance(named, str) and named else "unversioned"
        return Answered([rows[place] for place in range(len(texts))], version + self._mark)


class OpenAIEmbedder(_SDKEmbedder):
    """Any OpenAI-compatible embeddings endpoint. Nothing is asked of it before the first use.

    Without a given version, the model as the endpoint names it in its answers is the version (with
    a mark for a passage prefix), and it must stay the same.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: APIKey | None = None,
        timeout: float = 30.0,
        max_retries: int = 2,
        **options: Unpack[EmbedderOptions],
    ) -> None:
        """Configure the endpoint.

        Args:
            model: The model's name at the endpoint.
            base_url: The endpoint; otherwise `MUNIMENT_EMBEDDING_BASE_URL`, `OPENAI_BASE_URL`, or
                OpenAI itself.
            api_key: The key; otherwise `MUNIMENT_EMBEDDING_API_KEY` or `OPENAI_API_KEY`.
            timeout: Seconds a request may take.
            max_retries: How often the SDK repeats a request that failed in a passing way.
            **options: See `EmbedderOptions`. Given dimensions are asked of the endpoint; texts
                longer than 8,000 characters are embedded in parts.

        Raises:
            MissingExtraError: The package `openai` is not installed.
            InvalidInputError: No endpoint is configured, or an option is out of range.
        """
        client = openai_client(
            "EMBEDDING",
            base_url=base_url,
            api_key=api_key,
            timeout=timeout,
            max_retries=max_retries,
        )
        super().__init__(model, client, options)


class AzureOpenAIEmbedder(_SDKEmbedder):
    """An embeddings deployment of Azure OpenAI. Nothing is asked of it before the first use."""

    def __init__(
        self,
        deployment: str,
        *,
        endpoint: str | None = None,
        api_key: APIKey | None = None,
        api_version: str | None = None,
        timeout: float = 30.0,
        max_retries: int = 2,
        **options: Unpack[EmbedderOptions],
    ) -> None:
        """Configure the deployment.

        Args:
            deployment: Name of the deployment.
            endpoint: `https://….openai.azure.com`; otherwise `AZURE_OPENAI_ENDPOINT`.
            api_key: A key, or a function that returns a Microsoft Entra token; otherwise
                `AZURE_OPENAI_API_KEY`.
            api_version: Version of the interface; otherwise `OPENAI_API_VERSION`.
            timeout: Seconds a request may take.
            max_retries: How often the SDK repeats a request that failed in a passing way.
            **options: As for `OpenAIEmbedder`.

        Raises:
            MissingExtraError: The package `openai` is not installed.
            InvalidInputError: The endpoint, key or interface version is missing.
        """
        client = azure_client(
            deployment,
            endpoint=endpoint,
            api_key=api_key,
            api_version=api_version,
            timeout=timeout,
            max_retries=max_retries,
        )
        super().__init__(deployment, client, options)
