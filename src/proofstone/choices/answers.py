"""Find explicitly stated answers in a response: "The answer is (B)", "答案：B", "\\boxed{B}".

The last one counts, as a response may correct itself or continue with further questions. A
statement with several letters ("the answer is (A, B)") chooses none. A statement that no option
fits ("the answer is not listed") cancels earlier ones.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any, Literal

from msgspec import Struct

from proofstone.choices.options import (
    ANY_LETTER,
    CLAUSE_END,
    CLOSING,
    NEGATES,
    NOT_IN_WORD,
    OPENING,
    PAD,
    UPPER_LETTER,
    canonical,
    opens_roman_list,
)

# Answer phrases of languages other than English and Chinese.
#
# A language is a row: the words that announce an answer, what may separate such a word from the
# letter, and how a sentence says that a letter is correct. English and Chinese have more rules, in
# ``marks``. Every pattern is bounded or possessive.

_SIGNS = r"[:：=→>—–-]"


_LETTER = rf"{OPENING}{{0,4}}(?-i:{UPPER_LETTER})(?![A-Za-z0-9])"


class AnswerWords(Struct, frozen=True):
    """Answer words of one language, or of several whose words do not conflict.

    ``anchors`` are in lower case; ``ending`` is a possible inflection. ``states`` makes a statement
    of the words between anchor and letter, where ``between`` may also occur. ``is_right`` after a
    letter says that it is the answer, ``denies`` that it is not. ``further`` matches from the
    anchor through the sentence to a letter. ``before`` matches from a letter to the anchor, with
    its group ``right`` or with ``and_right`` after the anchor. ``answers`` are the anchors that
    mean an answer and not an option; ``opens`` may precede one that is directly followed by its
    letter. ``nothing`` says that no option fits. ``chooses`` are anchors that express a choice
    themselves: "I choose", "the right one is".
    """

    anchors: tuple[str, ...]
    ending: re.Pattern[str]
    forward: re.Pattern[str]
    states: re.Pattern[str]
    is_right: re.Pattern[str]
    denies: re.Pattern[str]
    further: re.Pattern[str]
    before: re.Pattern[str]
    and_right: re.Pattern[str]
    nothing: re.Pattern[str]
    answers: tuple[str, ...]
    opens: re.Pattern[str]
    chooses: frozenset[str]


def pattern_table(file: str, **shared: str) -> dict[str, dict[str, list[str]]]:
    """Return the rows of a table next to this module, by language.

    A row holds the parts of each pattern, or the words of a list. ``{NAME}`` is replaced by one of
    the row's ``parts``, or of those that are ``shared``.
    """
    table = tomllib.loads(files(__package__).joinpath(file).read_text(encoding="utf-8"))
    return {language: _pieces(row, shared) for language, row in table.items()}


def _pieces(row: dict[str, Any], shared: Mapping[str, str]) -> dict[str, list[str]]:
    parts = {**{name: "".join(part) for name, part in row.pop("parts", {}).items()}, **shared}

    def filled(text: str) -> str:
        for name, part in parts.items():
            text = text.replace(f"{{{name}}}", part)
        return text

    return {
        name: [filled(text) for text in ([said] if isinstance(said, str) else said)]
        for name, said in row.items()
    }


def _words(row: Mapping[str, Any]) -> AnswerWords:
    """Return a language from its row of the table."""
    listed = {name: tuple(row[name]) for name in ("anchors", "answers", "chooses")}
    said = {name: "".join(pieces) for name, pieces in row.items() if name not in listed}
    states = rf"(?:{_SIGNS}|{said['states']})"
    patterns = {
        "ending": said["ending"],
        "forward": rf"(?:{OPENING}|{states}|{said['between']}|[,،、】」』]){{0,20}}+"
        rf"(?P<letter>{ANY_LETTER}){NOT_IN_WORD}",
        "states": states,
        "is_right": rf"{CLOSING}{{0,4}}(?:{said['is_right']})",
        "denies": rf"{CLOSING}{{0,4}}(?:{said['denies']})",
        "further": rf"{said['further']}{OPENING}{{0,4}}(?P<letter>(?-i:{UPPER_LETTER}))"
        rf"(?:{CLAUSE_END}|(?=[ \t]?(?:です|である|입니다|이다|번)))",
        "before": r"(?<![A-Za-z0-9])(?<![A-Z][、,・とやか와과])(?<![A-Z][와과,、]\s)(?<!または)"
        rf"(?<!もし)(?<!또는\s)(?P<letter>(?-i:{UPPER_LETTER})){CLOSING}{{0,4}}(?:{said['before']})$",
        "and_right": said["and_right"],
        "opens": rf"(?:^|[\n.:：*#>。—–]|\b(?:{said['opens']})\b)[\s,،、*#_`]{{0,4}}$",
        "nothing": rf"(?:{OPENING}|{states}){{0,6}}+(?:{said['nothing']})",
    }
    return AnswerWords(
        anchors=listed["anchors"] + listed["chooses"],
        answers=listed["answers"],
        chooses=frozenset(listed["chooses"]),
        **{name: re.compile(text, re.IGNORECASE) for name, text in patterns.items()},
    )


_SENTENCE = r"(?:[^.!?\n]|[.!?](?=\S)){1,120}?"  # within the sentence


ANSWER_WORDS = tuple(
    map(_words, pattern_table("answer_words.toml", sentence=_SENTENCE, letter=_LETTER).values())
)


@lru_cache(maxsize=1)
def _by_anchor() -> dict[str, AnswerWords]:
    return {anchor: words for words in ANSWER_WORDS for anchor in words.anchors}


def words_of(anchor: str) -> AnswerWords | None:
    """Return the language of an anchor; None for those of English and Chinese only."""
    return _by_anchor().get(anchor)


# Anchor words where a response may state its answer, found from the end of the text.
#
# Plain substring search on a lower-cased copy is linear for any text. The number of anchors is
# limited, so a response that consists only of anchors costs no more.

# A response with more anchors than this is degenerate; the last ones count.
MOST_ANCHORS = 250


_ENGLISH = ("answer", "boxed", "option", "choice", "closest", "[[")


_CHINESE = ("答案", "选", "正确")


_OTHERS = tuple(
    anchor for words in ANSWER_WORDS for anchor in words.anchors if anchor not in _ENGLISH
)


_ASCII = _ENGLISH + tuple(anchor for anchor in _OTHERS if anchor.isascii())


_ALL = _ENGLISH + _CHINESE + _OTHERS


class Anchor(Struct, frozen=True):
    """An anchor word at [start, end) in the text."""

    word: str
    start: int
    end: int


def lowered(text: str) -> str:
    """Return ``text`` in lower case, with every character at the same position."""
    # The Turkish dotted capital I is the only character whose lower case is longer.
    if not text.isascii() and "\u0130" in text:
        text = text.replace("\u0130", "I")
    return text.lower()


def anchors_from_end(lower: str, words: Sequence[str] | None = None) -> Iterator[Anchor]:
    """Yield at most MOST_ANCHORS anchors of a text in lower case, last first.

    ``words`` are by default those of questions with options.
    """
    if words is None:
        words = _ASCII if lower.isascii() else _ALL
    last = [(place, word) for word in words if (place := lower.rfind(word)) >= 0]
    for _ in range(MOST_ANCHORS):
        if not last:
            return
        place, word = found = max(last)
        yield Anchor(word, place, place + len(word))
        last.remove(found)
        if (before := lower.rfind(word, 0, place)) >= 0:
            last.append((before, word))


class Mark(Struct, frozen=True):
    """A stated answer: its letter and position.

    ``letter`` is empty if the statement names ``several`` or says that ``none`` fits.
    """

    letter: str
    start: int
    says: Literal["one", "several", "none"] = "one"


# The text between anchor and letter may only hold these: a stating word and short words.
_STATES = r"(?:(?=[A-Za-z]{2})(?i:is|are|was|be)\b|[:：=→>—–-]|为|是)"


_BETWEEN = (
    r"(?:(?=[A-Za-z]{2})(?i:would|should|will|must|may|might|could|seems?|appears?|to|most|likely|probably|"
    r"therefore|thus|hence|so|clearly|simply|definitely|actually|indeed|option|choice|letter|"
    r"answer|the|best|correct|right|final|closest|one|as|follows|number)\b|"
    r"应该|应|就|选择|选项|选|项|择|最终|正确|的|可能)"
)


_FORWARD = re.compile(
    rf"(?:{OPENING}|[】」』]|{_STATES}|{_BETWEEN}|,){{0,20}}+(?P<letter>{ANY_LETTER}){NOT_IN_WORD}"
)


_STATED = re.compile(_STATES)


# "The answer that best reflects this is (A)": within the sentence, and only a plain letter.
_FURTHER = re.compile(
    r" ?(?:(?i:to|that|which|for|of|based|given|in|from|among|as|is)\b|[,(])"
    r"(?:[^.!?\n]|[.!?](?=\S)){1,120}?\b(?:is|be) (?:the )?(?:option |choice |answer )?"
    rf"(?:[*`$]{{0,3}}\((?P<inside>{UPPER_LETTER})\)|[*`]{{0,3}}(?P<letter>{UPPER_LETTER}){CLAUSE_END})"
)


# "(F) must be the correct answer", read backwards from the anchor.
_BEFORE = re.compile(
    rf"(?<![A-Za-z0-9])(?<!not )(?<!nor )(?<!not \()(?<!nor \()(?P<letter>{UPPER_LETTER})"
    rf"{CLOSING}{{0,4}} {{0,2}}(?:is|must be|would be|should be|will be) "
    r"(?:therefore |clearly |thus |likely |probably )?"
    r"(?:the|our|my) (?:only |most |single )?"
    r"(?:(?:correct|best|right|final|accurate|appropriate|closest|suitable) )?$"
)


_NOTHING = re.compile(
    rf"(?:{OPENING}|{_STATES}|(?:the|therefore|thus)\b){{0,12}}+"
    r"(?:(?i:none\b|not\s+(?:listed|in|among|given|provided|available|present|included|one|any|"
    r"possible|here|clear|shown|the\b|\()|cannot\b|can't|unknown|impossible|undetermined|n/a)|"
    r"无法|没有|都不|以上都不)"
)


# "Answer B" without a word between them is an answer only at the start of a clause.
_BEGINS = re.compile(
    r"(?:^|[\n.:：*#>]|\b(?i:or|is|be|final|correct|my|so|therefore))[\s,*#_`]{0,4}$"
)


_EXCLUDES = re.compile(r"[不别非排多单未]\s?$")


_CHOSEN = re.compile(r"(?:正确|最佳|最终|答案)的?$")


_LOWER_END = re.compile(
    r"[)\]}）】」』>]|[*_`\"'”’$]{0,4}+[ \t]{0,9}+(?:$|[\r\n,，;；。!！<]|\.(?![A-Za-z0-9]))"
)


_UPPER_END = re.compile(CLAUSE_END)


# Text may follow the words "A" and "I"; after the letters, only these forms.
_WORD_FOLLOWS = re.compile(r"[ \t]{1,9}+[A-Za-z\"“'*`$]")


_GOES_ON = re.compile(
    r"[ \t]{1,9}+(?i:because|since|as|is|and|or|which|due|but|based|given|according|"
    r"porque|ya|dado|debido|por|puesto|es|está|sería|y|o|car|parce|puisque|est|serait|et|ou|weil|da|denn|ist|und|oder|wäre|"
    r"pois|já|devido|é|seria|e)\b"
)


# Only after these may the letter be on the next line.
_OVER_LINES = frozenset({"boxed", "answer", "答案"})


# After a line break the letter may label the first line of a list, "each of the answers: / A. ...".
_LIST_GOES_ON = re.compile(r"[^\n]{0,400}\n\s{0,4}[*_(\[（-]{0,3}[A-Z][.．、:：)）\]]")


_OR_ANOTHER = re.compile(
    rf"{PAD}(?:(?:[,，、;/&+،]|(?i:and|or|y|o|u|e|et|ou|und|oder|и|или|또는|혹은)\b|"
    rf"[和或与及とか와과및و]|أو|나\s){PAD}){{1,2}}(?:(?i:option|choice)\s)?"
    rf"(?P<letter>{UPPER_LETTER}|(?<=[(（])[a-z](?=[)）])){NOT_IN_WORD}"
    r"(?![ \t]{1,9}+[a-z](?!nd\b|r\b|re\b|oth\b))"  # and, or, are, both
)


_RUN = re.compile(rf"(?:{OPENING}|{_STATES}|{_BETWEEN}){{0,20}}+(?P<run>[A-Z]{{2,10}}){CLAUSE_END}")


def last_mark(text: str, lower: str, letters: str) -> Mark | None:
    """Return the last stated answer of ``text``, or None.

    ``lower`` is the text in lower case, ``letters`` the labels of the options.
    """
    for anchor in anchors_from_end(lower):
        mark = mark_at(text, anchor, letters)
        if mark is not None:
            return mark
    return None


def mark_at(text: str, anchor: Anchor, letters: str) -> Mark | None:
    """Return the answer stated at one anchor, if any."""
    if anchor.word == "[[":
        return _double_bracket(text, anchor, letters)
    words = words_of(anchor.word)
    if words is not None:
        mark = _in_words(text, anchor, words, letters)
        if mark is not None or anchor.word != "option":  # shared with English
            return mark
    end = anchor.end
    if anchor.word == "answer" and text.startswith("s", end):
        end += 1
    match = _FORWARD.match(text, end)
    if match is not None and _states(text, anchor, match):
        mark = _letter_at(text, match.start("letter"), letters, boxed=anchor.word == "boxed")
        if mark is not None:
            return mark
    if anchor.word == "选":
        return _fits(text, anchor, letters)
    if anchor.word in {"answer", "option", "choice", "closest"}:
        mark = _around(text, anchor, end)
        if mark is not None:
            return mark
    return _no_single(text, end, letters) if anchor.word in {"answer", "答案"} else None


_DOUBLE = re.compile(
    r"[\s*_`\"']{0,4}(?P<letters>[A-Za-zＡ-Ｚ](?:[ ,;/&|]{1,3}[A-Z]){0,9})[\s*_`\"']{0,4}\]\]"
)


# Followed by "or [[B]]": the choice is open.
_OR_DOUBLE = re.compile(r"[\s*_`]{0,4}(?:,|/|\||(?i:and|or|vs\.?)\b)[\s*_`]{0,4}\[\[")


_DOUBLE_OR = re.compile(r"\]\][\s*_`]{0,4}(?:/|\||,?\s?(?i:and|or|vs\.?)\b|,)[\s*_`]{0,4}$")


_INDEXED = re.compile(r"[A-Za-z0-9_\])\[]$")


def _double_bracket(text: str, anchor: Anchor, letters: str) -> Mark | None:
    """Return ``[[B]]`` anywhere, except an index such as x[[B]] and excluded options."""
    match = _DOUBLE.match(text, anchor.end)
    before = text[max(0, anchor.start - 24) : anchor.start]
    if match is None or _INDEXED.search(before) or NEGATES.search(before):
        return None
    named = [letter for letter in match["letters"] if letter.isalpha()]
    if len(named) > 1 or _OR_DOUBLE.match(text, match.end()) or _DOUBLE_OR.search(before):
        return Mark("", match.start("letters"), "several")
    letter = canonical(named[0])
    if named[0].islower() and letter not in letters:
        return None
    return Mark(letter, match.start("letters"))


def _in_words(text: str, anchor: Anchor, words: AnswerWords, letters: str) -> Mark | None:
    """Return the answer at an anchor of a language other than English or Chinese, if any."""
    ending = words.ending.match(text, anchor.end)
    is_within = anchor.word[0] < "\u0590" and text[anchor.start - 1 : anchor.start].isalpha()
    if ending is None or is_within:  # "incorrecta" is not "correcta"
        return None
    end = ending.end()
    match = words.forward.match(text, end)
    if match is not None and not _lists(text, anchor, end, match, words):
        mark = _letter_at(text, match.start("letter"), letters, boxed=False)
        after = match.end("letter")
        is_said = words.states.search(text, end, match.start("letter")) is not None
        is_right = words.is_right.match(text, after) is not None
        is_clause = anchor.word in words.answers and _at_once(text, anchor, end, match, words)
        is_chosen = anchor.word in words.chooses and _is_choice(text, anchor, after)
        if mark is not None and words.denies.match(text, after):
            return None
        if mark is not None and (is_said or is_right or is_clause or is_chosen):
            return mark
    match = words.further.match(text, end)
    if match is not None:
        letter = canonical(match["letter"])
        several = _names_another(text, letter, match.end("letter"))
        return Mark(
            "" if several else letter, match.start("letter"), "several" if several else "one"
        )
    match = words.before.search(text, max(0, anchor.start - 60), anchor.start)
    if match is not None and (
        match.groupdict().get("right") or words.and_right.match(text, anchor.end)
    ):
        return Mark(canonical(match["letter"]), match.start("letter"))
    return Mark("", end, "none") if words.nothing.match(text, end) else None


# Cancels the choice in "I choose B": a negation or a hypothetical.
_NO_CHOICE = re.compile(
    r"(?:(?:\b(?:no|ne|não|non|ни|не)|لا|لن)(?:\s(?:me|se|la|le|yo|eu))?\s?|"
    r"(?:\b(?:si|wenn|falls|se|если|quand|cuando|quando|if|whether)\b|إذا|لو)[^.,;،\n]{0,14})$",
    re.IGNORECASE,
)


_AND_OTHERS = re.compile(rf"{PAD}(?:y|o|e|et|ou|und|oder|и|или)\s{PAD}{UPPER_LETTER}{NOT_IN_WORD}")


_AFTER_CHOICE = re.compile(
    r"[\s)*_\]]{0,4}(?:です|である|だと?[考思]|だ[。\n]|と[考思]|입니다|이다|번|لأن|بسبب|حيث|إذ)"
)


def _is_choice(text: str, anchor: Anchor, after: int) -> bool:
    """Return True if the words express a real choice and end with the letter."""
    if _NO_CHOICE.search(text, max(0, anchor.start - 24), anchor.start):
        return False
    if _AND_OTHERS.match(text, after):
        return False
    ends = (_UPPER_END, _GOES_ON, _AFTER_CHOICE)
    return any(end.match(text, after) is not None for end in ends)


# "A) ... B) ...": a list of the options, not a statement of the first.
_OPTIONS_AGAIN = re.compile(r"[)\].:：、．）][\s\S]{1,400}?(?<![A-Za-z])B[)\].:：、．）]")


def _lists(text: str, anchor: Anchor, end: int, match: re.Match[str], words: AnswerWords) -> bool:
    """Return True if the letter labels an option of a list that the anchor introduces."""
    is_answer = anchor.word in words.answers
    if end > anchor.end and text[anchor.end : end] in {"s", "es"} and not is_answer:
        return True
    if "\n" in text[end : match.start("letter")] and (
        not is_answer or _LIST_GOES_ON.match(text, match.end())
    ):
        return True
    is_first = text[match.start("letter")] in "AaＡ"
    return is_first and _OPTIONS_AGAIN.match(text, match.end("letter")) is not None


def _at_once(text: str, anchor: Anchor, end: int, match: re.Match[str], words: AnswerWords) -> bool:
    """Return True if an answer word directly followed by a letter is a clause: "Antwort C." """
    if text[end : match.start("letter")].strip(" \n*_`([（"):
        return False
    if _UPPER_END.match(text, match.end("letter")) is None:
        return False
    if text[match.end("letter") : match.end("letter") + 2].lstrip("*_` ").startswith((":", "：")):
        return False  # "Antwort B: ..." discusses the options
    return words.opens.search(text[max(0, anchor.start - 24) : anchor.start]) is not None


def _no_single(text: str, end: int, letters: str) -> Mark | None:
    """Return a statement that no option fits, or of adjacent letters: "答案：ABD"."""
    if _NOTHING.match(text, end):
        return Mark("", end, "none")
    match = _RUN.match(text, end)
    if match is None or not _STATED.search(text, end, match.start("run")):
        return None
    run = match["run"]
    if all(letter in letters for letter in run) and list(run) == sorted(set(run)):
        return Mark("", match.start("run"), "several")
    return None


def _states(text: str, anchor: Anchor, match: re.Match[str]) -> bool:
    """Return True if the text between anchor and letter makes it a statement."""
    broken = text.find("\n", anchor.end, match.end()) >= 0
    if broken and (anchor.word not in _OVER_LINES or _LIST_GOES_ON.match(text, match.end())):
        return False
    if anchor.word in {"boxed", "答案"}:
        return True
    before = text[max(0, anchor.start - 24) : anchor.start]
    if anchor.word == "选":
        return _chooses(text, anchor, before)
    stated = _STATED.search(text, anchor.end, match.start("letter")) is not None
    return stated or (anchor.word == "answer" and _answers_at_once(text, anchor, match, before))


def _chooses(text: str, anchor: Anchor, before: str) -> bool:
    """Return True if 选 expresses a choice: not an exclusion, and not the noun 选项."""
    if _EXCLUDES.search(before):
        return False
    if not text.startswith("项", anchor.end):
        return True
    return _CHOSEN.search(before) is not None or text[anchor.end + 1 :][:1] in {"是", "为"}


# "A选项符合题意": the letter before the word, and the statement after it.
_BEFORE_OPTION = re.compile(
    rf"(?<![A-Za-z0-9])(?<![A-Z][、，,和与或])(?P<letter>{UPPER_LETTER}){CLOSING}{{0,4}}$"
)


_FITS = re.compile(r"项(?:最)?(?:符合题意|符合要求|当选|恰当|合适)")


def _fits(text: str, anchor: Anchor, letters: str) -> Mark | None:
    """Return an option that is said to meet the question's condition."""
    if not _FITS.match(text, anchor.end):
        return None
    match = _BEFORE_OPTION.search(text, max(0, anchor.start - 8), anchor.start)
    if match is None or match["letter"] not in letters:
        return None
    return Mark(match["letter"], match.start("letter"))


