"""``workspace``: backup, restore, move, merge, migrate and purge."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from proofstone.cli.options import json_option, workspace_option
from proofstone.cli.output import pasted, print_json, print_table, say
from proofstone.errors import BadUsage
from proofstone.identity import short

if TYPE_CHECKING:
    from proofstone.stages.purge import PurgeReport

__all__ = ["workspace_command"]

_path = click.Path(path_type=Path)


@click.group("workspace")
def workspace_command() -> None:
    """Back up, restore, move, merge, migrate or purge a workspace."""


@workspace_command.command("backup")
@click.argument("target", type=_path, metavar="FILE|DIR")
@workspace_option
@json_option
def backup(target: Path, folder: Path | None, as_json: bool) -> None:
    """Copy the workspace into one file, also while a run writes.

    FILE must be new; in a DIR the file gets the workspace's name and the time. The file holds all
    rows as they are at this moment, and the settings; it is checked whole before it takes its name.
    Rows on a PostgreSQL server are copied by their hashes into the same kind of file.
    """
    from proofstone.wiring import open_workspace  # noqa: PLC0415

    with open_workspace(folder) as workspace:
        made = workspace.backup(target)
    if as_json:
        print_json({"file": str(made.file), "bytes": made.n_bytes})
        return
    click.echo(f"backup   {made.file}   {made.n_bytes / 1e6:.1f} MB, checked")
    say(f"back to life: proofstone workspace restore {pasted(made.file)} NEW-FOLDER")


@workspace_command.command("restore")
@click.argument("file", type=_path)
@click.argument("new_folder", type=_path)
@json_option
def restore(file: Path, new_folder: Path, as_json: bool) -> None:
    """Make a new folder the workspace of a backup.

    FILE is what 'workspace backup' wrote; it is checked first and stays as it is. NEW_FOLDER must
    be new or empty. To add a backup's rows to a workspace, or to one on a PostgreSQL server, use
    'workspace merge'.
    """
    from proofstone.wiring.keeping import restore_workspace  # noqa: PLC0415

    made_at = restore_workspace(file, new_folder)
    if as_json:
        print_json({"folder": str(new_folder), "made_at": made_at})
        return
    click.echo(f"workspace {new_folder.absolute()}   as of {made_at or 'an unknown time'}")
    say(f"look: proofstone status -w {pasted(new_folder)}")


@workspace_command.command("move")
@click.argument("target", type=_path, metavar="DIR")
@workspace_option
@json_option
def move(target: Path, folder: Path | None, as_json: bool) -> None:
    """Move the workspace to another folder.

    Its rows and proofstone.toml go; pages, exports and other files beside them stay. Refused while
    a run is being worked on or another process has it open, naming who. Rows on a PostgreSQL
    server stay there.
    """
    from proofstone.wiring.folders import find_folder  # noqa: PLC0415
    from proofstone.wiring.keeping import move_workspace  # noqa: PLC0415

    root = find_folder(folder or Path.cwd())
    move_workspace(root, target)
    if as_json:
        print_json({"from": str(root), "to": str(target)})
        return
    click.echo(f"workspace {target.absolute()}   moved from {root}")


@workspace_command.command("merge")
@click.argument("other", type=_path)
@click.option("--take-purged", is_flag=True, help="Also where it holds what was purged here.")
@workspace_option
@json_option
def merge(other: Path, take_purged: bool, folder: Path | None, as_json: bool) -> None:
    """Add the rows of another workspace that this one lacks.

    OTHER is a workspace's folder or a backup's file; it is only read. Rows are the same where their
    hashes are, so doing it twice changes nothing. Names of people stay behind. This is also the way
    from a file to a PostgreSQL server and back. Refused, naming the tombstone, where OTHER holds a
    source that was purged here.
    """
    from proofstone.wiring import open_workspace  # noqa: PLC0415

    with open_workspace(folder) as workspace:
        report = workspace.merge(other, take_purged=take_purged)
    if as_json:
        print_json(report)
        return
    rows = [(name, n, report.read[name]) for name, n in report.added.items() if n]
    print_table([("table", "new here", "of"), *rows] if rows else [])
    if not any(report.added.values()):
        say(f"everything of {other} was here already")


@workspace_command.command("migrate")
@click.option("--no-backup", is_flag=True, help="Without a copy of what was there before.")
@workspace_option
@json_option
def migrate(no_backup: bool, folder: Path | None, as_json: bool) -> None:
    """Bring an older workspace to this version's tables.

    Every command does so when it opens a workspace; this one first copies what was there, into
    the folder .proofstone. Rows on a PostgreSQL server are not copied: use the server's own tools
    (pg_dump), or 'workspace backup' with the older version.
    """
    from proofstone.wiring.keeping import migrate_workspace  # noqa: PLC0415

    done = migrate_workspace(folder, with_backup=not no_backup)
    if as_json:
        print_json({"before": done.before, "after": done.after, "backup": done.backup})
        return
    if done.before == done.after:
        click.echo(f"schema {done.after} is current; nothing to do")
        return
    click.echo(f"schema {done.before or 'none'} -> {done.after}")
    if done.backup is not None:
        click.echo(f"before   {done.backup}")


@workspace_command.command("purge")
@click.argument("source")
@click.option("--reason", default="", help="Why; kept in the tombstone.")
@click.option("--by", "name", help="Who does it; else PROOFSTONE_ACTOR, or this login.")
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
@click.option("--lift", is_flag=True, help="Let a purged source be taken in again.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@workspace_option
@json_option
def purge(
    source: str,
    reason: str,
    name: str | None,
    dry_run: bool,
    lift: bool,
    yes: bool,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Take a source out for good, with all texts derived from it.

    Sources with the same content under another title or license go with it. Sources that hold some
    of the same passages stay, and are named with the command that purges them.

    Passages, facts, prompts and replies lose their texts, also in the files on disk; hashes,
    scores, usage and costs stay, so leaderboards that were scored still stand. A tombstone keeps
    who did it, when and why, and refuses the same source when it is taken in again. Files that
    exports, pages, review sheets and 'start' wrote of it are deleted where nobody changed them.
    Backups, changed files and copies made elsewhere still hold the texts; the command names what it
    knows of. 'workspace repair BANK' then makes the bank without what went.
    """
    from proofstone.wiring import open_workspace  # noqa: PLC0415

    with open_workspace(folder) as workspace:
        if lift:
            stone = workspace.lift(source, reason=reason, name=name)
            print_json(stone) if as_json else click.echo(f"source:{short(stone.source)}  {stone}")
            return
        if not dry_run and not reason.strip():
            raise click.UsageError("say why: --reason 'the licence has ended'")
        if dry_run or not yes:
            preview = workspace.purge(source, dry_run=True)
            if not (as_json and dry_run):
                _show(preview, "would go", err=not dry_run)
            if dry_run:
                if as_json:
                    print_json(preview)
                return
            _confirm("Take these texts out for good?")
        report = workspace.purge(source, reason=reason, name=name)
    if as_json:
        print_json(report)
        return
    _show(report, "gone")
    _tell_next(report)


