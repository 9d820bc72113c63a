"""Cross-reference numbers taken out of a statement that says all it says without them.

"(see Section 3.2)", "[12]", "As shown in Figure 3.2, ...", "如图3-2所示，", "\\tag{4.1}", the
number of a theorem at the head. What the sentence needs ("Figure 3.2 shows ...") stays, for the
filters that come after. A text that would hold no words any more stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from proofstone.methods.encyclo_k.filters.matter import words_only

__all__ = ["Cleaned", "clean"]

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