def _answers_at_once(text: str, anchor: Anchor, match: re.Match[str], before: str) -> bool:
    """Return True if "answer" directly followed by a letter is a clause: "Answer (C)." """
    if _BEGINS.search(before) is None or _UPPER_END.match(text, match.end()) is None:
        return False
    return not text[anchor.end : match.start("letter")].strip(" \n*_`([（")


def _letter_at(text: str, start: int, letters: str, *, boxed: bool) -> Mark | None:
    """Return the letter at ``start`` as a mark, unless it is a word, a formula or a Roman
    numeral.
    """
    raw = text[start]
    end = start + 1
    if not ends_as_letter(text, raw, end):
        return None
    letter = canonical(raw)
    if raw in "IVXivx" and opens_roman_list(text, start):
        return None
    if letter not in letters and (text.startswith("$", end) or (boxed and raw != letter)):
        return None  # a variable, $x$
    if boxed and not _UPPER_END.match(text, end):
        return None
    # Nothing may follow a last character.
    if len(text) - end >= 2 and _names_another(text, letter, end):
        return Mark("", start, "several")
    return Mark(letter, start)


def ends_as_letter(text: str, raw: str, end: int) -> bool:
    """Return True if ``raw`` is a letter here rather than the word "a", "A" or "I"."""
    if raw.islower():
        return _LOWER_END.match(text, end) is not None or _OR_ANOTHER.match(text, end) is not None
    if raw in "AI" and _WORD_FOLLOWS.match(text, end):
        return _GOES_ON.match(text, end) is not None
    return True


