"""``review status``, ``review agreement`` and ``review decide``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import structs

from proofstone.correct.cli import by_option
from proofstone.mechanism.cli import incentives_command
from proofstone.records.ids import short
from proofstone.records.reviews import ReviewPolicy
from proofstone.review.request import PolicyAsked, SheetsAsked
from proofstone.session.cli_command import Group, command
from proofstone.session.options import (
    asked_for,
    json_option,
    language_option,
    seed_option,
    workspace_option,
)
from proofstone.session.terminal import pasted, print_json, print_table, print_text, say, say_next
from proofstone.wording.messages import counted

if TYPE_CHECKING:
    from proofstone.records.reviews import ReviewOutcome
    from proofstone.review.agreement import Agreed, EditedStatement
    from proofstone.review.import_reviews import ImportedReviews
    from proofstone.review.sheets import GivenOut
    from proofstone.review.state import Decided, LastDecision, Standing


# The options by which reviewers' decisions become one, on each command that decides.
policy_options = asked_for(PolicyAsked, "policy")


@command("status")
@click.argument("target")
@policy_options
@workspace_option
@json_option
def status_command(target: str, policy: PolicyAsked, folder: Path | None, as_json: bool) -> None:
    """Show review progress of a bank or form.

    \b
    Example:
      proofstone review status facts
    """
    from proofstone.review.state import last_decision, review_policy, review_standing
    from proofstone.session.session import open_session

    with open_session(folder) as session:
        usual = review_policy(session, target, policy.sources)
        standing = review_standing(session, target, policy.over(usual))
        last = last_decision(session, target)
    if as_json:
        print_json({**structs.asdict(standing), "last_decision": last})
        return
    _tell_standing(standing)
    if last is not None:
        print_text(_last_words(last))


def _last_words(last: LastDecision) -> str:
    """``last decided 2026-03-01 14:05 UTC from 96 reviews by quorum 2, ...``, and what is new."""
    from proofstone.records.reviews import policy_words
    from proofstone.session.terminal import minute

    made = last.made
    said = (
        f"last decided {minute(made.at)} by actor {short(made.actor)} from {len(made.reviews):,} "
        f"reviews, {policy_words(made.policy)}"
    )
    if last.n_new:
        said += f"; {last.n_new:,} came in since"
    return said if last.stands else f"{said}; these reviews now give another decision"


def _tell_standing(standing: Standing) -> None:
    from proofstone.page.section import shown_estimate
    from proofstone.results.fact_check import RATE_NAMES

    read = "questions looked at" if standing.states else "statements read for their format"
    people = counted(standing.n_people, "person", "people")
    print_text(
        f"{standing.target}   {standing.n_read:,} of {standing.n:,} {read}, by {people} in all"
    )
    if standing.readers:
        several = {one.task for one in standing.readers} != {"format"}
        rows: list[tuple[object, ...]] = [("reader", "read for", "given", "decided", "")]
        for one in standing.readers:
            verdicts = ", ".join(f"{n} {verdict}" for verdict, n in one.verdicts.items())
            rows.append((one.reviewer, one.task, one.given, one.done, verdicts))
        print_table(rows if several else [(row[0], *row[2:]) for row in rows])
    if standing.states:
        print_table([(state, f"{n:,}") for state, n in standing.states.items() if n])
    if said := _counts(standing.outcomes):
        wanted = standing.outcomes["drop"] + standing.outcomes["fix"]
        done = f"; of {wanted:,} to drop or fix {standing.carried_out:,} are done" if wanted else ""
        print_text(f"decided: {said}{done}")
    if standing.purged:
        print_text(f"purged: {standing.purged:,} statements, and what was said of them")
    if standing.rates:
        rows = [("fact check", "%", "wrong", "of", "unsure")]
        rows += [
            (RATE_NAMES[one.name], shown_estimate(one.rate), one.wrong, one.rate.n, one.unsure)
            for one in standing.rates
        ]
        print_table(rows)


def _counts(outcomes: Mapping[ReviewOutcome, int]) -> str:
    return ", ".join(f"{n:,} {outcome}" for outcome, n in outcomes.items() if n)


@command("agreement")
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
    """Report inter-annotator agreement of reviewers.

    Chance-corrected agreement: Cohen's kappa (two reviewers), Fleiss' kappa (more), Krippendorff's
    alpha, and Gwet's AC1, which is stable when nearly all decisions are the same. Confidence
    intervals are bootstrapped over sources if there are several.

    For banks checked by judges, each judge and the panel are compared with the reviewers on the
    same statements, task by task. Tasks without any review are listed as such.

    \b
    Example:
      proofstone review agreement facts
    """
    from proofstone.review.agreement import edited_statements, judges_checked, review_agreement
    from proofstone.review.section import checked_judges_lines
    from proofstone.session.session import open_session

    with open_session(folder) as session:
        agreed = review_agreement(session, target)
        edited = edited_statements(session, target)
        checked = judges_checked(session, target)
    if as_json:
        print_json({"people": agreed, "edited": edited, "judges": checked})
        return
    _tell_agreement(target, agreed, most=most)
    _tell_edited(edited, most=most)
    if checked:
        print_text("\njudges of the build, on the same statements")
    for line in checked_judges_lines(checked):
        print_text(line)


def _tell_edited(edited: Sequence[EditedStatement], *, most: int) -> None:
    """Prints the new wordings that readers asked for: what each is meant to be, what it would say,
    and whether readers find that true."""
    if edited:
        print_text(f"\n{counted(len(edited), 'new wording')} asked for")
    for one in edited[:most]:
        print_text(f"  {one.target}  meant to be {one.key or 'neither true nor false'}  {one.text}")
        print_text(f"    {one.reviewer}: {one.new}")
        print_text(f"    true? {', '.join(f'{who}: {claim}' for who, claim in one.said.items())}")
        if one.outcome == "open" and one.why:
            print_text(f"    open: {one.why}")
    _tell_more(len(edited) - most)


def _tell_more(n: int) -> None:
    if n > 0:
        print_text(f"  and {n:,} more (--json has all)")


def _tell_agreement(name: str, agreed: Sequence[Agreed], *, most: int) -> None:
    """Prints agreement, a table a task, and what was judged differently."""
    from proofstone.page.section import shown_estimate

    if not agreed:
        print_text(f"{name}   no statement has two reviewers yet")
    for one in agreed:
        print_text(
            f"{name}, {one.task}   {one.n_shared:,} with 2 or more of {len(one.reviewers)} "
            f"reviewers, {one.n_differ:,} judged differently"
        )
        rows: list[tuple[object, ...]] = [("agreement", "x 100", "n")]
        rows += [(name, shown_estimate(e), e.n) for name, e in one.measures.items()]
        print_table(rows)
        for differing in one.differing[:most]:
            print_text(f"  {differing.target}  {differing.text}")
            for reviewer, verdict, reason in differing.said:
                print_text(f"    {reviewer}: {verdict}{f', {reason}' if reason else ''}")
        _tell_more(len(one.differing) - most)


@command("decide")
@click.argument("target")
@policy_options
@click.option(
    "--flagged-items",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write flagged items for 'correct apply': .csv, .jsonl, .xlsx.",
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
    flagged_items: Path | None,
    output: Path | None,
    by: str,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Combine all reviews into one decision per item.

    TARGET is a bank or form, or a file of reviews (.jsonl), which needs no workspace. The newest
    decision of each reviewer counts. First the reviewers decide whether a statement is dropped. A
    statement that is kept is fixed if --fix of its reviewers want the same change. An open
    statement needs one more reviewer ('review export --undecided'). Nothing is excluded or edited
    before 'correct apply FILE'. The decision is stored with its author, policy and reviews. Options
    that you omit default to the previous decision.

    For short questions, reviewers search for answers. A question is kept if two of them (or a
    third) found the model's answer. Each needs two pages, one of them on an authoritative site
    (--sources). It is dropped if one reviewer found it unsuitable.

    \b
    Example:
      proofstone review decide facts --flagged-items work.csv
    """
    from proofstone.review.state import (
        decide_file,
        keep_decision,
        review_decisions,
        review_policy,
    )
    from proofstone.session.session import open_session

    is_file = Path(target).suffix.lower() in (".jsonl", ".ndjson", ".json")
    if is_file and Path(target).is_file():
        _refuse_for_file(flagged_items, policy.sources)
        decided = decide_file(target, policy.over(ReviewPolicy()))
    else:
        with open_session(folder) as session:
            usual = review_policy(session, target, policy.sources)
            decided = review_decisions(session, target, policy.over(usual))
            if decided.reviews:
                keep_decision(session, target, decided, by=by)
    _write(decided, flagged_items, output)
    if as_json:
        found = {"outcomes": decided.outcomes, "decisions": decided.rows}
        print_json({"policy": decided.policy, **found})
        return
    _tell_decided(target, decided, flagged_items, output)


