"""An image that was made, written to the file that was named."""

from __future__ import annotations

from pathlib import Path

import click

from proofstone.cli.output import print_json
from proofstone.errors import BadUsage, StoreFailed

__all__ = ["write_image"]


def write_image(file: Path, png: bytes, *, as_json: bool) -> None:
    """Writes a PNG and says so. Raises BadUsage for another suffix, StoreFailed where it cannot be
    written."""
    if file.suffix.lower() != ".png":
        raise BadUsage(f"{file.name}: pages are drawn as PNG", hint=f"-o {file.stem}.png")
    try:
        file.write_bytes(png)
    except OSError as cause:
        raise StoreFailed(f"{file} was not written: {cause.strerror or cause}.") from cause
    if as_json:
        print_json({"file": str(file), "bytes": len(png)})
    else:
        click.echo(f"{file}   {len(png):,} bytes")