def _names_another(text: str, letter: str, end: int) -> bool:
    """Return True if a list continues here with a letter other than ``letter``."""
    match = _OR_ANOTHER.match(text, end)
    return match is not None and canonical(match["letter"]) != letter


# "Option (G) is the one that fits".
_THE_ONE = re.compile(
    rf"{OPENING}{{1,4}}(?P<letter>{UPPER_LETTER}){CLOSING}{{0,4}} is the (?:only )?"
    r"(?:one|option|choice) (?:that|which) "
    r"(?:fits|matches|holds|works|applies|satisfies|agrees|describes)\b"
)


def _around(text: str, anchor: Anchor, end: int) -> Mark | None:
    """Return an answer stated later in the sentence, or before the anchor."""
    match = _THE_ONE.match(text, end)
    if match is not None and not _NO_CHOICE.search(text, max(0, anchor.start - 24), anchor.start):
        return Mark(canonical(match["letter"]), match.start("letter"))
    match = _FURTHER.match(text, end)
    if match is not None:
        name = "inside" if match["inside"] else "letter"
        letter = canonical(match[name])
        several = _names_another(text, letter, match.end(name))
        return (
            Mark("", match.start(name), "several") if several else Mark(letter, match.start(name))
        )
    window = max(0, anchor.start - 80)
    match = _BEFORE.search(text, window, anchor.start)
    if match is not None:
        return Mark(canonical(match["letter"]), match.start("letter"))
    return None


