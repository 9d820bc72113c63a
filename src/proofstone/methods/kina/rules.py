"""Screen questions by the rules of the authors' manual (Table 10, sections E.3.3 to E.4).

Each rule yields what it found, where, and how to fix it. Limits that the paper leaves open are our
choice, and marked as such.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import permutations

from msgspec import Struct

from proofstone.choices.options import labels
from proofstone.files.fields import collapsed
from proofstone.method import ItemRules, RuleFinding, RuleSubject
from proofstone.methods.kina.compose import LEAST_STATEMENTS, MOST_APART, N_OPTIONS
from proofstone.methods.kina.payloads import Question, option_text, question_of
from proofstone.methods.kina.questions import place_in_taxonomy
from proofstone.records.items import LoadedItem
from proofstone.records.knowledge import Fact, Stratum
from proofstone.texts.formulas import Piece, mathml, pieces
from proofstone.texts.languages import is_chinese
from proofstone.texts.templates import bundled_text

Lists = Mapping[str, tuple[str, ...]]


class Screened(Struct, frozen=True):
    """A question as the rules see it."""

    question: Question
    language: str
    stratum: Stratum
    lists: Lists

    @property
    def letters(self) -> str:
        """The letters of its options."""
        return labels(len(self.question.options))

    def texts(self) -> Iterator[tuple[str, str]]:
        """Yield each text that a model is shown, with its place."""
        yield "stem", self.question.stem
        for number, text in enumerate(self.question.statements, start=1):
            yield f"statement {number}", text
        for letter, text in zip(self.letters, self.question.texts, strict=False):
            yield f"option {letter}", text

    def phrases(self, name: str, text: str) -> list[str]:
        """Return the phrases of a list that a text contains."""
        folded = text.casefold()
        return [phrase for phrase in self.lists[name] if _pattern(phrase).search(folded)]


def _pattern(phrase: str) -> re.Pattern[str]:
    """Match a phrase; one that begins or ends in an ASCII letter matches whole words there."""
    folded = phrase.casefold()
    before = r"(?<![a-z0-9])" if re.match(r"[a-z]", folded) else ""
    after = r"(?![a-z0-9])" if re.search(r"[a-z]$", folded) else ""
    return re.compile(before + re.escape(folded) + after)


_Found = Iterator[tuple[str, str, str]]  # place, what was found, how to fix it


# What is shown to a model.

_IMAGE = re.compile(
    r"!\[[^\]]*\]\(|<img\b|\\includegraphics|data:image/|\.(?:png|jpe?g|gif|svg)\b", re.IGNORECASE
)


def _image(asked: Screened) -> _Found:
    for place, text in asked.texts():
        if found := _IMAGE.search(text):
            yield place, f'"{found[0]}"', "say in words what the image shows"


def _instruction(asked: Screened) -> _Found:
    for phrase in asked.phrases("instructions", asked.question.stem):
        yield "stem", f'"{phrase}"', "remove the instruction; the prompt gives what is needed"


def _self_contained(asked: Screened) -> _Found:
    for place, text in asked.texts():
        for phrase in asked.phrases("outside_references", text):
            yield place, f'"{phrase}"', "state the premise itself instead of referring to it"


_HAN = re.compile(r"[\u3400-\u9fff]")


def _language(asked: Screened) -> _Found:
    if is_chinese(asked.language):
        if not _HAN.search(asked.question.stem):
            yield "stem", "no Chinese character", "correct the language, or write it in Chinese"
        return
    for place, text in asked.texts():
        if found := _HAN.search(text):
            yield place, f'"{found[0]}"', f"write it in {asked.language or 'one language'} alone"


_LABEL = re.compile(r"^\s*(?:[(（]?[A-Ja-j][)）.、．:：]|[Oo]ption [A-J]\b|选项\s*[A-J])\s*\S")


def _label(asked: Screened) -> _Found:
    for letter, text in zip(asked.letters, asked.question.texts, strict=False):
        if found := _LABEL.match(text):
            yield (
                f"option {letter}",
                f'"{found[0].strip()}"',
                "remove the label; the prompt adds it",
            )


def _latex(asked: Screened) -> _Found:
    told = [*asked.texts()]
    told += [
        (f"explanation {letter}", note.explanation)
        for letter, note in zip(asked.letters, asked.question.notes, strict=False)
    ]
    for place, text in told:
        for problem in _formula_problems(text):
            yield (
                place,
                problem,
                "write $...$ around LaTeX that renders; write \\$ for a dollar sign",
            )


_COMMAND = re.compile(r"\\([A-Za-z]+)")
_SHOWN = 40  # characters of a formula


def _formula_problems(text: str) -> Iterator[str]:
    """Yield what a page would not render; a dollar sign before a digit is a price."""
    every = list(pieces(text))
    for piece, after in zip(every, [*every[1:], Piece("")], strict=False):
        if piece.stray and not (piece.text == "$" and after.text[:1].isdigit()):
            yield f"a formula opened by {piece.text} is not closed"
        elif not piece.opens:
            for name in dict.fromkeys(_COMMAND.findall(piece.text)):
                yield f"\\{name} is outside of a formula"
        else:
            try:
                mathml(piece.text)
            except ValueError as failure:
                shown = collapsed(piece.text)
                short = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
                yield f"{failure}, in {short}" if short else str(failure)


# Options and statements.


def _ten_options(asked: Screened) -> _Found:
    options = asked.question.options
    if len(options) != N_OPTIONS:
        yield "options", f"{len(options)} options", f"give exactly {N_OPTIONS}"
    first: dict[str, str] = {}
    for letter, text in zip(asked.letters, options, strict=True):
        other = first.setdefault(collapsed(text).casefold(), letter)
        if other != letter:
            yield f"option {letter}", f"the same text as option {other}", "replace one of them"


def _statements(asked: Screened) -> _Found:
    if asked.question.kind != "combination":
        return
    texts = asked.question.statements
    n = len({collapsed(text).casefold() for text in texts})
    if n < LEAST_STATEMENTS:
        yield "statements", f"{n} different ones", f"give {LEAST_STATEMENTS} or more"


def _subsets(asked: Screened) -> _Found:
    pairs = permutations(zip(asked.letters, asked.question.sets, strict=False), 2)
    for (letter, small), (other, large) in pairs:
        if set(small) < set(large):
            told = f"{option_text(small)} is a part of option {other}: {option_text(large)}"
            yield f"option {letter}", told, "change one of the two, so that neither holds the other"


def _balance(asked: Screened) -> _Found:
    sizes = [len(each) for each in asked.question.sets]
    if sizes and max(sizes) - min(sizes) > MOST_APART:
        told = f"{min(sizes)} to {max(sizes)} statements in an option"
        yield "options", told, f"let sizes differ by {MOST_APART} at most"


# Explanations and sources.

_MOSTLY = 0.8  # share of options with a number in a calculation: our choice


def is_calculation(question: Question) -> bool:
    """Return True for a standard question whose options are mostly numbers (Table 10)."""
    n = sum(any(sign.isdigit() for sign in text) for text in question.texts)
    return bool(question.texts) and n >= _MOSTLY * len(question.texts)


def _explanation(asked: Screened) -> _Found:
    notes = asked.question.notes
    first: dict[str, str] = {}
    for place, letter in enumerate(asked.letters):
        text = collapsed(notes[place].explanation).casefold() if notes else ""
        if not text:
            yield f"explanation {letter}", "empty", "say why the option is correct or wrong"
            continue
        other = first.setdefault(text, letter)
        if other != letter and not is_calculation(asked.question):
            told = f"a copy of explanation {other}"
            yield f"explanation {letter}", told, "say what is wrong with this option"


def _source(asked: Screened) -> _Found:
    notes = asked.question.notes
    for place, letter in enumerate(asked.letters):
        note = notes[place] if notes else None
        if note is None or not note.source.strip():
            yield f"source {letter}", "empty", "name the source of the explanation"
        elif not note.page.strip():
            yield f"page {letter}", "empty", "add the page, section or table in the source"
    if not asked.question.source.strip():
        yield "question source", "empty", "name the source of the question"


def _sources(asked: Screened) -> dict[str, str]:
    """Return the different sources of a question, each with its first place."""
    found: dict[str, str] = {}
    if asked.question.source.strip():
        found[asked.question.source] = "question source"
    for letter, note in zip(asked.letters, asked.question.notes, strict=False):
        if note.source.strip():
            found.setdefault(note.source, f"source {letter}")
    return found


_FORMATS = (
    re.compile(r"https?://[^\s/.]+\.[^\s]+"),
    re.compile(r"\b10\.\d{4,9}/\S+"),
    re.compile(r"\S.*\((?:\d{4}[a-z]?(?:,[^)]*)?|n\.d\.)\)\.?\s+\S.*\."),  # APA
)


def _source_format(asked: Screened) -> _Found:
    for source, place in _sources(asked).items():
        if not any(each.search(source) for each in _FORMATS):
            yield place, _quoted(source), "give a URL, a DOI or a citation in APA style"


def _publisher(asked: Screened) -> _Found:
    for source, place in _sources(asked).items():
        for name in asked.phrases("rejected_sources", source):
            yield place, f'"{name}" in {_quoted(source)}', "replace it by an authoritative source"


def _preprint(asked: Screened) -> _Found:
    if asked.question.preprint.strip():
        return
    for source, place in _sources(asked).items():
        if asked.phrases("preprints", source):
            yield place, _quoted(source), "cite the published version, or say in preprint why not"


def _material(asked: Screened) -> _Found:
    if not asked.question.material.strip():
        yield (
            "material",
            "empty",
            "attach what the question depends on, with the place in the source",
        )


def _written_by(asked: Screened) -> _Found:
    if asked.question.made_by == "model":
        yield "made_by", "a model wrote it", "let a person write it; the mark stays"


def _taxonomy(asked: Screened) -> _Found:
    if not asked.stratum.subfield:
        yield "subfield", "empty", "name discipline, field and subfield"
    elif problem := place_in_taxonomy(asked.stratum).problem:
        yield "subfield", problem, "use a name of taxonomy:kina"


def _quoted(text: str) -> str:
    short = collapsed(text)
    return f'"{short}"' if len(short) <= _SHOWN else f'"{short[:_SHOWN]}..."'


_SHOWN = 60


# All rules by name, in the order of Table 10.

NEAR = "near duplicate"


_RULES: Mapping[str, tuple[str, Callable[[Screened], _Found] | None]] = {
    "image": ("no image in stem, statements or options", _image),
    "instruction": ('no instruction such as "You are an expert" in the stem', _instruction),
    "self-contained": ("no reference to a text or figure outside of the question", _self_contained),
    "language": ("one language in stem, statements and options", _language),
    "statements": (f"{LEAST_STATEMENTS} different statements or more", _statements),
    "options": (f"exactly {N_OPTIONS} different options", _ten_options),
    "label": ("no option begins with a label such as A.", _label),
    "subsets": ("no option is a proper subset of another", _subsets),
    "balance": (f"sizes of combinations differ by {MOST_APART} at most (our limit)", _balance),
    "explanation": (
        "an explanation per option, no copy of another, except in calculations",
        _explanation,
    ),
    "source": ("a source with page per option, and a source of the question", _source),
    "source format": ("each source as URL, DOI or in APA style", _source_format),
    "publisher": ("no source from the list of rejected ones", _publisher),
    "preprint": ("a preprint only with a stated reason", _preprint),
    "material": ("material attached", _material),
    "latex": ("formulas that a page renders", _latex),
    "written by": ("not written by a model alone", _written_by),
    "taxonomy": ("names of the taxonomy of 261 subfields", _taxonomy),
    NEAR: ("cosine below 0.8 to every other question", None),
}


MOST_ALIKE = 0.8  # Table 2


def findings(
    question: Question, language: str, stratum: Stratum, lists: Lists
) -> list[RuleFinding]:
    """Return what each rule finds in one question; near duplicates need the others."""
    asked = Screened(question, language, stratum, lists)
    return [
        RuleFinding(name, place, found, fix)
        for name, (_, rule) in _RULES.items()
        if rule is not None
        for place, found, fix in rule(asked)
    ]


def _subject(
    row: bytes, question: Question, language: str, stratum: Stratum, lists: Lists
) -> RuleSubject:
    text = "\n".join([question.stem, *question.statements])
    return RuleSubject(
        row=row, text=text, findings=tuple(findings(question, language, stratum, lists))
    )


def _of_facts(facts: Iterable[Fact], lists: Lists) -> Iterator[RuleSubject]:
    for fact in facts:
        if isinstance(fact.payload, Question):
            yield _subject(fact.id, fact.payload, fact.language, fact.stratum, lists)


def _of_items(items: Iterable[LoadedItem], lists: Lists) -> Iterator[RuleSubject]:
    for each in items:
        item = each.item
        yield _subject(item.id, question_of(each), item.language, item.stratum, lists)


def _bundled_lists() -> dict[str, tuple[str, ...]]:
    held = tomllib.loads(bundled_text(__package__, "rules.toml"))
    return {name: tuple(words) for name, words in held.items()}


RULES = ItemRules(
    rules={name: requirement for name, (requirement, _) in _RULES.items()},
    lists=_bundled_lists(),
    of_facts=_of_facts,
    of_items=_of_items,
    near=NEAR,
    most_alike=MOST_ALIKE,
)
