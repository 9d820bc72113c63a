"""Extract sets of options from responses: "A and C", "\\boxed{AC}", "all except B", "选项A、C".

A *statement* names the options that are the answer. The last statement counts, in this order:

1. statements: after answer words ("the correct options are A, C"), in a box, before words that call
  them the answer, as all options but some, or as a list below such words;
2. a last line, or last lines, of letters alone, if they follow the last statement;
3. one verdict on each option ("A is correct, B is wrong"), or on those of the last line;
4. options named by their texts;
5. the one option that ``extract_choice`` reads.

Options that are ruled out ("A, C but not B") are not part of the set. An open choice ("A or C")
and a letter that labels no option choose nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

from msgspec import Struct

from proofstone.choices.answers import (
    WINDOW,
    anchors_from_end,
    ends_as_letter,
    last_line,
    lowered,
    mark_at,
    pattern_table,
)
from proofstone.choices.extraction import (
    UNPARSED,
    Extraction,
    Tier,
    extract_choice,
    joined,
    named_at,
    plain,
)
from proofstone.choices.options import ANY_LETTER, NOT_IN_WORD, UPPER_LETTER, as_labels, canonical
from proofstone.choices.verdicts import WORD, WORD_END, said_by

# Words around sets, of all languages together.

_WORDS = {
    language: {name: "".join(pieces) for name, pieces in row.items()}
    for language, row in pattern_table("answer_sets.toml").items()
}


def _any(name: str) -> str:
    """Return a pattern for the words of any language."""
    return "(?:" + "|".join(row[name] for row in _WORDS.values() if row[name]) + ")"


_EDGE = (
    r"(?:[\s*_`\"'“”‘’()（）\[\]【】{}$~「」『』《》]|"
    r"\\(?:text(?:bf|rm|it|sf)?|math(?:bf|rm|sf|it)|boxed|fbox|quad|left|right|[,; !(){}\[\]]))"
)


_MEMBER = re.compile(
    rf"{_EDGE}{{0,12}}+(?:(?i:{_any('nouns')})\s?{_EDGE}{{0,4}}+)?"
    rf"(?P<letter>{ANY_LETTER}){NOT_IN_WORD}(?:选项|项|번)?"
)


_JOINER = rf"(?:[,，、;；،/&+]|\\&|(?i:{_any('both')}))"


_JOIN = re.compile(rf"{_EDGE}{{0,8}}+{_JOINER}(?:{_EDGE}{{0,4}}+{_JOINER})?{_EDGE}{{0,8}}+")


_RUN = re.compile(rf"{_EDGE}{{0,12}}+(?P<run>{UPPER_LETTER}{{2,26}})(?![A-Za-z0-9])")


_EITHER = re.compile(rf"{_EDGE}{{0,6}}+[,，]?\s?(?i:{_any('either')}){_EDGE}{{0,4}}+")


_BUT_NOT = re.compile(rf"{_EDGE}{{0,6}}+[,，;]?\s?(?i:{_any('but_not')})[\s,]{{0,2}}")


# A letter may be explained at once: "A (the sky)".
_GLOSS = re.compile(r"[*_`]{0,3}\s?[(（][^()（）\n]{2,200}[)）]")


_AFTER_LABEL = re.compile(r"[*_`]{0,3}[)）\].:：、-]{0,2}[*_`\s]{0,4}")


class _Named(NamedTuple):
    """Options named at [start, end): their letters in the order named."""

    letters: tuple[str, ...]
    start: int
    end: int
    by_text: bool = False
    is_open: bool = False


def _named(text: str, at: int, labels: str, options: Sequence[str]) -> _Named | None:
    """Return the options that ``text`` names one after another from ``at``, or None."""
    run = _RUN.match(text, at)
    if run is not None:
        return _run(text, run, labels)
    found = _one(text, at, labels, options)
    if found is None:
        return None
    letters, end, by_text = list(found.letters), found.end, found.by_text
    is_lower = text[found.start].islower() and not by_text
    while (joint := _JOIN.match(text, end)) is not None:
        more = _one(text, joint.end(), labels, options)
        if more is None or (text[more.start].islower() and not (is_lower or more.by_text)):
            break
        letters += more.letters
        end, by_text = more.end, by_text or more.by_text
    is_open = _names_more(_EITHER, text, end, labels, options) is not None
    ruled_out = _names_more(_BUT_NOT, text, end, labels, options)
    return _Named(
        tuple(letters), found.start, ruled_out.end if ruled_out else end, by_text, is_open
    )


def _run(text: str, run: re.Match[str], labels: str) -> _Named | None:
    """Return letters written together, "ACD": in order, and each once."""
    letters = tuple(map(canonical, run["run"]))
    if list(letters) != sorted(set(letters)):
        return None
    is_open = _names_more(_EITHER, text, run.end(), labels, ()) is not None
    return _Named(letters, run.start("run"), run.end(), is_open=is_open)


def _names_more(
    words: re.Pattern[str], text: str, at: int, labels: str, options: Sequence[str]
) -> _Named | None:
    """Return the options named after such words, or None."""
    match = words.match(text, at)
    return None if match is None else _named(text, match.end(), labels, options)


def _one(text: str, at: int, labels: str, options: Sequence[str]) -> _Named | None:
    """Return one option named at ``at``, by its text or by its letter."""
    skipped = _SKIPPED.match(text, at)
    for start in range(skipped.end() if skipped else at, at - 1, -1):
        place = named_at(text, start, options, longer_than=1)
        if place is not None:
            return _Named((labels[place],), start, start + len(options[place]), by_text=True)
    match = _MEMBER.match(text, at)
    if match is None:
        return None
    start, end = match.start("letter"), match.end("letter")
    letter = canonical(match["letter"])
    if match["letter"].islower() and (letter not in labels or not _is_lower_member(text, end)):
        return None
    if match["letter"] in "AI" and not ends_as_letter(text, match["letter"], end):
        return None
    return _Named((letter,), start, _after_letter(text, match.end(), letter, labels, options))


_SKIPPED = re.compile(rf"{_EDGE}{{0,12}}+(?:(?i:{_any('nouns')}|that|the)\s{_EDGE}{{0,4}}+)?")


_LOWER_MEMBER = re.compile(
    rf"{_EDGE}{{0,6}}+(?:$|[\r\n,，、;；。.!！<)\]}}&]|(?i:and|or)\b|[和与及])"
)


def _is_lower_member(text: str, end: int) -> bool:
    return _LOWER_MEMBER.match(text, end) is not None


def _after_letter(text: str, end: int, letter: str, labels: str, options: Sequence[str]) -> int:
    """Return where a letter ends with its option's text, or with a gloss in parentheses."""
    if options and letter in labels:
        option = options[labels.index(letter)]
        start = _AFTER_LABEL.match(text, end).end()  # type: ignore[union-attr]
        said = text[start : start + len(option)]
        if said.casefold() == option.casefold():
            return start + len(option)
    gloss = _GLOSS.match(text, end)
    return end if gloss is None else gloss.end()


