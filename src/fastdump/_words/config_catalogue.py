"""Every sentence about an acl.json in an answer, whole, with named places to fill."""

from __future__ import annotations

from fastdump._words.sentence import Sentence

# Kinds of values

A_NUMBER = Sentence("a number")
A_STRING = Sentence("a string")
AN_ARRAY = Sentence("an array")
AN_OBJECT = Sentence("an object")
ARRAY_OF_STRINGS = Sentence("an array of strings")
ARRAY_OF_OBJECTS = Sentence("an array of objects")

# The text

TOO_MANY_BYTES = Sentence("more than {most} bytes")
OBJECTS_NEST = Sentence("objects nest {n} deep, at most {most} are allowed")
ARRAYS_NEST = Sentence("arrays nest {n} deep, at most {most} are allowed")
VALUES_NEST = Sentence("values nest {n} deep, at most {most} are read")
ENDS_AT_NUL = Sentence("the text ends at a NUL byte; {n} bytes after it are not read")
NOT_UTF8 = Sentence("byte {byte} is not UTF-8")
KEY_REPEATED = Sentence("the key is repeated; its last value counts")
NUMBER_TOO_LARGE = Sentence("the number is too large")
NOT_A_VALUE = Sentence("{word} is not a JSON value")
HALF_SURROGATE = Sentence("half of a surrogate pair")
FILE_EMPTY = Sentence("the file is empty: nothing is dumped")
NOT_AN_OBJECT = Sentence("the outermost value is {found}, not an object: nothing is dumped")
NO_DUMP_KEY = Sentence('there is no key "dump": nothing is dumped')
NO_DUMP_KEY_BUT = Sentence('there is no key "dump" (but a key {near}): nothing is dumped')
OBJECT_EMPTY = Sentence("the object is empty: nothing is dumped")
OLD_RELEASES_REFUSE_EMPTY = Sentence("releases before 9.1.0 refuse an empty object")
MORE_OF_RULE = Sentence("further findings of the rule {rule} are not listed")

# Types and values

WRONG_TYPE = Sentence("{found} where {expected} is expected")
NOT_NEAR_VALUE = Sentence("{value} is not {near}")
NOT_ONE_OF = Sentence("{value} is not one of {values}")
UNKNOWN_KEY = Sentence("unknown key {name}")
UNKNOWN_KEY_NEAR = Sentence("unknown key {name}; did you mean {near}?")

# What keys demand of each other

IS_MISSING = Sentence("{name} is missing")
IS_EMPTY = Sentence("{name} is empty")
CONFLICTS_WITH_DEBUG = Sentence('"on" conflicts with dump_debug "on"')
CONFLICTS_WITH_SCENE = Sentence('"on" conflicts with dump_scene {scene}')
WATCHER_MODE = Sentence('{mode} with dump_scene "watcher", expected "output"')
PATH_TOO_LONG = Sentence("{n} bytes long, at most {most} are allowed")
PATH_CHARACTERS = Sentence("forbidden characters after the address: {characters}")
PATH_MISSING = Sentence("{path} does not exist on this machine")
RELATIVE_PATH_MISSING = Sentence(
    "{path} does not exist on this machine, relative to the current directory"
)
PATH_NOT_DIRECTORY = Sentence("{path} is not a directory on this machine")
PATH_NOT_USABLE = Sentence("{path} cannot be read and written by this user")
TOO_MANY_ITEMS = Sentence("{n} items, at most {most} are allowed")
STEP_EMPTY = Sentence("item {i} is empty")
STEP_DASHES = Sentence("item {i}, {item}, has more than one dash")
STEP_NOT_NUMBER = Sentence("item {i}, {item}, is not a number or a range such as 5-10")
STEP_BACKWARDS = Sentence("item {i}, {item}, is a range that ends before it begins")
NEEDS_VALUE = Sentence("{name} needs {key} {value}; {key} is {found}")
NEEDS_VALUE_NOT_DEFAULT = Sentence(
    "{name} needs {key} {value}; {key} is missing, which means {found}"
)
LAYER_EMPTY = Sentence("layer is empty; leave it out to select all operators")
NODES_NEED_WATCHER = Sentence('watcher_nodes needs dump_scene "watcher"')
NO_MODEL_WITH_WATCHER = Sentence('a model_name is not allowed with dump_scene "watcher"')
RANGE_NEEDS_MODEL = Sentence("opname_range needs a model_name, which is missing")
RANGE_NEEDS_MODEL_NOT_EMPTY = Sentence("opname_range needs a model_name, which is empty")
RANGE_LACKS = Sentence("{name} of the range is missing")
RANGE_HAS_EMPTY = Sentence("{name} of the range is empty")