# The last line of a response with content, without generation artifacts.

# Only this many characters of a longer line are read.
LONGEST_LINE = 4096


# A longer stretch of markup and white space ends the search.
_LONGEST_MARKUP = 16_384


_MARKUP = " \t\r\n\f\v\u3000*_`#~|=+-—>.。,，;；:：!！?？\"'“”’()（）[]【】{}$\\/"


_END_TOKEN = re.compile(r"<\|?/?[A-Za-z_]{1,16}$")


class Line(Struct, frozen=True):
    """A line of a text and the position of its first character."""

    text: str
    start: int
    whole: bool = True


def last_line(text: str) -> Line:
    """Return the last line with a letter or digit, at most its last 4,096 characters."""
    said = _without_end_tokens(text)
    start = text.rfind("\n", 0, said) + 1
    stop = text.find("\n", said)
    stop = len(text) if stop < 0 else stop
    stop = min(stop, said + LONGEST_LINE)
    whole = stop - start <= LONGEST_LINE
    start = start if whole else stop - LONGEST_LINE
    return Line(text[start:stop], start, whole)


def _without_end_tokens(text: str) -> int:
    """Return where the text ends without markup, closing tags and end-of-text tokens."""
    said = _said_until(text, len(text))
    for _ in range(4):
        match = _END_TOKEN.search(text, max(0, said - 20), said)
        if match is None or text[said : said + 1] not in {">", "|"}:
            break
        said = _said_until(text, match.start())
    return said


