"""Measures of a ranking against the records that should have been found."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np

CUTS = (1, 5, 10, 20)


def measure(ranked: Sequence[str], gold: Collection[str]) -> dict[str, float]:
    """Return the measures of one query, each in [0, 1].

    `recall@k` is the share of gold among the first k, `any@k` and `all@k` whether some or all of
    it is there, `ndcg@10` the discounted gain with binary relevance (Järvelin and Kekäläinen,
    2002), `mrr` the reciprocal rank of the first gold record.

    Args:
        ranked: Record ids, best first; one that stands there again counts once.
        gold: Ids of the records that should be found; at least one.
    """
    wanted = set(gold)
    measures: dict[str, float] = {}
    for cut in CUTS:
        found = len(wanted & set(ranked[:cut]))
        measures[f"recall@{cut}"] = found / len(wanted)
        measures[f"any@{cut}"] = float(found > 0)
        measures[f"all@{cut}"] = float(found == len(wanted))
    places = {one: at for at, one in reversed([*enumerate(ranked[:10])]) if one in wanted}
    gains = sum(1 / math.log2(at + 2) for at in places.values())
    best = sum(1 / math.log2(at + 2) for at in range(min(10, len(wanted))))
    measures["ndcg@10"] = gains / best
    first = next((at for at, one in enumerate(ranked) if one in wanted), None)
    measures["mrr"] = 0.0 if first is None else 1 / (first + 1)
    return measures


def mean(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of each measure over queries, rounded to four places."""
    return {name: round(sum(row[name] for row in rows) / len(rows), 4) for name in rows[0]}


def paired(
    first: Sequence[float], second: Sequence[float], *, draws: int = 2000
) -> tuple[float, float, float]:
    """Return the mean difference `first - second` and its 95 % interval.

    The interval is the percentile bootstrap over questions (Efron, 1979), seeded, with both
    measures of a question drawn together.

    Args:
        first: A measure of each question.
        second: The same measure of the same questions.
        draws: How many samples are drawn.
    """
    differences = np.subtract(first, second)
    picked = np.random.default_rng(0).integers(len(differences), size=(draws, len(differences)))
    low, high = np.percentile(differences[picked].mean(axis=1), (2.5, 97.5))
    return round(float(differences.mean()), 4), round(float(low), 4), round(float(high), 4)
