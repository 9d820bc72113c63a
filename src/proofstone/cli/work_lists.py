"""``retire``, ``edit`` and ``rule --from FILE``: the decisions of a work list, carried out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from proofstone.cli.output import pasted, print_json, say
from proofstone.identity import short

if TYPE_CHECKING:
    from proofstone.stages.work_list import Action, Applied

__all__ = ["apply_work_list", "from_option", "run_lines", "tell_work_list", "work_list_option"]

work_list_option = click.option(
    "--work-list",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write all items and statements to look at, with the reason: .csv, .jsonl. Fill in its "
    "column decision, and 'retire', 'edit' and 'rule' --from FILE carry it out.",
)

from_option = click.option(
    "--from",
    "file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Carry out the decisions of a work list (audit --work-list), instead of naming one.",
)


def tell_work_list(path: Path, n: int) -> None:
    """Says what was written, and what comes next."""
    say(f"{path}   {n} to look at")
    if n:
        say(f"fill in its column decision, then: proofstone retire --from {pasted(str(path))}")


def apply_work_list(
    file: Path,
    action: Action,
    *,
    reason: str,
    by: str,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Carries out the rows of a work list that decide on this action, and says what was done."""
    from proofstone.wiring import open_workspace  # noqa: PLC0415

    with open_workspace(folder) as workspace:
        done = workspace.apply_work_list(file, action, reason=reason, by=by)
        shown = workspace.run_forms(form for one in done.retired for form, _n in one.forms)
        edited = dict.fromkeys(form.form for one in done.edited for form in one.forms)
        lines = [line for form in edited for line in run_lines(form, workspace.run_again(form))]
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


def run_lines(form: str, asked: Sequence[str]) -> Iterator[str]:
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
    for edited in done.edited:
        new = f"{edited.kind}:{short(edited.new)}"
        lines.append(
            f"  {new}  corrects {edited.kind}:{short(edited.former)}   {', '.join(edited.fields)}"
        )
    made = {form.form: form for edited in done.edited for form in edited.forms}
    for form in made.values():
        differ = "item differs" if form.n_changed == 1 else "items differ"
        lines.append(f"  form {form.form}  corrects {form.former}   {form.n_changed} {differ}")
    lines += [f"  {one.response}  {one.model}  ruled {one.ruling.verdict}" for one in done.ruled]
    return lines
