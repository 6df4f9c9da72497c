"""Language models behind an OpenAI-compatible endpoint or an Azure OpenAI deployment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, cast, get_args

from muniment.errors import InvalidInputError, ProviderError
from muniment.ports import LanguageModel, ModelReply
from muniment.providers.failures import provider_failure
from muniment.providers.openai_sdk import APIKey, azure_client, openai_client

if TYPE_CHECKING:
    from openai import OpenAI

    from muniment.providers.per_process import PerProcess

ModelAPI: TypeAlias = Literal["responses", "chat"]
"""Which interface of the endpoint is used: the Responses API, or chat completions."""

_ALLOWED = "openai:MODEL, chat:MODEL, azure:DEPLOYMENT, azure-chat:DEPLOYMENT, or a model object"


class _SDKModel:
    """Asks through a client of the `openai` package."""

    def __init__(self, model: str, client: PerProcess[OpenAI], api: ModelAPI) -> None:
        if not model.strip():
            raise InvalidInputError("The language model needs a name.")
        if api not in get_args(ModelAPI):
            raise InvalidInputError("api must be responses or chat.")
        self._model = model
        self._client = client
        self._ask = self._by_responses if api == "responses" else self._by_chat

    def respond(self, *, instructions: str, prompt: str) -> ModelReply:
        """Return the model's answer. The endpoint is told to store nothing.

        Args:
            instructions: Rules of the application; sent as instructions or as the system message.
            prompt: The user's turn.

        Raises:
            ProviderError: The endpoint failed or answered with nothing.
        """
        try:
            text, named = self._ask(instructions, prompt)
        except ProviderError:
            raise
        except Exception as error:
            raise provider_failure(error, f"The model {self._model}") from None
        if not isinstance(text, str) or not text.strip():
            raise ProviderError(f"The model {self._model} answered with nothing.")
        return ModelReply(text, named if isinstance(named, str) and named else self._model)

    def _by_responses(self, instructions: str, prompt: str) -> tuple[object, object]:
        answer = self._client.get().responses.create(
            model=self._model, instructions=instructions, input=prompt, store=False
        )
        if answer.status in ("failed", "cancelled"):
            raise ProviderError(f"The model {self._model} did not finish: {answer.status}.")
        return answer.output_text, answer.model

    def _by_chat(self, instructions: str, prompt: str) -> tuple[object, object]:
        answer = self._client.get().chat.completions.create(
            model=self._model,
            messages=[
                {"role": "system", "content": instructions},
                {"role": "user", "content": prompt},
            ],
            store=False,
        )
        return answer.choices[0].message.content if answer.choices else None, answer.model


class OpenAIModel(_SDKModel):
    """Any OpenAI-compatible endpoint. Nothing is asked of it before the first use."""

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: APIKey | None = None,
        api: ModelAPI = "responses",
        timeout: float = 120.0,
        max_retries: int = 2,
    ) -> None:
        """Configure the endpoint.

        Args:
            model: The model's name at the endpoint.
            base_url: The endpoint; otherwise `MUNIMENT_MODEL_BASE_URL`, `OPENAI_BASE_URL`, or
                OpenAI itself.
            api_key: The key; otherwise `MUNIMENT_MODEL_API_KEY` or `OPENAI_API_KEY`.
            api: `responses`, or `chat` for endpoints without the Responses API.
            timeout: Seconds a request may take.
            max_retries: How often the SDK repeats a request that failed in a passing way.

        Raises:
            MissingExtraError: The package `openai` is not installed.
            InvalidInputError: No endpoint is configured, or an argument is not allowed.
        """
        client = openai_client(
            "MODEL", base_url=base_url, api_key=api_key, timeout=timeout, max_retries=max_retries
        )
        super().__init__(model, client, api)


class AzureOpenAIModel(_SDKModel):
    """A deployment of Azure OpenAI. Nothing is asked of it before the first use."""

    def __init__(
        self,
        deployment: str,
        *,
        endpoint: str | None = None,
        api_key: APIKey | None = None,
        api_version: str | None = None,
        api: ModelAPI = "responses",
        timeout: float = 120.0,
        max_retries: int = 2,
    ) -> None:
        """Configure the deployment.

        Args:
            deployment: Name of the deployment.
            endpoint: `https://….openai.azure.com`; otherwise `AZURE_OPENAI_ENDPOINT`.
            api_key: A key, or a function that returns a Microsoft Entra token; otherwise
                `AZURE_OPENAI_API_KEY`.
            api_version: Version of the interface; otherwise `OPENAI_API_VERSION`.
            api: `responses`, or `chat` for an older interface version.
            timeout: Seconds a request may take.
            max_retries: How often the SDK repeats a request that failed in a passing way.

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
        super().__init__(deployment, client, api)


def open_model(spec: str | LanguageModel | object | None) -> LanguageModel | None:
    """Return the language model that a specification stands for. Loads nothing heavy.

    ======================== =======================================================================
    None, `"none"`           No model.
    `"openai:MODEL"`         The Responses API of OpenAI or a compatible endpoint, configured by
                             `MUNIMENT_MODEL_BASE_URL` and `MUNIMENT_MODEL_API_KEY` (or `OPENAI_…`).
    `"chat:MODEL"`           The same with chat completions, which more endpoints understand.
    `"azure:DEPLOYMENT"`     Azure OpenAI, configured by `AZURE_OPENAI_ENDPOINT`,
                             `AZURE_OPENAI_API_KEY` and `OPENAI_API_VERSION`; Responses API.
    `"azure-chat:DEPLOYMENT"` The same with chat completions.
    a `LanguageModel`        Itself.
    ======================== =======================================================================

    Raises:
        InvalidInputError: The specification is none of these, or its endpoint is not configured.
        MissingExtraError: The package `openai` is not installed.
    """
    if spec is None or (isinstance(spec, str) and spec == "none"):
        return None
    if not isinstance(spec, str):
        if callable(getattr(spec, "respond", None)):
            return cast(LanguageModel, spec)
        raise InvalidInputError(f"{type(spec).__name__} is not a model. Allowed: {_ALLOWED}.")
    scheme, _, model = spec.partition(":")
    if model.strip():
        match scheme:
            case "openai":
                return OpenAIModel(model)
            case "chat":
                return OpenAIModel(model, api="chat")
            case "azure":
                return AzureOpenAIModel(model)
            case "azure-chat":
                return AzureOpenAIModel(model, api="chat")
    raise InvalidInputError(f"Unknown model. Allowed: {_ALLOWED}, or none.")
