"""Records of JSON, and of what is nearly JSON, wherever they stand in a text.

One pass from left to right that never goes back over what it read, so that the time is in
proportion to the text whatever it holds: brackets are kept on a stack of bounded depth. What cannot
be made sense of ends its own record alone; the next brace begins another one.
"""

from __future__ import annotations

import re

from proofstone.engines.triples.drafts import role_of
from proofstone.engines.triples.found import Fault, FoundTriple, Unread, UnreadWhy
from proofstone.engines.triples.frames import Frame, sorted_faults
from proofstone.engines.triples.texts import QUOTES, read_key, read_text

__all__ = ["RecordScan"]

_DEEPEST = 32
_OPENING = re.compile(r"[{\[]")
_BRACE = re.compile(r"[{}]")
_SPACE = re.compile(r"\s*")
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
    """The triples of all records of a text, with what was meant as one and is none.

    ``faults`` are those of the whole: an array that the end of the text cuts off. ``spans`` are the
    outermost brackets, ``empty_end`` the end of the last one that holds nothing.
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

    # ------------------------------------------------------------ from sign to sign

    def _scan(self) -> None:
        while self._at < len(self._text):
            if not self._stack:
                found = _OPENING.search(self._text, self._at)
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
        """Lets go of all that is open, and of the brackets that go on in its depth."""
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
        elif sign in ("{", "["):
            self._open_within(top)
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

    def _open_within(self, top: Frame) -> None:
        if top.expects == "value":
            self._open()
        else:
            top.broken = "no JSON"

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
        top.role, as_asked = role_of(key)
        if top.role is not None and not as_asked:
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
        """A number, date or word that stands without quotes and ends before the text does."""
        found = _BARE.match(self._text, self._at)
        if found is None or not _ENDS_VALUE.match(self._text, found.end()):
            return None
        if found.end() == len(self._text):
            top.broken = "cut off"
            return None
        if found["other"] is not None or found["word"] in ("None", "True", "False"):
            top.draft.faults.add("bare value")
        self._at = found.end()
        return found[0]

    def _leave_object(self, top: Frame, end: int) -> None:
        """Takes a record off the stack and tells what stands in it."""
        self._stack.pop()
        self._tell(top, end)
        self._was_within(top, end)

    def _tell(self, top: Frame, end: int) -> None:
        top.draft.why = top.broken or top.draft.why
        told, why = top.draft.finish()
        for spoken in told:
            faults = sorted_faults(spoken.faults | top.draft.faults)
            texts = (spoken.subject, spoken.predicate, spoken.object)
            self.triples.append(FoundTriple(*texts, start=top.start, end=end, faults=faults))
        is_record = not top.draft.is_empty or top.role is not None or top.broken == "cut off"
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
        if parent is not None and len(top.texts) == 3 and not top.nested:
            self._triple_of_array(top)
        self._was_within(top, self._at)

    def _triple_of_array(self, top: Frame) -> None:
        if all(text.strip() for text in top.texts):
            subject, predicate, said = top.texts
            faults = sorted_faults([*top.draft.faults, "array"])
            self.triples.append(FoundTriple(subject, predicate, said, top.start, self._at, faults))
            top.bore = True

    def _drop_array(self, why: UnreadWhy) -> None:
        """Lets go of an array that is none; within a record, that is its end too."""
        top = self._stack.pop()
        if self._stack and self._stack[-1].is_object:
            self._stack[-1].broken = why
        elif self._stack:
            self._stack[-1].nested = True
        if why == "no JSON":
            self._at = max(self._at, top.start + 1)

    # ------------------------------------------------------------ leaving brackets, and the end

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
        """What is open where the text ends: a record whose three texts are whole is told."""
        while self._stack:
            top = self._stack.pop()
            self.faults.add("cut off")
            if top.is_object:
                if not (top.expects == "comma" and top.draft.is_whole):
                    top.broken = top.broken or "cut off"
                top.draft.faults.add("cut off")
                self._tell(top, len(self._text))
            if not self._stack:
                self.spans.append((top.start, len(self._text)))
            else:
                self._stack[-1].bore = self._stack[-1].bore or top.bore
