"""Every sentence of the answers, whole, with named places to fill.

A translation replaces these texts and nothing else, so none is put together from parts of
sentences. Places are filled with names, with numbers, and with the phrases at the top.
`config_catalogue` has what is found in an acl.json, `page_catalogue` what pages have beside.
"""

from __future__ import annotations

from fastdump._words.sentence import Counted, Sentence

# Numbers of things

OPERATORS = Counted("{n} operator", "{n} operators")
RANKS = Counted("{n} rank", "{n} ranks")
TENSORS = Counted("{n} tensor", "{n} tensors")
PAIRS = Counted("{n} pair", "{n} pairs")
RECORDS = Counted("{n} record", "{n} records")
TIMES = Counted("{n} more time", "{n} more times")
MORE_REMARKS = Counted("{n} more remark (-v)", "{n} more remarks (-v)")
MORE_FINDINGS = Counted("{n} more finding (-v)", "{n} more findings (-v)")

# Labels of facts

ABOUT_OPERATOR = Sentence("operator")
ABOUT_WHAT = Sentence("what")
ABOUT_WHY = Sentence("why")
ABOUT_REACH = Sentence("reach")
ABOUT_REPEATS = Sentence("again")
ABOUT_NEXT = Sentence("next")
ABOUT_LARGEST = Sentence("largest")
ABOUT_ADDED_ERROR = Sentence("added error")
ABOUT_STATUS = Sentence("status")
ABOUT_INPUTS = Sentence("inputs")
ABOUT_OUTPUTS = Sentence("outputs")
ABOUT_READER = Sentence("read by")
ABOUT_SAME = Sentence("same after")
ABOUT_CHANGED = Sentence("changed after")
ABOUT_WHO = Sentence("who")
ABOUT_CALL = Sentence("call")
ABOUT_ERROR = Sentence("error")
ABOUT_WARNING = Sentence("warning")
ABOUT_DUMPS = Sentence("dumps")
ABOUT_PLACE = Sentence("place")
ABOUT_MORE = Sentence("more")
ABOUT_VERDICT = Sentence("verdict")
ABOUT_DAMAGE = Sentence("damage")
ABOUT_FILE = Sentence("file")
ABOUT_INFECTED = Sentence("infected")
ABOUT_RECEIVED = Sentence("received")
ABOUT_SUPPRESSED = Sentence("suppressed")

# Tables, with -v

FINDINGS_AFTER = Counted("{n} more finding", "{n} more findings")
SHOWN_OF = Sentence("{shown} of {things}")
AND_MORE = Sentence("... and {n} more")

# Lists

ANOTHER_ITEM = Sentence("{items}, {item}")
ANOTHER_CLAUSE = Sentence("{clauses}; {clause}")

# Places

AT_PLACE = Sentence("{place}: {answer}")
LABELLED = Sentence("{label}: {text}")
IN_LAYER = Sentence("layer {layer}, {operator}")
OPERATOR_TENSOR = Sentence("{operator}, {tensor}")
IN_RANK = Sentence("rank {numbers}")
IN_RANKS = Sentence("ranks {numbers}")
IN_STEP = Sentence("step {numbers}")
IN_STEPS = Sentence("steps {numbers}")
ON_DEVICE = Sentence("device {numbers}")
OF_LAYER = Sentence("layer {numbers}")
INTERRUPTED = Sentence("interrupted, so far {answer}")

# Bad elements of a tensor: how many, and where they lie

