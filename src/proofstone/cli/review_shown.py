"""``review status``, ``review agreement`` and ``review decide``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from proofstone.cli.correcting import by_option
from proofstone.cli.options import json_option, workspace_option
from proofstone.cli.output import pasted, print_json, print_table, print_text, say
from proofstone.cli.review_options import PolicyAsked, policy_options
from proofstone.identity import short

if TYPE_CHECKING:
    from proofstone.records import CheckedQuestion, CheckedRate
    from proofstone.stages.review_decided import LastDecision
    from proofstone.stages.review_standing import Agreed, EditedStatement, Standing
    from proofstone.stages.review_work import Decided

__all__ = ["agreement_command", "decide_command", "status_command", "tell_agreement",
           "tell_edited"]  # fmt: skip


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

    from proofstone.wiring import open_workspace  # noqa: PLC0415

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
    from proofstone.records import policy_words  # noqa: PLC0415
    from proofstone.stages.dates import minute  # noqa: PLC0415

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
    from proofstone.report.numbers import shown_estimate  # noqa: PLC0415
    from proofstone.stages.review_standing import RATE_NAMES  # noqa: PLC0415

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
    from proofstone.wiring import open_workspace  # noqa: PLC0415

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
    from proofstone.report.checked_judges import checked_judges_lines  # noqa: PLC0415

    if checked:
        click.echo("\njudges of the build, on the same statements")
    for line in checked_judges_lines(checked):
        print_text(line)


def tell_agreement(name: str, agreed: Sequence[Agreed], *, most: int) -> None:
    """Prints agreement, a table a task, and what was judged differently."""
    from proofstone.report.numbers import shown_estimate  # noqa: PLC0415

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
    from proofstone.records import ReviewPolicy  # noqa: PLC0415
    from proofstone.wiring import open_workspace  # noqa: PLC0415
    from proofstone.wiring.reviewing import decide_reviews  # noqa: PLC0415

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

    from proofstone.engines.ingest import write_rows  # noqa: PLC0415
    from proofstone.stages.review_work import ReviewedRow  # noqa: PLC0415
    from proofstone.stages.work_files import write_work_file  # noqa: PLC0415

    if work_list is not None:
        rows = [msgspec.structs.asdict(row) for row in decided.work]
        write_work_file(work_list, rows, columns=ReviewedRow.__struct_fields__)
    if output is not None:
        write_rows(output, decided.rows)


def _tell_decided(
    target: str, decided: Decided, work_list: Path | None, output: Path | None
) -> None:
    from proofstone.records import policy_words  # noqa: PLC0415

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
