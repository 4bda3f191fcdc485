"""The elements of one array: types, packing and layouts, statistics, histograms and damage.

This room knows no files; it works on any array.
"""
