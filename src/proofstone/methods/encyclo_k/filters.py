"""Statements that lean on another part of their book: a chapter, a numbered formula, a reaction.

What a chapter is of decides: the chapters of laws, treaties and scriptures are knowledge, those of
the textbook are not. A formula that stands in the statement itself may be pointed at.
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


# Cross-reference numbers taken out of a statement that says all it says without them.

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


_LEADS_TO = rf"{_WHAT}\s*(?:{_NS}|[A-Z]\b)"


_NEAR = (
    r"(?:above|below|earlier|overleaf|previous(?:ly)?|"
    r"the (?:previous|next|following) (?:chapter|section))"
)


_ZH_N = r"[（(]?\s*[A-Z]?[\d一二三四五六七八九十]+(?:\s*[-–.．·]\s*\d+)*\s*[)）]?"


_ZH_WHAT = (
    rf"(?:图|表|公式|式|方程|例|附录)\s*{_ZH_N}|第\s*{_ZH_N}\s*[章节页]|文献\s*[\[［]\d+[\]］]"
)


_ZH_LEADS_TO = rf"(?:{_ZH_WHAT})(?:\s*[、,，和及与至]\s*(?:{_ZH_WHAT}|{_ZH_N}))*"


_DID = (
    r"(?:shown|seen|illustrated|depicted|discussed|described|mentioned|noted|stated|explained|"
    r"defined|given|indicated|introduced)"
)


_REMOVED = (
    # In round brackets: "(see Section 3.2)", "(Fig. 4-1a)", "（见图3-2）".
    re.compile(rf"\s*[(\[]\s*{_LEAD}?{_LEADS_TO}(?:\s*(?:[,;]|and)\s*{_LEAD}?{_LEADS_TO})*\s*[)\]]"),
    re.compile(rf"\s*\(\s*{_LEAD}(?:[^()]{{0,20}}\s)?{_NEAR}\s*\)"),
    re.compile(rf"\s*[（(]\s*(?:详|参|请)?[见如参]?[见阅考]?\s*{_ZH_LEADS_TO}(?:所示)?\s*[)）]"),
    re.compile(r"\s*[（(]\s*(?:详|参)?[见如][前后上下](?:文|述|图|表|面)\s*[)）]"),
    # Clauses that only lead there: "As shown in Figure 3.2, ", ", as discussed in Chapter 5,".
    re.compile(
        rf"(?:(?<=^)|(?<=[.!?:] ))(?:[Aa]s|[Aa]s it is|[Aa]s we have)\s+{_DID}\s+"
        rf"(?:in\s+{_LEADS_TO}|{_NEAR}|in\s+{_NEAR}),\s*"
    ),
    re.compile(rf",\s*as\s+{_DID}\s+(?:in\s+{_LEADS_TO}|{_NEAR}|in\s+{_NEAR})\s*(?:,|(?=[.;]))"),
    re.compile(rf"(?:(?<=^)|(?<=[，。；：,;]))\s*(?:正?如|见|由|从)?{_ZH_LEADS_TO}(?:中)?所[示述列]\s*[，,]\s*"),
    re.compile(r"(?:(?<=^)|(?<=[，。；：,;]))\s*如(?:[上下左右前后附](?:文|图|表|面|式)?)?(?:图|表)?所[示述]\s*[，,]\s*"),
    re.compile(rf"[，,]\s*(?:正?如|见|参见|详见){_ZH_LEADS_TO}(?:所[示述列])?(?=[。；，,]|$)"),
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


# The statements of a file through the cleaner and the filters, in the paper's order (3.1.1,
# appendix C), then through what no row shows by itself: steps of a pipeline, performed in memory,
# for only the counts of what was dropped are kept. Each row counts at its first reason.

# Raise it whenever a rule changes: a bank's funnel says by which rules it was made.
FILTERS_VERSION = 2


_GROUPS = ("correct", "falsified")


class Filter(Struct, frozen=True, gc=False):
    """A reason to drop a statement: ``find`` quotes what gives it, or returns the empty text."""

    reason: str
    find: Callable[[str], str]
    falsified_only: bool = False


FILTERS = (
    Filter("figure", find_figure),
    Filter("reference", find_reference),
    Filter("ambiguous", find_ambiguity),
    Filter("too short", find_brevity, falsified_only=True),
)


# What may drop a true statement that stands by itself, without the others of its file.
REASONS_OF_TRUE = tuple(one.reason for one in FILTERS if not one.falsified_only)


REASONS = (*(one.reason for one in FILTERS), REPEATED, ORPHANED)


def _clean(one: Candidate, _context: StepContext) -> Kept:
    cleaned = clean(one.text) if one.is_readable else None
    if cleaned is None or not cleaned.removed:
        return one
    return structs.replace(one, text=cleaned.text, removed=cleaned.removed)


def _filter(one: Candidate, _context: StepContext) -> Kept:
    for rule in FILTERS if one.is_readable else ():
        if (one.is_falsified or not rule.falsified_only) and (found := rule.find(one.text)):
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
    """The row as it is, or cleaned, or with the first reason to drop it.

    A row whose text or truth cannot be read is left as it is: reading it names the problem.
    """
    (one,) = _sift([row], _ALONE)
    return one


def sift(rows: Iterable[Row]) -> SiftedRows:
    """All rows, sifted one by one; then those that cleaning made the same as another, and the
    falsified ones whose true statement was dropped."""
    every = list(rows)
    sifted = _sift(every, STEPS)
    return SiftedRows(
        kept=tuple(
            one.row if isinstance(one, SiftedRow) else one for one in sifted if not _reason(one)
        ),
        touched=tuple(one for one in sifted if isinstance(one, SiftedRow)),
        funnel=_funnel(sifted, [one.is_falsified for one in candidates(every)]),
    )


def _sift(rows: Sequence[Row], steps: Sequence[Step | BatchStep]) -> list[Row | SiftedRow]:
    """What the steps make of each row."""
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
    """A row of the file with what became of it."""
    if left is not None:
        stands = file_row(left, row)
        if not left.removed:
            return stands
        return SiftedRow(row=stands, before=left.before, found=" | ".join(left.removed))
    if dropped is None:
        raise AssertionError(f"{row.place} is neither left nor dropped")
    one, drop = dropped
    # What was dropped beside others is quoted as it was compared, unless it had been cleaned.
    is_compared = drop.reason in (REPEATED, ORPHANED) and not one.removed
    before = plain(one) if is_compared else one.before
    return SiftedRow(row=file_row(one, row), before=before, reason=drop.reason, found=drop.found)


def _reason(one: Row | SiftedRow) -> str:
    return one.reason if isinstance(one, SiftedRow) else ""


def _funnel(sifted: Sequence[Row | SiftedRow], falsified: Sequence[bool]) -> Funnel:
    counts: Mapping[str, list[int]] = {reason: [0, 0] for reason in REASONS}
    entered, changed = [0, 0], [0, 0]
    for one, is_falsified in zip(sifted, falsified, strict=True):
        group = int(is_falsified)
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
