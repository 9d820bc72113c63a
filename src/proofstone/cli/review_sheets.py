"""``review export`` and ``review import``: sheets for people before there is a platform."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from proofstone.cli.correcting import by_option
from proofstone.cli.options import (
    json_option,
    read_once,
    seed_option,
    sheet_language_option,
    workspace_option,
)
from proofstone.cli.output import pasted, print_json, print_table, say
from proofstone.cli.review_options import PolicyAsked, policy_options

if TYPE_CHECKING:
    from proofstone.stages.review_import import ImportedReviews
    from proofstone.stages.review_sheets import GivenOut

__all__ = ["export_command", "import_command", "withdraw_command"]


class _Share(click.ParamType[float]):
    """A share, as ``20%`` or ``0.2``."""

    name = "share"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        text = str(value).strip()
        try:
            share = float(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)
        except ValueError:
            self.fail(f"expected a share, as 20% or 0.2; came {text!r}", param, ctx)
        if not 0.0 <= share <= 1.0:
            self.fail(f"expected a share from 0% to 100%; came {text!r}", param, ctx)
        return share


@click.command("export")
@click.argument("target")
@click.option(
    "--to",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.xlsx",
    help="Write sheets: one for each reader, FILE-name.xlsx (FILE.xlsx for one reader).",
)
@click.option(
    "--per-person",
    type=click.IntRange(min=1),
    metavar="N",
    help="A file per person, for N people ('reader 1', ...). Or name them with --people.",
)
@click.option("--people", multiple=True, metavar="NAMES", help="Who reads: Anna,Ben,Chen.")
@click.option(
    "--overlap",
    type=_Share(),
    metavar="SHARE",
    help="How much of it several people read, so that their agreement shows; 100% as in the "
    "paper.  [default: 20%]",
)
@click.option(
    "--readers",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many people read a statement of the overlap (2: in pairs); all of them by default.",
)
@click.option(
    "--most", type=click.IntRange(min=1), metavar="N", help="The most that one reader is given."
)
@click.option(
    "--truth",
    type=click.IntRange(min=1),
    metavar="N",
    help="Instead of the format, have the truth of N statements checked, drawn in proportion to "
    "discipline and source.",
)
@click.option(
    "--half-width",
    type=click.FloatRange(0.0, 0.5, min_open=True, max_open=True),
    metavar="SHARE",
    help="As --truth, so many that an error rate of 5% is known to within this, as 0.02.",
)
@click.option("--only", type=click.Choice(["true", "false"]), help="Only those meant to be so.")
@click.option(
    "--undecided",
    is_flag=True,
    help="Only what the reviews so far leave open, each to somebody who has not read it.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Instead of sheets, write all decisions made so far as rows: .jsonl.",
)
@sheet_language_option
@policy_options
@seed_option
@workspace_option
@json_option
def export_command(
    target: str,
    to: Path | None,
    per_person: int | None,
    people: tuple[str, ...],
    overlap: float | None,
    readers: int | None,
    most: int | None,
    truth: int | None,
    half_width: float | None,
    only: Literal["true", "false"] | None,
    undecided: bool,
    output: Path | None,
    policy: PolicyAsked,
    seed: int,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Give each reader a sheet to fill in, or write the reviews so far.

    TARGET is a bank, or a form whose statements are read. Statements that are retired are left out.
    Who reads what is drawn by seed, in even shares; each reader's rows come in an order of their
    own, so that nobody sees what others read too. The sheets open in Excel, LibreOffice and others;
    'review import' takes them back, also half done, sorted or filtered.

    With --truth a sample is checked for its truth instead: first whether each statement is true,
    not knowing what it is meant to be, then, on a second sheet, whether the reason fits that goes
    with a falsified one.

    Short questions are not read but answered: two people search for the answer of each, and see
    nothing of the model's. --undecided gives out what comes next: a second answer that is missing,
    answers that differ to a third who sees both, and what people found to somebody who compares it
    with the model's answer.
    """
    from proofstone.errors import BadUsage  # noqa: PLC0415
    from proofstone.stages.review_sheets import SheetsAsked  # noqa: PLC0415
    from proofstone.wiring import open_workspace  # noqa: PLC0415

    if (to is None) == (output is None):
        raise BadUsage(
            "say what to write", hint="sheets: --to sheet.xlsx; the decisions so far: -o FILE.jsonl"
        )
    with open_workspace(folder) as workspace:
        if output is not None:
            _tell_rows(workspace.export_reviews(target, output), output, as_json=as_json)
            return
        asked = SheetsAsked(
            people=_people(people, per_person), overlap=overlap, readers=readers, most=most,
            truth=truth, half_width=half_width, only=only or "", undecided=undecided,
            policy=policy.over(workspace.review_policy(target, policy.sources)), seed=seed,
        )  # fmt: skip
        given = workspace.give_out_sheets(target, asked, to or Path())
    if as_json:
        print_json(given)
    else:
        _tell_given(given)


