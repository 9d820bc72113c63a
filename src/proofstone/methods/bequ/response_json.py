"""Parse records of JSON, also of malformed JSON, anywhere in a text.

One pass from left to right without backtracking takes time proportional to the text's length. Open
brackets are kept on a stack of bounded depth. A malformed record ends there; the next brace starts
another one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Literal, TypeGuard

from msgspec import Struct, structs

from proofstone.methods.bequ.records import Fault, FoundTriple, ReadTriples, Unread, UnreadWhy
from proofstone.methods.bequ.response_lines import RowScan

# Fast path: responses in the requested form, parsed by the JSON library.

_decoded = json.JSONDecoder(object_pairs_hook=tuple).raw_decode


_OPENING = re.compile(r"[ \t\n\r]*\[[ \t\n\r]*")


_NEXT = re.compile(r"[ \t\n\r]*([,\]])[ \t\n\r]*")


_KEYS = ("subject", "predicate", "object")


def read_as_asked(text: str) -> list[FoundTriple] | None:
    """Return the triples of a response that is a plain JSON array of objects with three texts.

    The result equals that of `RecordScan`. None for any other response, which `RecordScan` parses.
    """
    opened = _OPENING.match(text)
    if opened is None:
        return None
    found: list[FoundTriple] = []
    at, sign = opened.end(), ","
    while sign == ",":
        try:
            pairs, end = _decoded(text, at)
        except (ValueError, RecursionError):
            return None
        triple = _triple(pairs, at, end)
        following = _NEXT.match(text, end)
        if triple is None or following is None:
            return None
        found.append(triple)
        at, sign = following.end(), following[1]
    return found if at == len(text) else None


def _triple(pairs: object, start: int, end: int) -> FoundTriple | None:
    if not isinstance(pairs, tuple) or len(pairs) != len(_KEYS):
        return None
    said: dict[str, object] = dict(pairs)
    subject, predicate, value = (said.get(key) for key in _KEYS)
    if not (_is_whole(subject) and _is_whole(predicate) and _is_whole(value)):
        return None
    return FoundTriple(subject, predicate, value, start, end)


def _is_whole(text: object) -> TypeGuard[str]:
    """Return True for a non-empty text of valid characters."""
    if not isinstance(text, str) or not text.strip() or "\0" in text:
        return False
    return text.isascii() or not any("\ud800" <= sign <= "\udfff" for sign in text)


# An open object or array of malformed JSON.


class Frame:
    """Hold an open object or array.

    For an object, ``draft`` is its record and ``role`` the field whose value comes next. For an
    array, ``texts`` are its plain values.
    """

    __slots__ = (
        "after_comma", "bore", "broken", "draft", "expects", "is_object", "nested", "role",
        "start", "texts",
    )  # fmt: skip

    def __init__(self, sign: str, start: int) -> None:
        self.is_object = sign == "{"
        self.start = start
        self.expects: Literal["key", "colon", "value", "comma"] = (
            "key" if self.is_object else "value"
        )
        self.draft = Draft()
        self.role: Role | None = None
        self.texts: list[str] = []
        self.nested = False  # it contains another object or array
        self.bore = False  # it contains a triple
        self.after_comma = False
        self.broken: UnreadWhy | None = None

    @property
    def is_fresh(self) -> bool:
        """Return True if nothing inside the object was read yet."""
        return self.expects == "key" and self.role is None and not self.after_comma


def sorted_faults(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """Return the distinct faults in alphabetical order."""
    return tuple(sorted(set(faults)))


# A quoted text in valid or malformed JSON: its end and its value.
#
# Models leave inner quotes unescaped and forget closing quotes. So a quote closes a text only if
# the following characters can follow a text. If a line ends or another key starts before such a
# quote, the text is unclosed, and its end is not guessed.

QUOTES = {'"': '"', "'": "'", "“": "”"}


_KEY_LONGEST = 200


# A key with its colon, also if truncated at the end of the response or without the opening quote.
_KEY = (
    rf"""["'“](?:[^"'”\n]{{0,{_KEY_LONGEST}}}(?:["'”]\s*(?::|\Z)|\Z)"""
    r"""|(?:subject|predicate|object)["'”])"""
)


