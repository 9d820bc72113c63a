"""Statements that lean on another part of their book: a chapter, a numbered formula, a reaction.

What a chapter is of decides: the chapters of laws, treaties and scriptures are knowledge, those of
the textbook are not. A formula that stands in the statement itself may be pointed at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from proofstone.methods.encyclo_k.filters.matter import has_formula, words_only

__all__ = ["find_reference"]

_DIGITS = r"\d+(?:[.\-–]\d+)*"
_ROUND = rf"\(\s*{_DIGITS}\s*[a-z]?\s*\)"
_ZH_ROUND = r"[（(]\s*[A-Z]?\d+(?:\s*[-–—.．·]\s*\d+)*\s*[a-z]?\s*[)）]"
_ZH_COUNT = r"[\d一二三四五六七八九十百]+(?:[.．\-–]\d+)*"

_LAWS = re.compile(
    r"(?:Act|Acts|Code|Constitution|Charter|Treaty|Statute|Convention|Bill|Title|Law|U\.S\.C\.|"
    r"Rules?|Regulations?|Directive|Ordinance)\b[\s\d,()./IVXLC]*$"
)
_ZH_LAWS = re.compile(
    r"(?:[》」』]|法典?|宪章|宪法|条例|公约|宣言|条约|规定|规则|第.{1,4}编)[^。；，,]{0,4}$"
)

# A numbered part of a book. Not of a law that is named before or after it.
_PART = re.compile(
    rf"(?:(?<![Cc]ross )(?<![Cc]ross-)\b(?:[Cc]hapters?|CHAPTERS?|Chaps?\.|Ch\."
    r"|[Ss]ections?|Sects?\.|Sec\.|[Ss]ubsections?)"
    rf"\s*(?:{_DIGITS}|[IVXLC]+\b|(?:one|two|three|four|five|six|seven|eight|nine|ten)\b)"
    rf"|§+\s*{_DIGITS}|\b[Aa]ppendi(?:x|ces)\s+(?:[A-Z]|{_DIGITS})\b)"
    r"(?![\d(])(?!\s+(?:of|in)\s+(?:the\s+)?[A-Z12])(?!\s+[A-Z]{2,})"
    r"(?!\s+(?:bankruptc|case|filing|petition|proceeding|debtor|reorgani|liquidation|trustee|plan"
    r"|housing|claim|action|suit)\w*)"
)
_ZH_PART = re.compile(
    rf"第\s*{_ZH_COUNT}\s*[章节](?![课车脊椎颈胸腰骶尾骨指趾竹比段链拍肢])|附录\s*[A-Z\d一二三四五]"
)

# A neighbour of the passage. "The following section of the population" is another matter.
_NEIGHBOUR = re.compile(
    r"\b(?:[Tt]he\s+)?(?:previous|preceding|next|following|last|earlier|later|foregoing|present)\s+"
    r"(?:chapter|section|subsection|paragraph)s?\b(?!\s+(?:of|in|to)\b)"
    r"|\b[Tt]his\s+(?:chapter|subsection|section|textbook)\b(?!\s+of\b)"
    r"|\b[Ii]n\s+this\s+book\b|\bPart\s+[IVX\d]+\s+of\s+this\s+book\b"
    r"|\b(?:mentioned|discussed|described|noted|defined|stated|explained|introduced|derived|proved|"
    r"shown|seen|given)\s+(?:above|below|earlier|previously)\b"
    r"|\b(?:see|as)\s+(?:above|below)\b|\bon\s+(?:the\s+(?:next|previous|facing)\s+page|page\s+\d+)"
    r"|\b(?:see|cf\.)\s+(?:page|pp?\.)\s*\d+|\bpp?\.\s+\d+"
    # A book that speaks of itself.
    r"|\b[Tt]his\s+(?:appendix|handbook|monograph)\b(?!\s+of\b)"
    r"|\b(?:earlier|later|elsewhere|further\s+on)\s+in\s+(?:the|this)\s+"
    r"(?:book|chapter|section|text|textbook|appendix)\b"
    r"|\b[Tt]his\s+(?:book|text)\s+(?:does|gives|uses|covers|treats|describes|prefers|follows|adopts|"
    r"assumes|deals|discusses|presents|introduces|will)\b"
    r"|\b(?:of|throughout)\s+(?:this|the\s+present)\s+(?:book|text|textbook)\b"
    r"|\b[Aa]s\s+we\s+(?:have\s+seen|saw|shall\s+see|will\s+see|shall\s+show|will\s+show)\b"
    r"|\bwill\s+be\s+(?:shown|proved|proven|discussed|explained|treated|derived|described|defined)\s+"
    r"(?:later|below|shortly|in\s+due\s+course)\b"
    r"|\(see\s+later\b|\b[Ss]ee\s+later\s+(?:for|in|on)\b"
    r"|\b(?:is|are|be|been|one|ones|as)\s+(?:explained|discussed|defined|treated|presented)\s+here\b"
    r"|\b(?:step|stage|item|point|rule|case)s?\s+\d+\s+(?:above|below)\b"
)  # fmt: skip
_ZH_NEIGHBOUR = re.compile(
    r"(?<![基日资成根样标])本[章节](?![程鱼法点约气目奏拍制律])"
    r"|(?:上|下|前|后)(?:面)?[一几]?[章节](?=[中里将已所我讨介给的，,。]|会)"
    r"|(?<![天月目史上以提先])(?:上|下|前)文(?![化明件献学字物档人本言书体坛])"
    r"|(?<![一二三四五六七八九十])[这该]一?(?:章节?|小节)(?=[将中里会主讨介])|这一[章节](?=[将中里会主讨介])"
    r"|(?:前|后|上|下)面的?(?:例子|示例|例题|定理|讨论|证明|推导)|[由从]上例|上例[中的]"
    r"|如(?:前|后|上|下)面(?:这样|所[示述]|提到|讲到)"
    r"|(?:前|后|上|下)面(?:已经?|曾经?|将会?|会|还会|再)?(?:提到|讲到|讲过|介绍|讨论|说明过|证明)"
    r"|后续章节|以后的?章节|(?:前|后)几[章节]|详见(?:后文|下文|附录)|本(?:教材|附录)(?=[中将第所的]|$)"
    r"|(?:如)?(?:前|上)(?:面)?所述|见第\s*\d+\s*页|[见参]本书|(?<![哪这那一二两三四五几数每某])本书(?=[中将第所的])"
)  # fmt: skip

# What carries a number of its own in the book.
_NUMBERED = re.compile(
    rf"\b(?:(?:[Ee]quations?|Eqs?\.|Eqns?\.|EQ\.)\s*(?:{_ROUND}|{_DIGITS}(?!\w)(?!\s*[-+*/=^]))"
    rf"|(?:[Ff]ormulas?|[Ff]ormulae|[Ee]xpressions?|[Ii]nequalit(?:y|ies)|[Rr]elations?)"
    rf"\s*(?:{_ROUND}|\d+[.\-]\d+\b)"
    rf"|[Rr]eactions?\s*(?:{_ROUND}|\d+[.\-]\d+\b)|Scheme\s+{_DIGITS}"
    rf"|(?:Theorem|Lemma|Corollary|Definition)s?\s+{_DIGITS}"
    rf"|(?:Proposition|Example|Exercise|Problem|Remark|Axiom)s?\s+\d+[.\-]\d+"
    rf"|(?:[Rr]eferences?|[Rr]efs?\.)\s*\[?\d+\]?)"
    rf"|\b(?:from|into|using|substituting|combining|by)\s+(?:both\s+)?\(\d+(?:[.\-]\d+)*[a-z]?\)"
    rf"|\b(?:in|of|with|and|see)\s+\(\d+[.\-]\d+[a-z]?\)"
)
_ZH_NUMBERED = re.compile(
    rf"(?:公式|方程组?|方程式|反应式?|不等式|表达式|关系式|[由将把从代入按据见与及和]\s*式|^式|[，。；,]式)"
    rf"\s*(?:{_ZH_ROUND}|\d+[-–.．]\d+)"
    rf"|[（(]\d+[-–.．]\d+[)）]\s*(?:式|两式)"
    rf"|(?:定理|引理|推论|定义|命题|例题?|习题)\s*\d+[-–.．]\d+|(?:文献|参考文献)\s*[\[［]\d+"
)

# A formula beside the text: pointed at by its place, so it must stand there.
_KINDS = r"(?:chemical\s+)?(?:equation|formula|expression|reaction|inequality)s?"
_ABOVE = re.compile(
    rf"\b[Tt]he\s+(?:above|preceding|previous|last)\s+{_KINDS}\b|上(?:述|面的)?(?:公式|方程式?|反应式?|式)"
)
_BELOW = re.compile(
    rf"\b[Tt]he\s+following\s+{_KINDS}\b|(?:下|以下|下述|下面的)(?:列)?(?:公式|方程式?|反应式?|式)(?!样)"
)


# Parts of an argument beside the text, in keeping with what stands in it.
_ARGUMENT = (
    r"(?P<noun>example|discussion|argument|proof|theorem|lemma|definition|derivation|exercise|corollary|"
    r"proposition|sidebar|listing)s?"
)
_ARGUED_ABOVE = re.compile(rf"\b[Tt]he\s+(?:above|preceding|previous|foregoing)\s+{_ARGUMENT}\b")
_ARGUED_BESIDE = re.compile(rf"\b[Tt]he\s+{_ARGUMENT}\s+(?:above|below|overleaf)\b")
_ARGUED_BELOW = re.compile(rf"\b[Tt]he\s+following\s+{_ARGUMENT}\b(?!\s+of\b)")
# "Reaction (b)", "case (ii)", "反应②": one of a list, which then stands in the text.
_LABELLED = re.compile(
    r"\b(?:[Rr]eaction|[Ee]quation|[Ss]tep|[Cc]ase|[Pp]art|[Ss]tatement|[Cc]ondition|[Ee]xpression|"
    r"[Ff]ormula|[Pp]roperty)\s+(?P<label>\((?:[a-z]|[ivx]+|\d{1,2})\))(?!\w)"
    r"|(?:反应|步骤|方程|条件|结论|性质|[由将从式]式?)\s*(?P<circled>[①-⑳])"
)


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
    """What in the text leads to another part of its book, or the empty text."""
    words = words_only(text)
    return next((found.strip() for search in _SEARCHES for found in search(words)), "")
