"""``show BUILD --judges`` and ``--verdicts``: what judges said in a build, and what each weighs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from proofstone.records.ids import short
from proofstone.session.terminal import print_json, print_table, print_text, say, visible

if TYPE_CHECKING:
    from proofstone.build.rows import EndedRow, JudgedRow
    from proofstone.judging.question import QuestionAccount
    from proofstone.judging.verdicts import JudgeAccount
    from proofstone.records.verdicts import Ballot
    from proofstone.session.session import Session
    from proofstone.store.lookup import Found


# Rows of builds on a terminal: each value in a line, long ones cut.

_SHOWN = 400  # characters of a value


T = TypeVar("T")


def first_of(rows: list[T], limit: int, how: str) -> list[T]:
    """The first rows of those that were read, one beyond ``limit``; where it is there, it is said
    ``how`` to see more."""
    if len(rows) > limit:
        say(f"more follow: {how}")
    return rows[:limit]


def value_lines(values: Mapping[str, Any] | None) -> Iterator[str]:
    """A line a value; one that says so where the row's text was purged."""
    if values is None:
        yield "  its text was purged"
        return
    yield from (f"  {name}   {short_text(_text(value))}" for name, value in values.items())


def short_text(text: str) -> str:
    """A text in one line, cut where it is long."""
    line = visible(" ".join(text.split()))
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]} ..."


def _text(value: Any) -> str:
    import msgspec

    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


_HEAD = (
    "judge", "n", "voted", "unparsed", "failed", "split", "asked again", "turned", "wavered",
    "against", "weighs",
)  # fmt: skip


_NONE = "no verdict is kept of this build: nobody judged, or it was before verdicts were kept"


def show_judges(session: Session, found: Found, *, as_json: bool) -> None:
    """Each question of a build with what its judges did."""
    from proofstone.build.rows import read_accounts

    key, build = session.store.builds.build(found.id)
    accounts = read_accounts(session.store, key, build)
    if as_json:
        print_json(accounts)
    elif accounts:
        print_text("\n\n".join("\n".join(account_lines(each)) for each in accounts))
        say(f"each verdict with its reasons: proofstone show build:{short(build.id)} --verdicts")
    else:
        say(_NONE)


def show_verdicts(
    session: Session, found: Found, *, step: str | None, limit: int, as_json: bool
) -> None:
    """The verdicts of a build, of one step where it is named."""
    from proofstone.build.rows import list_verdicts

    judged = list_verdicts(session.store, found, step=step, limit=limit + 1)
    judged = first_of(judged, limit, f"-n {limit * 10}")
    if as_json:
        print_json(judged)
    elif judged:
        print_text("\n\n".join("\n".join(_verdict_lines(each)) for each in judged))
    else:
        say(_NONE if step is None else "no verdict is kept of this step")


def account_lines(account: QuestionAccount) -> list[str]:
    """A question in a line, and a table of its judges; columns in which nobody has anything are
    left out."""
    from proofstone.page.text import aligned

    rows = [_HEAD, *(_judge_row(judge) for judge in account.judges)]
    kept = [at for at in range(len(_HEAD)) if at < 3 or any(row[at] for row in rows[1:])]
    table = aligned([[row[at] for at in kept] for row in rows], left=(0,))
    return [f"{account.step}: {account.question}   {_came_to(account)}", *table]


def _came_to(account: QuestionAccount) -> str:
    labels = [f"{label} {n:,}" for label, n in account.labels.items()]
    by_rule = f", {account.by_rule:,} by the rule for ties" if account.by_rule else ""
    tied = [f"tied {account.tied:,}"] if account.tied else []
    silent = [f"no quorum {account.no_quorum:,}"] if account.no_quorum else []
    several = len(account.judges) > 1
    agreed = f"; unanimous {account.unanimous:,} of {account.n:,}" if several else ""
    return f"{', '.join([*labels, *tied, *silent])}{by_rule}{agreed}"


