"""``correct``: edit, exclude and include items; override scores; apply flagged items."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from proofstone.build.cli_show import show_placed
from proofstone.errors import BadInput, BadUsage
from proofstone.records.ids import short
from proofstone.session.cli_command import Group
from proofstone.session.options import json_option, read_list, workspace_option
from proofstone.session.terminal import pasted, print_json, print_text, say, say_next
from proofstone.wording.messages import counted

if TYPE_CHECKING:
    from proofstone.correct.edit import Edited, EditedForm, Followed
    from proofstone.correct.flagged_items import Applied
    from proofstone.records.reviews import Verdict


def _run_lines(form: str, asked: Sequence[str]) -> Iterator[str]:
    """What comes next of a form that was corrected: to run it as the former one was (``asked``, as
    ``Workspace.run_again`` gives it), so that all other responses come from the cache."""
    for options in asked or ["-m MODEL"]:
        yield f"run {pasted(form)} {options}  # all other responses are cached"


def _counts(done: Applied) -> str:
    """``2 edited, 3 excluded, 1 overridden, 4 already in force   2 kept, 40 undecided``."""
    counts = {
        "edited": len(done.edited), "excluded": len(done.excluded),
        "overridden": len(done.overridden),
        "already in force": done.already,
    }  # fmt: skip
    left = {"kept": done.kept, "undecided": done.undecided}
    first, last = (
        ", ".join(f"{n} {name}" for name, n in each.items() if n) for each in (counts, left)
    )
    return "   ".join(filter(None, (first or "nothing to apply", last)))


def _lines(done: Applied) -> list[str]:
    """Return one line per target with what was done and where it occurs."""
    lines = []
    for standing in done.excluded:
        one = standing.correction
        forms = ", ".join(f"{form} ({n})" for form, n in standing.forms)
        lines.append(f"  {one.kind}:{short(one.target)}  excluded   {forms}".rstrip())
    lines += [f"  {_edited_line(edited)}   {', '.join(edited.fields)}" for edited in done.edited]
    made = {form.form: form for edited in done.edited for form in edited.forms}
    lines += [f"  form {_form_line(form)}" for form in made.values()]
    lines += [f"  {one.response}  {one.model}  {one.override.verdict}" for one in done.overridden]
    return lines


def _edited_line(edited: Edited) -> str:
    new, former = short(edited.new), short(edited.former)
    return f"{edited.kind}:{new}  corrects {edited.kind}:{former}"


def _form_line(form: EditedForm) -> str:
    differ = "item differs" if form.n_changed == 1 else "items differ"
    return f"{form.form}  corrects {form.former}   {form.n_changed} {differ}"


# The commands.

VERDICTS = ("correct", "incorrect", "invalidated")


reason_option = click.option(
    "--reason", default="", metavar="TEXT", help="Reason, stored with the correction (required)."
)


by_option = click.option(
    "--actor",
    "by",
    default="",
    metavar="NAME",
    help="Person who corrects: a name or an actor id (default: PROOFSTONE_ACTOR or your login).",
)


@click.group("correct", cls=Group)
def correct_command() -> None:
    """Edit, exclude and include items; override scores.

    Nothing is changed in place: each correction is stored with its reason, author and time.
    Leaderboards apply corrections and count them for each model.
    """


@correct_command.command("override")
@click.argument("responses", metavar="RESPONSE[,...]")
@click.argument("verdict", type=click.Choice(VERDICTS), metavar=f"[{'|'.join(VERDICTS)}]")
@reason_option
@by_option
@workspace_option
@json_option
def override_command(
    responses: str, verdict: Verdict, reason: str, by: str, folder: Path | None, as_json: bool
) -> None:
    """Override the score of stored responses.

    RESPONSE is RUN/ITEM/SAMPLE, as printed by 'show RUN --outcome wrong'. Stored scores stay as
    they are, and no API calls are made. Leaderboards apply overrides and count them for each model;
    --ignore-corrections ignores them. An override applies to every run that this response serves
    from the cache. Invalidated responses are left out, and their items too, so that models are
    still compared on the same items. A second override of the same response replaces the first.

    Stored rows name their author by a random actor id. The name itself is stored in one table, and
    'review erase' deletes it.

    \b
    Example:
      proofstone correct override 4f2a91cc/9ab3c4d1/0 correct --reason "a synonym"
    """
    from proofstone.correct.overrides import override
    from proofstone.session.session import open_session

    _need_reason(reason)
    with open_session(folder) as session:
        overridden = override(session, read_list([responses]), verdict, reason=reason, by=by)
    if as_json:
        print_json(overridden)
        return
    for one in overridden:
        former = f", before: {one.former}" if one.former else ""
        said = f"{one.override.verdict}{former}  by actor {short(one.override.actor)}"
        print_text(f"{one.response}  {one.model}  {said}")
    for one in overridden:
        if one.n_runs > 1:
            say(f"{one.response}: this response serves {one.n_runs} runs; it is overridden in all")
    runs = " ".join(dict.fromkeys(f"run:{short(one.override.run)}" for one in overridden))
    say_next([f"leaderboard {runs}"])


@correct_command.command("exclude")
@click.argument("identity", metavar="ID")
@reason_option
@by_option
@workspace_option
@json_option
def exclude_command(
    identity: str, reason: str, by: str, folder: Path | None, as_json: bool
) -> None:
    """Exclude an item or fact from leaderboards.

    ID is an item, or a fact with all of its items (item:9ab3c4d1). Forms stay as they are, and
    runs keep all responses. Leaderboards state how many items are excluded. Undo it with
    'correct include'.

    \b
    Example:
      proofstone correct exclude item:9ab3c4d1 --reason "two keys are right"
    """
    _stand("exclude", identity, reason, by, folder, as_json=as_json)


@correct_command.command("include")
@click.argument("identity", metavar="ID")
@reason_option
@by_option
@workspace_option
@json_option
def include_command(
    identity: str, reason: str, by: str, folder: Path | None, as_json: bool
) -> None:
    """Include an excluded item or fact again.

    \b
    Example:
      proofstone correct include item:9ab3c4d1 --reason "the key was right"
    """
    _stand("include", identity, reason, by, folder, as_json=as_json)


@correct_command.command("apply")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--reason", default="", metavar="TEXT", help="Reason for rows without one.")
@by_option
@workspace_option
@json_option
def apply_command(file: Path, reason: str, by: str, folder: Path | None, as_json: bool) -> None:
    """Apply the decisions of a file of flagged items.

    FILE comes from 'audit', 'report', 'check' or 'review decide', with the column decision filled
    in: keep, exclude, edit, correct, incorrect or invalidated. An edit takes its new values from
    the column changes (FIELD=VALUE, one per line, or a JSON object). All rows are checked before
    anything is changed. Corrections that are in force already are skipped.

    \b
    Example:
      proofstone correct apply work.csv
    """
    from proofstone.correct.flagged_items import apply_flagged_items, run_again, run_forms
    from proofstone.session.session import open_session

    with open_session(folder) as session:
        done = apply_flagged_items(session, file, reason=reason, by=by)
        shown = run_forms(session, (form for one in done.excluded for form, _n in one.forms))
        edited = dict.fromkeys(form.form for one in done.edited for form in one.forms)
        lines = [line for form in edited for line in _run_lines(form, run_again(session, form))]
    if as_json:
        print_json(done)
        return
    print_text(f"{file.name}   {_counts(done)}")
    for line in _lines(done):
        print_text(line)
    runs = (f"run:{short(one.override.run)}" for one in done.overridden)
    say_next([*lines, *(f"leaderboard {pasted(each)}" for each in (*shown, *runs))])


def _need_reason(reason: str) -> None:
    if not reason.strip():
        raise click.UsageError("missing option --reason")


def _stand(
    action: Literal["exclude", "include"],
    identity: str,
    reason: str,
    by: str,
    folder: Path | None,
    *,
    as_json: bool,
) -> None:
    from proofstone.correct.flagged_items import run_forms
    from proofstone.correct.overrides import exclude, include
    from proofstone.session.session import open_session

    _need_reason(reason)
    with open_session(folder) as session:
        act = {"exclude": exclude, "include": include}[action]
        standing = act(session, identity, reason=reason, by=by)
        shown = run_forms(session, (form for form, _n in standing.forms))
    if as_json:
        print_json(standing)
        return
    done = standing.correction
    verb = {"exclude": "excluded", "include": "included"}[done.action]
    print_text(f"{done.kind}:{short(done.target)}  {verb} by actor {short(done.actor)}")
    for form, n in standing.forms:
        items = "item" if n == 1 else "items"
        print_text(f"  {form}   {n} {items}")
    say_next(f"leaderboard {pasted(form)}" for form in shown[-1:])


@correct_command.command("edit")
@click.argument("identity", metavar="ID")
@click.option(
    "--set", "pairs", multiple=True, metavar="FIELD=VALUE", help="A new value; repeat it."
)
@click.option(
    "--from",
    "file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE.json",
    help="JSON file of new values by field; null removes a value.",
)
@click.option("--fields", "only_fields", is_flag=True, help="Only print the fields, as JSON.")
@reason_option
@by_option
@click.option(
    "--form", "forms", multiple=True, metavar="FORM", help="Correct only these forms of it."
)
@click.option(
    "--as-labeled",
    is_flag=True,
    help="For a bank: apply the current taxonomy labels of its sources.",
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
    as_labeled: bool,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Edit an item, a fact or the labels of a source.

    New values come from --set, from a JSON file, or from $EDITOR, which opens the current fields.
    They are checked like those of an imported file. The result is a new version; the old version
    keeps its id and its results.

    Forms are frozen: each form that holds the item gets a new version, in which only this item
    differs. Run it again; all other responses come from the cache. Editing a fact also makes new
    versions of its items, of the false statements made from it, and of its bank.

    If ID is a source, its fields are its taxonomy labels (discipline, field, subfield, book). Later
    builds use the new labels. To apply them to an existing bank, name the bank with --as-labeled.

    \b
    Example:
      proofstone correct edit item:9ab3c4d1 --set answer=B --reason "wrong answer key"
    """
    from proofstone.correct.edit import edit, editable_fields, follow_taxonomy_labels, place
    from proofstone.correct.flagged_items import run_again
    from proofstone.session.session import open_session

    if as_labeled and (pairs or file or only_fields or forms):
        raise click.UsageError("--as-labeled takes its values from the taxonomy labels only")
    with open_session(folder) as session:
        if as_labeled:
            followed = follow_taxonomy_labels(session, identity, reason=reason, by=by)
            print_json(followed) if as_json else _tell_followed(followed)
            return
        fields = editable_fields(session, identity)
        if only_fields:
            print_json(fields)
            return
        _need_reason(reason)
        changes = _changes(fields, pairs, file)
        found = session.find(identity, "item", "fact", "source")
        if found.kind == "source":
            placed = place(session, found, changes, reason=reason, by=by)
            print_json(placed) if as_json else show_placed([placed])
            return
        edited = edit(session, identity, changes, reason=reason, by=by, forms=read_list(forms))
        forms_made = [(each.form, run_again(session, each.form)) for each in edited.forms]
        next_lines = [line for form, asked in forms_made for line in _run_lines(form, asked)]
    if as_json:
        print_json(edited)
    else:
        _tell(edited, next_lines)


def _changes(fields: dict[str, Any], pairs: Sequence[str], file: Path | None) -> dict[str, Any]:
    """Return the new values from options and the file; without either, from an editor."""
    from proofstone.correct.edit import typed

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
    print_text(f"{_edited_line(edited)}  by actor {actor}")
    print_text(f"  changed  {', '.join(edited.fields)}")
    if edited.n_facts > 1:
        name = "names" if edited.n_facts == 2 else "name"
        print_text(f"  with it  {edited.n_facts - 1} that {name} it")
    for bank in edited.banks:
        print_text(f"  bank     {bank}")
    for form in edited.forms:
        print_text(f"  form     {_form_line(form)}")
    say_next(next_lines)


def _tell_followed(followed: Followed) -> None:
    """Print a bank with current taxonomy labels, and the next step."""
    print_text(f"bank   {followed.bank}  corrects {followed.former}")
    moved, sources = counted(followed.n_facts, "fact"), counted(followed.n_sources, "source")
    print_text(f"  moved    {moved} of {sources}")
    if followed.n_with_them:
        print_text(f"  with it  {followed.n_with_them:,} that name one of them")
    say_next([f"build form {pasted(followed.bank)} --seeds 3  # former forms stay unchanged"])
