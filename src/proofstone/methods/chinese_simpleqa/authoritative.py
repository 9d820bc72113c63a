"""The sites that count as authoritative: those carried here, and a person's own list over them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from proofstone.engines.review import NoAddress, read_site
from proofstone.errors import BadInput, Problem

__all__ = ["authoritative_sites", "carried_sites"]


@cache
def carried_sites() -> tuple[str, ...]:
    """The sites of ``authoritative.txt``, sorted."""
    text = files(__package__).joinpath("authoritative.txt").read_text(encoding="utf-8")
    return authoritative_sites(text.splitlines(), "authoritative.txt", ())


def authoritative_sites(lines: Iterable[str], name: str, known: Iterable[str]) -> tuple[str, ...]:
    """The ``known`` sites as a list changes them: ``SITE`` adds one, ``-SITE`` takes one away,
    ``-*`` all; ``#`` starts a remark. Raises BadInput with every line that is none of these, and
    where no site is left."""
    sites = set(known)
    problems: list[Problem] = []
    for number, line in enumerate(lines, start=1):
        said = line.partition("#")[0].strip()
        if said == "-*":
            sites.clear()
        elif said:
            try:
                site = read_site(said.removeprefix("-"))
            except NoAddress as cause:
                problems.append(Problem(f"{name}, line {number}", str(cause)))
                continue
            if said.startswith("-"):
                sites.discard(site)
            else:
                sites.add(site)
    if not sites and not problems:
        problems.append(Problem(name, "names no site, so that no answer could stand"))
    if problems:
        raise BadInput("The list of authoritative sources cannot be read.", problems)
    return tuple(sorted(sites))
