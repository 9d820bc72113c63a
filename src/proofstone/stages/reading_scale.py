"""Answers given with the evidence at hand are ranked apart: they show another thing."""

from __future__ import annotations

from proofstone.records import Scale
from proofstone.wording import noted, say, word

__all__ = ["reading_scale"]

_WHAT = noted(
    "the passages that a question rests on stood in the prompt, so the scores show reading, not "
    "memory"
)
_OWN = Scale(name=noted("With the evidence"), what=_WHAT, chance=None, values_as="")


def reading_scale(own: Scale | None) -> Scale:
    """The scale of respondents that were asked with evidence, in a way whose scale is ``own``
    (None: the items'), named in the language in force. The values are on that scale still, so they
    compare item by item."""
    if own is None:
        return _OWN
    return Scale(
        name=say("{scale}, with the evidence", scale=word(own.name)),
        what=say("{what}; {more}", what=word(own.what), more=word(_WHAT)),
        chance=own.chance,
        values_as=own.name,
    )
