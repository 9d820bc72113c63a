"""Lists of a workspace as files: a build reads its inputs as often as it likes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from proofstone.errors import BadUsage, NotFound
from proofstone.ingest.bank_files import export_bank, export_items
from proofstone.method import find_method
from proofstone.records.ids import short
from proofstone.session.session import Session
from proofstone.session.targets import find_target
from proofstone.store.lookup import Found
from proofstone.store.store import Store


class ListFiles:
    """Files of the lists and banks that inputs name, until ``close``. A list has the same file each
    time."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._folder: TemporaryDirectory[str] | None = None

    def inputs(
        self, named: Sequence[str], method: str, online: Collection[str] = ()
    ) -> tuple[str, ...]:
        """The inputs, with a file in place of each that names a list or bank of ``method``; names
        that mean something ``online`` stay, where no list is called so.

        Raises NotFound for a plain name that is neither a file nor a list, BadUsage for a list of
        another method.
        """
        return tuple(self._file(each, method, online) for each in named)

    def close(self) -> None:
        """Removes the files."""
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def _file(self, named: str, method: str, online: Collection[str]) -> str:
        if Path(named).exists():
            return named
        try:
            found = find_target(self._store, named, ("form", "bank"))
        except NotFound:
            if named in online or ":" in named or Path(named).suffix:
                return named  # of another kind, such as dump:FILE; who reads it says what is wrong
            raise
        return str(self._written(found, method))

    def _written(self, found: Found, method: str) -> Path:
        is_form = found.kind == "form"
        own = (
            self._store.items.item_set(found.id).method
            if is_form
            else self._store.knowledge.bank(found.id).method
        )
        if own != method:
            raise BadUsage(f"{found.name} is of {own}, not of {method}")
        if self._folder is None:
            self._folder = TemporaryDirectory(prefix="proofstone-lists-")
        folder = Path(self._folder.name) / short(found.id)
        path = folder / f"{Path(found.name).name}.jsonl"
        if not path.exists():
            folder.mkdir(exist_ok=True)
            write = export_items if is_form else export_bank
            write(self._store, find_method(own), found.id, path)
        return path


def list_files(session: Session) -> ListFiles:
    """Lists of this workspace as files, for builds that read such; gone when it is closed."""
    return session.held(ListFiles, lambda: ListFiles(session.store))
