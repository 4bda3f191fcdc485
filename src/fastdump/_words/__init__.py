"""Text for people: safe text, quantities, places, styles, and tables as text or HTML.

This room knows neither tables of statistics nor dumps; its functions take plain values.
"""
