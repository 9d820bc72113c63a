"""Answers that a reply states in so many words: "The answer is (B)", "答案：B", "\\boxed{B}".

The last one decides: a reply that corrects itself, or goes on to questions nobody asked, ends with
what it stands by. One that names several letters at once ("the answer is (A, B)") names none, and
one that says no option fits ("the answer is not listed") takes back what was stated before.
"""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

from proofstone.engines.choices.anchors import Anchor, anchors_from_end
from proofstone.engines.choices.answer_words import AnswerWords, words_of
from proofstone.engines.choices.letters import (
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

__all__ = ["Mark", "last_mark"]


class Mark(Struct, frozen=True):
    """A stated answer: its letter and where the letter stands.

    ``letter`` is empty where the statement names ``several`` or says that ``none`` fits.
    """

    letter: str
    start: int
    says: Literal["one", "several", "none"] = "one"


# Between the anchor and the letter only these may stand: a word that states, and small words.
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
# "The answer that best reflects this is (A)": within the sentence, and then only a plain letter.
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

# "Answer B", with nothing between, states an answer only where a clause begins with it.
_BEGINS = re.compile(
    r"(?:^|[\n.:：*#>]|\b(?i:or|is|be|final|correct|my|so|therefore))[\s,*#_`]{0,4}$"
)
_EXCLUDES = re.compile(r"[不别非排多单未]\s?$")
_CHOSEN = re.compile(r"(?:正确|最佳|最终|答案)的?$")

_LOWER_END = re.compile(
    r"[)\]}）】」』>]|[*_`\"'”’$]{0,4}+[ \t]{0,9}+(?:$|[\r\n,，;；。!！<]|\.(?![A-Za-z0-9]))"
)
_UPPER_END = re.compile(CLAUSE_END)
# After the words "A" and "I" the sentence may go on; after the letters, only like this.
_WORD_FOLLOWS = re.compile(r"[ \t]{1,9}+[A-Za-z\"“'*`$]")
_GOES_ON = re.compile(
    r"[ \t]{1,9}+(?i:because|since|as|is|and|or|which|due|but|based|given|according|"
    r"porque|ya|dado|debido|por|puesto|es|está|sería|y|o|car|parce|puisque|est|serait|et|ou|weil|da|denn|ist|und|oder|wäre|"
    r"pois|já|devido|é|seria|e)\b"
)

# Only these may have their letter on the next line.
_OVER_LINES = frozenset({"boxed", "answer", "答案"})
# After a line break the letter may label the first line of a list, "each of the answers: / A. ...".
_LIST_GOES_ON = re.compile(r"[^\n]{0,400}\n\s{0,4}[*_(\[（-]{0,3}[A-Z][.．、:：)）\]]")

_OR_ANOTHER = re.compile(
    rf"{PAD}(?:(?:[,，、;/&+،]|(?i:and|or|y|o|u|e|et|ou|und|oder|и|или|또는|혹은)\b|"
    rf"[和或与及とか와과및و]|أو|나\s){PAD}){{1,2}}(?:(?i:option|choice)\s)?"
    rf"(?P<letter>{UPPER_LETTER}|(?<=[(（])[a-z](?=[)）])){NOT_IN_WORD}"
    r"(?![ \t]{1,9}+[a-z](?!nd\b|r\b))"
)
_RUN = re.compile(rf"(?:{OPENING}|{_STATES}|{_BETWEEN}){{0,20}}+(?P<run>[A-Z]{{2,10}}){CLAUSE_END}")


def last_mark(text: str, lower: str, letters: str) -> Mark | None:
    """The last stated answer of ``text``, or None. ``lower`` is the text in lower case, ``letters``
    the labels of the options."""
    for anchor in anchors_from_end(lower):
        mark = _mark_at(text, anchor, letters)
        if mark is not None:
            return mark
    return None


def _mark_at(text: str, anchor: Anchor, letters: str) -> Mark | None:
    """What one anchor states, if anything."""
    if anchor.word == "[[":
        return _double_bracket(text, anchor, letters)
    words = words_of(anchor.word)
    if words is not None:
        mark = _in_words(text, anchor, words, letters)
        if mark is not None or anchor.word != "option":  # which English has, too
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
# "or [[B]]" behind one: a choice that is still open.
_OR_DOUBLE = re.compile(r"[\s*_`]{0,4}(?:,|/|\||(?i:and|or|vs\.?)\b)[\s*_`]{0,4}\[\[")

_DOUBLE_OR = re.compile(r"\]\][\s*_`]{0,4}(?:/|\||,?\s?(?i:and|or|vs\.?)\b|,)[\s*_`]{0,4}$")
_INDEXED = re.compile(r"[A-Za-z0-9_\])\[]$")


def _double_bracket(text: str, anchor: Anchor, letters: str) -> Mark | None:
    """``[[B]]``, wherever it stands, but for an index, x[[B]], and what is ruled out."""
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
    """What an anchor of another language than English or Chinese states, if anything."""
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


# What makes no choice of "I choose B": a denial, and a case that is only thought of.
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
    """Whether words that choose are meant so, and the letter behind them ends what is chosen."""
    if _NO_CHOICE.search(text, max(0, anchor.start - 24), anchor.start):
        return False
    if _AND_OTHERS.match(text, after):
        return False
    ends = (_UPPER_END, _GOES_ON, _AFTER_CHOICE)
    return any(end.match(text, after) is not None for end in ends)


# "A) ... B) ...": the options again, and no statement of the first.
_OPTIONS_AGAIN = re.compile(r"[)\].:：、．）][\s\S]{1,400}?(?<![A-Za-z])B[)\].:：、．）]")


def _lists(text: str, anchor: Anchor, end: int, match: re.Match[str], words: AnswerWords) -> bool:
    """Whether the letter labels an option of a list that the anchor introduces."""
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
    """Whether an answer word and a letter, with nothing between, are a clause: "Antwort C." """
    if text[end : match.start("letter")].strip(" \n*_`([（"):
        return False
    if _UPPER_END.match(text, match.end("letter")) is None:
        return False
    if text[match.end("letter") : match.end("letter") + 2].lstrip("*_` ").startswith((":", "：")):
        return False  # "Antwort B: ..." goes through the options
    return words.opens.search(text[max(0, anchor.start - 24) : anchor.start]) is not None


def _no_single(text: str, end: int, letters: str) -> Mark | None:
    """A statement that no option fits, or of letters written together: "答案：ABD"."""
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
    """Whether what stands between anchor and letter makes it a statement."""
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
    """Whether 选 is said of a choice made: not excluded, and not the noun 选项 in passing."""
    if _EXCLUDES.search(before):
        return False
    if not text.startswith("项", anchor.end):
        return True
    return _CHOSEN.search(before) is not None or text[anchor.end + 1 :][:1] in {"是", "为"}


# "A选项符合题意": the letter before the word, what is said of it behind.
_BEFORE_OPTION = re.compile(
    rf"(?<![A-Za-z0-9])(?<![A-Z][、，,和与或])(?P<letter>{UPPER_LETTER}){CLOSING}{{0,4}}$"
)
_FITS = re.compile(r"项(?:最)?(?:符合题意|符合要求|当选|恰当|合适)")


def _fits(text: str, anchor: Anchor, letters: str) -> Mark | None:
    """An option that is said to fit what is asked for."""
    if not _FITS.match(text, anchor.end):
        return None
    match = _BEFORE_OPTION.search(text, max(0, anchor.start - 8), anchor.start)
    if match is None or match["letter"] not in letters:
        return None
    return Mark(match["letter"], match.start("letter"))


def _answers_at_once(text: str, anchor: Anchor, match: re.Match[str], before: str) -> bool:
    """Whether "answer" and a letter, with nothing between, are a clause: "Answer (C)." """
    if _BEGINS.search(before) is None or _UPPER_END.match(text, match.end()) is None:
        return False
    return not text[anchor.end : match.start("letter")].strip(" \n*_`([（")


def _letter_at(text: str, start: int, letters: str, *, boxed: bool) -> Mark | None:
    """The letter at ``start`` as a mark, unless it is a word, a formula or a Roman numeral."""
    raw = text[start]
    end = start + 1
    if not _ends_as_letter(text, raw, end):
        return None
    letter = canonical(raw)
    if raw in "IVXivx" and opens_roman_list(text, start):
        return None
    if letter not in letters and (text.startswith("$", end) or (boxed and raw != letter)):
        return None  # a variable, $x$
    if boxed and not _UPPER_END.match(text, end):
        return None
    # A last character leaves no room for another letter.
    if len(text) - end >= 2 and _names_another(text, letter, end):
        return Mark("", start, "several")
    return Mark(letter, start)


def _ends_as_letter(text: str, raw: str, end: int) -> bool:
    """Whether what follows lets ``raw`` be a letter rather than the word "a", "A" or "I"."""
    if raw.islower():
        return _LOWER_END.match(text, end) is not None or _OR_ANOTHER.match(text, end) is not None
    if raw in "AI" and _WORD_FOLLOWS.match(text, end):
        return _GOES_ON.match(text, end) is not None
    return True


def _names_another(text: str, letter: str, end: int) -> bool:
    """Whether a list goes on from here with a letter that is not ``letter``."""
    match = _OR_ANOTHER.match(text, end)
    return match is not None and canonical(match["letter"]) != letter


# "Option (G) is the one that fits".
_THE_ONE = re.compile(
    rf"{OPENING}{{1,4}}(?P<letter>{UPPER_LETTER}){CLOSING}{{0,4}} is the (?:only )?"
    r"(?:one|option|choice) (?:that|which) "
    r"(?:fits|matches|holds|works|applies|satisfies|agrees|describes)\b"
)


def _around(text: str, anchor: Anchor, end: int) -> Mark | None:
    """An answer stated further on in the sentence, or before the anchor."""
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