def _judge_row(judge: JudgeAccount) -> tuple[str, ...]:
    numbers = (
        judge.unparsed, judge.failed, judge.split, judge.reasked, judge.turned, judge.wavered,
        judge.against_panel, judge.otherwise,
    )  # fmt: skip
    shown = (f"{n:,}" if n else "" for n in numbers)
    return (visible(judge.judge), f"{judge.n:,}", f"{judge.voted:,}", *shown)


def _verdict_lines(judged: JudgedRow) -> Iterator[str]:
    verdict = judged.verdict
    came = verdict.label or verdict.state.replace("_", " ")
    rule = " by the rule for ties" if verdict.by_rule else ""
    yield f"row {judged.row}   {judged.step}: {judged.question}: {came}{rule}"
    for ballot in verdict.ballots:
        yield f"  {visible(ballot.judge)}: {_ballot(ballot)}"
    yield from value_lines(judged.values)


def _ballot(ballot: Ballot) -> str:
    said = ballot.label or ": ".join(filter(None, (ballot.state, ballot.trouble)))
    heard: Sequence[str] = [each.label or each.trouble for each in ballot.heard]
    several = f" ({', '.join(heard)})" if len(set(heard)) > 1 else ""
    reason = f". {short_text(ballot.reason)}" if ballot.reason else ""
    return f"{said}{several}{reason}"


# ``list build`` and ``show BUILD``: builds, their funnels, and every row that was dropped.


def list_builds(session: Session, *, as_json: bool) -> None:
    """All builds, newest first, each with how far it is and its bank."""
    from proofstone.build.rows import build_states

    states = build_states(session.store)
    if as_json:
        print_json(states)
        return
    rows: list[tuple[Any, ...]] = [("build", "kind", "name", "entered", "left", "bank")]
    rows += [
        (
            f"build:{short(state.id)}", state.kind, state.name, f"{state.n_inputs:,}",
            "incomplete" if state.funnel is None else f"{state.funnel.left:,}",
            "" if state.bank is None else f"bank:{short(state.bank)}",
        )
        for state in states
    ]  # fmt: skip
    print_table(rows if states else [])


def show_build(
    session: Session,
    found: Found,
    *,
    dropped: bool,
    pending: bool,
    judges: bool,
    verdicts: bool,
    step: str | None,
    reason: str | None,
    limit: int,
    as_json: bool,
) -> None:
    """A build with its funnel; or the rows that it dropped, or that are held up; or what its judges
    did, or said of each row."""
    if judges + verdicts + (dropped or pending) > 1:
        raise click.UsageError("--judges, --verdicts and --dropped are shown one at a time")
    if verdicts and reason is None:
        show_verdicts(session, found, step=step, limit=limit, as_json=as_json)
        return
    if judges and step is None and reason is None:
        show_judges(session, found, as_json=as_json)
        return
    from proofstone.build.rows import describe_build, list_ended

    if dropped or pending:
        ended = list_ended(
            session.store, found, pending=pending, step=step, reason=reason, limit=limit + 1
        )
        every = f"proofstone export build:{short(found.id)} -o FILE"
        ended = first_of(ended, limit, f"-n {limit * 10}, or all of them in a file: {every}")
        if as_json:
            print_json(ended)
        elif ended:
            print_text("\n\n".join(map(_row, ended)))
        else:
            say("no such row")
        return
    if step is not None or reason is not None:
        raise click.UsageError(
            "--step goes with --dropped, --pending or --verdicts, --reason with --dropped"
        )
    description, funnel = describe_build(session.store, found)
    if as_json:
        import msgspec

        fields = msgspec.structs.asdict(description)
        counts = {**msgspec.structs.asdict(funnel), "left": funnel.left}
        print_json({**fields, "funnel": counts})
        return
    from proofstone.build.funnel import funnel_lines

    print_text("\n".join([str(description), "", *funnel_lines(funnel)]))


def _row(ended: EndedRow) -> str:
    """A row with why it ended, in a few lines."""
    why = ended.reason or (f"failed: {ended.error}" if ended.error else "not worked on yet")
    found = [f"  found   {short_text(ended.found)}"] if ended.found else []
    return "\n".join([f"row {ended.row}   {ended.step}: {why}", *found, *value_lines(ended.values)])