def _refuse_for_file(flagged_items: Path | None, sources: Path | None) -> None:
    from proofstone.errors import BadUsage

    if sources is not None:
        raise BadUsage(
            "--sources needs a bank: answers to questions are decided with the model's answers",
            hint="review import FILE, then review decide BANK --sources LIST",
        )
    if flagged_items is not None:
        raise BadUsage(
            "--flagged-items needs a bank or form of a workspace",
            hint="review import FILE, then review decide BANK --flagged-items work.csv",
        )


def _write(decided: Decided, flagged_items: Path | None, output: Path | None) -> None:
    from proofstone.files.write import write_rows
    from proofstone.review.state import ReviewedRow
    from proofstone.session.written_files import write_flagged_items_file

    if flagged_items is not None:
        rows = [structs.asdict(row) for row in decided.work]
        write_flagged_items_file(flagged_items, rows, columns=ReviewedRow.__struct_fields__)
    if output is not None:
        write_rows(output, decided.rows)


def _tell_decided(
    target: str, decided: Decided, flagged_items: Path | None, output: Path | None
) -> None:
    from proofstone.records.reviews import policy_words

    said = _counts(decided.outcomes)
    print_text(f"{target}   {said or 'no row was reviewed'}")
    if said:
        say(f"policy: {policy_words(decided.policy)}")
    if output is not None:
        say(f"{output}   {len(decided.rows):,} decisions")
    if flagged_items is not None:
        say(f"{flagged_items}   {len(decided.work):,} to act on or left open")
        if any(row.decision in ("exclude", "edit") for row in decided.work):
            say_next([f"correct apply {pasted(str(flagged_items))}"])
    if decided.outcomes["open"]:
        say(
            f"open: proofstone review export {pasted(target)} --undecided --people NAME "
            "--to third.xlsx"
        )


