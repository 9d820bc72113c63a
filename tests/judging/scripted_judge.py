"""A judge that says what a function of the messages says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from proofstone.errors import CallFailed
from proofstone.records.calls import Message
from proofstone.records.runs import Response

__all__ = ["ScriptedJudge", "in_turn"]


class ScriptedJudge:
    """``says`` gives the text of each reply, or None where the call fails; ``asked`` keeps the
    messages, ``schemas``, ``reasks`` and ``votes`` what came
    with them."""

    def __init__(
        self, name: str, says: Callable[[Sequence[Message]], str | None], *, takes_schema: bool
    ) -> None:
        self.name = name
        self.takes_schema = takes_schema
        self.asked: list[Sequence[Message]] = []
        self.schemas: list[Mapping[str, Any] | None] = []
        self.reasks: list[int] = []
        self.votes: list[int] = []
        self._says = says

    async def __call__(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None,
        reask: int,
        vote: int,
    ) -> Response:
        self.asked.append(messages)
        self.schemas.append(schema)
        self.reasks.append(reask)
        self.votes.append(vote)
        said = self._says(messages)
        if said is None:
            raise CallFailed("overloaded", "the endpoint is busy")
        return Response(text=said, finish="stop")


def in_turn(*responses: str | None) -> Callable[[Sequence[Message]], str | None]:
    """The replies one after the other; the last one for ever."""
    left = list(responses)
    return lambda _messages: left.pop(0) if len(left) > 1 else left[0]
