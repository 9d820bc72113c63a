"""``edit``: a corrected version of an item or fact, another place for a source."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeGuard

import click

from proofstone.build.cli_show import show_placed
from proofstone.errors import BadInput, BadUsage
from proofstone.records.ids import short
from proofstone.session.options import json_option, read_list, workspace_option
from proofstone.session.terminal import pasted, print_json, say
from proofstone.wording.messages import counted

if TYPE_CHECKING:
    from proofstone.correct.edit import Edited, EditedForm, Followed
    from proofstone.correct.work_list import Action, Applied
    from proofstone.records.reviews import Verdict


# ``retire``, ``edit`` and ``rule --from FILE``: the decisions of a work list, carried out.


from_option = click.option(
    "--from",
    "file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Carry out the decisions of a work list (audit --work-list), instead of naming one.",
)


def _apply_work_list(
    file: Path, action: Action, *, reason: str, by: str, folder: Path | None, as_json: bool
) -> None:
    """Carries out the rows of a work list that decide on this action, and says what was done."""
    from proofstone.correct.work_list import apply_work_list, run_again, run_forms
    from proofstone.session.session import open_session

    with open_session(folder) as session:
        done = apply_work_list(session, file, action, reason=reason, by=by)
        shown = run_forms(session, (form for one in done.retired for form, _n in one.forms))
        edited = dict.fromkeys(form.form for one in done.edited for form in one.forms)
        lines = [line for form in edited for line in _run_lines(form, run_again(session, form))]
    if as_json:
        print_json(done)
        return
    click.echo(f"{file.name}   {_counts(done)}")
    for line in _lines(done):
        click.echo(line)
    for other, n in done.others:
        rows = "row decides" if n == 1 else "rows decide"
        say(f"next: proofstone {other} --from {pasted(str(file))}   ({n} {rows} on that)")
    for line in lines:
        say(line)
    runs = (f"run:{short(one.ruling.run)}" for one in done.ruled)
    for target in dict.fromkeys([*shown, *runs]):
        say(f"look: proofstone leaderboard {pasted(target)}")


def _run_lines(form: str, asked: Sequence[str]) -> Iterator[str]:
    """What comes next of a form that was corrected: to run it as the former one was (``asked``, as
    ``Workspace.run_again`` gives it), so that all other responses come from the cache."""
    for options in asked or ["-m MODEL"]:
        run = f"proofstone run {pasted(form)} {options}"
        yield f"next: {run}   (all other replies are in the cache)"


_DONE = {"retire": "retired", "edit": "edited", "rule": "ruled on"}


def _counts(done: Applied) -> str:
    """``3 retired, 1 already   2 kept, 40 without a decision``."""
    n = len(done.retired) + len(done.edited) + len(done.ruled)
    first = f"{n} {_DONE[done.action]}"
    if done.already:
        first += f", {done.already} already so"
    left = [f"{done.kept} kept"] if done.kept else []
    left += [f"{done.undecided} without a decision"] if done.undecided else []
    return "   ".join([first, ", ".join(left)]) if left else first


def _lines(done: Applied) -> list[str]:
    """One line a target: what was done, and where it stands."""
    lines = []
    for standing in done.retired:
        one = standing.correction
        forms = ", ".join(f"{form} ({n})" for form, n in standing.forms)
        lines.append(f"  {one.kind}:{short(one.target)}  retired   {forms}".rstrip())
    lines += [f"  {_edited_line(edited)}   {', '.join(edited.fields)}" for edited in done.edited]
    made = {form.form: form for edited in done.edited for form in edited.forms}
    lines += [f"  form {_form_line(form)}" for form in made.values()]
    lines += [f"  {one.response}  {one.model}  ruled {one.ruling.verdict}" for one in done.ruled]
    return lines


def _edited_line(edited: Edited) -> str:
    new, former = short(edited.new), short(edited.former)
    return f"{edited.kind}:{new}  corrects {edited.kind}:{former}"


def _form_line(form: EditedForm) -> str:
    differ = "item differs" if form.n_changed == 1 else "items differ"
    return f"{form.form}  corrects {form.former}   {form.n_changed} {differ}"


# ``rule``, ``retire`` and ``restore``.

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
    from proofstone.correct.rulings import rule

    if _is_from(file, responses, reason, "a response and a verdict", given=bool(verdict)):
        _apply_work_list(file, "rule", reason=reason, by=by, folder=folder, as_json=as_json)
        return
    if verdict is None:
        raise click.UsageError(f"say the verdict: {', '.join(VERDICTS)}")
    from proofstone.session.session import open_session

    with open_session(folder) as session:
        ruled = rule(session, read_list([responses]), verdict, reason=reason, by=by)
    if as_json:
        print_json(ruled)
        return
    for one in ruled:
        former = f", before: {one.former}" if one.former else ""
        said = f"ruled {one.ruling.verdict}{former}  by actor {short(one.ruling.actor)}"
        click.echo(f"{one.response}  {one.model}  {said}")
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
        _apply_work_list(file, "retire", reason=reason, by=by, folder=folder, as_json=as_json)
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


def _is_from(
    file: Path | None, named: str, reason: str, what: str, *, given: bool = False
) -> TypeGuard[Path]:
    """Whether a work list is meant. Raises UsageError unless one of both is named, or no reason."""
    if (file is not None) == bool(named or given):
        raise click.UsageError(f"name {what}, or a work list: --from FILE")
    if file is None:
        _need_reason(reason)
    return file is not None


def _need_reason(reason: str) -> None:
    if not reason.strip():
        raise click.UsageError('a correction needs its reason: --reason "..."')


def _stand(
    action: Literal["retire", "restore"],
    identity: str,
    reason: str,
    by: str,
    folder: Path | None,
    *,
    as_json: bool,
) -> None:
    from proofstone.correct.rulings import restore, retire
    from proofstone.correct.work_list import run_forms
    from proofstone.session.session import open_session

    with open_session(folder) as session:
        act = {"retire": retire, "restore": restore}[action]
        standing = act(session, identity, reason=reason, by=by)
        shown = run_forms(session, (form for form, _n in standing.forms))
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
    from proofstone.correct.edit import edit, editable_fields, follow_placements, place
    from proofstone.correct.work_list import run_again

    if not identity:
        if file is None or pairs or only_fields or forms or as_placed:
            raise click.UsageError("name an item or a fact, or a work list alone: --from FILE")
        _apply_work_list(file, "edit", reason=reason, by=by, folder=folder, as_json=as_json)
        return
    from proofstone.session.session import open_session

    if as_placed and (pairs or file or only_fields or forms):
        raise click.UsageError("--as-placed takes its values from placements alone")
    with open_session(folder) as session:
        if as_placed:
            followed = follow_placements(session, identity, reason=reason, by=by)
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
    """The new values, of options and file, else of what an editor leaves."""
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
    click.echo(f"{_edited_line(edited)}  by actor {actor}")
    click.echo(f"  changed  {', '.join(edited.fields)}")
    if edited.n_facts > 1:
        name = "names" if edited.n_facts == 2 else "name"
        click.echo(f"  with it  {edited.n_facts - 1} that {name} it")
    for bank in edited.banks:
        click.echo(f"  bank     {bank}")
    for form in edited.forms:
        click.echo(f"  form     {_form_line(form)}")
    for line in next_lines:
        say(line)


def _tell_followed(followed: Followed) -> None:
    """A bank that follows placements, and what can be done with it."""
    click.echo(f"bank   {followed.bank}  corrects {followed.former}")
    moved, sources = counted(followed.n_facts, "fact"), counted(followed.n_sources, "source")
    click.echo(f"  moved    {moved} of {sources}")
    if followed.n_with_them:
        click.echo(f"  with it  {followed.n_with_them:,} that name one of them")
    build = f"proofstone build form {pasted(followed.bank)} --seeds 3"
    say(f"next: {build}   (forms stay as they were)")
