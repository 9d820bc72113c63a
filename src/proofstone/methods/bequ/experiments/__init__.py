"""The experiments of BeQu's study, a table and a figure each."""
