"""``review status``, ``review agreement`` and ``review decide``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

import click
from msgspec import Struct, UnsetType, structs

from proofstone.correct.cli import by_option
from proofstone.records.ids import short
from proofstone.records.reviews import ReviewPolicy
from proofstone.session.options import (
    json_option,
    read_once,
    seed_option,
    sheet_language_option,
    with_options,
    workspace_option,
)
from proofstone.session.terminal import pasted, print_json, print_table, print_text, say

if TYPE_CHECKING:
    from proofstone.records.reviews import CheckedQuestion, CheckedRate
    from proofstone.review.review_decided import LastDecision
    from proofstone.review.review_import import ImportedReviews
    from proofstone.review.review_sheets import GivenOut
    from proofstone.review.review_work import Decided
    from proofstone.review.state import Agreed, EditedStatement, Standing


# The options by which reviewers' decisions become one, on each command that decides.

Command = TypeVar("Command", bound=Callable[..., Any])


_SHARES = ("any", "majority", "all")


_OPTIONS = (
    click.option(
        "--quorum", type=click.IntRange(min=1), metavar="N",
        help="Fewer reviewers than this leave a statement open (the paper's review has 3).  "
        "[default: as decided last, else 1]",
    ),
    click.option(
        "--drop", type=click.Choice(_SHARES),
        help="How many reviewers must want a statement gone.  "
        "[default: as decided last, else majority]",
    ),
    click.option(
        "--tie", type=click.Choice(["open", "keep", "drop"]),
        help="What half against half comes to: open asks one more reviewer.  "
        "[default: as decided last, else open]",
    ),
    click.option(
        "--fix", type=click.Choice(_SHARES),
        help="How many of those who would keep it must ask for a change.  "
        "[default: as decided last, else any]",
    ),
    click.option(
        "--sources", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
        help="Of questions that people answer: a list of authoritative sites over the carried one, "
        "SITE adds one, -SITE takes one away.  [default: as decided last, else the carried list]",
    ),
)  # fmt: skip


class PolicyAsked(Struct, frozen=True, kw_only=True):
    """What of a policy the options name; None where they name nothing."""

    quorum: int | None = None
    drop: Literal["any", "majority", "all"] | None = None
    tie: Literal["open", "keep", "drop"] | None = None
    fix: Literal["any", "majority", "all"] | None = None
    sources: Path | None = None

    def over(self, usual: ReviewPolicy) -> ReviewPolicy:
        """The policy; what was not named is as in ``usual``, which ``sources`` changed already.
        Raises BadUsage for what answers to questions leave no choice of."""
        from proofstone.errors import BadUsage  # noqa: PLC0415

        named = {name: value for name, value in structs.asdict(self).items() if value is not None}
        named.pop("sources", None)
        if named and not isinstance(usual.answers, UnsetType):
            raise BadUsage(
                f"{', '.join(f'--{name}' for name in named)}: questions are decided by two answers "
                "each, and a third where they differ",
                hint="--sources FILE says which pages count as authoritative",
            )
        return structs.replace(usual, **named)


def policy_options(command: Command) -> Command:
    """Adds ``--quorum``, ``--drop``, ``--tie``, ``--fix`` and ``--sources``; they arrive as one
    ``policy``."""

    @wraps(command)
    def with_policy(**options: Any) -> Any:
        named = {name: options.pop(name) for name in PolicyAsked.__struct_fields__}
        return command(policy=PolicyAsked(**named), **options)

    return cast("Command", with_options(*_OPTIONS)(with_policy))


@click.command("status")
@click.argument("target")
@policy_options
@workspace_option
@json_option
def status_command(
    target: str,
    policy: PolicyAsked,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Say who read how much of a bank or form, and what came of it."""
    import msgspec  # noqa: PLC0415

    from proofstone.api import open_workspace  # noqa: PLC0415

    with open_workspace(folder) as workspace:
        standing = workspace.review_standing(
            target, policy.over(workspace.review_policy(target, policy.sources))
        )
        last = workspace.last_decision(target)
    if as_json:
        print_json({**msgspec.structs.asdict(standing), "last_decision": last})
        return
    _tell_standing(standing)
    if last is not None:
        click.echo(_last_words(last))


