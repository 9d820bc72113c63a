"""``extract``: a file in, a file out, no workspace."""

from __future__ import annotations

from pathlib import Path

import click

from proofstone.cli.options import output_option

__all__ = ["extract_command"]


@click.command("extract")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@output_option
def extract_command(file: Path, output: Path | None) -> None:
    """Extract answer letters from replies, a file in and a file out.

    JSONL in: 'response' (the reply's text) and 'options' (their texts, their number, or their
    letters); other fields are kept. JSONL out, on stdout or to -o: the row with 'letter', 'tier'
    and 'outcome'. A letter that is no option is kept, and the outcome is unparsed.
    """
    import msgspec  # noqa: PLC0415

    from proofstone.engines.choices import extract_rows  # noqa: PLC0415
    from proofstone.engines.ingest import read_checked, write_rows  # noqa: PLC0415

    rows = read_checked(file, extract_rows)
    if output is not None:
        click.echo(f"{output}   {write_rows(output, rows)} rows", err=True)
        return
    for row in rows:
        click.echo(msgspec.json.encode(row).decode())
