"""The entities whose reference is built, each told apart from the others, and the names under which
its article may stand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from proofstone.engines.ingest import read_checked
from proofstone.errors import BadInput, Problem
from proofstone.methods.bequ.entity_rows import read_entities
from proofstone.methods.bequ.names import plain_name
from proofstone.methods.bequ.payloads import Entity
from proofstone.methods.bequ.reference.rows import About
from proofstone.records import Item

__all__ = ["Wanted", "article_names", "read_wanted", "title_of_address"]


class Wanted:
    """Entities in their order. ``names[n]`` are the names under which the article of the n-th may
    stand, best first: the title of its page, the name with its description in brackets, the name,
    the aliases. A name that several entities have leads to none of them."""

    def __init__(self, entities: Sequence[Entity], abouts: Sequence[About]) -> None:
        self.entities = entities
        self.abouts = abouts
        named = Counter(
            name for entity in entities for name in {plain_name(each) for each in entity.names}
        )
        self._shared = {name for name, n in named.items() if n > 1}
        self.names = [article_names(entity, self._shared) for entity in entities]

    def shares(self, number: int) -> tuple[str, ...]:
        """The names of an entity that others have too."""
        names = self.entities[number].names
        return tuple(name for name in names if plain_name(name) in self._shared)


def article_names(entity: Entity, shared: Collection[str] = ()) -> tuple[str, ...]:
    """The names under which an entity's article may stand, best first, see ``Wanted``; none that is
    ``shared``, as it is compared, with another entity."""
    page = title_of_address(entity.wikipedia)
    told = f"{entity.name} ({entity.description})" if entity.description else ""
    own = (name for name in entity.names if plain_name(name) not in shared)
    return tuple(dict.fromkeys(filter(None, (page, told, *own))))


def read_wanted(inputs: Sequence[str]) -> Wanted:
    """The entities of lists in files. Raises BadInput with every problem of a file, and for
    entities of one name that no Wikidata number tells apart: a reference is found by name."""
    items = [item for name in inputs for item in read_checked(Path(name), read_entities)]
    items = list({item.id: item for item in items}.values())
    _check_told_apart(items)
    return Wanted([item.payload for item in items], [_about(item) for item in items])


def title_of_address(address: str) -> str:
    """The title of a wiki's page by its address (``.../wiki/TITLE``); empty for another one."""
    head, sign, title = urlsplit(address).path.partition("/wiki/")
    return unquote(title).replace("_", " ").strip() if sign and not head else ""


def _about(item: Item) -> About:
    entity: Entity = item.payload
    return About(
        name=entity.name,
        description=entity.description,
        aliases=entity.aliases,
        wikidata=entity.wikidata,
        domain=item.stratum.discipline,
        tier=item.stratum.field,
    )


def _check_told_apart(items: Sequence[Item]) -> None:
    groups: dict[str, list[Entity]] = {}
    for item in items:
        groups.setdefault(plain_name(item.payload.name), []).append(item.payload)
    problems = [
        Problem(
            f'entity "{same[0].name}"',
            f"stands for {len(same)} entities "
            f"({'; '.join(each.description or 'no description' for each in same)}), and not each "
            "has a Wikidata number: verification would take what is known of one for the others",
        )
        for same in groups.values()
        if len({each.wikidata for each in same} - {""}) < len(same) > 1
    ]
    if problems:
        raise BadInput("Some entities cannot be told apart by name.", problems)