KEY_AHEAD = re.compile(rf"{_KEY}|[A-Za-z_]\w{{0,40}}\s*:")


_QUOTED_KEY = re.compile(_KEY)


_SPACE = re.compile(r"\s*")


_PLAIN = {close: re.compile(rf"[^{close}\\\n]*") for close in QUOTES.values()}


_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.?)", re.DOTALL)


_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "/": "/"}


_CONTROL = re.compile(r"[\x00-\x1f]")


class QuotedText(Struct, frozen=True, gc=False):
    """Hold a quoted text that ends before ``end``. If ``why`` is set there is no text, and parsing
    resumes at ``end``.
    """

    text: str
    end: int
    faults: tuple[Fault, ...] = ()
    why: UnreadWhy | None = None


def read_key(text: str, at: int) -> QuotedText:
    """Parse the key whose opening quote is at ``at``; it ends at the next quote of its line."""
    close = QUOTES[text[at]]
    end = at + 1
    while True:
        end = _plain_end(text, end, close)
        if end >= len(text):
            return QuotedText("", len(text), why="truncated")
        if text[end] == "\n":
            return QuotedText("", end, why="end not clear")
        if text[end] == close:
            return _texts_decoded(text[at + 1 : end], end + 1, set(), text[at])
        end += 2


def read_text(text: str, at: int, *, in_array: bool, is_strict: bool) -> QuotedText:
    """Parse the text whose opening quote is at ``at``.

    If the JSON is known to be valid (``is_strict``), it ends at the first unescaped quote.
    """
    close, faults = QUOTES[text[at]], set[Fault]()
    end = at + 1
    while True:
        end = _plain_end(text, end, close)
        if end >= len(text):
            return QuotedText("", len(text), why="truncated")
        sign = text[end]
        if sign == "\\":
            end += 2
        elif sign == "\n":
            line = _after_space(text, end)
            if text[line : line + 1] in ("{", "}", "]") or _QUOTED_KEY.match(text, line):
                return QuotedText("", end, why="end not clear")
            end = line
        elif is_strict or _closes(text, end + 1, in_array=in_array):
            return _texts_decoded(text[at + 1 : end], end + 1, faults, text[at])
        elif end > at + 1 and _QUOTED_KEY.match(text, end):
            return QuotedText("", _record_before(text, at + 1, end), why="end not clear")
        elif text.startswith((",", ":"), _after_space(text, end + 1)):
            # It looks like a closing quote, but the next characters contradict that.
            return QuotedText("", end + 1, why="end not clear")
        else:
            faults.add("inner quotes")
            end += 1


def _plain_end(text: str, at: int, close: str) -> int:
    found = _PLAIN[close].match(text, at)
    return len(text) if found is None else found.end()


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def _closes(text: str, after: int, *, in_array: bool) -> bool:
    """Return True if the characters after a quote can follow a closing quote."""
    at = _after_space(text, after)
    sign = text[at : at + 1]
    if sign in ("", "}", "]"):
        return True
    if sign == ",":
        at = _after_space(text, at + 1)
        next_sign = text[at : at + 1]
        return in_array or next_sign in ("", "}", "]", "{") or bool(KEY_AHEAD.match(text, at))
    # A comma or a brace is missing before the next key or record.
    return sign == "{" or (at > after and bool(_QUOTED_KEY.match(text, at)))


def _record_before(text: str, start: int, key: int) -> int:
    """Return the start of a key's record if its brace directly precedes the key, otherwise of the
    key.
    """
    at = key
    while at > start and text[at - 1].isspace():
        at -= 1
    return at - 1 if at > start and text[at - 1] == "{" else key


def _texts_decoded(raw: str, end: int, faults: set[Fault], quote: str) -> QuotedText:
    if quote != '"':
        faults.add("quotes")
    if _CONTROL.search(raw):
        faults.add("control characters")
    said = raw
    if "\\" in raw:
        said = _ESCAPE.sub(lambda found: _unescaped(found[1], faults), raw)
        try:  # surrogate pairs become one character; an unpaired surrogate is dropped
            said = said.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
        except UnicodeDecodeError:
            return QuotedText("", end, why="no text")
    if "\0" in said:
        return QuotedText("", end, why="no text")
    return QuotedText(said, end, tuple(sorted(faults)))