COUNT_OF_BAD = Sentence("{n} {bad}")
ALL_BAD = Sentence("all elements")
THE_ONLY_ELEMENT = Sentence("the only element")
ONE_ELEMENT = Sentence("one element of {size}, {at}")
SHARE_OF_ELEMENTS = Sentence("{n} of {size} elements")
SHARE_AND_SHAPE = Sentence("{share}: {shape}")
SHARE_AND_RUN = Sentence("{share}, {shape}")
SCATTERED = Sentence("scattered: {axes}")
EVERY_NTH = Sentence("every {stride}th from {start} on")
BLOCK = Sentence("the block {place}")
TAIL = Sentence("the tail from {start} on")
RUN = Sentence("one run from {start} on")
TAIL_OF_WRITES = Sentence("the tail from {start} on ({nbytes}, a multiple of {write_nbytes} bytes)")
RUN_OF_WRITES = Sentence("one run from {start} on ({nbytes}, a multiple of {write_nbytes} bytes)")
WHOLE_LINES = Sentence("{lines}: {run}")
NAMED_LINES = Sentence("{lines} ({numbers})")
LINES_AT = Sentence("{lines} {place}")
WHOLE_ROWS = Counted("{n} whole row", "{n} whole rows")
WHOLE_COLUMNS = Counted("{n} whole column", "{n} whole columns")
WHOLE_INDICES = Counted("{n} whole index", "{n} whole indices")
OF_AXIS = Sentence("{indices} of axis {axis}")
ALONG_AXIS = Sentence("{n} of {size} along axis {axis}")
RUNS = Counted("{n} run", "{n} runs")

# Statistics

WITH_NAN = Sentence("{tensors} with NaN or +Inf")
WITH_NEG_INF = Sentence("{tensors} with -Inf")
NO_NAN = Sentence("no NaN, no Inf")
WITHOUT_COUNT = Sentence("{tensors} without a count of NaN or Inf")
SKIPPED = Sentence("skipped: {files}")

# triage: what a finding is

FIRST_BAD = Sentence("{bad} first appears in {operator}")
BAD_FROM_OUTSIDE = Sentence("{bad} comes in with {operator}")
BAD_WHEN_READ = Sentence("{bad} is already there when {operator} first reads it")
BAD_OF_UNKNOWN_ORIGIN = Sentence("{bad} first shows in {operator}, whose inputs are not all known")
BAD_OF_MISSING = Sentence("{bad} comes from {operator}, which is not in the dump")
BAD_BY_OVERWRITING = Sentence("{bad} is read by {operator} where other values were written")
SATURATED = Sentence("{operator} makes values at the limit of {dtype}")
ZEROS = Sentence("{operator} makes nothing but zeros")
JUMP = Sentence("{operator} makes values of an unusual size")
NEAR_LIMIT = Sentence("{operator} makes values near the limit of {dtype}")
REPLICAS_DIFFER = Sentence("{operator} differs between ranks that should agree")
LACKS_STEP = Sentence("{place} lacks {steps}, which others have")
LACKS_OPERATORS = Sentence(
    "{place} lacks {operators} that other ranks have; the first of them is {first}"
)
OF_STEP = Sentence("{operator} of step {step}")
NO_RANK = Sentence("what has no rank")
WITHOUT_NAME = Sentence("an operator without a name")
NOTHING_BAD = Sentence("nothing bad in {tensors}")
NO_TENSOR = Sentence("there is no tensor to look at")

# triage: facts

