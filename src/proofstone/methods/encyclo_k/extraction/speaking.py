"""Statements that speak of the text they come from, where they should speak of its subject."""

from __future__ import annotations

import re

__all__ = ["SPEAKING_VERSION", "speaks_of_passage"]

SPEAKING_VERSION = 1  # raise it whenever a pattern changes

_TEXT = r"(?:passage|excerpt|text|paragraph|paper|article|vignette|tutorial|authors?)"
_TELLS = (
    r"(?:discuss|describ|explain|mention|introduc|present|provid|giv|cover|deal|focus|aim|outlin|"
    r"propos|stat|suggest|show|argu|note|highlight|emphasi[sz]|say|talk|address|illustrat)\w*"
)
_ENGLISH = re.compile(
    rf"\b(?:the|this|our)\s+{_TEXT}\s+(?:also\s+|then\s+|only\s+)?{_TELLS}\b"
    rf"|\b(?:in|of|by|from|to|throughout)\s+(?:the\s+(?:passage|excerpt)|this\s+{_TEXT})\b"
    rf"|\b(?:is|are|was|were)\s+(?:discussed|described|mentioned|introduced|presented|explained|"
    rf"outlined)(?=\s*(?:[.;,]|here\b|$))"
    rf"|\bwe\s+(?:aim|set\s+out|discuss|propose|describe|introduce|present)\b",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    r"(?:这|本|该|上述|以上)(?:段|篇)(?:文字|文本|话|内容|文章)|本文(?!件|档|本|字|化)|这篇文章|文中(?:介绍|讨论|提到|指出|说明)"
    r"|作者(?:还|也)?(?:认为|指出|介绍|提到|讨论|建议|说明|描述|强调)"
)


def speaks_of_passage(text: str) -> str:
    """What in ``text`` speaks of its passage, paper or authors; empty where nothing does."""
    found = _ENGLISH.search(text) or _CHINESE.search(text)
    return found[0] if found else ""
