"""Looking into what is set up here: online, what was sent, and a bundle for a report."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proofstone.engines.models.clock import SystemClock
from proofstone.errors import ProofstoneError, WorkspaceUnusable
from proofstone.wiring.background import Background
from proofstone.wiring.workspace import Workspace, open_workspace

if TYPE_CHECKING:
    from proofstone.engines.models import ModelConfig, Online
    from proofstone.stages.sent import SentTo
    from proofstone.wiring.egress import AskEgress

__all__ = ["look_online", "make_bundle", "sent_from"]


def look_online(
    folder: Path | None, names: Sequence[str], ask: AskEgress | None = None
) -> list[Online]:
    """Models and searches of the web (by name: ``brave``), else all that are configured, looked at
    step by step with one request each; models are kept as checks where there is a workspace.
    Without one the current folder's settings count."""
    from proofstone.engines.models import online_names  # noqa: PLC0415
    from proofstone.stages.online import look_at_all  # noqa: PLC0415
    from proofstone.wiring.egress import clear_probe  # noqa: PLC0415
    from proofstone.wiring.online_searches import is_search, look_at_searches  # noqa: PLC0415

    with _workspace_or_none(folder) as workspace:
        config = _config(workspace)
        searches = [name for name in names if is_search(name)] if names else None
        asked = [name for name in names if not is_search(name)] if names else online_names(config)
        clear_probe([name.replace("/...", "/any") for name in asked], config, ask)
        store = None if workspace is None else workspace.store
        clock = SystemClock()
        looked = Background(lambda _stop: look_at_all(asked, config, clock, store)).wait()
        return [*looked, *look_at_searches(searches, config, clock, ask)]


def sent_from(folder: Path | None) -> list[SentTo]:
    """All that a workspace ever sent, by host. Raises WorkspaceUnusable where there is none."""
    from proofstone.stages.sent import what_was_sent  # noqa: PLC0415

    with open_workspace(folder) as workspace:
        return what_was_sent(workspace.store, workspace.sent_log.lines())


def make_bundle(folder: Path | None, path: Path, findings: Callable[[], Any]) -> dict[str, str]:
    """Writes a redacted zip for a report of a fault; returns its texts by name. What cannot be read
    (a broken configuration, no workspace) is left out, since that may be the fault."""
    from proofstone.stages.bundle import bundle_parts, write_bundle  # noqa: PLC0415

    try:
        with _workspace_or_none(folder) as workspace:
            store = None if workspace is None else workspace.store
            parts = bundle_parts(_config_or_none(workspace), store, findings(), now=time.time())
    except ProofstoneError:  # which the findings name
        parts = bundle_parts(None, None, findings(), now=time.time())
    write_bundle(path, parts)
    return parts


@contextmanager
def _workspace_or_none(folder: Path | None) -> Iterator[Workspace | None]:
    """The workspace; None where none was named and none is at or above the current folder."""
    try:
        workspace = open_workspace(folder)
    except WorkspaceUnusable:
        if folder is not None:
            raise
        yield None
        return
    with workspace:
        yield workspace


def _config(workspace: Workspace | None) -> ModelConfig:
    from proofstone.engines.models import load_config  # noqa: PLC0415

    if workspace is not None:
        return workspace.config
    return load_config(other_tables=frozenset({"workspace"}))


def _config_or_none(workspace: Workspace | None) -> ModelConfig | None:
    try:
        return _config(workspace)
    except ProofstoneError:
        return None
