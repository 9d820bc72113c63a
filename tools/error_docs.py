"""docs/reference/errors.md lists every error of a command: its code, exit code and meaning.

python -m tools.error_docs            # write it from proofstone.errors
python -m tools.error_docs --check    # fail if it is out of date
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator

from proofstone.errors import ProofstoneError
from tools.generated import settle
from tools.resolved import ROOT

HEADER = """\
# Errors

Reference · for everyone who meets an error or writes scripts

Every error of a command begins with its code, as in `error[PS-204]: ...`. A code never changes. Its
first digit is the exit code of the command, for scripts. The message names the place, the value and
the next step. This page explains each kind, with its usual cause and remedy. It is generated from
`src/proofstone/errors.py` by `make reference`.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | the gate failed |
| 2 | bad usage or bad input; nothing was stored |
| 3 | inconclusive, or not complete |
| 4 | the budget was reached; the run can be resumed |
| 5 | an endpoint, key or model cannot be used |
| 130 | interrupted; the line that resumes was printed |
"""


def errors() -> Iterator[type[ProofstoneError]]:
    """Yield every error class below ProofstoneError, parents before children, in source order."""
    pending = ProofstoneError.__subclasses__()
    while pending:
        kind = pending.pop(0)
        yield kind
        pending = kind.__subclasses__() + pending


def section(kind: type[ProofstoneError]) -> str:
    """Return one error under its code as an anchor: meaning, cause, remedy."""
    meaning = (inspect.getdoc(kind) or "").replace("``", "`")
    parents = [parent.code for parent in kind.__mro__[1:] if issubclass(parent, ProofstoneError)]
    also = f"; a kind of [{parents[0]}](#{parents[0].lower()})" if len(parents) > 1 else ""
    return (
        f"## {kind.code}\n\n**{spoken(kind)}**: `proofstone.errors.{kind.__name__}`, exit code "
        f"{kind.exit_code}{also}.\n\n{meaning}\n\n"
        f"- Cause: {kind.cause}\n- Remedy: {kind.remedy}\n"
    )


def spoken(kind: type[ProofstoneError]) -> str:
    """Return an error's name as text: BadUsage is "Bad usage"."""
    return re.sub(r"(?<!^)([A-Z])", r" \1", kind.__name__).capitalize()


def overview() -> str:
    """Return a table of all codes, by number."""
    rows = [
        f"| [{kind.code}](#{kind.code.lower()}) | {spoken(kind)} |"
        for kind in sorted(errors(), key=lambda kind: kind.code)
    ]
    return "\n".join(["| code | kind |", "|---|---|", *rows, ""])


def page() -> str:
    """Return the page."""
    by_code = sorted(errors(), key=lambda kind: kind.code)
    return "\n".join([HEADER, overview(), *map(section, by_code)])


if __name__ == "__main__":
    sys.exit(
        settle(ROOT / "docs" / "reference" / "errors.md", page(), sys.argv[1:], "make reference")
    )