def _last_words(last: LastDecision) -> str:
    """``last decided 2026-03-01 14:05 UTC from 96 reviews by quorum 2, ...``, and what is new."""
    from proofstone.records.reviews import policy_words  # noqa: PLC0415
    from proofstone.session.dates import minute  # noqa: PLC0415

    made = last.made
    said = (
        f"last decided {minute(made.at)} by actor {short(made.actor)} from {len(made.reviews):,} "
        f"reviews, {policy_words(made.policy)}"
    )
    if last.n_new:
        said += f"; {last.n_new:,} came in since"
    return said if last.stands else f"{said}; these reviews come to something else by now"


def _tell_standing(standing: Standing) -> None:
    read = "questions looked at" if standing.states else "statements read for their format"
    click.echo(
        f"{standing.target}   {standing.n_read:,} of {standing.n:,} {read}, by "
        f"{standing.n_people} {'person' if standing.n_people == 1 else 'people'} in all"
    )
    if standing.readers:
        several = {one.task for one in standing.readers} != {"format"}
        rows: list[tuple[object, ...]] = [("reader", "read for", "given", "decided", "")]
        rows += [
            (one.reviewer, one.task, one.given, one.done, _counts(one.verdicts))
            for one in standing.readers
        ]
        print_table(rows if several else [(row[0], *row[2:]) for row in rows])
    if standing.states:
        print_table([(state, f"{n:,}") for state, n in standing.states.items() if n])
    said = ", ".join(f"{n:,} {outcome}" for outcome, n in standing.outcomes.items() if n)
    if said:
        wanted = standing.outcomes["drop"] + standing.outcomes["fix"]
        done = f"; of {wanted:,} to drop or fix {standing.carried_out:,} are done" if wanted else ""
        click.echo(f"decided: {said}{done}")
    if standing.purged:
        click.echo(f"purged: {standing.purged:,} statements, and what was said of them")
    _tell_rates(standing.rates)


