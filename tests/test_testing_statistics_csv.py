"""The writer of CANN's statistics, against definitions by element and the vendor's own lines."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fastdump import testing
from fastdump.testing import TensorSpec

HEADER = (
    "Input/Output,Index,Data Size,Data Type,Format,Shape,Max Value,Min Value,Avg Value,Count,"
    "Nan Count,Negative Inf Count,Positive Inf Count"
)


@pytest.fixture(name="lines")
def make_lines(tmp_path: Path) -> Any:
    """Return a function that writes a file and returns its lines."""

    def lines(**what: Any) -> list[str]:
        content = testing.write_statistics_csv(tmp_path / "new" / "a.csv", **what).read_bytes()
        assert content.endswith(b"\n") or not content
        assert b"\r" not in content
        return content.decode("ascii").splitlines()

    return lines


def results(line: str) -> list[str]:
    return line.split(",")[6:]


@pytest.fixture(name="reference_csv")
def reference_csv_folder(reference_dumps: Path) -> Path:
    folder = reference_dumps.parent / "reference-stats-csv"
    if not folder.is_dir():
        pytest.skip(f"there are no reference statistics in {folder}")
    return folder


def test_lines_of_the_ai_cpus_own_test(lines: Any, reference_csv: Path) -> None:
    expected = (reference_csv / "stats_expected_aicpu_ut.csv").read_text().splitlines()
    x = np.full((4, 50, 50, 16), 1.50004, np.float32)
    x[0, 0, 0, :2] = 1.99999, 1
    assert lines(outputs=[TensorSpec(x, format="NHWC")]) == expected


def test_lines_of_the_ai_core_formatters_own_test(lines: Any, reference_csv: Path) -> None:
    expected = (reference_csv / "stats_expected_from_adump_ut.csv").read_text().splitlines()
    without_bytes = TensorSpec(
        b"", dtype="INT32", format="ALL", shape=(100, 20, 40), size=268435456
    )
    assert lines(inputs=[without_bytes], writer="kfc") == [expected[0], expected[-1]]
    tiny = np.array([1.4013e-43, 2.8026e-43], np.float32)
    (row,) = lines(inputs=[tiny], writer="kfc", header=False)
    assert results(row)[:2] == ["2.8026e-43", "1.4013e-43"]
    unknown = TensorSpec(tiny, format=99)
    assert lines(inputs=[unknown], writer="kfc", header=False)[0].startswith(
        "Input,0,8,DT_FLOAT,UNKNOW,2,"
    )


def test_lines_of_a_selection_after_the_default(lines: Any, reference_csv: Path) -> None:
    expected = (reference_csv / "stats_expected_l2norm_selection.csv").read_text().splitlines()
    x = TensorSpec(np.full((100, 20, 40), 3, np.int32), format="ALL", size=268435456)
    found = lines(inputs=[x], writer="kfc", statistics=["L2norm", "Max", "Min"], after_default=True)
    assert found[0] == expected[0]
    description = expected[1].split(",")[:6]
    assert found[1].split(",")[:6] == description
    assert results(found[1]) == ["3", "3", "848.528"]


def test_selection_has_the_count_first(lines: Any) -> None:
    x = np.array([3, 4], np.float32)
    names = ["Positive Inf", "Max", "Negative Inf", "L2norm", "Nan", "Avg", "Min"]
    header, row = lines(outputs=[x], writer="kfc", statistics=names)
    assert header.split(",")[6:] == [
        "Count",
        "Max Value",
        "Min Value",
        "Avg Value",
        "Nan Count",
        "Negative Inf Count",
        "Positive Inf Count",
        "l2norm",
    ]
    assert results(row) == ["2", "4", "3", "3.5", "0", "0", "0", "5"]


def test_selecting_the_default_is_the_default(lines: Any) -> None:
    x = np.array([3, 4], np.float32)
    names = ["Max", "Min", "Avg", "Nan", "Negative Inf", "Positive Inf"]
    assert lines(inputs=[x], writer="kfc", statistics=names) == lines(inputs=[x], writer="kfc")
    assert lines(inputs=[x], writer="kfc")[0] == HEADER


@pytest.mark.parametrize(
    ("statistics", "header", "row", "failed"),
    [
        # The header has the count after the shape, which no row has; both have it before NaN's.
        (["Max", "Nan"], "Count,Max Value,Count,Nan Count", "4,2,0", "NA,NA"),
        (["Nan", "L2norm"], "Count,Count,Nan Count,l2norm", "2,0,5", "NA,NA"),
        (["Min"], "Count,Min Value", "3", "NA"),
        # Without results the count stands after three columns, whichever these are.
        (
            ["Max", "Min", "Avg", "L2norm"],
            "Count,Max Value,Min Value,Avg Value,l2norm",
            "4,3,3.5,5",
            "NA,NA,NA,2,NA",
        ),
    ],
)
def test_selections_after_the_default(
    statistics: list[str], header: str, row: str, failed: str, lines: Any
) -> None:
    found = lines(
        inputs=[np.array([3, 4], np.float32), np.zeros(2, bool)],
        writer="kfc",
        statistics=statistics,
        after_default=True,
    )
    assert [",".join(results(line)) for line in found] == [header, row, failed]


def test_selection_without_results_has_no_count(lines: Any) -> None:
    found = lines(
        inputs=[np.zeros(2, bool)], writer="kfc", statistics=["Max", "Min", "Avg", "L2norm"]
    )
    assert results(found[1]) == ["NA"] * 4


SPECIALS = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.5, 2.0**-24, 3.0]


def text(value: float) -> str:
    """Return what ``std::cout << value`` prints, by its definition: %g."""
    return "nan" if math.isnan(value) else f"{value:.6g}"


def sequential(values: list[float]) -> tuple[float, float, float]:
    """Return maximum, minimum and mean as the AI CPU's loop finds them."""
    maximum = minimum = values[0]
    mean = 0.0
    for position, value in enumerate(values):
        if value > maximum:
            maximum = value
        if value < minimum:
            minimum = value
        mean += (value - mean) / (position + 1)
    kinds = {value for value in values if math.isinf(value)}
    return maximum, minimum, kinds.pop() if len(kinds) == 1 else mean


