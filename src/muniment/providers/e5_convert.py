"""Builds the 8-bit ONNX graph of the built-in embedder from its weights, in a fraction of a second.

The graph takes the sum of token, position and type vectors of one unpadded text and returns the
mean of the last layer. Weights become 8-bit integers with one scale an output; what flows between
layers is quantised as it is computed. Weights keep to ±64, so that sums of two products fit 16 bits
and a processor without 8-bit dot products computes the same. The few inner channels whose weights
exceed the others many times over, and which carry activations as large, stay in float32: Dettmers
et al., *LLM.int8()* (NeurIPS 2022).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from muniment.providers.onnx_model import OnnxModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from muniment.providers.e5_weights import E5Weights

CONVERTER_VERSION = "1"

_FUSED = "com.microsoft"
_LIMIT = 64
_OUTLIER = 12


def convert(weights: E5Weights) -> bytes:
    """Return the serialised ONNX graph.

    Its input `vectors` has the shape (1, tokens, width); its output, the mean over the tokens,
    (1, width) and any length.
    """
    return _Encoder(weights).serialised()


class _Encoder:
    """The network as a graph under construction."""

    def __init__(self, weights: E5Weights) -> None:
        self._weights = weights
        self._sizes = weights.architecture
        self._graph = OnnxModel("multilingual-e5-small", {"": 21, _FUSED: 1})

    def serialised(self) -> bytes:
        """Return the whole network."""
        scale, shift = self._floats("emb.ln.w"), self._floats("emb.ln.b")
        flow = self._graph.node(
            "LayerNormalization",
            ["vectors", scale, shift],
            axis=-1,
            epsilon=self._sizes.epsilon,
        )
        for layer in range(self._sizes.layers):
            flow = self._layer(f"l{layer}.", flow)
        axes = self._graph.constant("axes", np.array([1], np.int64))
        mean = self._graph.node("ReduceMean", [flow, axes], keepdims=0)
        width = self._sizes.width
        return self._graph.serialised({"vectors": [1, "tokens", width]}, {mean: [1, width]})

    def _layer(self, name: str, flow: str) -> str:
        attended = self._product(self._attention(name, flow), name + "ao", self._sizes.width)
        flow = self._added(attended, flow, [name + part for part in ("aln.w", "aln.b", "ao.b")])
        inner = self._product(flow, name + "fi", self._sizes.width)
        inner = self._graph.node("BiasGelu", [inner, self._floats(name + "fi.b")], _FUSED)
        outer = self._product(inner, name + "fo", self._sizes.feed_forward)
        return self._added(outer, flow, [name + part for part in ("oln.w", "oln.b", "fo.b")])

    def _attention(self, name: str, flow: str) -> str:
        parts = [f"{name}{part}" for part in "qkv"]
        width = self._sizes.width
        matrix = np.concatenate([self._weights.matrix(f"{part}.w", width) for part in parts]).T
        bias = np.concatenate([self._weights.floats(f"{part}.b") for part in parts])
        stored, scale, zero = self._quantised(name + "qkv", matrix)
        small, small_scale, small_zero = self._graph.node_with("DynamicQuantizeLinear", [flow], 3)
        given_bias = self._graph.constant(name + "qkv.bias", bias)
        return self._graph.node(
            "QAttention",
            [small, stored, given_bias, small_scale, scale, "", small_zero, zero],
            _FUSED,
            num_heads=self._sizes.heads,
        )

    def _product(self, flow: str, name: str, inputs: int) -> str:
        """Add the product of the flow and a matrix, outlying inputs of the matrix in float32."""
        matrix = self._weights.matrix(name + ".w", inputs).T
        largest = np.abs(matrix).max(axis=1)
        outlying = np.flatnonzero(largest > _OUTLIER * np.median(largest))
        if not len(outlying):
            return self._small_product(flow, name, matrix)
        others = np.ones(inputs, np.float32)
        others[outlying] = 0
        kept = self._graph.constant(name + ".others", others)
        places = self._graph.constant(name + ".places", outlying.astype(np.int64))
        exact = self._graph.constant(name + ".exact", matrix[outlying])
        small = self._graph.node("Mul", [flow, kept])
        small = self._small_product(small, name, matrix * others[:, None])
        large = self._graph.node("Gather", [flow, places], axis=2)
        return self._graph.node("Add", [small, self._graph.node("MatMul", [large, exact])])

    def _small_product(self, flow: str, name: str, matrix: NDArray[np.float32]) -> str:
        stored, scale, zero = self._quantised(name, matrix)
        return self._graph.node("DynamicQuantizeMatMul", [flow, stored, scale, zero], _FUSED)

    def _quantised(self, name: str, matrix: NDArray[np.float32]) -> tuple[str, str, str]:
        scale = np.abs(matrix).max(axis=0) / _LIMIT
        scale[scale == 0] = 1
        return (
            self._graph.constant(name + ".values", np.rint(matrix / scale).astype(np.int8)),
            self._graph.constant(name + ".scale", scale),
            self._graph.constant(name + ".zero", np.zeros(len(scale), np.int8)),
        )

    def _added(self, flow: str, skipped: str, names: list[str]) -> str:
        """Add the normalised sum of two flows and a bias."""
        parts = [self._floats(name) for name in names]
        epsilon = self._sizes.epsilon
        inputs = [flow, skipped, *parts]
        return self._graph.node("SkipLayerNormalization", inputs, _FUSED, epsilon=epsilon)

    def _floats(self, name: str) -> str:
        return self._graph.constant(name, self._weights.floats(name))
