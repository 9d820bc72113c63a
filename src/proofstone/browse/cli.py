"""``list``, ``show`` and ``export``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import structs

from proofstone.build.cli_show import (
    export_taxonomy,
    list_builds,
    list_taxonomies,
    named_taxonomy,
    show_build,
    show_statistics,
    show_taxonomy,
)
from proofstone.ingest.cli import write_image
from proofstone.records.ids import short
from proofstone.run.cli import list_plans
from proofstone.session.options import (
    encoding_option,
    json_option,
    output_option,
    read_list,
    read_roles,
    workspace_option,
)
from proofstone.session.terminal import (
    pasted,
    print_json,
    print_table,
    print_text,
    say,
    tell_known_name,
)

if TYPE_CHECKING:
    from proofstone.ingest.bank_files import ReferenceCounts
    from proofstone.records.tables import SiftedRows
    from proofstone.results.trace import ShownReply
    from proofstone.session.description import Description


# ``import``: a bank or a form from a file, with the method's filters where they are wanted.

_KINDS = ["bank", "form", "entities", "reference"]


_BANKS = ("bank", "reference")


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--as", "kind", type=click.Choice(_KINDS), required=True)
@click.option("--name", help="Its name; else the file's.")
@click.option("--method", metavar="NAME", help="The method that reads it; else its columns tell.")
@click.option(
    "--role",
    "roles",
    multiple=True,
    metavar="ROLE=MODEL",
    help="A model that wrote, falsified, checked, filtered or judged all of it.",
)
@click.option("--filter", "is_sifted", is_flag=True, help="Of a bank: the method's filters first.")
@click.option(
    "--dropped",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="With --filter: write each row dropped or cleaned here, with the reason.",
)
@click.option(
    "--with",
    "columns",
    multiple=True,
    metavar="NAME=VALUE",
    help="Of a form or entities: a column that every row gets where it has no value there.",
)
@encoding_option
@workspace_option
@json_option
def import_command(
    file: Path,
    kind: str,
    name: str | None,
    method: str | None,
    roles: tuple[str, ...],
    is_sifted: bool,
    dropped: Path | None,
    columns: tuple[str, ...],
    encoding: str,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Read a bank, a form or a list of entities from a file, checked whole.

    A bank of statements, or a form made elsewhere, as JSONL, CSV, Parquet or Excel. The file is
    checked whole first: every problem is named by its line and field, and where there is one
    nothing is stored.

    A bank's columns: text, correct (true or false); title, id, origin (the id of the true
    statement that a false one came from), error_type, reason, source, page, language, discipline,
    field, subfield, book; written_by, falsified_by, checked_by, filtered_by, judged_by (models). A
    form's: question, options, answer; id, language, discipline, ... Its own ids and all further
    columns are kept: show ID, leaderboard --by COLUMN.

    Short questions with one answer, as a form or a bank: question, answer; aliases,
    primary_category, secondary_category, answer_type, tolerance, urls, valid_at, id, language. An
    alias that is another question's answer, a category that only some rows have and a question that
    comes twice are refused.

    Multiple-choice sets as a bank, as they stand: question; A, B, C, D or options or choices;
    answer (a letter, a place from 0, the option's text). 'build short-qa --from-choices' makes open
    questions of the same file.

    Entities that models are asked about: name (or title); description, aliases, redirects, domain,
    tier, wikidata, wikipedia, length, statements, popularity, fictional, language. In a .json file
    they may stand in groups: {"person": [...], "event": [...]}. Rows that mean one entity become
    one; two entities that no model could tell apart by name are refused. Of a list of what does not
    exist: --with fictional=true.

    A reference, what is known of entities: entity; predicate, object, passage, source, url; or
    text; or lists of triples (triples_wiki, triples_web, triples) of [predicate, object]. It is a
    bank, against which triples are verified.

    A model that had a hand in the file, by those columns or by --role wrote=openai/gpt-4.1, is
    marked where it or its family is on a leaderboard of it.

    --filter is for statements made elsewhere, as they were taken from a book. Numbers that only
    lead elsewhere are taken out of a text: (see Section 3.2), [12], "As shown in Figure 3, ...".
    Then a statement is dropped that needs a figure or a table, that leads to a chapter, a numbered
    formula or a reaction of its book, that points at what it does not name ("our country"), and a
    falsified one that is too short, or whose true one was dropped. The funnel is printed and kept:
    show BANK tells it.
    """
    from proofstone.browse.filtered_import import read_sifted
    from proofstone.ingest.bank_files import read_bank, read_form
    from proofstone.session.session import open_session

    taken: dict[str, Any] = {
        "method": method or _method_of(file, kind, encoding),
        "name": name, "roles": read_roles(roles), "encoding": encoding,
    }  # fmt: skip
    _check_filter(kind, is_sifted, dropped)
    if columns and kind in _BANKS:
        raise click.UsageError("--with is for forms and entities")
    again = 0
    sifted: SiftedRows | None = None
    counted: list[ReferenceCounts] = []
    with open_session(folder) as session:
        if is_sifted:
            made = read_sifted(session, file, dropped=dropped, tell_unread=_tell_unread, **taken)
            bank, sifted = made.bank, made.rows
            shown, n, identity = bank.name, len(bank.facts), bank.id
        elif kind in _BANKS:
            bank = read_bank(
                session, file, tell_unread=_tell_unread, tell_counts=counted.append, **taken
            )
            shown, n, identity = bank.name, len(bank.facts), bank.id
        else:
            form = read_form(session, file, columns=_columns(columns), tell=_tell, **taken)
            shown, n, identity = form.name, form.n_items, form.id
            again = form.recipe.get("rows", n) - n
    if as_json:
        funnel = _funnel_fields(sifted) if sifted else {}
        funnel |= structs.asdict(counted[0]) if kind == "reference" and counted else {}
        print_json({kind: identity, "name": shown, "rows": n, **funnel})
        return
    if sifted:
        _print_funnel(sifted, dropped)
    what = _called(taken["method"], kind)
    held = _held(counted[0]) if kind == "reference" and counted else f"{n} {what}"
    click.echo(f"{kind}   {shown}-{short(identity, 4)}   {held}")
    if kind == "reference" and counted:
        _tell_left_out(counted[0])
    if again:
        rows = "1 row names" if again == 1 else f"{again:,} rows name"
        say(f"note: {rows} one that another row names too; they were taken as one")
    tell_known_name(name, shown, what)
    say(f"next: proofstone {_NEXT[kind]} {pasted(f'{shown}-{short(identity, 4)}')}")


