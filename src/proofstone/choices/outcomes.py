"""Detect refusals, in the ten languages of answer extraction, and decide outcomes.

A refusal opens the response, in the first person. A refusal in mid-text is part of the reasoning,
and so is doubt ("I am not sure which"). In languages other than English and Chinese only a short
response counts, and uncertain cases are not refusals. Every pattern is bounded or possessive.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypeVar, get_args

import msgspec
import orjson
from msgspec import Struct

from proofstone.choices.answer_sets import find_choices
from proofstone.choices.answers import pattern_table
from proofstone.choices.extraction import UNPARSED, Extraction, extract_choice
from proofstone.choices.options import is_label, labels
from proofstone.choices.verdicts import VerdictList, extract_verdict, extract_verdicts
from proofstone.errors import BadInput, Problem
from proofstone.records.builds import StepCall
from proofstone.records.calls import Message
from proofstone.records.runs import Finish, Response
from proofstone.records.tables import Row

# A model's response as the requested JSON object, asked again if it is not one.

S = TypeVar("S", bound=Struct)


_FENCE = re.compile(r"```[A-Za-z]*\s*\n(.*?)\n\s*```", re.DOTALL)


TEXT: Mapping[str, Any] = {"type": "string"}


def list_of(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the JSON schema of a list of such entries."""
    return {"type": "array", "items": entry}


