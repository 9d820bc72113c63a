"""A few simple completions that show a reader that a model was really asked, whatever the scores.

A small model is at chance on hard questions, and so is a broken set-up. The control tells them
apart: right answers to what any model knows, tokens counted and log-probabilities given.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from importlib import resources
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import Struct

from proofstone.errors import CallFailed
from proofstone.records import Message, Reply

__all__ = [
    "CONTROL_SETTINGS",
    "ControlAnswer",
    "ControlPrompt",
    "ask_control",
    "control_prompts",
    "summarise_control",
]

# Short on purpose: a wordy reply is cut where its answer has long been said.
CONTROL_SETTINGS: Mapping[str, Any] = MappingProxyType(
    {"temperature": 0.0, "max_tokens": 24, "logprobs": True}
)


class ControlPrompt(Struct, frozen=True, forbid_unknown_fields=True):
    """A simple prompt and the words any of which makes a reply right."""

    text: str
    accepted: tuple[str, ...]
    language: str = "en"


class ControlAnswer(Struct, frozen=True, kw_only=True):
    """What came back for one prompt. ``error`` names the failure where nothing did; token counts
    and ``mean_logprob`` (natural, of the reply's tokens) are None where the endpoint gave none."""

    prompt: str
    language: str
    reply: str = ""
    is_right: bool = False
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    mean_logprob: float | None = None
    error: str = ""


class _File(Struct, frozen=True):
    prompts: tuple[ControlPrompt, ...]


def control_prompts() -> tuple[ControlPrompt, ...]:
    """The packaged prompts, in order."""
    text = (resources.files(__package__) / "control.toml").read_text(encoding="utf-8")
    return msgspec.toml.decode(text, type=_File).prompts


async def ask_control(
    ask: Callable[[tuple[Message, ...]], Awaitable[Reply]],
    prompts: Sequence[ControlPrompt] | None = None,
) -> tuple[ControlAnswer, ...]:
    """The answers to ``prompts`` (the packaged ones by default), asked at once and in their order.

    ``ask`` asks with CONTROL_SETTINGS; a CallFailed of its becomes that answer's ``error``.
    """
    chosen = control_prompts() if prompts is None else prompts
    return tuple(await asyncio.gather(*(_ask_one(ask, prompt) for prompt in chosen)))


def summarise_control(answers: Sequence[ControlAnswer]) -> str:
    """One line: how many are right, how many tokens went and came, how sure the model was."""
    if not answers:
        return "no simple completion was asked"
    right = sum(answer.is_right for answer in answers)
    failed = sum(bool(answer.error) for answer in answers)
    empty = sum(not answer.error and not answer.reply.strip() for answer in answers)
    parts = [f"{right} of {len(answers)} simple completions right", _tokens(answers)]
    parts += [_sureness(answers)]
    parts += [f"{failed} failed"] if failed else []
    parts += [f"{empty} empty"] if empty else []
    return "; ".join(parts)


async def _ask_one(
    ask: Callable[[tuple[Message, ...]], Awaitable[Reply]], prompt: ControlPrompt
) -> ControlAnswer:
    try:
        reply = await ask((Message("user", prompt.text),))
    except CallFailed as failure:
        return ControlAnswer(prompt=prompt.text, language=prompt.language, error=failure.kind)
    return ControlAnswer(
        prompt=prompt.text,
        language=prompt.language,
        reply=reply.text,
        is_right=any(_says(reply.text, word) for word in prompt.accepted),
        prompt_tokens=reply.usage.prompt,
        completion_tokens=reply.usage.completion,
        mean_logprob=reply.mean_logprob,
    )


def _says(text: str, word: str) -> bool:
    """Whether ``word`` stands in ``text``, in any case: as a whole word, or anywhere where it is
    of a script that is written without spaces."""
    if not word.isascii():
        return word in text
    # In ASCII's sense of a word: Chinese writes 2 with nothing around it.
    whole = rf"(?<![^\W_]){re.escape(word)}(?![^\W_])"
    return re.search(whole, text, re.IGNORECASE | re.ASCII) is not None


def _tokens(answers: Sequence[ControlAnswer]) -> str:
    asked = [answer.prompt_tokens for answer in answers if answer.prompt_tokens is not None]
    made = [answer.completion_tokens for answer in answers if answer.completion_tokens is not None]
    if not made:
        return "no token counts given"
    return f"{sum(made)} tokens generated from {sum(asked)}"


def _sureness(answers: Sequence[ControlAnswer]) -> str:
    """The mean over all generated tokens, so a long reply weighs as much as it has tokens."""
    known = [
        (answer.mean_logprob, answer.completion_tokens)
        for answer in answers
        if answer.mean_logprob is not None and answer.completion_tokens
    ]
    if not known:
        return "no log-probabilities given"
    mean = sum(logprob * n for logprob, n in known) / sum(n for _, n in known)
    return f"mean log-probability of a token {mean:.2f}"