def _unescaped(sign: str, faults: set[Fault]) -> str:
    if len(sign) == 5:
        return chr(int(sign[1:], 16))
    if sign in _ESCAPED:
        return _ESCAPED[sign]
    faults.add("escapes")
    return sign if sign == "'" else f"\\{sign}"


_DEEPEST = 32


_SCANNING_OPENING = re.compile(r"[{\[]")


_BRACE = re.compile(r"[{}]")


_OPENINGS = re.compile(r"[\s{\[]*")


_BARE_KEY = re.compile(r"([A-Za-z_]\w{0,40})\s*(?=:)")


_BARE = re.compile(
    r"(?P<word>true|false|null|None|True|False)\b"
    r"|(?P<number>-?(?:0|[1-9]\d{0,400})(?:\.\d{1,400})?(?:[eE][-+]?\d{1,9})?)(?![\w.:/+-])"
    r"|(?P<other>[-+]?\d[\d.:/+TZ-]{0,100})(?!\w)"
)


_ENDS_VALUE = re.compile(r"\s*(?:[,}\]]|\Z)|\s*\n")


_NOTHING = ("null", "None")


class RecordScan:
    """Collect the triples of all records of a text, and the unparsed records.

    ``faults`` are those of the whole text, such as a truncated array. ``spans`` are the outermost
    brackets, ``empty_end`` the end of the last empty one.
    """

    def __init__(self, text: str, *, is_strict: bool) -> None:
        self._text = text
        self._is_strict = is_strict
        self._at = 0
        self._stack: list[Frame] = []
        self.triples: list[FoundTriple] = []
        self.unread: list[Unread] = []
        self.faults: set[Fault] = set()
        self.spans: list[tuple[int, int]] = []
        self.empty_end = -1
        self._scan()

    # ------------------------------------------------------------------------- scan

    def _scan(self) -> None:
        while self._at < len(self._text):
            if not self._stack:
                found = _SCANNING_OPENING.search(self._text, self._at)
                if found is None:
                    break
                self._at = found.start()
                self._open()
                continue
            top = self._stack[-1]
            pattern = _BRACE if top.broken else _SPACE
            sought = pattern.search(self._text, self._at)
            if sought is None:
                break
            self._at = sought.start() if top.broken else sought.end()
            if self._at < len(self._text):
                (self._in_object if top.is_object else self._in_array)(top, self._text[self._at])
        self._end()

    def _open(self) -> None:
        if len(self._stack) >= _DEEPEST:
            self._give_up()
            return
        self._stack.append(Frame(self._text[self._at], self._at))
        self._at += 1

    def _give_up(self) -> None:
        """Discard all open brackets, and those that would exceed the depth limit."""
        start = self._stack[0].start
        self._stack.clear()
        run = _OPENINGS.match(self._text, self._at)
        self._at = self._at + 1 if run is None else run.end()
        last = self.unread[-1] if self.unread else None
        if last is not None and last.why == "nested too deeply" and last.end == start:
            start = self.unread.pop().start
        self.unread.append(Unread(start, self._at, "nested too deeply"))
        self.spans.append((start, self._at))

    # ------------------------------------------------------------ objects

    def _in_object(self, top: Frame, sign: str) -> None:
        if sign == "}":
            self._close_object(top)
        elif sign == "{" and top.is_fresh:
            top.start, self._at = self._at, self._at + 1
        elif sign in ("{", "]") and (top.expects != "value" or top.broken):
            top.draft.faults.add("not closed")
            self._leave_object(top, self._at)
        elif sign in ("{", "[") and top.expects == "value":
            self._open()
        elif sign in ("{", "["):
            top.broken = "no JSON"
        elif sign in (",", ":"):
            self._separator(top, sign)
        elif sign in QUOTES:
            self._quoted(top, sign)
        else:
            self._bare(top)

    def _close_object(self, top: Frame) -> None:
        if top.expects in ("colon", "value"):
            top.broken = top.broken or "no JSON"
        if top.after_comma:
            top.draft.faults.add("commas")
        self._at += 1
        self._leave_object(top, self._at)

    def _separator(self, top: Frame, sign: str) -> None:
        self._at += 1
        if sign == ":" and top.expects == "colon":
            top.expects = "value"
        elif sign == ":" or top.expects == "colon":
            top.broken = "no JSON"
        else:
            if top.expects == "value" and top.role is not None:
                top.draft.add(top.role, ())
            if top.expects != "comma":
                top.draft.faults.add("commas")
            top.expects, top.after_comma = "key", True

    def _quoted(self, top: Frame, sign: str) -> None:
        if top.expects in ("key", "comma"):
            self._quoted_key(top, sign)
            return
        has_colon = top.expects == "value"
        if not has_colon and top.role is None:
            top.broken = "no JSON"
            return
        said = read_text(self._text, self._at, in_array=False, is_strict=self._is_strict)
        self._at = said.end
        if said.why is not None:
            top.broken = said.why
        elif not has_colon and said.faults:
            top.broken = "no JSON"
        else:
            top.draft.faults.update(said.faults if has_colon else ("colons",))
            self._valued(top, (said.text,))

    def _quoted_key(self, top: Frame, sign: str) -> None:
        said = read_key(self._text, self._at)
        self._at = said.end
        if said.why is not None:
            top.broken = said.why
            return
        if top.expects == "comma":
            top.draft.faults.add("commas")
        if sign != '"':
            top.draft.faults.add("quotes")
        self._named(top, said.text)

    def _named(self, top: Frame, key: str) -> None:
        top.role = _NAMED.get(key.strip().casefold())
        if top.role not in (None, key):
            top.draft.faults.add("keys")
        top.expects, top.after_comma = "colon", False

    def _valued(self, top: Frame, texts: tuple[str, ...]) -> None:
        if top.role is not None:
            top.draft.add(top.role, texts)
        top.expects = "comma"

    def _bare(self, top: Frame) -> None:
        if top.expects in ("key", "comma"):
            found = _BARE_KEY.match(self._text, self._at)
            if found is None:
                top.broken = "no JSON"
                return
            top.draft.faults.add("keys")
            if top.expects == "comma":
                top.draft.faults.add("commas")
            self._at = found.end()
            self._named(top, found[1])
            return
        value = self._bare_value(top) if top.expects == "value" else None
        if value is None:
            top.broken = top.broken or "no JSON"
        else:
            self._valued(top, () if value in _NOTHING else (value,))

    def _bare_value(self, top: Frame) -> str | None:
        """Parse a number, date or word without quotes that ends before the text does."""
        found = _BARE.match(self._text, self._at)
        if found is None or not _ENDS_VALUE.match(self._text, found.end()):
            return None
        if found.end() == len(self._text):
            top.broken = "truncated"
            return None
        if found["other"] is not None or found["word"] in ("None", "True", "False"):
            top.draft.faults.add("bare value")
        self._at = found.end()
        return found[0]

    def _leave_object(self, top: Frame, end: int) -> None:
        """Pop a record off the stack and emit its triple."""
        self._stack.pop()
        self._tell(top, end)
        self._was_within(top, end)

    def _tell(self, top: Frame, end: int) -> None:
        top.draft.why = top.broken or top.draft.why
        told, why = top.draft.finish()
        for texts, overlooked in told:
            faults = sorted_faults(overlooked | top.draft.faults)
            self.triples.append(FoundTriple(*texts, start=top.start, end=end, faults=faults))
        is_record = not top.draft.is_empty or top.role is not None or top.broken == "truncated"
        if why is not None and is_record and (told or not top.bore):
            self.unread.append(Unread(top.start, end, why))
        top.bore = top.bore or bool(told)

    # ------------------------------------------------------------ arrays

    def _in_array(self, top: Frame, sign: str) -> None:
        if sign == "]":
            self._at += 1
            self._leave_array(top)
        elif sign in ("{", "["):
            if top.expects == "comma":
                self.faults.add("commas")
            self._open()
        elif sign == ",":
            self._at += 1
            if top.expects == "value":
                self.faults.add("commas")
            top.expects, top.after_comma = "value", True
        elif sign in QUOTES:
            said = read_text(self._text, self._at, in_array=True, is_strict=self._is_strict)
            self._at = said.end
            if said.why is not None:
                self._drop_array(said.why)
                return
            self._element(top, said.text, said.faults)
        else:
            value = self._bare_value(top)
            if value is None:
                self._drop_array(top.broken or "no JSON")
                return
            self._element(top, value, ())

    def _element(self, top: Frame, text: str, faults: tuple[Fault, ...]) -> None:
        top.texts.append(text)
        top.draft.faults.update(faults)
        top.expects, top.after_comma = "comma", False

    def _leave_array(self, top: Frame) -> None:
        self._stack.pop()
        if top.after_comma:
            self.faults.add("commas")
        if not top.texts and not top.nested:
            self.empty_end = self._at
        parent = self._stack[-1] if self._stack else None
        if parent is not None and parent.is_object:
            parent.draft.faults.update(top.draft.faults)
            if parent.role is not None and top.nested:
                parent.draft.why = "nested value"
            parent.bore = parent.bore or top.bore
            self._valued(parent, tuple(top.texts))
            return
        is_triple = len(top.texts) == 3 and all(text.strip() for text in top.texts)
        if parent is not None and is_triple and not top.nested:
            faults = sorted_faults([*top.draft.faults, "array"])
            subject, predicate, said = top.texts
            self.triples.append(FoundTriple(subject, predicate, said, top.start, self._at, faults))
            top.bore = True
        self._was_within(top, self._at)

    def _drop_array(self, why: UnreadWhy) -> None:
        """Discard an array that is not one; inside a record, this also ends the record."""
        top = self._stack.pop()
        if self._stack and self._stack[-1].is_object:
            self._stack[-1].broken = why
        elif self._stack:
            self._stack[-1].nested = True
        if why == "no JSON":
            self._at = max(self._at, top.start + 1)

    # ------------------------------------------------------------ closing brackets, and the end

    def _was_within(self, closed: Frame, end: int) -> None:
        if not self._stack:
            self.spans.append((closed.start, end))
            return
        parent = self._stack[-1]
        parent.nested = True
        parent.bore = parent.bore or closed.bore
        if parent.is_object:
            if parent.role is not None:
                parent.draft.why = "nested value"
            parent.expects = "comma"
        else:
            parent.expects, parent.after_comma = "comma", False

    def _end(self) -> None:
        """Handle brackets open at the end of the text: a record with three complete texts is
        emitted.
        """
        while self._stack:
            top = self._stack.pop()
            self.faults.add("truncated")
            if top.is_object:
                if not (top.expects == "comma" and top.draft.is_whole):
                    top.broken = top.broken or "truncated"
                top.draft.faults.add("truncated")
                self._tell(top, len(self._text))
            if not self._stack:
                self.spans.append((top.start, len(self._text)))
            else:
                self._stack[-1].bore = self._stack[-1].bore or top.bore