def object_of_all(properties: Mapping[str, Any], title: str = "") -> Mapping[str, Any]:
    """Return the JSON schema of an object with exactly these properties; a whole response has a
    ``title``.
    """
    return {
        **({"title": title} if title else {}),
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def object_of_texts(*names: str, title: str = "") -> Mapping[str, Any]:
    """Return the same schema with text properties."""
    return object_of_all(dict.fromkeys(names, TEXT), title)


async def ask_for(
    call: StepCall,
    name: str,
    messages: Sequence[Message],
    wanted: type[S],
    schema: Mapping[str, Any],
    *,
    reasks: int = 1,
) -> S | str:
    """Return the response as ``wanted``; after ``reasks`` failed retries, the last response's
    text.
    """
    text = ""
    for reask in range(reasks + 1):
        response = await call(name, messages, schema=schema, reask=reask)
        text = response.text
        found = None if response.thinking_unclosed else object_of(text)
        if found is not None:
            try:
                return msgspec.convert(found, wanted)
            except msgspec.ValidationError:
                continue
    return text


def object_of(text: str) -> dict[str, Any] | None:
    """Return the one JSON object of a response: alone, in a code fence, or within prose.

    None if there is none, or if the text between the outermost braces is not JSON.
    """
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


_LONGEST = 600  # maximum length of a refusal, except in English and Chinese


_OPENING = r"[\s*_#>\"'“«「]{0,12}+"


_SORRY = (
    r"(?:(?:i['’]?m|i am|we are) (?:really |very |so |truly )?(?:sorry|afraid)\b|sorry\b|"
    r"i apologi[sz]e\b|my apologies\b|unfortunately\b)[,.:;]?\s{0,4}(?:but\s|that\s)?"
)


_CANNOT = (
    r"(?:(?: |['’]m | am )(?:really |just |simply )?(?:cannot|can['’]?t|can not|"
    r"could not|couldn['’]?t|won['’]?t|will not|unable to|not able to|"
    r"(?:must |have to )?(?:decline|refuse) to|not comfortable))"
)


_ENGLISH = re.compile(
    rf"[\s*_#>\"'“]{{0,12}}+(?:{_SORRY})?"
    r"(?:as an? (?:ai|language model|assistant)\b[^.,\n]{0,60},\s)?"
    rf"(?:i|we){_CANNOT}\s"
    r"(?:answer|help|assist|comply|provide|fulfil+|respond|discuss|engage|participate|continue|"
    r"generate|share|support|offer|complete|give|do (?:that|this))(?:ing)?\b",
    re.IGNORECASE,
)


_CHINESE = re.compile(
    r"[\s*_#>“]{0,12}+"
    r"(?:(?:非常|很|十分|真的)?(?:抱歉|对不起|不好意思|遗憾)[，,。！! ]{0,3})?(?:但是?)?"
    r"(?:作为[^，,。\n]{0,20}[，,])?(?:我|本模型|本助手)?(?:现在|目前|暂时)?"
    r"(?:无法|不能|没办法|没有办法|不便|不会|拒绝|不予)"
    r"(?:为您|为你|向您|向你|对此|直接|就此)?"
    r"(?:回答|提供|协助|帮助|满足|完成|讨论|给出|处理|继续|回应|作答|解答)"
)


def _refusal(row: Mapping[str, Any]) -> re.Pattern[str]:
    """Return a pattern for an apology, a self-description, then a refusal."""
    sorry, role, refuses = ("".join(row[name]) for name in ("sorry", "role", "refuses"))
    sorry = rf"(?:(?:{sorry})[,،、，.。:;!！]?\s{{0,4}})?"
    role = rf"(?:{role}[^.,\n]{{0,60}},\s)?"
    return re.compile(rf"{_OPENING}{sorry}{role}(?:{refuses})", re.IGNORECASE)


_OTHERS = tuple(map(_refusal, pattern_table("refusals.toml").values()))


# "I cannot answer with certainty" is doubt.
_UNSURE = re.compile(
    r"con (?:certeza|seguridad)|avec (?:certitude|assurance)|com (?:certeza|segurança)|"
    r"mit (?:sicherheit|gewissheit)|eindeutig|с (?:полной )?уверенностью|однозначно|точно|"
    r"確実|断定|正確に|확실|정확히|단정|بيقين|على وجه اليقين|بشكل قاطع|بدقة",
    re.IGNORECASE,
)


_SENTENCE_END = re.compile(r"[.!?。！？؟\n]")


def opens_with_refusal(text: str) -> bool:
    """Return True if ``text`` begins by refusing to answer."""
    opening = text[:400].lstrip()
    if _ENGLISH.match(opening) is not None or _CHINESE.match(opening) is not None:
        return True
    if len(text) > _LONGEST and len(text.strip()) > _LONGEST:
        return False
    for pattern in _OTHERS:
        found = pattern.match(opening)
        if found is not None:
            end = _SENTENCE_END.search(opening, found.end())
            return _UNSURE.search(opening, 0, end.start() if end else len(opening)) is None
    return False


# Outcome of a response: answered, refused, unparsed or truncated; ``failed`` never occurs here.
#
# The only place that decides it, from how the response ended, its text and the extraction.

ReadOutcome: TypeAlias = Literal["answered", "refused", "unparsed", "truncated"]


class Reading(Struct, frozen=True):
    """A response's outcome with its basis.

    ``flags`` add details: ``truncated`` (an answer was stated before truncation), ``by endpoint``
    (a content filter refused, not the model), ``thinking unclosed``, ``several answers``, ``no
    option``.
    """

    outcome: ReadOutcome
    extraction: Extraction
    flags: tuple[str, ...] = ()


class VerdictReadings(Struct, frozen=True):
    """The outcome of a response with several verdicts, and the reading of each statement's.

    The flag ``missing verdicts``: some statements have none.
    """

    outcome: ReadOutcome
    readings: tuple[Reading, ...]
    flags: tuple[str, ...] = ()


_SEVERAL = ("several answers",)


def read_choice(response: Response, letters: str, options: Sequence[str] = ()) -> Reading:
    """Return the outcome of ``response`` to a question with these options, and its choice.

    Checked in this order: a content filter refused; an unclosed ``<think>`` block is truncated and
    never parsed; a refusal in the endpoint's own field; a choice is answered, unless the response
    was truncated before it was stated in words; truncated; a text that opens with a refusal and
    chooses nothing; unparsed.
    """
    unread = not_read(response)
    return unread or _decide(response, extract_choice(response.text, letters, options))


def read_choices(response: Response, letters: str, options: Sequence[str] = ()) -> Reading:
    """Return the same for multiple-answer questions: the choice is a set, ``"A, C"``.

    A response that was truncated within the set is truncated.
    """
    unread = not_read(response)
    if unread is not None:
        return unread
    found = find_choices(response.text, letters, options)
    if found.is_cut and response.finish == "length":
        return Reading("truncated", found.extraction)
    return _decide(response, found.extraction)


def read_verdict(response: Response) -> Reading:
    """Return the same for one statement to be called ``true`` or ``false``."""
    return not_read(response) or _decide(response, extract_verdict(response.text))


def read_verdicts(response: Response, n: int) -> VerdictReadings:
    """Return the same for ``n`` statements to be called true or false, each with its own outcome.

    The response is answered if any statement has a verdict. A statement without one is truncated if
    the response was, and refused if the response has no verdict and opens with a refusal. Otherwise
    it is unparsed.
    """
    unread = not_read(response)
    if unread is not None:
        return VerdictReadings(unread.outcome, (unread,) * n, unread.flags)
    found = extract_verdicts(response.text, n)
    cut_off = response.finish == "length"
    readings = tuple([_of_place(found, place, cut_off=cut_off) for place in range(n)])
    n_answered = sum(reading.outcome == "answered" for reading in readings)
    if not n_answered and not cut_off and not found.both and opens_with_refusal(response.text):
        return VerdictReadings("refused", (Reading("refused", UNPARSED),) * n)
    if not n_answered:
        return VerdictReadings("truncated" if cut_off else "unparsed", readings)
    flags = [("truncated", cut_off), ("missing verdicts", n_answered < n)]
    return VerdictReadings("answered", readings, tuple([flag for flag, is_so in flags if is_so]))


def _of_place(found: VerdictList, place: int, *, cut_off: bool) -> Reading:
    said, inferred = found.said[place], place in found.inferred
    if said and not (cut_off and inferred):
        extraction = Extraction(said, "bare" if inferred else "marked", "whole text", True)
        return Reading("answered", extraction, ("truncated",) if cut_off else ())
    if cut_off:
        return Reading("truncated", UNPARSED)
    if place in found.both:
        return Reading("unparsed", Extraction("", "marked", "whole text", False), _SEVERAL)
    return Reading("unparsed", UNPARSED, ("missing verdict",))


def not_read(response: Response) -> Reading | None:
    """Return the outcome of a response whose text cannot be an answer, or None."""
    if response.finish == "content_filter":
        return Reading("refused", UNPARSED, ("by endpoint",))
    if response.thinking_unclosed:
        return Reading("truncated", UNPARSED, ("thinking unclosed",))
    if response.refusal.strip():
        return Reading("refused", UNPARSED)
    return None


def _decide(response: Response, found: Extraction) -> Reading:
    """Return the outcome of a parsed response."""
    cut_off = response.finish == "length"
    if found.is_option and not cut_off:
        return Reading("answered", found)
    if found.is_option and found.tier == "marked":
        return Reading("answered", found, ("truncated",))
    if cut_off:
        return Reading("truncated", found)
    if found.letter:
        return Reading("unparsed", found, ("no option",))
    if found.tier:
        return Reading("unparsed", found, _SEVERAL)
    refused = opens_with_refusal(response.text)
    return Reading("refused" if refused else "unparsed", found)


# Choices of responses in a file: ``response`` and ``options`` in, ``letter`` and tier out.

_READ = frozenset({"response", "options", "refusal", "finish"})


_FINISHES = get_args(Finish)


_MOST_OPTIONS = 26


def extract_rows(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Return the rows with the choice of each response, in order.

    ``response`` is the response's text, with or without a leading ``<think>`` block. ``options``
    are the options' texts, their letters ("ABCD") or their number. ``answer`` may be the answer
    key, a letter or an option's text; the row then has a ``score``, 1 or 0. ``finish`` (``stop``,
    ``length``, ``content_filter``) and ``refusal`` may state how the response ended. ``letter``,
    ``tier`` and ``outcome`` are appended to the row's columns. Raises BadInput with every problem
    of all rows.
    """
    problems: list[Problem] = []
    extracted: list[dict[str, Any]] = []
    for row in rows:
        found = list(_problems_of(row))
        problems += found
        if not found:
            extracted.append(_extracted(row.values))
    if problems:
        raise BadInput("cannot parse the responses", problems, hint="see 'proofstone grade --help'")
    return extracted


def _extracted(values: Mapping[str, Any]) -> dict[str, Any]:
    letters, texts = _options_of(values["options"])
    reading = read_choice(_response(values), letters, texts)
    kept = {name: value for name, value in values.items() if name not in _READ}
    letter = reading.extraction.letter
    row = {**kept, "letter": letter, "tier": reading.extraction.tier, "outcome": reading.outcome}
    if (key := values.get("answer")) not in (None, ""):
        row["score"] = int(reading.outcome == "answered" and letter == _key(key, letters, texts))
    return row


def _key(answer: object, letters: str, texts: Sequence[str]) -> str:
    """Return the letter of an answer key; empty for one that names no option."""
    said = answer.strip() if isinstance(answer, str) else ""
    if len(said) == 1 and said in letters:
        return said
    return letters[list(texts).index(said)] if said in texts else ""


def _response(values: Mapping[str, Any]) -> Response:
    text, unclosed = _without_thinking(values["response"])
    return Response(
        text=text,
        finish=values.get("finish") or "",
        refusal=values.get("refusal") or "",
        thinking_unclosed=unclosed,
    )


def _without_thinking(text: str) -> tuple[str, bool]:
    """Return a response's text after its ``<think>`` block, and True if the block never ended."""
    _, closed, said = text.rpartition("</think>")
    if closed:
        return said, False
    unclosed = text.lstrip().startswith("<think>")
    return ("" if unclosed else text), unclosed


def _options_of(value: object) -> tuple[str, Sequence[str]]:
    """Return the letters and texts of a row's options; no letters if they are invalid."""
    if isinstance(value, int) and not isinstance(value, bool):
        return (labels(value) if 1 <= value <= _MOST_OPTIONS else ""), ()
    if isinstance(value, str):
        known = all(map(is_label, value)) and len(set(value)) == len(value)
        return (value if known else ""), ()
    if not isinstance(value, (list, tuple)) or not 1 <= len(value) <= _MOST_OPTIONS:
        return "", ()
    if not all(isinstance(text, str) for text in value):
        return "", ()
    letters = labels(len(value))
    return letters, (() if "".join(value) == letters else value)


# ---------------------------------------------------------------- invalid rows


def _problems_of(row: Row) -> Iterator[Problem]:
    """Yield a row's problems: expected and actual values."""
    values = row.values
    if not isinstance(values.get("response"), str):
        yield _problem(row, "response", "text")
    if "options" not in values or not _options_of(values["options"])[0]:
        yield _problem(row, "options", "1 to 26 texts, their number, or letters such as ABCD")
    elif (key := values.get("answer")) not in (None, ""):
        letters, texts = _options_of(values["options"])
        if not _key(key, letters, texts):
            of = " or an option's text" if texts else ""
            yield _problem(row, "answer", f"one of {letters}{of}")
    if (values.get("finish") or "") not in _FINISHES:
        yield _problem(row, "finish", f"one of {', '.join(filter(None, _FINISHES))}")
    if not isinstance(values.get("refusal") or "", str):
        yield _problem(row, "refusal", "text")


def _problem(row: Row, field: str, expected: str) -> Problem:
    came = repr(row.values[field]) if field in row.values else "nothing"
    came = came if len(came) <= 60 else f"{came[:57]}..."
    return Problem(f"{row.place}, field {field}", f"expected {expected}, got {came}")
