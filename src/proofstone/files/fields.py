"""Typed fields of one row: problems are recorded by line and field, not raised."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import orjson
from msgspec import Struct

from proofstone.errors import BadInput, Problem
from proofstone.records.knowledge import Stratum
from proofstone.records.tables import Row
from proofstone.texts.languages import guess_language, read_language_code

_TRUTH = {"true": True, "correct": True, "1": True, "false": False, "incorrect": False, "0": False}


_SHOWN = 40


def came(value: object) -> str:
    """Return a value as quoted in messages: short, and never a whole nested one."""
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    if not isinstance(value, str):
        return orjson.dumps(value).decode()
    return f'"{value}"' if len(value) <= _SHOWN else f'"{value[:_SHOWN]}..."'


class Fields:
    """Read fields of one row by name: the first of several names that has a value.

    A missing field, null and an empty text are equivalent; each method documents its result for
    them. A value of the wrong type is added to ``problems`` and reads as missing; ``is_sound`` is
    then False.
    """

    __slots__ = ("_problems", "is_sound", "place", "values")

    def __init__(self, row: Row, problems: list[Problem]) -> None:
        self.place = row.place
        self.values = row.values
        self.is_sound = True
        self._problems = problems

    def wrong(self, name: str, what: str) -> None:
        """Record a problem with the field ``name`` of this row."""
        self.is_sound = False
        self._problems.append(Problem(f"{self.place}, field {name}", what))

    def find(self, *names: str) -> tuple[str, Any]:
        """Return the first name that has a value, and the value; the first name and None without
        one.
        """
        for name in names:
            value = self.values.get(name)
            if value is not None and value != "":
                return name, value
        return names[0], None

    def has(self, *names: str) -> bool:
        """Return True if any of the names has a value."""
        return self.find(*names)[1] is not None

    def _scalar(self, names: tuple[str, ...], kinds: tuple[type, ...], expected: str) -> Any:
        """Return the first value, of one of these types; "" if it is missing or of another type."""
        for name in names:
            value = self.values.get(name)
            if value is None or value == "":
                continue
            if type(value) in kinds:
                return value
            self.wrong(name, f"expected {expected}, got {came(value)}")
            break
        return ""

    def text(self, *names: str) -> str:
        """Return the text unchanged, or ""."""
        found: str = self._scalar(names, (str,), "text")
        return found

    def required_text(self, *names: str) -> str:
        """Return the text, which must have more than white space."""
        text = self.text(*names)
        if not text or text.isspace():
            name, value = self.find(*names)
            if value is None:
                self.wrong(name, "is missing or empty")
            elif text:
                self.wrong(name, "contains only white space")
        return text

    def label(self, *names: str) -> str:
        """Return a text unchanged, or a whole number as text; "" if missing."""
        return str(self._scalar(names, (str, int), "text or a whole number"))

    def key(self, *names: str) -> str:
        """Return a label by which rows refer to each other, without surrounding white space."""
        return self.label(*names).strip()

    def number(self, name: str) -> int | None:
        """Return a whole number of 0 or more, also from its digits in text; None if missing."""
        value = self.find(name)[1]
        if isinstance(value, str) and value.strip().isdecimal():
            value = int(value)
        if value is None or (type(value) is int and value >= 0):
            return value
        self.wrong(name, f"expected a whole number of 0 or more, got {came(value)}")
        return None

    def truth(self, *names: str) -> bool | None:
        """Return True for true, correct or 1, False for false, incorrect or 0; None if missing."""
        name, value = self.find(*names)
        if value is None or type(value) is bool:
            return value
        known = None
        if type(value) is int:
            known = {0: False, 1: True}.get(value)
        elif isinstance(value, str):
            known = _TRUTH.get(value.strip().lower())
        if known is None:
            self.wrong(
                name, f"expected true or false (correct, incorrect, 1, 0), got {came(value)}"
            )
        return known

    def texts(self, *names: str) -> tuple[str, ...]:
        """Return a list of texts: a list, the JSON text of one, or one text with commas.

        In the last case parts are stripped, and empty ones removed.
        """
        name, value = self.find(*names)
        if value is None:
            return ()
        parts = _texts_in(value) if isinstance(value, str) else _all_texts(value)
        if parts is None:
            self.wrong(name, f"expected a list of texts, got {came(value)}")
        return parts or ()

    def identity(self, name: str) -> bytes | None:
        """Return 32 bytes from 64 hexadecimal digits; None if missing."""
        value = self.find(name)[1]
        if value is None:
            return None
        found = read_identity(value) if isinstance(value, str) else None
        if found is None:
            self.wrong(name, f"expected 64 hexadecimal digits, got {came(value)}")
        return found

    def language(self, name: str = "language") -> str | None:
        """Return a language code such as ``en``; "" for ``und``; None if missing."""
        text = self.text(name)
        if not text:
            return None
        code = read_language_code(text)
        if code is None:
            self.wrong(name, f"expected a language code such as en or zh, got {came(text)}")
        return code


def read_identity(text: str) -> bytes | None:
    """Return the 32 bytes of 64 hexadecimal digits, or None."""
    text = text.strip()
    if len(text) != 64 or not text.isascii() or not text.isalnum():
        return None
    try:
        return bytes.fromhex(text)
    except ValueError:
        return None


def read_json(text: str) -> Any:
    """Return the value of a JSON cell, or None if it is not JSON."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