ELEMENTS_BAD = Sentence("{n} of {size} {dtype} elements are {bad}")
ELEMENTS_BAD_AT = Sentence("{n} of {size} {dtype} elements are {bad}: {where}")
ELEMENTS_BAD_MIXED = Sentence("{n} of {size} {dtype} elements are bad ({counts})")
ELEMENTS_BAD_MIXED_AT = Sentence("{n} of {size} {dtype} elements are bad ({counts}): {where}")
VALUES_BAD = Sentence("{dtype} {shape} with {bad}")
VALUES_AT_LIMIT = Sentence("{n} of {size} values are at the limit of {dtype}, {largest}")
VALUES_NEAR_LIMIT = Sentence("values reach {share} of what {dtype} holds")
VALUES_MAY_BE_SCALED = Sentence(
    "values reach {share} of what {dtype} holds; scaled down by up to {factor}, all stay normal"
)
VALUES_MAY_NOT_BE_SCALED = Sentence(
    "values reach {share} of what {dtype} holds; scaled down, the smallest, {least}, is subnormal"
)
VALUES_LARGER = Sentence("values are {ratio} times larger than {usual}")
VALUES_SMALLER = Sentence("values are {ratio} times smaller than {usual}")
ON_OTHER_RANKS = Sentence("on other ranks")
BEFORE = Sentence("before")
IN_OTHER_LAYERS = Sentence("in other layers")
NAN_OR_INF = Sentence("NaN or Inf")
VALUES_BETWEEN = Sentence("{dtype} {shape}, from {low} to {high}")
OVERFLOW = Sentence("overflow: finite inputs up to {reach}, {dtype} ends at {largest}")
FINITE_INPUTS = Sentence("its inputs are finite, up to {reach}")
REACH = Sentence("{operators} on {ranks}, up to {last}")
REACH_ACROSS = Sentence("{operators} on {ranks} (by {sender}), up to {last}")
ONLY_HERE = Sentence("no other operator is known to be infected")
AGAIN = Sentence("{times}: {places}")
NOT_FINDINGS = Sentence("not findings: {things}")
MASKS = Counted("{n} tensor with an attention mask", "{n} tensors with attention masks")
UNINITIALISED_TENSORS = Counted("{n} tensor not yet written", "{n} tensors not yet written")
BAD_PADDINGS = Counted("{n} tensor with bad padding only", "{n} tensors with bad padding only")
ABSORBED_TENSORS = Counted(
    "{n} bad tensor that infects nothing", "{n} bad tensors that infect nothing"
)

# triage, with -v

OF_RANK = Sentence("{operators} of rank {rank}")
KNOWN_BY = Sentence("{text} ({evidence})")
CHAIN_TO_LAST = Sentence("chain to the last of {operators}")
CHAIN_TO_LAST_SHORTENED = Sentence("chain to the last of {operators}; {n} in the middle left out")
IS_MASK = Sentence("an attention mask, of -Inf or of the smallest finite value")
IS_UNINITIALISED = Sentence("memory that was allocated and not written yet (Empty*)")
IS_PADDING = Sentence("only in the padding of a private format, which no operator uses")
IS_ABSORBED = Sentence("nothing that reads it has a bad output")
SUPPRESSED_AS = Sentence("{tensors}, {pattern}")
SUPPRESSED_LISTED = Sentence("{tensors}, {pattern}; --all lists them")

# triage: what limits the answer

NOT_AT_HAND = Sentence(
    "the files are not at hand: links are known by statistics, names and order, not by content"
)
KNOWN_BY_TIME = Sentence("inputs were not dumped: what was bad first is known by time only")
REPORTED = Sentence("{tensors} as statistics that the device computed")
SATURATION_MODE = Sentence(
    "values are at the limits of their types and none is NaN or Inf: the device may run in "
    "saturation mode, which turns Inf into the largest value and NaN into 0"
)
HEALTH_ONLY = Sentence("level health: nothing but NaN and +Inf was looked for; -Inf may be masks")
OTHER_FINDINGS = Counted(
    "{n} more finding in other operators", "{n} more findings in other operators"
)
REPEATED = Sentence("{tensors} that a watcher repeats are left out")
OF_STATUS = Sentence("{tensors} {status}")
FILES_UNREAD = Counted(
    "{n} file could not be read again for evidence",
    "{n} files could not be read again for evidence",
)

# triage: why