def _counts(verdicts: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {verdict}" for verdict, n in verdicts.items())


def _tell_rates(rates: Sequence[CheckedRate]) -> None:
    from proofstone.page.numbers import shown_estimate  # noqa: PLC0415
    from proofstone.review.state import RATE_NAMES  # noqa: PLC0415

    if not rates:
        return
    rows: list[tuple[object, ...]] = [("checked for truth", "%", "wrong", "of", "cannot tell")]
    rows += [
        (RATE_NAMES[one.name], shown_estimate(one.rate), one.wrong, one.rate.n, one.unsure)
        for one in rates
    ]
    print_table(rows)


@click.command("agreement")
@click.argument("target")
@click.option(
    "-n",
    "most",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    metavar="N",
    help="How many of the statements to list that were judged differently.",
)
@workspace_option
@json_option
def agreement_command(target: str, most: int, folder: Path | None, as_json: bool) -> None:
    """Say how far reviewers agree on what several of them read.

    Agreement beyond chance: Cohen's kappa of two, Fleiss' of more; Gwet's AC1, which stays high
    where nearly all is kept, as it should be; Krippendorff's alpha. Intervals are bootstrapped over
    sources, where there are several.

    Of a bank that judges built, each judge and all together are set against people on the same
    statements, question by question; what nobody read is said to be so.
    """
    from proofstone.api import open_workspace  # noqa: PLC0415

    with open_workspace(folder) as workspace:
        agreed = workspace.review_agreement(target)
        edited = workspace.edited_statements(target)
        checked = workspace.judges_checked(target)
    if as_json:
        print_json({"people": agreed, "edited": edited, "judges": checked})
        return
    tell_agreement(target, agreed, most=most)
    tell_edited(edited, most=most)
    _tell_judges(checked)


def tell_edited(edited: Sequence[EditedStatement], *, most: int) -> None:
    """Prints the new wordings that readers asked for: what each is meant to be, what it would say,
    and whether readers find that true."""
    if edited:
        n = len(edited)
        wordings = "1 new wording" if n == 1 else f"{n:,} new wordings"
        click.echo(f"\n{wordings} asked for")
    for one in edited[:most]:
        click.echo(f"  {one.target}  meant to be {one.key or 'neither true nor false'}  {one.text}")
        click.echo(f"    {one.reviewer}: {one.new}")
        click.echo(f"    true? {', '.join(f'{who}: {claim}' for who, claim in one.said.items())}")
        if one.outcome == "open" and one.why:
            click.echo(f"    open: {one.why}")
    if len(edited) > most:
        click.echo(f"  and {len(edited) - most:,} more (--json has all)")


def _tell_judges(checked: Sequence[CheckedQuestion]) -> None:
    from proofstone.review.section import checked_judges_lines  # noqa: PLC0415

    if checked:
        click.echo("\njudges of the build, on the same statements")
    for line in checked_judges_lines(checked):
        print_text(line)


def tell_agreement(name: str, agreed: Sequence[Agreed], *, most: int) -> None:
    """Prints agreement, a table a task, and what was judged differently."""
    from proofstone.page.numbers import shown_estimate  # noqa: PLC0415

    if not agreed:
        click.echo(f"{name}   no statement was read by two people yet")
    for one in agreed:
        click.echo(
            f"{name}, {one.task}   {one.n_shared:,} read by several of {len(one.reviewers)}, "
            f"{one.n_differ:,} judged differently"
        )
        rows: list[tuple[object, ...]] = [("agreement", "x 100", "n")]
        rows += [(name, shown_estimate(e), e.n) for name, e in one.measures.items()]
        print_table(rows)
        for differing in one.differing[:most]:
            click.echo(f"  {differing.target}  {differing.text}")
            for reviewer, verdict, reason in differing.said:
                click.echo(f"    {reviewer}: {verdict}{f', {reason}' if reason else ''}")
        if len(one.differing) > most:
            click.echo(f"  and {len(one.differing) - most:,} more (--json has all)")


@click.command("decide")
@click.argument("target")
@policy_options
@click.option(
    "--work-list",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write what is to be done, for 'retire' and 'edit --from FILE': .csv, .jsonl, .xlsx.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the decision on each statement: .jsonl, .csv.",
)
@by_option
@workspace_option
@json_option
def decide_command(
    target: str,
    policy: PolicyAsked,
    work_list: Path | None,
    output: Path | None,
    by: str,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Make one decision of all reviews: keep, fix, drop, or open.

    TARGET is a bank or form; or a file of reviews (.jsonl), and then no workspace is asked. Of each
    reviewer the newest decision on a statement counts. First it is decided whether a statement
    goes; of those who would keep it, --fix of them make it a fix, if they want the same change.
    What is open needs one more reviewer: 'review export --undecided' gives it out. Nothing is
    retired or edited before you carry the work list out. Of a bank or form the decision is kept:
    who made it, by which policy, from which reviews; the next one takes what is not named from it.

    Of short questions it is decided what people's own answers come to: a question is kept where
    two of them, or a third, found the model's answer, each with two pages, one of them of an
    authoritative site (--sources); it is dropped where one found it not fit.
    """
    from proofstone.api import open_workspace  # noqa: PLC0415
    from proofstone.review.reviewing import decide_reviews  # noqa: PLC0415

    if _is_file(target):
        _refuse_for_file(work_list, policy.sources)
        decided = decide_reviews(target, policy.over(ReviewPolicy()))
    else:
        with open_workspace(folder) as workspace:
            usual = workspace.review_policy(target, policy.sources)
            decided = workspace.review_decisions(target, policy.over(usual))
            if decided.reviews:
                workspace.keep_decision(target, decided, by=by)
    _write(decided, work_list, output)
    if as_json:
        found = {"outcomes": decided.outcomes, "decisions": decided.rows}
        print_json({"policy": decided.policy, **found})
        return
    _tell_decided(target, decided, work_list, output)


def _is_file(target: str) -> bool:
    return Path(target).suffix.lower() in (".jsonl", ".ndjson", ".json") and Path(target).is_file()


def _refuse_for_file(work_list: Path | None, sources: Path | None) -> None:
    from proofstone.errors import BadUsage  # noqa: PLC0415

    if sources is not None:
        raise BadUsage(
            "--sources: answers to questions are decided beside the bank that holds the model's",
            hint="review import FILE, then review decide BANK --sources LIST",
        )
    if work_list is not None:
        raise BadUsage(
            "a work list is made for a bank or form of a workspace",
            hint="review import FILE, then review decide BANK --work-list work.csv",
        )


def _write(decided: Decided, work_list: Path | None, output: Path | None) -> None:
    import msgspec  # noqa: PLC0415

    from proofstone.files.write import write_rows  # noqa: PLC0415
    from proofstone.review.review_work import ReviewedRow  # noqa: PLC0415
    from proofstone.session.written_files import write_work_file  # noqa: PLC0415

    if work_list is not None:
        rows = [msgspec.structs.asdict(row) for row in decided.work]
        write_work_file(work_list, rows, columns=ReviewedRow.__struct_fields__)
    if output is not None:
        write_rows(output, decided.rows)


def _tell_decided(
    target: str, decided: Decided, work_list: Path | None, output: Path | None
) -> None:
    from proofstone.records.reviews import policy_words  # noqa: PLC0415

    said = ", ".join(f"{n:,} {outcome}" for outcome, n in decided.outcomes.items() if n)
    click.echo(f"{target}   {said or 'nobody has read any of it'}")
    if said:
        say(f"policy: {policy_words(decided.policy)}")
    if output is not None:
        say(f"{output}   {len(decided.rows):,} decisions")
    if work_list is not None:
        say(f"{work_list}   {len(decided.work):,} to act on or left open")
        for action in ("retire", "edit"):
            if any(row.decision == action for row in decided.work):
                say(f"carry it out: proofstone {action} --from {pasted(str(work_list))}")
    if decided.outcomes["open"]:
        say(
            f"open: proofstone review export {pasted(target)} --undecided --people NAME "
            "--to third.xlsx"
        )


# ``review export`` and ``review import``: sheets for people before there is a platform.


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
    from proofstone.api import open_workspace  # noqa: PLC0415
    from proofstone.errors import BadUsage  # noqa: PLC0415
    from proofstone.review.sheets import SheetsAsked  # noqa: PLC0415

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
    from proofstone.api import open_workspace  # noqa: PLC0415

    with open_workspace(folder) as workspace:
        taken = workspace.import_reviews(files, encoding=encoding)
        agreements = {found.name: workspace.review_agreement(found) for found in taken.targets}
    if as_json:
        print_json({"imported": taken, "agreement": agreements})
        return
    _tell_imported(taken)

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
    from proofstone.api import open_workspace  # noqa: PLC0415

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


# ``review`` and ``review erase``; its other commands stand in modules of their own.


@click.group("review")
def review_command() -> None:
    """Reviews by people: sheets out and in, agreement, what follows.

    Rows name people by random actor ids. Names stand in one table, outside every hash, export and
    merge.
    """


@review_command.command("erase")
@click.argument("person")
@workspace_option
@json_option
def erase(person: str, folder: Path | None, as_json: bool) -> None:
    """Erase a person's name and details, by name or actor id. What they did stands under the id."""
    from proofstone.api import open_workspace  # noqa: PLC0415

    with open_workspace(folder) as workspace:
        erased = workspace.erase_person(person)
    if as_json:
        print_json({"erased": erased.actor})
    else:
        click.echo(f"erased   actor {short(erased.actor)} has no name any more")


for _command in (
    export_command, import_command, withdraw_command, status_command, agreement_command,
    decide_command,
):  # fmt: skip
    review_command.add_command(_command)
