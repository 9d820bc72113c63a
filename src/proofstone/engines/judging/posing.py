"""A question to a judge as messages, for endpoints with and without JSON schemas."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import msgspec

from proofstone.engines.judging.fencing import fence_code, harmless
from proofstone.records import JudgeQuestion, Message

__all__ = [
    "NOTHING",
    "RESTS_ON",
    "ReplyForm",
    "Wording",
    "fence",
    "label_schema",
    "pose",
    "wording",
]

ReplyForm = Literal["json", "line"]
RESTS_ON = "rests_on"  # the key under which a reply names what it rests on
NOTHING = "none"  # what it says there where it rests on nothing that was shown


class Wording(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The words of one language around a question."""

    role: str
    material: str
    labels: str
    label: str
    code: str
    opens: str
    closes: str
    json: str
    line: str
    last: str
    again: str
    json_citing: str
    line_citing: str


def wording(language: str) -> Wording:
    """The words for a language: Chinese for zh and its kinds, else English."""
    return _read("zh" if language.startswith("zh") else "en")


@cache
def _read(name: str) -> Wording:
    file = files(__package__) / f"wording.{name}.toml"
    return msgspec.convert(tomllib.loads(file.read_text(encoding="utf-8")), Wording)


def pose(question: JudgeQuestion, form: ReplyForm, *, is_again: bool = False) -> list[Message]:
    """The messages of a question, its exhibits fenced. ``is_again``: the reply before held no
    label, and the form of the reply is asked for once more.

    What questions of one kind share stands first, the code of the fence behind it: an endpoint
    that keeps what it has read reads it once."""
    words = wording(question.language)
    code = fence_code([exhibit.text for exhibit in question.exhibits])
    wanted = _wanted(question, words, form)
    if is_again:
        wanted = words.again.replace("{form}", wanted)
    named = words.code.replace("{code}", code)
    blocks = _blocks(question, words, code)
    parts = [question.task, _labels(question, words), named, *blocks, wanted]
    system = f"{words.role}\n\n{words.material}"
    return [Message("system", system), Message("user", "\n\n".join(parts))]


def label_schema(question: JudgeQuestion) -> Mapping[str, Any]:
    """The JSON schema of a reply: the reason first, so that the label follows from it."""
    fields: dict[str, Any] = {"reason": {"type": "string"}}
    if question.citing:
        fields[RESTS_ON] = {"type": "string", "enum": [*question.citing.names, NOTHING]}
    fields["label"] = {"type": "string", "enum": list(question.names)}
    return {
        "title": "judgement",
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def _wanted(question: JudgeQuestion, words: Wording, form: ReplyForm) -> str:
    """The form of the reply, in words."""
    wanted = words.json if form == "json" else words.line
    if question.citing:
        wanted = words.json_citing if form == "json" else words.line_citing
        wanted = wanted.replace("{names}", ", ".join(question.citing.names))
        wanted = wanted.replace("{needed}", ", ".join(question.citing.needed_for))
    return wanted if form == "json" else _lines(question, words, wanted)


def _labels(question: JudgeQuestion, words: Wording) -> str:
    lines = [
        words.label.replace("{name}", label.name).replace("{meaning}", label.meaning)
        for label in question.labels
    ]
    return "\n".join([words.labels, *lines])


def _lines(question: JudgeQuestion, words: Wording, wanted: str) -> str:
    """All last lines that a reply may end with: an example of one label would suggest it."""
    lines = [words.last.replace("{name}", name) for name in question.names]
    return "\n".join([wanted, *lines])


def fence(name: str, text: str, language: str) -> str:
    """A text set apart by marks with a code of its own, nothing hidden in it: for prompts that work
    on a text rather than judge it."""
    return _block(name, text, wording(language), fence_code([text]))


def _blocks(question: JudgeQuestion, words: Wording, code: str) -> list[str]:
    return [_block(exhibit.name, exhibit.text, words, code) for exhibit in question.exhibits]


def _block(name: str, text: str, words: Wording, code: str) -> str:
    opens, closes = (
        mark.replace("{name}", name).replace("{code}", code) for mark in (words.opens, words.closes)
    )
    return f"{opens}\n{harmless(text)}\n{closes}"
