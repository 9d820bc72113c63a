"""``workspace``: backup, restore, move, merge, migrate and purge."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proofstone.errors import BadUsage, ProofstoneError
from proofstone.records.ids import short
from proofstone.session.cli_command import Group, command
from proofstone.session.options import json_option, read_list, workspace_option, yes_option
from proofstone.session.progress import lost_text, spent_text
from proofstone.session.terminal import (
    TerminalEgress,
    pasted,
    print_json,
    print_table,
    print_text,
    say,
    say_next,
)

if TYPE_CHECKING:
    from proofstone.keep.purge import PurgeReport
    from proofstone.models.config import Effective
    from proofstone.run.cli_request import AskedFor
    from proofstone.run.effective_settings import Section
    from proofstone.session.session import Session


# ``doctor --config``: each setting that is in force, and what it came from.


def show_config(run_words: Sequence[str], folder: Path | None, *, as_json: bool) -> None:
    """Prints what a run with these words would use, section by section."""
    from proofstone.run.cli import run_command
    from proofstone.run.cli_request import read_request
    from proofstone.session.session import open_session

    context = run_command.make_context("proofstone run", list(run_words))
    asked = read_request(context, whole=False)
    named = folder or context.params["folder"]
    with open_session(named or asked.workspace) as session:
        sections = list(_sections(session, asked, named))
        here = f"{session.folder}{os.sep}"
    if as_json:
        print_json(sections)
        return
    for place, section in enumerate(sections):
        print_text(f"{'' if place == 0 else chr(10)}{section.heading}")
        for setting in section.settings:
            origin = setting.origin.replace(here, "")
            print_text(f"  {setting.name:<24}  {setting.value:<28}  {origin}".rstrip())


def _sections(session: Session, asked: AskedFor, named: Path | None) -> Iterator[Section]:
    from proofstone.models.config import Effective
    from proofstone.run.effective_settings import (
        Section,
        effective_models,
        effective_run,
        other_tables,
    )
    from proofstone.run.request import with_preset

    origin = "the nearest at or above the current folder"
    if named is not None:
        origin = "flag --workspace"
    elif asked.workspace is not None and asked.file is not None:
        origin = str(asked.file.path)
    found = Effective(name="folder", value=str(session.folder), origin=origin)
    yield Section(heading="workspace", settings=(found, _database(session)))
    yield from other_tables(session.config)
    defaults = _defaults(session, asked)
    request = with_preset(session, asked.request)
    yield from effective_run(session.config, request, asked.file, defaults)
    yield from effective_models(session.config, asked.request, asked.file)


def _database(session: Session) -> Effective:
    from proofstone.models.config import Effective

    if session.store.database.is_sqlite:
        return Effective(name="database", value="SQLite, in .proofstone", origin="default")
    return Effective(name="database", value="PostgreSQL", origin="database_env of [workspace]")


def _defaults(session: Session, asked: AskedFor) -> Callable[[str], Mapping[str, Any]] | None:
    """The defaults of the method that the targets belong to; None where there is no target."""
    from proofstone.run.request import item_sets_of
    from proofstone.run.run_file import defaults_of

    if not asked.request.targets:
        return None
    try:
        return defaults_of(session, item_sets_of(session, asked.request.targets))
    except ProofstoneError as error:
        raise click.UsageError(error.message) from error


# ``doctor``: what is installed and set up here, where things go wrong, and what was sent.


@command("doctor")
@click.argument("run_words", nargs=-1, metavar="[-- RUN...]")
@click.option("--config", is_flag=True, help="Show each effective setting and its origin.")
@click.option(
    "--online",
    is_flag=True,
    help="Send each model one short question and report the step that fails.",
)
@click.option(
    "-m",
    "--model",
    "models",
    multiple=True,
    metavar="PROVIDER/NAME",
    help="With --online: only these models or searches (brave, google, searxng).",
)
@click.option("--egress", is_flag=True, help="List all outbound data by host.")
@click.option(
    "--bundle",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write a zip for a bug report (no keys, prompts or responses).",
)
@yes_option
@workspace_option
@json_option
def doctor_command(
    run_words: tuple[str, ...],
    config: bool,
    online: bool,
    models: tuple[str, ...],
    egress: bool,
    bundle: Path | None,
    yes: bool,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Diagnose the installation, settings and endpoints.

    Only --online uses the network. It sends each model and each configured web search one short
    fixed query. It reports separately on settings, policy, proxy, DNS, connection, certificate,
    address, key and model. Exit code 2: a required part fails. Exit code 5: a model or search
    fails.

    --config prints the settings that a run would use. Write the words of the run after a double
    hyphen: 'proofstone doctor --config -- run.toml -m openai/gpt-5.1 --max-tokens 99'. Each setting
    is listed with its origin (flag, file and line, variable or default). Keys are masked.

    \b
    Example:
      proofstone doctor --online -m openai/gpt-5.1
    """
    if config + online + egress + (bundle is not None) > 1:
        raise click.UsageError("one of --config, --online, --egress and --bundle at a time")
    if run_words and not config:
        raise click.UsageError("the words of a run are for --config")
    if models and not online:
        raise click.UsageError("-m goes with --online")
    code = 0
    if config:
        show_config(run_words, folder, as_json=as_json)
    elif online:
        code = _online(folder, read_list(models), yes=yes, as_json=as_json)
    elif egress:
        code = _egress(folder, as_json=as_json)
    elif bundle is not None:
        code = _bundle(folder, bundle, as_json=as_json)
    else:
        code = _findings(folder, as_json=as_json)
    click.get_current_context().exit(code)


