"""The cells of a LaTeX table, as they were typed."""

from __future__ import annotations

import re

__all__ = ["rows_of"]

_EDGE = re.compile(
    r"\\\\(?:\*?\s*\[[^\]\n]{0,40}\])?|\\tabularnewline\b|\\(?:begin|end)\{|\\.|%[^\n]*|[{}&]",
    re.DOTALL,
)
_RULE = re.compile(
    r"\\(?:hline|toprule|midrule|bottomrule|endhead|endfirsthead|endfoot|endlastfoot)\b"
    r"(?:\[[^\]]*\])?|\\(?:cline|cmidrule|rowcolor|noalign)(?:\([^)]*\))?(?:\[[^\]]*\])?\{[^{}]*\}"
)
_MOST_CELLS = 200_000
# The brace behind the name of an environment closes at once; of its end it closes the whole.
_DEEPER = {"{": 1, "\\begin{": 2, "\\end{": 0}


def rows_of(body: str) -> list[list[str]]:
    """Rows of cells of the inside of a table; what is in groups and other environments is not cut.

    Rules between rows are left out.
    """
    rows: list[list[str]] = [[]]
    start = depth = n_cells = 0
    text = _RULE.sub(" ", body)
    for found in _EDGE.finditer(text):
        sign = found[0]
        if sign in _DEEPER:
            depth += _DEEPER[sign]
        elif sign == "}":
            depth = max(0, depth - 1)
        elif not depth and (sign == "&" or sign.startswith(("\\\\", "\\tabularnewline"))):
            rows[-1].append(text[start : found.start()])
            start, n_cells = found.end(), n_cells + 1
            if sign != "&":
                rows.append([])
        if n_cells > _MOST_CELLS:
            break
    rows[-1].append(text[start:])
    return [row for row in rows if any(cell.strip() for cell in row)]
