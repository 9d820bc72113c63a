"""Filter statements by rules, without a model (Encyclo-K 3.1.1, appendix C).

Dropped are statements that need a figure, false statements that are too short, and those that refer
to something outside themselves. References to chapters of laws, treaties and scriptures are
knowledge; those to the textbook are not. A statement may refer to a formula that it contains.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, structs
from msgspec.structs import astuple

from proofstone.build.flow import PlainStep, make_row, perform_plain, read_row
from proofstone.files.fields import Fields
from proofstone.methods.encyclo_k.statements import read_stratum
from proofstone.records.builds import BatchRows, BatchStep, Drop, Kept, Step, StepContext
from proofstone.records.knowledge import Stratum
from proofstone.records.tables import Funnel, FunnelStep, Row, SiftedRow, SiftedRows
from proofstone.texts.templates import Patterns

_PATTERNS = Patterns(__package__)


# The words of a statement, without formulas and code, and the words before a position.

_SET_ASIDE = re.compile(
    r"\$\$.+?\$\$|(?<![\\$])\$(?!\$)[^$\n]+?\$|\\\[.+?\\\]|\\\(.+?\\\)|```.+?```|`[^`\n]+`",
    re.DOTALL,
)


_FORMULA = re.compile(r"[=≈≡≤≥<>→⇌⇒∝∫∑]|->|\$|\\\[|\\\(|\ufffc")


_SENTENCE_END = re.compile(r"[.!?](?=\s)|[。！？；;\n]")


_TITLE = re.compile(r"^[^.!?。！？\n]{1,60}?(?:: |：|:(?=\S))")


# Replaces each character of formulas and code; no pattern here matches it.
_BLANK = "\ufffc"


def words_only(text: str) -> str:
    """Return the text with each formula and piece of code blanked out, at the same length."""
    return _SET_ASIDE.sub(lambda found: _BLANK * len(found[0]), text)


def has_formula(text: str) -> bool:
    """Return True if the text has a formula or a reaction, marked as one or not."""
    return _FORMULA.search(text) is not None


def is_opening(text: str, place: int) -> bool:
    """Return True if ``place`` is in the first sentence, ignoring the title.

    Nothing before it can then be the referent of a word there.
    """
    title = _TITLE.match(text[:place])
    return _SENTENCE_END.search(text[title.end() if title else 0 : place]) is None


# Statements that need a figure: an embedded image, or a reference to a figure or table.


_FIGURE = _PATTERNS.one("figures", re.MULTILINE)


def find_figure(text: str) -> str:
    """Return the text that refers to a figure, or the empty text."""
    found = _FIGURE.search(words_only(text))
    return text[found.start() : found.end()].strip() if found else ""


# False statements too short to hold an error within true context.

# Table 1's shortest statement has 8 tokens: about 5 words, or 8 Chinese characters.
MIN_WORDS = 5


_CHARACTERS_A_WORD = 1.6


_WORD = re.compile(r"[^\W_㐀-鿿]+")


_CHARACTER = re.compile(r"[㐀-鿿]")


def find_brevity(text: str) -> str:
    """Return the length of a text that is too short, otherwise the empty text."""
    words, characters = len(_WORD.findall(text)), len(_CHARACTER.findall(text))
    if words + characters / _CHARACTERS_A_WORD >= MIN_WORDS:
        return ""
    return f"{words} words" if not characters else f"{characters} characters, {words} words"


# Statements with unresolved references: "our country", "this region", "He was ..."
#
# "This region" is clear if the statement named one before. So only references in the first sentence
# with no name before them count. "Our country" is unclear anywhere outside its book.

_OWN = _PATTERNS.one("own")


_PLACE_OR_TIME = _PATTERNS.one("place_or_time")


_POINTING = _PATTERNS.one("pointing")


_PERSON = _PATTERNS.one("person")


_HEAD = _PATTERNS.one("head")


_NAME = re.compile(r"[A-Z][\w'’-]+")


_ZH_PLACE = re.compile(
    r"[国省州市县洲岛山河江湖海区朝]|流域|盆地|高原|平原|半岛|沙漠|大陆|世纪|\d年"
)


_SENTENCE_START = re.compile(r"(?:^|[.!?:]\s+)$")


# Grammatical words, not names, though often capitalized; "In" and "The" start sentences.
_GRAMMAR = frozenset(["I", "It", "The", "A", "An", "In", "As", "For", "On", "At", "Of"])


def _names_before(text: str, place: int) -> bool:
    """Return True if a name or a place occurs before ``place``."""
    before = text[:place]
    if re.search("[一-鿿]", before):
        return _ZH_PLACE.search(before) is not None or _NAME.search(before) is not None
    names = [found for found in _NAME.finditer(before) if found[0] not in _GRAMMAR]
    inside = [found for found in names if not _SENTENCE_START.search(before[: found.start()])]
    return bool(inside) or _PLACE_OR_TIME.search(before) is not None


def find_ambiguity(text: str) -> str:
    """Return the text with an unresolved reference, or the empty text."""
    words = words_only(text)
    if found := _OWN.search(words) or _PERSON.search(words) or _HEAD.search(words):
        return found[0].strip()
    for pointing in _POINTING.finditer(words):
        place = pointing.start()
        if is_opening(words, place) and not _names_before(words, place):
            return pointing[0]
    return ""


_LAWS = _PATTERNS.one("laws")


_ZH_LAWS = _PATTERNS.one("zh_laws")


_PART = _PATTERNS.one("part")


_ZH_PART = _PATTERNS.one("zh_part")


_NEIGHBOUR = _PATTERNS.one("neighbour")


_ZH_NEIGHBOUR = _PATTERNS.one("zh_neighbour")


_NUMBERED = _PATTERNS.one("numbered")


_ZH_NUMBERED = _PATTERNS.one("zh_numbered")


_ABOVE = _PATTERNS.one("above")


_BELOW = _PATTERNS.one("below")


_ARGUED_ABOVE = _PATTERNS.one("argued_above")


_ARGUED_BESIDE = _PATTERNS.one("argued_beside")


_ARGUED_BELOW = _PATTERNS.one("argued_below")


_LABELLED = _PATTERNS.one("labelled")


def _outside_laws(pattern: re.Pattern[str], laws: re.Pattern[str], text: str) -> Iterator[str]:
    for found in pattern.finditer(text):
        if not laws.search(text[max(found.start() - 30, 0) : found.start()]):
            yield found[0]


def _parts(text: str) -> Iterator[str]:
    yield from _outside_laws(_PART, _LAWS, text)
    yield from _outside_laws(_ZH_PART, _ZH_LAWS, text)


def _neighbours(text: str) -> Iterator[str]:
    for pattern in (_NEIGHBOUR, _ZH_NEIGHBOUR, _NUMBERED, _ZH_NUMBERED):
        yield from (found[0] for found in pattern.finditer(text))


def _absent_formulas(text: str) -> Iterator[str]:
    for found in _ABOVE.finditer(text):
        if not has_formula(text[: found.start()]):
            yield found[0]
    for found in _BELOW.finditer(text):
        if not has_formula(text[found.end() :]):
            yield found[0]


def _absent_arguments(text: str) -> Iterator[str]:
    for found in (*_ARGUED_ABOVE.finditer(text), *_ARGUED_BESIDE.finditer(text)):
        if found["noun"] not in text[: found.start()].lower():
            yield found[0]
    for found in _ARGUED_BELOW.finditer(text):
        if ":" not in text[found.end() :]:
            yield found[0]


def _absent_labels(text: str) -> Iterator[str]:
    for found in _LABELLED.finditer(text):
        if text.count(found["label"] or found["circled"]) == 1:
            yield found[0]


_SEARCHES: tuple[Callable[[str], Iterator[str]], ...] = (
    _parts,
    _neighbours,
    _absent_formulas,
    _absent_arguments,
    _absent_labels,
)


def find_reference(text: str) -> str:
    """Return the text that refers to another part of its book, or the empty text."""
    words = words_only(text)
    return next((found.strip() for search in _SEARCHES for found in search(words)), "")


# A row of a file as input of the filters: its text and its references to other rows.

_TEXTS = ("text", "statement", "content")


class Candidate(Struct, frozen=True, gc=False, kw_only=True):
    """Hold a row of a file for the filters.

    ``number`` is the row's position, ``text`` the current text, ``before`` the original.
    ``removed`` is what the cleaner removed. ``key`` identifies the row; ``origin`` and ``corrects``
    refer to other rows of this file (empty without one). A malformed row (``is_readable`` false) is
    not filtered: its import reports the problem.
    """

    number: int
    column: str = ""
    text: str = ""
    before: str = ""
    removed: tuple[str, ...] = ()
    is_readable: bool = True
    is_perturbed: bool = False
    key: str = ""
    origin: str = ""
    corrects: str = ""
    stands_alone: bool = False
    stratum: Stratum = Stratum()


def candidates(rows: Sequence[Row]) -> Iterator[Candidate]:
    """Return the rows of a file, in order."""
    here = {key for row in rows if (key := Fields(row, []).key("id"))}
    for number, row in enumerate(rows):
        fields = Fields(row, [])
        column, value = fields.find(*_TEXTS)
        text = _encodable(str(value))
        origin, corrects = fields.key("origin") or "", fields.key("corrects") or ""
        yield Candidate(
            number=number,
            column=column,
            text=text,
            before=text,
            is_readable=isinstance(value, str) and value == text and not value.isspace(),
            is_perturbed=fields.truth("correct", "is_correct", "label") is False,
            key=_encodable(fields.key("id") or ""),
            origin=_encodable(origin) if origin in here else "",
            corrects=_encodable(corrects) if corrects in here else "",
            stratum=_stratum(fields),
        )


def _stratum(fields: Fields) -> Stratum:
    levels = astuple(read_stratum(fields))
    return Stratum(*(_encodable(level) for level in levels))


def _encodable(text: str) -> str:
    """Return the text with unpaired surrogates replaced; the file's import rejects them by line."""
    return text.encode("utf-8", "replace").decode("utf-8")


