"""Turns what a caller names or passes into an embedder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from muniment.errors import InvalidInputError

if TYPE_CHECKING:
    from muniment.ports import Embedder

EmbedderSpec: TypeAlias = "str | Embedder | Callable[[Any], object] | object | None"

_ALLOWED = (
    "none, auto, local, openai:MODEL, azure:DEPLOYMENT, an embedder, a sentence-transformers "
    "object, or a function from texts to vectors"
)
_CHARACTERS_A_TOKEN = 2


def open_embedder(
    spec: EmbedderSpec, *, name: str | None = None, version: str | None = None
) -> Embedder | None:
    """Return the embedder that a specification stands for. Loads nothing heavy.

    ===================== ==========================================================================
    None, `"none"`        No embedder; recall is by words only.
    `"auto"`              The built-in one if the extra `local` is installed, else none.
    `"local"`             The built-in one.
    `"openai:MODEL"`      An OpenAI-compatible endpoint, configured by `MUNIMENT_EMBEDDING_BASE_URL`
                          and `MUNIMENT_EMBEDDING_API_KEY` (or `OPENAI_…`).
    `"azure:DEPLOYMENT"`  Azure OpenAI, configured by `AZURE_OPENAI_ENDPOINT`,
                          `AZURE_OPENAI_API_KEY` and `OPENAI_API_VERSION`.
    an `Embedder`         Itself, and what it answers is checked.
    `.encode` object      A sentence-transformers model, wrapped.
    a function            From a list of texts to as many vectors, wrapped.
    ===================== ==========================================================================

    Args:
        spec: One of the above.
        name: Name of the model of a wrapped object or function; otherwise what it calls itself.
        version: Its version. Give another one whenever its vectors change. `"1"` by default.

    Raises:
        InvalidInputError: The specification is none of these, or its endpoint is not configured.
        MissingExtraError: It needs an extra that is not installed; the message names it.
    """
    if spec is None:
        return None
    if isinstance(spec, str):
        return _named(spec)
    if hasattr(spec, "embed_passages") and hasattr(spec, "embed_query"):
        return _checked(cast("Embedder", spec))
    if hasattr(spec, "encode"):
        return _encoder(spec, spec.encode, name, version)
    if callable(spec):
        from muniment.providers.checked_embedder import CallableEmbedder

        return CallableEmbedder(spec, name=name or _function_name(spec), version=version or "1")
    raise InvalidInputError(f"{type(spec).__name__} is not an embedder. Allowed: {_ALLOWED}.")


def _checked(embedder: Embedder) -> Embedder:
    from muniment.providers.checked_embedder import CheckedEmbedder
    from muniment.providers.local_embedding import LocalEmbedder
    from muniment.providers.own_embedder import OwnEmbedder

    is_ours = isinstance(embedder, CheckedEmbedder | LocalEmbedder | OwnEmbedder)
    return embedder if is_ours else OwnEmbedder(embedder)


def _named(spec: str) -> Embedder | None:
    scheme, _, model = spec.partition(":")
    if spec == "none":
        return None
    if spec in ("auto", "local"):
        from muniment.providers.local_embedding import LocalEmbedder, local_installed

        return None if spec == "auto" and not local_installed() else LocalEmbedder()
    if scheme == "openai" and model.strip():
        from muniment.providers.http_embedding import OpenAIEmbedder

        return OpenAIEmbedder(model)
    if scheme == "azure" and model.strip():
        from muniment.providers.http_embedding import AzureOpenAIEmbedder

        return AzureOpenAIEmbedder(model)
    raise InvalidInputError(f"Unknown embedder. Allowed: {_ALLOWED}.")


def _encoder(
    encoder: object,
    encode: Callable[[Sequence[str]], object],
    name: str | None,
    version: str | None,
) -> Embedder:
    from muniment.providers.checked_embedder import CallableEmbedder

    window = getattr(encoder, "max_seq_length", None)
    return CallableEmbedder(
        getattr(encoder, "encode_document", encode),
        query_function=getattr(encoder, "encode_query", encode),
        name=name or _encoder_name(encoder),
        version=version or "1",
        max_characters=_CHARACTERS_A_TOKEN * window if isinstance(window, int) else None,
    )


def _encoder_name(encoder: object) -> str:
    card = getattr(encoder, "model_card_data", None)
    for holder, attribute in (
        (card, "model_id"),
        (card, "base_model"),
        (encoder, "name_or_path"),
        (encoder, "model_name"),
    ):
        named = getattr(holder, attribute, None)
        if isinstance(named, str) and named.strip():
            return named
    raise InvalidInputError(
        f"This {type(encoder).__name__} does not say which model it is; pass its name and version, "
        "so that its vectors are never compared with those of another model."
    )


def _function_name(function: Callable[..., object]) -> str:
    kind = type(function)
    module = getattr(function, "__module__", None) or kind.__module__
    return f"{module}.{getattr(function, '__qualname__', kind.__qualname__)}"
