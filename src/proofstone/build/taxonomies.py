"""``list taxonomy``, ``show taxonomy:NAME``, and a bank's coverage of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proofstone.build.placed import show_placed
from proofstone.errors import BudgetReached, EndpointUnusable
from proofstone.records.ids import short
from proofstone.session.spending import spent_text
from proofstone.session.terminal import (
    pasted,
    print_json,
    print_table,
    print_text,
    say,
    tell_known_name,
    visible,
)

if TYPE_CHECKING:
    from proofstone.api import Workspace
    from proofstone.build.build import BuildResult
    from proofstone.build.taxonomy import Coverage, NodeCover
    from proofstone.method import Method
    from proofstone.records.builds import Build
    from proofstone.records.taxonomy import Taxonomy
    from proofstone.run.self_preference import Kin
    from proofstone.store.lookup import Found


# Options whose help says what the installed methods declare; they are asked only when help is.


class WayOption(click.Option):
    """``--ask``: the ways of asking that there are."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The option with the ways of every method."""
        ways = {name: says for method in _carried() for name, says in method.ways.items()}
        told = "; ".join(f"{name} ({says})" for name, says in ways.items())
        self.help = f"Ways of asking: {told}. Default: direct."
        return super().get_help_record(ctx)


class RangeOption(click.Option):
    """``--range``: how much a reply is asked for."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The option with the ranges of every method that takes one."""
        names = dict.fromkeys(name for method in _carried() for name in method.ranges)
        self.help = (
            "Of entities: how many triples are asked for of one that is widely known; of one that "
            f"is not, about a tenth. There is {', '.join(names)}; several ask everything with "
            "each. Default: the first. --ask WAY@LOW-HIGH says both."
        )
        return super().get_help_record(ctx)


class PromptOption(click.Option):
    """``--prompt``: what a template may use."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The option with the variables of every method that takes templates."""
        taking = [method.prompts for method in _carried() if method.prompts is not None]
        names = dict.fromkeys(name for prompts in taking for name in prompts.variables)
        self.help = (
            "Ask by this Jinja template in place of the method's; rows that it makes say so. It "
            f"may use: {', '.join(names)}. See docs/prompts.md."
        )
        return super().get_help_record(ctx)


def _carried() -> Iterator[Method]:
    """The methods of this package: help is the same wherever it is printed."""
    from proofstone.method import carried_names, find_method  # noqa: PLC0415

    for name in carried_names():
        yield find_method(name)


# What came of a build, as its command prints it.