def same_number(found: str, expected: float) -> bool:
    if math.isnan(expected) or math.isinf(expected):
        return found.lstrip("-") == "nan" if math.isnan(expected) else float(found) == expected
    # Six digits; and where summands cancel, the order of a sum shows.
    return math.isclose(float(found), expected, rel_tol=6e-6, abs_tol=1e-9)


floats = hnp.arrays(
    st.sampled_from([np.float16, np.float32, np.float64]),
    hnp.array_shapes(max_dims=2, max_side=6),
    elements=st.sampled_from(SPECIALS) | st.floats(-1000, 1000, width=16),
)


@given(floats)
@settings(deadline=None)
def test_ai_cpu_is_its_loop(x: np.ndarray[Any, Any]) -> None:
    (row,) = written(inputs=[x])
    values = [float(value) for value in x.ravel()]
    maximum, minimum, mean = sequential(values)
    assert row[6:8] == [text(maximum), text(minimum)]
    assert same_number(row[8], mean)
    assert row[9:] == counts(values)


@given(floats)
@settings(deadline=None)
def test_thread_ai_cpu_leaves_nan_out_of_extremes(x: np.ndarray[Any, Any]) -> None:
    (row,) = written(outputs=[x], writer="thread_aicpu")
    values = [float(value) for value in x.ravel()]
    numbers = [value for value in values if not math.isnan(value)]
    if numbers:
        maximum, minimum, _ = sequential(numbers)
        assert row[6:8] == [text(maximum), text(minimum)]
    else:
        assert row[6:8] == ["nan", "nan"]
    kinds = {value for value in values if math.isinf(value)}
    if len(numbers) < len(values) or len(kinds) == 2:
        assert row[8] == "nan"
    elif kinds:
        assert float(row[8]) == kinds.pop()
    else:
        assert same_number(row[8], sequential(values)[2])
    assert row[9:] == counts(values)


