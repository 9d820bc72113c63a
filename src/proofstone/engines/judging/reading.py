"""A judge's reply as one of the closed labels, matched whole, or as nothing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any, Literal

import orjson
from msgspec import UNSET, Struct, UnsetType, structs

from proofstone.engines.judging.posing import NOTHING, RESTS_ON, ReplyForm
from proofstone.records import Citing, Reply

__all__ = ["LabelTrouble", "ReadLabel", "read_label"]

LabelTrouble = Literal[
    "", "refused", "truncated", "empty", "no_label", "unknown_label", "several", "not_shown",
    "rests_on_nothing",
]  # fmt: skip
_FENCE = re.compile(r"\A\s*```[A-Za-z]*\s*\n(.*)\n\s*```\s*\Z", re.DOTALL)
_LINE = re.compile(r"\A(?:label|verdict|标签|判定)\s*[:\uff1a]\s*(.*?)\s*\Z", re.IGNORECASE)
_RESTS = re.compile(r"\A(?:rests on|依据)\s*[:\uff1a]\s*(.*?)\s*\Z", re.IGNORECASE)
_AROUND = "*_`\"'“”「」 \t"
_STOPS = ".。"


class ReadLabel(Struct, frozen=True, gc=False):
    """What a reply says. ``label`` is one of the labels as the question writes it, or empty; then
    ``trouble`` says why: ``not_shown`` rests on an exhibit that there is none of. ``cited`` is the
    exhibit that it rests on, where one was asked for and named."""

    label: str = ""
    reason: str = ""
    trouble: LabelTrouble = ""
    cited: str = ""


def read_label(
    reply: Reply, names: Sequence[str], form: ReplyForm, citing: Citing | UnsetType = UNSET
) -> ReadLabel:
    """The label of a reply in the form that was asked for.

    ``json``: the whole reply is one object (a code fence around it is taken off) with a ``label``.
    ``line``: the last line is ``Label: NAME``; lines of that form before it must not say otherwise.
    A label is matched whole but for case, width and quotes around it: "not correct" is never
    "correct". Nothing is guessed from a reply that was cut short or refused. With ``citing`` the
    object has a ``rests_on`` (a line ``Rests on: NAME`` stands before the last); a label that must
    rest on something that was shown, and does not, is none.
    """
    if reply.refusal:
        return ReadLabel(trouble="refused", reason=reply.refusal)
    text = reply.text.strip()
    if reply.thinking_unclosed or not text:
        is_cut = reply.thinking_unclosed or reply.finish == "length"
        return ReadLabel(trouble="truncated" if is_cut else "empty")
    known = {_plain(name): name for name in names}
    read = _of_object(text, known) if form == "json" else _of_lines(text, known)
    if citing and read.label:
        return _checked(read, citing)
    if read.trouble == "no_label" and reply.finish == "length":
        return ReadLabel(reason=read.reason, trouble="truncated")
    return read


def _of_object(text: str, known: dict[str, str]) -> ReadLabel:
    fenced = _FENCE.match(text)
    try:
        value: Any = orjson.loads(fenced[1] if fenced else text)
    except ValueError:
        return ReadLabel(reason=text, trouble="no_label")
    if not isinstance(value, dict) or not isinstance(value.get("label"), str):
        return ReadLabel(reason=text, trouble="no_label")
    reason = value.get("reason")
    read = _known(value["label"], reason if isinstance(reason, str) else "", known)
    cited = value.get(RESTS_ON)
    return structs.replace(read, cited=cited if isinstance(cited, str) else "")


def _of_lines(text: str, known: dict[str, str]) -> ReadLabel:
    lines = [line.strip() for line in text.splitlines() if line.strip(_AROUND)]
    stated = [(place, said) for place, line in enumerate(lines) if (said := _stated(line))]
    if not stated or stated[-1][0] != len(lines) - 1:
        return ReadLabel(reason=text, trouble="no_label")
    reason = "\n".join(lines[:-1])
    if len({_plain(said) for _place, said in stated}) > 1:
        return ReadLabel(reason=reason, trouble="several")
    cited = [said for line in lines[:-1] if (said := _stated(line, _RESTS))]
    return structs.replace(_known(stated[-1][1], reason, known), cited=cited[-1] if cited else "")


def _stated(line: str, form: re.Pattern[str] = _LINE) -> str:
    found = form.match(line.strip(_AROUND + "#>"))
    return found[1].strip(_AROUND) if found else ""


def _checked(read: ReadLabel, citing: Citing) -> ReadLabel:
    """What was read with the exhibit that it rests on; without a label where that is none that was
    shown, or where the label needs one."""
    cited = {_plain(name): name for name in citing.names}.get(_plain(read.cited), "")
    if not cited and _plain(read.cited) not in {"", NOTHING}:
        return ReadLabel(reason=read.reason, trouble="not_shown", cited=read.cited)
    if not cited and read.label in citing.needed_for:
        return ReadLabel(reason=read.reason, trouble="rests_on_nothing")
    return structs.replace(read, cited=cited)


def _known(said: str, reason: str, known: dict[str, str]) -> ReadLabel:
    label = known.get(_plain(said))
    if label is None:
        return ReadLabel(reason=reason, trouble="unknown_label")
    return ReadLabel(label=label, reason=reason)


def _plain(said: str) -> str:
    text = unicodedata.normalize("NFKC", said).strip(_AROUND)
    return text.rstrip(_STOPS).strip(_AROUND).casefold()
