"""What the commands and environments of LaTeX mean for a text: which arguments are none of it."""

from __future__ import annotations

__all__ = [
    "ARGUMENTS",
    "CODE",
    "DRAWN",
    "ENVIRONMENT_ARGUMENTS",
    "GONE",
    "MATHS",
    "RUN_IN",
    "SECTIONS",
    "TABLES",
]

SECTIONS = {
    "part": 1, "chapter": 2, "section": 3, "subsection": 4, "subsubsection": 5, "paragraph": 6,
    "subparagraph": 7, "frametitle": 4, "addchap": 2, "addsec": 3,
}  # fmt: skip
RUN_IN = {"paragraph", "subparagraph"}
MATHS = {
    "equation", "displaymath", "align", "alignat", "flalign", "gather", "multline", "eqnarray",
    "dmath", "xalignat", "IEEEeqnarray",
}  # fmt: skip
CODE = {"verbatim", "lstlisting", "Verbatim", "minted", "alltt", "BVerbatim", "LVerbatim"}
TABLES = {"tabular", "tabularx", "tabulary", "longtable", "supertabular", "xtabular", "array",
          "longtabu", "tabu", "tblr"}  # fmt: skip
DRAWN = {"tikzpicture", "pgfpicture", "picture", "pspicture", "forest", "asy", "axis", "tikzcd",
         "circuitikz", "feynmandiagram", "psfrags", "overpic"}  # fmt: skip
# Left out with all that is in them.
GONE = {"comment", "filecontents", "CCSXML", "luacode", "sagesilent"}

# What follows a command and is no text: o an optional argument, m a group, t a group that is text.
ARGUMENTS = {
    **dict.fromkeys(
        ("label", "vspace", "hspace", "vskip", "index", "glossary", "bibliographystyle",
         "pagestyle", "thispagestyle", "pagenumbering", "graphicspath", "phantom", "hphantom",
         "vphantom", "nocite", "includeonly", "hyphenation", "input@path", "todo", "marginpar",
         "color", "cline", "selectlanguage", "usetikzlibrary", "tikzset", "lstset", "pgfplotsset",
         "hypersetup", "geometry", "captionsetup", "sisetup", "theoremstyle", "newcounter",
         "stepcounter", "refstepcounter", "usecounter", "value", "ProvidesPackage",
         "RequirePackage", "fontfamily", "fontseries", "fontshape", "linespread", "setstretch",
         "listoffixmes", "fancyhf", "fancyhead", "fancyfoot", "lhead", "rhead", "chead", "lfoot",
         "rfoot", "cfoot", "enlargethispage", "DeclareGraphicsExtensions", "markright",
         "cmidrule"),
        "om",
    ),
    **dict.fromkeys(
        ("setlength", "addtolength", "setcounter", "addtocounter", "settowidth", "settoheight",
         "numberwithin", "markboth", "fontsize", "newfloat", "addtocontents",
         "PassOptionsToPackage", "pgfmathsetmacro", "DeclareUnicodeCharacter", "counterwithin",
         "AtBeginEnvironment", "SetKwInput"),
        "mm",
    ),
    **dict.fromkeys(
        ("addcontentsline", "definecolor", "DeclareFontFamily", "crefname", "Crefname",
         "specialrule"),
        "mmm",
    ),
    "colorlet": "mm", "rule": "omm", "usefont": "mmmm", "titleformat": "omommmm",
    "titlespacing": "ommmm", "pdfbookmark": "omm", "documentclass": "om", "usepackage": "om",
    "documentstyle": "om", "newlength": "m", "newtheoremstyle": "mmmmmmmmm",
    "textcolor": "omt", "colorbox": "mt", "fcolorbox": "mmt", "raisebox": "moot", "parbox": "ooomt",
    "makebox": "oot", "framebox": "oot", "rotatebox": "omt", "scalebox": "mot", "resizebox": "mmt",
    "adjustbox": "mt", "multicolumn": "mmt", "multirow": "omomt", "href": "omt", "hyperref": "ot",
    "hyperlink": "mt", "hypertarget": "mt", "texorpdfstring": "tm", "foreignlanguage": "omt",
    "text": "t", "mbox": "t", "intertext": "t", "caption*": "t", "newblock": "", "acrodef": "mom",
    "newacronym": "ommm", "newglossaryentry": "mm",
    "DeclareAcronym": "mm", "gls": "ot",
    "Gls": "ot", "glspl": "ot",
    "Glspl": "ot", "ac": "t", "acp": "t", "nobibliography": "m", "markup": "t",
    "fontencoding": "m", "inputencoding": "m", "lettrine": "ott", "hfill": "", "begingroup": "",
    "hline": "", "toprule": "o", "midrule": "o", "bottomrule": "o", "vbox": "", "hbox": "",
    "subfloat": "ot", "subfigure": "ot", "institute": "m", "affil": "om", "affiliation": "om",
    "address": "om", "email": "m", "thanks": "m", "orcid": "m", "keywords": "m", "subjclass": "om",
    "curraddr": "m", "dedicatory": "m", "ccsdesc": "om", "acmConference": "ommm", "acmDOI": "m",
    "acmISBN": "m", "acmYear": "m", "acmJournal": "m", "received": "om", "authorrunning": "m",
    "titlerunning": "m", "hyphenchar": "", "vskip": "", "hskip": "", "kern": "", "obeylines": "",
}  # fmt: skip
ENVIRONMENT_ARGUMENTS = {
    "minipage": "ooom", "multicols": "mo", "wrapfigure": "omom", "wraptable": "omom",
    "adjustbox": "m", "tabbing": "", "list": "mm", "subfigure": "om", "subtable": "om",
    "figure": "o", "table": "o", "figure*": "o", "table*": "o", "sidewaystable": "o",
    "enumerate": "o", "itemize": "o", "frame": "", "block": "m", "spacing": "m",
    "threeparttable": "o",
    "thebibliography": "m", "otherlanguage": "m", "CJK": "mm", "CJK*": "mm", "tcolorbox": "o",
    "mdframed": "o", "proof": "", "description": "o", "algorithm": "o", "algorithmic": "o",
    "float": "o", "landscape": "", "appendices": "", "quote": "", "abstract": "", "scope": "o",
}  # fmt: skip
