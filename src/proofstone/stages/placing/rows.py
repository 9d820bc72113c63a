"""A source on its way to its place."""

from __future__ import annotations

from msgspec import Struct

from proofstone.records import SampledSource, TaxonomyPath

__all__ = ["PlacedRow"]


class PlacedRow(Struct, frozen=True):
    """A source with the ``path`` found so far; ``ended`` says why it goes no deeper: none of the
    nodes below fits, the judges did not decide, or the taxonomy ends there."""

    sampled: SampledSource
    path: TaxonomyPath
    ended: str = ""