def file_row(candidate: Candidate, row: Row) -> Row:
    """Return the file row of a candidate with its current values."""
    values = row.values
    if candidate.removed:
        values = {**values, candidate.column: candidate.text}
    if candidate.stands_alone:
        values = {name: value for name, value in values.items() if name != "corrects"}
    return row if values is row.values else Row(row.place, values)


def plain(candidate: Candidate) -> str:
    """Return its text without line breaks and double spaces."""
    return " ".join(candidate.text.split())


# Checks across all statements of a file: duplicate texts, and missing origins.

REPEATED, ORPHANED = "same once cleaned", "origin dropped"


def drop_repeats(rows: BatchRows, _context: StepContext) -> Mapping[int, Kept]:
    """Drop cleaned rows whose text now equals another's, and false statements that are now true.

    Rows that were duplicates in the original are kept: their import reports the problem.
    """
    every: list[Candidate] = list(rows)
    cleaned = {plain(one) for one in every if one.removed}
    true = cleaned & {plain(one) for one in every if not one.is_perturbed}
    taken = {_place(one) for one in every if not one.removed and plain(one) in cleaned}
    made: dict[int, Kept] = {}
    for number, one in enumerate(every):
        text = plain(one)
        if text not in cleaned:
            continue
        is_now_true = one.is_perturbed and text in true
        if is_now_true or (one.removed and _place(one) in taken):
            made[number] = Drop(REPEATED, text)
        else:
            taken.add(_place(one))
    return made


