"""Every sentence of the answers, whole, with named places to fill.

A translation replaces these texts and nothing else, so none is put together from parts of
sentences. Places are filled with names, with numbers, and with the phrases at the top.
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

# Places

AT_PLACE = Sentence("{place}: {answer}")
IN_LAYER = Sentence("layer {layer}, {operator}")
OPERATOR_TENSOR = Sentence("{operator}, {tensor}")
IN_RANK = Sentence("rank {ranks}")
IN_RANKS = Sentence("ranks {ranks}")
IN_STEP = Sentence("step {steps}")
IN_STEPS = Sentence("steps {steps}")
INTERRUPTED = Sentence("interrupted, so far {answer}")

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
VALUES_LARGER = Sentence("values are {ratio} times larger than {usual}")
VALUES_SMALLER = Sentence("values are {ratio} times smaller than {usual}")
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