def _said_until(text: str, stop: int) -> int:
    """Return the end of the last character before ``stop`` that is not markup."""
    begin = max(0, stop - _LONGEST_MARKUP)
    return begin + len(text[begin:stop].rstrip(_MARKUP))


def first_line(text: str) -> Line:
    """Return the first line with a letter or digit, at most its start."""
    head = text[:_LONGEST_MARKUP]
    start = len(head) - len(head.lstrip(_MARKUP))
    stop = text.find("\n", start, start + LONGEST_LINE)
    begin = text.rfind("\n", 0, start) + 1
    begin = max(begin, start - 16)
    return Line(text[begin : start + LONGEST_LINE if stop < 0 else stop], begin)


# Letters without an anchor: in brackets, "(B)", or bare, "B", "B. text", "option B".
#
# Each rule needs a letter in the position of an answer (alone, labeling the line, ending the
# sentence, or named as the option). It applies only if no other letter is in such a position.

# Except on that line, letters without an anchor are searched only at the end of a text.
WINDOW = 16_384


# A conclusion fits into this many characters at the end of a line.
LAST_WORDS = 400


class Lone(Struct, frozen=True):
    """A letter that is an answer by its position."""

    letter: str
    tier: Literal["bracketed", "bare"]


_NAMED = (
    r"(?:(?i:option|choice|answer|opci[oó]n|opç[aã]o|letra|lettre|вариант|الخيار)[ \t]|"
    r"选项?|選択肢|선택지[ \t]?|보기[ \t]?)?"
)