# What is accepted, but surprises

GRAPH_ENGINE_REFUSES = Sentence(
    "the graph engine refuses this ({reason}): operators of graphs are not dumped, and only its "
    "log says so"
)
TAKEN_LITERALLY = Sentence("{path} is taken literally")
NO_ADDRESS = Sentence(
    "{host} is not an IPv4 address followed by a path, so all of it is a local path"
)
ONLY_KERNEL_MESSAGES = Sentence("only messages of kernels are dumped")
NOTHING_DUMPED = Sentence("nothing is dumped")
NOTHING_DUMPED_LIST_EMPTY = Sentence(
    "nothing is dumped: dump_list is empty; [{{}}] would select all operators of all models"
)
IGNORED_IN_EXCEPTION = Sentence("{name} is ignored in an exception scene")
IGNORED_WITHOUT_PATH = Sentence(
    "dump_kernel_data is ignored in an exception scene without dump_path"
)
SCENE_NEEDS_DEVICE = Sentence("not every device and driver supports this scene")
MODE_OF_OVERFLOW = Sentence("dump_mode is ignored: an overflow dump has inputs and outputs")
DATA_OF_OVERFLOW = Sentence("{name} is ignored: an overflow dump has tensors")
NOTHING_WATCHED = Sentence("no operator is watched")
OLD_RELEASE_WATCHER = Sentence('release 8.5.0 refuses a watcher without "dump_mode": "output"')
LIST_WITHOUT_GRAPHS = Sentence(
    'dump_list selects operators of graphs, which dump_level "kernel" leaves out'
)
NO_WILDCARD = Sentence(
    "{character} in {name} is no wildcard; 'fastdump config new' with --like DUMP writes the names "
    "that it stands for"
)
WATCHED_TOO = Sentence("{name} is in watcher_nodes too: nothing is dumped again after it")
ENTRY_DROPPED = Sentence(
    "this entry is dropped, because its {name} is empty; the other entries stay"
)
ALL_ENTRIES_DROPPED = Sentence(
    "this entry is dropped, because its {name} is empty; no entry is left, so all models are dumped"
)
SAME_MODEL_LATER = Sentence("this entry does not count: entry {i} has the same model_name")
NO_MODEL_LATER = Sentence("this entry does not count: entry {i} has no model_name either")
ALL_MODELS_LATER = Sentence(
    "this entry does not count: entry {i}, which has no model_name, decides for all models"
)
EXCLUDES_NOTHING = Sentence("this item excludes nothing: its {name} is missing or empty")
NO_POSITION = Sentence("{position} is not inputN or outputN and is ignored")
NOT_DUMPED_ANYWAY = Sentence("{position} is not dumped anyway, with dump_mode {mode}")

# Why the graph engine refuses

OUTERMOST_IS = Sentence("the outermost value is {found}")
VALUE_IS = Sentence("{name} is {found}")
ARRAY_HOLDS = Sentence("{name} holds {found}")
DEBUG_AND_LIST = Sentence("dump_debug is on and there is a dump_list")
ON_WITH_SCENE = Sentence("{name} is on and there is a dump_scene")
WATCHER_WITHOUT_OUTPUT = Sentence("dump_mode of a watcher is not output")
ENGINE_PATH_TOO_LONG = Sentence("dump_path is too long")
ENGINE_CHARACTERS = Sentence("forbidden characters in dump_path: {characters}")
ENGINE_STEP_ITEMS = Sentence("dump_step has more than {most} items")
ENGINE_STEP = Sentence("dump_step has {item}")
RANGE_WITHOUT_LEVEL = Sentence("opname_range without dump_level op")
RANGE_WITHOUT_MODEL = Sentence("opname_range without model_name")
RANGE_WITHOUT_ENDS = Sentence("a range without begin or end")
STATS_WITHOUT_DATA = Sentence("dump_stats without dump_data stats")

# Where

LINE_AND_COLUMN = Sentence("line {line}, column {column}")
PATH_AND_LINE = Sentence("{path} ({line})")