def drop_orphans(rows: BatchRows, _context: StepContext) -> Mapping[int, Kept]:
    """Drop false statements whose origin in this file was dropped.

    A row that corrects a dropped one is kept.
    """
    every: list[Candidate] = list(rows)
    left = {one.key for one in every}
    made: dict[int, Kept] = {}
    for number, one in enumerate(every):
        if one.origin and one.origin not in left:
            made[number] = Drop(ORPHANED, f"origin {one.origin}")
        elif one.corrects and one.corrects not in left:
            made[number] = structs.replace(one, stands_alone=True)
    return made


def _place(one: Candidate) -> tuple[str, bool, Stratum]:
    """Return the key that must be unique in a bank: a text in its taxonomy label."""
    return plain(one), one.is_perturbed, one.stratum


_REMOVED = _PATTERNS.each("removed")


_CITED = _PATTERNS.one("cited")


_NO_CITATION = _PATTERNS.one("no_citation", re.IGNORECASE)


_TAGS = _PATTERNS.each("tags")


_HEADS = _PATTERNS.each("heads")


_HAS_WORD = re.compile(r"[^\W\d_]{2}|[一-鿿]{2}")


class Cleaned(Struct, frozen=True, gc=False):
    """Hold the text without its cross-reference numbers, and what was removed."""

    text: str
    removed: tuple[str, ...] = ()


