"""Tables: typed columns in memory and in files, and rows that know the way to their tensors."""
