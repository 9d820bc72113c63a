"""Ask a judge for JSON, strictly; after a problem once more, with the problem named."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct

from proofstone.choices.outcomes import object_of
from proofstone.records.builds import StepCall
from proofstone.records.calls import Message
from proofstone.texts.templates import Prompts

PROMPTS = Prompts("proofstone.methods.kina")

S = TypeVar("S", bound=Struct)


class Judgment(Struct, Generic[S], frozen=True):
    """A judge's response: its ``text``, and what it says; ``problem`` if it cannot be used."""

    text: str
    value: S | None = None
    problem: str = ""


async def ask_checked(
    call: StepCall,
    name: str,
    prompt: str,
    wanted: type[S],
    schema: Mapping[str, Any],
    *,
    language: str,
    check: Callable[[S], str] = lambda _value: "",
) -> Judgment[S]:
    """Return the judgment on a prompt, or on its one repetition with the problem named.

    ``check`` returns what is wrong with a response of the right form, empty if nothing is. Raises
    CallFailed without a response.
    """
    asked: Sequence[Message] = [Message("user", prompt)]
    judgment = Judgment[S]("")
    for reask in range(2):
        response = await call(name, asked, schema=schema, reask=reask)
        text = response.text
        try:
            value = msgspec.convert(None if response.thinking_unclosed else object_of(text), wanted)
        except msgspec.ValidationError as error:
            judgment = Judgment(text, problem=f"not the requested JSON: {error}")
        else:
            problem = check(value)
            if not problem:
                return Judgment(text, value)
            judgment = Judgment(text, problem=problem)
        again = PROMPTS.render("again", language, problem=judgment.problem)
        asked = [Message("user", f"{prompt}\n\n{again}")]
    return judgment
