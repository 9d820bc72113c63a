"""Where a workspace is: a folder that holds ``.proofstone``, found upwards like git's."""

from __future__ import annotations

import os
import shlex
import shutil
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from proofstone.errors import BadUsage, WorkspaceUnusable
from proofstone.wiring.shared_folders import SETTING, refuse_shared

__all__ = [
    "CONFIG_NAME",
    "MARK",
    "create_folder",
    "database_url",
    "delete_files",
    "find_folder",
    "has_own_file",
]

MARK = ".proofstone"
CONFIG_NAME = "proofstone.toml"

_NEW_CONFIG = """\
# Proofstone's settings for this workspace. `proofstone doctor` shows what is in force.

# [workspace]
# database_env = "PROOFSTONE_DATABASE"    # a PostgreSQL URL instead of the file in .proofstone
# allow_shared_folder = true              # on a network or synchronised folder: rows may be lost

# [egress]                                # without it a new host is asked about; see docs/egress.md
# hosts = ["local", "api.openai.com"]     # nothing goes anywhere else

# [models."mycompany/large"]              # then: proofstone run FORM -m mycompany/large
# base_url = "https://llm.example.com/v1" # any OpenAI-compatible endpoint
# api_key_env = "MYCOMPANY_API_KEY"       # the variable's name; keys themselves stay out of files
# model = "large-2026-08"                 # the name to send, where it is another one
"""


def create_folder(folder: Path) -> bool:
    """Makes ``folder`` a workspace; False where it was one. Raises WorkspaceUnusable, and
    FolderShared where its database would stand on a network or in a synchronised folder."""
    mark = folder / MARK
    if mark.is_dir():
        return False
    database_url(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        mark.mkdir(mode=0o700)  # replies, prompts and people are the owner's
        (mark / ".gitignore").write_text("*\n", encoding="utf-8")
        config = folder / CONFIG_NAME
        if not config.exists():
            config.write_text(_NEW_CONFIG, encoding="utf-8")
    except OSError as error:
        shutil.rmtree(mark, ignore_errors=True)  # half a workspace would pass for a whole one
        raise WorkspaceUnusable(
            f"cannot make a workspace in {folder}: {error.strerror or error}",
            hint="name a folder you may write to: proofstone init FOLDER",
        ) from error
    return True


def find_folder(start: Path) -> Path:
    """The nearest workspace at or above ``start``. Raises WorkspaceUnusable where there is none."""
    start = Path(os.path.abspath(start))  # noqa: PTH100 - parents of "a/../b" would pass through a
    if not start.is_dir():  # a mistyped name must not mean the workspace around it
        raise WorkspaceUnusable(
            f"{start} is a file" if start.is_file() else f"there is no folder {start}",
            hint=f"name another, or make a workspace: proofstone init {shlex.quote(str(start))}",
        )
    for folder in (start, *start.parents):
        if (folder / MARK).is_dir():
            return folder
    raise WorkspaceUnusable(
        f"no workspace at or above {start}",
        hint="make one with 'proofstone init', or name one with -w FOLDER",
    )


def database_url(folder: Path) -> str:
    """The URL of a workspace's database: its own file, or what its settings name.

    Raises FolderShared where that file would stand on a network or in a synchronised folder.
    """
    table = _workspace_settings(folder)
    variable = table.get("database_env")
    if variable is None:
        if table.get(SETTING) is not True:
            refuse_shared(folder)
        return f"sqlite:///{folder / MARK / 'store.sqlite'}"
    url = os.environ.get(str(variable))
    if not url:
        raise WorkspaceUnusable(
            f"{folder / CONFIG_NAME} names the database by {variable}, which is not set",
            hint=f"set {variable} to a URL such as postgresql://user@host/name",
        )
    if url.startswith(("postgres://", "postgresql://")):
        return "postgresql+psycopg://" + url.partition("://")[2]
    if not url.startswith(("postgresql+psycopg://", "sqlite:///")):
        raise WorkspaceUnusable(
            f"{variable} holds no URL of a PostgreSQL database",
            hint=f"set {variable} to a URL such as postgresql://user@host/name",
        )
    return url


def has_own_file(folder: Path) -> bool:
    """Return True where a workspace's database is the file in its hidden folder."""
    return "database_env" not in _workspace_settings(folder)


def delete_files(folder: Path, files: Iterable[str]) -> None:
    """Deletes files, named relative to ``folder``; one that is gone already is no fault."""
    for file in files:
        (folder / file).unlink(missing_ok=True)


def _workspace_settings(folder: Path) -> dict[str, Any]:
    path = folder / CONFIG_NAME
    if not path.is_file():
        return {}
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8-sig")).get("workspace", {})
    except (OSError, UnicodeDecodeError) as error:
        raise BadUsage(f"{path} cannot be read: {error}") from error
    except tomllib.TOMLDecodeError as error:
        raise BadUsage(f"{path} is not TOML: {error}") from error
    if not isinstance(table, dict):
        raise BadUsage(f"{path}: workspace must be a table, [workspace], not {table!r}")
    unknown = set(table) - {"database_env", SETTING}
    if unknown:
        raise BadUsage(
            f"{path}: [workspace] has unknown keys: {', '.join(sorted(unknown))}",
            hint=f"it takes: database_env, {SETTING}",
        )
    return dict(table)
