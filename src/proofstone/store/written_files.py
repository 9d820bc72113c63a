"""Files that commands wrote with texts of this workspace, so that a purge finds them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from hashlib import sha256
from pathlib import Path

import msgspec
from sqlalchemy import select

from proofstone.store import schema
from proofstone.store.rows import StorePart, insert_rows

_COLUMNS = ("path", "kind", "target_hash", "digest", "written_at")


class WrittenFile(msgspec.Struct, frozen=True):
    """A file with texts of rows (sources, banks, forms, runs, builds); ``is_same`` while it is as
    it was written."""

    path: str
    is_same: bool


class WrittenFiles(StorePart):
    """Records files, and finds those that hold texts of some rows."""

    def add(self, path: Path, kind: str, targets: Iterable[bytes], now: float) -> None:
        """Records a file that was written just now with texts of rows of one kind."""
        place, content = str(path.resolve()), sha256(path.read_bytes()).digest()
        rows = [(place, kind, target, content, now) for target in targets]
        with self._database.writing() as connection:
            insert_rows(connection, schema.written_file, _COLUMNS, rows)

    def holding(self, targets: Collection[bytes]) -> list[WrittenFile]:
        """The files that were last written with texts of one of these rows and are still there, by
        path."""
        table = schema.written_file
        query = select(table.c.path, table.c.target_hash, table.c.digest, table.c.written_at)
        newest: dict[str, tuple[float, bytes]] = {}
        held: dict[str, float] = {}
        for path, target, content, written_at in self._rows(query):
            newest[path] = max(newest.get(path, (0.0, b"")), (written_at, content))
            if target in targets:
                held[path] = max(held.get(path, 0.0), written_at)
        found = []
        for path in sorted(held):
            written_at, content = newest[path]
            file = Path(path)
            if held[path] < written_at or not file.is_file():
                continue  # written over with something else, or gone
            found.append(WrittenFile(path, sha256(file.read_bytes()).digest() == content))
        return found
