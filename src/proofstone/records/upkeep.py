"""What people did to items, and who judged, beyond what scores say."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["Upkeep"]


class Upkeep(Struct, frozen=True, kw_only=True):
    """What a workspace knows of the items of some runs: of how many people ruled on a reply, how
    many are versions that somebody corrected, and which judges scored."""

    n_ruled: int = 0
    n_corrected: int = 0
    judges: tuple[str, ...] = ()
