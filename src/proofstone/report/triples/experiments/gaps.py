"""What of an experiment is missing: not asked, not complete, not verified; with the commands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from proofstone.report.triples.experiments.cells import UNPARSED
from proofstone.report.triples.experiments.evidence import Asked, Experiment, Varied
from proofstone.report.triples.experiments.sweeps import Sweep
from proofstone.wording import joined, say

__all__ = ["UNSET", "gaps_of", "incomplete_notes", "value_name"]

UNSET = ""
_MOST_NAMED = 12
_MOST_UNPARSED = 0.02  # of verdicts; beyond it a figure depends on what nobody judged


def value_name(value: str) -> str:
    """A value of what was varied, as people read it; of effort none may be set."""
    return value if value != UNSET else say("not set")


def gaps_of(
    found: Experiment, varied: Varied, sweeps: Sequence[Sweep], preset: str
) -> Iterator[str]:
    """Notes on the grid of a sweep: what was not asked of which model, then on rows that were."""
    lacking = [sweep for sweep in sweeps if sweep.missing]
    for sweep in lacking[:_MOST_NAMED]:
        yield say(
            "Not asked of {model}: {values}.",
            model=sweep.name,
            values=joined([value_name(value) for value in sweep.missing]),
        )
    alone = _models_alone(found, sweeps)
    if alone:
        yield say("Asked in one way only, so not compared: {models}.", models=joined(alone))
    wanted = list(dict.fromkeys([*(sweep.model for sweep in lacking), *alone]))
    if wanted:
        yield say(
            "To ask what is missing, and nothing twice: {command}",
            command=found.ask.format(models=",".join(wanted), preset=preset),
        )
    own = [asked for asked in found.asked if asked.row.group.model not in alone]
    yield from incomplete_notes(found, own)


def incomplete_notes(found: Experiment, rows: Sequence[Asked]) -> Iterator[str]:
    """Notes on rows of whose verdicts many could not be parsed, whose replies are missing, and on
    those not verified, or not wholly."""
    yield from _unparsed_notes(rows)
    unanswered = [asked for asked in rows if asked.replies < asked.wanted]
    for asked in unanswered[:_MOST_NAMED]:
        yield say(
            "Incomplete: {label} has {n:,} of {all:,} replies; the same run command goes on.",
            label=asked.row.label,
            n=asked.replies,
            all=asked.wanted,
        )
    waiting = [asked for asked in rows if not asked.is_verified or asked.row.waiting]
    if waiting:
        names = [asked.row.label for asked in waiting]
        runs = [f"run:{run[:8]}" for asked in waiting for run in asked.row.runs]
        yield say(
            "Not verified, or not wholly: {labels}. {command}",
            labels=joined(names, _MOST_NAMED),
            command=found.score.format(targets=" ".join(runs[:_MOST_NAMED])),
        )


def _unparsed_notes(rows: Sequence[Asked]) -> Iterator[str]:
    """A note on each row of whose verdicts too many could not be parsed."""
    for asked in rows:
        shares = [asked.row.measured.estimates.get(name) for name in UNPARSED]
        if any(each is not None and each.value > _MOST_UNPARSED for each in shares):
            precision, recall = (
                "-" if each is None else f"{100 * each.value:z.1f}%" for each in shares
            )
            yield say(
                "Unparsed verdicts of {label}: {precision} of precision, {recall} of recall. They "
                "count against it.",
                label=asked.row.label,
                precision=precision,
                recall=recall,
            )


def _models_alone(found: Experiment, sweeps: Sequence[Sweep]) -> list[str]:
    """The models that no sweep compares."""
    compared = {sweep.model for sweep in sweeps}
    models = dict.fromkeys(asked.row.group.model for asked in found.asked)
    return [model for model in models if model not in compared]