READS_UNINITIALISED = Sentence("it reads memory that was allocated and not written to")
MASK_TIMES = Sentence("-Inf in {tensor}, as masks have, times 0 or less -Inf gives NaN")
MASKED_ROW = Sentence("1 row of {tensor} is all -Inf: wholly masked")
MASKED_ROWS = Sentence("{n} rows of {tensor} are all -Inf: wholly masked")
MAYBE_MASKED = Sentence("{tensor} has -Inf, as masks have: a row that is wholly masked gives NaN")
ZERO_ROW = Sentence("1 row of {tensor} is all zeros: a division by zero")
ZERO_ROWS = Sentence("{n} rows of {tensor} are all zeros: a division by zero")
MAYBE_ZERO_ROWS = Sentence("{tensor} has {n} zeros: it may be a division by zero")
ONE_ZERO = Sentence("{tensor} has 1 zero: a division by zero")
SOME_ZEROS = Sentence("{tensor} has {n} zeros: a division by zero")
NEGATIVE = Sentence("{tensor} has negative values, down to {low}")
BRINGS_DATA = Sentence("it brings data in")
CLEAN_INPUTS_HERE = Sentence("its inputs are clean, and those of other ranks are not in the dump")
CLEAN_INPUTS = Sentence("its inputs are clean")
NO_INPUTS = Sentence("it has no inputs")
INPUTS_INCOMPLETE = Sentence("{tensors} is not wholly in the dump")
INPUTS_INCOMPLETE_NOR = Sentence(
    "{tensors} is not wholly in the dump, nor was {operator}, which runs before it in other steps"
)
FROM_MISSING_RANK = Sentence("it may have got them from a rank that is not in the dump")
FROM_MISSING_RANK_NOR = Sentence(
    "it may have got them from a rank that is not in the dump, nor was {operator}, which runs "
    "before it in other steps"
)
INPUTS_NOT_DUMPED = Sentence("its inputs were not dumped")
INPUTS_NOT_DUMPED_NOR = Sentence(
    "its inputs were not dumped, nor was {operator}, which runs before it in other steps"
)
UNEXPLAINED = Sentence("what it read is bad, and nothing before it tells why")
IN_A_CIRCLE = Sentence("all that is bad seems to come from something else that is")
MADE_INPUT = Sentence("it made {tensor} of {operator}, by other steps")
MADE_INPUT_NOR = Sentence(
    "it made {tensor} of {operator}, by other steps (nor is {others}, from which that may come)"
)
WAS_CLEAN = Sentence("{tensor} of {operator} was clean")
OUTPUT_CUT_OFF = Sentence(
    "its inputs are clean, its output is cut off; {tensor} of {operator} shows it"
)
LITTLE_DUMPED = Sentence("little of it is in the dump; {tensor} of {operator} shows it")
ONLY_INPUTS_DUMPED = Sentence("only inputs were dumped")
ONLY_INPUTS_DUMPED_AFTER = Sentence(
    "only inputs were dumped; {operator} ran before it and read clean values"
)
NO_MAKER = Sentence("no operator in the dump made it")
CLEAN_AT_ADDRESS = Sentence("{operator} wrote clean values to its address")
SAME_ON_ALL_RANKS = Sentence("all ranks get the same from it, and {other} has other values")
REPLICATED = Sentence("it is replicated, and {other} has other values")

# compare