_ALONE = re.compile(
    rf"{OPENING}{{0,12}}+{_NAMED}(?P<letter>{ANY_LETTER})(?![A-Za-z0-9])[.。,，:：;；!]?"
    rf"{CLOSING}{{0,12}}+[.。]?\s*$"
)


_LINE_ALONE = re.compile(
    rf"^[ \t*_`#>$-]{{0,8}}(?:(?P<bare>{UPPER_LETTER})|"
    rf"[(\[（【](?P<inside>{UPPER_LETTER})[)\]）】])"
    r"[.。)*_`$]{0,6}[ \t]{0,4}$",
    re.MULTILINE,
)


_BRACKETED = re.compile(
    rf"(?<![A-Za-z0-9_^\\}}\])\[])[(\[（［【「『][*\s`]{{0,3}}{_NAMED}"
    rf"(?P<letter>{UPPER_LETTER})[*\s`]{{0,3}}[)\]）］】」』]"
)


# A word that introduces a letter, and what may follow a letter that ends its sentence.
_LEADS = re.compile(r"(?i:\b(?:is|be|option|choice|answer)|[:：是为选])[\s*_`]{0,3}$")


_ENDS = re.compile(r"[*_`\"'”’ \t]{0,4}[.。!！]?[*_`\"'”’)\]）】 \t]{0,4}(?:$|[\r\n<])")