# Responses as triples: JSON first, then malformed JSON, then lines. Nothing is guessed.

_FENCES = re.compile(r"```\w*")


_EMPTY_LIST = re.compile(r"\[\s*\]\s*")


def read_triples(text: str, *, names: Sequence[str] = (), is_cut: bool = False) -> ReadTriples:
    """Return the triples of a response with their positions, and its unparsed parts.

    ``names`` are those of the entity: they mark where the fields of a line begin, and never replace
    a missing subject. ``is_cut``: the response was truncated, so its last line may be incomplete.
    Lines are parsed only in a text without JSON records, since text before a record is often a
    draft of it. Takes time proportional to the text's length.
    """
    plain = read_as_asked(text)
    if plain is not None:
        return ReadTriples(tuple(plain))
    scan = RecordScan(text, is_strict=_is_json(text))
    if scan.triples or scan.unread:
        faults = scan.faults | _around(text, scan)
        triples = [_with(triple, faults) for triple in scan.triples]
        return ReadTriples(tuple(triples), tuple(scan.unread))
    rows = RowScan(text, names, is_cut=is_cut)
    if rows.triples or rows.unread:
        return ReadTriples(tuple(rows.triples), tuple(rows.unread))
    if _says_nothing(text, is_cut=is_cut):
        return ReadTriples(says_nothing=True)
    if not text.strip():
        return ReadTriples()
    return ReadTriples(unread=(Unread(0, len(text), "truncated" if is_cut else "no triple"),))


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _around(text: str, scan: RecordScan) -> set[Fault]:
    """Return faults in the response outside of its records."""
    first, last = scan.spans[0][0], scan.spans[-1][1]
    outside = [text[:first], text[last:]]
    outside += [text[a[1] : b[0]] for a, b in zip(scan.spans, scan.spans[1:], strict=False)]
    faults: set[Fault] = (
        {"text around"} if any(part.strip(" \n\r\t,") for part in outside) else set()
    )
    if len(scan.spans) > 1 or text[first] != "[":
        faults.add("no array")
    return faults