# Statements.


class Stated(Struct, frozen=True):
    """A statement of an answer at [start, end).

    ``letters`` are those of the options, sorted; they are empty if it is an open choice, or says
    that no option fits. ``by_text``: an option was named by its text.
    """

    start: int
    end: int
    letters: tuple[str, ...]
    says: Literal["options", "open", "none"] = "options"
    by_text: bool = False


class _Reply(NamedTuple):
    """A text with the labels and texts of the options; patterns are searched from ``since``."""

    text: str
    lower: str
    labels: str
    options: Sequence[str]
    since: int

    def named(self, at: int) -> _Named | None:
        """Return the options named from ``at``, or None."""
        return _named(self.text, at, self.labels, self.options)


def statements(
    text: str, labels: str, options: Sequence[str] = (), *, since: int = 0
) -> list[Stated]:
    """Return the statements of an answer in ``text``, in order.

    Answer words are searched in the whole text, the last 250 of them; other words from ``since``.
    """
    reply = _Reply(text, lowered(text), labels, options, since)
    found = [stated for find in _FINDERS for stated in find(reply)]
    kept: list[Stated] = []
    for stated in sorted(found, key=lambda each: (each.start, -each.end)):
        if kept and stated.start < kept[-1].end:
            continue  # part of a longer statement
        kept.append(stated)
    return kept


