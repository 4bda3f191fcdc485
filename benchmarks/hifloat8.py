"""HiFloat8, which neither numpy nor ml_dtypes has."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt


def hifloat8_values() -> npt.NDArray[np.float32]:
    """Return the value of each of the 256 codes."""
    return np.array([_value(code) for code in range(256)], np.float32)


def _value(code: int) -> float:
    if code == 0x80:
        return math.nan
    sign = -1.0 if code & 0x80 else 1.0
    bits = f"{code & 0x7F:07b}"
    if bits == "1101111":
        return sign * math.inf
    # The prefix tells the width of the exponent; the mantissa has what is left.
    for prefix, width in (("11", 4), ("10", 3), ("01", 2), ("001", 1), ("0001", 0)):
        if bits.startswith(prefix):
            exponent_bits = bits[len(prefix) : len(prefix) + width]
            mantissa_bits = bits[len(prefix) + width :]
            break
    else:
        subnormal = int(bits, 2)
        return sign * 2.0 ** (subnormal - 23) if subnormal else 0.0
    exponent = 0
    if exponent_bits:  # a sign, and a magnitude whose leading one is implied
        exponent = int("1" + exponent_bits[1:], 2) * (-1 if exponent_bits[0] == "1" else 1)
    fraction = int(mantissa_bits, 2) / (1 << len(mantissa_bits))
    return float(sign * 2.0**exponent * (1 + fraction))
