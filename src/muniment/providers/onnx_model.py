"""Writes an ONNX model: just enough of the format for one network, without the package `onnx`.

The format is a protocol buffer. Numbers of fields and types are those of `onnx.proto`, IR version
10. Writing it here takes milliseconds, so that no converted model has to be kept on a disk.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_IR_VERSION = 10
_FLOAT = 1
_TYPES = {"float32": _FLOAT, "uint8": 2, "int8": 3, "int64": 7}


class OnnxModel:
    """Collects the nodes and constants of a graph. A node's output is named after its place."""

    def __init__(self, name: str, opsets: Mapping[str, int]) -> None:
        """Begin an empty graph.

        Args:
            name: Name of the graph.
            opsets: Domain of operators → version; the standard domain is empty text.
        """
        self._name = name
        self._opsets = opsets
        self._nodes: list[bytes] = []
        self._constants: dict[str, bytes] = {}

    def constant(self, name: str, values: NDArray[Any]) -> str:
        """Add a constant of float32, uint8, int8 or int64, and return its name."""
        self._constants[name] = b"".join(
            [
                *(_whole(1, size) for size in values.shape),
                _whole(2, _TYPES[values.dtype.name]),
                _text(8, name),
                _part(9, np.ascontiguousarray(values).tobytes()),
            ]
        )
        return name

    def node(
        self, operator: str, inputs: Sequence[str], domain: str = "", **attributes: float
    ) -> str:
        """Add a node with one output and return the output's name."""
        return self.node_with(operator, inputs, 1, domain, attributes)[0]

    def node_with(
        self,
        operator: str,
        inputs: Sequence[str],
        outputs: int,
        domain: str = "",
        attributes: Mapping[str, int | float] | None = None,
    ) -> list[str]:
        """Add a node with several outputs and return their names."""
        names = [f"{operator}.{len(self._nodes)}.{place}" for place in range(outputs)]
        parts = [_text(1, given) for given in inputs]
        parts += [_text(2, given) for given in names]
        parts += [_text(3, names[0]), _text(4, operator)]
        parts += [_part(5, _attribute(*item)) for item in (attributes or {}).items()]
        parts += [_text(7, domain)] if domain else []
        self._nodes.append(b"".join(parts))
        return names

    def serialised(
        self,
        inputs: Mapping[str, Sequence[int | str]],
        outputs: Mapping[str, Sequence[int | str]],
    ) -> bytes:
        """Return the finished model.

        Args:
            inputs: Name → shape of each float32 input; a text stands for a size that may vary.
            outputs: The same for each output.
        """
        graph = b"".join(
            [
                *(_part(1, node) for node in self._nodes),
                _text(2, self._name),
                *(_part(5, constant) for constant in self._constants.values()),
                *(_part(11, _value(*item)) for item in inputs.items()),
                *(_part(12, _value(*item)) for item in outputs.items()),
            ]
        )
        opsets = [
            _part(8, _text(1, domain) + _whole(2, version))
            for domain, version in self._opsets.items()
        ]
        return b"".join([_whole(1, _IR_VERSION), _part(7, graph), *opsets])


def _attribute(name: str, value: float) -> bytes:
    if isinstance(value, int):
        return _text(1, name) + _whole(3, value) + _whole(20, 2)
    return _text(1, name) + _tag(2, 5) + struct.pack("<f", value) + _whole(20, 1)


def _value(name: str, shape: Sequence[int | str]) -> bytes:
    sizes = [
        _part(1, _text(2, size) if isinstance(size, str) else _whole(1, size)) for size in shape
    ]
    tensor = _whole(1, _FLOAT) + _part(2, b"".join(sizes))
    return _text(1, name) + _part(2, _part(1, tensor))


def _varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    written = bytearray()
    while number > 127:
        written.append(number & 127 | 128)
        number >>= 7
    written.append(number)
    return bytes(written)


def _tag(field: int, wire_type: int) -> bytes:
    return _varint(field << 3 | wire_type)


def _whole(field: int, number: int) -> bytes:
    return _tag(field, 0) + _varint(number)


def _part(field: int, content: bytes) -> bytes:
    return _tag(field, 2) + _varint(len(content)) + content


def _text(field: int, text: str) -> bytes:
    return _part(field, text.encode())
