"""Frozen records that the other packages exchange."""