def _held(found: ReferenceCounts) -> str:
    """What a reference holds: texts are no triples, and stand apart."""
    triples = "1 triple" if found.triples == 1 else f"{found.triples:,} triples"
    texts = "1 text" if found.texts == 1 else f"{found.texts:,} texts"
    return f"{triples}, {texts}" if found.texts else triples


def _tell_left_out(found: ReferenceCounts) -> None:
    reasons = {"repeated": found.repeated, "empty": found.empty}
    said = ", ".join(f"{n:,} {name}" for name, n in reasons.items() if n)
    if said:
        n = found.repeated + found.empty
        say(f"note: {n:,} of {found.listed:,} listed triples left out: {said}")


_NEXT = {
    "bank": "build form",
    "form": "run",
    "entities": "run",
    "reference": "score RUN --judge PROVIDER/NAME --reference",
}


def _method_of(file: Path, kind: str, encoding: str) -> str:
    from proofstone.method import USUAL_METHOD
    from proofstone.run.run_files import (
        method_of_bank_file,
        method_of_file,
        method_of_list,
        method_of_reference,
    )

    if kind == "entities":
        return method_of_list(kind)
    if kind == "reference":
        return method_of_reference(file, encoding=encoding)
    if kind == "bank":
        return method_of_bank_file(file, encoding=encoding)
    return method_of_file(file, otherwise=USUAL_METHOD, encoding=encoding)


def _columns(columns: Sequence[str]) -> dict[str, str]:
    parts = [text.partition("=") for text in columns]
    for name, sign, _value in parts:
        if not name or not sign:
            raise click.BadParameter(f"{name!r}: expected NAME=VALUE", param_hint="--with")
    return {name: value for name, _sign, value in parts}


def _called(method: str, kind: str) -> str:
    from proofstone.method import find_method

    found = find_method(method)
    return found.facts_called if kind in _BANKS else found.items_called


def _tell(note: str) -> None:
    say(f"note: {note}")