def report_build(
    result: BuildResult,
    kin: Sequence[Kin] = (),
    *,
    name: str | None = None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Prints what came of a build and what to do next; returns the exit code. ``name`` is what the
    bank was to be called."""
    from proofstone.build.funnels import funnel_lines, pending_sentences  # noqa: PLC0415

    build, bank = result.build, result.bank
    shown_build = f"build:{short(build.id)}"
    if as_json:
        print_json({**_result(result), "kin": kin})
    else:
        click.echo("\n".join(funnel_lines(result.funnel)))
        if result.placed is not None:
            show_placed(result.placed, shown_build)
        elif bank is not None:
            shown = f"{bank.name}-{short(bank.id, 4)}"
            click.echo(f"bank   {shown}   {len(bank.facts):,} {build.kind}   {shown_build}")
        else:
            click.echo(f"{shown_build}   incomplete: no bank is made of it yet")
    _tell_trouble(result, quiet=quiet)
    if not result.complete:
        for line in pending_sentences(result.funnel):
            say(line, quiet=quiet)
        say(f"held up: proofstone show {shown_build} --pending", quiet=quiet)
        further = ", with a further --budget" if result.over_budget else ""
        say(f"go on: the same command again{further}", quiet=quiet)
    else:
        if any(step.n_dropped for step in result.funnel.steps):
            say(f"dropped rows: proofstone show {shown_build} --dropped", quiet=quiet)
        if bank is not None:
            shown = pasted(f"{bank.name}-{short(bank.id, 4)}")
            tell_known_name(name, bank.name, build.kind, quiet=quiet)
            say(f"next: proofstone {_next(build, shown)}", quiet=quiet)
    return _exit_code(result)


def _tell_trouble(result: BuildResult, *, quiet: bool) -> None:
    """What it took, why it stopped, and what it left out."""
    if result.spent.calls and not result.build.simulated:
        say(f"spent {spent_text(result.spent)}", quiet=quiet)
    if result.stopped:
        code = (BudgetReached if result.over_budget else EndpointUnusable).code
        say(f"error [{code}] {result.stopped}")
    for note in result.notes:
        say(f"note: {note}", quiet=quiet)


def _next(build: Build, bank: str) -> str:
    """The command that comes next: what its kind says; else of a bank that is asked as it stands
    its run, of others forms; without small groups where the method can do so: of documents few
    have enough statements each for a question of their own."""
    from proofstone.method import find_method  # noqa: PLC0415

    method = find_method(build.method)
    if said := method.pipelines[build.kind].next:
        return said.format(bank=bank)
    if method.bank_run is not None:
        return f"run {bank} -m PROVIDER/NAME {method.bank_run}"
    skipping = any(parameter.name == "skip_small" for parameter in method.parameters)
    return f"build form {bank} --seeds 3{' --skip-small' if skipping else ''}"


def _exit_code(result: BuildResult) -> int:
    if result.interrupted:
        return 130
    if result.stopped:
        return (BudgetReached if result.over_budget else EndpointUnusable).exit_code
    return 0 if result.complete else 3


def _result(result: BuildResult) -> dict[str, Any]:
    bank = result.bank
    return {
        "build": result.build.id,
        "kind": result.build.kind,
        "models": result.build.models,
        "complete": result.complete,
        "bank": None if bank is None else bank.id,
        "name": None if bank is None else bank.name,
        "facts": 0 if bank is None else len(bank.facts),
        "placed": result.placed,
        "notes": result.notes,
        "funnel": {**_fields(result.funnel), "left": result.funnel.left},
        "spent": result.spent,
        "stopped": result.stopped,
        "over_budget": result.over_budget,
        "interrupted": result.interrupted,
    }


def _fields(record: Any) -> dict[str, Any]:
    import msgspec  # noqa: PLC0415

    return msgspec.structs.asdict(record)


_MOST_ELSEWHERE = 12


_PREFIX = "taxonomy:"


def named_taxonomy(identity: str) -> str | None:
    """The name or file behind ``taxonomy:``, None for what is no taxonomy."""
    return identity.removeprefix(_PREFIX) if identity.startswith(_PREFIX) else None


def list_taxonomies(*, as_json: bool) -> None:
    """The taxonomies that come with the package."""
    from proofstone.build.taxonomy import carried_names, carried_taxonomy  # noqa: PLC0415

    carried = [carried_taxonomy(name) for name in carried_names()]
    if as_json:
        print_json([{"name": t.name, "title": t.title, "source": t.source} for t in carried])
        return
    print_table([(f"{_PREFIX}{t.name}", t.title, t.source) for t in carried])


def show_taxonomy(name: str, *, as_json: bool) -> None:
    """All nodes of a taxonomy, carried or from a file, with their counts."""
    from proofstone.build.taxonomy import find_taxonomy  # noqa: PLC0415

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
    from proofstone.page.text import aligned  # noqa: PLC0415

    for line in aligned([[visible(cell) for cell in row] for row in rows], left=(0,)):
        click.echo(line)


def export_taxonomy(name: str, output: Path) -> int:
    """Writes a taxonomy's nodes as the table that it can be read from; returns how many."""
    from proofstone.build.taxonomy import find_taxonomy, taxonomy_rows  # noqa: PLC0415
    from proofstone.files.write import write_rows  # noqa: PLC0415

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


def show_statistics(workspace: Workspace, found: Found, *, as_json: bool) -> None:
    """Prints the tables of a bank or a form, as text or as JSON."""
    from proofstone.page.tabulations import tabulation_text  # noqa: PLC0415

    tables = workspace.statistics(found)
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
