"""User-defined answer formats: a regular expression or a JSON path.

The match replaces the response; a response without a match is unparsed. A user's pattern runs on
model output, so slow patterns are rejected when read, and only the end of a response is searched.
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

_SEARCHED = 4096  # characters at the end of a response that a regular expression searches


_JSON_SEARCHED = 65_536


_LONGEST = 500  # maximum length of a format


_SLOW_S = 0.05  # time limit of one probe


_MOST_REPEATS = 8


_MOST_OBJECTS = 200


_STEP = re.compile(r"\.?([A-Za-z_][\w-]*)|\[(\d{1,4})\]|\[['\"]([^'\"\]]+)['\"]\]")


_HINT = "regex:Final: ([A-D]) or json:$.answer, see docs/reference/formats.md"


class AnswerFormat(Struct, frozen=True):
    """A checked format: a regular expression, or the steps of a JSON path."""

    text: str
    pattern: str = ""
    path: tuple[str | int, ...] = ()

    def find(self, text: str) -> str | None:
        """Return the last answer in this format, or None."""
        return _by_path(text, self.path) if self.path else _by_pattern(text, self.pattern)

    def applied(self, response: Response, *, is_refusal: bool = False) -> Response:
        """Return the response with its answer as the whole text, empty without one.

        ``is_refusal``: a text without an answer is a refusal.
        """
        found = self.find(response.text)
        if found is None:
            refusal = response.refusal or (response.text[:400] if is_refusal else "")
            return structs.replace(response, text="", refusal=refusal, is_extracted=True)
        # An answer in this format was given before the response was truncated.
        finish = "stop" if response.finish == "length" else response.finish
        return structs.replace(response, text=found, finish=finish, is_extracted=True)


@lru_cache(maxsize=64)
def read_answer_format(text: str) -> AnswerFormat:
    """Return the format for ``regex:PATTERN`` or ``json:PATH`` (a space may replace the colon).

    A pattern returns its group ``answer``, the first group or the whole match, in this order.
    Raises BadInput for other texts, an invalid pattern or path, and a slow pattern.
    """
    kind, _, stated = text.strip().replace(" ", ":", 1).partition(":")
    if ":" in text and not text.strip().lower().startswith(("regex ", "json ")):
        kind, _, stated = text.strip().partition(":")
    stated = stated.strip()
    if kind.lower() not in {"regex", "json"} or not stated or len(text) > _LONGEST:
        raise BadInput(f"expected regex:PATTERN or json:PATH, got {text[:80]!r}", hint=_HINT)
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
                f"invalid JSON path {path!r}, at character {at + len(path) - len(rest) + 1}",
                hint="use names and indexes from 0, as in $.result.answers[0]",
            )
        steps.append(int(match[2]) if match[2] else match[1] or match[3])
        at = match.end()
    if not steps:
        raise BadInput(f"empty JSON path {path!r}", hint=_HINT)
    return tuple(steps)


def _by_path(text: str, path: tuple[str | int, ...]) -> str | None:
    whole = object_of(text)
    values = [whole] if whole is not None else [*_objects(text[-_JSON_SEARCHED:])]
    found = [said for value in values if (said := _said(_at(value, path))) is not None]
    return found[-1] if found else None


def _objects(text: str) -> Iterator[Any]:
    """Yield the outermost JSON objects in a text."""
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
    """Return a value as an answer; None for null and for an object."""
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
    """Raise BadInput for a pattern that is invalid or may be slow."""
    try:
        compiled = _compiled(pattern)
        tree = parser.parse(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise BadInput(f"invalid regular expression {pattern!r}: {error}", hint=_HINT) from error
    if compiled.match("") is not None:
        raise BadInput(f"the regular expression {pattern!r} matches an empty answer", hint=_HINT)
    if wrong := _nested(tree, within=False) or _too_many(tree):
        raise _slow(pattern, wrong)
    for piece in _probes(pattern):
        for size in (64, 256, 1024, _SEARCHED):
            started = perf_counter()
            for _match in compiled.finditer((piece * size)[:size]):
                pass
            if perf_counter() - started > _SLOW_S:
                raise _slow(pattern, "it is slow on repeated text")


def _slow(pattern: str, why: str) -> BadInput:
    return BadInput(
        f"the regular expression {pattern!r} may be slow: {why}",
        hint="avoid nested repeats; use a class such as [A-D] instead of (A|B|C|D)+",
    )


def _is_long(code: Any, value: Any) -> bool:
    repeats = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
    return code in repeats and (value[1] == codes.MAXREPEAT or value[1] - value[0] > 16)


def _parts(code: Any, value: Any) -> Iterator[Any]:
    """Yield the sub-patterns of a node of the parsed pattern."""
    stack = [value]
    while stack:
        one = stack.pop()
        if isinstance(one, parser.SubPattern):
            yield one
        elif isinstance(one, list | tuple):
            stack += one


def _nested(tree: Any, *, within: bool) -> str:
    """Return what may take exponential time, or "".

    A repeat or alternatives within a repeat, or a back reference.
    """
    for code, value in tree:
        if code in (codes.GROUPREF, codes.GROUPREF_EXISTS):
            return "it has a back reference"
        is_varying = code in (codes.MAX_REPEAT, codes.MIN_REPEAT) and value[0] != value[1]
        if within and (is_varying or code is codes.BRANCH):
            return "a repeat contains another one, or alternatives"
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
    """Return texts whose repetition exposes slow patterns: its own characters, and common ones."""
    own = [character for character in dict.fromkeys(pattern) if character.isprintable()]
    words = [word for word in re.findall(r"\w+[^\w\\()\[\]{}*+?|^$.]*", pattern) if len(word) > 1]
    return [*own[:60], *words[:20], " ", "\n", "a", "A", "0", "A ", "a\n", "(A) "]
