"""Pose a question to a judge, and parse its response as one of the closed labels."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec
import orjson
from msgspec import UNSET, Struct, UnsetType, structs

from proofstone.judging.verdicts import JudgeAccount, JudgeTally
from proofstone.records.calls import Message
from proofstone.records.ids import Draws, canonical_json, digest
from proofstone.records.runs import Response
from proofstone.records.verdicts import Citing, JudgeQuestion, Label, PanelVerdict
from proofstone.texts.templates import bundled_words

# Judged texts are fenced, so that they cannot pass for instructions.

# Chat template markers: some endpoints' tokenizers interpret them within a text.
_TURN_SIGNS = re.compile(
    r"<\|[^|<>\n]{0,40}\|>|<\uff5c[^\uff5c<>\n]{0,40}\uff5c>|\[/?(?:INST|SYS(?:TEM)?)\]|<</?SYS>>"
    r"|</?(?:s|bos|eos|start_of_turn|end_of_turn|think|tool_call)>",
    re.IGNORECASE,
)


_BRACKETS = str.maketrans({"<": "\u2039", ">": "\u203a", "[": "\u2045", "]": "\u2046"})


def fence_code(texts: Sequence[str]) -> str:
    """Return eight hexadecimal digits that occur in none of ``texts``, deterministic for the texts.

    The author of a text could not predict them without knowing all texts.
    """
    joined = "\0".join(texts)
    for number in range(1 << 20):
        code = digest(f"fence {number}\0{joined}".encode("utf-8", "replace")).hex()[:8]
        if code not in joined:
            return code
    raise AssertionError("no code of a million is unused in the texts")


def harmless(text: str) -> str:
    """Return ``text`` without hidden content.

    Control, direction and zero-width characters are named (``⟨U+200B⟩``), and chat markers get
    other brackets. All else is unchanged.
    """
    hidden = {ord(each): shown for each in set(text) if (shown := _visible(each)) != each}
    seen = text.translate(hidden) if hidden else text
    return _TURN_SIGNS.sub(lambda found: found[0].translate(_BRACKETS), seen)


def _visible(character: str) -> str:
    if character in "\n\t" or unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Co"}:
        return character
    return f"\u27e8U+{ord(character):04X}\u27e9"


# A panel's results on one question over many rows: decisions, and each judge's part.


class QuestionAccount(Struct, frozen=True, kw_only=True):
    """Count one question of a step over its ``n`` verdicts.

    ``decided`` includes those by the tie rule (``by_rule``). Others are ``tied`` or without a
    quorum. ``unanimous`` verdicts have two votes or more, all for one label. ``labels`` counts the
    decisions.
    """

    step: str
    question: str
    n: int
    decided: int
    by_rule: int
    tied: int
    no_quorum: int
    unanimous: int
    labels: dict[str, int]
    judges: tuple[JudgeAccount, ...]


class QuestionTally:
    """Count the verdicts of one question."""

    def __init__(self) -> None:
        self._judges = JudgeTally()
        self._labels: dict[str, int] = {}
        self._states = {"decided": 0, "tied": 0, "no_quorum": 0}
        self._by_rule = self._unanimous = 0

    def add(self, verdict: PanelVerdict) -> None:
        """Count one verdict."""
        self._judges.add(verdict)
        self._states[verdict.state] += 1
        self._by_rule += verdict.by_rule
        votes = verdict.votes()
        self._unanimous += len(votes) == 1 and sum(votes.values()) > 1
        if verdict.label:
            self._labels[verdict.label] = self._labels.get(verdict.label, 0) + 1

    def account(self, step: str, question: str) -> QuestionAccount:
        """Return the counts."""
        return QuestionAccount(
            step=step,
            question=question,
            n=sum(self._states.values()),
            **self._states,
            by_rule=self._by_rule,
            unanimous=self._unanimous,
            labels=dict(sorted(self._labels.items())),
            judges=self._judges.accounts(),
        )


# A judge question as messages, for endpoints with and without JSON schemas.

ResponseForm = Literal["json", "line"]


RESTS_ON = "rests_on"  # the key of the cited exhibit in a response


NOTHING = "none"  # its value if no exhibit is cited


class Wording(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Hold the words of a question in one language."""

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
    """Return the words for a language: Chinese for zh and its variants, otherwise English."""
    return bundled_words(__package__, "wording", language, Wording)


