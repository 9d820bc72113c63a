"""Filters and the cleaner of statements: figures, references, ambiguity, brevity, in this order.

Start at ``sifting``; each rule has a file of its own. English and Chinese.
"""

from __future__ import annotations

from proofstone.methods.encyclo_k.filters.sifting import (
    FILTERS_VERSION,
    REASONS,
    REASONS_OF_TRUE,
    sift,
    sift_row,
)

__all__ = ["FILTERS_VERSION", "REASONS", "REASONS_OF_TRUE", "sift", "sift_row"]
