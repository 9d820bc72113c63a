"""A model's reply as the JSON object that was asked for, asked again where it is none."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec
import orjson
from msgspec import Struct

from proofstone.ports import StepCall
from proofstone.records import Message

__all__ = ["ask_for", "object_of"]

S = TypeVar("S", bound=Struct)
_FENCE = re.compile(r"```[A-Za-z]*\s*\n(.*?)\n\s*```", re.DOTALL)


async def ask_for(
    call: StepCall,
    name: str,
    messages: Sequence[Message],
    wanted: type[S],
    schema: Mapping[str, Any],
    *,
    reasks: int = 1,
) -> S | str:
    """The reply as ``wanted``; else, after ``reasks`` more tries, the last reply's text."""
    text = ""
    for reask in range(reasks + 1):
        reply = await call(name, messages, schema=schema, reask=reask)
        text = reply.text
        found = None if reply.thinking_unclosed else object_of(text)
        if found is not None:
            try:
                return msgspec.convert(found, wanted)
            except msgspec.ValidationError:
                continue
    return text


def object_of(text: str) -> dict[str, Any] | None:
    """The one JSON object of a reply: alone, in a code fence, or with prose around it; None where
    there is none, or what stands between the outermost braces is not JSON."""
    fenced = _FENCE.search(text)
    body = fenced[1] if fenced else text
    first, last = body.find("{"), body.rfind("}")
    if first < 0 or last < first:
        return None
    try:
        value = orjson.loads(body[first : last + 1])
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
