"""The form in which answers stand, as a person states it: a regular expression or a JSON path.

What it finds in a response is read in place of the response; where it finds nothing, the response
is unparsed. A regular expression comes from a person and meets text of a model, so one that could
take long is refused when it is read, and only a response's end is searched.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from time import perf_counter
from typing import Any

from msgspec import Struct, structs

from proofstone.choices.outcomes import object_of
from proofstone.errors import BadInput
from proofstone.records.runs import Response

_SEARCHED = 4096  # characters at the end of a response that a regular expression sees


_JSON_SEARCHED = 65_536


_LONGEST = 500  # characters of a format


_SLOW_S = 0.05  # a probe may take as long


_MOST_REPEATS = 8


_MOST_OBJECTS = 200


_STEP = re.compile(r"\.?([A-Za-z_][\w-]*)|\[(\d{1,4})\]|\[['\"]([^'\"\]]+)['\"]\]")


_HINT = "regex:Final: ([A-D]) or json:$.answer, see docs/prompts.md"


class AnswerFormat(Struct, frozen=True):
    """A checked format: a regular expression, or the steps of a JSON path."""

    text: str
    pattern: str = ""
    path: tuple[str | int, ...] = ()

    def find(self, text: str) -> str | None:
        """The last answer in this form; None where there is none."""
        return _by_path(text, self.path) if self.path else _by_pattern(text, self.pattern)

    def applied(self, response: Response, *, is_refusal: bool = False) -> Response:
        """The reply with its answer as all of its text, empty where it has none; ``is_refusal``
        says that a text without one refuses."""
        found = self.find(response.text)
        if found is None:
            refusal = response.refusal or (response.text[:400] if is_refusal else "")
            return structs.replace(response, text="", refusal=refusal, is_extracted=True)
        # An answer in the stated form was given before the response was cut off.
        finish = "stop" if response.finish == "length" else response.finish
        return structs.replace(response, text=found, finish=finish, is_extracted=True)


@lru_cache(maxsize=64)
def read_answer_format(text: str) -> AnswerFormat:
    """The format that ``regex:PATTERN`` or ``json:PATH`` states (a space may stand for the colon).
    Of a pattern its group ``answer`` counts, else its first group, else all of it.

    Raises BadInput for what is neither, an invalid pattern or path, and a pattern that may take
    long.
    """
    kind, _, stated = text.strip().replace(" ", ":", 1).partition(":")
    if ":" in text and not text.strip().lower().startswith(("regex ", "json ")):
        kind, _, stated = text.strip().partition(":")
    stated = stated.strip()
    if kind.lower() not in {"regex", "json"} or not stated or len(text) > _LONGEST:
        raise BadInput(f"no format of answers: {text[:80]!r}", hint=_HINT)
    if kind.lower() == "json":
        return AnswerFormat(text, path=_steps(stated))
    _check_pattern(stated)
    return AnswerFormat(text, pattern=stated)


# ---------------------------------------------------------------- JSON


def _steps(path: str) -> tuple[str | int, ...]:
    rest = path.removeprefix("$")
    steps: list[str | int] = []
    at = 0
    while at < len(rest):
        match = _STEP.match(rest, at)
        if match is None:
            raise BadInput(
                f"no JSON path: {path!r}, at character {at + len(path) - len(rest) + 1}",
                hint="names and places from 0, as in $.result.answers[0]",
            )
        steps.append(int(match[2]) if match[2] else match[1] or match[3])
        at = match.end()
    if not steps:
        raise BadInput(f"the JSON path {path!r} names nothing", hint=_HINT)
    return tuple(steps)


def _by_path(text: str, path: tuple[str | int, ...]) -> str | None:
    whole = object_of(text)
    values = [whole] if whole is not None else [*_objects(text[-_JSON_SEARCHED:])]
    found = [said for value in values if (said := _said(_at(value, path))) is not None]
    return found[-1] if found else None


def _objects(text: str) -> Iterator[Any]:
    """The JSON objects in a text, those within others left out."""
    decoder, at = json.JSONDecoder(), text.find("{")
    for _ in range(_MOST_OBJECTS):
        if at < 0:
            return
        try:
            value, end = decoder.raw_decode(text, at)
            yield value
        except (ValueError, RecursionError):
            end = at + 1
        at = text.find("{", end)


def _at(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        if isinstance(step, int):
            if not isinstance(value, list) or step >= len(value):
                return None
            value = value[step]
        else:
            value = value.get(step) if isinstance(value, dict) else None
    return value


def _said(value: Any) -> str | None:
    """A value as an answer; None for none, and for an object."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        parts = [_said(part) for part in value]
        return ", ".join(parts) if parts and all(part is not None for part in parts) else None  # type: ignore[arg-type]
    return str(value) if isinstance(value, str | int | float) else None


