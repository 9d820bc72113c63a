"""Pages of wikis by their address: fetched once a revision, through the gate, and kept as files."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from hashlib import file_digest
from pathlib import Path

import msgspec
from msgspec import Struct

from proofstone.documents.wiki_api import WIKI_SUFFIX, WikiAddress, WikiFile, read_address
from proofstone.errors import BadInput, Problem
from proofstone.ingest.wiki_client import WikiClient
from proofstone.models.config import ModelConfig
from proofstone.records.calls import Clock
from proofstone.session.folders import MARK
from proofstone.session.session import Session
from proofstone.store.lookup import Found
from proofstone.store.store import Store


def pages_folder(folder: Path) -> Path:
    """Where a workspace keeps the pages that it fetched, by host."""
    return folder / MARK / "wiki"


def pages_of(folder: Path, store: Store, source: Found) -> tuple[str, ...]:
    """The kept files that a source was read from, relative to the workspace; mostly none."""
    known = store.knowledge.sources([source.id]).get(source.id)
    if known is None:
        return ()
    return tuple(
        file.relative_to(folder).as_posix()
        for file in sorted(pages_folder(folder).glob("*/*"))
        if file.is_file() and _digest(file) == known.content
    )


def _digest(file: Path) -> bytes:
    with file.open("rb") as stream:
        return file_digest(stream, "sha256").digest()


_UNSAFE = re.compile(r"[^A-Za-z0-9.-]")


def fetch_addresses(
    session: Session, urls: Sequence[str], api: str, *, tell: Callable[[str], None]
) -> dict[str, Path]:
    """The file of each page by its address, kept in the workspace's folder. Raises as
    ``read_address`` and ``fetch_pages``."""
    addresses = {url: read_address(url, api) for url in urls}
    folder = pages_folder(session.folder)
    fetched = asyncio.run(
        fetch_pages(list(addresses.values()), folder, session.config, session.clock, tell)
    )
    return {url: fetched.files[address] for url, address in addresses.items()}


class Fetched(Struct, frozen=True, kw_only=True):
    """The file of each page, how many of them were here before, and how many requests were
    made."""

    files: dict[WikiAddress, Path]
    n_known: int
    n_requests: int


async def fetch_pages(
    addresses: Sequence[WikiAddress],
    folder: Path,
    config: ModelConfig,
    clock: Clock,
    tell: Callable[[str], None],
) -> Fetched:
    """Fetches what is not yet in ``folder``: the newest revision of each page, or the one named.

    One request at a time to each wiki, which says how long to wait where it is busy (Retry-After,
    maxlag). ``tell`` hears what is sent where, before it is. Raises EgressRefused where the policy
    has something against a host, EndpointUnusable where a wiki cannot be asked, and BadInput naming
    all pages that are absent.
    """
    files: dict[WikiAddress, Path] = {}
    problems: list[Problem] = []
    n_known = n_requests = 0
    for api in dict.fromkeys(address.api for address in addresses):
        wanted = [address for address in addresses if address.api == api]
        async with WikiClient(api, config, clock) as wiki:
            tell(f"to {wiki.host}: titles of pages ({len(wanted)}), nothing of this workspace")
            for address, page, found in await wiki.find(wanted):
                if not page.revision:
                    problems.append(Problem(address.title, f"is no page of {wiki.host}"))
                    continue
                file = file_of_page(folder, wiki.host, page.revision)
                n_known += file.exists()
                if not file.exists():
                    keep_page(file, await wiki.page(page, found))
                files[address] = file
            n_requests += wiki.n_requests
    if problems:
        raise BadInput("Some pages are not there; none was read.", problems)
    return Fetched(files=files, n_known=n_known, n_requests=n_requests)


def file_of_page(folder: Path, host: str, revision: int) -> Path:
    """Where a revision of a page is kept, or would be."""
    return folder_of_wiki(folder, host) / f"{revision}{WIKI_SUFFIX}"


def folder_of_wiki(folder: Path, host: str) -> Path:
    """Where all is kept of a wiki."""
    return folder / _UNSAFE.sub("_", host)


def keep_page(file: Path, page: WikiFile) -> None:
    """Writes a page whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    begun = file.with_suffix(".part")
    begun.write_bytes(msgspec.json.encode(page))
    begun.replace(file)
