"""Statements that lean on another part of their book: a chapter, a numbered formula, a reaction.

What a chapter is of decides: the chapters of laws, treaties and scriptures are knowledge, those of
the textbook are not. A formula that stands in the statement itself may be pointed at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

# What of a statement is words: formulas and code set aside, and what stands before a place.

_SET_ASIDE = re.compile(
    r"\$\$.+?\$\$|(?<![\\$])\$(?!\$)[^$\n]+?\$|\\\[.+?\\\]|\\\(.+?\\\)|```.+?```|`[^`\n]+`",
    re.DOTALL,
)


_FORMULA = re.compile(r"[=≈≡≤≥<>→⇌⇒∝∫∑]|->|\$|\\\[|\\\(|\ufffc")


_SENTENCE_END = re.compile(r"[.!?](?=\s)|[。！？；;\n]")


_TITLE = re.compile(r"^[^.!?。！？\n]{1,60}?(?:: |：|:(?=\S))")


# Stands for each character of what is set aside; no pattern here matches it.
_BLANK = "\ufffc"


def words_only(text: str) -> str:
    """The text with each formula and each piece of code blanked out, of the same length."""
    return _SET_ASIDE.sub(lambda found: _BLANK * len(found[0]), text)


def has_formula(text: str) -> bool:
    """Whether there is a formula or a reaction in it, marked as one or not."""
    return _FORMULA.search(text) is not None


def is_opening(text: str, place: int) -> bool:
    """Whether ``place`` stands in the first sentence, the title of the knowledge point left out:
    nothing has been said yet to which a word there could point back."""
    title = _TITLE.match(text[:place])
    return _SENTENCE_END.search(text[title.end() if title else 0 : place]) is None


# Statements that need a picture: an image among the text, or a figure or table shown elsewhere.

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


# Falsified statements too short to hold both a falsehood and enough truth around it.

# Table 1's shortest statement has 8 tokens: about 5 words, or 8 Chinese characters.
MIN_WORDS = 5


_CHARACTERS_A_WORD = 1.6


_WORD = re.compile(r"[^\W_㐀-鿿]+")


_CHARACTER = re.compile(r"[㐀-鿿]")


def find_brevity(text: str) -> str:
    """How long the text is, where it is too short; else the empty text."""
    words, characters = len(_WORD.findall(text)), len(_CHARACTER.findall(text))
    if words + characters / _CHARACTERS_A_WORD >= MIN_WORDS:
        return ""
    return f"{words} words" if not characters else f"{characters} characters, {words} words"


# Statements that point at something they do not name: "our country", "this region", "He was ..."
#
# "This region" is clear where the statement has named one before; so only what points back from the
# first sentence, with no name before it, counts. "Our country" is clear nowhere outside its book.

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
