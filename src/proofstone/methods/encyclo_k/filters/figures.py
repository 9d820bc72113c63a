"""Statements that need a picture: an image among the text, or a figure or table shown elsewhere."""

from __future__ import annotations

import re

from proofstone.methods.encyclo_k.filters.matter import words_only

__all__ = ["find_figure"]

_NUMBER = r"(?:\d+|[A-Z](?=[.\-–]\d))(?:[.\-–]\d+)*"
_SHOWING = r"(?:figure|diagram|picture|photograph|photo|illustration|drawing|graph|chart|table)s?"
_ZH_NUMBER = r"[\s(（]*[A-Z]?\d+(?:\s*[-–—.．·]\s*\d+)*"

_FIGURES = (
    # Images themselves, and the marks that readers of pages leave for them.
    r"!\[[^\]\n]*\]\([^)\n]+\)|<img\b|<figure\b|\\includegraphics|data:image/",
    r"[\[【<](?i:image|figure|picture|图片|插图|图)[\]】>]",
    # Numbered ones. "A figure 8 knot", "a table 3 metres long" and figs are none.
    rf"\b(?:Figures?|FIGURES?|Figs?\.?|FIGS?\.?|Tables?|TABLES?|Tab\.|Chart|Diagram)\s*\(?{_NUMBER}"
    r"(?!\d)(?!\s+(?:knot|loop|pattern|shape|of\s+eight)s?\b)",
    rf"\bfig(?:ure)?s?\.\s*{_NUMBER}",
    rf"\b(?:see|in|from|of|by|and|to)\s+(?:figure|fig|table)s?\s+{_NUMBER}(?!\d)",
    # Those that stand beside the text.
    rf"\b[Tt]he\s+(?:accompanying|adjacent|adjoining|above|preceding|following)\s+{_SHOWING}\b(?!\s*:)",
    rf"\b{_SHOWING}\s+(?:above|below|opposite|overleaf|(?:to|on|at)\s+the\s+(?:left|right))\b",
    rf"\b(?:shown|illustrated|depicted|seen|sketched|pictured|plotted)\s+in\s+(?:the|this)\s+{_SHOWING}\b",
    rf"\b[Ll]ook\s+at\s+the\s+{_SHOWING}\b|\b[Pp]oints?\s+[A-Z]\b[^.]{{0,20}}\s(?:of|in)\s+the\s+{_SHOWING}\b",
    rf"^(?:The|This)\s+{_SHOWING}\s+(?:above\s+|below\s+)?(?:shows?|illustrates?|depicts?|represents?)\b",
    # "An increase in the figure for unemployment" and the figures of skaters are none.
    r"\b(?:[Ii]n|[Ff]rom)\s+(?:the|this)\s+(?:figure|diagram|sketch|drawing)\b"
    r"(?!\s+(?:of|for|eight|8|skating|given|reported)\b)",
    r"\b(?:From|In)\s+(?:the|this)\s+table,",
    # Chinese. Maps, enterprises and attempts hold the same character; "图3-着色" colours graphs.
    rf"(?<![地版企试意力贪蓝])图{_ZH_NUMBER}(?!\d)(?!\s*-?\s*可?(?:着色|染色|正则|连通)|\s*[个张幅种])",
    r"如[上下左右附前后]?图(?:所示|中|可[见知]|[，,])|(?:[见由从]|观察)(?:[上下左右附]|插)图|"
    r"(?:^|[，。；：,\s])(?:[上下左右附]|插)图(?:中|所示|为|是|给出|显示|表示|说明|展示)",
    # A graph has vertices and edges; what else is "in the picture" has been drawn.
    r"(?:^|[，。；：（(\s])图中(?!的?(?:任[意一何]|每|各?顶点|各?[结节]点|各?边|存在|所有|两|没有|有[向权]))",
    r"如(?:附|插|示意)图|(?:附|插|示意)图(?:中|所示|可[见知])|[从由](?:该|此)?[图表](?:中?可[知见以看])",
    r"(?:^|[，。；：（(\s])表中(?:的?数据|所列|列出|可[见知])",
    rf"(?<![代发手仪钟外地电水体列填期年])表{_ZH_NUMBER}(?!\d)(?!\s*[个名位种类次项人篇张天年月日])",
    r"如[上下左右附前后]?表(?:所示|中|所列)|[见由从][上下附]表(?!面)|"
    r"(?:^|[，。；：,\s])[上下附]表(?:中|所示|为|是|给出|列出|显示)",
)  # fmt: skip
_FIGURE = re.compile("|".join(_FIGURES), re.MULTILINE)


def find_figure(text: str) -> str:
    """What in the text needs a picture, or the empty text."""
    found = _FIGURE.search(words_only(text))
    return text[found.start() : found.end()].strip() if found else ""
