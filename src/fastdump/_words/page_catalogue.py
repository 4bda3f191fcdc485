"""Every sentence that pages have beside answers, whole, with named places to fill."""

from __future__ import annotations

from fastdump._words.sentence import Counted, Sentence

# The page

CONTENTS = Sentence("Contents")
COMMAND = Sentence("command")
SHOW = Sentence("show")
COPY = Sentence("copy")
COPIED = Sentence("copied")
SELECTED = Sentence("selected")
FILTER_HINT = Sentence("filter: words, or rank:1 layer:0-3")
FILTER_OF = Sentence("Filter {table}")
ROWS = Counted("{n} row", "{n} rows")
SOME_OF_ROWS = Sentence("{n} of {rows}")
WORST_OF_ROWS = Sentence("The worst {n} of {all} rows.")
FIRST_OF_ROWS = Sentence("The first {n} of {all}.")

# What was looked at

ABOUT_DUMP = Sentence("dump")
ABOUT_RANKS = Sentence("ranks")
ABOUT_STEPS = Sentence("steps")
ABOUT_READING = Sentence("read")
ABOUT_COMPARED = Sentence("compared")
ABOUT_PAIRING = Sentence("paired by")
ABOUT_TOLERANCES = Sentence("tolerances")
ABOUT_MAKING = Sentence("made")
NOT_KNOWN = Sentence("not known")
WAS_READ = Sentence("{tensors} of {files}, {nbytes}, level {level}")
MADE_AT = Sentence("{time}, fastdump {version}")
OWN_TOLERANCES = Sentence("those of the element types")

# Headings

ANSWER = Sentence("Answer")
IN_FULL = Sentence("In full")
SUMMARY = Sentence("Summary")
HOW_IT_SPREAD = Sentence("How it spread")
FINDINGS = Sentence("Findings")
WHERE_IT_IS_BAD = Sentence("Where it is bad")
HOW_LARGE = Sentence("How large values are")
TENSORS = Sentence("Tensors")
WHERE_IT_BEGAN = Sentence("The tensors where it began")
WHERE_THEY_PART = Sentence("Where they part")
OPERATORS_AND_PAIRS = Sentence("Operators and pairs")

# Tables

MOST_URGENT_FIRST = Sentence("The most urgent first")
WORST_FIRST = Sentence("The worst first")
ELEMENT_TYPES = Sentence("Element types")
BAD_ON_PURPOSE = Sentence("Bad on purpose, so no findings")
BY_ADDED_ERROR = Sentence("Operators by the error that they add")
WORST_PAIRS = Sentence("Worst pairs")
BEYOND_A_LIMIT = Sentence("Pairs beyond a limit")
WITHOUT_PARTNER = Sentence("Without a partner")
MORE_FINDINGS = Counted(
    "{n} finding more, which --json lists.", "{n} findings more, which --json lists."
)

# The graph around a finding

FROM_THE_ORIGIN = Sentence("From the origin on, in the order of execution")
FROM_THE_ORIGIN_MORE = Sentence("From the origin on, in the order of execution; {operators} more")
THE_ORIGIN = Sentence("origin")
INFECTED = Sentence("infected")
LINK_KNOWN_BY = Sentence("{tensor}; known by {ways}")
TENSOR_IS_BAD = Sentence("{tensor}: {counts}")
TENSOR_BETWEEN = Sentence("{tensor}: {low} to {high}")

# Axes of figures

LAYER = Sentence("layer")
RANK = Sentence("rank")
STEP = Sentence("step")
OP_TYPE = Sentence("op_type")
EXECUTION = Sentence("execution")
TYPE_OF_OPERATOR = Sentence("type of operator")
ALL = Sentence("all")
GROUP = Sentence("{label} {name}")
LARGEST_OF_GROUPS = Sentence("largest of {n} {label}s")
MEDIAN_OF_GROUPS = Sentence("median of {n} {label}s")
LEAST_OF_GROUPS = Sentence("least of {n} {label}s")
PAIR_OF_TENSORS = Sentence("pair of tensors")

# Figures of one dump

