"""``list``, ``show`` and ``export``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proofstone.cli.built_things import list_builds, show_build
from proofstone.cli.counting import show_statistics
from proofstone.cli.images_written import write_image
from proofstone.cli.listing_plans import list_plans
from proofstone.cli.options import (
    json_option,
    output_option,
    read_list,
    workspace_option,
)
from proofstone.cli.output import print_json, print_table, print_text, say
from proofstone.cli.taxonomies import (
    export_taxonomy,
    list_taxonomies,
    named_taxonomy,
    show_taxonomy,
)
from proofstone.identity import short

if TYPE_CHECKING:
    from proofstone.stages.inspection import Description, ShownReply

__all__ = ["export_command", "list_command", "show_command"]

LISTED = (
    "source", "bank", "form", "entities", "reference", "run", "plan", "build", "taxonomy",
)  # fmt: skip
OUTCOMES = ("right", "wrong", "answered", "refused", "unparsed", "truncated", "ruled")


@click.command("list")
@click.argument("kind", type=click.Choice(LISTED))
@workspace_option
@json_option
def list_command(kind: str, folder: Path | None, as_json: bool) -> None:
    """List what the workspace holds of one kind.

    Newest first, each with a name and an id by which other commands find it. Taxonomies are those
    that come with the package.
    """
    if kind == "taxonomy":
        list_taxonomies(as_json=as_json)
        return
    from proofstone.stages.overview import run_states, things_of  # noqa: PLC0415
    from proofstone.wiring import open_workspace  # noqa: PLC0415

    with open_workspace(folder) as workspace:
        store = workspace.store
        if kind == "run":
            states = run_states(store)[::-1]
            if as_json:
                print_json(states)
                return
            rows: list[tuple[Any, ...]] = [("run", "model and way", "form", "done", "of", "USD")]
            rows += [
                (f"run:{s.id}", s.label, s.form, s.done, s.total, s.spent.cost_text) for s in states
            ]
            print_table(rows if states else [])
            return
        if kind == "plan":
            list_plans(workspace, as_json=as_json)
            return
        if kind == "build":
            list_builds(workspace, as_json=as_json)
            return
        listed = things_of(store, kind)
    if as_json:
        print_json(listed)
        return
    print_table(
        [
            (f"{thing.name}-{short(thing.id, 4)}", f"{thing.kind}:{short(thing.id)}", thing.about)
            for thing in listed
        ]
    )


@click.command("show")
@click.argument("identity", metavar="ID")
@click.option(
    "-m", "--model", "models", multiple=True, help="Of a form or bank: these models' replies."
)
@click.option("--outcome", type=click.Choice(OUTCOMES), help="Only replies with this outcome.")
@click.option("-n", "limit", type=click.IntRange(1), default=3, show_default=True, help="How many.")
@click.option(
    "--statistics", is_flag=True, help="Of a form or bank: its tables, tokens counted offline."
)
@click.option("--dropped", is_flag=True, help="Of a build: the rows that it dropped, and why.")
@click.option("--pending", is_flag=True, help="Of a build: the rows that are held up, and why.")
@click.option(
    "--judges",
    is_flag=True,
    help="Of a build: what each judge did, and how many rows the others would decide otherwise.",
)
@click.option(
    "--verdicts", is_flag=True, help="Of a build: what the judges said of each row, and why."
)
@click.option(
    "--step", metavar="NAME", help="With --dropped, --pending or --verdicts: at this step."
)
@click.option("--reason", metavar="TEXT", help="With --dropped: for this reason.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE.png",
    help="Of a page or passage: draw the page into this file, the passage marked.",
)
@click.option("--crop", is_flag=True, help="With -o: the passage alone, all else masked.")
@click.option(
    "--dpi",
    type=click.FloatRange(20, 600),
    default=150,
    show_default=True,
    help="With -o: dots an inch. An image file is drawn in its own pixels.",
)
@click.option(
    "--document",
    type=click.Path(path_type=Path, exists=True),
    metavar="PATH",
    help="With -o: the file that the source was read from, or its folder; else where it was then.",
)
@workspace_option
@json_option
def show_command(
    identity: str,
    models: tuple[str, ...],
    outcome: str | None,
    limit: int,
    statistics: bool,
    dropped: bool,
    pending: bool,
    judges: bool,
    verdicts: bool,
    step: str | None,
    reason: str | None,
    output: Path | None,
    crop: bool,
    dpi: float,
    document: Path | None,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Show one thing whole, with what it came from.

    ID is what listings and 'show' itself print: source, passage, fact (statement), bank, form,
    item, plan, build, run, response, call, scoring and score, each as KIND:DIGITS or, where it has
    one, by name. From a score the way leads back over the reply and the question to its facts,
    their page and their source. A response is response:RUN/ITEM/SAMPLE, a score
    score:SCORING/ITEM/SAMPLE/MEASURE, a page page:SOURCE/NUMBER. With -o the page of a passage is
    drawn as people see it.

    taxonomy:NAME shows the nodes of a taxonomy with their counts: a carried one, or the CSV or TOML
    file of your own, checked whole.

    Of a build its funnel; with --dropped, --pending or --verdicts its rows, the first -n of them.

    Of a run, and of a form or bank with -m or --outcome: the exact messages that were sent, the raw
    reply, and the answer that was extracted and how.
    """
    taxonomy = named_taxonomy(identity)
    if taxonomy is not None:
        show_taxonomy(taxonomy, as_json=as_json)
        return
    from proofstone.stages.inspection import show_replies  # noqa: PLC0415
    from proofstone.stages.looking import look, look_at  # noqa: PLC0415
    from proofstone.stages.served import note_of_run  # noqa: PLC0415
    from proofstone.wiring import open_workspace  # noqa: PLC0415

    if output is None and (crop or document):
        raise click.UsageError("--crop and --document go with -o FILE.png")
    with open_workspace(folder) as workspace:
        filtered = bool(models or outcome)
        is_special = identity.partition(":")[0] in {"response", "call", "score", "page"}
        if output is not None:
            drawn = workspace.draw(identity, dpi=dpi, crop=crop, document=document)
            write_image(output, drawn, as_json=as_json)
            return
        if is_special:
            _show_special(look(workspace.store, identity), as_json=as_json)
            return
        found = workspace.find(identity)
        if found.kind == "build":
            show_build(
                workspace, found, dropped=dropped, pending=pending, judges=judges,
                verdicts=verdicts, step=step, reason=reason, limit=limit, as_json=as_json,
            )  # fmt: skip
            return
        if dropped or pending or judges or verdicts or step or reason:
            raise click.UsageError(
                "--dropped, --pending, --judges, --verdicts, --step and --reason are for builds"
            )
        if statistics:
            show_statistics(workspace, found, as_json=as_json)
            return
        shown: list[ShownReply] = []
        if found.kind == "run" or (found.kind in {"form", "bank"} and filtered):
            shown = show_replies(
                workspace.store, found, models=read_list(models), outcome=outcome, limit=limit
            )
        if filtered and found.kind in {"run", "form", "bank"}:
            note = note_of_run(workspace.store, found) if shown else ""
            _show_filtered(shown, note, as_json=as_json)
            return
        description = look_at(workspace.store, found, limit=limit)
    _show_described(description, shown, as_json=as_json)