def _stated(named: _Named, start: int, end: int = 0) -> Stated:
    letters = () if named.is_open else tuple(sorted(set(named.letters)))
    says: Literal["options", "open"] = "open" if named.is_open else "options"
    return Stated(min(start, named.start), max(end, named.end), letters, says, named.by_text)


# "The answers are not A": a statement of nothing.
_DENIED = re.compile(
    r"[\s*_)\]】）}$]{0,6}(?:(?i:(?:is|are|was|were|seems?|looks?)(?: both| all| also| clearly)? "
    r"(?:not|in(?:correct|accurate|valid)|wrong|false|untrue)|(?:is|are)n['’]t)\b|"
    r"(?:选项|项)?[都均皆也]?(?:是)?(?:错|不正确|不对|不成立|不选|有误|不符))"
)


_HYPOTHETICAL = re.compile(
    r"(?:\b(?:if|whether|suppose|assuming|unless|not|n['’]t|never|in|wrong|si|wenn|falls|se|если|"
    r"whichever|could)\b|如果|假如|若|是否|[不非未没])[^.!?。！？\n]{0,12}$",
    re.IGNORECASE,
)


_OR_BEFORE = re.compile(
    rf"(?i:{_any('either')}){_EDGE}{{0,4}}+(?:\[\[)?$|\]\][\s*_`]{{0,4}}[/|][\s*_`]{{0,4}}\[\[$"
)


def _marked(reply: _Reply) -> Iterator[Stated]:
    """Yield answers at answer words: "The answer is A and C", "正解はAとC", "[[A]] and [[C]]"."""
    for anchor in anchors_from_end(reply.lower):
        if anchor.word == "boxed":
            continue
        mark = mark_at(reply.text, anchor, reply.labels)
        if mark is None:
            continue
        if mark.says == "none":
            yield Stated(anchor.start, mark.start, (), "none")
            continue
        named = reply.named(mark.start)
        if named is None:
            continue
        start = min(anchor.start, mark.start)
        if _OR_BEFORE.search(reply.text, max(0, start - 16), mark.start):
            named = named._replace(is_open=True)
        if not _DENIED.match(reply.text, named.end):
            yield _stated(named, start)


_LEADS = re.compile(rf"(?:{_any('leads')})", re.IGNORECASE)


CONCLUDES = re.compile(rf"(?:{_any('concludes')})", re.IGNORECASE)


_SENTENCE_END = re.compile(rf"{_EDGE}{{0,6}}?(?:[.。!！]|<|\n|$)")


def _led(reply: _Reply) -> Iterator[Stated]:
    """Yield sets behind words that announce them: "I choose A and C", "应选AC"."""
    for pattern, ending in ((_LEADS, None), (CONCLUDES, _SENTENCE_END)):
        for match in pattern.finditer(reply.text, reply.since):
            named = reply.named(match.end())
            if named is None or not set(named.letters) <= set(reply.labels):
                continue
            if "\n\n" in reply.text[match.end() : named.start]:
                continue
            before = max(0, match.start() - 24)
            if _HYPOTHETICAL.search(reply.text, before, match.start()):
                continue
            if ending is not None and not ending.match(reply.text, named.end):
                continue
            if not _DENIED.match(reply.text, named.end) and not _opens_list(reply, named):
                yield _stated(named, match.start())


def _opens_list(reply: _Reply, named: _Named) -> bool:
    """Return True if a single letter labels the first line of a list."""
    return len(named.letters) == 1 and _LABELS_LINE.match(reply.text, named.start) is not None


_LABELS_LINE = re.compile(
    r"[A-Z][*_`]{0,3}[.．、:：)）\]】][^\n]{2,}\n\s{0,4}[*_(\[（•-]{0,3}\s?[A-Z][*_`]{0,3}[.．、:：)）\]】]"
)


