"""Statements that point at something they do not name: "our country", "this region", "He was ..."

"This region" is clear where the statement has named one before; so only what points back from the
first sentence, with no name before it, counts. "Our country" is clear nowhere outside its book.
"""

from __future__ import annotations

import re

from proofstone.methods.encyclo_k.filters.matter import is_opening, words_only

__all__ = ["find_ambiguity"]

_OWN = re.compile(
    r"\b(?:[Oo]ur|OUR|[Mm]y)\s+(?:own\s+)?(?:country|nation|motherland|homeland|fatherland|"
    r"province|city|county|state|government|university|school|company|hospital|people)\b"
    # "自我校正", "自我省察": the self, not ours. "来自我国" is ours again.
    r"|(?<![敌彼])我国|(?<![自忘大小无真敌彼])我们?(?:国家|省|市|县|校|院|公司)(?![察略况视正长场面])"
)

_PLACES = (
    r"(?:region|area|country|nation|city|county|province|state|district|village|town|island|"
    r"territory|place|locality|valley|basin|continent)"
)
_PEOPLE = (
    r"(?:author|poet|writer|scholar|emperor|empress|king|queen|ruler|prince|general|minister|"
    r"philosopher|scientist|mathematician|physicist|thinker|painter|composer|novelist)"
)
_TIMES = r"(?:period|dynasty|century|era|year|decade)"
_POINTING = re.compile(
    rf"\b(?:[Tt]his|[Tt]hat(?=\s+(?:region|country|area|{_PEOPLE}\b)))\s+(?:{_PLACES}|{_PEOPLE}|{_TIMES})\b"
    rf"|\b[Tt]hese\s+(?:regions|areas|countries|nations|cities|provinces|islands)\b"
    r"|\b[Tt]he\s+(?:above-?mentioned|aforementioned|said)\s+[a-z]+"
    r"|(?:该|此|这个?|这一)(?:地区|国家|国(?!际)|区域|省份?|城市|市(?!场)|县|岛|流域|盆地|诗人|作家|作者|"
    r"皇帝|学者|时期|朝代|世纪|年代)|本(?:地区|省|市(?!场)|县)"
    r"|上述(?!：)"
)
# Somebody of whom nothing was said; statins and "other people" begin with the same character.
_PERSON = re.compile(
    r"^(?:He|She|They|His|Her|Their)\s+(?!(?:that|who)\b)(?=[a-z])|^The\s+author\s+(?=[a-z]+s\b)"
    r"|^(?:他|她)(?:们|的)?(?![人汀山律乡克莫米巴唑])(?=[一-鿿])"
)
# At the very head, where nothing can have been named: "This treaty ended the war."
_HEAD = re.compile(
    r"^(?:(?:This|That)\s+(?:man|woman|couple|ruler|battle|war|campaign|treaty|treatise|agreement|event|"
    r"incident|movement|party|company|book|poem|novel|play|painting|law|edict|reform|dynasty|rebellion|"
    r"uprising|revolution|experiment|reaction|substance|organism|disease|drug)"
    r"|(?:These|Those|Such)\s+(?:measures|reforms|policies|events|results|findings|experiments|poems|"
    r"novels|laws|reactions|works|wars))\s+(?=[a-z])"
    r"|^It\s+was\s+(?:he|she|they)\s+who\b"
    r"|^(?:此[人公书]|该(?!方法))(?![来去做走说死不当怎着])(?=[一-鿿])"
    r"|^[这那](?:场|次|位|部|篇|首|项)(?:战争|战役|起义|革命|改革|变法|运动|会议|皇帝|诗人|学者|作家|作品|小说|诗|条约|实验)"
)
_NAME = re.compile(r"[A-Z][\w'’-]+")
_ZH_PLACE = re.compile(
    r"[国省州市县洲岛山河江湖海区朝]|流域|盆地|高原|平原|半岛|沙漠|大陆|世纪|\d年"
)
_SENTENCE_START = re.compile(r"(?:^|[.!?:]\s+)$")
# Grammar, not names, though they may be capitals; "In" and "The" open sentences.
_GRAMMAR = frozenset(["I", "It", "The", "A", "An", "In", "As", "For", "On", "At", "Of"])


def _names_before(text: str, place: int) -> bool:
    """Whether something with a name, or a place, stands before ``place``."""
    before = text[:place]
    if re.search("[一-鿿]", before):
        return _ZH_PLACE.search(before) is not None or _NAME.search(before) is not None
    names = [found for found in _NAME.finditer(before) if found[0] not in _GRAMMAR]
    inside = [found for found in names if not _SENTENCE_START.search(before[: found.start()])]
    return bool(inside) or re.search(rf"\b(?:{_PLACES}|{_TIMES})s?\b", before) is not None


def find_ambiguity(text: str) -> str:
    """What in the text points at something unnamed, or the empty text."""
    words = words_only(text)
    if found := _OWN.search(words) or _PERSON.search(words) or _HEAD.search(words):
        return found[0].strip()
    for pointing in _POINTING.finditer(words):
        place = pointing.start()
        if is_opening(words, place) and not _names_before(words, place):
            return pointing[0]
    return ""
