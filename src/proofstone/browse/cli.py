"""``import``, ``list``, ``show`` and ``export``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import click
import msgspec
from msgspec import Struct, structs

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
from proofstone.records.options import Opt
from proofstone.session.cli_command import command
from proofstone.session.options import (
    asked_for,
    encoding_option,
    json_option,
    output_option,
    read_roles,
    workspace_option,
)
from proofstone.session.terminal import (
    day,
    minute,
    pasted,
    print_json,
    print_table,
    print_text,
    say,
    say_next,
    tell_known_name,
)

if TYPE_CHECKING:
    from proofstone.ingest.bank_files import ReferenceCounts
    from proofstone.records.tables import SiftedRows
    from proofstone.results.trace import ShownResponse
    from proofstone.session.session import Session
    from proofstone.store.lookup import Found


# ``import``: a bank or a form from a file, with the method's filters where they are wanted.

_NEXT = {
    "bank": ("build form {name}",),
    "form": ("show {name}", "run {name} -m PROVIDER/NAME"),
    "entities": ("show {name}", "run {name} -m PROVIDER/NAME"),
    "reference": ("show {name}", "grade RUN --judge PROVIDER/NAME --reference {name}"),
}


_BANKS = ("bank", "reference")


class ImportAsked(Struct, frozen=True, kw_only=True):
    """How a file is taken."""

    name: Annotated[str | None, Opt("Name (default: name of the file).")] = None
    method: Annotated[str | None, Opt(
        "Method that reads the file (default: detected from its columns).", metavar="NAME",
    )] = None  # fmt: skip
    roles: Annotated[tuple[str, ...], Opt(
        "Model that wrote, perturbed, checked, filtered or judged all rows.",
        flags=("--role",), metavar="ROLE=MODEL",
    )] = ()  # fmt: skip
    is_sifted: Annotated[bool, Opt(
        "Apply the method's filters to a bank.", flags=("--filter",),
    )] = False  # fmt: skip
    dropped: Annotated[Path | None, Opt(
        "With --filter: write each dropped or cleaned row with its reason.",
        flags=("--dropped-to",), metavar="FILE",
    )] = None  # fmt: skip
    columns: Annotated[tuple[str, ...], Opt(
        "Default value of a column (forms and entities).",
        flags=("--with",), metavar="NAME=VALUE",
    )] = ()  # fmt: skip


@command("import")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--as", "kind", type=click.Choice(list(_NEXT)), required=True)
@asked_for(ImportAsked)
@encoding_option
@workspace_option
@json_option
def import_command(
    file: Path, kind: str, asked: ImportAsked, encoding: str, folder: Path | None, as_json: bool
) -> None:
    """Import items, entities or reference data from a file.

    Reads JSONL, CSV, Parquet or Excel. The file is checked first; all problems are listed with line
    and field, and nothing is stored if there are any. A model named by a column such as written_by,
    or by --role wrote=MODEL, is marked on leaderboards, with its model family.

    \b
    Columns by --as:
      bank (statements)  text, correct; title, id, origin (id of the true statement),
                         error_type, reason, source, page, language, discipline, field,
                         subfield, book; written_by, perturbed_by, checked_by, filtered_by,
                         judged_by
      form               question, options, answer; id, language, discipline, ...; further
                         columns are kept for 'leaderboard --by COLUMN'
      form or bank       (short answers) question, answer; aliases, primary_category,
                         secondary_category, answer_type, tolerance, urls, valid_at, id, language
      bank (choices)     question; A, B, C, D or options; answer (letter, index or text)
      entities           name; description, aliases, redirects, domain, tier, wikidata,
                         wikipedia, length, statements, popularity, nonexistent, language
      reference          entity; predicate, object, passage, source, url; or text; or lists
                         of triples (triples_wiki, triples_web, triples)

    Short answers are refused if an alias is the answer of another question, or if a question is
    repeated. Entities with indistinguishable names are refused. Use --with nonexistent=true for a
    list of non-existent entities.

    --filter cleans statements taken from books: references such as "(see Section 3.2)" are removed.
    Statements that need a figure, a table or an unnamed referent are dropped. 'show BANK' prints
    the counts.

    \b
    Example:
      proofstone import questions.csv --as form
    """
    from proofstone.browse.filtered_import import read_sifted
    from proofstone.ingest.bank_files import read_bank, read_form
    from proofstone.method import find_method, name_facts
    from proofstone.session.session import open_session

    method = asked.method or _method_of(file, kind, encoding)
    taken: dict[str, Any] = {
        "method": method, "name": asked.name, "roles": read_roles(asked.roles),
        "encoding": encoding,
    }  # fmt: skip
    _check_import(kind, asked)
    again = 0
    sifted: SiftedRows | None = None
    counted: list[ReferenceCounts] = []
    with open_session(folder) as session:
        if kind in _BANKS:
            if asked.is_sifted:
                made = read_sifted(
                    session, file, dropped=asked.dropped, tell_unread=_tell_unread, **taken
                )
                bank, sifted = made.bank, made.rows
            else:
                bank = read_bank(
                    session,
                    file,
                    tell_unread=_tell_unread,
                    tell_counts=counted.append,
                    tell_warning=lambda warning: say(f"warning: {warning}"),
                    **taken,
                )
            shown, n, identity = bank.name, len(bank.facts), bank.id
            what = name_facts(session.store.knowledge.bank(identity).kinds())
        else:
            form = read_form(session, file, columns=_columns(asked.columns), tell=_tell, **taken)
            shown, n, identity = form.name, form.n_items, form.id
            what = find_method(method).items_called
            again = form.recipe.get("rows", n) - n
    reference = counted[0] if kind == "reference" and counted else None
    if as_json:
        funnel: dict[str, Any] = structs.asdict(reference) if reference else {}
        if sifted:
            told = msgspec.to_builtins(sifted.funnel)
            funnel["funnel"] = {**told, "left": sifted.funnel.left}
        print_json({kind: identity, "name": shown, "rows": n, **funnel})
        return
    if sifted:
        _print_funnel(sifted, asked.dropped)
    held = _held(reference) if reference else f"{n} {what}"
    print_text(f"{kind}   {shown}-{short(identity, 4)}   {held}")
    if reference:
        _tell_left_out(reference)
    if again:
        rows = "1 row names" if again == 1 else f"{again:,} rows name"
        say(f"note: {rows} one that another row names too; they were taken as one")
    tell_known_name(asked.name, shown, what)
    name = pasted(f"{shown}-{short(identity, 4)}")
    say_next(step.format(name=name) for step in _NEXT[kind])


def _check_import(kind: str, asked: ImportAsked) -> None:
    if asked.is_sifted and kind != "bank":
        raise click.UsageError("--filter is for statements: --as bank")
    if asked.dropped is not None and not asked.is_sifted:
        raise click.UsageError("--dropped-to FILE needs --filter: without it every row is taken")
    if asked.columns and kind in _BANKS:
        raise click.UsageError("--with is for forms and entities")


def _held(found: ReferenceCounts) -> str:
    """Return the number of triples and texts of a reference; texts are counted separately."""
    triples = "1 triple" if found.triples == 1 else f"{found.triples:,} triples"
    texts = "1 text" if found.texts == 1 else f"{found.texts:,} texts"
    return f"{triples}, {texts}" if found.texts else triples


def _tell_left_out(found: ReferenceCounts) -> None:
    reasons = {"repeated": found.repeated, "empty": found.empty}
    said = ", ".join(f"{n:,} {name}" for name, n in reasons.items() if n)
    if said:
        n = found.repeated + found.empty
        say(f"note: {n:,} of {found.listed:,} listed triples left out: {said}")


def _method_of(file: Path, kind: str, encoding: str) -> str:
    from proofstone.method import USUAL_METHOD
    from proofstone.run.forms import (
        method_of_bank_file,
        method_of_file,
        method_of_list,
        method_of_reference,
    )

    if kind == "entities":
        return method_of_list(kind)
    if kind == "form":
        return method_of_file(file, otherwise=USUAL_METHOD, encoding=encoding)
    reads = method_of_reference if kind == "reference" else method_of_bank_file
    return reads(file, encoding=encoding)


def _columns(columns: Sequence[str]) -> dict[str, str]:
    parts = [text.partition("=") for text in columns]
    for name, sign, _value in parts:
        if not name or not sign:
            raise click.BadParameter(f"{name!r}: expected NAME=VALUE", param_hint="--with")
    return {name: value for name, _sign, value in parts}


def _tell(note: str) -> None:
    say(f"note: {note}")


def _tell_unread(columns: Sequence[str]) -> None:
    say(f"note: not taken, for they mean nothing here: {', '.join(columns)}")


def _print_funnel(sifted: SiftedRows, dropped: Path | None) -> None:
    """The funnel as a table, then where the rows are that went."""
    from proofstone.browse.filtered_import import funnel_lines

    print_table(funnel_lines(sifted.funnel))
    if dropped is not None:
        say(f"{dropped}   {len(sifted.touched)} rows dropped or cleaned, each with its reason")
    elif sifted.touched:
        say("--dropped-to FILE writes each row that was dropped or cleaned, with its reason")


class Kind(click.Choice[str]):
    """A kind of object, in the singular or the plural."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The kind in the singular."""
        plurals = {plural(kind): kind for kind in self.choices}
        return super().convert(plurals.get(str(value), value), param, ctx)