_ARE_RIGHT = re.compile(rf"{_EDGE}{{0,6}}+(?i:{_any('are_right')})")


_FREE = re.compile(r"(?<![A-Za-z0-9_^\\'’-])[A-Z](?=[A-Z]{0,25}(?![A-Za-z0-9]))")


def _free(reply: _Reply) -> Iterator[tuple[_Named, int]]:
    """Yield the options named anywhere, and where each set begins."""
    after = reply.since
    for match in _FREE.finditer(reply.text, reply.since):
        if match.start() < after:
            continue
        named = reply.named(match.start())
        if named is not None and set(named.letters) <= set(reply.labels):
            yield named, match.start()
            after = named.end


def _called(reply: _Reply) -> Iterator[Stated]:
    """Yield sets that are called the answer behind them: "A and C are the right ones"."""
    for named, start in _free(reply):
        match = _ARE_RIGHT.match(reply.text, named.end)
        before = max(0, start - 24)
        if match is not None and not _HYPOTHETICAL.search(reply.text, before, start):
            yield _stated(named, start, match.end())


def _all_patterns() -> Iterator[tuple[re.Pattern[str], re.Pattern[str] | None, re.Pattern[str]]]:
    """Yield, by language, what comes before and after the options that are wrong."""
    ends = r"[\s*_`)\]}】）」\"'$]{0,6}(?:[.。!！,，;；:：]|\n|$|<)"
    for row in _WORDS.values():
        before, after, follows = row["all_but"], row["all_but_after"], row["follows_all"]
        if before and after:
            yield _compiled(before), _compiled(rf"\s?{after}"), _compiled("")
        elif before:
            yield _compiled(before), None, _compiled(rf"(?:{follows})|{ends}")
        else:
            yield _compiled(""), _compiled(after), _compiled(follows + "|" + ends)


def _compiled(words: str) -> re.Pattern[str]:
    return re.compile(words, re.IGNORECASE)


_ALL_BUT = tuple(_all_patterns())


def _all_but(reply: _Reply) -> Iterator[Stated]:
    """Yield the options that are left when all but some are right: "all except B and D"."""
    for before, after, follows in _ALL_BUT:
        if before.pattern:
            starts = (
                (m.start(), reply.named(m.end())) for m in before.finditer(reply.text, reply.since)
            )
        else:
            starts = ((start, named) for named, start in _free(reply))
        for start, named in starts:
            if named is None or named.is_open or not set(named.letters) <= set(reply.labels):
                continue
            end = named.end
            if after is not None:
                match = after.match(reply.text, end)
                if match is None:
                    continue
                end = match.end()
            match = follows.match(reply.text, end)
            left = tuple(letter for letter in reply.labels if letter not in named.letters)
            if match is None or not left or _DENIED.match(reply.text, end):
                continue
            if not _HYPOTHETICAL.search(reply.text, max(0, start - 24), start):
                yield Stated(start, match.end(), left)


_ALL = re.compile(
    rf"{_any('all')}(?=[\s*_`)\]}}】）」\"'$]{{0,6}}(?:[.。!！,，;；]|\n|$|<))", re.IGNORECASE
)


def _everything(reply: _Reply) -> Iterator[Stated]:
    """Yield all options where all are said to be right."""
    for match in _ALL.finditer(reply.text, reply.since):
        if named_at(reply.text, match.start(), reply.options, longer_than=1) is not None:
            continue  # an option says so itself
        if not _HYPOTHETICAL.search(reply.text, max(0, match.start() - 24), match.start()):
            yield Stated(match.start(), match.end(), tuple(reply.labels))


_BOX = re.compile(r"\\(?:boxed|fbox)\s?\{")


_COMMANDS = re.compile(
    r"\\(?:text(?:bf|rm|it|sf)?|math(?:bf|rm|sf|it)|quad|left|right|bf|rm|[,; !])|"
    r"[${}~]|(?<=[A-Za-z])\\\\"
)


_BETWEEN_BOXES = re.compile(rf"[\s$*.]{{0,8}}+(?:{_JOINER}[\s$*]{{0,4}}+)?")


