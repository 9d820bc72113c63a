"""An open workspace: its folder, database, clock and settings. What is done with it are functions
of the capabilities, which take a session as their first argument."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from proofstone.method import Method, find_method, find_payload
from proofstone.models.rate_limits import SystemClock
from proofstone.session.folders import MARK, create_folder, database_url, find_folder, has_own_file
from proofstone.session.permits import AskEgress, SentLog
from proofstone.session.targets import Target, find_target
from proofstone.store.lookup import Found
from proofstone.store.store import Store

if TYPE_CHECKING:
    from proofstone.models.config import ModelConfig

Held = TypeVar("Held")


class Session:
    """An open workspace. Use as a context manager, or call ``close``.

    ``ask_egress`` is told before anything leaves this machine, and asked where nobody has allowed
    it yet. ``tell`` hears how far something is that takes long. ``fetches_local``: pages of this
    very machine may be fetched.
    """

    ask_egress: AskEgress | None = None
    tell: Callable[[str], None] | None = None
    fetches_local: bool = False

    def __init__(self, folder: Path, *, is_new: bool = False) -> None:

        self.folder = folder
        self.clock = SystemClock()
        self.store = Store(
            database_url(folder), find_payload, must_exist=not is_new and has_own_file(folder)
        )
        self._held: dict[type, Any] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Gives the database back, and closes what was held."""
        for each in self._held.values():
            each.close()
        self._held.clear()
        self.store.close()

    @cached_property
    def config(self) -> ModelConfig:
        """The models' settings: this folder's file, the user's, and the environment."""
        from proofstone.models.config import load_config  # noqa: PLC0415 - most need no model

        return load_config(self.folder, other_tables=frozenset({"workspace"}))

    @property
    def sent_log(self) -> SentLog:
        """What left besides the calls of models."""
        return SentLog(self.folder / MARK)

    def find(self, target: Target, *kinds: str) -> Found:
        """The row that a text or record names; see ``Lookup.find`` for what it raises."""
        return find_target(self.store, target, kinds)

    def held(self, kind: type[Held], make: Callable[[], Held]) -> Held:
        """The one ``kind`` of this session, made when first asked for and closed with it."""
        if kind not in self._held:
            self._held[kind] = make()
        found: Held = self._held[kind]
        return found


def open_session(folder: Path | str | None = None) -> Session:
    """The workspace in ``folder``, or the nearest one at or above the current folder.

    Raises WorkspaceUnusable where there is none, SchemaTooNew where a newer version wrote it.
    """
    return Session(workspace_folder(folder))


def create_session(folder: Path | str = ".") -> Session:
    """Makes a workspace in ``folder`` (kept as it is where it is one) and opens it."""
    create_folder(Path(folder))
    return Session(Path(folder), is_new=True)


def workspace_folder(folder: Path | str | None) -> Path:
    """The folder of the workspace in ``folder``, or of the nearest one at or above it. Raises
    WorkspaceUnusable where there is none."""
    if folder is None:
        return find_folder(Path.cwd())
    path = Path(folder)
    return path if (path / MARK).is_dir() else find_folder(path)


def method_of(session: Session, target: Target) -> Method:
    """The method of a bank, form or run."""
    found = find_target(session.store, target, ("bank", "form", "run"))
    if found.kind == "bank":
        return method_of_bank(session, found)
    if found.kind == "run":
        return find_method(session.store.runs.run(found.id)[1].method)
    return find_method(session.store.items.item_set(found.id).method)


def method_of_bank(session: Session, found: Found) -> Method:
    """The method of a bank's facts."""
    return find_method(session.store.knowledge.bank(found.id).method)
