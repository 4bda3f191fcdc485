"""Slow, exact answers from codes: what the comparison of two tensors must say.

Shares nothing with fastdump. Values are rational numbers, and so are their sums; what is not
rational is rounded once, or is computed to more digits than float64 has.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from truth import Array, ElementType, exact_sum, rounded, rounded_root

EPSILON = Fraction(2) ** -52
LEAST_TERM = Fraction(2) ** -23  # of a distribution
SMALLEST = Fraction(math.ulp(0.0))
# A sum may be off by this much, relative to the sum of the absolute values of what was added.
TOLERANCE = Fraction(1, 10**12)
_DIGITS = Context(prec=50)

METRICS = (
    "count",
    "cosine_similarity",
    "max_abs_error",
    "max_abs_error_index",
    "mean_abs_error",
    "rmse",
    "relative_euclidean_distance",
    "max_rel_error",
    "mean_rel_error",
    "accumulated_relative_error",
    "kl_divergence",
    "mismatched",
    "first_mismatch",
    "ulp_max",
    "only_a_bad",
    "only_b_bad",
    "both_bad",
    "bit_equal",
    "mean_a",
    "standard_deviation_a",
    "max_a",
    "min_a",
    "mean_b",
    "standard_deviation_b",
    "max_b",
    "min_b",
)


@dataclass(frozen=True)
class Element:
    """One element: its value, if it is finite, or what else it is."""

    value: tuple[Fraction, Fraction] | None  # real and imaginary part
    bad: tuple[str, ...] = ()  # of each part: "nan", "inf", "-inf" or ""

    @property
    def is_nan(self) -> bool:
        return "nan" in self.bad


def _element(parts: Sequence[Any]) -> Element:
    names = tuple(
        "nan" if math.isnan(part) else str(float(part)) if math.isinf(part) else ""
        for part in parts
    )
    if any(names):
        # Which finite part stands beside an infinity matters as well.
        beside = tuple(str(part) for part, name in zip(parts, names, strict=True) if not name)
        return Element(None, names + beside)
    exact = [Fraction(int(p)) if isinstance(p, int) else Fraction(float(p)) for p in parts]
    return Element((exact[0], exact[1] if len(exact) > 1 else Fraction(0)))


def elements_of(element: ElementType, codes: Array) -> list[Element]:
    """Return the elements of `codes`: shape (n,), of complex types (n, 2)."""
    values = element.decode(codes)
    return [_element(value if element.is_complex else [value]) for value in values]


class Pairs:
    """What must be said of elements of `a` and, beside them, those of the reference `b`."""

    def __init__(
        self,
        type_a: ElementType,
        codes_a: Array,
        type_b: ElementType,
        codes_b: Array,
        rtol: float = 1e-5,
        atol: float = 1e-8,
    ) -> None:
        self.types = (type_a, type_b)
        self.codes = (codes_a, codes_b)
        self.a = elements_of(type_a, codes_a)
        self.b = elements_of(type_b, codes_b)
        self.rtol, self.atol = rtol, atol
        self.finite = [
            i
            for i, (x, y) in enumerate(zip(self.a, self.b, strict=True))
            if x.value is not None and y.value is not None
        ]
        self.errors = {i: _magnitude(_minus(self.a[i], self.b[i])) for i in self.finite}
        self.sizes = {i: _magnitude(self._value(self.b, i)) for i in self.finite}

    @staticmethod
    def _value(side: list[Element], i: int) -> tuple[Fraction, Fraction]:
        value = side[i].value
        assert value is not None
        return value

    # Exact results.

    @property
    def exact(self) -> dict[str, Any]:
        """Return the metrics that are exact."""
        bad_a = [x.value is None for x in self.a]
        bad_b = [y.value is None for y in self.b]
        mismatches = [i for i in range(len(self.a)) if not self._is_close(i)]
        return {
            "count": len(self.a),
            "only_a_bad": sum(x and not y for x, y in zip(bad_a, bad_b, strict=True)),
            "only_b_bad": sum(y and not x for x, y in zip(bad_a, bad_b, strict=True)),
            "both_bad": sum(x and y for x, y in zip(bad_a, bad_b, strict=True)),
            "mismatched": len(mismatches),
            "first_mismatch": mismatches[0] if mismatches else None,
            "ulp_max": self._ulp_max(),
            "bit_equal": self.types[0].name == self.types[1].name
            and bool((self.codes[0] == self.codes[1]).all()),
        }

    def _is_close(self, i: int) -> bool:
        x, y = self.a[i], self.b[i]
        if i not in self.errors:
            return x.value is None and y.value is None and ((x.is_nan and y.is_nan) or x == y)
        # In float64, as np.isclose has it.
        return rounded(self.errors[i]) <= self.atol + self.rtol * rounded(self.sizes[i])

    def _ulp_max(self) -> int | None:
        if self.types[0].name != self.types[1].name or self.types[0].is_complex or not self.finite:
            return None
        order = _order(self.types[0])
        codes_a, codes_b = self.codes[0].tolist(), self.codes[1].tolist()
        return max(abs(order(codes_a[i]) - order(codes_b[i])) for i in self.finite)

    # Results that are rounded.

    def assert_true(self, found: Mapping[str, Any], *, kl: bool = False) -> None:
        """Assert that `found` tells the truth."""
        assert tuple(found) == METRICS
        for name, expected in self.exact.items():
            assert found[name] == expected, (name, found[name], expected)
        if not self.finite:
            for name in set(METRICS) - set(self.exact):
                assert found[name] is None, name
            return
        self._assert_errors(found)
        self._assert_cosine(found["cosine_similarity"])
        self._assert_side(found, "a", self.a)
        self._assert_side(found, "b", self.b)
        if kl:
            self._assert_divergence(found["kl_divergence"])
        else:
            assert found["kl_divergence"] is None

    def _assert_errors(self, found: Mapping[str, Any]) -> None:
        n = len(self.finite)
        largest = max(rounded(error) for error in self.errors.values())
        where = min(i for i, error in self.errors.items() if rounded(error) == largest)
        is_complex = any(element.is_complex for element in self.types)
        if is_complex:  # the root is rounded, and so are the terms below it
            assert math.isclose(found["max_abs_error"], largest, rel_tol=1e-15)
        else:
            assert found["max_abs_error"] == largest
            assert found["max_abs_error_index"] == (where if largest != 0 else None)
        total = exact_sum(self.errors.values())
        squares = exact_sum(error**2 for error in self.errors.values())
        _assert_close("mean_abs_error", found, total / n)
        _assert_root("rmse", found, squares / n)
        reference = exact_sum(size**2 for size in self.sizes.values())
        if rounded_root(reference) <= EPSILON:
            assert found["relative_euclidean_distance"] == 0
        else:
            _assert_root("relative_euclidean_distance", found, squares / reference)
        relative = [
            self.errors[i] / self.sizes[i] if self.sizes[i] > EPSILON else Fraction(0)
            for i in self.finite
        ]
        _assert_close("max_rel_error", found, max(relative))
        accumulated = exact_sum(relative)
        _assert_close("accumulated_relative_error", found, accumulated)
        _assert_close("mean_rel_error", found, accumulated / n)

    def _assert_cosine(self, cosine: float | None) -> None:
        values_a = [self._value(self.a, i) for i in self.finite]
        values_b = [self._value(self.b, i) for i in self.finite]
        pairs = list(zip(values_a, values_b, strict=True))
        product = exact_sum(x[0] * y[0] + x[1] * y[1] for x, y in pairs)
        square_a, square_b = (
            exact_sum(v[0] ** 2 + v[1] ** 2 for v in values) for values in (values_a, values_b)
        )
        norm_a, norm_b = rounded_root(square_a), rounded_root(square_b)
        if len(self.a) == 1 or values_a == values_b or max(norm_a, norm_b) <= EPSILON:
            assert cosine == 1
        elif min(norm_a, norm_b) <= EPSILON:
            assert cosine is None
        else:
            assert cosine is not None
            assert -1 <= cosine <= 1
            root = _root(square_a * square_b)
            assert abs(Fraction(cosine) - product / root) <= TOLERANCE

    def _assert_side(self, found: Mapping[str, Any], side: str, elements: list[Element]) -> None:
        values = [self._value(elements, i) for i in self.finite]
        is_complex = any(element.is_complex for element in self.types)
        numbers = [_magnitude(v) if is_complex else v[0] for v in values]
        # What the kernel sees: elements as float64.
        numbers = [Fraction(rounded(number)) for number in numbers]
        n = len(numbers)
        mean = exact_sum(numbers) / n
        scale = exact_sum(map(abs, numbers)) / n
        tolerance = TOLERANCE * scale + SMALLEST
        rounding = Fraction(2) ** -50 if is_complex else 0
        for name, extreme in (("max", max(numbers)), ("min", min(numbers))):
            assert abs(Fraction(found[f"{name}_{side}"]) - extreme) <= abs(extreme) * rounding
        assert abs(Fraction(found[f"mean_{side}"]) - mean) <= tolerance
        variance = exact_sum((number - mean) ** 2 for number in numbers) / n
        deviation = found[f"standard_deviation_{side}"]
        # Of complex numbers the magnitudes are rounded before.
        allowed = scale * rounding
        assert abs(Fraction(deviation) - Fraction(rounded_root(variance))) <= (
            Fraction(rounded_root(variance)) * TOLERANCE * 100 + SMALLEST + allowed
        ), (side, deviation, rounded_root(variance))

    def _assert_divergence(self, divergence: float) -> None:
        is_complex = any(element.is_complex for element in self.types)
        terms = []
        for side in (self.a, self.b):
            values = [self._value(side, i) for i in self.finite]
            numbers = [_magnitude(v) if is_complex else v[0] for v in values]
            low, high = min(numbers), max(numbers)
            if low == high:
                side_terms = [Fraction(1)] * len(numbers)
            else:
                side_terms = [max((x - low) / (high - low), LEAST_TERM) for x in numbers]
            total = exact_sum(side_terms)
            terms.append([term / total for term in side_terms])
        expected = Decimal(0)
        for p, q in zip(*terms, strict=True):
            expected += _decimal(p) * _DIGITS.ln(_decimal(p / q))
        # Below float64's epsilon it is 0.
        assert math.isclose(divergence, float(expected), rel_tol=1e-9, abs_tol=1e-12)


def _minus(x: Element, y: Element) -> tuple[Fraction, Fraction]:
    assert x.value is not None
    assert y.value is not None
    return (x.value[0] - y.value[0], x.value[1] - y.value[1])


def _root(square: Fraction) -> Fraction:
    """Return the square root to more than 100 bits."""
    shift = 128 + max(0, square.denominator.bit_length() - square.numerator.bit_length()) // 2
    return Fraction(math.isqrt((square.numerator << (2 * shift)) // square.denominator), 1 << shift)


def _magnitude(value: tuple[Fraction, Fraction]) -> Fraction:
    if value[1] == 0:
        return abs(value[0])
    return _root(value[0] ** 2 + value[1] ** 2)


def _decimal(value: Fraction) -> Decimal:
    return _DIGITS.divide(Decimal(value.numerator), Decimal(value.denominator))


def _assert_close(name: str, found: Mapping[str, Any], expected: Fraction) -> None:
    value = found[name]
    if math.isinf(rounded(expected)):
        assert value == math.inf, name
        return
    assert abs(Fraction(value) - expected) <= TOLERANCE * expected + SMALLEST, (name, value)


def _assert_root(name: str, found: Mapping[str, Any], square: Fraction) -> None:
    expected = rounded_root(square)
    if math.isinf(expected):
        assert found[name] == math.inf, name
        return
    error = abs(Fraction(found[name]) - Fraction(expected))
    assert error <= TOLERANCE * Fraction(expected) + SMALLEST, (name, found[name], expected)


def _order(element: ElementType) -> Callable[[int], int]:
    """Return a function that numbers codes in the order of their values."""
    if element.is_integer:
        values = element.decode
        return lambda code: int(values(np.array([code], element.code))[0])
    if element.bits <= 16:
        codes = np.arange(element.n_codes, dtype=np.uint32).astype(element.code)
        decoded = element.decode(codes)
        distinct = np.unique(decoded[np.isfinite(decoded)])
        ranks = np.searchsorted(distinct, decoded)
        return lambda code: int(ranks[code])
    sign = 1 << (element.bits - 1)
    return lambda code: code if code < sign else sign - code