# ---------------------------------------------------------------- regular expressions


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _by_pattern(text: str, pattern: str) -> str | None:
    last = None
    for match in _compiled(pattern).finditer(text[-_SEARCHED:]):
        last = match
    if last is None:
        return None
    named = last.groupdict().get("answer")
    if named is not None:
        return named.strip()
    return str(last[1] if last.re.groups and last[1] is not None else last[0]).strip()


def _check_pattern(pattern: str) -> None:
    """Raises BadInput for a pattern that is invalid, or that may take long on some text."""
    try:
        compiled = _compiled(pattern)
        tree = parser.parse(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise BadInput(f"no regular expression: {pattern!r}: {error}", hint=_HINT) from error
    if compiled.match("") is not None:
        raise BadInput(f"the regular expression {pattern!r} finds an empty answer", hint=_HINT)
    if wrong := _nested(tree, within=False) or _too_many(tree):
        raise _slow(pattern, wrong)
    for piece in _probes(pattern):
        for size in (64, 256, 1024, _SEARCHED):
            started = perf_counter()
            for _match in compiled.finditer((piece * size)[:size]):
                pass
            if perf_counter() - started > _SLOW_S:
                raise _slow(pattern, "it takes long on repeated text")


def _slow(pattern: str, why: str) -> BadInput:
    return BadInput(
        f"the regular expression {pattern!r} is refused: {why}",
        hint="no repeats within repeats; a class such as [A-D] in place of (A|B|C|D)+",
    )


def _is_long(code: Any, value: Any) -> bool:
    repeats = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
    return code in repeats and (value[1] == codes.MAXREPEAT or value[1] - value[0] > 16)


def _parts(code: Any, value: Any) -> Iterator[Any]:
    """The patterns within a node of the parsed pattern."""
    stack = [value]
    while stack:
        one = stack.pop()
        if isinstance(one, parser.SubPattern):
            yield one
        elif isinstance(one, list | tuple):
            stack += one


def _nested(tree: Any, *, within: bool) -> str:
    """What may take exponentially long: a repeat or alternatives within a repeat, a back
    reference; empty where there is nothing."""
    for code, value in tree:
        if code in (codes.GROUPREF, codes.GROUPREF_EXISTS):
            return "it refers back to a group"
        is_varying = code in (codes.MAX_REPEAT, codes.MIN_REPEAT) and value[0] != value[1]
        if within and (is_varying or code is codes.BRANCH):
            return "a repeat holds another one, or alternatives"
        inner = within or _is_long(code, value)
        for part in _parts(code, value):
            if wrong := _nested(part, within=inner):
                return wrong
    return ""


def _too_many(tree: Any) -> str:
    def count(nodes: Any) -> int:
        return sum(
            _is_long(code, value) + sum(map(count, _parts(code, value))) for code, value in nodes
        )

    return f"it has more than {_MOST_REPEATS} repeats" if count(tree) > _MOST_REPEATS else ""


def _probes(pattern: str) -> list[str]:
    """Texts of which repetitions make a slow pattern slow: its own characters, and common ones."""
    own = [character for character in dict.fromkeys(pattern) if character.isprintable()]
    words = [word for word in re.findall(r"\w+[^\w\\()\[\]{}*+?|^$.]*", pattern) if len(word) > 1]
    return [*own[:60], *words[:20], " ", "\n", "a", "A", "0", "A ", "a\n", "(A) "]
