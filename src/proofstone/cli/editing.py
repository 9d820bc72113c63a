"""``edit``: a corrected version of an item or fact, another place for a source."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proofstone.cli.correcting import by_option
from proofstone.cli.options import json_option, read_list, workspace_option
from proofstone.cli.output import print_json, say
from proofstone.cli.placed import show_placed, tell_followed
from proofstone.cli.work_lists import apply_work_list, run_lines
from proofstone.errors import BadInput, BadUsage
from proofstone.identity import short

if TYPE_CHECKING:
    from proofstone.stages.editing import Edited

__all__ = ["edit_command"]


@click.command("edit")
@click.argument("identity", metavar="[ID]", default="")
@click.option(
    "--set", "pairs", multiple=True, metavar="FIELD=VALUE", help="A new value; repeat it."
)
@click.option(
    "--from",
    "file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A JSON file of new values by field; null takes one away. Without ID: a work list.",
)
@click.option("--fields", "only_fields", is_flag=True, help="Only print the fields, as JSON.")
@click.option("--reason", default="", metavar="TEXT", help="Why; it is stored.")
@by_option
@click.option(
    "--form", "forms", multiple=True, metavar="FORM", help="Correct only these forms of it."
)
@click.option(
    "--as-placed",
    is_flag=True,
    help="Of a bank: its facts where their sources were placed since, as a corrected bank.",
)
@workspace_option
@json_option
def edit_command(
    identity: str,
    pairs: tuple[str, ...],
    file: Path | None,
    only_fields: bool,
    reason: str,
    by: str,
    forms: tuple[str, ...],
    as_placed: bool,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Correct an item or a fact: a new version that names the old one.

    ID is an item or a fact. New values come from --set, from a JSON file, or from $EDITOR, which
    opens the fields; they are checked as those of a file are. Nothing is changed in place.

    A form is frozen, so each form that holds the item is made anew with the new version in its
    place and every other item the same; run it, and all other replies come from the cache. A
    corrected fact makes new versions of the items that rest on it, of the falsified statements
    that came from it, and of its bank. The plain name means the newest version from then on; older
    ones keep their digits and their results.

    ID may be a source, whose fields are its levels in the taxonomy (discipline, field, subfield,
    book): a placement that names the one before it. What is built of it afterwards stands there;
    what was built stays, until a bank is told to follow: ID is then the bank, with --as-placed.
    Its forms stay as they are.

    Without an ID, --from is a work list (audit --work-list): each row whose decision is edit gives
    its target the new values in its column changes (FIELD=VALUE, one a line, or a JSON object).
    All are checked first and made together, so that a form gets one newer version; applied again,
    what was edited so already is passed over.
    """
    if not identity:
        if file is None or pairs or only_fields or forms or as_placed:
            raise click.UsageError("name an item or a fact, or a work list alone: --from FILE")
        apply_work_list(file, "edit", reason=reason, by=by, folder=folder, as_json=as_json)
        return
    from proofstone.wiring import open_workspace  # noqa: PLC0415

    if as_placed and (pairs or file or only_fields or forms):
        raise click.UsageError("--as-placed takes its values from placements alone")
    with open_workspace(folder) as workspace:
        if as_placed:
            followed = workspace.follow_placements(identity, reason=reason, by=by)
            print_json(followed) if as_json else tell_followed(followed)
            return
        fields = workspace.fields_of(identity)
        if only_fields:
            print_json(fields)
            return
        if not reason.strip():
            raise click.UsageError('a correction needs its reason: --reason "..."')
        changes = _changes(fields, pairs, file)
        found = workspace.find(identity, "item", "fact", "source")
        if found.kind == "source":
            placed = workspace.place(found, changes, reason=reason, by=by)
            print_json(placed) if as_json else show_placed([placed])
            return
        edited = workspace.edit(identity, changes, reason=reason, by=by, forms=read_list(forms))
        next_lines = [
            line
            for form in edited.forms
            for line in run_lines(form.form, workspace.run_again(form.form))
        ]
    if as_json:
        print_json(edited)
    else:
        _tell(edited, next_lines)


def _changes(fields: dict[str, Any], pairs: Sequence[str], file: Path | None) -> dict[str, Any]:
    """The new values, of options and file, else of what an editor leaves."""
    from proofstone.stages.revising import typed  # noqa: PLC0415

    changes: dict[str, Any] = {}
    if file is not None:
        changes |= _read(file.read_text(encoding="utf-8-sig"), file.name)
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"{pair!r}: expected FIELD=VALUE", param_hint="--set")
        changes[name] = typed(value, fields.get(name, ""))
    if not changes and file is None:
        left = _edited_text(json.dumps(fields, ensure_ascii=False, indent=2) + "\n")
        after = _read(left, "the edited text")
        changes = {name: None for name in fields if name not in after}
        changes |= {name: value for name, value in after.items() if fields.get(name) != value}
        # The editor showed the key beside the text, so leaving it there states it.
        if "text" in changes and "correct" in fields:
            changes.setdefault("correct", fields["correct"])
    return changes


def _edited_text(text: str) -> str:
    try:
        left = click.edit(text, extension=".json", require_save=True)
    except click.ClickException as error:
        raise BadUsage(
            f"no editor could be opened: {error.message}", hint="give the values: --set FIELD=VALUE"
        ) from error
    if left is None:
        raise BadUsage("nothing was saved, so nothing is corrected")
    return left


def _read(text: str, where: str) -> dict[str, Any]:
    try:
        values = json.loads(text)
    except ValueError as error:
        raise BadInput(f"{where} is not JSON: {error}") from error
    if not isinstance(values, dict):
        raise BadInput(f"{where} holds {type(values).__name__}; expected an object of fields")
    return values


def _tell(edited: Edited, next_lines: Iterable[str]) -> None:
    actor = short(edited.correction.actor)
    new = f"{edited.kind}:{short(edited.new)}"
    click.echo(f"{new}  corrects {edited.kind}:{short(edited.former)}  by actor {actor}")
    click.echo(f"  changed  {', '.join(edited.fields)}")
    if edited.n_facts > 1:
        name = "names" if edited.n_facts == 2 else "name"
        click.echo(f"  with it  {edited.n_facts - 1} that {name} it")
    for bank in edited.banks:
        click.echo(f"  bank     {bank}")
    for form in edited.forms:
        differ = "item differs" if form.n_changed == 1 else "items differ"
        click.echo(f"  form     {form.form}  corrects {form.former}   {form.n_changed} {differ}")
    for line in next_lines:
        say(line)
