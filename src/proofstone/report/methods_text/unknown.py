"""What is not known, which a reader must be told as well."""

from __future__ import annotations

from collections.abc import Iterator

from proofstone.engines.stats import FLAGS
from proofstone.report.manifest import Manifest
from proofstone.report.page_data import PageData
from proofstone.wording import joined, listed, say, word

__all__ = ["unknown_sentences"]

# What shapes answers and stands at the endpoint's own choice where it was not sent.
_SHAPING = ("temperature", "top_p", "max_tokens")


def unknown_sentences(data: PageData) -> Iterator[str]:
    """Each gap in a sentence; the last one, on the models' training, always stands."""
    if data.manifest is None:
        yield say(
            "It is not known how the models were asked, with which settings and when, how replies "
            "were read and scored, nor whether the right answers are right; nor whether the "
            "analysis was fixed before the results were seen."
        )
    else:
        yield from _of_runs(data.manifest)
    flags = {
        flag
        for group in data.board.standings
        for row in group.ranked
        for flag in row.estimate.flags
    }
    for flag, text in FLAGS.items():
        if flag in flags:
            yield say("Some intervals: {flag}.", flag=word(text))
    yield say("It is not known whether the models had met these items before.")


def _of_runs(manifest: Manifest) -> Iterator[str]:
    real = [each for each in manifest.asked if not each.simulated]
    silent = [each.name for each in real if not each.served]
    if silent:
        yield say(
            "It is not known which model answered for {names}: the endpoint did not say.",
            names=joined(list(dict.fromkeys(silent))),
        )
    unsent = [
        name
        for name in _SHAPING
        if any(name not in dict(each.settings) or name in each.dropped for each in real)
    ]
    if unsent:
        yield say(
            "Where {names} was not sent or not taken, it was the endpoint's own choice, which is "
            "not known.",
            names=listed([word(name) for name in unsent]),
        )
    if not manifest.scorers:
        yield say("No reply has been scored whole yet.")
