"""A workspace: what people do with Proofstone, as a Python object.

Every method is synchronous and works in a notebook with a running loop; what calls models runs in
a loop of its own thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any

from proofstone.browse.export import ReferenceCounts, import_bank, import_items
from proofstone.build.building import Building
from proofstone.build.form import SiftedBank, import_sifted
from proofstone.build.form_build import build_bank, build_forms
from proofstone.check.contradictions import Contradicting
from proofstone.correct.work_list import Correcting
from proofstone.errors import BadUsage
from proofstone.files.tables import TellUnread
from proofstone.ingest.vision import PageReading
from proofstone.keep.backup import Kept
from proofstone.method import Method, find_method, find_payload, method_names
from proofstone.models.limits import SystemClock
from proofstone.records.items import ItemSet
from proofstone.records.knowledge import Bank, Role
from proofstone.results.compare_inputs import Comparing
from proofstone.review.reviewing import Reviewing
from proofstone.run.dry_running import DryRunning
from proofstone.session.folders import MARK, create_folder, database_url, find_folder, has_own_file
from proofstone.session.targets import Target, find_target
from proofstone.store.lookup import Found
from proofstone.store.store import Store

if TYPE_CHECKING:
    from proofstone.session.egress import AskEgress


def open_workspace(folder: Path | str | None = None) -> Workspace:
    """The workspace in ``folder``, or the nearest one at or above the current folder.

    Raises WorkspaceUnusable where there is none, SchemaTooNew where a newer version wrote it.
    """
    if folder is None:
        return Workspace(find_folder(Path.cwd()))
    path = Path(folder)
    if not (path / MARK).is_dir():
        path = find_folder(path)
    return Workspace(path)


def create_workspace(folder: Path | str = ".") -> Workspace:
    """Makes a workspace in ``folder`` (kept as it is where it is one) and opens it."""
    create_folder(Path(folder))
    return Workspace(Path(folder), is_new=True)


class Workspace(
    Comparing,
    Contradicting,
    PageReading,
    DryRunning,
    Building,
    Kept,
    Correcting,
    Reviewing,
):
    """An open workspace. Use as a context manager, or call ``close``."""

    def __init__(self, folder: Path, *, is_new: bool = False) -> None:
        self.folder = folder
        self.clock = SystemClock()
        # Told before anything leaves this machine, and asked where nobody has allowed it yet.
        self.ask_egress: AskEgress | None = None
        self.store = Store(
            database_url(folder), find_payload, must_exist=not is_new and has_own_file(folder)
        )

    def __enter__(self) -> Workspace:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Gives the database back."""
        self.list_files.close()
        self.store.close()

    # ---- finding

    def find(self, target: Target, *kinds: str) -> Found:
        """The row that a text or record names; see ``Lookup.find`` for what it raises."""
        return find_target(self.store, target, kinds)

    def method_building(self, kind: str) -> Method:
        """The method that builds facts or forms of ``kind``."""
        for name in method_names():
            method = find_method(name)
            if kind in method.builders:
                return method
        raise BadUsage(f"no method builds {kind!r}")

    # ---- making

    def import_bank(
        self,
        path: Path | str,
        *,
        name: str | None = None,
        method: str = "encyclo_k",
        roles: Sequence[Role] = (),
        tell_unread: TellUnread | None = None,
        encoding: str = "",
        tell_counts: Callable[[ReferenceCounts], None] | None = None,
    ) -> Bank:
        """Reads statements from a JSONL, CSV or Parquet file, checked whole, into a bank.

        ``roles`` of models in the whole file are added to those that its rows state;
        ``tell_unread`` is told of columns that mean nothing here, ``tell_counts`` what a reference
        holds."""
        bank, _is_new = import_bank(
            self.store, find_method(method), Path(path),
            name=name, clock=self.clock, roles=roles, tell_unread=tell_unread,
            encoding=encoding, tell_counts=tell_counts,
        )  # fmt: skip
        return bank

    def import_sifted(
        self,
        path: Path | str,
        *,
        name: str | None = None,
        method: str = "encyclo_k",
        roles: Sequence[Role] = (),
        dropped: Path | str | None = None,
        tell_unread: TellUnread | None = None,
        encoding: str = "",
    ) -> SiftedBank:
        """As ``import_bank``, of the rows that the method's filters leave; those dropped or
        cleaned are written to ``dropped``, and the counts are kept with the bank."""
        return import_sifted(
            self.store,
            find_method(method),
            Path(path),
            name=name,
            clock=self.clock,
            roles=roles,
            dropped=Path(dropped) if dropped is not None else None,
            tell_unread=tell_unread,
            encoding=encoding,
        )

    def import_form(
        self,
        path: Path | str,
        *,
        name: str | None = None,
        method: str = "encyclo_k",
        roles: Sequence[Role] = (),
        tell: Callable[[str], None] | None = None,
        encoding: str = "",
        columns: Mapping[str, str] = MappingProxyType({}),
    ) -> ItemSet:
        """Reads a form made elsewhere, or a list of entities, checked whole; ``roles`` are those of
        models in it all, ``columns`` values that each row gets where it has none; ``tell`` is told
        what became of columns that mean nothing to the method."""
        form, _is_new = import_items(
            self.store, find_method(method), Path(path),
            name=name, clock=self.clock, roles=roles, tell=tell,
            encoding=encoding, columns=columns,
        )  # fmt: skip
        return form

    def build_bank(
        self,
        kind: str,
        inputs: Sequence[str],
        *,
        name: str,
        seed: int = 0,
        method: str | None = None,
        **params: Any,
    ) -> Bank:
        """Builds facts of ``kind`` ("statements") from inputs into a bank, by the method named or
        else by the one that builds this kind."""
        bank, _is_new = build_bank(
            self.store,
            find_method(method) if method else self.method_building(kind),
            kind,
            [str(entry) for entry in inputs],
            name=name,
            params=params,
            seed=seed,
            clock=self.clock,
        )
        return bank

    def build_form(
        self, bank: Target, *, seeds: Iterable[int] = (0,), name: str | None = None, **params: Any
    ) -> list[ItemSet]:
        """Composes one form a seed from a bank; parameters are the method's own."""
        found = self.find(bank, "bank")
        method = self._method_of_bank(found)
        return build_forms(
            self.store,
            method,
            found.id,
            params=params,
            seeds=list(seeds),
            clock=self.clock,
            name=name,
        )

    # ---- inside

    def method_of(self, target: Target) -> Method:
        """The method of a bank, form or run."""
        found = find_target(self.store, target, ("bank", "form", "run"))
        if found.kind == "bank":
            return self._method_of_bank(found)
        if found.kind == "run":
            return find_method(self.store.runs.run(found.id)[1].method)
        return find_method(self.store.items.item_set(found.id).method)

    def _method_of_bank(self, found: Found) -> Method:
        return find_method(self.store.knowledge.bank(found.id).method)
