"""What nothing can beat, measured in the same run: one pass over the data, one flush to disk."""

from __future__ import annotations

import os
from pathlib import Path

import apsw
import numpy as np
from numpy.typing import NDArray

from muniment.bench.sample import DIMENSIONS, RandomEmbedder, sentences

Matrix = NDArray[np.float32]


def matrix_of(texts: list[str], embedder: RandomEmbedder) -> Matrix:
    """Return the unit vectors of texts, float32, shape (n, d)."""
    return embedder.embed_passages(texts) if texts else np.zeros((0, DIMENSIONS), np.float32)


def texts_of(seed: int, count: int) -> list[str]:
    """Return the texts of the statements of the same seed and count."""
    return list(sentences(seed, count))


def one_pass(matrix: Matrix, vector: Matrix) -> Matrix:
    """Compare a vector with every row, on one thread; the rows are read once."""
    products: Matrix = np.vecdot(matrix, vector)
    return products


class Bytes:
    """A file that holds what a cold recall has to read: vectors and word lists.

    Args:
        path: Where to write it.
        matrix: The vectors.
        words: Bytes of the word lists.
    """

    def __init__(self, path: Path, matrix: Matrix, words: int) -> None:
        self._path = path
        self._shape = matrix.shape
        path.write_bytes(matrix.tobytes() + bytes(words))

    def read_and_pass(self, vector: Matrix) -> Matrix:
        """Read the file (from the system's cache) and make one pass over the vectors."""
        data = self._path.read_bytes()
        count = self._shape[0] * self._shape[1]
        matrix = np.frombuffer(data, dtype=np.float32, count=count).reshape(self._shape)
        return one_pass(matrix, vector)


class Log:
    """A file to which bytes are appended and flushed to the disk, as any durable write must.

    Args:
        path: Where to write it.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("ab", buffering=0)

    def append(self, data: bytes) -> None:
        """Append and flush once."""
        self._file.write(data)
        os.fdatasync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class Ledger:
    """A SQLite file that takes the same bytes in one row and one transaction with one flush.

    Args:
        path: Where to make it.
    """

    def __init__(self, path: Path) -> None:
        self._connection = apsw.Connection(str(path))
        self._connection.pragma("journal_mode", "wal")
        self._connection.pragma("synchronous", "full")
        self._connection.execute("CREATE TABLE ledger (data BLOB NOT NULL)")

    def append(self, data: bytes) -> None:
        """Insert one row."""
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.execute("INSERT INTO ledger VALUES (?)", (data,))
        self._connection.execute("COMMIT")

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