def clean(text: str) -> Cleaned:
    """Return the text without dispensable references; unchanged if there are none."""
    removed: list[str] = []
    cleaned = text
    for pattern in _TAGS:
        cleaned = _cut(cleaned, pattern, removed)
    for pattern in _HEADS:
        cleaned = _cut(cleaned, pattern, removed, keep=lambda found: found["kept"])
    for pattern in _REMOVED:
        cleaned = _cut(cleaned, pattern, removed, avoids_formulas=True)
    cleaned = _without_citations(cleaned, removed)
    if not removed or not _HAS_WORD.search(cleaned):
        return Cleaned(text)
    return Cleaned(_tidy(text, cleaned), tuple(removed))


def _cut(
    text: str,
    pattern: re.Pattern[str],
    removed: list[str],
    *,
    keep: Callable[[re.Match[str]], str] = lambda _found: "",
    avoids_formulas: bool = False,
) -> str:
    """Remove the matches of ``pattern``, and append them to ``removed``."""
    parts: list[str] = []
    end = 0
    for found in pattern.finditer(words_only(text) if avoids_formulas else text):
        kept = keep(found)
        removed.append(text[found.start() : found.end()].replace(kept, "", 1).strip(" ,，"))
        parts += [text[end : found.start()], kept]
        end = found.end()
    return "".join([*parts, text[end:]])


def _without_citations(text: str, removed: list[str]) -> str:
    """Remove "[12]" and "[3, 5-7]" if they can only be citations."""
    parts: list[str] = []
    end = 0
    words = words_only(text)
    for found in _CITED.finditer(words):
        numbers = [int(number) for number in re.findall(r"\d+", found["numbers"])]
        is_list = numbers[0] > 0 and numbers == sorted(set(numbers))
        if is_list and found.start() and not _NO_CITATION.search(words[: found.start()]):
            removed.append(found[0].strip())
            parts.append(text[end : found.start()])
            end = found.end()
    return "".join([*parts, text[end:]])


def _tidy(before: str, text: str) -> str:
    """Close gaps left by removals, and restore an initial capital."""
    text = re.sub(r" +(?=[.,;:!?](?:\s|$))", "", text)
    text = re.sub(r"(?<=\S) {2,}", " ", text).strip()
    if before.lstrip()[:1].isupper() and text[:1].islower() and text[1:2].islower():
        text = text[0].upper() + text[1:]
    return text


# Steps of a pipeline: cleaner and filters in the paper's order (3.1.1, appendix C), then checks
# across rows. They run in memory, since only counts of dropped rows are stored. Each row counts at
# its first reason.

# Increment on every rule change: a bank's funnel records the version of its rules.
FILTERS_VERSION = 2


_GROUPS = ("correct", "perturbed")


class Filter(Struct, frozen=True, gc=False):
    """Describe a filter: ``find`` returns the matching text, or the empty text."""

    reason: str
    find: Callable[[str], str]
    perturbed_only: bool = False


FILTERS = (
    Filter("figure", find_figure),
    Filter("reference", find_reference),
    Filter("ambiguous", find_ambiguity),
    Filter("too short", find_brevity, perturbed_only=True),
)


# Filters for a single true statement, without the others of its file.
REASONS_OF_TRUE = tuple(one.reason for one in FILTERS if not one.perturbed_only)


REASONS = (*(one.reason for one in FILTERS), REPEATED, ORPHANED)


def _clean(one: Candidate, _context: StepContext) -> Kept:
    cleaned = clean(one.text) if one.is_readable else None
    if cleaned is None or not cleaned.removed:
        return one
    return structs.replace(one, text=cleaned.text, removed=cleaned.removed)


def _filter(one: Candidate, _context: StepContext) -> Kept:
    for rule in FILTERS if one.is_readable else ():
        if (one.is_perturbed or not rule.perturbed_only) and (found := rule.find(one.text)):
            return Drop(rule.reason, found)
    return one


