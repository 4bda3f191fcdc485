"""A dump in a terminal: places, rows, tensors and the ways of bad values, on full screens.

Data flows one way. `loading` turns paths into tables, in a thread. Of a table, `health` and
`places` make arrays, once; `row_filter` and `row_order` choose rows by arrays of indices. `columns`
and `comparison_columns` say what is shown of a row. The widgets `place_tree` and `table_view` make
lines of what is visible, and nothing of the rest. The screens `rows_screen`, `tensor_screen`,
`way_screen` and `comparison_screen` put widgets together, and `app` the screens.

The package textual is needed for widgets, screens and `app`, and for nothing else.
"""
