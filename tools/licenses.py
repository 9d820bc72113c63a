"""Check that tools/licenses.toml allows the license of every resolved package or names the package.

The core's packages must have allowed licenses; GPL and AGPL are never accepted. A package's
License-Expression, license field and classifiers are all read, and each must be allowed.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from tools.resolved import BUNDLED_MODEL, ROOT, closure, read_project
from tools.spdx import holds

__all__ = ["Rules", "Said", "check_project", "read_rules", "said_by", "trouble"]

_STRONG = re.compile(
    r"A?GPL\b|GNU (Affero )?(General Public|GPL|AGPL)|.*:: GNU (Affero )?General Public",
    re.IGNORECASE,
)
_LONGEST_NAME = 60


@dataclass(frozen=True)
class Rules:
    """Tables of licenses.toml; ``named`` and ``reviewed`` map a package to its licenses."""

    allowed: frozenset[str]
    unwanted: frozenset[str]
    unwanted_in_core: frozenset[str]
    spellings: Mapping[str, str]
    named: Mapping[str, frozenset[str]]
    reviewed: Mapping[str, frozenset[str]]


@dataclass(frozen=True)
class Said:
    """A package's license statements: SPDX expressions, and texts that are not parsed."""

    expressions: tuple[str, ...]
    unread: tuple[str, ...] = ()


def read_rules(path: Path = ROOT / "tools" / "licenses.toml") -> Rules:
    """Return the rules in ``path``. Raises ValueError if an exception has no reason, or is GPL."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    named, reviewed = (_exceptions(table[part]) for part in ("outside_core", "reviewed"))
    return Rules(
        allowed=frozenset(table["allowed"]),
        unwanted=frozenset(table["unwanted"]),
        unwanted_in_core=frozenset(table["unwanted_in_core"]),
        spellings=table["spellings"],
        named=named,
        reviewed=reviewed,
    )


def _exceptions(part: Mapping[str, Mapping[str, object]]) -> dict[str, frozenset[str]]:
    read: dict[str, frozenset[str]] = {}
    for package, entry in part.items():
        licenses = entry.get("licenses")
        if not isinstance(licenses, list) or not str(entry.get("reason", "")).strip():
            raise ValueError(f"{package}: an exception names its licenses and the reason")
        if strong := [name for name in licenses if _STRONG.match(name)]:
            raise ValueError(f"{package}: {strong[0]} cannot be let in by an exception")
        read[package] = frozenset(licenses)
    return read


def said_by(distribution: metadata.Distribution, rules: Rules) -> Said:
    """Return all license statements of ``distribution``.

    A long license field is the license's text. It is not parsed and needs a reviewed entry, unless
    there is also an expression.
    """
    told = distribution.metadata
    expressions = [told["License-Expression"]] if told["License-Expression"] else []
    field = (told["License"] or "").strip()
    field = "" if field == "UNKNOWN" else field  # what older setuptools wrote where none was given
    is_name = len(field) <= _LONGEST_NAME and "\n" not in field
    texts = [field] if field and is_name else []
    for classifier in told.get_all("Classifier") or []:
        head, _, rest = classifier.partition(" :: ")
        if head == "License" and rest != "OSI Approved":
            texts.append(rest)
    read = [rules.spellings.get(text, text) for text in texts]
    known = [text for text in read if _is_expression(text)]
    unread = [text for text in read if text not in known]
    if not is_name and not expressions:
        unread.append(f"{field[:_LONGEST_NAME].strip()} ...".replace("\n", " "))
    return Said(tuple(dict.fromkeys(expressions + known)), tuple(unread))


def _is_expression(text: str) -> bool:
    try:
        holds(text, lambda _: True)
    except ValueError:
        return False
    return True


def trouble(package: str, said: Said, rules: Rules, *, in_core: bool) -> str:
    """Return why ``package`` (canonical name) is not allowed, or an empty text.

    A reviewed entry replaces statements that could not be parsed, never a disallowed license.
    """
    if strong := [text for text in said.unread if _STRONG.match(text)]:
        return f"{package}: {strong[0]} is allowed nowhere"
    named = rules.named.get(package, frozenset())
    if named and in_core:
        return f"{package}: its exception holds outside the core only, and the core needs it"
    reviewed = rules.reviewed.get(package, frozenset())
    if said.unread and not reviewed:
        return f"{package}: {said.unread[0]!r} is no license that is known here"
    if not said.expressions and not reviewed:
        return f"{package}: names no license"
    allowed = rules.allowed | named
    refused = [
        text for text in (*said.expressions, *reviewed) if not holds(text, allowed.__contains__)
    ]
    return f"{package}: {refused[0]} is not allowed" if refused else ""


def check_project(rules: Rules) -> tuple[int, list[str]]:
    """Return the number of packages of the core and its extras, and every problem."""
    project = read_project()
    core = closure(project.core)
    user = closure(
        need for name, needs in project.extras.items() if name != "dev" for need in needs
    )
    everything = closure(project.everything())
    everything[BUNDLED_MODEL] = metadata.distribution(BUNDLED_MODEL)
    found = [
        trouble(name, said_by(distribution, rules), rules, in_core=name in core)
        for name, distribution in everything.items()
    ]
    unwanted = rules.unwanted & (core.keys() | user.keys())
    found += [f"{name}: must not be needed by anything a user installs" for name in unwanted]
    found += [
        f"{name}: must not be needed by the core" for name in rules.unwanted_in_core & core.keys()
    ]
    stale = (rules.named.keys() | rules.reviewed.keys()) - everything.keys()
    found += [f"{name}: has an exception, and nothing needs it any more" for name in stale]
    return len(everything), sorted(filter(None, found))


def main() -> str | None:
    """Return None if all are allowed, otherwise every problem and advice (for ``sys.exit``)."""
    count, found = check_project(read_rules())
    if found:
        advice = (
            "Choose another package, or have its terms read and name it in tools/licenses.toml."
        )
        return "\n".join(["licenses:", *(f"  {line}" for line in found), advice])
    print(f"licenses: {count} packages, all allowed")
    return None


if __name__ == "__main__":
    sys.exit(main())
