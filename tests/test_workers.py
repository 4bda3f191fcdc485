"""Work in parts: ranges of like cost, handed over as workers get free."""

from __future__ import annotations

import operator
from concurrent.futures import Executor, Future
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastdump._workers import cut, n_workers, results


class Held(Executor):
    """Keeps what is submitted until `finish`."""

    def __init__(self, **attributes: Any) -> None:
        self.futures: list[Future[Any]] = []
        self.__dict__ |= attributes

    def submit(self, function: Any, /, *arguments: Any, **more: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.futures.append(future)
        self.finish(len(self.futures) - 1, function(*arguments, **more))
        return future

    def finish(self, number: int, value: Any) -> None:
        self.futures[number].set_result(value)


class Stuck(Held):
    def finish(self, number: int, value: Any) -> None:
        if number == 0:
            super().finish(number, value)


@given(
    cost=st.lists(st.integers(1, 1 << 45), min_size=1, max_size=300),
    workers=st.integers(1, 1000),
    most=st.none() | st.integers(1, 50),
)
def test_ranges_cost_about_the_same(cost: list[int], workers: int, most: int | None) -> None:
    ranges = cut(np.array(cost, np.int64), Held(_max_workers=workers), most=most)
    assert [i for part in ranges for i in range(part.start, part.stop)] == list(range(len(cost)))
    share = sum(cost) / (8 * workers)
    for part in ranges:
        assert part.stop > part.start
        assert most is None or part.stop - part.start <= most
        *others, _ = cost[part]
        assert sum(others) <= share * (1 + 1e-9)


def test_nothing_is_one_empty_range() -> None:
    assert cut(np.zeros(0, np.int64), Held()) == [slice(0, 0)]


def test_who_tells_the_number_of_workers() -> None:
    client = SimpleNamespace(ncores=lambda: {"tcp://a": 3, "tcp://b": 4})
    for attributes, expected in (
        ({"_max_workers": 5}, 5),
        ({"_client": client}, 7),
        ({"_client": SimpleNamespace()}, 8),
        ({"_max_workers": 0}, 8),
        ({}, 8),
    ):
        assert n_workers(Held(**attributes)) == expected


def test_results_have_the_numbers_of_their_parts() -> None:
    found: dict[int, int] = {}
    for some in results(Held(), operator.mul, range(100), threads=3):
        found |= some
    assert found == {i: 3 * i for i in range(100)}


def test_two_parts_for_each_worker_are_under_way() -> None:
    """No part is made before it is handed over; an end cancels what was not begun."""
    made: list[int] = []

    def parts() -> Any:
        for i in range(100):
            made.append(i)
            yield i

    executor = Stuck(_max_workers=3)
    under_way = results(executor, operator.mul, parts(), threads=None)
    assert next(under_way) == {0: 0}
    assert made == list(range(6))
    under_way.close()
    assert [future.cancelled() for future in executor.futures] == [False] + [True] * 5


def test_the_first_error_ends_it() -> None:
    class Failing(Held):
        def finish(self, number: int, value: Any) -> None:
            if number == 4:
                self.futures[number].set_exception(ZeroDivisionError())
            else:
                super().finish(number, value)

    executor = Failing(_max_workers=1)
    with pytest.raises(ZeroDivisionError):
        list(results(executor, operator.mul, range(100), threads=1))
    assert len(executor.futures) < 10
