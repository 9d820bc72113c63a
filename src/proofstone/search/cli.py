"""``search``: what a search of the sources, or of the web, finds for a query."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proofstone.session.options import (
    json_option,
    quiet_option,
    read_list,
    workspace_option,
    yes_option,
)
from proofstone.session.terminal import TerminalEgress, print_json, print_text, say

if TYPE_CHECKING:
    from proofstone.records.items import SearchWay
    from proofstone.search.sources import RetrievedChunk
    from proofstone.search.web_finder import WebFinding
    from proofstone.session.session import Session


embedder_option = click.option(
    "--embedder", default="", metavar="PROVIDER/NAME",
    help="By meaning with this model behind /embeddings. Default: the carried encoder.",
)  # fmt: skip


@click.command("search")
@click.argument("query")
@click.option("-k", "k", type=click.IntRange(1, 1000), default=5, show_default=True,
              help="The most passages.")  # fmt: skip
@click.option(
    "--by", "way", type=click.Choice(["bm25", "dense", "hybrid"]), default="bm25",
    show_default=True, help="By words, by meaning, or by both.",
)  # fmt: skip
@click.option(
    "--source", "place", default="local", show_default=True, metavar="local|brave|google|searxng",
    help="Where: in the workspace's own sources, or by a search of the web; searxng:bing+baidu "
    "names whom SearXNG is to ask.",
)  # fmt: skip
@click.option(
    "--in", "only", multiple=True, metavar="SOURCE",
    help="Only in these sources of the workspace, of whatever edition; repeat it or use commas.",
)  # fmt: skip
@embedder_option
@yes_option
@workspace_option
@json_option
@quiet_option
def search_command(
    query: str,
    k: int,
    way: SearchWay,
    place: str,
    only: tuple[str, ...],
    embedder: str,
    yes: bool,
    folder: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Find passages: in what the workspace has read, or on the web.

    Shows what 'run --context retrieved' would show a model for this query: chunks, best first, each
    with its source, page and place. The index is made at the first search and kept; of a document
    that was read again the newest edition is searched.

    With --source the query goes to a search of the web, whose keys are read from the environment
    (docs/retrieval.md), and the first pages that it names are fetched, read and kept as sources.
    """
    from proofstone.search.retrieval import search_web
    from proofstone.session.session import open_session

    if embedder and way == "bm25":
        raise click.UsageError("--embedder goes with --by dense or hybrid")
    with open_session(folder) as session:
        session.ask_egress = TerminalEgress(yes=yes, quiet=quiet)
        if place == "local":
            found = _local(session, query, k, way, read_list(only), embedder, quiet=quiet)
            _show(found, None, as_json=as_json)
            return
        if only:
            raise click.UsageError("--in names sources of the workspace: not with --source")
        web = search_web(session, query, k, source=place, way=way, embedder=embedder)
    _show(web.chunks, web, as_json=as_json)
    if web.search is not None:
        say(_told(web), quiet=quiet)


def _local(
    session: Session,
    query: str,
    k: int,
    way: SearchWay,
    only: list[str],
    embedder: str,
    *,
    quiet: bool,
) -> list[RetrievedChunk]:
    from proofstone.search.retrieval import (
        search_passages,
        source_index,
    )

    tell = _teller(quiet=quiet)
    index = source_index(session, only, embedder=None if way == "bm25" else embedder, tell=tell)
    if not index.n_chunks:
        say("there is nothing to search: proofstone ingest FILE... reads documents", quiet=quiet)
    if index.former:
        titles = ", ".join(dict.fromkeys(index.former))
        say(f"not searched, being older editions (--in SOURCE searches one): {titles}", quiet=quiet)
    return search_passages(session, query, k, way=way, sources=only, embedder=embedder)


def _teller(*, quiet: bool) -> Any:
    return lambda title: say(f"reading {title}", quiet=quiet)


def _told(web: WebFinding) -> str:
    """What became of the pages that were named, in lines."""
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
    """A chunk as people read it: where it stands, then its words."""
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