_LISTED = re.compile(r"[A-Z][)\]）】]\s?(?:[,，、;/&]|\b(?:and|or)\b|[和或与及])[\s\w]{0,6}$")


_LIST_FOLLOWS = re.compile(
    r"[*_`]{0,3}\s?(?:[,，、;/&]|(?:and|or|y|o|et|ou|und|oder|e|и|или)\b|[和或与及])\s?"
    r"[*_`]{0,3}[(\[（【][A-Z][)\]）】]"
)


_TWO_NAMED = re.compile(
    r"\W{0,8}[A-Z]\W{1,4}(?:(?:and|or|y|et|und|e|и)\W{1,4}|[,、]\W{0,3})[A-Z]\W"
)


_DENIED = re.compile(
    r"[\s)\]）】*_`]{0,4}(?:(?i:(?:is|was) (?:not|incorrect|wrong|false)|isn't)|"
    r"(?:选项|项)?(?:是|为)?(?:不正确|错误|不对))"
)


_LABELS = re.compile(
    rf"[\s*_`#>-]{{0,8}}+{_NAMED}[*_`(\[（【]{{0,3}}(?P<letter>{UPPER_LETTER})"
    r"(?:[*_`]{0,3}[.．、:：)）\]】])[*_`]{0,3}(?:\s|[^\x00-\x7f]|$)"
)


_ENUMERATES = re.compile(
    rf"^[ \t*_`#>(\[（【-]{{0,8}}{_NAMED}([A-Z]|[IVX]{{2,4}})[*_`]{{0,3}}[.．、:：)）\]】]",
    re.MULTILINE,
)


_CUED = (
    # "... corresponds to option G.", "option G is correct"
    re.compile(
        rf"(?:(?i:\b(?:option|choice|answer)\s)|选项?)[*_`(\[\"]{{0,4}}(?P<letter>{UPPER_LETTER})"
        rf"{NOT_IN_WORD}(?={CLOSING}{{0,4}}(?:[.。!]?\s*$|\s?(?:(?i:is|must be|would be)\s"
        r"(?i:the\s)?(?i:correct|right|true|best|accurate|most)\b|(?:是|为)?(?:最)?正确)))"
    ),
    # "B is correct", "B项正确"
    re.compile(
        rf"(?<![A-Za-z0-9])(?P<letter>{UPPER_LETTER}){NOT_IN_WORD}{CLOSING}{{0,3}}"
        r"(?=(?:选项|项)?(?:是|为)?(?:最)?正确|(?i:is (?:the )?(?:correct|right|best)\b))"
    ),
    # "Therefore, it must be B."
    re.compile(
        r"(?:(?i:\b(?:(?:it|that|this|which|one|solution|result|pick)\s"
        r"(?:is|must be|should be|would be)|"
        r"(?:must|should|would|has to|have to) be|therefore|thus|so|hence|choose|select|pick|"
        r"(?:go|going|stick|stay) with|would say|(?:it|that|here)['’]s)\b)|[→:：是为选])"
        rf"[,，\s*_`\"]{{0,4}}(?P<letter>{UPPER_LETTER}){NOT_IN_WORD}(?=[*_`\"]{{0,4}}[.。!]?\s*$)"
    ),
)