_ALONE = (
    Step(name="clean", version=FILTERS_VERSION, takes=Candidate, work=_clean),
    Step(
        name="filter", version=FILTERS_VERSION, takes=Candidate, work=_filter,
        reasons=tuple(one.reason for one in FILTERS),
    ),
)  # fmt: skip


STEPS: tuple[Step | BatchStep, ...] = (
    *_ALONE,
    BatchStep(
        name="repeats", version=FILTERS_VERSION, takes=Candidate, work=drop_repeats,
        reasons=(REPEATED,),
    ),
    BatchStep(
        name="origins", version=FILTERS_VERSION, takes=Candidate, work=drop_orphans,
        reasons=(ORPHANED,),
    ),
)  # fmt: skip


def sift_row(row: Row) -> Row | SiftedRow:
    """Return the row unchanged or cleaned, or the first reason to drop it.

    A row with invalid text or truth is kept: its import reports the problem.
    """
    (one,) = _sift([row], _ALONE)
    return one


def sift(rows: Iterable[Row]) -> SiftedRows:
    """Filter all rows one by one, then drop duplicates after cleaning and orphaned false
    statements.
    """
    every = list(rows)
    sifted = _sift(every, STEPS)
    return SiftedRows(
        kept=tuple(
            one.row if isinstance(one, SiftedRow) else one for one in sifted if not _reason(one)
        ),
        touched=tuple(one for one in sifted if isinstance(one, SiftedRow)),
        funnel=_funnel(sifted, [one.is_perturbed for one in candidates(every)]),
    )


def _sift(rows: Sequence[Row], steps: Sequence[Step | BatchStep]) -> list[Row | SiftedRow]:
    """Return the result of the steps for each row."""
    done = perform_plain(steps, [make_row(one) for one in candidates(rows)])
    last: dict[int, Candidate] = {
        one.number: one for one in (read_row(row, Candidate) for row in done[-1].kept)
    }
    dropped = dict(_dropped(done))
    return [_became(rows[n], last.get(n), dropped.get(n)) for n in range(len(rows))]


def _dropped(done: Sequence[PlainStep]) -> Iterable[tuple[int, tuple[Candidate, Drop]]]:
    for step in done:
        for row, outcome in zip(step.rows, step.outcomes, strict=True):
            if outcome.reason:
                one: Candidate = read_row(row, Candidate)
                yield one.number, (one, Drop(outcome.reason, outcome.found))


def _became(
    row: Row, left: Candidate | None, dropped: tuple[Candidate, Drop] | None
) -> Row | SiftedRow:
    """Return a row of the file with its filter result."""
    if left is not None:
        stands = file_row(left, row)
        if not left.removed:
            return stands
        return SiftedRow(row=stands, before=left.before, found=" | ".join(left.removed))
    if dropped is None:
        raise AssertionError(f"{row.place} is neither left nor dropped")
    one, drop = dropped
    # Rows dropped in comparison with others are quoted in normalized form, unless cleaned.
    is_compared = drop.reason in (REPEATED, ORPHANED) and not one.removed
    before = plain(one) if is_compared else one.before
    return SiftedRow(row=file_row(one, row), before=before, reason=drop.reason, found=drop.found)


def _reason(one: Row | SiftedRow) -> str:
    return one.reason if isinstance(one, SiftedRow) else ""


def _funnel(sifted: Sequence[Row | SiftedRow], perturbed: Sequence[bool]) -> Funnel:
    counts: Mapping[str, list[int]] = {reason: [0, 0] for reason in REASONS}
    entered, changed = [0, 0], [0, 0]
    for one, is_perturbed in zip(sifted, perturbed, strict=True):
        group = int(is_perturbed)
        entered[group] += 1
        if reason := _reason(one):
            counts[reason][group] += 1
        elif isinstance(one, SiftedRow):
            changed[group] += 1
    return Funnel(
        filters=f"encyclo_k filters {FILTERS_VERSION}",
        groups=_GROUPS,
        entered=tuple(entered),
        steps=tuple(FunnelStep(reason, tuple(n)) for reason, n in counts.items()),
        changed=tuple(changed),
    )
