"""Answers given with passages at hand are ranked apart: they show another thing than memory."""

from __future__ import annotations

from proofstone.records.items import ContextName
from proofstone.records.runs import Scale
from proofstone.wording.messages import noted, say, word

_WHAT = noted(
    "the passages that a question rests on stood in the prompt, so the scores show reading, not "
    "memory"
)


_SEARCHED = noted(
    "what a search of the sources found stood in the prompt, so the scores show memory and search "
    "together"
)


_OWN = Scale(name=noted("With the evidence"), what=_WHAT, chance=None, values_as="")


_OWN_SEARCHED = Scale(
    name=noted("With what a search found"), what=_SEARCHED, chance=None, values_as=""
)


def reading_scale(own: Scale | None, context: ContextName = "evidence") -> Scale:
    """The scale of respondents that were asked with evidence, or with what was retrieved, in a way
    whose scale is ``own`` (None: the items'), named in the language in force. The values are on
    that scale still, so they compare item by item."""
    if context == "retrieved":
        return _OWN_SEARCHED if own is None else _searched(own)
    if own is None:
        return _OWN
    return Scale(
        name=say("{scale}, with the evidence", scale=word(own.name)),
        what=say("{what}; {more}", what=word(own.what), more=word(_WHAT)),
        chance=own.chance,
        values_as=own.name,
    )


def _searched(own: Scale) -> Scale:
    return Scale(
        name=say("{scale}, with what a search found", scale=word(own.name)),
        what=say("{what}; {more}", what=word(own.what), more=word(_SEARCHED)),
        chance=own.chance,
        values_as=own.name,
    )