def enumerates(text: str) -> bool:
    """Return True if lines at the text's end have different letter labels: a list of options."""
    return len({label for label, _ in _labelled_lines(text[-WINDOW:])}) > 1


def label_and_line(text: str) -> tuple[str, str] | None:
    """Return the last label that opens a line at the text's end, and the rest of that line."""
    tail = text[-WINDOW:]
    found = _labelled_lines(tail)
    return (found[-1][0], tail[found[-1][1] :].partition("\n")[0]) if found else None


@lru_cache(maxsize=1)
def _labelled_lines(tail: str) -> list[tuple[str, int]]:
    """Return the labels that open lines, and where each ends. Cached: several rules use it."""
    return [(match[1], match.end()) for match in _ENUMERATES.finditer(tail)]


def lone_in_line(line: Line, text: str, letters: str, *, stated: bool) -> Lone | None:
    """Return the one letter that the last line gives without an anchor, or None.

    ``text`` is the whole text and ``letters`` the labels of the options. If the text has a
    ``stated`` answer, only a line with nothing but a letter overrides it.
    """
    alone = _alone(line, letters)
    if alone is not None:
        before = _alone(last_line(text[: line.start]), letters)
        return None if before is not None and before.letter != alone.letter else alone
    if stated:
        return None
    listed = enumerates(text)
    return (
        _only(_bracketed(line.text, listed), "bracketed")
        or (None if listed else _label(line))
        or _only(_cued(line.text[-LAST_WORDS:]), "bare")
    )


def lone_in_text(text: str, letters: str) -> Lone | None:
    """Return the one letter that the text gives without an anchor, or None.

    The text opens with it, or its end has one such letter and no other.
    """
    line = first_line(text)
    tail = text[-WINDOW:]
    lines = [match["bare"] or match["inside"] for match in _LINE_ALONE.finditer(tail)]
    alone = _alone(line, letters)
    if alone is not None or lines:
        return _only([*lines, *([alone.letter] if alone else [])], "bare")
    listed = enumerates(text)
    in_brackets = {match["letter"] for match in _BRACKETED.finditer(tail)}
    return (None if listed else _label(line)) or (
        _only(_bracketed(tail, listed), "bracketed") if len(in_brackets) == 1 else None
    )


def _only(letters: Iterable[str], tier: Literal["bracketed", "bare"]) -> Lone | None:
    """Return the letter if all of ``letters`` are the same."""
    found = set(map(canonical, letters))
    return Lone(found.pop(), tier) if len(found) == 1 else None


def _alone(line: Line, letters: str) -> Lone | None:
    """Return the letter of a line without other content; a lower-case one only if it is an
    option.
    """
    match = _ALONE.match(line.text) if line.whole else None
    if match is None or (match["letter"].islower() and canonical(match["letter"]) not in letters):
        return None
    if line.text.count("(") > line.text.count(")"):
        return None  # truncated: "(D" opens the next line of a list
    before = line.text[: match.start("letter")].rstrip("*_`$ \t")
    return Lone(canonical(match["letter"]), "bracketed" if before[-1:] in _OPENERS else "bare")


_OPENERS = tuple("([（［【「『")


def _bracketed(text: str, listed: bool) -> Iterator[str]:
    """Yield letters in brackets that end a sentence, are introduced, or open a line outside
    lists.
    """
    for match in _BRACKETED.finditer(text):
        before = text[max(0, match.start() - 24) : match.start()]
        if NEGATES.search(before) or _DENIED.match(text, match.end()):
            continue
        if (
            _LISTED.search(before)
            or _LIST_FOLLOWS.match(text, match.end())
            or opens_roman_list(text, match.start("letter"))
        ):
            continue
        opens = not listed and not before.rpartition("\n")[2].strip(" \t*_`#>-")
        if opens or _ENDS.match(text, match.end()) or _LEADS.search(before):
            yield match["letter"]


def _label(line: Line) -> Lone | None:
    """Return the letter that labels the line: "F. 4 x m = 12"."""
    match = _LABELS.match(line.text) if line.whole else None
    # "A:" usually introduces an answer, and "I." or "A." a name, rather than labeling an option.
    if match is None or line.text[match.start("letter") :][:2] == "A:":
        return None
    if _TWO_NAMED.match(line.text):
        return None  # "[A] and [B] are ..."
    return Lone(canonical(match["letter"]), "bare")


def _cued(text: str) -> Iterator[str]:
    """Yield letters that the line's words mark as the answer."""
    for pattern in _CUED:
        for match in pattern.finditer(text):
            before = text[max(0, match.start("letter") - 24) : match.start("letter")]
            if not NEGATES.search(before) and not _DENIED.match(text, match.end()):
                yield match["letter"]