_LONGEST_BOX = 500


_MOST_BOXES = 50  # the last ones


def _boxed(reply: _Reply) -> Iterator[Stated]:
    """Yield the sets in boxes; boxes in a row are one: ``\\boxed{A}, \\boxed{C}``."""
    pending: Stated | None = None
    for match in list(_BOX.finditer(reply.text, reply.since))[-_MOST_BOXES:]:
        end = _closing(reply.text, match.end())
        letters = _in_box(reply, reply.text[match.end() : end])
        if letters is None:
            continue
        stated = _stated(letters, match.start(), end + 1)
        stated = Stated(match.start(), end + 1, stated.letters, stated.says, stated.by_text)
        between = _BETWEEN_BOXES.match(reply.text, pending.end) if pending else None
        if pending and between is not None and between.end() == match.start():
            both = tuple(sorted({*pending.letters, *stated.letters}))
            stated = Stated(pending.start, stated.end, both, stated.says, stated.by_text)
        elif pending:
            yield pending
        pending = stated
    if pending:
        yield pending


def _closing(text: str, start: int) -> int:
    """Return where the brace that is open at ``start`` is closed, or the text's end."""
    depth = 1
    for place in range(start, min(len(text), start + _LONGEST_BOX)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return place
    return min(len(text), start + _LONGEST_BOX)


def _in_box(reply: _Reply, boxed: str) -> _Named | None:
    """Return the options that are all that a box holds."""
    said = " ".join(_COMMANDS.sub(" ", boxed.replace("\\{", " ").replace("\\}", " ")).split())
    said = said.replace("\\&", "&")
    whole = _whole(said, reply.labels, reply.options)
    if whole is not None:
        return whole
    left = list(_all_but(_Reply(said, said.lower(), reply.labels, reply.options, 0)))
    every = list(_everything(_Reply(said, said.lower(), reply.labels, reply.options, 0)))
    if left or every:
        return _Named((left or every)[-1].letters, 0, len(said))
    compact = re.sub(r"[\s()（）]", "", said)
    together = (
        tuple(map(canonical, compact)) if re.fullmatch(f"{ANY_LETTER}{{2,26}}", compact) else ()
    )
    if together and len(set(together)) == len(together) and set(together) <= set(reply.labels):
        return _Named(tuple(sorted(together)), 0, len(said))
    named = _named(said, 0, reply.labels, reply.options)
    return None if named is None or said[named.end : named.end + 1].isalnum() else named


_REST = " \t\r\n*_`\"'”’.。!！)）]】}$,，;"


def _whole(text: str, labels: str, options: Sequence[str]) -> _Named | None:
    """Return the options that are all that ``text`` says, or None."""
    named = _named(text, 0, labels, options)
    if named is None or text[named.end :].strip(_REST):
        return None
    return named


# Lists, one option a line.

_HEADS = re.compile(
    r"(?:answers?|selections?|selected|choose|(?:correct|right|true|supported|valid|final)\b[^\n]{0,40}|"
    r"答案|正确[^\n]{0,12}|应?选[^\n]{0,6}|respuestas?|correct[ao]s|réponses?|antworten?|richtig\w*|respostas?|"
    r"ответы?|верн\w*|正解|答え|정답|الإجابات|الإجابة)[^\n]{0,30}[:：][\s*_]{0,6}$",
    re.IGNORECASE,
)


_ITEM = re.compile(
    r"[ \t*_`#>•·–—\d.)-]{0,10}?(?i:(?:option|choice|answer)\s)?(?:选项)?[*_`(\[（【\"]{0,4}"
    r"(?P<letter>[A-Z])(?![A-Za-z0-9])[*_`\"]{0,3}(?P<sep>[)）\]】.:：、,，]|\s[–—-]|$)"
    r"[*_`]{0,3}[ \t]{0,4}(?P<said>.*)$"
)


class _Item(NamedTuple):
    start: int
    end: int
    letter: str
    said: str


def _lines(text: str, since: int) -> list[tuple[int, str]]:
    """Return the lines with words from ``since`` on, each with its start."""
    start, found = since, []
    for line in text[since:].split("\n"):
        if line.strip():
            found.append((start, line))
        start += len(line) + 1
    return found


def _item(reply: _Reply, start: int, line: str) -> _Item | None:
    """Return the option that a line lists: by its letter, with words behind it, or by its text."""
    said = plain(re.sub(r"^[ \t*_`#>•·–—-]{1,10}", "", line))
    for place, option in enumerate(reply.options):
        if said and said == plain(option):
            return _Item(start, start + len(line), reply.labels[place], "")
    match = _ITEM.match(line)
    if match is None or match["letter"] not in reply.labels:
        return None
    said = match["said"].strip(" *_`.")
    if reply.options and plain(said) == plain(reply.options[reply.labels.index(match["letter"])]):
        said = ""
    return _Item(start, start + len(line), match["letter"], said)


def _blocks(reply: _Reply) -> Iterator[tuple[str, int, list[_Item]]]:
    """Yield the line before each block of listed options, its start, and the block."""
    head, head_start, block = "", reply.since, list[_Item]()
    for start, line in _lines(reply.text, reply.since):
        item = _item(reply, start, line)
        if item is not None and item.letter not in {each.letter for each in block}:
            block.append(item)
            continue
        if block:
            yield head, head_start, block
        head, head_start, block = line, start, [item] if item is not None else []
    if block:
        yield head, head_start, block


def _listed(reply: _Reply) -> Iterator[Stated]:
    """Yield lists below words that announce an answer: "The correct options are:"."""
    for head, start, block in _blocks(reply):
        if _HEADS.search(head) is None or _HYPOTHETICAL.search(head[:24]):
            continue
        if len(block) == len(reply.labels) and any(item.said for item in block):
            continue  # all options, discussed
        said = {item.letter: _verdict(item.said) for item in block}
        letters = tuple(sorted(letter for letter in said if said[letter] is not False))
        is_judged = (
            None not in said.values() and len(letters) > 1
        )  # options discussed, several kept
        if is_judged or {*said.values()} in ({None}, {True}):
            yield Stated(start, block[-1].end, letters)


_FINDERS: tuple[Callable[[_Reply], Iterator[Stated]], ...] = (
    _boxed, _marked, _led, _called, _all_but, _everything, _listed,
)  # fmt: skip


# Verdicts on single options.


class OptionVerdict(Struct, frozen=True):
    """Options called right or wrong at [start, end)."""

    start: int
    end: int
    letters: tuple[str, ...]
    is_right: bool


_IS = re.compile(
    rf"{_EDGE}{{0,6}}+(?:(?i:is|are|was|were|would be|must be|seems?(?: to be)?|looks?|"
    r"has to be)\b|"
    r"[:：=–—-]|[是为都均也]{1,2}|(?=[正错不]))"
    rf"(?:{_EDGE}{{0,2}}+(?i:both|all|also|indeed|clearly|likely|probably|therefore|thus|definitely|still|actually)\b){{0,2}}"
    rf"{_EDGE}{{0,4}}+{WORD}(?: after all)?{WORD_END}"
)


def option_verdicts(
    text: str, labels: str, options: Sequence[str] = (), *, since: int = 0
) -> list[OptionVerdict]:
    """Return where options are called right or wrong, in order: "B is wrong", "C: correct"."""
    reply = _Reply(text, "", labels, options, since)
    found = []
    for named, start in _free(reply):
        match = _IS.match(text, named.end)
        if match is None or match["t"] or named.is_open or said_by(match) == "both":
            continue
        if not _HYPOTHETICAL.search(text, max(0, start - 24), start):
            is_right = said_by(match) == "true"
            found.append(
                OptionVerdict(start, match.end(), tuple(sorted(set(named.letters))), is_right)
            )
    at = {each.start for each in found}
    for _, _, block in _blocks(reply):
        for item in block:
            said = _verdict(item.said)
            if said is not None and not any(item.start <= start < item.end for start in at):
                found.append(OptionVerdict(item.start, item.end, (item.letter,), said))
    return sorted(found, key=lambda each: each.start)


_OPENS = re.compile(rf"(?:(?i:this|it|that)\s(?i:is|seems)\s)?{WORD}{WORD_END}")


_CLOSES = re.compile(
    rf"(?:[.;,:：，。→=(–—-]|(?i:is|so|thus|hence)\b)\s?"
    rf"(?:(?i:so|this is|it is|thus)\s)?{WORD}[\s.。)*_]{{0,4}}$"
)


def _verdict(said: str) -> bool | None:
    """Return the verdict with which the words about an option begin or end."""
    for match in (_OPENS.match(said), _CLOSES.search(said[-80:])):
        if match is not None and not match["t"] and said_by(match) != "both":
            return said_by(match) == "true"
    return None


def judged(verdicts: Sequence[OptionVerdict]) -> dict[str, bool]:
    """Return the last verdict on each option."""
    return {letter: each.is_right for each in verdicts for letter in each.letters}


# The set of a response.


class Found(Struct, frozen=True):
    """The set that a response chooses. ``is_cut``: the text ends within it, so it may continue."""

    extraction: Extraction
    is_cut: bool = False


def extract_choices(
    text: str, letters: str | Sequence[str], options: Sequence[str] = ()
) -> Extraction:
    """Return the options that ``text`` chooses, as ``"A, C"``.

    ``letters`` are the labels of the options, A to Z; ``options`` their texts in the same order, if
    known. Raises ValueError for other labels, or if the numbers of texts and letters differ.
    """
    return find_choices(text, letters, options).extraction


def find_choices(text: str, letters: str | Sequence[str], options: Sequence[str] = ()) -> Found:
    """Return the same, with whether the text breaks off within the set."""
    labels = as_labels(letters)
    if options and len(options) != len(labels):
        raise ValueError(f"expected {len(labels)} option texts, got {len(options)}")
    since = max(0, len(text) - WINDOW)
    stated = statements(text, labels, options, since=since)
    last = stated[-1] if stated else None
    alone = _alone(text, labels, options)
    if alone is not None and (last is None or alone.start >= last.end):
        return _found(alone, text, labels, is_alone=True)
    if last is not None:
        return _found(last, text, labels, is_alone=False)
    weak = _weak(text, labels, options, since)
    if weak is not None:
        return _found(weak, text, labels, is_alone=False)
    if _is_denied(_Reply(text, lowered(text), labels, options, since)):
        return Found(UNPARSED)
    return Found(_by_text(text, labels, options, since) or _single(text, labels, options))


def _is_denied(reply: _Reply) -> bool:
    """Return True if options follow an answer word and are called wrong there."""
    for anchor in anchors_from_end(reply.lower):
        mark = mark_at(reply.text, anchor, reply.labels) if anchor.word != "boxed" else None
        named = None if mark is None or mark.says == "none" else reply.named(mark.start)
        if named is not None and _DENIED.match(reply.text, named.end):
            return True
    return False


def _found(stated: Stated, text: str, labels: str, *, is_alone: bool) -> Found:
    if stated.says == "none":
        return Found(UNPARSED)
    if stated.says == "open":
        return Found(Extraction("", "marked", "whole text", False))
    is_option = set(stated.letters) <= set(labels)
    tier: Tier = "content" if stated.by_text else "bare" if is_alone else "marked"
    extraction = Extraction(
        joined(stated.letters), tier, "last line" if is_alone else "whole text", is_option
    )
    is_closed = text[stated.end - 1 : stated.end] == "}"
    return Found(extraction, not is_closed and _GOES_ON.match(text, stated.end) is not None)


_GOES_ON = re.compile(rf"[\s*_`\"'$]{{0,8}}+(?:{_JOINER}[\s*_`\"'$]{{0,8}}+){{0,2}}$")


_HEAD = re.compile(
    r"[\s*_`#>-]{0,8}(?:(?i:(?:(?:my|the|final|correct) ){0,2}(?:answers?|options?|choices?))"
    r"\s?[:：]?|答案\s?[:：]?|应?选择?)?"
)


def _alone(text: str, labels: str, options: Sequence[str]) -> Stated | None:
    """Return the options that the last lines list without other words."""
    line = last_line(text)
    reply = _Reply(text, "", labels, options, max(0, line.start - WINDOW))
    block: list[_Item] = []
    for _, _, listed in _blocks(reply):
        block = listed
    is_last = (
        bool(block)
        and block[-1].start <= line.start + len(line.text)
        and block[-1].end > line.start
    )
    if is_last and len(block) > 1 and not any(item.said for item in block):
        by_letter = all(
            len(text[i.start : i.end].strip(' \t*_`#>•-().[]、,，"')) == 1 for i in block
        )
        if by_letter or len(block) < len(labels):
            return Stated(block[0].start, block[-1].end, tuple(sorted(i.letter for i in block)))
    head = _HEAD.match(line.text)
    named = _whole(line.text[head.end() if head else 0 :], labels, options) if line.whole else None
    if named is None or (len(named.letters) == 1 and not named.is_open):
        return None
    return _stated(_Named(*named), line.start, line.start + len(line.text))


def _weak(text: str, labels: str, options: Sequence[str], since: int) -> Stated | None:
    """Return the options called right: of all options, of the last line, or of one sentence."""
    verdicts = option_verdicts(text, labels, options, since=since)
    if not verdicts:
        return None
    last = verdicts[-1]
    known = judged(verdicts)
    right = tuple(sorted(letter for letter, is_right in known.items() if is_right))
    if len(known) == len(labels):
        return Stated(verdicts[0].start, last.end, right) if right else None
    line = last_line(text)
    said = judged([each for each in verdicts if each.start >= line.start])
    right = tuple(sorted(letter for letter, is_right in said.items() if is_right))
    if right:
        return Stated(last.start, last.end, right)
    several = {each.letters for each in verdicts if each.is_right and len(each.letters) > 1}
    return Stated(last.start, last.end, several.pop()) if len(several) == 1 else None


_TEXT_JOIN = re.compile(
    r"(?:[\s,，、;；.&+•·*(){}\[\]\"'“”-]|\band\b|\bas well as\b|[和与及]|以及|\b[a-z][).:]\s)*"
)


_MOST_ANCHORS = 20


def _by_text(text: str, labels: str, options: Sequence[str], since: int) -> Extraction | None:
    """Return several options that the text names by their texts, in a statement or alone."""
    keys = {plain(option): labels[place] for place, option in enumerate(options)}
    if len(keys) != len(options) or not keys or "" in keys:
        return None
    longest = 64 + 2 * sum(map(len, options))
    places = [
        anchor.end
        for _, anchor in zip(range(_MOST_ANCHORS), anchors_from_end(lowered(text)), strict=False)
    ]
    for start in [match.end() for match in _LEADS.finditer(text, since)][::-1] + places:
        said = re.sub(
            r"^(?:s\b)?\W*(?:(?:is|are|include)\b\W*)?", "", text[start : start + longest], count=1
        )
        letters, _ = _texts(plain(said), keys)
        if len(letters) > 1:
            return Extraction(joined(letters), "content", "whole text", True)
    for said in (last_line(text).text, text if len(text) <= longest else ""):
        letters, rest = _texts(plain(said), keys)
        if 1 < len(letters) < len(labels) and not rest.strip(_REST):
            return Extraction(joined(letters), "content", "whole text", True)
    return None


def _texts(said: str, keys: dict[str, str]) -> tuple[list[str], str]:
    """Return the options that ``said`` begins with, and the rest."""
    letters: list[str] = []
    while True:
        said = said[_TEXT_JOIN.match(said).end() :]  # type: ignore[union-attr]
        fits = [
            key
            for key in keys
            if said.startswith(key) and not said[len(key) : len(key) + 1].isalnum()
        ]
        if not fits:
            return letters, said
        best = max(fits, key=len)
        letters.append(keys[best])
        said = said[len(best) :]


def _single(text: str, labels: str, options: Sequence[str]) -> Extraction:
    """Return the one option that the rules for single answers read."""
    found = extract_choice(text, labels, options)
    return found if found.is_option else UNPARSED
