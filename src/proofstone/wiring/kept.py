"""What a workspace can do for its own keeping."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from proofstone.engines.store import MergeReport, Store

if TYPE_CHECKING:
    from proofstone.wiring.keeping import BackedUp

__all__ = ["Kept"]


class Kept:
    """An open workspace's folder and store, with backup and merge."""

    folder: Path
    store: Store

    def backup(self, target: Path | str) -> BackedUp:
        """Copies the workspace into one file; see ``keeping.back_up``."""
        from proofstone.wiring.keeping import back_up  # noqa: PLC0415

        return back_up(self.folder, self.store.database, Path(target))

    def merge(self, other: Path | str) -> MergeReport:
        """Adds what another workspace or a backup has beyond this one; see ``merge_from``."""
        from proofstone.wiring.keeping import merge_from  # noqa: PLC0415

        return merge_from(self.folder, self.store.database, Path(other))
