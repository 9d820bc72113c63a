"""The experiments of the BeQu paper, a table and a figure each."""
