"""Statistics: intervals, ranks, stability, agreement, items, power."""
