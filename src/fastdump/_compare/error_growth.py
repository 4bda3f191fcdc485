"""How far rounding and errors of the inputs can move the output of an operator.

Everything is a Euclidean norm. An operator that is linear in an input, or has a bounded slope,
turns an error of norm d into one of at most a factor times d, which shapes, norms and largest
values tell (N. J. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd edition, 2002,
chapters 3 and 4). Where the type of an operator tells no factor, an error may grow by a constant.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from fastdump._compare.operator_kinds import passes_values_on

_UNIT_ROUNDOFF: Final = {
    "float64": 2.0**-53,
    "float32": 2.0**-24,
    "float16": 2.0**-11,
    "bfloat16": 2.0**-8,
    "hifloat8": 2.0**-2,
    "float8_e4m3fn": 2.0**-4,
    "float8_e5m2": 2.0**-3,
    "float8_e8m0fnu": 2.0**-1,
    "float6_e3m2fn": 2.0**-3,
    "float6_e2m3fn": 2.0**-4,
    "float4_e2m1fn": 2.0**-2,
    "float4_e1m2fn": 2.0**-3,
}
# Half of the distance between the smallest numbers; what is smaller is rounded to a multiple.
_HALF_SPACING: Final = {
    "float16": 2.0**-25,
    "bfloat16": 2.0**-134,
    "float32": 2.0**-150,
    "float8_e4m3fn": 2.0**-10,
    "float8_e5m2": 2.0**-17,
}
_COMPLEX: Final = {"complex128": "float64", "complex64": "float32", "complex32": "float16"}

# Of both sides: each rounds the result once, and sums and functions a little more often.
_ROUNDINGS: Final = 2.0
_ROUNDINGS_INSIDE: Final = 6.0
# Of operators whose type tells nothing.
_GENERIC_GROWTH: Final = 8.0

_SUM: Final = re.compile(
    r"^(?:add|sub|rsub|addn|accumulate|axpy|biasadd|neg|cat|concat|stack|slice|split|pad|strided"
    r"|relu|abs|clamp|clip|max|min|where|select|maskedfill|fill|dropout|copy|scatter|put|topk|sort"
    r"|tril|triu|repeat|tile|flip|roll|constantpad)",
    re.I,
)
_CHOICE: Final = re.compile(r"^(?:index|gather|embedding|take)", re.I)
_SMOOTH: Final = re.compile(
    r"^(?:silu|swish|gelu|fastgelu|tanh|sigmoid|hardswish|hardsigmoid|mish|elu|selu|softplus"
    r"|leakyrelu|sin|cos|erf|softmax|logsoftmax|safesoftmax)",
    re.I,
)
_MUL: Final = re.compile(r"^(?:mul|multiply)", re.I)
_PRODUCT: Final = re.compile(
    r"^(?:mm|bmm|matmul|batchmatmul|addmm|baddbmm|linear|gemm|dot|conv(?!ert)|fullyconnection|quantmatmul"
    r"|groupedmatmul|outer|einsum)",
    re.I,
)
_SUM_OVER_AXES: Final = re.compile(r"^(?:reduce)?sum", re.I)
_MEAN_OVER_AXES: Final = re.compile(r"^(?:reduce)?mean", re.I)
_BACKWARD: Final = re.compile(r"backward|grad", re.I)
_STEP: Final = re.compile(r"(?:threshold|relu|maxpool|hard\w+).*(?:backward|grad)", re.I)
# What subtracts a mean.
_NORM: Final = re.compile(r"norm|^(?:reduce)?(?:var|std)", re.I)


class Operand(NamedTuple):
    """One tensor of an operator, as far as the growth of errors depends on it.

    Attributes
    ----------
    error
        Euclidean distance of its two sides divided by the norm of `b`.
    norm
        Euclidean norm of `b`.
    largest
        Largest absolute value of `b`.
    deviation
        Standard deviation of the elements of `b`.
    n_elements
        Number of elements.
    dtypes
        Element types in `a` and `b`.
    """

    error: float
    norm: float
    largest: float
    deviation: float
    n_elements: int
    dtypes: tuple[str | None, str | None]


def unit_roundoff(dtype: str | None) -> float:
    """Return the largest relative error of rounding to a type; 0 for types that do not round."""
    return _UNIT_ROUNDOFF.get(_real_type(dtype), 0.0)


def _real_type(dtype: str | None) -> str:
    """Return the type of the parts of a complex type, and every other type itself."""
    return _COMPLEX.get(dtype or "", dtype or "")


def rounding_error(operand: Operand) -> float:
    """Return the relative error of a tensor that one side has rounded to its type."""
    return max(map(unit_roundoff, operand.dtypes)) + _absolute(operand)


def _absolute(operand: Operand) -> float:
    """Return what rounding numbers below the normal range adds, relative to the norm."""
    half_spacing = max(_HALF_SPACING.get(_real_type(dtype), 0.0) for dtype in operand.dtypes)
    return _quotient(half_spacing * math.sqrt(operand.n_elements), operand.norm)


def largest_error(op_type: str | None, inputs: Sequence[Operand], output: Operand) -> float:
    """Return the largest relative error of an output that rounding and its inputs explain."""
    kind = kind_of(op_type)
    passed = _PASSED[kind](inputs, output) if inputs else 0.0
    roundings = _ROUNDINGS if kind in ("choice", "sum", "mul") else _ROUNDINGS_INSIDE
    types = [dtype for operand in (*inputs, output) for dtype in operand.dtypes]
    return passed + roundings * (max(map(unit_roundoff, types)) + _absolute(output))


@functools.lru_cache(maxsize=1 << 12)
def kind_of(op_type: str | None) -> str:
    """Return the rule by which errors grow in an operator: "sum", "product", "generic", ..."""
    name = (op_type or "").replace("_", "").removeprefix("aclnn").removeprefix("Inplace")
    if _BACKWARD.search(name):
        return "step" if _STEP.search(name) else "generic"
    if passes_values_on(op_type):
        return "sum"
    for kind, types in _KINDS.items():
        if types.search(name):
            return kind
    return "generic"


def _sum(inputs: Sequence[Operand], output: Operand) -> float:
    """Return the error that sums and choices pass on, at most all of it.

    Elements of a smaller input occur several times in the output, those of a larger one add up.
    """
    errors = 0.0
    for x in inputs:
        ratio = max(output.n_elements, 1) / max(x.n_elements, 1)
        errors += x.error * x.norm * math.sqrt(max(ratio, 1 / ratio))
    return _quotient(errors, output.norm)


def _choice(inputs: Sequence[Operand], output: Operand) -> float:
    """Return the error that chosen elements pass on, some of them more often than others."""
    return 2.0 * _sum(inputs, output)


def _smooth(inputs: Sequence[Operand], output: Operand) -> float:
    """Return the error that functions whose slope is at most about one pass on."""
    return 1.2 * _sum(inputs, output)


def _mul(inputs: Sequence[Operand], output: Operand) -> float:
    """Return the error that a product of elements passes on."""
    if len(inputs) < 2:
        return sum(x.error for x in inputs)
    errors = 0.0
    for i, x in enumerate(inputs):
        others = math.prod(y.largest for j, y in enumerate(inputs) if j != i)
        repeats = max(1.0, output.n_elements / max(x.n_elements, 1))
        errors += x.error * x.norm * others * math.sqrt(repeats)
    return min(_quotient(errors, output.norm), _GENERIC_GROWTH * sum(x.error for x in inputs))


def _product(inputs: Sequence[Operand], output: Operand) -> float:
    """Return the error that sums of products pass on: norms of matrices multiply.

    Which inputs are factors, and which is a bias, is not told: the worst counts.
    """
    errors = 0.0
    for i, x in enumerate(inputs):
        others = max((y.norm for j, y in enumerate(inputs) if j != i), default=1.0)
        as_bias = math.sqrt(max(1.0, output.n_elements / max(x.n_elements, 1)))
        errors += x.error * x.norm * max(others, as_bias)
    return _quotient(errors, output.norm)


def _sums(inputs: Sequence[Operand], output: Operand) -> float:
    """Return the error that sums over axes pass on."""
    n = max(1.0, inputs[0].n_elements / max(output.n_elements, 1))
    return _quotient(inputs[0].error * inputs[0].norm * math.sqrt(n), output.norm)


def _means(inputs: Sequence[Operand], output: Operand) -> float:
    """Return the error that means over axes pass on."""
    return _sums(inputs, output) / max(1.0, inputs[0].n_elements / max(output.n_elements, 1))


def _step(inputs: Sequence[Operand], output: Operand) -> float:
    """Return the error that functions with a step pass on.

    Inputs that are nearer to the step than their error may be on its other side. Their share grows
    as the error, and the distance as the root of the share.
    """
    errors = sum(x.error for x in inputs)
    return _generic(inputs, output) + 2.0 * math.sqrt(errors)


def _normalised(inputs: Sequence[Operand], output: Operand) -> float:
    """Return the error that a normalisation passes on, which may subtract a mean first."""
    x = inputs[0]
    cancelled = _quotient(x.norm, x.deviation * math.sqrt(max(x.n_elements, 1)))
    return _generic(inputs, output) * max(1.0, cancelled)


def _generic(inputs: Sequence[Operand], output: Operand) -> float:
    """Return the error that an operator may pass on of which nothing is known.

    An output of fewer elements is a sum, in which large elements may cancel.
    """
    is_sum = output.n_elements < inputs[0].n_elements
    cancelled = _quotient(inputs[0].norm, output.norm) if is_sum else 1.0
    return _GENERIC_GROWTH * sum(x.error for x in inputs) * max(1.0, cancelled)


def _quotient(error: float, norm: float) -> float:
    if error == 0:
        return 0.0
    return error / norm if norm > 0 else math.inf


# The first that matches the type decides.
_KINDS: Final = {
    "product": _PRODUCT,
    "mean": _MEAN_OVER_AXES,
    "reduction": _SUM_OVER_AXES,
    "mul": _MUL,
    "smooth": _SMOOTH,
    "norm": _NORM,
    "choice": _CHOICE,
    "sum": _SUM,
}
_PASSED: Final = {
    "product": _product,
    "mean": _means,
    "reduction": _sums,
    "step": _step,
    "mul": _mul,
    "smooth": _smooth,
    "norm": _normalised,
    "choice": _choice,
    "sum": _sum,
    "generic": _generic,
}