def _with(triple: FoundTriple, faults: set[Fault]) -> FoundTriple:
    if not faults:
        return triple
    return structs.replace(triple, faults=tuple(sorted({*triple.faults, *faults})))


def _says_nothing(text: str, *, is_cut: bool) -> bool:
    """Return True if the response is an empty list, or its last line is one."""
    plain = _FENCES.sub("", text).strip()
    last = plain.splitlines()[-1].strip() if plain else ""
    texts = (last.strip("`"), plain)
    return not is_cut and any(_EMPTY_LIST.fullmatch(text) for text in texts)


Role = Literal["subject", "predicate", "object"]


ROLES: tuple[Role, ...] = ("subject", "predicate", "object")


# Alternative field names used by knowledge bases; no other names are accepted.
_NAMED: dict[str, Role] = {
    **{role: role for role in ROLES},
    "property": "predicate",
    "relation": "predicate",
    "value": "object",
}


_MISSING: dict[Role, UnreadWhy] = {
    "subject": "no subject",
    "predicate": "no predicate",
    "object": "no object",
}


Spoken = tuple[tuple[str, str, str], frozenset[Fault]]  # a triple, and its recovery faults


class Draft:
    """Hold the keys of one record in order.

    If a key recurs with another value and the triple is complete, the next triple begins. It
    inherits the keys before the recurring one.
    """

    __slots__ = ("_told", "_values", "faults", "why")

    def __init__(self) -> None:
        self._values: dict[Role, tuple[str, ...]] = {}
        self._told: list[Spoken] = []
        self.faults: set[Fault] = set()
        self.why: UnreadWhy | None = None

    @property
    def is_whole(self) -> bool:
        """Return True if all three fields are present and valid."""
        return self.why is None and self._lacks() is None

    @property
    def is_empty(self) -> bool:
        """Return True if none of the three fields is present."""
        return not self._values and not self._told

    def add(self, role: Role, texts: tuple[str, ...]) -> None:
        """Add a key's value; several texts form a list, no text is an empty value."""
        if role not in self._values:
            self._values[role] = texts
            return
        self.faults.add("repeated key")
        if self._values[role] == texts:
            return
        if self._lacks() is not None:
            self.why = "repeated key"
            return
        self._told += self._spoken()
        order = list(self._values)
        for later in order[order.index(role) :]:
            del self._values[later]
        self._values[role] = texts

    def finish(self) -> tuple[list[Spoken], UnreadWhy | None]:
        """Return the triples of the record, and why its remainder is not a triple."""
        why = self.why or self._lacks()
        return (self._told, why) if why else ([*self._told, *self._spoken()], None)

    def _lacks(self) -> UnreadWhy | None:
        for role in ROLES:
            texts = self._values.get(role, ())
            if not texts or not all(text.strip() for text in texts):
                return _MISSING[role]
            if role != "object" and len(texts) > 1:
                return "nested value"
        return None

    def _spoken(self) -> list[Spoken]:
        (subject,), (predicate,), texts = (self._values[role] for role in ROLES)
        faults: frozenset[Fault] = frozenset([*self.faults, "list"] if texts[1:] else self.faults)
        return [((subject, predicate, text), faults) for text in texts]