def _show_described(description: Description, shown: list[ShownReply], *, as_json: bool) -> None:
    if as_json:
        replies = {"replies": [_as_text(reply) for reply in shown]} if shown else {}
        print_json({**_fields(description), **replies})
        return
    print_text("\n\n".join(map(str, (description, *shown))))


def _show_special(description: Description, *, as_json: bool) -> None:
    if as_json:
        print_json(description)
    else:
        print_text(str(description))


def _show_filtered(shown: list[ShownReply], note: str, *, as_json: bool) -> None:
    if as_json:
        print_json([_as_text(reply) for reply in shown])
    elif shown:
        print_text("\n\n".join([*([note] if note else []), *map(str, shown)]))
    else:
        say("no reply fits")


def _fields(description: Description) -> dict[str, Any]:
    import msgspec  # noqa: PLC0415

    return msgspec.structs.asdict(description)


def _as_text(shown: ShownReply) -> dict[str, Any]:
    """The fields of a reply with the messages and the raw body as they can be read."""
    import msgspec  # noqa: PLC0415

    fields: dict[str, Any] = msgspec.structs.asdict(shown)
    fields["calls"] = [
        {
            **msgspec.structs.asdict(call),
            "prompt": msgspec.json.decode(call.prompt),
            "raw": call.raw.decode("utf-8", "replace"),
        }
        for call in shown.calls
    ]
    return fields


@click.command("export")
@click.argument("identity", metavar="ID")
@click.option(
    "--what",
    type=click.Choice(
        ["facts", "items", "responses", "scores", "leaderboard", "verdicts", "triples"]
    ),
    help="Of a bank its facts, of a form its items, of a run its responses, unless named.",
)
@click.option(
    "--fold-near",
    type=click.FloatRange(0.5, 1.0),
    metavar="COSINE",
    help="Of triples: also fold those that differ in their predicate's words alone, where these "
    "are as near in meaning. Near is seldom the same: 0.97 is careful.",
)
@output_option
@workspace_option
@json_option
def export_command(
    identity: str,
    what: str | None,
    fold_near: float | None,
    output: Path | None,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Write a bank, form, run, scores or leaderboard to a file.

    Of a build: every row that it dropped or that is held up, with the step and the reason; with
    --what verdicts every ballot of its judges. Of a taxonomy (taxonomy:kina): its nodes, as the
    table that can be changed and named with --taxonomy.

    Of a run on entities, with --what triples: every triple that was said, each once an entity
    (subject, predicate, object, subject_name), and the response and place where it stands. With
    --what verdicts, once they are verified: the triples of the sample, each with its verdict,
    reason and passage, and columns for people's own verdicts.

    JSONL, CSV, TSV, Parquet or Excel (.xlsx) by the file's ending. An exported bank or form can be
    imported again from each of them: the same facts, the same questions on the same facts.

    In CSV, TSV and Excel files a text that begins with = + - @, a tab or a line break gets an
    apostrophe before it, so that no spreadsheet takes it for a formula; 'import' takes it away
    again. Numbers stay numbers.
    """
    from proofstone.wiring import open_workspace  # noqa: PLC0415

    if fold_near is not None and what != "triples":
        raise click.UsageError("--fold-near is for --what triples")
    if output is None:
        raise click.UsageError("name the file: -o bank.jsonl (or .csv, .parquet, .xlsx)")
    taxonomy = named_taxonomy(identity)
    if taxonomy is not None:
        n_rows = export_taxonomy(taxonomy, output)
    else:
        with open_workspace(folder) as workspace:
            options = {} if fold_near is None else {"fold_near": fold_near}
            n_rows = workspace.export(identity, output, what, **options)  # type: ignore[arg-type]
    if as_json:
        print_json({"file": str(output), "rows": n_rows})
    else:
        click.echo(f"{output}   {n_rows} rows")
