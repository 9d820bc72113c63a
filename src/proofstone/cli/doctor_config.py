"""``doctor --config``: each setting that is in force, and what it came from."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proofstone.cli.output import print_json
from proofstone.errors import ProofstoneError

if TYPE_CHECKING:
    from proofstone.cli.requests import AskedFor
    from proofstone.engines.models.origins import Effective
    from proofstone.stages.effective import Section
    from proofstone.wiring.workspace import Workspace

__all__ = ["show_config"]


def show_config(run_words: Sequence[str], folder: Path | None, *, as_json: bool) -> None:
    """Prints what a run with these words would use, section by section."""
    from proofstone.cli.requests import read_request  # noqa: PLC0415
    from proofstone.cli.running import run_command  # noqa: PLC0415
    from proofstone.wiring import open_workspace  # noqa: PLC0415

    context = run_command.make_context("proofstone run", list(run_words))
    asked = read_request(context, whole=False)
    named = folder or context.params["folder"]
    with open_workspace(named or asked.workspace) as workspace:
        sections = list(_sections(workspace, asked, named))
        here = f"{workspace.folder}{os.sep}"
    if as_json:
        print_json(sections)
        return
    for place, section in enumerate(sections):
        click.echo(f"{'' if place == 0 else chr(10)}{section.heading}")
        for setting in section.settings:
            origin = setting.origin.replace(here, "")
            click.echo(f"  {setting.name:<24}  {setting.value:<28}  {origin}".rstrip())


def _sections(workspace: Workspace, asked: AskedFor, named: Path | None) -> Iterator[Section]:
    from proofstone.engines.models.origins import Effective  # noqa: PLC0415
    from proofstone.stages.effective import (  # noqa: PLC0415
        Section,
        effective_models,
        effective_run,
        other_tables,
    )
    from proofstone.wiring.run_files import with_preset  # noqa: PLC0415

    origin = "the nearest at or above the current folder"
    if named is not None:
        origin = "flag --workspace"
    elif asked.workspace is not None and asked.file is not None:
        origin = str(asked.file.path)
    found = Effective(name="folder", value=str(workspace.folder), origin=origin)
    yield Section(heading="workspace", settings=(found, _database(workspace)))
    yield from other_tables(workspace.config)
    defaults = _defaults(workspace, asked)
    request = with_preset(workspace, asked.request)
    yield from effective_run(workspace.config, request, asked.file, defaults)
    yield from effective_models(workspace.config, asked.request, asked.file)


def _database(workspace: Workspace) -> Effective:
    from proofstone.engines.models.origins import Effective  # noqa: PLC0415

    if workspace.store.database.is_sqlite:
        return Effective(name="database", value="SQLite, in .proofstone", origin="default")
    return Effective(name="database", value="PostgreSQL", origin="database_env of [workspace]")


def _defaults(workspace: Workspace, asked: AskedFor) -> Callable[[str], Mapping[str, Any]] | None:
    """The defaults of the method that the targets belong to; None where there is no target."""
    from proofstone.wiring.run_files import defaults_of, item_sets_of  # noqa: PLC0415

    if not asked.request.targets:
        return None
    try:
        return defaults_of(workspace, item_sets_of(workspace, asked.request.targets))
    except ProofstoneError as error:
        raise click.UsageError(error.message) from error
