"""``search``: what a search of the sources, or of the web, finds for a query."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click
from msgspec import Struct

from proofstone.records.items import SearchMethod
from proofstone.records.options import Opt
from proofstone.session.cli_command import command
from proofstone.session.options import (
    asked_for,
    json_option,
    quiet_option,
    workspace_option,
)
from proofstone.session.terminal import TerminalEgress, print_json, print_text, say

if TYPE_CHECKING:
    from proofstone.search.sources import RetrievedChunk
    from proofstone.search.web_finder import WebFinding
    from proofstone.session.session import Session


class SearchAsked(Struct, frozen=True, kw_only=True):
    """How a query is searched for, and where."""

    k: Annotated[int, Opt(
        "Number of passages.", flags=("-k",), least=1, most=1000, shows_default=True,
    )] = 5  # fmt: skip
    search_method: Annotated[SearchMethod, Opt(
        "Search by words, by embeddings, or both.", flags=("--method",), shows_default=True,
    )] = "bm25"  # fmt: skip
    place: Annotated[str, Opt(
        "Search the workspace's sources or the web; searxng:bing+baidu names engines.",
        flags=("--source",), metavar="local|brave|google|searxng", shows_default=True,
    )] = "local"  # fmt: skip
    only: Annotated[tuple[str, ...], Opt(
        "Only search these sources, in any edition; repeat it or use commas.",
        flags=("--in",), metavar="SOURCE", separated=True,
    )] = ()  # fmt: skip
    embedding_model: Annotated[str, Opt(
        "Embedding model (default: the bundled model).",
        metavar="PROVIDER/NAME",
    )] = ""  # fmt: skip
    yes: Annotated[bool, Opt(
        "Skip all confirmations, including those for outbound data.",
    )] = False  # fmt: skip


@command("search")
@click.argument("query")
@asked_for(SearchAsked)
@workspace_option
@json_option
@quiet_option
def search_command(
    query: str, asked: SearchAsked, folder: Path | None, as_json: bool, quiet: bool
) -> None:
    """Search passages of the workspace, or the web.

    Prints the passages that 'run --context retrieved' would put into a prompt for this query, best
    first, each with its source and page. The index is built at the first search and kept. Only the
    newest edition of a document is searched.

    With --source, the query goes to a web search; its keys come from the environment
    (docs/how-to/retrieval.md). The first pages found are fetched, read and kept as sources.

    \b
    Example:
      proofstone search "melting point of copper" -k 3
    """
    from proofstone.search.retrieval import search_web
    from proofstone.session.session import open_session

    if asked.embedding_model and asked.search_method == "bm25":
        raise click.UsageError("--embedding-model goes with --method dense or hybrid")
    with open_session(folder) as session:
        session.ask_egress = TerminalEgress(yes=asked.yes, quiet=quiet)
        if asked.place == "local":
            _show(_local(session, query, asked, quiet=quiet), None, as_json=as_json)
            return
        if asked.only:
            raise click.UsageError("--in names sources of the workspace: not with --source")
        web = search_web(
            session,
            query,
            asked.k,
            source=asked.place,
            search_method=asked.search_method,
            embedding_model=asked.embedding_model,
        )
    _show(web.chunks, web, as_json=as_json)
    if web.search is not None:
        say(_told(web), quiet=quiet)


def _local(
    session: Session, query: str, asked: SearchAsked, *, quiet: bool
) -> list[RetrievedChunk]:
    from proofstone.search.retrieval import search_passages, source_index

    index = source_index(
        session, asked.only,
        embedding_model=None if asked.search_method == "bm25" else asked.embedding_model,
        tell=lambda title: say(f"reading {title}", quiet=quiet),
    )  # fmt: skip
    if not index.n_chunks:
        say("there is nothing to search: proofstone ingest FILE... reads documents", quiet=quiet)
    if index.former:
        titles = ", ".join(dict.fromkeys(index.former))
        say(f"not searched, being older editions (--in SOURCE searches one): {titles}", quiet=quiet)
    return search_passages(
        session,
        query,
        asked.k,
        search_method=asked.search_method,
        sources=asked.only,
        embedding_model=asked.embedding_model,
    )


def _told(web: WebFinding) -> str:
    hits = 0 if web.search is None else len(web.search.hits)
    read = sum(not page.problem for page in web.pages)
    lines = [
        f"{hits} hit{'' if hits == 1 else 's'}, {read} of the first {len(web.pages)} pages read"
    ]
    lines += [f"  {page.problem:<12} {page.url}" for page in web.pages if page.problem]
    return "\n".join(lines)


def _show(
    chunks: list[RetrievedChunk] | tuple[RetrievedChunk, ...],
    web: WebFinding | None,
    *,
    as_json: bool,
) -> None:
    if as_json:
        rows = [_row(chunk) for chunk in chunks]
        if web is not None:
            shown = {"pages": web.pages, "search": web.search, "failed": web.failed}
            print_json({"chunks": rows, **shown})
        else:
            print_json(rows)
        return
    if not chunks:
        say("nothing was found")
        return
    print_text("\n\n".join(_text(number, chunk) for number, chunk in enumerate(chunks, start=1)))


def _row(chunk: RetrievedChunk) -> dict[str, Any]:
    from proofstone.records.ids import short

    return {
        "source": f"source:{short(chunk.source.id)}",
        "title": chunk.source.title,
        "origin": chunk.source.origin,
        "passage": f"passage:{short(chunk.passage.id)}",
        "page": chunk.passage.page,
        "start": chunk.start,
        "end": chunk.end,
        "score": chunk.score,
        "text": chunk.text,
    }


def _text(number: int, chunk: RetrievedChunk) -> str:
    from proofstone.page.text import printable

    row = _row(chunk)
    page = "" if chunk.passage.page is None else f", page {chunk.passage.page}"
    under = chunk.passage.heading
    heading = f", {under}" if under not in ("", chunk.source.title) else ""
    address = f"\n   {row['origin']}" if "://" in chunk.source.origin else ""
    head = f"{number}  {printable(chunk.source.title)}{page}{printable(heading)}{address}"
    place = f"   {row['passage']} {chunk.start}-{chunk.end}   {chunk.score:.4g}"
    body = "\n".join(f"   {printable(line)}" for line in chunk.text.splitlines())
    return f"{head}\n{place}\n{body}"
