"""``build statements SOURCE...``: from passages to checked statements, true and falsified.

Read ``pipeline`` first: it names the steps in their order, each in a file of its own.
"""