@lru_cache(maxsize=1024)
def _texts_in(text: str) -> tuple[str, ...] | None:
    if text.lstrip().startswith("["):
        return _all_texts(read_json(text))
    return tuple(part for piece in text.split(",") if (part := piece.strip()))


def _all_texts(value: object) -> tuple[str, ...] | None:
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return tuple(value)
    return None


# Options and answer key of a multiple-choice row.

LETTERS = string.ascii_uppercase


_LETTERS_LIST = re.compile(r"[A-Z](?:\s{0,3}[,;、，/&+]\s{0,3}[A-Z])+")


QUESTION_COLUMNS = ("question", "Question", "question_stem")


OPTION_COLUMNS = ("options", "choices")


ANSWER_COLUMNS = ("answer", "gold", "answer_key", "Answer", "answerKey")


class RowOptions(Struct, frozen=True, gc=False):
    """The texts of a row's options; empty if invalid.

    ``labels`` are the row's own, which its answer may use.
    """

    texts: tuple[str, ...]
    labels: tuple[str, ...] = ()


def has_option_columns(columns: Iterable[str]) -> bool:
    """Return True if a file with these columns has answer options."""
    names = set(columns)
    return not names.isdisjoint(OPTION_COLUMNS) or {"A", "B"} <= names


def read_options(fields: Fields) -> RowOptions:
    """Return the options of a row; problems are recorded in ``fields``."""
    name, value = fields.find(*OPTION_COLUMNS)
    if value is None:
        value = {letter: fields.values[letter] for letter in LETTERS if fields.has(letter)}
    elif isinstance(value, str):
        value = read_json(value)
    labels: tuple[str, ...] = ()
    wrong: list[str] = []
    if isinstance(value, dict) and isinstance(value.get("text"), list):
        value, labels, wrong = _labelled(value)
    elif isinstance(value, dict):
        wrong = _wrong_letters(value)
        value = [value[letter] for letter in sorted(value)]
    if not isinstance(value, list):
        wrong = ["expected a list of texts, the JSON text of one, or columns A, B, C, ..."]
    else:
        wrong = wrong or _wrong_options(value)
    for what in wrong:
        fields.wrong(name, what)
    return RowOptions(()) if wrong else RowOptions(tuple(map(_text, value)), labels)


def _labelled(value: dict[str, Any]) -> tuple[list[Any], tuple[str, ...], list[str]]:
    texts, labels = value["text"], value.get("label", [])
    if not isinstance(labels, list) or (labels and len(labels) != len(texts)):
        return texts, (), ["expected as many labels as texts"]
    return texts, tuple(map(_text, labels)), []


def _wrong_letters(options: dict[str, Any]) -> list[str]:
    if sorted(options) == list(LETTERS[: len(options)]):
        return []
    return [f"expected letters from A without a gap, got {came(', '.join(options))}"]


def _wrong_options(options: list[Any]) -> list[str]:
    if not 2 <= len(options) <= len(LETTERS):
        return [f"expected 2 to {len(LETTERS)} options, got {len(options)}"]
    wrong = [
        f"option {place} is empty or not a text"
        for place, option in enumerate(options, start=1)
        if not _text(option).strip()
    ]
    if not wrong and len({collapsed(_text(option)) for option in options}) < len(options):
        wrong.append("two options are identical")
    return wrong


def _text(option: object) -> str:
    """Return an option's text; a number as JSON; "" for other types."""
    if isinstance(option, str):
        return option
    is_number = isinstance(option, int | float) and not isinstance(option, bool)
    return orjson.dumps(option).decode() if is_number else ""


def collapsed(text: str) -> str:
    """Return the text with single spaces between its words and none around it."""
    return " ".join(text.split())


# ---------------------------------------------------------------- the answer


def read_answer_key(fields: Fields, options: RowOptions) -> int | None:
    """Return the index of the correct option, or None if it is missing or ambiguous.

    ``answer`` may be a letter, one of the row's labels, an index from 0 or an option's text. If
    these differ, ``answer_letter`` or ``answer_index`` must decide.
    """
    texts = options.texts
    name, answer = fields.find(*ANSWER_COLUMNS)
    exact = _exact(fields, texts)
    if answer is None:
        if not fields.has("answer_index", "answer_letter"):
            fields.wrong(name, "is missing; expected a letter, index from 0 or option text")
        return exact
    readings = _readings(answer, options)
    if exact is not None and exact in readings:
        return exact
    if exact is not None:
        named = f"option {LETTERS[exact]} of answer_index or answer_letter"
        fields.wrong(name, f"expected {named}, got {came(answer)}")
    elif not readings:
        fields.wrong(name, f"expected a letter, index from 0 or option text, got {came(answer)}")
    elif len(readings) > 1:
        meant = " or ".join(LETTERS[place] for place in sorted(readings))
        fields.wrong(name, f"{came(answer)} can mean option {meant}; set answer_letter")
    return min(readings, default=None)