@given(floats.filter(lambda x: x.dtype != np.float64))
@settings(deadline=None)
def test_ai_cores_compute_in_float32_over_all_elements(x: np.ndarray[Any, Any]) -> None:
    (row,) = written(inputs=[x], writer="kfc", statistics=["Max", "Min", "Avg", "L2norm"])
    values = [float(value) for value in x.ravel()]
    any_nan = any(map(math.isnan, values))
    both = math.inf in values and -math.inf in values
    assert row[6] == str(x.size)
    assert same_number(row[7], math.nan if any_nan else max(values))
    assert same_number(row[8], math.nan if any_nan else min(values))
    mean = math.nan if any_nan or both else sum(values) / len(values)
    # At most 36 summands of at most 1000, each addition rounded to 24 bits.
    assert same_number(row[9], mean) or abs(float(row[9]) - mean) < 36 * 36000 * 2.0**-24
    assert same_number(row[10], math.sqrt(sum(value * value for value in values)))


def written(**what: Any) -> list[list[str]]:
    with tempfile.TemporaryDirectory() as directory:
        path = testing.write_statistics_csv(Path(directory, "a.csv"), header=False, **what)
        return [line.split(",") for line in path.read_text().splitlines()]


def counts(values: list[float]) -> list[str]:
    return [
        str(len(values)),
        str(sum(map(math.isnan, values))),
        str(values.count(-math.inf)),
        str(values.count(math.inf)),
    ]


def test_nan_of_the_ai_cpu_keeps_its_sign() -> None:
    minus = np.copysign(np.float32(np.nan), np.float32(-1))
    first, later, made, plus = written(
        inputs=[
            np.array([minus, 1], np.float32),
            np.array([1, minus, 2], np.float32),
            np.array([np.inf, -np.inf], np.float32),
            np.array([np.inf, -np.inf, np.nan], np.float32),
        ]
    )
    assert first[6:9] == ["-nan", "-nan", "-nan"]
    assert later[6:9] == ["2", "1", "-nan"]
    assert made[6:9] == plus[6:9] == ["inf", "-inf", "nan"]


@pytest.mark.parametrize(
    ("values", "aicpu", "thread"),
    [
        ([1, np.inf, np.inf], "inf", "inf"),
        ([1, -np.inf], "-inf", "-inf"),
        ([1, np.inf, -np.inf], "nan", "nan"),
        ([1, np.nan, np.inf], "inf", "nan"),
        ([np.nan, -np.inf, -np.inf], "-inf", "nan"),
        ([1, np.nan], "nan", "nan"),
    ],
)
def test_mean_of_values_that_are_not_finite(values: list[float], aicpu: str, thread: str) -> None:
    for writer, mean in (("aicpu", aicpu), ("thread_aicpu", thread)):
        assert written(inputs=[np.array(values, np.float16)], writer=writer)[0][8] == mean


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        (1e6, "1e+06"),
        (999999.0, "999999"),
        (1234567.0, "1.23457e+06"),
        (0.0001, "0.0001"),
        (0.00001, "1e-05"),
        (2 / 3, "0.666667"),
        (-0.0, "-0"),
        (1e-310, "1e-310"),
        (1e100, "1e+100"),
    ],
)
def test_numbers_have_six_digits(value: float, printed: str) -> None:
    (row,) = written(inputs=[np.array([value])])
    assert row[6:8] == [printed, printed]


def test_mean_near_the_largest_number_does_not_overflow() -> None:
    (row,) = written(inputs=[np.array([1.5e308, 1.5e308])])
    assert row[8] == "1.5e+308"


