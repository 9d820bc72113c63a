"""What a workspace can do for its own keeping."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from proofstone.engines.store import Found, MergeReport, Store, Tombstone
from proofstone.ports import Clock
from proofstone.stages.purge import PurgeReport, lift_tombstone, preview_purge, purge_source
from proofstone.stages.repairing import Repaired, repair
from proofstone.wiring.actor import acting_name
from proofstone.wiring.folders import delete_files
from proofstone.wiring.index_kept import parts_of
from proofstone.wiring.targets import Target, find_target
from proofstone.wiring.web_pages import pages_from
from proofstone.wiring.web_searching import searches_of
from proofstone.wiring.wiki_kept import pages_of

if TYPE_CHECKING:
    from proofstone.wiring.keeping import BackedUp

__all__ = ["Kept"]


class Kept:
    """An open workspace's folder, store and clock, with backup, merge and purge."""

    folder: Path
    store: Store
    clock: Clock

    def backup(self, target: Path | str) -> BackedUp:
        """Copies the workspace into one file; see ``keeping.back_up``."""
        from proofstone.wiring.keeping import back_up  # noqa: PLC0415

        return back_up(self.folder, self.store.database, Path(target))

    def merge(self, other: Path | str, *, take_purged: bool = False) -> MergeReport:
        """Adds what another workspace or a backup has beyond this one; see ``merge_from``."""
        from proofstone.wiring.keeping import merge_from  # noqa: PLC0415

        return merge_from(self.folder, self.store.database, Path(other), take_purged=take_purged)

    def purge(
        self, source: Target, *, reason: str = "", name: str | None = None, dry_run: bool = False
    ) -> PurgeReport:
        """Takes a source's texts, those of its copies, and those derived from them out for good;
        see ``purge_source``.
        A page of a wiki that was kept as a file goes as well, what the index keeps of it, and
        searches that were made from it, and files that exports, pages, review sheets and ``start``
        wrote of it, where they are as they were written.

        ``name`` is who does it, by default the user of this computer. With ``dry_run`` nothing is
        changed and the report says what would go.
        """
        found = find_target(self.store, source, ("source",))
        preview = preview_purge(self.store, found)
        sources = (found, *preview.copies)
        files = tuple(dict.fromkeys(file for each in sources for file in self._files_of(each)))
        held = {each.id for each in sources} | {each.id for each in preview.held_by}
        written = self.store.written.holding(held)
        files = (*files, *(file.path for file in written if file.is_same))
        changed = tuple(file.path for file in written if not file.is_same)
        if dry_run:
            return msgspec.structs.replace(preview, files=files, changed=changed)
        who = acting_name(name)
        report = purge_source(self.store, found, reason=reason, name=who, clock=self.clock)
        delete_files(self.folder, files)
        return msgspec.structs.replace(report, files=files, changed=changed)

    def _files_of(self, source: Found) -> Iterator[str]:
        """The files that the workspace keeps of a source beside the database."""
        yield from pages_of(self.folder, self.store, source)
        yield from parts_of(self.folder, source.id)
        yield from searches_of(self.folder, source.id)
        yield from pages_from(self.folder, source.id)

    def repair(self, target: Target) -> list[Repaired]:
        """Makes the version of a bank or form without what was purged of it; see
        ``stages.repairing.repair``."""
        found = find_target(self.store, target, ("bank", "form"))
        return repair(self.store, found, self.clock)

    def lift(self, source: Target, *, reason: str, name: str | None = None) -> Tombstone:
        """Lets a purged source be taken in again; see ``lift_tombstone``."""
        found = find_target(self.store, source, ("source",))
        who = acting_name(name)
        return lift_tombstone(self.store, found, reason=reason, name=who, clock=self.clock)