def read_answer_keys(fields: Fields, options: RowOptions) -> tuple[int, ...]:
    """Return the indexes of all correct options of a multiple-answer row.

    ``answer`` is a list, its JSON text, or letters with commas ("A, C"); or ``answer_index`` is a
    list. Empty for a row with a single answer.
    """
    name, answer = fields.find(*ANSWER_COLUMNS)
    index = fields.values.get("answer_index")
    if isinstance(answer, str) and answer.strip().startswith("["):
        answer = read_json(answer)
    places: list[int] = []
    if isinstance(answer, list):
        for one in answer:
            meant = _readings(one, options)
            if len(meant) != 1:
                fields.wrong(name, f"{came(one)} does not identify one of the options")
                return ()
            places += meant
    elif isinstance(answer, str) and _LETTERS_LIST.fullmatch(answer.strip()):
        if answer in options.texts:
            return ()
        places = [LETTERS.index(letter) for letter in answer if letter in LETTERS]
    elif isinstance(index, list) and all(type(place) is int for place in index):
        name, places = "answer_index", index
    if any(not 0 <= place < len(options.texts) for place in places):
        fields.wrong(name, f"is not one of the {len(options.texts)} options")
        return ()
    return tuple(sorted(set(places)))


def read_letter(fields: Fields, options: RowOptions) -> int | None:
    """Return the index of the correct option from ``answer_letter`` or ``answer_index`` only.

    One of them is required, for rows whose ``answer`` has another meaning.
    """
    place = _exact(fields, options.texts)
    if place is None and not fields.has("answer_index", "answer_letter"):
        fields.wrong("answer_letter", "is missing; expected the letter of the correct option")
    return place


def _exact(fields: Fields, options: Sequence[str]) -> int | None:
    index = fields.number("answer_index")
    letter = fields.text("answer_letter").strip().upper()
    places = []
    if index is not None:
        places.append(("answer_index", index))
    if letter:
        place = LETTERS.find(letter) if len(letter) == 1 else -1
        places.append(("answer_letter", place))
    for name, place in places:
        if not 0 <= place < len(options):
            fields.wrong(name, f"is not one of the {len(options)} options")
            return None
    if len({place for _, place in places}) == 2:
        fields.wrong("answer_letter", "differs from answer_index")
    return places[0][1] if places else None


def _readings(answer: object, options: RowOptions) -> set[int]:
    """Return all indexes that an answer can mean. A row's own label has only one meaning."""
    wanted = collapsed(_text(answer))
    if wanted in options.labels:
        return {options.labels.index(wanted)}
    texts = options.texts
    found = {place for place, option in enumerate(texts) if collapsed(option) == wanted}
    if len(wanted) == 1 and wanted.upper() in LETTERS:
        found.add(LETTERS.index(wanted.upper()))
    if wanted.isascii() and wanted.isdecimal():
        found.add(int(wanted))
    return {place for place in found if place < len(texts)}


# Questions of a file: each row as a draft, then checks across drafts.


@dataclass(slots=True, eq=False, kw_only=True)
class QuestionDraft:
    """A question as read from a row.

    ``question`` is the text for language detection if the row states no language (``language``
    None); ``payload`` is the method's.
    """

    place: str
    key: str
    question: str
    payload: Any
    stratum: Stratum
    language: str | None
    number: int = 0
    corrects: bytes | None = None
    is_sound: bool


DraftCheck: TypeAlias = Callable[[Sequence[QuestionDraft], list[Problem]], None]


def read_questions(
    rows: Iterable[Row], read: Callable[[Fields], QuestionDraft], check: DraftCheck
) -> list[QuestionDraft]:
    """Return the drafts of rows, in order, checked singly and then together.

    Drafts without a language get the one detected from all of them. Raises BadInput with every
    problem of all rows.
    """
    problems: list[Problem] = []
    drafts = [read(Fields(row, problems)) for row in rows]
    check(drafts, problems)
    if problems:
        raise BadInput("cannot read the questions", problems)
    unknown = [draft for draft in drafts if draft.language is None]
    guessed = guess_language(draft.question for draft in unknown)
    for draft in unknown:
        draft.language = guessed
    return drafts


def check_repeats(
    drafts: Sequence[QuestionDraft],
    problems: list[Problem],
    content: Callable[[QuestionDraft], Hashable],
    alike: str = "",
) -> None:
    """Record each draft whose key or ``content`` repeats an earlier one; empty ones are ignored.

    ``alike`` names what repeats in addition to the question.
    """
    keys: dict[str, str] = {}
    contents: dict[Hashable, str] = {}
    for draft in drafts:
        first = keys.setdefault(draft.key, draft.place) if draft.key else draft.place
        if first != draft.place:
            twice = f"{came(draft.key)} is already the id of {first}"
            problems.append(Problem(f"{draft.place}, field id", twice))
        asked = content(draft)
        first = contents.setdefault(asked, draft.place) if asked else draft.place
        if first != draft.place:
            repeats = f"repeats the question of {first}{alike}"
            problems.append(Problem(f"{draft.place}, field question", repeats))