@workspace_command.command("repair")
@click.argument("target")
@workspace_option
@json_option
def repair(target: str, folder: Path | None, as_json: bool) -> None:
    """Make a bank or form without what was purged of it.

    TARGET is a bank, whose forms are repaired with it, or a form. The new version has the same
    name, which means it from then on; the old one and its scores stay. Responses to questions that
    are left come from the cache.
    """
    from proofstone.wiring import open_workspace  # noqa: PLC0415

    with open_workspace(folder) as workspace:
        made = workspace.repair(target)
    if as_json:
        print_json(made)
        return
    for each in made:
        units = "facts" if each.kind == "bank" else "questions"
        name = f"{each.name}-{short(each.id, 4)}"
        click.echo(f"{each.kind:<5} {name}   {each.n:,} of {each.total:,} {units} left")


def _tell_next(report: PurgeReport) -> None:
    """Says what a purge did not reach, and how work goes on."""
    say("backups, and copies made elsewhere, still hold the texts")
    for holder in report.sharing:
        say(
            "not complete: the same passages stay in another source; if they have to go: "
            f"proofstone workspace purge source:{short(holder.id)}"
        )
    for holder in report.held_by:
        if holder.n < holder.total and holder.kind == "bank":
            named = pasted(f"{holder.name}-{short(holder.id, 4)}")
            say(f"next: proofstone workspace repair {named}")


def _confirm(question: str) -> None:
    """Asks at the terminal, and ends the command at anything but yes. Raises BadUsage where there
    is nobody to ask."""
    try:
        is_sure = click.confirm(question, err=True)
    except click.Abort:
        say("")  # the cursor stands behind the question
        if sys.stdin.isatty():  # Ctrl-C
            raise
        raise BadUsage(
            "nobody answered; nothing was changed", hint="--yes goes on without asking"
        ) from None
    if not is_sure:
        say("nothing was changed")
        click.get_current_context().exit(130)


def _show(report: PurgeReport, state: str, *, err: bool = False) -> None:
    """What a purge takes out, and what held it."""
    click.echo(f"source:{short(report.source)}  {report.title}", err=err)
    for copy in report.copies:
        click.echo(f"source:{short(copy.id)}  {copy.name}   the same content", err=err)
    if report.tombstone is not None:
        click.echo(str(report.tombstone), err=err)
    counts = "   ".join(f"{name} {n}" for name, n in report.removed.items())
    click.echo(f"{state:<9} {counts}", err=err)
    for file in report.files:
        click.echo(f"{state:<9} {file}", err=err)
    for file in report.changed:
        click.echo(f"{'stays':<9} {file}   was changed after it was written", err=err)
    for holder in report.sharing:
        said = f"{holder.n} of {holder.total} passages are the same"
        click.echo(f"{'stays':<9} source:{short(holder.id)}  {holder.name}   {said}", err=err)
    units = {"bank": "facts", "form": "questions", "run": "replies"}
    for holder in report.held_by:
        named = f"{holder.kind}:{short(holder.id)}"
        said = f"{holder.n} of {holder.total} {units[holder.kind]}"
        click.echo(f"{'held by':<9} {named:<14} {holder.name}   {said}", err=err)
