"""Inventory of a dump: counts and oddities from headers, and their text."""
