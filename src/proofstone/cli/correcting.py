"""``rule``, ``retire`` and ``restore``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from proofstone.cli.options import json_option, read_list, workspace_option
from proofstone.cli.output import pasted, print_json, say
from proofstone.cli.work_lists import apply_work_list, from_option
from proofstone.identity import short

if TYPE_CHECKING:
    from proofstone.records import Verdict
    from proofstone.stages.ruling import Ruled

__all__ = ["by_option", "reason_option", "restore_command", "retire_command", "rule_command"]

VERDICTS = ("correct", "incorrect", "void")

reason_option = click.option("--reason", required=True, metavar="TEXT", help="Why; it is stored.")
_reason_or_rows = click.option(
    "--reason",
    default="",
    metavar="TEXT",
    help="Why; it is stored. With --from: for rows that say no reason.",
)
by_option = click.option(
    "--by",
    default="",
    metavar="NAME",
    help="Who corrects: a name, or digits of an actor id. Else PROOFSTONE_ACTOR, or your login.",
)


@click.command("rule")
@click.argument("responses", metavar="[RESPONSE", default="")
@click.argument("verdict", type=click.Choice(VERDICTS), metavar="VERDICT]", required=False)
@from_option
@_reason_or_rows
@by_option
@workspace_option
@json_option
def rule_command(
    responses: str,
    verdict: Verdict | None,
    file: Path | None,
    reason: str,
    by: str,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Rule on a stored reply: correct, incorrect or void.

    RESPONSE is RUN/ITEM/SAMPLE, as 'show RUN --outcome ...' prints it; several take commas. Nobody
    is asked, and the score stays as the scorer left it: leaderboards apply the ruling, count
    rulings by model, and show the scores without any under --as-scored. A ruling holds in every
    run that this very reply serves from the cache. A void reply is left out, and its item with it
    for all models, since a ranking compares them on the same items. A second ruling on the same
    reply names the first and holds from then on.

    Or --from FILE, a work list: each row whose decision is correct, incorrect or void is ruled so
    on the replies that it names, and applied again what holds already is passed over.

    Rows hold a random actor id; the name stands in one table, and 'review erase' deletes it.
    """
    if _is_from(file, responses, reason, "a response and a verdict", given=bool(verdict)):
        apply_work_list(_named(file), "rule", reason=reason, by=by, folder=folder, as_json=as_json)
        return
    if verdict is None:
        raise click.UsageError(f"say the verdict: {', '.join(VERDICTS)}")
    from proofstone.wiring import open_workspace  # noqa: PLC0415

    with open_workspace(folder) as workspace:
        ruled = workspace.rule(read_list([responses]), verdict, reason=reason, by=by)
    if as_json:
        print_json(ruled)
        return
    for one in ruled:
        click.echo(_ruled_line(one))
    for one in ruled:
        if one.n_runs > 1:
            say(f"{one.response}: this reply serves {one.n_runs} runs, and the ruling holds in all")
    runs = " ".join(dict.fromkeys(f"run:{short(one.ruling.run)}" for one in ruled))
    say(f"look: proofstone leaderboard {runs}   (before any correction: --as-scored)")


@click.command("retire")
@click.argument("identity", metavar="[ID]", default="")
@from_option
@_reason_or_rows
@by_option
@workspace_option
@json_option
def retire_command(
    identity: str,
    file: Path | None,
    reason: str,
    by: str,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Leave an item, or all items on a fact, out of leaderboards.

    ID is an item or a fact (item:9ab3c4d1). Forms stay as they are, and their runs keep all
    replies; leaderboards say how many items are retired. 'restore' undoes it.

    Or --from FILE, a work list: the target of each row whose decision is retire, for the row's
    own reason. All rows are checked before any is carried out; applied again, what is retired
    already is passed over.
    """
    if _is_from(file, identity, reason, "an item or a fact"):
        apply_work_list(
            _named(file), "retire", reason=reason, by=by, folder=folder, as_json=as_json
        )
        return
    _stand("retire", identity, reason, by, folder, as_json=as_json)


@click.command("restore")
@click.argument("identity", metavar="ID")
@reason_option
@by_option
@workspace_option
@json_option
def restore_command(
    identity: str, reason: str, by: str, folder: Path | None, as_json: bool
) -> None:
    """Take a retired item or fact into leaderboards again."""
    _stand("restore", identity, reason, by, folder, as_json=as_json)


def _is_from(file: Path | None, named: str, reason: str, what: str, *, given: bool = False) -> bool:
    """Whether a work list is meant. Raises UsageError unless one of both is named, or no reason."""
    if (file is not None) == bool(named or given):
        raise click.UsageError(f"name {what}, or a work list: --from FILE")
    if file is None and not reason.strip():
        raise click.UsageError('a correction needs its reason: --reason "..."')
    return file is not None


def _named(file: Path | None) -> Path:
    """The file, which was checked to be named."""
    return Path() if file is None else file


def _stand(
    action: Literal["retire", "restore"],
    identity: str,
    reason: str,
    by: str,
    folder: Path | None,
    *,
    as_json: bool,
) -> None:
    from proofstone.wiring import open_workspace  # noqa: PLC0415

    with open_workspace(folder) as workspace:
        act = workspace.retire if action == "retire" else workspace.restore
        standing = act(identity, reason=reason, by=by)
        shown = workspace.run_forms(form for form, _n in standing.forms)
    if as_json:
        print_json(standing)
        return
    done = standing.correction
    verb = {"retire": "retired", "restore": "restored"}[done.action]
    click.echo(f"{done.kind}:{short(done.target)}  {verb} by actor {short(done.actor)}")
    for form, n in standing.forms:
        items = "item" if n == 1 else "items"
        click.echo(f"  {form}   {n} {items}")
    for form in shown[-1:]:
        say(f"look: proofstone leaderboard {pasted(form)}")


def _ruled_line(one: Ruled) -> str:
    former = f", before: {one.former}" if one.former else ""
    actor = short(one.ruling.actor)
    return f"{one.response}  {one.model}  ruled {one.ruling.verdict}{former}  by actor {actor}"
