"""Times fastdump and its peers in turns, so that what disturbs the machine disturbs both."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median

from pytest_benchmark.fixture import BenchmarkFixture

Run = Callable[[], object]


@dataclass(frozen=True)
class Timings:
    """Seconds of each side, one for each round."""

    seconds: Mapping[str, list[float]]

    def median(self, name: str) -> float:
        return median(self.seconds[name])

    def quotient(self, numerator: str, denominator: str) -> float:
        """Return the median over the rounds of a round's quotient of two times."""
        pairs = zip(self.seconds[numerator], self.seconds[denominator], strict=True)
        return median(above / below for above, below in pairs)

    def difference(self, minuend: str, subtrahend: str) -> float:
        """Return the median over the rounds of a round's difference of two times."""
        pairs = zip(self.seconds[minuend], self.seconds[subtrahend], strict=True)
        return median(more - less for more, less in pairs)


def side_by_side(
    benchmark: BenchmarkFixture,
    rounds: int,
    ours: tuple[str, Run],
    peers: Mapping[str, Run],
    before: Run = lambda: None,
) -> Timings:
    """Run each peer and then `ours` once, and that `rounds` times, after all have run once.

    Parameters
    ----------
    benchmark
        Gets the times of `ours`.
    rounds
        How often.
    ours, peers
        Names and what to run.
    before
        What to do before each run; it is not timed.
    """
    runs = {**peers, ours[0]: ours[1]}
    seconds: dict[str, list[float]] = {name: [] for name in runs}

    def timed(name: str) -> None:
        start = time.perf_counter()
        runs[name]()
        seconds[name].append(time.perf_counter() - start)

    def time_peers() -> None:
        for name in peers:
            before()
            timed(name)
        before()

    for run in runs.values():
        before()
        run()
    benchmark.pedantic(timed, args=(ours[0],), setup=time_peers, rounds=rounds)
    return Timings(seconds)