@pytest.mark.parametrize(
    ("array", "maximum", "minimum"),
    [
        (np.array([-128, 127], np.int8), "127", "-128"),
        (np.array([200, 255], np.uint8), "255", "200"),
        (np.array([-(1 << 63), (1 << 63) - 1]), str((1 << 63) - 1), str(-(1 << 63))),
        (np.array([0, (1 << 64) - 1], np.uint64), str((1 << 64) - 1), "0"),
        (np.array([7, 65535], np.uint16), "65535", "7"),
    ],
)
def test_integers_are_printed_in_full(array: Any, maximum: str, minimum: str) -> None:
    for writer in ("aicpu", "thread_aicpu"):
        (row,) = written(inputs=[array], writer=writer)
        assert row[6:8] == [maximum, minimum]
        assert row[9:] == [str(array.size), "0", "0", "0"]
        assert float(row[8]) == pytest.approx(float(array.astype(float).mean()), rel=1e-5)


def test_bool() -> None:
    codes = TensorSpec(np.array([0, 2, 255, 0], np.uint8), dtype="BOOL")
    (cpu,) = written(inputs=[codes])
    assert cpu[3] == "DT_BOOL"
    assert cpu[6:] == ["1", "0", "0.5", "4", "0", "0", "0"]
    (thread,) = written(inputs=[codes], writer="thread_aicpu")
    assert thread[6:9] == ["255", "0", "64.25"]


@pytest.mark.parametrize(
    ("tensor", "aicpu", "thread", "kfc"),
    [
        (np.ones(2, np.float16), "DT_FLOAT16", "DT_FLOAT16", "DT_FLOAT16"),
        (np.ones(2, ml_dtypes.bfloat16), "-", "-", "DT_BF16"),
        (TensorSpec(b"1234"), "DT_UNDEFINED", "-", "DT_UNDEFINED"),
        (TensorSpec(b"1234", dtype="DUAL"), "DT_DUAL", "-", "DT_DUAL"),
        (TensorSpec(b"1234", dtype="STRING"), "DT_STRING", "DT_STRING", "DT_STRING"),
        (TensorSpec(b"1234", dtype="VARIANT"), "-", "-", "DT_VARIANT"),
        (TensorSpec(b"1234", dtype=99), "-", "-", "UNKNOW"),
        (TensorSpec(b"1234", dtype=-1), "-", "-", "UNKNOW"),
    ],
)  # fmt: skip
def test_names_of_types(tensor: Any, aicpu: str, thread: str, kfc: str) -> None:
    for writer, name in (("aicpu", aicpu), ("thread_aicpu", thread), ("kfc", kfc)):
        assert written(inputs=[tensor], writer=writer)[0][3] == name


@pytest.mark.parametrize(
    ("format", "old", "kfc"),
    [("ND", "ND", "ND"), (40, "RESERVED", "RESERVED"), ("ALL", "-", "ALL"), (-1, "-", "UNKNOW")],
)
def test_names_of_formats(format: str | int, old: str, kfc: str) -> None:
    spec = TensorSpec(np.ones(2), format=format)
    for writer, name in (("aicpu", old), ("thread_aicpu", old), ("kfc", kfc)):
        assert written(inputs=[spec], writer=writer)[0][4] == name


def test_shapes() -> None:
    def shapes(shape: tuple[int, ...]) -> list[str]:
        spec = TensorSpec(np.ones(1, np.float32), shape=shape)
        return [
            written(inputs=[spec], writer=one)[0][5] for one in ("aicpu", "thread_aicpu", "kfc")
        ]

    assert shapes(()) == ["-", "", "-"]
    assert shapes((2, 3)) == ["2x3"] * 3
    assert shapes((-1,)) == [str((1 << 64) - 1), "-1", str((1 << 32) - 1)]
    assert shapes((1,) * 25) == ["x".join("1" * 25)] * 3
    assert shapes((1,) * 26)[2] == "NA"


