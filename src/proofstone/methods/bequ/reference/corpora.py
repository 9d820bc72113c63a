"""Where the texts about entities come from: an offline wiki, or a folder of documents."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from proofstone.engines.ingest import (
    GuardedReader,
    Job,
    Opened,
    PageRead,
    Refused,
    WikiArticle,
    bare_name,
    find_articles,
    find_files,
    read_articles,
)
from proofstone.errors import BadInput, BadUsage, NotFound
from proofstone.methods.bequ.names import plain_name
from proofstone.methods.bequ.reference.rows import EntityText, Taken
from proofstone.methods.bequ.reference.wanted import Wanted, read_wanted

__all__ = [
    "SOURCES",
    "WIKI",
    "documents_of",
    "entity_texts",
    "missing_text",
    "of_article",
    "read_corpus",
    "read_wiki",
    "texts_of",
]

KINDS = ("dump", "zim", "folder")
SOURCES = "sources"
WIKI = "wiki"  # a live one
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[a-z]{2,8})*")  # as in the names of Wikipedias


def read_corpus(text: str) -> tuple[str, Path]:
    """``KIND:PATH`` as its parts; ``sources``, those of the workspace, and ``wiki``, a live one,
    have no path. Raises BadUsage for what is none, NotFound for no such path."""
    if text == SOURCES:
        return SOURCES, Path()
    if read_wiki(text):
        return WIKI, Path()
    kind, _sign, rest = text.partition(":")
    if kind not in KINDS or not rest:
        known = ", ".join(f"{each}:PATH" for each in KINDS) + f", {SOURCES}, {WIKI}:LANGUAGE"
        came = repr(text) if text else "nothing"
        raise BadUsage(f"--corpus says where the texts are ({known}), and is {came}")
    path = Path(rest)
    if not path.exists():
        raise NotFound(f"there is no {path}", hint="Check the name and the folder.")
    if path.is_dir() != (kind == "folder"):
        raise BadUsage(f"{path} is {'a folder' if path.is_dir() else 'no folder'}, not a {kind}")
    return kind, path


def read_wiki(text: str) -> str:
    """The address of the API of a live wiki: of ``wiki`` (the English Wikipedia), of
    ``wiki:LANGUAGE`` (another one), or ``wiki:https://.../api.php``; empty for other corpora.
    Raises BadUsage for what is none of these."""
    kind, colon, rest = text.partition(":")
    if kind != WIKI:
        return ""
    if rest.startswith(("https://", "http://")):
        return rest
    language = rest if colon else "en"
    if not _LANGUAGE.fullmatch(language):
        raise BadUsage(
            f"{text} names no wiki",
            hint="wiki, wiki:de (a Wikipedia by its language) or wiki:https://.../api.php",
        )
    return f"https://{language}.wikipedia.org/w/api.php"


def entity_texts(inputs: Sequence[str], params: Mapping[str, Any]) -> Iterator[EntityText]:
    """A row a text about an entity, those of entities without one first. Texts are read one at a
    time. Raises what reading lists and corpora does."""
    return texts_of(read_wanted(inputs), params["corpus"])


def texts_of(wanted: Wanted, corpus: str) -> Iterator[EntityText]:
    """``entity_texts`` of entities that are read. A live wiki has none here."""
    kind, path = read_corpus(corpus)
    if kind == WIKI:
        return
    if kind == SOURCES:
        yield from _to_search(wanted)
    else:
        yield from _of_folder(wanted, path) if kind == "folder" else _of_wiki(wanted, path)


def _to_search(wanted: Wanted) -> Iterator[EntityText]:
    """The entities themselves: a step searches the workspace for texts that name them."""
    for number, entity in enumerate(wanted.entities):
        about = wanted.abouts[number]
        if entity.is_fictional:
            yield EntityText(about=about, missing="fictional")
        elif wanted.names[number]:
            yield EntityText(about=about, names=wanted.names[number])
        else:
            yield missing_text(wanted, number)


# ---------------------------------------------------------------- an offline wiki


def _of_wiki(wanted: Wanted, path: Path) -> Iterator[EntityText]:
    found = find_articles(path, wanted.names, plain_name)
    of_key: dict[str, list[int]] = {}
    for number, key in enumerate(found):
        if wanted.entities[number].is_fictional:
            yield EntityText(about=wanted.abouts[number], missing="fictional", sought=key or "")
        elif key is None:
            yield missing_text(wanted, number)
        else:
            of_key.setdefault(key, []).append(number)
    unread = set(of_key)
    for article in read_articles(path, of_key):
        unread.discard(article.key)
        yield from (of_article(wanted, n, article, of_key[article.key])
                    for n in of_key[article.key])  # fmt: skip
    for key in sorted(unread):
        yield from (missing_text(wanted, number, f"a redirect to {key}, which is not there")
                    for number in of_key[key])  # fmt: skip


def of_article(
    wanted: Wanted, number: int, article: WikiArticle, whose: Sequence[int]
) -> EntityText:
    """What an article says about the ``number``-th entity, that is the one of all ``whose`` it is;
    or why it does not count for it."""
    about = wanted.abouts[number]
    if len(whose) > 1:
        others = ", ".join(wanted.abouts[each].name for each in whose if each != number)
        return EntityText(
            about=about, missing="article of several entities", sought=f"{article.title}: {others}"
        )
    if article.trouble:
        sought = f"{article.title}: {article.trouble}"
        return EntityText(about=about, missing="unreadable article", sought=sought)
    if article.is_meanings:
        return EntityText(about=about, missing="article of meanings", sought=article.title)
    taken = Taken(
        text=article.text, source="wiki", title=article.title, url=article.url, date=article.date,
        content=article.content, language=article.language,
    )  # fmt: skip
    return EntityText(about=about, taken=taken)


def missing_text(wanted: Wanted, number: int, why: str = "") -> EntityText:
    """That nothing was found for an entity, with the names by which it was looked for."""
    told = [f"looked for {', '.join(wanted.names[number]) or 'nothing'}"]
    if shared := wanted.shares(number):
        told.append(f"not for {', '.join(shared)}, which other entities are named too")
    if why:
        told.append(why)
    return EntityText(about=wanted.abouts[number], missing="no article", sought="; ".join(told))


# ---------------------------------------------------------------- a folder of documents


def _of_folder(wanted: Wanted, folder: Path) -> Iterator[EntityText]:
    """A document is about the entity that its title or its file's name names, and no other."""
    of_name: dict[str, set[int]] = {}
    for number, names in enumerate(wanted.names):
        for each in names:
            of_name.setdefault(plain_name(each), set()).add(number)
    numbers = {name: min(of) for name, of in of_name.items() if len(of) == 1}
    seen: set[int] = set()
    for name, taken in documents_of(folder):
        for number in dict.fromkeys(
            numbers[each] for each in (plain_name(name), plain_name(taken.title)) if each in numbers
        ):
            seen.add(number)
            if not wanted.entities[number].is_fictional:
                yield EntityText(about=wanted.abouts[number], taken=taken)
    for number, entity in enumerate(wanted.entities):
        if entity.is_fictional:
            yield EntityText(about=wanted.abouts[number], missing="fictional")
        elif number not in seen:
            yield missing_text(wanted, number)