def plural(kind: str) -> str:
    """A kind in the plural: ``banks``, ``taxonomies``."""
    if kind == "entities":
        return kind
    return f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s"


# What makes the first object of a kind.
_CREATE = {
    "source": "ingest PATH",
    "bank": "build statements elements, or import FILE --as bank",
    "form": "build form BANK",
    "entities": "import FILE --as entities",
    "reference": "build reference FILE --corpus wiki -m PROVIDER/NAME",
    "run": "run FORM -m PROVIDER/NAME",
    "plan": "build plan FORM",
}


LISTED = (
    "source", "bank", "form", "entities", "reference", "run", "plan", "build", "taxonomy", "preset",
)  # fmt: skip


@command("list")
@click.argument("kind", type=Kind(LISTED), metavar="KIND")
@workspace_option
@json_option
def list_command(kind: str, folder: Path | None, as_json: bool) -> None:
    """List the contents of the workspace by kind.

    KIND is source, bank, form, entities, reference, run, plan, build, taxonomy or preset; plurals
    work as well. Newest entries come first, each with its name and id.

    \b
    Example:
      proofstone list runs
    """
    from proofstone.session.session import open_session

    if kind == "taxonomy":
        list_taxonomies(as_json=as_json)
        return
    if kind == "preset":
        from proofstone.run.cli_models import list_presets

        list_presets(as_json=as_json)
        return
    with open_session(folder) as session:
        if kind == "build":
            list_builds(session, as_json=as_json)
            return
        listed, rows = _listed(session, kind)
    if as_json:
        print_json(listed)
    elif listed:
        print_table(rows)
    else:
        say(f"No {plural(kind)} yet. Create one: proofstone {_CREATE[kind]}")


