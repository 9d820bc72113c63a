"""A call that is to come back as an object: read, asked again, or handed on as it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from msgspec import Struct

from proofstone.choices.outcomes import ask_for
from proofstone.records.runs import Response


class Named(Struct):
    """What is wanted."""

    name: str


@pytest.mark.parametrize(
    ("responses", "found"),
    [
        ([Response(text='{"name": "Ada"}')], Named("Ada")),
        ([Response(text='{"name": 1}'), Response(text='{"name": "Ada"}')], Named("Ada")),
        ([Response(text="I will not."), Response(text="No.")], "No."),
        (
            [
                Response(text='{"name": "Bo"}', thinking_unclosed=True),
                Response(text='{"name": "Ada"}'),
            ],
            Named("Ada"),
        ),
        ([Response(text='{"name": 1}'), Response(text='{"name": 2}')], '{"name": 2}'),
    ],
)
async def test_a_reply_of_another_shape_is_asked_for_once_more(
    responses: list[Response], found: Named | str
) -> None:
    left: Iterator[Response] = iter(responses)
    tries: list[int] = []

    async def call(name: str, messages: Any, **asked: Any) -> Response:
        tries.append(asked["reask"])
        return next(left)

    assert await ask_for(call, "names", [], Named, {}) == found  # type: ignore[arg-type]
    assert tries == list(range(len(responses)))