def _tell_unread(columns: Sequence[str]) -> None:
    say(f"note: not taken, for they mean nothing here: {', '.join(columns)}")


def _check_filter(kind: str, is_sifted: bool, dropped: Path | None) -> None:
    if is_sifted and kind != "bank":
        raise click.UsageError("--filter is for statements: --as bank")
    if dropped is not None and not is_sifted:
        raise click.UsageError("--dropped FILE needs --filter: without it every row is taken")


def _print_funnel(sifted: SiftedRows, dropped: Path | None) -> None:
    """The funnel as a table, then where the rows are that went."""
    from proofstone.browse.filtered_import import funnel_lines

    print_table(funnel_lines(sifted.funnel))
    if dropped is not None:
        say(f"{dropped}   {len(sifted.touched)} rows dropped or cleaned, each with its reason")
    elif sifted.touched:
        say("--dropped FILE writes each row that was dropped or cleaned, with its reason")


def _funnel_fields(sifted: SiftedRows) -> dict[str, Any]:
    import msgspec

    funnel = sifted.funnel
    return {"funnel": {**msgspec.to_builtins(funnel), "left": funnel.left}}


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
    from proofstone.browse.status import run_states, things_of
    from proofstone.session.session import open_session

    with open_session(folder) as session:
        store = session.store
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
            list_plans(session, as_json=as_json)
            return
        if kind == "build":
            list_builds(session, as_json=as_json)
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
    from proofstone.ingest.pages import draw

    taxonomy = named_taxonomy(identity)
    if taxonomy is not None:
        show_taxonomy(taxonomy, as_json=as_json)
        return
    from proofstone.browse.show import look, look_at
    from proofstone.results.trace import show_replies
    from proofstone.run.run_facts import note_of_run
    from proofstone.session.session import open_session

    if output is None and (crop or document):
        raise click.UsageError("--crop and --document go with -o FILE.png")
    with open_session(folder) as session:
        filtered = bool(models or outcome)
        is_special = identity.partition(":")[0] in {"response", "call", "score", "page"}
        if output is not None:
            drawn = draw(session, identity, dpi=dpi, crop=crop, document=document)
            write_image(output, drawn, as_json=as_json)
            return
        if is_special:
            _show_special(look(session.store, identity), as_json=as_json)
            return
        found = session.find(identity)
        if found.kind == "build":
            show_build(
                session, found, dropped=dropped, pending=pending, judges=judges,
                verdicts=verdicts, step=step, reason=reason, limit=limit, as_json=as_json,
            )  # fmt: skip
            return
        if dropped or pending or judges or verdicts or step or reason:
            raise click.UsageError(
                "--dropped, --pending, --judges, --verdicts, --step and --reason are for builds"
            )
        if statistics:
            show_statistics(session, found, as_json=as_json)
            return
        shown: list[ShownReply] = []
        if found.kind == "run" or (found.kind in {"form", "bank"} and filtered):
            shown = show_replies(
                session.store, found, models=read_list(models), outcome=outcome, limit=limit
            )
        if filtered and found.kind in {"run", "form", "bank"}:
            note = note_of_run(session.store, found) if shown else ""
            _show_filtered(shown, note, as_json=as_json)
            return
        description = look_at(session.store, found, limit=limit)
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
    import msgspec

    return msgspec.structs.asdict(description)


def _as_text(shown: ShownReply) -> dict[str, Any]:
    """The fields of a reply with the messages and the raw body as they can be read."""
    import msgspec

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
    from proofstone.browse.export import write_export
    from proofstone.session.session import open_session

    if fold_near is not None and what != "triples":
        raise click.UsageError("--fold-near is for --what triples")
    if output is None:
        raise click.UsageError("name the file: -o bank.jsonl (or .csv, .parquet, .xlsx)")
    taxonomy = named_taxonomy(identity)
    if taxonomy is not None:
        n_rows = export_taxonomy(taxonomy, output)
    else:
        with open_session(folder) as session:
            options = {} if fold_near is None else {"fold_near": fold_near}
            n_rows = write_export(session, identity, output, what, **options)  # type: ignore[arg-type]
    if as_json:
        print_json({"file": str(output), "rows": n_rows})
    else:
        click.echo(f"{output}   {n_rows} rows")
