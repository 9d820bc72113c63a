"""Warnings on a row, each with what to try."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proofstone.report.board import WARN_ABOVE, Advice, Rate
from proofstone.report.numbers import shown_share
from proofstone.wording import listed, noted, say, word

__all__ = ["advise", "advise_of_served"]

_TRY: Mapping[str, str] = {
    "truncated": noted("raise --max-tokens, or lower --reasoning-effort, and run again"),
    "unparsed": noted(
        "read some (proofstone show RUN --outcome unparsed -n 5), or try another --ask"
    ),
}
_TRY_IN_FILES: Mapping[str, str] = {
    "truncated": noted("the score counts them as wrong: rerun with a higher limit on tokens"),
    "unparsed": noted(
        "the score counts them as wrong, so it measures answer extraction too: read some "
        "responses, or score them again with another filter or scorer"
    ),
}
_TRY_JUDGED = noted(
    "the judge's replies held no label, which is not the model's doing: read some (proofstone show "
    "RUN --outcome unparsed -n 5), or try another judge (proofstone score RUN --judge OTHER)"
)


def advise(
    rates: Sequence[Rate], *, judged: bool = False, is_ours: bool = True
) -> tuple[Advice, ...]:
    """A warning for each of truncated and unparsed that more than 2% of the replies are; where they
    are ``judged``, unparsed is what a judge said. ``is_ours``: runs of a workspace, which commands
    can show and repeat; else a file's scores."""
    remedies = _TRY if is_ours else _TRY_IN_FILES
    return tuple(
        Advice(
            what=say(
                "{share} {outcome} ({count:,} of {n:,})",
                share=shown_share(rate.share),
                outcome=word(rate.outcome),
                count=rate.count,
                n=rate.n,
            ),
            try_next=say(
                _TRY_JUDGED if judged and rate.outcome == "unparsed" else remedies[rate.outcome]
            ),
        )
        for rate in rates
        if rate.outcome in _TRY and rate.share > WARN_ABOVE
    )


def advise_of_served(served: Sequence[tuple[str, int]]) -> tuple[Advice, ...]:
    """A warning where more than one model answered under the respondent's name."""
    if len(served) < 2:
        return ()
    models = listed([f"{model} {replies:,}" for model, replies in served])
    return (
        Advice(
            what=say("answered by {n} served models ({models})", n=len(served), models=models),
            try_next=say("ask one alone: a dated model name, or all afresh with --replicate NAME"),
        ),
    )
