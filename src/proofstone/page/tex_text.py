"""Any text as LaTeX that prints it, whatever stands in it and whichever engine reads it.

Accented letters, Greek, quotes and signs become commands that every LaTeX knows. What is left of
other scripts is handed to the macros of ``PREAMBLE``: they print it where the engine and its fonts
can, and else its code points, so that a file compiles as it is and nothing is lost in silence.
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Sequence
from itertools import groupby

# #1: the first code point, hexadecimal; #2: all of them in words; #3: the characters. Only XeTeX
# and LuaTeX can be asked for a glyph; pdfTeX prints Chinese where CJK or CJKutf8 is loaded.
PREAMBLE = r"""\ifdefined\proofstonetext\else
\DeclareRobustCommand{\proofstonetext}[3]{%
  \ifdefined\XeTeXversion \iffontchar\font"#1 #3\else #2\fi
  \else\ifdefined\directlua \iffontchar\font"#1 #3\else #2\fi
  \else #2\fi\fi}
\DeclareRobustCommand{\proofstonecjk}[3]{%
  \ifdefined\CJKfamily
    \ifdefined\XeTeXversion #3\else\ifdefined\directlua #3%
    \else\begin{CJK*}{UTF8}{gbsn}#3\end{CJK*}\fi\fi
  \else\proofstonetext{#1}{#2}{#3}\fi}
\fi
"""


# NUL stands where a ligature is broken. Brackets are held in braces: behind the end of a row they
# would be read as its option.
_COMMANDS = {
    "\0": "{}",
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "^": r"\textasciicircum{}", "_": r"\_", "~": r"\textasciitilde{}", "%": r"\%",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedblright{}",
    "`": r"\textquoteleft{}", "[": "{[}", "]": "{]}", "*": "{*}",
    "\u2018": r"\textquoteleft{}", "\u2019": r"\textquoteright{}",
    "\u201c": r"\textquotedblleft{}", "\u201d": r"\textquotedblright{}",
    "\u2013": r"\textendash{}", "\u2014": r"\textemdash{}", "\u2026": r"\dots{}",
    "\u2022": r"\textbullet{}", "\u00a0": "~", "\u00a1": r"\textexclamdown{}",
    "\u00bf": r"\textquestiondown{}", "\u00df": r"\ss{}", "\u00e6": r"\ae{}", "\u00c6": r"\AE{}",
    "\u0153": r"\oe{}", "\u0152": r"\OE{}", "\u00f8": r"\o{}", "\u00d8": r"\O{}",
    "\u0142": r"\l{}", "\u0141": r"\L{}", "\u0131": r"\i{}", "\u00a7": r"\S{}", "\u00b6": r"\P{}",
    "\u00a9": r"\copyright{}", "\u00a3": r"\pounds{}", "\u2020": r"\dag{}", "\u2021": r"\ddag{}",
}  # fmt: skip


_MATHS = {
    "\u2212": "-", "\u00b1": r"\pm", "\u00d7": r"\times", "\u00f7": r"\div", "\u00b7": r"\cdot",
    "\u2264": r"\le", "\u2265": r"\ge", "\u2260": r"\ne", "\u2248": r"\approx",
    "\u221e": r"\infty", "\u221a": r"\surd", "\u2192": r"\to", "\u2190": r"\leftarrow",
    "\u2194": r"\leftrightarrow", "\u0394": r"\Delta", "\u03a3": r"\Sigma", "\u03a9": r"\Omega",
    "\u00b5": r"\mu", "\u00b0": r"^{\circ}", "\u00b2": "^{2}", "\u00b3": "^{3}", "\u00b9": "^{1}",
    **{
        chr(code): rf"\{unicodedata.name(chr(code)).rpartition(' ')[2].lower()}"
        for code in range(0x03B1, 0x03CA)
        if code not in (0x03BB, 0x03BF, 0x03C2)
    },
    "\u03bb": r"\lambda",
}  # fmt: skip


_COMMANDS |= {sign: rf"\ensuremath{{{maths}}}" for sign, maths in _MATHS.items()}


_ACCENTS = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=", "\u0306": "u",
    "\u0307": ".", "\u0308": '"', "\u030a": "r", "\u030b": "H", "\u030c": "v", "\u0327": "c",
    "\u0323": "d",
}  # fmt: skip


# Signs that join with the next of their kind to another one: two hyphens to a dash.
_LIGATURE = re.compile(r"([-',])(?=\1)|([!?])(?=`)")


_CJK = re.compile(
    "[\u2e80-\u303f\u3040-\u30ff\u3100-\u31ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef"
    "\U00020000-\U0003ffff]"
)


_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})


_MOST_IN_A_RUN = 8  # characters that no line is broken between


def tex_text(text: str) -> str:
    """``text`` as LaTeX on one line: line breaks become spaces, control and direction characters
    are shown by their code points. Braces are balanced, and no character of it is active."""
    text = unicodedata.normalize("NFC", text.replace("\0", "\ufffd"))
    text = _LIGATURE.sub(lambda sign: f"{sign[0]}\0", text)
    return "".join(_run(kind, "".join(run)) for kind, run in groupby(text, _kind))


def tex_paragraphs(paragraphs: Sequence[str]) -> str:
    """Paragraphs as LaTeX, with what they need before them."""
    body = "\n\n".join(
        textwrap.fill(tex_text(each), 98, break_long_words=False, break_on_hyphens=False)
        for each in paragraphs
    )
    return (PREAMBLE if r"\proofstone" in body else "") + body


def _kind(character: str) -> str:
    return "cjk" if _CJK.match(character) else "other"


def _run(kind: str, run: str) -> str:
    if kind == "cjk":
        parts = (run[at : at + _MOST_IN_A_RUN] for at in range(0, len(run), _MOST_IN_A_RUN))
        return r"\allowbreak{}".join(_handed("proofstonecjk", part) for part in parts)
    return "".join(map(_character, run))


def _character(character: str) -> str:
    if character in _COMMANDS:
        return _COMMANDS[character]
    category = unicodedata.category(character)
    if character.isspace() or category in {"Zs", "Zl", "Zp"}:
        return " "
    if category in _HIDDEN:
        return rf"\textless{{}}{_code(character)}\textgreater{{}}"
    if character.isascii():
        return character
    return _accented(character) or _handed("proofstonetext", character)


def _accented(character: str) -> str:
    """A Latin letter with one accent as its command; else nothing."""
    parts = unicodedata.normalize("NFD", character)
    if len(parts) == 2 and parts[0].isascii() and parts[0].isalpha() and parts[1] in _ACCENTS:
        return rf"\{_ACCENTS[parts[1]]}{{{parts[0]}}}"
    return ""


def _handed(macro: str, run: str) -> str:
    codes = " ".join(map(_code, run))
    return rf"\{macro}{{{ord(run[0]):04X}}}{{{codes}}}{{{run}}}"


def _code(character: str) -> str:
    return f"U+{ord(character):04X}"


# A document that shows files of tables, one after the other.

_HEAD = r"""% All tables of the page; any other file here can be \input into a paper.
% Chinese, Japanese and Korean need XeLaTeX with xeCJK, or pdfLaTeX with CJKutf8; without them
% such texts are printed as code points.
\documentclass{article}
\usepackage[margin=2cm]{geometry}
\IfFileExists{booktabs.sty}{\usepackage{booktabs}}{}
\ifdefined\XeTeXversion\else\ifdefined\directlua\else
  \IfFileExists{c70gbsn.fd}{\IfFileExists{CJKutf8.sty}{\usepackage{CJKutf8}}{}}{}
\fi\fi
\begin{document}
"""


def tex_document(files: Sequence[str]) -> str:
    """The document; tables float, and are put out before LaTeX would hold too many back."""
    lines = [_HEAD.rstrip()]
    for file in files:
        lines += [rf"\input{{{file.removesuffix('.tex')}}}", r"\clearpage"]
    return "\n".join([*lines, r"\end{document}"]) + "\n"