def _findings(folder: Path | None, *, as_json: bool) -> int:
    from proofstone.keep.doctor import find_all, finding_lines

    findings = find_all(folder)
    _print(findings, finding_lines(findings), as_json=as_json)
    return 2 if any(finding.needed and not finding.well for finding in findings) else 0


def _online(folder: Path | None, names: list[str], *, yes: bool, as_json: bool) -> int:
    from proofstone.keep.doctor import look_online, online_lines

    found = look_online(folder, names, TerminalEgress(yes=yes))
    _print(found, online_lines(found), as_json=as_json)
    if not found:
        say("no model or provider is set up here: name one with -m, or see docs/how-to/models.md")
    return 0 if all(online.is_well for online in found) else 5


def _egress(folder: Path | None, *, as_json: bool) -> int:
    from proofstone.keep.doctor import sent_lines
    from proofstone.session.egress import what_was_sent
    from proofstone.session.session import open_session

    with open_session(folder) as session:
        sent = what_was_sent(session.store, session.sent_log.lines())
    _print(sent, sent_lines(sent), as_json=as_json)
    return 0


def _bundle(folder: Path | None, path: Path, *, as_json: bool) -> int:
    from proofstone.keep.doctor import make_bundle

    parts = make_bundle(folder, path)
    sizes = {name: len(text.encode()) for name, text in parts.items()}
    lines = [f"{name:<18} {size:>8,} bytes" for name, size in sizes.items()]
    whole = {"file": str(path), "parts": sizes}
    _print(whole, [*lines, f"written to {path}"], as_json=as_json)
    if not as_json:
        say("it contains no keys, prompts or responses; check it before you send it")
    return 0


