"""Cross-reference numbers taken out of a statement that says all it says without them.

"(see Section 3.2)", "[12]", "As shown in Figure 3.2, ...", "如图3-2所示，", "\\tag{4.1}", the
number of a theorem at the head. What the sentence needs ("Figure 3.2 shows ...") stays, for the
filters that come after. A text that would hold no words any more stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct, structs
from msgspec.structs import astuple

from proofstone.files.fields import Fields
from proofstone.methods.encyclo_k.filters.rules import words_only
from proofstone.methods.encyclo_k.statements import read_stratum
from proofstone.records.builds import BatchRows, Drop, Kept, StepContext
from proofstone.records.knowledge import Stratum
from proofstone.records.tables import Row

# A row of a file as the filters see it: its text and what binds it to other rows of the file.

_TEXTS = ("text", "statement", "content")


class Candidate(Struct, frozen=True, gc=False, kw_only=True):
    """``number`` is the row's place in the file, ``text`` as it stands, ``before`` as it came;
    ``removed`` is what the cleaner took out. ``key`` names the row, ``origin`` and ``corrects``
    other rows of this file (empty where they name none of it). Of one that cannot be read
    (``is_readable``) nothing is judged: reading it names the problem."""

    number: int
    column: str = ""
    text: str = ""
    before: str = ""
    removed: tuple[str, ...] = ()
    is_readable: bool = True
    is_falsified: bool = False
    key: str = ""
    origin: str = ""
    corrects: str = ""
    stands_alone: bool = False
    stratum: Stratum = Stratum()


def candidates(rows: Sequence[Row]) -> Iterator[Candidate]:
    """The rows of a file, in their order."""
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
            is_falsified=fields.truth("correct", "is_correct", "label") is False,
            key=_encodable(fields.key("id") or ""),
            origin=_encodable(origin) if origin in here else "",
            corrects=_encodable(corrects) if corrects in here else "",
            stratum=_stratum(fields),
        )


def _stratum(fields: Fields) -> Stratum:
    levels = astuple(read_stratum(fields))
    return Stratum(*(_encodable(level) for level in levels))


def _encodable(text: str) -> str:
    """The text, what no encoding takes (half a pair of code units) replaced: the reader of the file
    refuses that by its line."""
    return text.encode("utf-8", "replace").decode("utf-8")


def file_row(candidate: Candidate, row: Row) -> Row:
    """The row of the file that a candidate was made from, as it stands now."""
    values = row.values
    if candidate.removed:
        values = {**values, candidate.column: candidate.text}
    if candidate.stands_alone:
        values = {name: value for name, value in values.items() if name != "corrects"}
    return row if values is row.values else Row(row.place, values)


def plain(candidate: Candidate) -> str:
    """Its text without line breaks and double spaces."""
    return " ".join(candidate.text.split())


# What only shows among all statements of a file: the same text twice, an origin that is gone.

REPEATED, ORPHANED = "same once cleaned", "origin dropped"


def drop_repeats(rows: BatchRows, _context: StepContext) -> Mapping[int, Kept]:
    """Drops cleaned rows whose text is now another's, and falsified ones that are now true.

    Rows that were the same as they came are left: reading them names the problem.
    """
    every: list[Candidate] = list(rows)
    cleaned = {plain(one) for one in every if one.removed}
    true = cleaned & {plain(one) for one in every if not one.is_falsified}
    taken = {_place(one) for one in every if not one.removed and plain(one) in cleaned}
    made: dict[int, Kept] = {}
    for number, one in enumerate(every):
        text = plain(one)
        if text not in cleaned:
            continue
        is_now_true = one.is_falsified and text in true
        if is_now_true or (one.removed and _place(one) in taken):
            made[number] = Drop(REPEATED, text)
        else:
            taken.add(_place(one))
    return made


def drop_orphans(rows: BatchRows, _context: StepContext) -> Mapping[int, Kept]:
    """Drops falsified rows whose origin, in this file, was dropped. A row that corrects a dropped
    one stands by itself."""
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
    """What may stand in a bank once: a text, true or false, in its place of the taxonomy."""
    return plain(one), one.is_falsified, one.stratum


_N = r"(?:[A-Z](?=[.\-–]?\d))?\d+(?:[.\-–]\d+)*[a-z]?"


_NS = rf"\(?{_N}\)?(?:\s*(?:,|and|to|or|–|-|&)\s*\(?{_N}\)?)*"


_WHAT = (
    r"(?:[Ff]ig(?:ure)?s?\.?|[Tt]ab(?:le)?s?\.?|[Cc]hap(?:ter)?s?\.?|[Cc]h\.|[Ss]ec(?:tion|t)?s?\.?|"
    r"§+|[Ee]q(?:uation|n)?s?\.?|[Ff]ormulas?|[Aa]ppendix|[Pp]ages?|pp?\.|[Rr]eactions?|[Ss]cheme|"
    r"[Ee]xamples?|[Tt]heorems?|[Ll]emmas?|[Dd]efinitions?|[Rr]efs?\.|[Rr]eferences?)"
)


_LEAD = (
    r"(?:(?:[Ss]ee|cf\.|[Cc]f|compare|refer to|as (?:shown|seen|in)(?: in)?|shown in|e\.g\.,?)"
    r"\s+(?:also\s+)?)"
)


_PART = rf"{_WHAT}\s*(?:{_NS}|[A-Z]\b)"


_NEAR = (
    r"(?:above|below|earlier|overleaf|previous(?:ly)?|"
    r"the (?:previous|next|following) (?:chapter|section))"
)


_ZH_N = r"[（(]?\s*[A-Z]?[\d一二三四五六七八九十]+(?:\s*[-–.．·]\s*\d+)*\s*[)）]?"


_ZH_WHAT = (
    rf"(?:图|表|公式|式|方程|例|附录)\s*{_ZH_N}|第\s*{_ZH_N}\s*[章节页]|文献\s*[\[［]\d+[\]］]"
)


_ZH_PART = rf"(?:{_ZH_WHAT})(?:\s*[、,，和及与至]\s*(?:{_ZH_WHAT}|{_ZH_N}))*"


_DID = (
    r"(?:shown|seen|illustrated|depicted|discussed|described|mentioned|noted|stated|explained|"
    r"defined|given|indicated|introduced)"
)


_REMOVED = (
    # In round brackets: "(see Section 3.2)", "(Fig. 4-1a)", "（见图3-2）".
    re.compile(rf"\s*[(\[]\s*{_LEAD}?{_PART}(?:\s*(?:[,;]|and)\s*{_LEAD}?{_PART})*\s*[)\]]"),
    re.compile(rf"\s*\(\s*{_LEAD}(?:[^()]{{0,20}}\s)?{_NEAR}\s*\)"),
    re.compile(rf"\s*[（(]\s*(?:详|参|请)?[见如参]?[见阅考]?\s*{_ZH_PART}(?:所示)?\s*[)）]"),
    re.compile(r"\s*[（(]\s*(?:详|参)?[见如][前后上下](?:文|述|图|表|面)\s*[)）]"),
    # Clauses that only lead there: "As shown in Figure 3.2, ", ", as discussed in Chapter 5,".
    re.compile(
        rf"(?:(?<=^)|(?<=[.!?:] ))(?:[Aa]s|[Aa]s it is|[Aa]s we have)\s+{_DID}\s+"
        rf"(?:in\s+{_PART}|{_NEAR}|in\s+{_NEAR}),\s*"
    ),
    re.compile(rf",\s*as\s+{_DID}\s+(?:in\s+{_PART}|{_NEAR}|in\s+{_NEAR})\s*(?:,|(?=[.;]))"),
    re.compile(rf"(?:(?<=^)|(?<=[，。；：,;]))\s*(?:正?如|见|由|从)?{_ZH_PART}(?:中)?所[示述列]\s*[，,]\s*"),
    re.compile(r"(?:(?<=^)|(?<=[，。；：,;]))\s*如(?:[上下左右前后附](?:文|图|表|面|式)?)?(?:图|表)?所[示述]\s*[，,]\s*"),
    re.compile(rf"[，,]\s*(?:正?如|见|参见|详见){_ZH_PART}(?:所[示述列])?(?=[。；，,]|$)"),
    re.compile(r"[，,]\s*如[上下前后左右]?[图表文]所[示述](?=[。；，,]|$)"),
)  # fmt: skip


# Marks of citation: not an interval, an index, an isotope or a ring size.
_CITED = re.compile(
    r"(?P<before>\s?)[\[［](?P<numbers>\s*\d{1,3}(?:\s*[,，;–-]\s*\d{1,3})*\s*)[\]］]"
    r"(?=[\s.,;:!?)。，；：、！？）]|$|[一-鿿])"
)


_NO_CITATION = re.compile(
    r"(?:\b(?:intervals?|range|segment|domain|on|in|over|from|at|between|to|array|list|vector|matrix|"
    r"tuple|index|set|is|are|returns?|equals?|gives?|[A-Za-z]|\w*[_\d\]])|区间|集合|向量|点|范围|上|在|于|为|是|等于|数组|列表|"
    r"references?|refs?\.|文献|[=∈⊂+*/<>,(\[]|\ufffc)\s*$",
    re.IGNORECASE,
)


# The number of a formula inside or right behind it, and the number of a theorem at the head.
_TAGS = (
    re.compile(r"\s*\\tag\*?\{[^{}]*\}"),
    re.compile(r"\s*\\eqno\s*\(?\{?[\d.\-]+\}?\)?"),
    re.compile(r"\s*(?:\\q?quad|\\hfill|\\cdots|\\ldots|…+|\.{3,})+\s*\(\d+(?:[.\-]\d+)*[a-z]?\)(?=\s*(?:\$|\\\]))"),
    re.compile(r"(?<=\$\$)\s*[（(]\d+(?:[.\-]\d+)*[a-z]?[)）]"),
)  # fmt: skip


_KIND = r"(?:Definition|Theorem|Lemma|Corollary|Proposition|Axiom|Example|Remark)"


_HEADS = (
    re.compile(rf"^(?P<kept>{_KIND})\s+\d+(?:[.\-]\d+)*(?=\s*(?:[.:]\s|\())"),
    re.compile(rf"^\d+(?:\.\d+)+\.?\s+(?P<kept>{_KIND}\b)"),
    re.compile(r"^(?P<kept>定理|定义|引理|推论|命题|例)\s*\d+(?:[-.．]\d+)*(?=\s*[：:（(。\s])"),
    re.compile(r"^(?P<kept>)(?:§\s*)?\d+(?:\.\d+){1,3}\.?\s+(?=[A-Z一-鿿][\w一-鿿 ]*[:：])"),
)


_HAS_WORD = re.compile(r"[^\W\d_]{2}|[一-鿿]{2}")


class Cleaned(Struct, frozen=True, gc=False):
    """The text without its cross-reference numbers, and what was taken out of it."""

    text: str
    removed: tuple[str, ...] = ()


def clean(text: str) -> Cleaned:
    """The text without the references that it does not need; itself where it has none."""
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
    """The text without what ``pattern`` finds in it; what went is added to ``removed``."""
    parts: list[str] = []
    end = 0
    for found in pattern.finditer(words_only(text) if avoids_formulas else text):
        kept = keep(found)
        removed.append(text[found.start() : found.end()].replace(kept, "", 1).strip(" ,，"))
        parts += [text[end : found.start()], kept]
        end = found.end()
    return "".join([*parts, text[end:]])


def _without_citations(text: str, removed: list[str]) -> str:
    """Without "[12]" and "[3, 5-7]" where they can be nothing but citations."""
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
    """Spaces closed up where something was cut out, and a capital at the head where there was."""
    text = re.sub(r" +(?=[.,;:!?](?:\s|$))", "", text)
    text = re.sub(r"(?<=\S) {2,}", " ", text).strip()
    if before.lstrip()[:1].isupper() and text[:1].islower() and text[1:2].islower():
        text = text[0].upper() + text[1:]
    return text
