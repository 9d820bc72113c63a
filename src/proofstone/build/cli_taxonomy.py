"""``list taxonomy``, ``show taxonomy:NAME``, and a bank's coverage of one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proofstone.records.ids import short
from proofstone.records.taxonomy import Placement
from proofstone.session.terminal import (
    print_json,
    print_table,
    print_text,
    say,
    visible,
)

if TYPE_CHECKING:
    from proofstone.ingest.taxonomy import Coverage, NodeCover
    from proofstone.records.taxonomy import Taxonomy
    from proofstone.session.session import Session
    from proofstone.store.lookup import Found


_MOST_ELSEWHERE = 12


_PREFIX = "taxonomy:"


def named_taxonomy(identity: str) -> str | None:
    """The name or file behind ``taxonomy:``, None for what is no taxonomy."""
    return identity.removeprefix(_PREFIX) if identity.startswith(_PREFIX) else None


def list_taxonomies(*, as_json: bool) -> None:
    """The taxonomies that come with the package."""
    from proofstone.ingest.taxonomy import carried_names, carried_taxonomy

    carried = [carried_taxonomy(name) for name in carried_names()]
    if as_json:
        print_json([{"name": t.name, "title": t.title, "source": t.source} for t in carried])
        return
    print_table([(f"{_PREFIX}{t.name}", t.title, t.source) for t in carried])


def show_taxonomy(name: str, *, as_json: bool) -> None:
    """All nodes of a taxonomy, carried or from a file, with their counts."""
    from proofstone.ingest.taxonomy import find_taxonomy

    taxonomy = find_taxonomy(name)
    if as_json:
        print_json(taxonomy)
        return
    print_text(f"{_PREFIX}{taxonomy.name}  {taxonomy.title}")
    if taxonomy.source:
        print_text(f"from  {taxonomy.source}")
    for note in taxonomy.notes:
        print_text(f"note  {note}")
    _print_nodes(_node_rows(taxonomy))


def _node_rows(taxonomy: Taxonomy) -> list[tuple[str, ...]]:
    counted = list(dict.fromkeys(name for node in taxonomy.nodes for name in node.counts))
    stated = list(dict.fromkeys(name for node in taxonomy.nodes for name in node.stated))
    rows = [("", *counted, *stated)]
    for node in taxonomy.nodes:
        numbers = {**node.counts, **node.stated}
        rows.append((_indented(node.path), *(_number(numbers.get(name)) for name in rows[0][1:])))
    return rows


def _print_nodes(rows: Sequence[tuple[str, ...]]) -> None:
    """Rows with a node's name first, then numbers."""
    from proofstone.page.text import aligned

    for line in aligned([[visible(cell) for cell in row] for row in rows], left=(0,)):
        click.echo(line)


def export_taxonomy(name: str, output: Path) -> int:
    """Writes a taxonomy's nodes as the table that it can be read from; returns how many."""
    from proofstone.files.write import write_rows
    from proofstone.ingest.taxonomy import find_taxonomy, taxonomy_rows

    return write_rows(output, taxonomy_rows(find_taxonomy(name)))


def show_coverage(coverage: Coverage, *, as_json: bool) -> None:
    """What of a bank stands under each node, beside the taxonomy's own counts; of the levels below
    the disciplines those nodes that something stands under."""
    if as_json:
        print_json(coverage)
        return
    click.echo(
        f"{coverage.bank}  {coverage.facts:,} statements of {coverage.sources:,} sources over "
        f"{visible(coverage.title)}"
    )
    counted = list(dict.fromkeys(name for node in coverage.nodes for name in node.counts))
    totals = {
        name: sum(node.counts.get(name, 0) for node in coverage.nodes if len(node.path) == 1)
        for name in counted
    }
    head = ("", "sources", "statements", "share")
    theirs = [title for name in counted for title in (f"its {name}", "share")]
    shown = [node for node in coverage.nodes if len(node.path) == 1 or node.facts]
    _print_nodes([(*head, *theirs), *(_cover_row(node, coverage.facts, totals) for node in shown)])
    empty = [n for n in coverage.nodes if not n.facts]
    if empty:
        levels = _by_level(empty, coverage)
        click.echo(f"without a statement: {levels}")
    if coverage.nowhere:
        click.echo(f"! {coverage.nowhere:,} statements have no discipline")
    for why, n in coverage.elsewhere[:_MOST_ELSEWHERE]:
        click.echo(visible(f"! {n:,} statements stand elsewhere: {why}"))
    if len(coverage.elsewhere) > _MOST_ELSEWHERE:
        click.echo(f"and {len(coverage.elsewhere) - _MOST_ELSEWHERE} more places (--json has all)")


def _cover_row(node: NodeCover, facts: int, totals: dict[str, int]) -> tuple[str, ...]:
    theirs: list[str] = []
    for name, total in totals.items():
        count = node.counts.get(name)
        theirs += [_number(count), _share(count, total)]
    return (
        _indented(node.path),
        f"{node.sources:,}",
        f"{node.facts:,}",
        _share(node.facts, facts),
        *theirs,
    )


def _by_level(empty: list[NodeCover], coverage: Coverage) -> str:
    names = ("disciplines", "fields", "subfields", "books")
    parts = []
    for depth, name in enumerate(names, start=1):
        n = sum(len(node.path) == depth for node in empty)
        total = sum(len(node.path) == depth for node in coverage.nodes)
        if n:
            parts.append(f"{n:,} of {total:,} {name}")
    return ", ".join(parts)


def _indented(path: tuple[str, ...]) -> str:
    return "  " * (len(path) - 1) + path[-1]


def _number(count: int | None) -> str:
    return "" if count is None else f"{count:,}"


def _share(count: int | None, total: int) -> str:
    return "" if count is None or not total else f"{100 * count / total:.1f}%"


# ``show --statistics``: what a method counts of a bank or a form.


def show_statistics(session: Session, found: Found, *, as_json: bool) -> None:
    """Prints the tables of a bank or a form, as text or as JSON."""
    from proofstone.page.text import tabulation_text
    from proofstone.results.leaderboard import describe

    tables = describe(session, found)
    if as_json:
        shown = [
            {"title": table.title, "rows": table.records(), "notes": table.notes}
            for table in tables
        ]
        print_json(shown)
    elif tables:
        click.echo("\n\n".join(map(tabulation_text, tables)))
    else:
        say("its method declares no statistics")


# What a build of strata came to: each source with its place.

_MOST_PLACED = 40


def show_placed(placed: Sequence[Placement], build: str = "") -> None:
    """The sources by their place, the first of them where there are many."""
    import msgspec

    rows: list[tuple[Any, ...]] = []
    for one in placed[:_MOST_PLACED]:
        levels = [level for level in msgspec.structs.astuple(one.stratum) if level]
        rows.append((f"source:{short(one.source)}", " / ".join(levels)))
    print_table(rows)
    if len(placed) > _MOST_PLACED:
        click.echo(f"and {len(placed) - _MOST_PLACED:,} more (--json has all)")
    if build:
        noun = "source" if len(placed) == 1 else "sources"
        click.echo(f"placed   {len(placed):,} {noun}   {build}")