# ``review export`` and ``review import``: sheets for people before there is a platform.


@command(
    "export",
    basic=(
        "to",
        "people",
        "per_person",
        "overlap",
        "fact_check",
        "undecided",
        "only",
        "output",
        "ui_language",
        "seed",
    ),
)
@click.argument("target")
@click.option(
    "--to",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.xlsx",
    help="Write review spreadsheets: one per reviewer, FILE-name.xlsx (FILE.xlsx for one "
    "reviewer).",
)
@asked_for(SheetsAsked)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Instead of sheets, write all decisions made so far as rows: .jsonl.",
)
@language_option
@policy_options
@seed_option
@workspace_option
@json_option
def export_command(
    target: str,
    to: Path | None,
    asked: SheetsAsked,
    output: Path | None,
    policy: PolicyAsked,
    seed: int,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Write review spreadsheets, or export all reviews.

    TARGET is a bank, or a form whose statements are reviewed. Excluded statements are omitted.
    Statements are assigned at random (by the seed) in equal shares, and each reviewer has their own
    row order. Reviewers do not see who else reviews a statement. The spreadsheets open in Excel,
    LibreOffice and others. 'review import' reads them, also half done, sorted or filtered.

    With --fact-check, a sample is fact-checked instead. Reviewers first judge whether each
    statement is true, blind to its label. A second sheet asks whether the reason of each false
    statement fits.

    Short questions are answered, not read: two reviewers search for each answer and do not see the
    model's. --undecided then writes the missing reviews. These are second answers, disagreements
    for a third reviewer, and comparisons with the model's answer.

    \b
    Example:
      proofstone review export facts --to sheet.xlsx --people Anna,Ben --shared 20%
    """
    from proofstone.errors import BadUsage
    from proofstone.review.import_reviews import export_reviews
    from proofstone.review.sheets import give_out
    from proofstone.review.state import review_policy
    from proofstone.session.session import open_session

    if (to is None) == (output is None):
        raise BadUsage(
            "say what to write", hint="sheets: --to sheet.xlsx; the decisions so far: -o FILE.jsonl"
        )
    with open_session(folder) as session:
        if output is not None:
            n = export_reviews(session, target, output)
            if as_json:
                print_json({"reviews": n, "file": str(output)})
            else:
                print_text(f"{output}   {n:,} review{'' if n == 1 else 's'}")
            return
        asked = structs.replace(
            asked, policy=policy.over(review_policy(session, target, policy.sources)), seed=seed
        )
        given = give_out(session, target, asked, to or Path())
    if as_json:
        print_json(given)
    else:
        _tell_given(given)


def _tell_given(given: GivenOut) -> None:
    print_table(
        [
            ("file", "reviewer", "rows", "spreadsheet"),
            *((s.file, s.reviewer, s.n_rows, s.sheet) for s in given.sheets),
        ]
    )
    n = given.n_statements - given.n_left - given.n_barred
    said = f"{n:,} {given.what} of {given.target}"
    if given.what == "statements":
        said += f", {given.n_shared:,} with several reviewers"
    elif given.round == 1:
        said += f", {given.n_shared:,} for two reviewers"
    if given.round > 1:
        said += f", round {given.round}"
    print_text(said)
    if given.n_left:
        print_text(f"{given.n_left:,} not assigned: the limit is --most")
    if given.n_barred:
        print_text(f"{given.n_barred:,} not assigned: all named reviewers have reviewed them")
    say("after the reviews: proofstone review import FILE...")


@command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--encoding", default="", metavar="NAME", help="Encoding of CSV files that are not UTF-8."
)
@workspace_option
@json_option
def import_command(
    files: tuple[Path, ...], encoding: str, folder: Path | None, as_json: bool
) -> None:
    """Import review spreadsheets or rows of reviews.

    FILES are spreadsheets (.xlsx, .ods, .csv), or rows (.jsonl) as 'review export -o' writes them.
    All files are checked first; with any problem, named by its cell, nothing is imported. Imported
    again, known rows are skipped, and a changed decision is stored as a correction of the former
    one. Agreement of the reviewers is printed.

    \b
    Example:
      proofstone review import sheet-anna.xlsx sheet-ben.xlsx
    """
    from proofstone.review.agreement import review_agreement
    from proofstone.review.import_reviews import import_reviews
    from proofstone.session.session import open_session

    with open_session(folder) as session:
        taken = import_reviews(session, files, encoding=encoding)
        agreements = {found.name: review_agreement(session, found) for found in taken.targets}
    if as_json:
        print_json({"imported": taken, "agreement": agreements})
        return
    _tell_imported(taken)

    for name, agreed in agreements.items():
        _tell_agreement(name, agreed, most=5)
        say_next([f"review decide {pasted(name)} --flagged-items work.csv"])


def _tell_imported(taken: ImportedReviews) -> None:
    parts = [f"{taken.new:,} new"]
    parts += [f"{taken.changed:,} changed"] if taken.changed else []
    parts += [f"{taken.already:,} already here"] if taken.already else []
    parts += [f"{taken.empty:,} without a decision"] if taken.empty else []
    parts += [f"{taken.purged:,} of purged statements, passed over"] if taken.purged else []
    print_text(f"{', '.join(taken.files)}   {', '.join(parts)}")
    if n := taken.missing:
        rows = "assigned row is" if n == 1 else "assigned rows are"
        say(f"{n:,} {rows} in none of these files, and counted as not reviewed")
    if n := taken.without_now:
        has = "row with an earlier decision has" if n == 1 else "rows with an earlier decision have"
        say(f"{n:,} {has} none now: the earlier decisions are kept")


@command("withdraw")
@click.argument("sheet")
@click.option("--reason", default="", metavar="TEXT", help="Why; it is stored.")
@by_option
@workspace_option
@json_option
def withdraw_command(sheet: str, reason: str, by: str, folder: Path | None, as_json: bool) -> None:
    """Withdraw a review spreadsheet.

    SHEET is the file that was sent out, or its digits as 'review export' printed them. Its
    statements can be assigned to other reviewers, and the spreadsheet cannot be imported again. Its
    decisions stay stored and are not counted.

    \b
    Example:
      proofstone review withdraw sheet-anna.xlsx --reason "left the project"
    """
    from proofstone.review.sheets import withdraw_sheet
    from proofstone.session.session import open_session

    with open_session(folder) as session:
        withdrawn = withdraw_sheet(session, sheet, reason=reason, by=by)
    if as_json:
        print_json(withdrawn)
        return
    print_text(
        f"withdrawn   sheet {withdrawn.sheet} of {withdrawn.reviewer}, {withdrawn.n_rows:,} rows; "
        f"{counted(withdrawn.n_decisions, 'decision')} of it count no longer"
    )


# ``review`` and ``review erase``; its other commands stand in modules of their own.


@click.group("review", cls=Group)
def review_command() -> None:
    """Export review spreadsheets, import and compare reviews.

    Rows name people by random actor ids. The names are stored in one table, outside all hashes,
    exports and merges.
    """


@review_command.command("erase")
@click.argument("person")
@workspace_option
@json_option
def erase(person: str, folder: Path | None, as_json: bool) -> None:
    """Erase a person's name and details.

    PERSON is a name or an actor id. Reviews and corrections stay under the id.

    \b
    Example:
      proofstone review erase Anna
    """
    from proofstone.session.session import erase_person, open_session

    with open_session(folder) as session:
        erased = erase_person(session, person)
    if as_json:
        print_json({"erased": erased.actor})
    else:
        print_text(f"erased   actor {short(erased.actor)} has no name any more")


for _command in (
    export_command, import_command, withdraw_command, status_command, agreement_command,
    decide_command, incentives_command,
):  # fmt: skip
    review_command.add_command(_command)
