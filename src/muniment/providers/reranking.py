"""Turns what a caller names or passes into a reranker, and checks what a reranker says."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from muniment.errors import InvalidInputError, ProviderError
from muniment.providers.failures import provider_failure

if TYPE_CHECKING:
    from muniment.ports import Reranker

DEPTH = 50
Ask: TypeAlias = Callable[[str, list[str]], object]

_ALLOWED = (
    "none, http:MODEL, tei, cross-encoder:MODEL, an object with rerank or predict, or a function "
    "from a question and texts to numbers"
)


class CheckedReranker:
    """Asks someone else, and takes only one finite number a text for an answer."""

    def __init__(self, name: str, ask: Ask, *, depth: int = DEPTH) -> None:
        """Set whom to ask.

        Args:
            name: What the trace calls it.
            ask: Returns one number a text; whatever it raises becomes a `ProviderError`.
            depth: How many records it is shown at a recall, at most.

        Raises:
            InvalidInputError: The name is blank, or the depth is not positive.
        """
        if not name.strip():
            raise InvalidInputError("The reranker needs a name.")
        if type(depth) is not int or depth < 1:
            raise InvalidInputError("The depth of a reranker must be at least 1.")
        self._name = name
        self._ask = ask
        self._depth = depth

    @property
    def name(self) -> str:
        """What the trace calls it."""
        return self._name

    @property
    def depth(self) -> int:
        """How many records it is shown at a recall, at most."""
        return self._depth

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one finite number a text, in order; higher is better.

        Raises:
            ProviderError: It failed, or did not say something of every text.
        """
        if not texts:
            return []
        try:
            said = [float(score) for score in cast("Any", self._ask(query, list(texts)))]
        except ProviderError:
            raise
        except Exception as error:
            raise provider_failure(error, f"The reranker {self._name}") from None
        if len(said) != len(texts) or not all(map(math.isfinite, said)):
            raise ProviderError(
                f"The reranker {self._name} answered {len(texts)} texts with {len(said)} scores, "
                "or one is no finite number.",
                texts=len(texts),
                scores=len(said),
            )
        return said


def open_reranker(spec: object) -> Reranker | None:
    """Return the reranker that a specification stands for. Loads nothing heavy.

    ======================= ========================================================================
    None, `"none"`          No reranker.
    `"http:MODEL"`          A `/rerank` endpoint as of Cohere, Jina, vLLM, llama.cpp or Infinity,
                            configured by `MUNIMENT_RERANKER_BASE_URL` and
                            `MUNIMENT_RERANKER_API_KEY`.
    `"tei"`                 The `/rerank` endpoint of Text Embeddings Inference, likewise.
    `"cross-encoder:MODEL"` A cross-encoder of sentence-transformers, in this process.
    a `rerank` object       Itself, checked; its `name` and `depth` are used where it has them.
    a `predict` object      A sentence-transformers cross-encoder, wrapped.
    a function              From a question and a list of texts to as many numbers, wrapped.
    ======================= ========================================================================

    Raises:
        InvalidInputError: The specification is none of these, or its endpoint is not configured.
        MissingExtraError: It needs an extra that is not installed; the message names it.
    """
    if spec is None or (isinstance(spec, str) and spec == "none"):
        return None
    if isinstance(spec, str):
        return _named(spec)
    name = getattr(spec, "name", None)
    called = name if isinstance(name, str) and name.strip() else _class_name(spec)
    given: Any = spec
    if hasattr(spec, "rerank"):
        return CheckedReranker(called, given.rerank, depth=getattr(spec, "depth", DEPTH))
    if hasattr(spec, "predict"):
        return CheckedReranker(
            called, lambda query, texts: given.predict([(query, text) for text in texts])
        )
    if callable(spec):
        return CheckedReranker(called, spec)
    raise InvalidInputError(f"{type(spec).__name__} is not a reranker. Allowed: {_ALLOWED}.")


def _class_name(spec: object) -> str:
    return str(getattr(spec, "__qualname__", type(spec).__qualname__))


def _named(spec: str) -> Reranker:
    scheme, _, model = spec.partition(":")
    if spec == "tei" or (scheme == "http" and model.strip()):
        from muniment.providers.http_reranking import HTTPReranker

        return HTTPReranker(model, takes="texts" if spec == "tei" else "documents")
    if scheme == "cross-encoder" and model.strip():
        from muniment.providers.cross_encoder import CrossEncoderReranker

        return CrossEncoderReranker(model)
    raise InvalidInputError(f"Unknown reranker. Allowed: {_ALLOWED}.")
