"""What judges said of one reply, as people read it: each judge's label and its reason."""

from __future__ import annotations

from collections.abc import Iterator

from proofstone.engines.store import Store
from proofstone.identity import short
from proofstone.records import Ballot, PanelVerdict
from proofstone.records.triples import DIRECTIONS, Passage

__all__ = ["judges_of_reply", "verdict_lines"]


def verdict_lines(verdict: PanelVerdict) -> Iterator[str]:
    """A head and, where there is one, a reason a judge; of several also what they came to."""
    for ballot in verdict.ballots:
        yield f"--- judge {ballot.judge}: {_label(ballot)}"
        said = ballot.reason or _unread(ballot)
        if said:
            yield said
    if len(verdict.ballots) > 1 or verdict.by_rule:
        came_to = verdict.label or {"tied": "tied", "no_quorum": "too few votes"}[verdict.state]
        yield f"--- together: {came_to}" + (", by the rule for ties" if verdict.by_rule else "")
    if isinstance(verdict.rests_on, Passage):
        where = ", ".join(filter(None, (verdict.rests_on.title, verdict.rests_on.url)))
        yield f"--- rests on{f' ({where})' if where else ''}"
        yield verdict.rests_on.text


def judges_of_reply(store: Store, run: int, item: int, sample: int) -> Iterator[str]:
    """What judges said of a reply in each whole scoring of its run, newest first, by the keys of
    run and item; nothing where no judge was asked."""
    for scoring in reversed(store.scores.of_run(run)):
        for score in store.traces.scores(scoring.key, item):
            is_told = score.measure not in DIRECTIONS  # verified triples are told by themselves
            if is_told and score.sample == sample and score.verdict is not None:
                head = f"--- judged in scoring:{short(scoring.id)}, {score.measure}"
                yield "\n".join([head, *verdict_lines(score.verdict)])


def _label(ballot: Ballot) -> str:
    """A vote; or why there is none, and after how many replies."""
    if ballot.state == "voted":
        return ballot.label
    said = {"unparsed": "no label", "split": "different labels", "failed": "not heard"}
    times = f" in {len(ballot.heard)} replies" if len(ballot.heard) > 1 else ""
    why = f" ({ballot.trouble.replace('_', ' ')})" if ballot.trouble else ""
    return f"{said[ballot.state]}{times}{why}"


def _unread(ballot: Ballot) -> str:
    """What a judge without a label last said."""
    return next((each.reason for each in reversed(ballot.heard) if each.reason), "")
