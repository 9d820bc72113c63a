"""What people did to items, and who judged, beyond what scores say."""

from __future__ import annotations

from msgspec import Struct

from proofstone.records.reviews import CheckedRate


class Upkeep(Struct, frozen=True, kw_only=True):
    """What a workspace knows of the items of some runs: of how many people ruled on a reply, how
    many are versions that somebody corrected, and which judges scored. ``n_read`` rest on
    statements that people have reviewed, all of them, ``n_partly_read`` on some, by ``n_readers``
    people in all; ``checked`` is what a check of the banks' truth came to, without the ``n_purged``
    statements that were purged since."""

    n_ruled: int = 0
    n_corrected: int = 0
    judges: tuple[str, ...] = ()
    n_read: int = 0
    n_partly_read: int = 0
    n_readers: int = 0
    checked: tuple[CheckedRate, ...] = ()
    n_purged: int = 0
