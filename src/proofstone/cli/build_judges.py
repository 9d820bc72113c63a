"""``show BUILD --judges`` and ``--verdicts``: what judges said in a build, and what each weighs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from proofstone.cli.built_rows import first_of, short_text, value_lines
from proofstone.cli.output import print_json, print_text, say, visible
from proofstone.identity import short

if TYPE_CHECKING:
    from proofstone.engines.judging import JudgeAccount, QuestionAccount
    from proofstone.engines.store import Found
    from proofstone.records import Ballot
    from proofstone.stages.verdicts import JudgedRow
    from proofstone.wiring import Workspace

__all__ = ["account_lines", "show_judges", "show_verdicts"]

_HEAD = (
    "judge", "n", "voted", "unparsed", "failed", "split", "asked again", "turned", "wavered",
    "against", "weighs",
)  # fmt: skip
_NONE = "no verdict is kept of this build: nobody judged, or it was before verdicts were kept"


def show_judges(workspace: Workspace, found: Found, *, as_json: bool) -> None:
    """Each question of a build with what its judges did."""
    from proofstone.stages.verdicts import read_accounts  # noqa: PLC0415

    key, build = workspace.store.builds.build(found.id)
    accounts = read_accounts(workspace.store, key, build)
    if as_json:
        print_json(accounts)
    elif accounts:
        print_text("\n\n".join("\n".join(account_lines(each)) for each in accounts))
        say(f"each verdict with its reasons: proofstone show build:{short(build.id)} --verdicts")
    else:
        say(_NONE)


def show_verdicts(
    workspace: Workspace, found: Found, *, step: str | None, limit: int, as_json: bool
) -> None:
    """The verdicts of a build, of one step where it is named."""
    from proofstone.stages.verdicts import list_verdicts  # noqa: PLC0415

    judged = list_verdicts(workspace.store, found, step=step, limit=limit + 1)
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
    from proofstone.report.columns import aligned  # noqa: PLC0415

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