def _people(named: tuple[str, ...], number: int | None) -> tuple[str, ...]:
    """Who reads: those named, or so many readers without a name. Raises BadUsage where both are
    said and do not agree."""
    from proofstone.errors import BadUsage  # noqa: PLC0415

    names = tuple(read_once(named, "each reader has one file"))
    if not names:
        return tuple(f"reader {n}" for n in range(1, (number or 0) + 1))
    if number not in (None, len(names)):
        raise BadUsage(f"--per-person {number}, and {len(names)} people are named")
    return names


def _tell_rows(n: int, output: Path, *, as_json: bool) -> None:
    if as_json:
        print_json({"reviews": n, "file": str(output)})
    else:
        click.echo(f"{output}   {n:,} review{'' if n == 1 else 's'}")


def _tell_given(given: GivenOut) -> None:
    print_table(
        [
            ("file", "reader", "rows", "sheet"),
            *((s.file, s.reviewer, s.n_rows, s.sheet) for s in given.sheets),
        ]
    )
    n = given.n_statements - given.n_left - given.n_barred
    said = f"{n:,} {given.what} of {given.target}"
    if given.what == "statements":
        said += f", {given.n_shared:,} read by several"
    elif given.round == 1:
        said += f", {given.n_shared:,} answered by two"
    if given.round > 1:
        said += f", round {given.round}"
    click.echo(said)
    if given.n_left:
        click.echo(f"{given.n_left:,} given to nobody: --most allows no more")
    if given.n_barred:
        click.echo(f"{given.n_barred:,} given to nobody: all who are named have read them")
    say("once they come back: proofstone review import FILE...")


@click.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, dir_okay=False))
@click.option("--encoding", default="", metavar="NAME", help="Of CSV files that are no UTF-8.")
@workspace_option
@json_option
def import_command(
    files: tuple[Path, ...], encoding: str, folder: Path | None, as_json: bool
) -> None:
    """Take sheets back in, or rows of reviews, and show how far readers agree.

    FILES are sheets as they came back (.xlsx, .ods, or .csv) or rows (.jsonl) as 'review export -o'
    writes them. All are checked first: with any problem, named by its cell, nothing is taken in.
    Taken in again, what is known is passed over; a decision that its reader changed becomes a row
    that corrects the former one.
    """
    from proofstone.wiring import open_workspace  # noqa: PLC0415

    with open_workspace(folder) as workspace:
        taken = workspace.import_reviews(files, encoding=encoding)
        agreements = {found.name: workspace.review_agreement(found) for found in taken.targets}
    if as_json:
        print_json({"imported": taken, "agreement": agreements})
        return
    _tell_imported(taken)
    from proofstone.cli.review_shown import tell_agreement  # noqa: PLC0415

    for name, agreed in agreements.items():
        tell_agreement(name, agreed, most=5)
        say(f"next: proofstone review decide {pasted(name)} --work-list work.csv")


def _tell_imported(taken: ImportedReviews) -> None:
    parts = [f"{taken.new:,} new"]
    parts += [f"{taken.changed:,} changed"] if taken.changed else []
    parts += [f"{taken.already:,} already here"] if taken.already else []
    parts += [f"{taken.empty:,} without a decision"] if taken.empty else []
    parts += [f"{taken.purged:,} of purged statements, passed over"] if taken.purged else []
    click.echo(f"{', '.join(taken.files)}   {', '.join(parts)}")
    if taken.missing:
        n = taken.missing
        rows = "row that was given out is" if n == 1 else "rows that were given out are"
        say(f"{n:,} {rows} in none of these files, and counted as not looked at")
    if taken.without_now:
        n = taken.without_now
        has = "row that had a decision has" if n == 1 else "rows that had a decision have"
        say(f"{n:,} {has} none now: the former ones stand")


@click.command("withdraw")
@click.argument("sheet")
@click.option("--reason", default="", metavar="TEXT", help="Why; it is stored.")
@by_option
@workspace_option
@json_option
def withdraw_command(sheet: str, reason: str, by: str, folder: Path | None, as_json: bool) -> None:
    """Withdraw a sheet: none of its decisions counts any more.

    SHEET is the file that was sent out, or the digits of its sheet that 'review export' printed.
    Its statements can be given to somebody else, and the sheet is not taken in any more. Its
    decisions stay stored, and enter no figure.
    """
    from proofstone.wiring import open_workspace  # noqa: PLC0415

    with open_workspace(folder) as workspace:
        withdrawn = workspace.withdraw_sheet(sheet, reason=reason, by=by)
    if as_json:
        print_json(withdrawn)
        return
    n = withdrawn.n_decisions
    decisions = "1 decision" if n == 1 else f"{n:,} decisions"
    click.echo(
        f"withdrawn   sheet {withdrawn.sheet} of {withdrawn.reviewer}, {withdrawn.n_rows:,} rows; "
        f"{decisions} of it count no longer"
    )