OTHER_OPERATORS = Counted("{n} other operator", "{n} other operators")
OPERATOR_DIVERGES = Sentence("{operator} diverges")
RUNS_PART = Sentence("the runs part in {operator}")
NO_PAIRS = Sentence("nothing was compared: no tensor of a has a partner in b")
PAIRS_NOT_COMPARED = Sentence("nothing was compared: of {pairs} none could be read on both sides")
BIT_EQUAL = Sentence("the runs agree: {pairs}, bit-equal")
AGREE = Sentence("the runs agree within tolerance: {pairs}")
STATISTICS_AGREE = Sentence("statistics of {pairs} agree; no element was compared")
AGREE_BUT_FOR_PRECISION = Sentence("the runs agree within what {dtype} explains: {pairs}")
LARGEST_ADDED_ERROR = Sentence("added error {error} in {operator}, {tensor}")
DISTANCE = Sentence("distance {distance}, cosine {cosine}; {n} of {size} elements differ")
STATISTICS_DIFFER = Sentence("statistics that differ by {difference}")
BAD_COUNTS_DIFFER = Sentence("other numbers of NaN and Inf")
BAD_ONLY_IN_A = Sentence("{n} NaN or Inf only in a")
BAD_ONLY_IN_B = Sentence("{n} NaN or Inf only in b")
RELATIVE_DISTANCE = Sentence("relative distance {distance}")
COSINE = Sentence("cosine {cosine}")
MISMATCHES = Sentence("{n} of {size} elements mismatch")
BAD_ON_ONE_SIDE = Sentence("{n} of {size} elements are NaN or Inf in one run only")
DIVERGES_BY_ITSELF = Sentence("by itself: its inputs agree")
PARAMETER_DIFFERS = Sentence("it reads a parameter that differs; its other inputs agree")
INPUTS_DIVERGE = Sentence("its inputs diverge already, which nothing compared before explains")
INPUTS_NOT_COMPARED = Sentence("not known: not all of its inputs were compared")
INPUT_DIVERGES = Sentence("an input diverges, which nothing compared before explains")
REPLACED = Sentence("b has {operator} in its place; its inputs agree")
UNPAIRED = Sentence("it reads what {operator} made in a and {other} in b")
UNPAIRED_IN_A = Sentence("it reads what {operator} made, which only a has there")
UNPAIRED_IN_B = Sentence("it reads what {operator} made, which only b has there")
REWIRED = Sentence("it reads the output of {operator} in a, of {other} in b")
NO_OTHER_DIVERGES = Sentence("no other operator diverges")
OTHERS_DIVERGE = Sentence("{operators} diverging later, none by itself")
OTHERS_DIVERGE_THEMSELVES = Sentence("{operators} diverging later, {own} not by inheritance")
COMPARED = Sentence("{pairs} compared: {verdicts}")
N_EQUAL = Sentence("{n} equal")
N_CLOSE = Sentence("{n} close")
N_SIMILAR = Sentence("{n} similar")
N_EXPLAINED = Sentence("{n} explained")
N_DIVERGE = Sentence("{n} diverging")
RETYPED = Sentence("{operators} computing in another type, first {dtype} in a, {other} in b")
NOT_REACHED = Sentence("{pairs} not reached")
PAIRED_BY = Sentence("{pairs} ({found})")
N_BY = Sentence("{n} by {how}")
TITLE = Sentence("{title}:")
TITLE_SHOWN_OF = Sentence("{title}, {shown} of {n}:")
ONLY_IN_A = Sentence("{tensors} only in a")
ONLY_IN_B = Sentence("{tensors} only in b")
ONLY_CASTS_IN_A = Sentence("{tensors} of casts only in a")
ONLY_CASTS_IN_B = Sentence("{tensors} of casts only in b")

# overflow

