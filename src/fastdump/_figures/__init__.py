"""Figures: what is to be seen in one, and how two libraries draw it.

`figures` has the things that other rooms fill with numbers; `on_page` draws them with Bokeh for a
page of HTML, `on_axes` with matplotlib for papers. The libraries are imported when something is
drawn.
"""
