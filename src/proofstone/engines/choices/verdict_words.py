"""The words by which a reply calls a statement true or false, in English and Chinese.

A negated word is one word: "not correct" and 不正确 call it false, "not wrong" and 没有错误 call it
true. One that does neither wholly ("partly true", 部分正确) calls it both. All patterns are
bounded.
"""

from __future__ import annotations

import re
from typing import Literal

__all__ = ["WORD", "WORD_END", "Said", "names_another", "said_by", "words_alone"]

Said = Literal["true", "false", "both"]

_RIGHT = "true|correct|right|accurate|valid"
_WRONG = "false|incorrect|wrong|inaccurate|untrue|invalid|erroneous|mistaken"
_FULLY = (
    "entirely|completely|fully|strictly|quite|wholly|totally|actually|factually|exactly|really|"
    "always|necessarily|at all|technically|historically|literally"
)
_PARTLY = "partially|partly|half|mostly|largely|somewhat|generally|sometimes|both|neither|nearly"
_PAD = r"[\s\"'“”‘’*_`-]{1,4}"
_NOT = rf"(?:not|(?:is|was)n['’]t|never){_PAD}(?:(?:{_FULLY}){_PAD})?(?:a{_PAD})?"

# In this order: a longer reading before one that is a part of it.
WORD = (
    r"(?:(?<![A-Za-z0-9_])(?i:"
    rf"(?P<both>(?:{_PARTLY}){_PAD}(?:{_RIGHT}|{_WRONG}))|"
    rf"(?P<no>{_NOT}(?:{_RIGHT})|{_WRONG}|no)|"
    rf"(?P<yes>{_NOT}(?:{_WRONG})|{_RIGHT}|yes))(?![A-Za-z0-9_]|['’-][A-Za-z])|"
    r"(?<![A-Za-z0-9_])(?P<t>[TtＴ]|(?P<f>[FfＦ]))(?![A-Za-z0-9_'’])|"
    r"(?P<tick>[✓✔✅☑√])|(?P<cross>[✗✘❌✖❎×])|"
    r"(?P<zh_both>(?:部分|基本|大致|大体|一半|半)(?:是)?(?:正确|错误|对|错|准确|属实))|"
    r"(?P<zh_no>(?:不|并不|并非|不是|不完全|不太|不够|不尽)(?:完全|是)?"
    r"(?:正确|对|准确|属实|成立|真实|真|符合事实)|错误|有误|不实|失实|虚假|错|假|否|不是)|"
    r"(?P<zh_yes>(?:没有|没|无|毫无)(?:任何)?(?:错误|错|误)|正确|准确|属实|成立|真实|符合事实|"
    r"对|真|是))"
)
# What may follow a word that is a verdict, rather than part of something longer ("correct option",
# "no longer", 对于, 是否).
WORD_END = (
    r"(?:的|了|无误)?(?=[ \t\u3000]{0,9}(?:$|[\r\n,，;；:：!！?？。、()\[\]{}（）［］【】「」『』]|"
    r"[《》*_`\"“”‘’'$<>|\\/=—–…✓✔✅✗✘❌-]|\.(?![A-Za-z0-9])|"
    r"(?i:because|since|as|due|given|but|and|or|so|for|by)\b|因为|由于|或|还是))"
)
_GROUPS: tuple[tuple[str, Said], ...] = (
    ("no", "false"), ("yes", "true"), ("f", "false"), ("t", "true"), ("zh_no", "false"),
    ("zh_yes", "true"), ("tick", "true"), ("cross", "false"), ("both", "both"),
    ("zh_both", "both"),
)  # fmt: skip

_MARKUP = r"[\s*_`\"'“”‘’()\[\]{}（）［］【】「」『』《》<>$~#|\\]"
_ANOTHER = re.compile(
    rf"{_MARKUP}{{0,8}}+(?:[/,，、;；|-]|(?i:or|and)\b|[或和与]|还是){_MARKUP}{{0,8}}+"
    rf"(?:(?i:or|and)\b{_MARKUP}{{0,4}}+)?{WORD}{WORD_END}"
)


def said_by(match: re.Match[str]) -> Said:
    """What the word of a match of a pattern with one WORD in it says."""
    return next(said for group, said in _GROUPS if match[group] is not None)


def names_another(text: str, end: int, said: Said) -> bool:
    """Whether a list goes on at ``end`` with a verdict other than ``said``."""
    match = _ANOTHER.match(text, end)
    return match is not None and said_by(match) != said


_ALONE = re.compile(
    rf"{_MARKUP}{{0,16}}+(?:(?i:it['’]?s|it is|this is|statement is)\s|[这此该]是|为)?"
    rf"{_MARKUP}{{0,8}}+{WORD}(?:的|了)?[.。!！,，;；:：]{{0,2}}{_MARKUP}{{0,16}}+[.。!！]?\s*$"
)


def words_alone(line: str) -> Said | None:
    """The verdict that is all a line says: ``**False.**``, ``错误。``; else None."""
    match = _ALONE.match(line)
    return None if match is None else said_by(match)