def _listed(session: Session, kind: str) -> tuple[Sequence[Any], list[tuple[Any, ...]]]:
    """All things of a kind, newest first, and the rows that tell of them."""
    from proofstone.browse.status import run_states, things_of

    if kind == "run":
        states = run_states(session.store)[::-1]
        is_priced = any(s.spent.cost_text for s in states)
        return states, [
            ("run", "model", "form", "status", "done", "score", "date", *["USD"] * is_priced),
            *(
                (
                    f"run:{s.id}",
                    s.label,
                    s.form,
                    s.status,
                    f"{s.done}/{s.total}",
                    "-" if s.score is None else f"{100 * s.score:.1f}%",
                    day(s.last_at) if s.last_at else "-",
                    *[s.spent.cost_text] * is_priced,
                )
                for s in states
            ),
        ]
    if kind == "plan":
        plans = session.store.plans.every()
        return plans, [
            ("plan", "made", "of", "measure", "items", "samples"),
            *(
                (
                    f"plan:{short(plan.id)}", minute(plan.at), f"{plan.kind}:{short(plan.target)}",
                    plan.measure, plan.n_items, plan.samples,
                )
                for plan in plans
            ),
        ]  # fmt: skip
    things = things_of(session.store, kind)
    return things, [
        (f"{thing.name}-{short(thing.id, 4)}", f"{thing.kind}:{short(thing.id)}", thing.about)
        for thing in things
    ]


