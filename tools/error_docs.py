"""docs/errors.md lists every error a user may see: its code, its exit code, what it means.

python -m tools.error_docs            writes it from proofstone.errors
python -m tools.error_docs --check    fails where it is out of date
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator

from proofstone.errors import ProofstoneError
from tools.generated import settle
from tools.resolved import ROOT

HEADER = """\
# Errors

Every error that a command reports has a code that stays the same between versions, and ends the
command with an exit code that a script can act on. The message says what was expected, what came,
where, and the next step. This page is generated from `src/proofstone/errors.py` by `make docs`.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | a gate failed |
| 2 | bad usage or bad input; nothing was stored |
| 3 | cannot tell, or not complete |
| 4 | the budget was reached; the run can be resumed |
| 5 | an endpoint, key or model cannot be used |
| 130 | interrupted; the line that resumes was printed |
"""


def errors() -> Iterator[type[ProofstoneError]]:
    """Every kind of error below ProofstoneError, parents before children, in source order."""
    pending = ProofstoneError.__subclasses__()
    while pending:
        kind = pending.pop(0)
        yield kind
        pending = kind.__subclasses__() + pending


def section(kind: type[ProofstoneError]) -> str:
    """One error as a heading (its code, so that a link can name it), exit code and meaning."""
    meaning = (inspect.getdoc(kind) or "").replace("``", "`")
    parents = [kin.code for kin in kind.__mro__[1:] if issubclass(kin, ProofstoneError)]
    also = f" A kind of `{parents[0]}`." if len(parents) > 1 else ""
    return (
        f"## {kind.code}\n\n{meaning}{also}\n\n"
        f"Exit code {kind.exit_code}; in Python `proofstone.errors.{kind.__name__}`.\n"
    )


def page() -> str:
    """The whole page."""
    return "\n".join([HEADER, *map(section, errors())])


if __name__ == "__main__":
    sys.exit(settle(ROOT / "docs" / "errors.md", page(), sys.argv[1:], "make docs"))