def pose(question: JudgeQuestion, form: ResponseForm, *, is_again: bool = False) -> list[Message]:
    """Return the messages of a question, with fenced exhibits.

    ``is_again``: the previous response had no label, and the response format is requested again.
    Text common to questions of one kind comes first, before the fence code, so that endpoints can
    cache the prefix.
    """
    words = wording(question.language)
    code = fence_code([exhibit.text for exhibit in question.exhibits])
    wanted = _wanted(question, words, form)
    if is_again:
        wanted = words.again.replace("{form}", wanted)
    named = words.code.replace("{code}", code)
    blocks = [_block(each.name, each.text, words, code) for each in question.exhibits]
    parts = [question.task, _labels(question, words), named, *blocks, wanted]
    system = f"{words.role}\n\n{words.material}"
    return [Message("system", system), Message("user", "\n\n".join(parts))]


def label_schema(question: JudgeQuestion) -> Mapping[str, Any]:
    """Return the JSON schema of a response: the reason first, so that the label follows from it."""
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


def _wanted(question: JudgeQuestion, words: Wording, form: ResponseForm) -> str:
    """Describe the response format in words."""
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
    """Return all possible last lines of a response: an example of one label would suggest it."""
    lines = [words.last.replace("{name}", name) for name in question.names]
    return "\n".join([wanted, *lines])


def fence(name: str, text: str, language: str) -> str:
    """Fence a text with a unique code and without hidden content, for prompts that process a
    text."""
    return _block(name, text, wording(language), fence_code([text]))


def _block(name: str, text: str, words: Wording, code: str) -> str:
    opens, closes = (
        mark.replace("{name}", name).replace("{code}", code) for mark in (words.opens, words.closes)
    )
    return f"{opens}\n{harmless(text)}\n{closes}"


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
    """Hold a parsed response.

    ``label`` is one of the labels as in the question, or empty; then ``trouble`` says why.
    ``not_shown`` means that the response cites an unknown exhibit. ``cited`` is the cited exhibit,
    if requested and given.
    """

    label: str = ""
    reason: str = ""
    trouble: LabelTrouble = ""
    cited: str = ""


def read_label(
    response: Response, names: Sequence[str], form: ResponseForm, citing: Citing | UnsetType = UNSET
) -> ReadLabel:
    """Parse the label of a response in the requested format.

    ``json``: the full response is one object with a ``label``; a code fence is removed. ``line``:
    the last line is ``Label: NAME``; earlier lines of this form must not contradict it. A label
    must match completely except for case, width and quotes: "not correct" is never "correct".
    Truncated and refused responses give no label. With ``citing`` the object has a ``rests_on`` (a
    line ``Rests on: NAME`` before the last). A label that must cite a shown exhibit and does not is
    invalid.
    """
    if response.refusal:
        return ReadLabel(trouble="refused", reason=response.refusal)
    text = response.text.strip()
    if response.thinking_unclosed or not text:
        is_cut = response.thinking_unclosed or response.finish == "length"
        return ReadLabel(trouble="truncated" if is_cut else "empty")
    known = {_plain(name): name for name in names}
    read = _of_object(text, known) if form == "json" else _of_lines(text, known)
    if citing and read.label:
        return _checked(read, citing)
    if read.trouble == "no_label" and response.finish == "length":
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
    """Check the cited exhibit of a parsed label.

    The label is removed if the exhibit was not shown, or is required and missing.
    """
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


# The same question in other orders, so that a judge's position bias shows and cancels.

# Orders are sampled until enough differ, with a maximum number of attempts.
_TRIES_EACH = 64


def arrangements(question: JudgeQuestion, n: int) -> tuple[JudgeQuestion, ...]:
    """Return ``n`` different arrangements of labels and compared texts.

    The first is as given, the second is reversed, the others are sampled by the question's content.
    Fewer if there are not as many. Raises ValueError for ``n`` below 1.
    """
    if n < 1:
        raise ValueError(f"the number of label orders must be 1 or more, got {n}")
    made: dict[bytes, JudgeQuestion] = {}
    for arranged in _orders(question, _TRIES_EACH * n):
        made.setdefault(canonical_json(arranged), arranged)
        if len(made) == n:
            break
    return tuple(made.values())


def _orders(question: JudgeQuestion, tries: int) -> Iterator[JudgeQuestion]:
    places, labels = question.compared, question.labels
    yield question
    yield _arranged(question, labels[::-1], places[::-1])
    draws = Draws(int.from_bytes(digest(canonical_json(question))[:8], "little"), 0, "judge orders")
    for _ in range(tries):
        yield _arranged(question, draws.shuffled(labels), draws.shuffled(places))


def _arranged(
    question: JudgeQuestion, labels: Sequence[Label], sources: Sequence[int]
) -> JudgeQuestion:
    exhibits = list(question.exhibits)
    for place, source in zip(question.compared, sources, strict=True):
        exhibits[place] = question.exhibits[source]
    return structs.replace(question, labels=tuple(labels), exhibits=tuple(exhibits))
