"""One dump file for a person to look at: header, tensors, statistics, elements."""
