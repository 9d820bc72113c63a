"""A call that is to come back as an object: read, asked again, or handed on as it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from msgspec import Struct

from proofstone.choices.outcomes import ask_for
from proofstone.records.runs import Reply


class Named(Struct):
    """What is wanted."""

    name: str


@pytest.mark.parametrize(
    ("replies", "found"),
    [
        ([Reply(text='{"name": "Ada"}')], Named("Ada")),
        ([Reply(text='{"name": 1}'), Reply(text='{"name": "Ada"}')], Named("Ada")),
        ([Reply(text="I will not."), Reply(text="No.")], "No."),
        (
            [Reply(text='{"name": "Bo"}', thinking_unclosed=True), Reply(text='{"name": "Ada"}')],
            Named("Ada"),
        ),
        ([Reply(text='{"name": 1}'), Reply(text='{"name": 2}')], '{"name": 2}'),
    ],
)
async def test_a_reply_of_another_shape_is_asked_for_once_more(
    replies: list[Reply], found: Named | str
) -> None:
    left: Iterator[Reply] = iter(replies)
    tries: list[int] = []

    async def call(name: str, messages: Any, **asked: Any) -> Reply:
        tries.append(asked["reask"])
        return next(left)

    assert await ask_for(call, "names", [], Named, {}) == found  # type: ignore[arg-type]
    assert tries == list(range(len(replies)))