OVERFLOWS = Counted("{n} overflow", "{n} overflows")
MORE_TENSORS = Counted("{n} more tensor", "{n} more tensors")
OVERFLOWED = Sentence("{operator} overflowed on {unit}")
MAY_HAVE_OVERFLOWED = Sentence("{operator} probably overflowed on {unit}")
UNKNOWN_OVERFLOWED = Sentence("task {task} of stream {stream} overflowed on {unit}")
NO_OVERFLOW = Sentence("no overflow in {records}")
NO_RECORD = Sentence("no overflow record")
RECORDS_UNREAD = Counted("{n} record could not be read", "{n} records could not be read")
FILES_NOT_READ = Counted("{n} file could not be read", "{n} files could not be read")
STATUS = Sentence("{masks}: {meaning}")
NOT_DUMPED = Sentence("not dumped")
FINITE = Sentence("finite")
FINITE_UP_TO = Sentence("finite, up to {reach}; {dtype} ends at {largest}")
TENSOR_BAD = Sentence("{tensor} has {counts}")
TENSOR_BAD_AT = Sentence("{tensor} has {counts}, the first at {where}")
TENSOR_SATURATED = Sentence("{tensor} has {n} elements at the largest value of {dtype}")
TENSOR_STATUS = Sentence("{tensor} is {status}")
AND_MORE_TENSORS = Sentence("{tensor}; {tensors}")
NEGATED = Sentence("the most negative signed integer was negated")
INTEGER_OVERFLOW = Sentence(
    "integer overflow in an addition, subtraction, multiplication or multiply-add"
)
FLOAT_OVERFLOW = Sentence("floating-point overflow")
NEGATIVE_TO_UNSIGNED = Sentence("a negative float was converted to an unsigned integer")
OVERFLOW_TO_FLOAT16 = Sentence("overflow in a conversion of float32 or int32 to float16")
CUBE_OVERFLOW = Sentence("overflow in the accumulation of the cube unit")
BIT_UNKNOWN = Sentence("bit {bit} is not documented")
BITS_UNKNOWN = Sentence("bits {bits} are not documented")
BIT_OF_UNIT_UNKNOWN = Sentence("bit {bit} of {unit} is not documented")
BITS_OF_UNIT_UNKNOWN = Sentence("bits {bits} of {unit} are not documented")
BIT_OF_STATUS = Sentence("{bit} of status {number}")
NO_BIT = Sentence("no overflow")
OTHER_FILES = Counted("{n} other file", "{n} other files")
TASK_UNKNOWN = Sentence("the record does not know the task ({task})")
STREAM_UNKNOWN = Sentence("the record does not know the stream ({stream})")
NAME_WITHOUT_STREAM = Sentence("the file's name tells no stream")
NO_FILE_OF_NAME = Sentence("{reason}, and no file is one of {name}")
BY_NAME_OF_RECORD = Sentence("{reason}; by the name of the record's file")
NOT_DUMPED_THERE = Sentence("no operator with {ids} was dumped in its place")
NOT_DUMPED_OTHER_STREAM = Sentence(
    "no operator with {ids} was dumped in its place; of that task there is 1 file of stream "
    "{streams}"
)
NOT_DUMPED_OTHER_STREAMS = Sentence(
    "no operator with {ids} was dumped in its place; of that task there are {n} files of stream "
    "{streams}"
)
TASK = Sentence("task {task}")
TASK_AND_STREAM = Sentence("task {task} and stream {stream}")
CONTEXT = Sentence("context {number}")
THREAD = Sentence("thread {number}")
TIME_DOES_NOT_TELL = Sentence("time does not tell it from {files}: {names}")
NEAREST_IN_TIME = Sentence(
    "nearest in time; its task and stream are also those of {files}: {names}"
)
NEAREST_BY_MICROSECONDS = Sentence(
    "nearest in time, {n} us from the record; its task and stream are also those of {files}: "
    "{names}"
)
OVERFLOWS_REACH = Sentence("{overflows} of {operators}: {places}")

# overflow, with -v

THE_FIRST = Sentence("the first: {paths}")
JOIN_REMARK = Sentence("{path}: joined, {join}: {note}")
NOT_JOINED_REMARK = Sentence("{path}: not joined: {note}")
NOT_JOINED = Sentence("not joined")
STATUS_OF_FILE = Sentence("{path}: {status}")
STATUS_OF_FILE_BECAUSE = Sentence("{path}: {status}: {note}")
SILENT_RECORDS = Counted(
    "{n} record in which no unit overflowed", "{n} records in which no unit overflowed"
)

# watcher

