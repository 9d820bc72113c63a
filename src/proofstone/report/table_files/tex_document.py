"""A document that shows files of tables, one after the other."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["tex_document"]

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