class ShowAsked(Struct, frozen=True, kw_only=True):
    """What of a thing is shown."""

    models: Annotated[tuple[str, ...], Opt(
        "Responses of these models (forms and banks).", flags=("-m", "--model"), separated=True,
    )] = ()  # fmt: skip
    outcome: Annotated[
        Literal["right", "wrong", "answered", "refused", "unparsed", "truncated", "overridden"]
        | None,
        Opt("Only responses with this outcome."),
    ] = None
    limit: Annotated[
        int, Opt("Number of rows or responses.", flags=("-n",), least=1, shows_default=True)
    ] = 3
    statistics: Annotated[bool, Opt(
        "Summary tables of a form, bank or build; tokens are counted offline.",
    )] = False  # fmt: skip
    dropped: Annotated[bool, Opt("Dropped rows of a build with reasons.")] = False
    pending: Annotated[bool, Opt("Pending rows of a build with reasons.")] = False
    judges: Annotated[bool, Opt(
        "Judge statistics of a build, and how often the other judges disagree.",
    )] = False  # fmt: skip
    verdicts: Annotated[bool, Opt(
        "Judge verdicts of a build with reasons.",
    )] = False  # fmt: skip
    step: Annotated[str | None, Opt(
        "With --dropped, --pending or --verdicts: only this step.", metavar="NAME",
    )] = None  # fmt: skip
    reason: Annotated[
        str | None,
        Opt("With --dropped: only this reason.", flags=("--with-reason",), metavar="TEXT"),
    ] = None
    output: Annotated[Path | None, Opt(
        "Draw the page of a page or passage, with the passage marked.",
        flags=("-o", "--output"), metavar="FILE.png", is_folder=True,
    )] = None  # fmt: skip
    crop: Annotated[bool, Opt("With -o: only the passage, everything around it masked.")] = False
    dpi: Annotated[float, Opt(
        "With -o: resolution in dots per inch; images keep their own pixels.", least=20, most=600,
        shows_default=True,
    )] = 150  # fmt: skip
    document: Annotated[Path | None, Opt(
        "With -o: document that the source was read from, or its folder (default: the original "
        "path).",
        metavar="PATH", exists=True, is_folder=True,
    )] = None  # fmt: skip


@command(
    "show",
    basic=(
        "models",
        "outcome",
        "limit",
        "statistics",
        "dropped",
        "pending",
        "judges",
        "verdicts",
        "output",
    ),
)
@click.argument("words", nargs=-1, required=True, metavar="[KIND] ID")
@asked_for(ShowAsked)
@workspace_option
@json_option
def show_command(
    words: tuple[str, ...], asked: ShowAsked, folder: Path | None, as_json: bool
) -> None:
    """Show one object with its provenance.

    ID is an id or name as lists print it: source, passage, fact, bank, form, item, plan, build,
    run, response, call, scoring or score. A score leads back to its response, question, facts, page
    and source. A response is response:RUN/ITEM/SAMPLE, a page is page:SOURCE/NUMBER, and a score is
    score:SCORING/ITEM/SAMPLE/MEASURE. -o draws the page of a passage.

    'show preset METHOD/NAME' prints published settings and the differences here. 'show taxonomy
    NAME' prints nodes with counts (a bundled taxonomy, or a CSV or TOML file).

    A build shows how many rows each step kept; --dropped, --pending and --verdicts list rows. A run
    shows the exact prompts, raw responses and extracted answers; forms and banks do with -m or
    --outcome.

    \b
    Examples:
      proofstone show run:4f2a91cc --outcome wrong -n 5
      proofstone show preset METHOD/as-published
    """
    from proofstone.browse.show import look
    from proofstone.ingest.pages import draw
    from proofstone.session.session import open_session

    identity = _named(words)
    if identity.startswith("preset:"):
        from proofstone.run.cli_models import show_preset

        show_preset(identity.removeprefix("preset:"), as_json=as_json)
        return
    taxonomy = named_taxonomy(identity)
    if taxonomy is not None:
        show_taxonomy(taxonomy, as_json=as_json)
        return
    if asked.output is None and (asked.crop or asked.document):
        raise click.UsageError("--crop and --document go with -o FILE.png")
    with open_session(folder) as session:
        if asked.output is not None:
            drawn = draw(session, identity, dpi=asked.dpi, crop=asked.crop, document=asked.document)
            write_image(asked.output, drawn, as_json=as_json)
        elif identity.partition(":")[0] in {"response", "call", "score", "page"}:
            described = look(session.store, identity)
            print_json(described) if as_json else print_text(str(described))
        else:
            _show_found(session, session.find(identity), asked, as_json=as_json)