def test_ai_cores_count_by_the_shape_and_the_others_by_the_bytes() -> None:
    spec = TensorSpec(np.ones(4, np.float32), shape=(2, 5))
    assert [
        written(inputs=[spec], writer=one)[0][9] for one in ("aicpu", "thread_aicpu", "kfc")
    ] == [
        "4",
        "4",
        "10",
    ]
    unknown = TensorSpec(np.ones(4, np.float32), shape=(-1, 2))
    assert written(inputs=[unknown], writer="kfc")[0][9] == str(2 * ((1 << 32) - 1))
    scalar = written(inputs=[np.float32(3)], writer="kfc")[0]
    assert scalar[5:] == ["-", "3", "3", "3", "1", "0", "0", "0"]


@pytest.mark.parametrize(
    "tensor",
    [
        np.ones(2, np.complex64),
        TensorSpec(b"", dtype="FLOAT", shape=(2,), size=8),
        np.ones(2, ml_dtypes.int4),
    ],
)
def test_what_a_writer_cannot_compute(tensor: Any) -> None:
    for writer in ("aicpu", "thread_aicpu"):
        assert written(inputs=[tensor], writer=writer)[0][6:] == [""] * 7
    assert written(inputs=[tensor], writer="kfc")[0][6:] == ["NA"] * 3 + ["2"] + ["NA"] * 3


@pytest.mark.parametrize(
    ("dtype", "computed"),
    [
        (np.int8, True), (np.uint8, True), (np.int16, True), (np.int32, True),
        (np.float16, True), (np.float32, True), (ml_dtypes.bfloat16, True),
        (bool, False), (np.uint16, False), (np.uint32, False), (np.int64, False),
        (np.uint64, False), (np.float64, False), (ml_dtypes.float8_e5m2, False),
    ],
)  # fmt: skip
def test_types_of_the_ai_cores(dtype: Any, computed: bool) -> None:
    row = written(inputs=[np.ones(3).astype(dtype)], writer="kfc")[0]
    assert row[6:] == (["1", "1", "1"] if computed else ["NA"] * 3) + ["3"] + (
        ["0"] * 3 if computed else ["NA"] * 3
    )


def test_rows_are_inputs_then_outputs_and_can_be_appended(tmp_path: Path) -> None:
    x = np.ones(2, np.int8)
    path = tmp_path / "a.csv"
    testing.write_statistics_csv(path, inputs=[x, x], outputs=[x], append=True)
    testing.write_statistics_csv(path, outputs=[x], header=False, append=True)
    testing.write_statistics_csv(path, outputs=[x], append=True)
    found = path.read_text().splitlines()
    assert [line.split(",")[:2] for line in found] == [
        ["Input/Output", "Index"],
        ["Input", "0"],
        ["Input", "1"],
        ["Output", "0"],
        ["Output", "0"],
        ["Input/Output", "Index"],
        ["Output", "0"],
    ]
    testing.write_statistics_csv(path)
    assert path.read_text() == HEADER + "\n"


def test_long_name_becomes_digits_without_an_extension(tmp_path: Path) -> None:
    name = "Cast." + "x" * 300 + ".1.2.1700000000000000.csv"
    path = testing.write_statistics_csv(tmp_path / name)
    assert path.name.isdigit()
    assert (tmp_path / "mapping.csv").read_text() == f"{path.name},{name}\n"


@pytest.mark.parametrize(
    "what",
    [
        {"writer": "npu"},
        {"writer": "aicpu", "statistics": ["Max"]},
        {"writer": "thread_aicpu", "after_default": True},
        {"writer": "kfc", "statistics": []},
        {"writer": "kfc", "statistics": ["Max", "Mean"]},
    ],
)
def test_what_cannot_be_asked_for(what: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="statistics"):
        testing.write_statistics_csv(tmp_path / "a.csv", **what)
    assert not list(tmp_path.iterdir())