def _print(found: Any, lines: Iterable[str], *, as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    for line in lines:
        print_text(line)


_path = click.Path(path_type=Path)


@click.group("workspace", cls=Group)
def workspace_command() -> None:
    """Back up, move, merge or purge a workspace."""


@workspace_command.command("backup")
@click.argument("target", type=_path, metavar="FILE|DIR")
@workspace_option
@json_option
def backup(target: Path, folder: Path | None, as_json: bool) -> None:
    """Copy the workspace into one file.

    Works while a run writes. FILE must be new; in a DIR, the file is named after the workspace and
    the time. It holds all rows and the settings, and is verified before it gets its name. Rows of a
    PostgreSQL server are copied into the same kind of file.

    \b
    Example:
      proofstone workspace backup bench.sqlite
    """
    from proofstone.keep.backup import backup
    from proofstone.session.session import open_session

    with open_session(folder) as session:
        made = backup(session, target)
    if as_json:
        print_json({"file": str(made.file), "bytes": made.n_bytes})
        return
    print_text(f"backup   {made.file}   {made.n_bytes / 1e6:.1f} MB, checked")
    say(f"back to life: proofstone workspace restore {pasted(made.file)} NEW-FOLDER")


@workspace_command.command("restore")
@click.argument("file", type=_path)
@click.argument("new_folder", type=_path)
@json_option
def restore(file: Path, new_folder: Path, as_json: bool) -> None:
    """Create a workspace from a backup.

    FILE is a backup; it is verified and only read. NEW_FOLDER must be new or empty. To add the rows
    of a backup to an existing workspace, use 'workspace merge'.

    \b
    Example:
      proofstone workspace restore bench.sqlite again/
    """
    from proofstone.keep.backup import restore_workspace

    made_at = restore_workspace(file, new_folder)
    if as_json:
        print_json({"folder": str(new_folder), "made_at": made_at})
        return
    print_text(f"workspace {new_folder.absolute()}   as of {made_at or 'an unknown time'}")
    say_next([f"status -w {pasted(new_folder)}"])


@workspace_command.command("move")
@click.argument("target", type=_path, metavar="DIR")
@workspace_option
@json_option
def move(target: Path, folder: Path | None, as_json: bool) -> None:
    """Move the workspace to another folder.

    Moves rows and proofstone.toml; pages and exports stay. Refused while a run is active or another
    process has the workspace open. Rows on a PostgreSQL server stay there.

    \b
    Example:
      proofstone workspace move ../archive
    """
    from proofstone.keep.backup import move_workspace
    from proofstone.session.folders import find_folder

    root = find_folder(folder or Path.cwd())
    move_workspace(root, target)
    if as_json:
        print_json({"from": str(root), "to": str(target)})
        return
    print_text(f"workspace {target.absolute()}   moved from {root}")


@workspace_command.command("merge")
@click.argument("other", type=_path)
@click.option("--take-purged", is_flag=True, help="Also merge sources that were purged here.")
@workspace_option
@json_option
def merge(other: Path, take_purged: bool, folder: Path | None, as_json: bool) -> None:
    """Add missing rows from another workspace.

    OTHER is a workspace folder or a backup file; it is only read. Rows are identified by their
    hashes, so merging twice changes nothing. Names of people are not copied. Merging also moves a
    workspace from a file to a PostgreSQL server and back. Refused if OTHER holds a source that was
    purged here.

    \b
    Example:
      proofstone workspace merge ../other
    """
    from proofstone.keep.backup import merge_workspace
    from proofstone.session.session import open_session

    with open_session(folder) as session:
        report = merge_workspace(session, other, take_purged=take_purged)
    if as_json:
        print_json(report)
        return
    rows = [(name, n, report.read[name]) for name, n in report.added.items() if n]
    print_table([("table", "new here", "of"), *rows] if rows else [])
    if not any(report.added.values()):
        say(f"everything of {other} was here already")


@workspace_command.command("migrate")
@click.option("--no-backup", is_flag=True, help="Skip the backup.")
@workspace_option
@json_option
def migrate(no_backup: bool, folder: Path | None, as_json: bool) -> None:
    """Upgrade an older workspace to the current schema.

    Every command does this when it opens a workspace; this one makes a backup first, in the folder
    .proofstone. Rows on a PostgreSQL server are not backed up: use the server's tools (pg_dump), or
    'workspace backup' with the older version.

    \b
    Example:
      proofstone workspace migrate
    """
    from proofstone.keep.backup import migrate_workspace

    done = migrate_workspace(folder, with_backup=not no_backup)
    if as_json:
        print_json({"before": done.before, "after": done.after, "backup": done.backup})
        return
    if done.before == done.after:
        print_text(f"schema {done.after} is current; nothing to do")
        return
    print_text(f"schema {done.before or 'none'} -> {done.after}")
    if done.backup is not None:
        print_text(f"before   {done.backup}")


@workspace_command.command("purge")
@click.argument("source")
@click.option("--reason", default="", help="Reason, stored in the deletion record.")
@click.option(
    "--actor",
    "name",
    help="Person who purges: a name or an actor id (default: PROOFSTONE_ACTOR or your login).",
)
@click.option("--dry-run", is_flag=True, help="List what would be deleted; delete nothing.")
@click.option("--lift", is_flag=True, help="Allow a purged source to be imported again.")
@click.option("--yes", is_flag=True, help="Skip the confirmation.")
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
    """Permanently delete a source and all derived texts.

    Sources with the same content go with it. Sources that share some passages stay and are listed
    with the command that purges them.

    Passages, facts, prompts and responses lose their texts, also in files on disk. Hashes, scores,
    usage and costs stay, so existing leaderboards remain valid. A deletion record keeps author,
    time and reason, and blocks the source from being imported again. Unchanged exports, pages and
    review spreadsheets are deleted. Backups, changed files and other copies still hold the texts.
    Known copies are listed. 'workspace repair BANK' then makes a version of the bank without these
    texts.

    \b
    Example:
      proofstone workspace purge "Setting up a loom" --reason "license ended" --dry-run
    """
    from proofstone.keep.purge import lift_purge, purge
    from proofstone.session.session import open_session

    with open_session(folder) as session:
        if lift:
            stone = lift_purge(session, source, reason=reason, name=name)
            print_json(stone) if as_json else print_text(f"source:{short(stone.source)}  {stone}")
            return
        if not dry_run and not reason.strip():
            raise click.UsageError("missing option --reason, such as --reason 'license expired'")
        if dry_run or not yes:
            preview = purge(session, source, dry_run=True)
            if not (as_json and dry_run):
                _show(preview, "would go", err=not dry_run)
            if dry_run:
                if as_json:
                    print_json(preview)
                return
            _confirm("Take these texts out for good?")
        report = purge(session, source, reason=reason, name=name)
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
    """Make a bank or form without its purged texts.

    TARGET is a bank (its forms are repaired with it) or a form. The new version takes over the
    name; the old version and its scores stay. Responses to remaining questions come from the cache.

    \b
    Example:
      proofstone workspace repair facts
    """
    from proofstone.keep.purge import repair_form
    from proofstone.session.session import open_session

    with open_session(folder) as session:
        made = repair_form(session, target)
    if as_json:
        print_json(made)
        return
    for each in made:
        units = "facts" if each.kind == "bank" else "questions"
        name = f"{each.name}-{short(each.id, 4)}"
        print_text(f"{each.kind:<5} {name}   {each.n:,} of {each.total:,} {units} left")


def _tell_next(report: PurgeReport) -> None:
    """Print what a purge did not reach, and the next command."""
    say("backups, and copies made elsewhere, still hold the texts")
    for holder in report.sharing:
        say(
            "not complete: the same passages stay in another source; if they have to go: "
            f"proofstone workspace purge source:{short(holder.id)}"
        )
    for holder in report.held_by:
        if holder.n < holder.total and holder.kind == "bank":
            named = pasted(f"{holder.name}-{short(holder.id, 4)}")
            say_next([f"workspace repair {named}"])


def _confirm(question: str) -> None:
    """Ask at the terminal, and end the command at any answer but yes. Raises BadUsage without a
    terminal."""
    try:
        is_sure = click.confirm(question, err=True)
    except click.Abort:
        say("")  # end the line of the question
        if sys.stdin.isatty():  # Ctrl-C
            raise
        raise BadUsage("no confirmation; nothing was changed", hint="confirm with --yes") from None
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
    units = {"bank": "facts", "form": "questions", "run": "responses"}
    for holder in report.held_by:
        named = f"{holder.kind}:{short(holder.id)}"
        said = f"{holder.n} of {holder.total} {units[holder.kind]}"
        click.echo(f"{'held by':<9} {named:<14} {holder.name}   {said}", err=err)


# ``status``.


@command("status")
@workspace_option
@json_option
def status_command(folder: Path | None, as_json: bool) -> None:
    """Show the contents of a workspace and unfinished runs.

    \b
    Example:
      proofstone status
    """
    from proofstone.browse.status import look_over
    from proofstone.session.progress import newly_lost
    from proofstone.session.session import open_session

    with open_session(folder) as session:
        newly_lost(session)  # stands among what is listed
        overview = look_over(session.store)
        if as_json:
            print_json(overview)
            return
        counts = "   ".join(f"{name} {n}" for name, n in overview.counts.items())
        print_text(f"workspace {session.folder}\n{counts}")
        for run in overview.unfinished:
            why = f"   {run.failed} failed: {', '.join(run.errors)}" if run.failed else ""
            cost = f"   {spent_text(run.spent)}" if run.spent.calls else ""
            so_far = f"{run.done} of {run.total}{why}{cost}"
            print_text(f"unfinished  run:{run.id}  {run.label}  {so_far}")
        for run in overview.limited:
            part = f"complete for its limit: ranked as the first {run.limit} of {run.n_items} items"
            print_text(f"part        run:{run.id}  {run.label}  {part}")
        for purpose, spent in overview.spent.items():
            print_text(f"spent       {purpose:<8}{spent_text(spent)}")
        for lost in overview.lost:
            print_text(f"lost        {lost_text(lost)}")
    if overview.unfinished:
        say_next(f"run --resume run:{run.id}" for run in overview.unfinished)
    elif overview.counts["run"]:
        say("all runs are complete")
        say_next(["list runs"])