def _named(words: Sequence[str]) -> str:
    """``ID``, or ``KIND ID`` as ``KIND:ID``."""
    if len(words) > 2:
        raise click.UsageError(f"show one object at a time: {' '.join(words)}")
    if len(words) == 1:
        return words[0]
    kind, identity = words
    kinds = {plural(each): each for each in LISTED}
    return f"{kinds.get(kind, kind)}:{identity.removeprefix(f'{kind}:')}"


_OF_BUILDS = ("dropped", "pending", "judges", "verdicts", "step", "reason")


def _show_found(session: Session, found: Found, asked: ShowAsked, *, as_json: bool) -> None:
    from proofstone.browse.show import look_at
    from proofstone.results.trace import show_responses
    from proofstone.run.run_facts import note_of_run

    of_builds = {name: getattr(asked, name) for name in _OF_BUILDS}
    if asked.statistics and not any(of_builds.values()):
        show_statistics(session, found, as_json=as_json)
        return
    if found.kind == "build":
        show_build(session, found, limit=asked.limit, as_json=as_json, **of_builds)
        return
    if any(of_builds.values()):
        raise click.UsageError(
            "--dropped, --pending, --judges, --verdicts, --step and --with-reason are for builds"
        )
    filtered = bool(asked.models or asked.outcome) and found.kind in {"run", "form", "bank"}
    shown: list[ShownResponse] = []
    if found.kind == "run" or filtered:
        shown = show_responses(
            session.store, found, models=asked.models, outcome=asked.outcome, limit=asked.limit
        )
    if filtered:
        note = note_of_run(session.store, found) if shown else ""
        _show_filtered(shown, note, as_json=as_json)
        return
    described = look_at(session.store, found, limit=asked.limit)
    if as_json:
        responses = {"responses": [_as_text(response) for response in shown]} if shown else {}
        print_json({**structs.asdict(described), **responses})
        return
    print_text("\n\n".join(map(str, (described, *shown))))


def _show_filtered(shown: list[ShownResponse], note: str, *, as_json: bool) -> None:
    if as_json:
        print_json([_as_text(response) for response in shown])
    elif shown:
        print_text("\n\n".join([*([note] if note else []), *map(str, shown)]))
    else:
        say("no matching response")


def _as_text(shown: ShownResponse) -> dict[str, Any]:
    """Return the fields of a response, with its messages and raw body decoded."""
    calls = [
        {
            **structs.asdict(call),
            "prompt": msgspec.json.decode(call.prompt),
            "raw": call.raw.decode("utf-8", "replace"),
        }
        for call in shown.calls
    ]
    return {**structs.asdict(shown), "calls": calls}


@command("export")
@click.argument("identity", metavar="ID")
@click.option(
    "--what",
    type=click.Choice(
        ["facts", "items", "responses", "scores", "leaderboard", "verdicts", "triples"]
    ),
    help="Content to export (default: facts of a bank, items of a form, responses of a run).",
)
@click.option(
    "--fold-near",
    type=click.FloatRange(0.5, 1.0),
    metavar="COSINE",
    help="For triples: also merge triples that differ only in predicates with at least this "
    "embedding similarity (0.97 is careful).",
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
    """Export items, responses, scores or a leaderboard.

    The ending of the file sets the format: JSONL, CSV, TSV, Parquet or Excel (.xlsx). Banks and
    forms can be imported again from each of them.

    \b
    Contents by kind of ID:
      bank, form, run  facts, items, responses; or what --what names
      build            dropped and pending rows with step and reason; --what verdicts: all votes
      taxonomy:NAME    its nodes, as a table for --taxonomy
      run on entities  --what triples: elicited triples; --what verdicts: verified triples
                       with columns for human labels

    In CSV, TSV and Excel files, texts that start with = + - @, a tab or a line break get a leading
    apostrophe. Spreadsheets then do not run them as formulas. 'import' removes it.

    \b
    Example:
      proofstone export facts -o facts.csv
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
        print_text(f"{output}   {n_rows} rows")
