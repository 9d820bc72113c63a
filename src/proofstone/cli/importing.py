"""``import``: a bank or a form from a file, with the method's filters where they are wanted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import structs

from proofstone.cli.column_options import encoding_option
from proofstone.cli.options import json_option, read_roles, workspace_option
from proofstone.cli.output import pasted, print_json, print_table, say, tell_known_name
from proofstone.identity import short

if TYPE_CHECKING:
    from proofstone.records import SiftedRows
    from proofstone.stages.exchange import ReferenceCounts

__all__ = ["import_command"]

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
    from proofstone.wiring import open_workspace  # noqa: PLC0415

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
    with open_workspace(folder) as workspace:
        if is_sifted:
            made = workspace.import_sifted(file, dropped=dropped, tell_unread=_tell_unread, **taken)
            bank, sifted = made.bank, made.rows
            shown, n, identity = bank.name, len(bank.facts), bank.id
        elif kind in _BANKS:
            bank = workspace.import_bank(
                file, tell_unread=_tell_unread, tell_counts=counted.append, **taken
            )
            shown, n, identity = bank.name, len(bank.facts), bank.id
        else:
            form = workspace.import_form(file, columns=_columns(columns), tell=_tell, **taken)
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
    from proofstone.wiring.question_files import (  # noqa: PLC0415
        method_of_bank_file,
        method_of_file,
        method_of_reference,
    )

    if kind == "entities":
        return "bequ"
    if kind == "reference":
        return method_of_reference(file, encoding=encoding)
    known = method_of_bank_file if kind == "bank" else method_of_file
    return known(file, otherwise="encyclo_k", encoding=encoding)


def _columns(columns: Sequence[str]) -> dict[str, str]:
    parts = [text.partition("=") for text in columns]
    for name, sign, _value in parts:
        if not name or not sign:
            raise click.BadParameter(f"{name!r}: expected NAME=VALUE", param_hint="--with")
    return {name: value for name, _sign, value in parts}


def _called(method: str, kind: str) -> str:
    from proofstone.methods import find_method  # noqa: PLC0415
    from proofstone.stages.exchange import facts_called, items_called  # noqa: PLC0415

    called = facts_called if kind in _BANKS else items_called
    return called(find_method(method))


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
    from proofstone.stages.sifting import funnel_lines  # noqa: PLC0415

    print_table(funnel_lines(sifted.funnel))
    if dropped is not None:
        say(f"{dropped}   {len(sifted.touched)} rows dropped or cleaned, each with its reason")
    elif sifted.touched:
        say("--dropped FILE writes each row that was dropped or cleaned, with its reason")


def _funnel_fields(sifted: SiftedRows) -> dict[str, Any]:
    import msgspec  # noqa: PLC0415

    funnel = sifted.funnel
    return {"funnel": {**msgspec.to_builtins(funnel), "left": funnel.left}}
