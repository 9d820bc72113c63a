"""The most that one attempt can cost, known before it is sent; what it is charged where the
endpoint does not say.

A token is a byte at least, so a prompt has no more tokens than its JSON has bytes, with an
allowance for what a chat template adds unasked (default system texts), and one for each image,
which the JSON only names. The output, reasoning included, ends at ``max_tokens``, and with the
prompt at the model's window where that is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import structs

from proofstone.identity import canonical_json
from proofstone.ports import Attempt, ModelRequest
from proofstone.records import Usage

__all__ = ["Bounds", "may_be_billed", "most_output", "total_tokens"]

_TEMPLATE_TOKENS = 256
_IMAGE_TOKENS = 50_000  # gpt-4o-mini counts up to 48,169 for one
_BREAKS = frozenset({"timeout", "dropped", "unreadable"})
_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens", "max_new_tokens")
# Some endpoints count thinking outside of max_tokens and take a limit of its own.
_THINKING_LIMITS = ("thinking_budget",)
_IN_PROMPT = ("schema", "response_format", "tools")


def most_output(sent: Mapping[str, Any], window: int | None = None) -> int | None:
    """The most tokens that a reply can have by the settings sent, reasoning included, and by the
    model's window; None where nothing limits it."""
    limits = [sent[name] for name in _LIMITS if isinstance(sent.get(name), int)]
    if not limits:
        return window
    thinking = sum(sent[name] for name in _THINKING_LIMITS if isinstance(sent.get(name), int))
    most: int = max(limits) + thinking
    return most if window is None else min(most, window)


def may_be_billed(attempt: Attempt, *, has_answered: bool) -> bool:
    """Whether an endpoint may charge for an attempt: a reply, or a connection that broke under way.

    Errors by status are not billed, nor is what never reached a model: no connection, or a page
    for people from an address that has never answered.
    """
    if attempt.error == "not_an_api" and not has_answered:
        return False
    if attempt.status == 0:
        return attempt.reply is not None or attempt.error in _BREAKS
    return attempt.status < 300


def total_tokens(usage: Usage) -> int:
    """All tokens of a call, reasoning among those of the reply."""
    return (usage.prompt or 0) + (usage.completion or 0)


class Bounds:
    """The bounds of one model's calls. ``window`` is the most tokens of prompt and reply, if known.

    Where an endpoint counts more than was bounded (it ignores ``max_tokens``, or its template is
    long), later bounds are raised by as much.
    """

    def __init__(self, window: int | None = None) -> None:
        self.window = window
        self._more_prompt = 0
        self._more_output = 0

    def most(self, request: ModelRequest, sent: Mapping[str, Any]) -> Usage:
        """The most tokens of one attempt; ``completion`` is None where nothing limits it."""
        prompt = len(request.prompt) + _TEMPLATE_TOKENS + self._more_prompt
        prompt += _IMAGE_TOKENS * sum(len(message.images) for message in request.messages)
        prompt += sum(len(canonical_json(sent[name])) for name in _IN_PROMPT if name in sent)
        output = most_output(sent, self.window)
        return Usage(prompt, None if output is None else output + self._more_output)

    def learn(self, most: Usage, counted: Usage) -> None:
        """Takes what an endpoint counted against what was bounded."""
        if most.prompt is not None and (counted.prompt or 0) > most.prompt:
            self._more_prompt += (counted.prompt or 0) - most.prompt
        if most.completion is not None and (counted.completion or 0) > most.completion:
            self._more_output += (counted.completion or 0) - most.completion

    def estimate(
        self, request: ModelRequest, sent: Mapping[str, Any], attempt: Attempt, usage: Usage
    ) -> Usage:
        """``usage`` with what it lacks estimated, on the safe side: a prompt at its bound, a reply
        that came at a token a byte, one that did not come at its bound (0 where there is none)."""
        most = self.most(request, sent)
        prompt = most.prompt if usage.prompt is None else usage.prompt
        completion = usage.completion
        if completion is None:
            completion = most.completion or 0
            if attempt.reply is not None:
                came = len(attempt.reply.text.encode()) + len(attempt.reply.reasoning.encode())
                completion = came if most.completion is None else min(came, completion)
        return structs.replace(usage, prompt=prompt, completion=completion)
