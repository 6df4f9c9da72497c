"""Interleaved CPU timings and what can be said of them."""

from __future__ import annotations

import gc
import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from muniment.records import Plain


@dataclass(frozen=True, slots=True)
class Timing(Plain):
    """Milliseconds a call: CPU of this process, and by the clock on the wall.

    Attributes:
        calls: How many calls were timed.
        cpu: Median CPU time.
        cpu_p95: 95th percentile of CPU time.
        wall: Median time by the clock.
    """

    calls: int
    cpu: float
    cpu_p95: float
    wall: float


@dataclass(frozen=True, slots=True)
class Ratio(Plain):
    """A median over the median of its limit, with a 95 % bootstrap interval."""

    middle: float
    low: float
    high: float


def interleaved(
    work: Mapping[str, Callable[[int], object]],
    calls: int,
    warmup: int = 5,
    before: Callable[[int], object] | None = None,
) -> dict[str, tuple[list[float], list[float]]]:
    """Time several pieces of work in turn, so that noise falls on all alike.

    Args:
        work: What to time, by name; each is given the number of the call.
        calls: How often to call each.
        warmup: How often to call each before timing.
        before: Called before each round, untimed.

    Returns:
        By name, CPU and wall times in milliseconds.
    """
    for number in range(warmup):
        for call in work.values():
            call(number)
    times: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in work}
    gc.collect()
    gc.disable()
    try:
        for number in range(calls):
            if before is not None:
                before(number)
            for name, call in work.items():
                wall, cpu = time.perf_counter_ns(), time.process_time_ns()
                call(number)
                times[name][0].append((time.process_time_ns() - cpu) / 1e6)
                times[name][1].append((time.perf_counter_ns() - wall) / 1e6)
    finally:
        gc.enable()
    return times


def summary(cpu: Sequence[float], wall: Sequence[float]) -> Timing:
    """Return medians and the 95th percentile, rounded to microseconds."""
    ordered = sorted(cpu)
    return Timing(
        calls=len(cpu),
        cpu=round(statistics.median(cpu), 3),
        cpu_p95=round(ordered[int(len(ordered) * 0.95)], 3),
        wall=round(statistics.median(wall), 3),
    )


def ratio(over: Sequence[float], under: Sequence[float], rounds: int = 500) -> Ratio:
    """Return the ratio of two medians with a 95 % bootstrap interval (Efron, 1979).

    Args:
        over: Times of what is judged.
        under: Times of the floor.
        rounds: Resamples.
    """
    source = random.Random(7)
    drawn = sorted(
        statistics.median(source.choices(over, k=len(over)))
        / statistics.median(source.choices(under, k=len(under)))
        for _ in range(rounds)
    )
    middle = statistics.median(over) / statistics.median(under)
    low, high = drawn[int(rounds * 0.025)], drawn[int(rounds * 0.975)]
    return Ratio(round(middle, 3), round(low, 3), round(high, 3))
