"""A dump as a sequence of operators, each with its tensors; what `fastdump.open` gives."""
