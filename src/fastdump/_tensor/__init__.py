"""One dump file and the tensors in it, as arrays that are read where and when they are used."""