RECORDINGS = Counted("{n} recording", "{n} recordings")
INPUTS = Counted("{n} input", "{n} inputs")
N_SAME = Counted("{n} tensor unchanged", "{n} tensors unchanged")
N_CHANGED = Counted("{n} tensor changed", "{n} tensors changed")
UNCHECKED = Sentence("{tensors} not compared: {statuses}")
CHANGED = Sentence("{tensor} of {operator} was overwritten")
NOT_WHAT_WAS_WRITTEN = Sentence("{tensor} of {operator} may have been overwritten")
OPERATOR_WITH_TENSOR = Sentence("{operator} ({dtype} {shape})")
BYTES_CHANGED = Sentence("bytes {first} to {last} of {nbytes}")
BYTES_CHANGED_WHERE = Sentence("bytes {first} to {last} of {nbytes}: {where}")
WROTE_THERE = Sentence("{operator}, whose {tensor} lay there in between")
WROTE_THESE_BYTES = Sentence("{operator}, whose {tensor} has the bytes found there")
NOBODY_KNOWN = Sentence("no other output that was dumped lies there")
NO_ADDRESSES = Sentence("No input has a device address, or there are no inputs in the dump.")
UNRESOLVED = Sentence(
    "{files} may be of dump_scene=watcher by their names (A_To_B), but no file of an operator B is "
    "there: they were taken for operators of such names."
)
CHECKED_WATCHER = Sentence(
    "Check: recordings after other operators (dump_scene=watcher) against the watched operators' "
    "own outputs."
)
CHECKED_ADDRESSES = Sentence(
    "Check: inputs against the outputs that last lay at their device addresses (this is no dump of "
    "dump_scene=watcher)."
)
CHANGES = Counted("{n} change", "{n} changes")
TENSORS_UNCHECKED = Counted("{n} tensor not compared", "{n} tensors not compared")
SUSPECT = Sentence("{tensor} of {operator}: bytes {first} to {last} by {suspect}")
RECORDED_BEFORE = Sentence("{n} recorded before the watched operator ran")
IN_PLACE = Sentence("{n} written where they are read")
WITHOUT_WRITER = Sentence("{n} without a writer")
WITHOUT_OWN_FILE = Sentence("{n} without a file of the watched operator")
N_OF_STATUS = Sentence("{n} {status}")
NO_CHANGE = Sentence("no change: {seen} equal, byte for byte, to what was written")
NO_RECORDING = Sentence("nothing could be compared: no recording has an output to compare with")
NO_INPUT = Sentence("nothing could be compared: no input has an output to compare with")

# follow

FILES = Counted("{n} file", "{n} files")
STEPS = Counted("{n} step", "{n} steps")
STEPS_SO_FAR = Sentence("{steps} (last: {last})")
N_BAD = Sentence("{n} bad")
N_DAMAGED = Sentence("{n} damaged")
N_WAITING = Sentence("{n} waiting")
KNOWN_BEFORE = Sentence("known from before:")
EARLIER_ORIGIN = Sentence("an earlier origin has come to light:")
OTHER_ORIGIN = Sentence("the origin that was told is gone, and this is the first one now:")
ALSO = Sentence("also {finding}")
DELETED = Counted("deleted {n} clean file", "deleted {n} clean files")
WOULD_DELETE = Counted("would delete {n} clean file", "would delete {n} clean files")
WOULD_DELETE_FILE = Sentence("would delete {path}")
TRIED_AGAIN = Sentence("{trouble}; it is tried again")
COMMAND_FAILED = Sentence("the command of --on-finding ended with {code}: {command}")

# config check

MORE_ERRORS = Counted("{n} more error", "{n} more errors")
MORE_WARNINGS = Counted("{n} more warning", "{n} more warnings")
ERRORS_AND_WARNINGS = Sentence("{errors}, {warnings}")
REFUSED = Sentence("{name}: refused")
ACCEPTED = Sentence("{name}: accepted")
ACCEPTED_BUT_OFF = Sentence("{name}: accepted, but nothing is dumped")
ACCEPTED_WITHOUT_GRAPHS = Sentence("{name}: accepted, but no operator of a graph is dumped")
ACCEPTED_WITH_PATTERNS = Sentence("{name}: accepted, but wildcards in names are taken literally")
CALL_FAILS = Sentence("fails with {code}; nothing is dumped")
CALL_SUCCEEDS = Sentence("succeeds")
CALL_IS_LOGGED = Sentence("succeeds; only the log has what the graph engine says")
