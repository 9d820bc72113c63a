"""Filters and the cleaner of statements: figures, references, ambiguity, brevity, in this order.

Start at ``sifting``; each rule has a file of its own. English and Chinese.
"""