HEALTH_BY = Sentence("Health by {y} and {x}")
ALONG_EXECUTION = Sentence("Along the execution")
ALONG_EXECUTION_OF_STEP = Sentence("Along the execution of step {step}")
CELL_STATE = Sentence("{state}: {tensors}, first {tensor}")
NOTHING_BAD = Sentence("nothing bad")
MASK = Sentence("-Inf or the least value, often a mask")
NEAR_LARGEST = Sentence("within 2x of the largest value")
AT_LARGEST = Sentence("at the largest value of its type")
NOT_WHOLE = Sentence("not read whole")
NAN_OR_POS_INF = Sentence("NaN or +Inf")
MOST_URGENT_STATE = Sentence("The most urgent state of any tensor.")
RING_ORIGIN = Sentence("A ring marks where it began.")
CLICK_TENSORS = Sentence("A click on a cell lists its tensors.")
EXECUTIONS = Sentence("Executions of operators from left to right, as each rank ran them.")
RMS_OVER_LAYERS = Sentence("Root mean square of outputs over layers")
RMS_OVER_STEPS = Sentence("Root mean square of outputs over steps")
RMS_BY = Sentence("Root mean square of outputs by {y} and {x}")
RMS = Sentence("root mean square")
OF_OUTPUTS_OF_LAYER = Sentence("Of the finite elements of all outputs of a layer.")
OF_OUTPUTS_OF_STEP = Sentence("Of the finite elements of all outputs of a step.")
OF_OUTPUTS_IN_STEP = Sentence("Of the finite elements of all outputs of a layer in a step.")
LARGEST_OVER_LAYERS = Sentence("Largest magnitude of finite elements over layers")
LARGEST_OVER_STEPS = Sentence("Largest magnitude of finite elements over steps")
MAGNITUDE = Sentence("magnitude")
OF_ALL_TENSORS = Sentence("Of all tensors of floats but masks.")
SHARES_OVER_LAYERS = Sentence("Share of zero, subnormal and saturated elements over layers")
SHARES_OVER_STEPS = Sentence("Share of zero, subnormal and saturated elements over steps")
SHARE_OF_ELEMENTS = Sentence("share of elements")
ZEROS_OF_TYPE = Sentence("{dtype} zero")
SUBNORMALS_OF_TYPE = Sentence("{dtype} subnormal")
SATURATED_OF_TYPE = Sentence("{dtype} saturated")
WHAT_UNDERFLOW_LEAVES = Sentence(
    "Zeros and subnormals are what underflow leaves, saturated elements what overflow."
)
HEADROOM = Sentence("Headroom of float16, the least of all tensors")
TIMES_LARGER = Sentence("times larger")
WHAT_HEADROOM_IS = Sentence("How many times larger values could become before float16 ends.")
BAD_FROM_ORIGIN = Sentence("Bad elements from the origin on")
OPERATORS_IN_ORDER = Sentence("operator, in the order of execution")
SHARE_OF_BAD = Sentence("share of elements that are NaN or Inf")
BAD = Sentence("bad")

# Figures of one tensor

MAGNITUDES_OF = Sentence("Magnitudes of {tensor}, {dtype}")
POWER_OF_TWO = Sentence("magnitude, from this power of two on")
NUMBER_OF_ELEMENTS = Sentence("number of elements")
NUMBER_OF_ELEMENTS_OF = Sentence("number of elements, {n} of {size}")
LEAST_NORMAL = Sentence("least normal")
LARGEST = Sentence("largest")
OF_OPERATOR = Sentence("Of {operator}. Zeros are on the left, what is not finite on the right.")
TENSOR_OF_FILE = Sentence("{tensor} of {path}: {error}")

# Figures of a comparison

ERROR_ALONG_EXECUTION = Sentence("Error along the execution")
RELATIVE_DISTANCE = Sentence("relative distance")
FIRST_DIVERGENCE = Sentence("first divergence")
ONE_POINT_A_PAIR = Sentence(
    "One point a pair of tensors, the first of a on the left. Pairs that are equal, or nearer than "
    "1e-12, are at the bottom, pairs with NaN or Inf in only one of the two at the top."
)
VERDICTS_BY = Sentence("Verdicts by {y} and {x}")
MOST_URGENT_VERDICT = Sentence("The most urgent verdict of any pair.")
RING_DIVERGENCE = Sentence("A ring marks the first divergence.")
CLICK_PAIRS = Sentence("A click on a cell lists its pairs.")
CELL_VERDICT = Sentence("{verdict}: {pair}")
EQUAL = Sentence("equal")
WITHIN_TOLERANCE = Sentence("within tolerance")
EXPLAINED = Sentence("explained by precision")
PASSED_ON = Sentence("diverges, passed on")
BY_ITSELF = Sentence("diverges by itself")

# Texts of several sentences

AND_SENTENCE = Sentence("{text} {sentence}")
