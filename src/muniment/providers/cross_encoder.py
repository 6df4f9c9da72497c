"""A cross-encoder of sentence-transformers as a reranker, in this process."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from muniment.errors import MissingExtraError
from muniment.providers.per_process import PerProcess
from muniment.providers.reranking import DEPTH, CheckedReranker

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder


class CrossEncoderReranker(CheckedReranker):
    """Any model that `sentence_transformers.CrossEncoder` loads; loaded on first use."""

    def __init__(self, model: str, *, depth: int = DEPTH) -> None:
        """Look for the package; the model is loaded, and perhaps fetched, on first use.

        Args:
            model: The model's name on the Hugging Face hub, or the path of its folder.
            depth: How many records it reads at a recall, at most.

        Raises:
            MissingExtraError: The package `sentence-transformers` is not installed.
            InvalidInputError: The name is blank, or the depth is not positive.
        """
        if importlib.util.find_spec("sentence_transformers") is None:
            raise MissingExtraError(
                "A cross-encoder needs the package sentence-transformers. "
                'Install it with: pip install "muniment[rerank]"'
            )
        super().__init__(model, self._read, depth=depth)

        def opened() -> CrossEncoder:
            from sentence_transformers import CrossEncoder

            return CrossEncoder(model)

        self._encoder = PerProcess(opened)

    def _read(self, query: str, texts: list[str]) -> object:
        pairs = [(query, text) for text in texts]
        return self._encoder.get().predict(pairs, show_progress_bar=False)