def documents_of(folder: Path) -> Iterator[tuple[str, Taken]]:
    """The documents of a folder, each with the name of its file without suffix, in the order of
    the names. Raises BadInput for a folder without any, and for one that cannot be read."""
    files = find_files([folder]).files
    if not files:
        raise BadInput(f"{folder} holds no document.")
    jobs = [Job(path=str(file.path), root=str(file.root)) for file in files]
    opened: Opened | None = None
    texts: list[str] = []
    at = 0
    with GuardedReader(n_processes=1) as reader:
        for place, event in reader.read(jobs):
            if isinstance(event, Refused):
                raise BadInput(f"{files[place].inside}: {event.message}", hint=event.hint)
            if isinstance(event, Opened):
                if opened is not None:
                    yield _document(files[at].path, opened, texts)
                opened, texts, at = event, [], place
            elif isinstance(event, PageRead):
                texts.append(event.text)
    if opened is not None:
        yield _document(files[at].path, opened, texts)


def _document(path: Path, opened: Opened, texts: Sequence[str]) -> tuple[str, Taken]:
    text = "\n\n".join(filter(None, texts))
    changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    taken = Taken(
        text=text, source="documents", title=opened.title, url=opened.origin,
        date=changed.date().isoformat(), content=sha256(text.encode()).hexdigest(),
        language=opened.language,
    )  # fmt: skip
    return bare_name(path), taken