# What is dumped

DUMPS_NOTHING = Sentence("Nothing: no dump_list, no switch, no scene.")
DUMPS_KERNEL_MESSAGES = Sentence("Only what kernels print: {kinds}.")
AND_KERNEL_MESSAGES = Sentence("What kernels print: {kinds}.")
DUMPS_OF_EXCEPTIONS = Sentence(
    "Inputs, outputs and workspaces of operators that fail with an AI Core error, as bytes without "
    "a type."
)
DUMPS_OF_EXCEPTIONS_TYPED = Sentence(
    "Inputs, outputs and workspaces of operators that fail with an AI Core error, with shapes, "
    "types, formats and attributes."
)
DUMPS_OF_EXCEPTIONS_DETAILED = Sentence(
    "Inputs, outputs and workspaces of operators that fail with an AI Core error, with the memory, "
    "the registers and the call stack of the AI Cores."
)
DUMPS_OVERFLOWS = Sentence("Inputs and outputs of every AI Core operator that overflows.")
DUMPS_STATUS = Sentence("What the status registers say of every overflow.")
DUMPS_INPUTS = Sentence("Inputs of {operators}.")
DUMPS_OUTPUTS = Sentence("Outputs of {operators}.")
DUMPS_ALL = Sentence("Inputs and outputs of {operators}.")
DUMPS_STATISTICS_OF_INPUTS = Sentence("{statistics} of inputs of {operators}, in CSV files.")
DUMPS_STATISTICS_OF_OUTPUTS = Sentence("{statistics} of outputs of {operators}, in CSV files.")
DUMPS_STATISTICS_OF_ALL = Sentence(
    "{statistics} of inputs and outputs of {operators}, in CSV files."
)
DUMPS_NOT = Sentence("But not {tensors}.")
DUMPS_STEPS = Sentence("Only these steps: {steps}.")
DUMPS_ALL_STEPS = Sentence("All steps.")
WATCHES_NOTHING = Sentence("No operator is watched, because no entry has watcher_nodes.")
WATCHES = Sentence(
    "Outputs of {watched} after they have run, and again after each operator has run."
)
WATCHES_AFTER = Sentence(
    "Outputs of {watched} after they have run, and again after each of {executed} has run."
)
WATCHED_DIFFERS = Sentence("If the two differ, memory was overwritten between them.")
ALL_OPERATORS_OF_ALL = Sentence("all operators of all models")
ALL_OPERATORS_OF_MODEL = Sentence("all operators of model {model}")
OPERATORS_OF_ALL = Sentence("operators {names} of all models")
OPERATORS_OF_MODEL = Sentence("operators {names} of model {model}")
FROM_TO = Sentence("{begin} to {end}")
ONE_BY_ONE = Sentence("operators that are run one by one")
KERNELS = Sentence("kernels of the single-operator API (aclnn)")
EXCLUDED_TYPE = Sentence("{positions} of operators of type {name}")
EXCLUDED_NAME = Sentence("{positions} of operators of name {name}")
EXCLUDED_TYPE_OF_MODEL = Sentence("{positions} of operators of type {name} of model {model}")
EXCLUDED_NAME_OF_MODEL = Sentence("{positions} of operators of name {name} of model {model}")
AND_OTHERS = Sentence("{names} and {other}")
AND_N_MORE = Sentence("{names} and {n} more")

# What is wrong with the JSON, as the standard library's decoder has it

END_OF_TEXT = Sentence("the end of the text")
EXPECTED_VALUE = Sentence("expected value, found {found}")
EXPECTED_COMMA = Sentence("expected ',' delimiter, found {found}")
EXPECTED_COLON = Sentence("expected ':' delimiter, found {found}")
EXPECTED_NAME = Sentence("expected property name enclosed in double quotes, found {found}")
UNTERMINATED_STRING = Sentence("unterminated string")
CONTROL_CHARACTER = Sentence("invalid control character")
INVALID_ESCAPE = Sentence("invalid \\escape")
INVALID_UNICODE_ESCAPE = Sentence("invalid \\uXXXX escape")
EXTRA_DATA = Sentence("extra data")
TRAILING_COMMA_IN_OBJECT = Sentence("illegal trailing comma before end of object")
TRAILING_COMMA_IN_ARRAY = Sentence("illegal trailing comma before end of array")
